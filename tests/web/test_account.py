"""The account over HTTP: without a script, without another site, and without a word of who has an account."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import httpx
import pyotp
import pytest

from admitone.entrypoints.http import Application
from admitone.foundation.identity.routes.wire import DEVICE_COOKIE, HINT_COOKIE, REFRESH_COOKIE, SESSION_COOKIE
from admitone.kernel.contracts import Audience, Contract
from admitone.kernel.db import Database
from admitone.web.account.contracts import CONTRACTS as ACCOUNT
from admitone.web.wallet.contracts import CONTRACTS as WALLET
from tests.foundation.identity.house import ANOTHER_PASSWORD, PASSWORD, House, an_email
from tests.people import a_person, an_organization_of
from tests.web.browsing import ELSEWHERE, Browser, a_browser, a_house, sign_up, words_of

FORMS = [contract for contract in (*ACCOUNT, *WALLET) if not contract.is_safe]
IDS = {
    "{challengeId}": "chl_0198c9a40000700080000000000000ac",
    "{entitlementId}": "ent_0198c9a40000700080000000000000ac",
}
OPEN = ("/sign-in", "/sign-in/code", "/sign-up", "/forgotten", "/forgotten/sent", "/auth/reset", "/auth/link")
OWN = ("/account", "/account/email", "/account/password", "/account/authenticator", "/org", "/wallet", "/step-up")
SECRET = re.compile(r'name="secret" value="([^"]+)"')
URI = re.compile(r'name="uri" value="([^"]+)"')


@pytest.fixture
def house(application: Application, superuser: asyncpg.Connection) -> House:
    return a_house(application, superuser)


@pytest.fixture
async def browser(application: Application) -> AsyncIterator[Browser]:
    async with a_browser(application) as browser:
        yield browser


def path_of(contract: Contract) -> str:
    path = contract.path
    for name, value in IDS.items():
        path = path.replace(name, value)
    return path


@pytest.mark.parametrize("path", OPEN)
async def test_pages_for_everybody_are_complete_and_small(browser: Browser, path: str):
    answer = await browser.open(path)
    assert answer.status_code == 200
    assert answer.text.count("<h1>") == 1
    assert len(answer.content) < 10_000
    assert "style=" not in answer.text and "onclick" not in answer.text


@pytest.mark.parametrize("path", OWN)
async def test_whoever_is_not_signed_in_is_sent_to_sign_in_and_back(browser: Browser, path: str):
    answer = await browser.open(path)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/sign-in?next={path.replace('/', '%2F')}")


@pytest.mark.covers("IDN-010")
async def test_somebody_signs_up_with_the_code_that_came(browser: Browser, house: House):
    email = an_email()
    sent = await browser.send("/sign-up", email=email, password=PASSWORD, displayName="Ana <b>", next="/wallet")
    where = sent.headers["location"]
    page = await browser.open(where)
    assert page.status_code == 200 and email not in page.text + where, "the address stands in no history"
    path = where.partition("?")[0]
    wrong = await browser.send(path, code="000000", next="/wallet")
    assert wrong.status_code == 401 and 'value="/wallet"' in wrong.text and 'role="alert"' in wrong.text
    right = await browser.send(path, code=f" {await house.code_to(email)} ", next="/wallet")
    assert (right.status_code, right.headers["location"]) == (303, "/wallet")
    account = await browser.open("/account")
    assert "Ana &lt;b&gt;" in account.text and "Ana <b>" not in account.text
    assert email in account.text


async def test_what_was_typed_is_shown_again_with_what_is_wrong_beside_it(browser: Browser):
    typed = 'ana"><script>alert(1)</script>'
    answer = await browser.send("/sign-up", email=typed, password=PASSWORD, displayName="Ana")
    assert answer.status_code == 422
    assert "<script>alert" not in answer.text and "&lt;script&gt;" in answer.text
    assert 'value="Ana"' in answer.text and 'id="email-wrong"' in answer.text
    weak = await browser.send("/sign-up", email=an_email(), password="password")
    assert weak.status_code == 422 and 'id="password-wrong"' in weak.text
    assert 'value="password"' not in weak.text, "a password is not written into a page without need"


@pytest.mark.covers("IDN-012")
@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/sign-up", {"password": ANOTHER_PASSWORD}),
        ("/sign-in/code", {}),
        ("/forgotten", {}),
        ("/sign-in", {"password": "not the one of anybody"}),
    ],
)
async def test_known_and_unknown_addresses_get_the_same_page(
    application: Application, house: House, path: str, more: dict[str, str]
):
    known = (await house.a_user()).email
    seen = []
    for email in (known, an_email()):
        async with a_browser(application) as stranger:
            answer = await stranger.send(path, email=email, **more)
            led = await stranger.follow(answer)
            texts = (answer.text, led.text, answer.headers.get("location", ""), str(sorted(answer.headers)))
            seen.append([re.sub(r"chl_[0-9a-f]+", "chl", text).replace(email, "?") for text in texts])
    assert seen[0] == seen[1]


@pytest.mark.covers("IDN-013")
@pytest.mark.parametrize("contract", FORMS, ids=lambda contract: contract.id)
async def test_no_form_is_taken_from_another_site(browser: Browser, database: Database, contract: Contract):
    if contract.audience is Audience.PERSON:
        browser.be(await a_person(database))
    answer = await browser.send(path_of(contract), ELSEWHERE, **({"next": "/"} if contract.takes else {}))
    assert answer.status_code == 403
    assert "CROSS_SITE_REQUEST" in answer.text


@pytest.mark.covers("IDN-020")
async def test_the_sign_in_page_knows_the_device_again_whatever_strangers_do(
    application: Application, browser: Browser, house: House
):
    email = await sign_up(browser, house)
    await browser.send("/sign-out")
    assert DEVICE_COOKIE in browser.http.cookies and SESSION_COOKIE not in browser.http.cookies
    async with a_browser(application) as stranger:
        tries = [await stranger.send("/sign-in", email=email, password="not this one") for _ in range(6)]
        assert [each.status_code for each in tries] == [401] * 5 + [429]
        assert (await stranger.send("/sign-in", email=email, password=PASSWORD)).status_code == 429
    own = await browser.send("/sign-in", email=email, password=PASSWORD, next="/account")
    assert (own.status_code, own.headers["location"]) == (303, "/account")


async def test_whoever_signs_out_late_is_signed_out(browser: Browser, house: House):
    await sign_up(browser, house)
    with house.later(timedelta(minutes=16)):
        left = await browser.send("/sign-out")
        assert (left.status_code, left.headers["location"]) == (303, "/")
        assert not {SESSION_COOKIE, REFRESH_COOKIE, HINT_COOKIE} & set(browser.http.cookies)
        assert "sign-in" in (await browser.open("/wallet")).headers["location"]


async def test_nobody_is_led_to_another_site(browser: Browser, house: House):
    email = await sign_up(browser, house)
    await browser.send("/sign-out")
    for elsewhere in ("//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example"):
        entered = await browser.send("/sign-in", email=email, password=PASSWORD, next=elsewhere)
        assert entered.headers["location"] == "/"
        await browser.send("/sign-out")


async def test_a_forgotten_password_is_chosen_anew_by_the_link_of_the_letter(browser: Browser, house: House):
    email = await sign_up(browser, house)
    await browser.send("/sign-out")
    assert (await browser.send("/forgotten", email=email)).headers["location"] == "/forgotten/sent"
    link = f"{browser.http.base_url}/auth/reset#{await house.token_to(email)}"
    weak = await browser.send("/auth/reset", token=link, newPassword="short")
    assert weak.status_code == 422 and link in weak.text, "the link is not lost"
    done = await browser.send("/auth/reset", token=link, newPassword=ANOTHER_PASSWORD)
    assert "Your new password is set" in (await browser.follow(done)).text
    again = await browser.send("/auth/reset", token=link, newPassword=ANOTHER_PASSWORD)
    assert again.status_code == 403 and "does not work any more" in again.text
    assert (await browser.send("/sign-in", email=email, password=PASSWORD)).status_code == 401
    assert (await browser.send("/sign-in", email=email, password=ANOTHER_PASSWORD)).status_code == 303


async def set_up(browser: Browser) -> pyotp.TOTP:
    """An authenticator that is not confirmed yet."""
    begun = await browser.send("/account/authenticator")
    assert begun.status_code == 200, begun.text
    return pyotp.TOTP(SECRET.search(begun.text)[1])


async def test_an_authenticator_is_set_up_asked_for_and_taken_away(browser: Browser, house: House):
    email = await sign_up(browser, house)
    begun = await browser.send("/account/authenticator")
    totp = pyotp.TOTP(SECRET.search(begun.text)[1])
    assert "<svg" in begun.text
    typed = {"secret": totp.secret, "uri": URI.search(begun.text)[1].replace("&amp;", "&")}
    wrong = await browser.send("/account/authenticator/confirm", code="000000", **typed)
    assert wrong.status_code == 401 and "<svg" in wrong.text and totp.secret in wrong.text
    now = await house.now()
    confirmed = await browser.send("/account/authenticator/confirm", code=totp.at(now), **typed)
    codes = re.findall(r"<li><code>([^<]+)</code>", confirmed.text)
    assert len(codes) == 10
    assert "On" in words_of(await browser.open("/account/authenticator"))

    await browser.send("/sign-out")
    asked = await browser.send("/sign-in", email=email, password=PASSWORD, next="/wallet")
    assert asked.status_code == 401 and 'name="secondFactor"' in asked.text
    assert f'value="{PASSWORD}"' in asked.text and email in asked.text, "nobody types it twice"
    assert "secondFactor." not in asked.text, "what programs are told is not told to people"
    entered = await browser.send("/sign-in", email=email, password=PASSWORD, secondFactor=codes[0], next="/wallet")
    assert entered.headers["location"] == "/wallet"
    assert 'name="password"' not in (await browser.open("/step-up")).text, "an authenticator alone counts"

    kept = await browser.send("/account/authenticator/remove", code="000000")
    assert kept.status_code == 401
    gone = await browser.send("/account/authenticator/remove", code=codes[1])
    assert "The authenticator was taken away." in (await browser.follow(gone)).text


async def test_no_picture_is_drawn_of_what_is_no_authenticator(browser: Browser, house: House):
    await sign_up(browser, house)
    answer = await browser.send("/account/authenticator/confirm", code="1", secret="<i>", uri="javascript:alert(1)")
    assert "code-picture" not in answer.text and "<i>" not in answer.text


async def test_whoever_has_no_password_proves_it_with_a_code_by_mail(browser: Browser, house: House):
    email = an_email()
    sent = await browser.send("/sign-in/code", email=email)
    await browser.send(sent.headers["location"].partition("?")[0], code=await house.code_to(email))
    page = await browser.open("/step-up?next=/account/email")
    assert 'name="password"' not in page.text
    asked = await browser.send("/step-up/code", next="/account/email")
    form = await browser.follow(asked)
    challenge = re.search(r'name="challengeId" value="([^"]+)"', form.text)[1]
    typed = {"next": "/account/email", "challengeId": challenge}
    wrong = await browser.send("/step-up", code="000000", **typed)
    assert wrong.status_code == 401 and challenge in wrong.text
    right = await browser.send("/step-up", code=await house.code_to(email), **typed)
    assert (right.status_code, right.headers["location"]) == (303, "/account/email")


async def test_another_address_counts_when_its_code_came_back(browser: Browser, house: House):
    former, new = await sign_up(browser, house), an_email()
    assert former in (await browser.open("/account/email")).text
    assert (await browser.send("/account/email", newEmail="no address")).status_code == 422
    sent = await browser.send("/account/email", newEmail=new)
    assert (await browser.open(sent.headers["location"])).status_code == 200
    wrong = await browser.send(sent.headers["location"], code="000000")
    assert wrong.status_code == 401
    done = await browser.send(sent.headers["location"], code=await house.code_to(new))
    account = await browser.follow(done)
    assert new in account.text and former not in account.text


@pytest.mark.covers("IDN-012")
async def test_whether_another_has_the_new_address_does_not_show(browser: Browser, house: House):
    await sign_up(browser, house)
    taken = (await house.a_user()).email
    seen = []
    for email in (taken, an_email()):
        answer = await browser.send("/account/email", newEmail=email)
        seen.append((answer.status_code, re.sub("chl_.*", "", answer.headers["location"])))
    assert seen[0] == seen[1]


async def test_the_password_is_changed_and_this_session_goes_on(browser: Browser, house: House):
    await sign_up(browser, house)
    wrong = await browser.send("/account/password", currentPassword="not this one", newPassword=ANOTHER_PASSWORD)
    assert wrong.status_code == 401
    done = await browser.send("/account/password", currentPassword=PASSWORD, newPassword=ANOTHER_PASSWORD)
    assert "Your password was changed." in (await browser.follow(done)).text


async def test_signing_out_everywhere_ends_every_session(application: Application, browser: Browser, house: House):
    email = await sign_up(browser, house)
    async with a_browser(application) as telephone:
        await telephone.send("/sign-in", email=email, password=PASSWORD)
        assert (await telephone.open("/account")).status_code == 200
        assert (await browser.send("/account/sign-out")).headers["location"] == "/"
        assert (await telephone.open("/account")).status_code == 303
    assert (await browser.open("/account")).status_code == 303


async def test_the_language_is_kept_with_the_profile_wherever_it_is_chosen(browser: Browser, house: House):
    await sign_up(browser, house)
    assert (await me(browser))["language"] == "en"
    await browser.send("/language", language="pt-BR", next="/account")
    assert (await me(browser))["language"] == "pt_BR"
    assert 'lang="pt-BR"' in (await browser.open("/account")).text
    await browser.send("/account", displayName="Ana", language="pt_PT")
    account = await browser.open("/account")
    assert 'lang="pt-PT"' in account.text and (await me(browser))["displayName"] == "Ana"


async def test_a_stranger_and_somebody_whose_session_ended_choose_a_language_too(browser: Browser, house: House):
    assert (await browser.send("/language", language="pt-PT", next="/sign-in")).headers["location"] == "/sign-in"
    await sign_up(browser, house)
    ended = browser.http.cookies[SESSION_COOKIE]
    await browser.send("/sign-out")
    browser.http.cookies.set(SESSION_COOKIE, ended)
    assert (await browser.send("/language", language="pt-BR", next="/sign-in")).status_code == 303


async def me(browser: Browser) -> dict[str, str]:
    answer: httpx.Response = await browser.open("/api/auth/me")
    told: dict[str, str] = answer.json()
    return told


@pytest.mark.covers("ORG-001")
async def test_an_organiser_begins_by_founding_one(browser: Browser, house: House):
    await sign_up(browser, house)
    empty = await browser.open("/org")
    assert "Found an organisation" in empty.text and "<details" not in empty.text
    key = re.search(r'name="key" value="([^"]+)"', empty.text)[1]
    wanted = {"key": key, "displayName": "Clube <b>", "defaultCurrency": "EUR", "language": "pt_PT"}
    lost = await browser.send("/org", **wanted, timeZone="Nowhere/At all", modules=["EVENTOS"])
    assert lost.status_code == 422 and "Nowhere/At all" in lost.text and "Clube &lt;b&gt;" in lost.text
    wanted |= {"timeZone": "Europe/Lisbon", "modules": ["EVENTOS", "FINANCEIRO"]}
    founded, again = await browser.send("/org", **wanted), await browser.send("/org", **wanted)
    assert founded.headers["location"] == again.headers["location"], "two presses found one"
    listed = await browser.open("/org")
    assert f'href="{founded.headers["location"]}"' in listed.text and "Clube &lt;b&gt;" in listed.text
    assert "Owner" in words_of(listed)


async def test_only_ones_own_organisations_are_listed(browser: Browser, house: House, database: Database):
    another = await an_organization_of(database, await a_person(database))
    await sign_up(browser, house)
    assert str(another) not in (await browser.open("/org")).text


async def test_whoever_has_not_proved_the_address_is_told_what_waits_for_it(browser: Browser, database: Database):
    browser.be(await a_person(database, confirmed=False))
    for path in ("/wallet", "/account", "/org"):
        assert "Your address is not confirmed yet." in (await browser.open(path)).text


async def test_an_invitation_that_is_none_is_said_so_and_nobody_joins(browser: Browser, house: House):
    page = await browser.open("/invitations/accept")
    assert "/sign-in?next=%2Finvitations%2Faccept" in page.text
    await sign_up(browser, house)
    answer = await browser.send("/invitations/accept", token="https://admitone.test/invitations/accept#nothing")
    assert answer.status_code in (404, 422) and 'role="alert"' in answer.text
