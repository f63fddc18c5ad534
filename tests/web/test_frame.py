"""What every page has around it, over HTTP: the way back, who is signed in, the language, styles that are kept."""

import re
from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.authority.api import MemberRole
from admitone.foundation.identity.routes.wire import HINT_COOKIE
from admitone.kernel.db import Database
from admitone.web.assets import asset
from tests.foundation.identity.house import PASSWORD, House
from tests.people import a_platform_admin, an_organization_of
from tests.stories.test_hostile_operations import form_of
from tests.web.browsing import Browser, a_browser, a_house, sign_up
from tests.web.test_hostile_pages import address_of, pages

HERE = re.compile(r'action="/language">\s*<input type="hidden" name="next" value="([^"]*)"')


@pytest.fixture
def house(application: Application, superuser: asyncpg.Connection) -> House:
    return a_house(application, superuser)


@pytest.fixture
async def browser(application: Application) -> AsyncIterator[Browser]:
    async with a_browser(application) as browser:
        yield browser


async def test_wherever_a_form_was_refused_the_way_back_is_to_a_page(
    application: Application, site: httpx.AsyncClient, database: Database
):
    """Whoever changes the language then, or signs in, is shown something: also from a page that itself was an answer."""
    owner = await a_platform_admin(database, MemberRole.OWNER)
    home = await an_organization_of(database, owner)
    gets = [re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(page.path))) for page in pages(application, "GET")]
    wrong, seen = [], 0
    for form in pages(application, "POST"):
        if "sign-out" in form.path:
            continue
        address = address_of(form, home)
        headers = {**owner.headers, "content-type": "application/x-www-form-urlencoded"}
        headers["referer"] = f"http://admitone.test{address}"
        answer = await site.post(address, content=form_of(form) if form.takes else b"", headers=headers)
        for here in HERE.findall(answer.text):
            seen += 1
            if not any(page.fullmatch(here.partition("?")[0]) for page in gets):
                wrong.append(f"{form.id}: {here}")
    assert (wrong, seen > 25) == ([], True), seen


@pytest.mark.parametrize(("path", "home"), [("/org/nobody/team", "/org"), ("/ops/nothing", "/ops"), ("/nowhere", "/")])
async def test_a_refusal_knows_who_is_signed_in_and_leads_back_to_where_they_work(
    browser: Browser, house: House, path: str, home: str
):
    await sign_up(browser, house)
    refused = await browser.open(path, accept="text/html")
    assert refused.status_code in (403, 404, 422)
    assert 'href="/account"' in refused.text and "/sign-in" not in refused.text
    assert f'<a class="button" href="{home}">' in refused.text
    assert HERE.findall(refused.text) == [path]
    browser.http.cookies.delete(HINT_COOKIE)
    stranger = await browser.open("/nowhere", accept="text/html")
    assert 'href="/sign-in?next=%2Fnowhere"' in stranger.text and 'href="/account"' not in stranger.text


async def test_somebody_is_spoken_to_in_their_own_language_at_another_browser(
    application: Application, browser: Browser, house: House
):
    email = await sign_up(browser, house)
    await browser.send("/account", displayName="Ana", language="pt_PT")
    async with a_browser(application) as another:
        await another.send("/language", language="en")  # Whoever sat there before.
        entered = await another.send("/sign-in", email=email, password=PASSWORD, next="/account")
        page = await another.follow(entered)
        assert '<html lang="pt-PT">' in page.text
        await another.send("/sign-out")


async def test_what_a_release_answers_for_another_is_kept_by_nobody(site: httpx.AsyncClient):
    own = await site.get(asset("frame.css"))
    assert own.headers["cache-control"] == "public, max-age=31536000, immutable"
    other = await site.get("/assets/deadbeef/frame.css")
    assert (other.status_code, other.headers["cache-control"]) == (200, "no-store")
    assert other.content == own.content, "an old page that is open keeps its style"
