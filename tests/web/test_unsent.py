"""A form that could not be taken at once: it is there again as it was sent, to whoever sent it, and nothing was done."""

import base64
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole
from admitone.foundation.identity.routes.wire import HINT_COOKIE, REFRESH_COOKIE, SESSION_COOKIE
from admitone.kernel.clock import Clock
from admitone.kernel.contracts import Contract, Sent
from admitone.kernel.contracts.texts import converted_text, fields_of_text
from admitone.kernel.db import Database
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.web import unsent
from admitone.web.form import Secret
from tests.foundation.identity.house import PASSWORD, House
from tests.people import Person, a_member, a_person, a_platform_admin, an_organization_of
from tests.stories.test_hostile_operations import a_value_of, form_of
from tests.web.browsing import Browser, a_browser, a_house, sign_up, words_of
from tests.web.console import boxes_of
from tests.web.test_hostile_pages import pages

NOTHING_YET = "Nothing was done yet."
A_NIGHT = {
    "title": "Noite <longa>",
    "description": "Uma linha & outra.\n" * 40,
    "name": "Coliseu",
    "address": "Rua Passos Manuel 137",
    "city": "Porto",
    "country": "PT",
    "holdMinutes": "15",
    "pricingMode": "STANDARD",
    "startsAt": "2027-06-01T20:00",
    "endsAt": "2027-06-01T23:00",
    "timeZone": "Europe/Lisbon",
    "currency": "EUR",
    "key": "a key of this form",
}


@pytest.fixture
def house(application: Application, superuser: asyncpg.Connection) -> House:
    return a_house(application, superuser)


@pytest.fixture
async def browser(application: Application) -> AsyncIterator[Browser]:
    async with a_browser(application) as browser:
        yield browser


class Desk:
    """Somebody at the console of their own organisation, who signed in with this browser."""

    def __init__(self, browser: Browser, organization: OrganizationId, email: str) -> None:
        self.browser, self.organization, self.email = browser, organization, email

    @property
    def drafting(self) -> str:
        return f"/org/{self.organization}/events/new"

    def lose_session(self) -> None:
        """As after fifteen minutes."""
        self.browser.http.cookies.delete(SESSION_COOKIE)

    async def send_late(self, **typed: str) -> httpx.Response:
        self.lose_session()
        return await self.browser.send(self.drafting, **(typed or A_NIGHT))


@pytest.fixture
async def desk(browser: Browser, house: House, database: Database) -> Desk:
    email = await sign_up(browser, house)
    organization = await an_organization_of(database, await a_person(database))
    await joins(browser, database, organization)
    return Desk(browser, organization, email)


async def joins(browser: Browser, database: Database, organization: OrganizationId) -> None:
    me = (await browser.open("/api/auth/me")).json()
    themselves = Person(IdentityId.parse(me["identityId"]), "")
    await a_member(database, organization, MemberRole.ADMIN, person=themselves)


async def drafts(superuser: asyncpg.Connection, organization: OrganizationId) -> int:
    count = "SELECT count(*) FROM events.event WHERE organization_id = $1"
    return int(await superuser.fetchval(count, organization.uuid))


@pytest.mark.covers("IDN-014")
async def test_a_form_that_was_sent_after_the_session_ran_out_is_there_again_and_nothing_was_done(
    desk: Desk, superuser: asyncpg.Connection
):
    browser = desk.browser
    late = await desk.send_late()
    assert (late.status_code, urlsplit(late.headers["location"]).path) == (303, "/sign-in")
    shown = await browser.follow(late)
    assert NOTHING_YET in shown.text
    boxes = boxes_of(shown.text)
    assert {name: boxes[name].replace("\r\n", "\n") for name in A_NIGHT} == A_NIGHT
    assert await drafts(superuser, desk.organization) == 0, "looking at it does nothing"
    assert (await browser.send(desk.drafting, **boxes)).status_code == 303
    assert await drafts(superuser, desk.organization) == 1
    again = await browser.follow(await browser.open(urlsplit(str(shown.url)).path + "?" + shown.url.query.decode()))
    assert A_NIGHT["name"] not in again.text, "it is shown once"


async def test_the_cookie_is_sealed_short_and_for_one_page(desk: Desk):
    late = await desk.send_late()
    [cookie] = late.headers.get_list("set-cookie")
    wanted = ("typed=", "Path=/unsent;", "HttpOnly", "Secure", "SameSite=Lax", "Max-Age=600")
    assert all(part in cookie for part in wanted)
    value = cookie.partition("=")[2].partition(";")[0]
    opened = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
    assert not any(part.encode() in opened for part in ("Coliseu", "Porto", "WEB.ORG"))
    assert not any(part in late.headers["location"] for part in ("Coliseu", "Noite", "Passos"))


async def test_what_one_person_typed_is_shown_to_nobody_else_on_the_same_computer(
    desk: Desk, house: House, database: Database
):
    """Not even to a colleague, who could look at the same form."""
    late = await desk.send_late()
    browser = desk.browser
    for name in (HINT_COOKIE, REFRESH_COOKIE):
        browser.http.cookies.delete(name)
    shown = await browser.follow(late)
    assert str(shown.url.path) == "/sign-in"
    await sign_up(browser, house)
    await joins(browser, database, desk.organization)
    [back] = parse_qs(shown.url.query.decode())["next"]
    for _ in range(2):
        theirs = await browser.follow(await browser.open(back))
        assert "Coliseu" not in theirs.text and "Passos" not in theirs.text


async def test_whoever_signs_in_with_their_password_finds_it_too(desk: Desk):
    late = await desk.send_late()
    for name in (HINT_COOKIE, REFRESH_COOKIE):
        desk.browser.http.cookies.delete(name)
    [back] = parse_qs(urlsplit(late.headers["location"]).query)["next"]
    entered = await desk.browser.send("/sign-in", email=desk.email, password=PASSWORD, next=back)
    shown = await desk.browser.follow(entered)
    assert NOTHING_YET in shown.text and 'value="Coliseu"' in shown.text


async def test_signing_out_takes_it_away(desk: Desk):
    await desk.send_late()
    out = await desk.browser.send("/sign-out")
    assert any(each.startswith("typed=;") and "Path=/unsent" in each for each in out.headers.get_list("set-cookie"))


async def test_it_is_good_for_ten_minutes(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    late = await desk.send_late()
    monkeypatch.setattr(unsent, "TEN_MINUTES_SECONDS", -1)  # The browser would have thrown it away itself.
    shown = await desk.browser.follow(late)
    assert NOTHING_YET not in shown.text and "Coliseu" not in shown.text


async def test_of_a_person_whom_nobody_knows_nothing_is_kept_and_that_is_said(desk: Desk):
    desk.browser.http.cookies.delete(HINT_COOKIE)
    late = await desk.send_late()
    assert late.headers.get_list("set-cookie") == []
    [back] = parse_qs(urlsplit(late.headers["location"]).query)["next"]
    shown = await desk.browser.open(back)
    assert NOTHING_YET in words_of(shown) and "could not be kept" in words_of(shown)
    assert f'href="{desk.drafting}"' in shown.text


async def test_no_password_is_kept(desk: Desk):
    desk.lose_session()
    late = await desk.browser.send("/account/password", currentPassword=PASSWORD, newPassword="another of mine")
    assert (late.status_code, late.headers.get_list("set-cookie")) == (303, [])
    shown = await desk.browser.follow(late)
    assert NOTHING_YET in words_of(shown) and 'href="/account/password"' in shown.text


def test_every_secret_of_a_form_is_called_one(application: Application):
    telling = re.compile(r"(.*_)?(password|token|secret|uri|second_factor)|code")
    known = {"invite_token", "code"}  # A way into the event, which stands in addresses; a ticket's code at a door.
    wrong = [
        f"{form.id}: {each.name}"
        for form in pages(application, "POST")
        for each in form.fields.values()
        if telling.fullmatch(each.name)
        and each.type != Secret
        and not (each.name in known and ("DOOR" in form.id or "PAY" in form.id))
    ]
    assert wrong == []


# -- Proving again that it is you


async def long_ago(database_url: str, person: Person) -> Person:
    """Them, with a session in which they proved themselves too long ago."""
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS - timedelta(minutes=1))) as earlier:
        return await a_person(earlier, identity=person.identity, email=person.email)


async def after_proving(site: httpx.AsyncClient, late: Person, path: str, **typed: Any) -> httpx.Response:
    """The page on which they are when they have proved that it is them."""
    answer = await site.post(path, data=typed, headers=late.headers)
    asked = urlsplit(answer.headers["location"])
    assert (answer.status_code, asked.path) == (303, "/step-up")
    [back] = parse_qs(asked.query)["next"]
    cookie = answer.headers["set-cookie"].partition(";")[0]
    return await site.get(back, headers=late.headers | {"cookie": cookie})


STOPPING = {"kind": "EVENT", "hours": "168", "reasonCode": "FRAUD_SUSPECTED", "caseReference": "case-77"}


@pytest.mark.covers("SAF-020")
async def test_a_stop_waits_for_the_proof_and_says_that_nothing_is_stopped_yet(
    site: httpx.AsyncClient, database: Database, database_url: str, superuser: asyncpg.Connection
):
    operator = await a_platform_admin(database)
    late = await long_ago(database_url, operator)
    typed = STOPPING | {"id": "event_0198c9a40000700080000000000000ac"}
    shown = await after_proving(site, late, "/ops/gates/stop", **typed)
    assert NOTHING_YET in shown.text
    stopping = boxes_of("<main>" + shown.text.partition('action="/ops/gates/stop"')[2].partition("</form>")[0])
    assert {name: stopping[name] for name in typed} == typed
    key = f"stop:event:{typed['id']}"
    assert not await superuser.fetchval("SELECT count(*) FROM authority.switch WHERE key = $1", key)
    proved = await a_person(database, identity=late.identity, email=late.email)
    assert (await site.post("/ops/gates/stop", data=typed, headers=proved.headers)).status_code == 303
    assert await superuser.fetchval("SELECT count(*) FROM authority.switch WHERE key = $1", key) == 1


async def test_a_lift_that_is_shown_again_is_no_stop(site: httpx.AsyncClient, database: Database, database_url: str):
    operator = await a_platform_admin(database)
    organization = str(await an_organization_of(database, await a_person(database)))
    said = {"kind": "ORGANIZATION", "id": organization}
    stopped = await site.post("/ops/gates/stop", data=STOPPING | said, headers=operator.headers)
    assert stopped.status_code == 303
    late = await long_ago(database_url, operator)
    why = {"reasonCode": "CASE_CLOSED", "caseReference": "case-78"}
    shown = await after_proving(site, late, "/ops/gates/lift", **said, **why)
    assert NOTHING_YET in shown.text
    lifting, stopping = shown.text.split('action="/ops/gates/stop"')
    assert all(f'value="{value}"' in lifting for value in why.values()) and "<details open>" in lifting
    assert not any(value in stopping for value in (*why.values(), organization))


async def test_a_feature_that_is_to_be_switched_on_is_named_again(
    site: httpx.AsyncClient, database: Database, database_url: str
):
    operator = await a_platform_admin(database)
    late = await long_ago(database_url, operator)
    page = await site.get("/ops/gates", headers=operator.headers)
    path = re.search(r"/ops/gates/features/[a-z0-9_.]+/on", page.text)[0]
    shown = await after_proving(site, late, path, reasonCode="PILOT_GROUP", caseReference="case-79")
    own = shown.text[shown.text.index(f'action="{path}"') :].partition("</form>")[0]
    assert 'value="PILOT_GROUP"' in own and 'value="case-79"' in own


@pytest.mark.parametrize(("what", "reason"), [("members", "SAFETY"), ("attendees", "SAFETY"), ("orders", "TAX_RETURN")])
async def test_an_export_waits_for_the_proof_with_its_reason(
    site: httpx.AsyncClient, database: Database, database_url: str, what: str, reason: str
):
    owner = await a_person(database)
    home = await an_organization_of(database, owner)
    late = await long_ago(database_url, owner)
    event = {} if what == "members" else {"eventId": await an_event(site, owner, home)}
    shown = await after_proving(site, late, f"/org/{home}/{what}/export", reasonCode=reason, **event)
    assert NOTHING_YET in shown.text and shown.headers["content-type"].startswith("text/html")
    assert f'value="{reason}" selected' in shown.text


async def an_event(site: httpx.AsyncClient, owner: Person, home: OrganizationId) -> str:
    drafted = await site.post(f"/org/{home}/events/new", data=A_NIGHT, headers=owner.headers)
    return str(drafted.headers["location"]).rpartition("/")[2]


async def test_every_form_there_is_can_be_shown_again(
    application: Application, site: httpx.AsyncClient, database: Database
):
    owner = await a_platform_admin(database, MemberRole.OWNER)
    home = await an_organization_of(database, owner)
    wrong = []
    for form in pages(application, "POST"):
        typed = {"organizationId": str(home)} if "organizationId" in form.path_names else {}
        typed |= {name: a_value_of(form, name) for name in form.path_names if name not in typed}
        sent = Sent(form, converted_text(filled_in(form) | typed, form.takes) if form.takes else None)
        cookie = f"typed={unsent._sealed(sent, owner.identity)}"
        answer = await site.get("/unsent?cameFrom=/account", headers=owner.headers | {"cookie": cookie})
        if answer.status_code >= 500:
            wrong.append(f"{form.id}: {answer.status_code}")
    assert wrong == []


def filled_in(form: Contract) -> dict[str, Any]:
    typed = parse_qs(form_of(form).decode())
    lists = [name for name, each in fields_of_text(form).items() if each.is_list]
    return {name: values if name in lists else values[0] for name, values in typed.items()}
