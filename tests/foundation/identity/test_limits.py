"""How often somebody may try, and that nobody is locked out by somebody else (IDN-020, IDN-021, IDN-023)."""

from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from admitone.entrypoints.http import Application, assemble
from admitone.entrypoints.modules import MODULES
from admitone.foundation.authority.api import TableAuthority
from admitone.foundation.identity import passwords
from admitone.foundation.identity.policy import new_device_cookie
from admitone.kernel.config import Config
from tests.foundation.identity.house import PASSWORD, PROXY, House, Visitor, an_address, an_email
from tests.foundation.identity.spraying import spray


async def guesses(house: House, email: str, times: int, address: str | None = None) -> list[int]:
    """By a stranger, each from another address unless one is given."""
    strangers = [house.a_visitor(address=address or an_address(), email=email) for _ in range(times)]
    return [(await stranger.login("a wrong one")).status_code for stranger in strangers]


@pytest.mark.covers("IDN-020")
async def test_the_sixth_attempt_at_one_address_is_refused_wherever_it_comes_from(house: House):
    ana = await house.a_user()
    assert await guesses(house, ana.email, 5) == [401] * 5
    sixth = await house.a_visitor(email=f" {ana.email.upper()}").login()
    assert (sixth.status_code, sixth.json()["errorCode"]) == (429, "RATE_LIMITED")
    assert sixth.json()["retryable"] is True
    assert sixth.json()["retryAfterSeconds"] == 900
    assert await guesses(house, an_email(), 1) == [401], "others are not concerned"


@pytest.mark.covers("IDN-020")
async def test_unknown_addresses_are_counted_as_known_ones_are(house: House):
    assert await guesses(house, an_email(), 7) == [401] * 5 + [429] * 2


@pytest.mark.covers("IDN-020")
async def test_the_eleventh_attempt_from_one_place_is_refused_whoever_is_meant(house: House):
    place = an_address()
    tried = [await guesses(house, an_email(), 1, place) for _ in range(12)]
    assert tried == [[401]] * 10 + [[429]] * 2


@pytest.mark.covers("IDN-020")
async def test_whoever_is_refused_at_their_place_uses_up_nobodys_attempts(house: House):
    ana = await house.a_user()
    place = an_address()
    for _ in range(10):
        await guesses(house, an_email(), 1, place)
    assert await guesses(house, ana.email, 20, place) == [429] * 20
    assert (await house.a_visitor(email=ana.email).login()).status_code == 200


@pytest.mark.covers("IDN-020")
async def test_the_door_stays_closed_for_a_quarter_of_an_hour_and_then_for_an_hour(house: House):
    email, began = an_email(), await house.now()

    async def at(minutes: int, seconds: int = 0, times: int = 1) -> list[int]:
        with house.at(began + timedelta(minutes=minutes, seconds=seconds)):
            return await guesses(house, email, times)

    assert await at(0, times=6) == [401] * 5 + [429]
    assert await at(14, 59, times=3) == [429] * 3, "knocking changes nothing"
    assert await at(15, times=6) == [401] * 5 + [429]
    assert await at(15 + 59, 59) == [429]
    assert await at(15 + 60, times=6) == [401] * 5 + [429]
    assert await at(15 + 60 + 59, 59) == [429]
    assert await at(15 + 60 + 60) == [401]


@pytest.mark.covers("IDN-020")
@pytest.mark.parametrize("from_the_same_place", [False, True])
async def test_a_stranger_cannot_lock_the_owner_out_of_a_known_device(house: House, from_the_same_place: bool):
    ana = await house.a_user()
    await ana.signs_in()
    place = ana.address if from_the_same_place else None
    for _ in range(4):
        assert 429 in await guesses(house, ana.email, 12, place)
        assert (await ana.login()).status_code == 200
    assert (await house.a_visitor(email=ana.email).login()).status_code == 429, "on another device it is closed"


@pytest.mark.covers("IDN-020")
async def test_a_known_device_has_a_counter_of_its_own_too(house: House):
    ana = await house.a_user()
    await ana.signs_in()
    tried = [(await ana.login("a wrong one")).status_code for _ in range(6)]
    assert tried == [401] * 5 + [429]
    assert (await ana.login()).status_code == 429


@pytest.mark.covers("IDN-020")
async def test_many_cookies_of_one_account_buy_no_more_attempts(house: House):
    ana = await house.a_user()
    devices = []
    for _ in range(4):
        devices.append(house.a_visitor(email=ana.email))
        await devices[-1].signs_in()
    tried = [(await device.login("a wrong one")).status_code for device in devices * 2]
    assert tried == [401] * 5 + [429] * 3
    assert 429 in await guesses(house, ana.email, 6), "strangers have theirs"


@pytest.mark.covers("IDN-020")
async def test_cookies_of_many_accounts_do_not_lift_the_limit_of_a_place(house: House):
    place, cookies = an_address(), {email: new_device_cookie(email) for email in (an_email() for _ in range(16))}
    tried = [
        (await house.a_visitor(address=place).post("login", {"cookie": f"device={cookie}"}, email=email, password="?"))
        for _ in range(4)
        for email, cookie in cookies.items()
    ]
    assert [answer.status_code for answer in tried] == [401] * 60 + [429] * 4


@pytest.mark.covers("IDN-020")
async def test_a_cookie_that_we_did_not_sign_for_this_address_is_a_strangers(house: House):
    ana, eva = await house.a_user(), await house.a_user()
    await ana.signs_in()
    own = ana.http.cookies["device"]
    device, version, digest = own.split(".")
    forged = {
        "of another account": new_device_cookie(eva.email),
        "tampered device": f"{'0' * 32}.{version}.{digest}",
        "tampered digest": f"{device}.{version}.{digest[:-1]}{'0' if digest[-1] != '0' else '1'}",
        "another key": f"{device}.2.{digest}",
        "no key": f"{device}.999.{digest}",
        "no digest": f"{device}.{version}.",
        "no hex": f"{device}.{version}.{'z' * 64}",
        "half": device,
        "nothing": "",
        "much": "a" * 3_000,
    }
    await guesses(house, ana.email, 6)
    for what, cookie in forged.items():
        stranger = house.a_visitor()
        headers = {"cookie": f"device={cookie}"}
        answer = await stranger.post("login", headers, email=ana.email, password=PASSWORD)
        assert (what, answer.status_code) == (what, 429)
    ours = await house.a_visitor().post("login", {"cookie": f"device={own}"}, email=ana.email, password=PASSWORD)
    assert ours.status_code == 200


@pytest.mark.covers("IDN-020")
async def test_thousands_of_tries_with_made_up_addresses_stay_within_the_limit(house: House):
    tried = await spray(house.application.edge, 2_000, peer=an_address())
    assert sum(tried.values()) == 2_000
    assert tried[429] >= 1_990


@pytest.mark.covers("IDN-021")
@pytest.mark.parametrize("path", ["password/reset-request", "send-otp"])
async def test_the_fourth_letter_is_not_sent_and_nobody_is_told(house: House, path: str):
    email, began = an_email(), await house.now()
    with house.at(began):
        answers = [await house.a_visitor().post(path, email=email) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [202] * 5
    assert len({answer.text for answer in answers}) == (1 if path.startswith("password") else 5)
    assert {tuple(answer.json()) for answer in answers} == {tuple(answers[0].json())}
    assert len(await house.letters_to(email)) == 3
    with house.at(began + timedelta(minutes=29, seconds=59)):
        await house.a_visitor().post("send-otp", email=email)
    assert len(await house.letters_to(email)) == 3, "codes and links are letters alike"
    with house.at(began + timedelta(minutes=30)):
        await house.a_visitor().post(path, email=email)
    assert len(await house.letters_to(email)) == 4


@pytest.mark.covers("IDN-021")
@pytest.mark.parametrize("path", ["password/reset-request", "send-otp"])
async def test_strangers_cannot_use_up_the_letters_of_the_owner(house: House, path: str):
    ana = await house.a_user()
    await ana.signs_in()
    for _ in range(5):
        await house.a_visitor().post("send-otp", email=ana.email)
    before = len(await house.letters_to(ana.email))
    assert {(await ana.post(path, email=ana.email)).status_code for _ in range(5)} == {202}
    assert len(await house.letters_to(ana.email)) == before + 3, "on a device that we know, and no more than three"


@pytest.mark.covers("IDN-021")
async def test_other_spellings_of_one_mailbox_get_no_letters_more(house: House):
    email = an_email()
    for sign in ("", "\u00ad", "\u200b", "\u2060", "\u034f"):
        written = email.replace("example", f"exam{sign}ple")
        assert (await house.a_visitor().post("send-otp", email=written)).status_code == 202
    assert len(await house.letters_to(email)) == 3


async def test_from_one_place_twenty_letters_go_out_at_most(house: House):
    place = an_address()
    sent = [(await house.a_visitor(address=place).post("send-otp", email=an_email())).status_code for _ in range(21)]
    assert sent == [202] * 20 + [429]


async def all_doors(visitor: Visitor) -> dict[str, tuple[int, bool]]:
    """What each of the auth API's operations says."""
    bodies = {
        "login": {"email": an_email(), "password": PASSWORD},
        "signup": {"email": an_email(), "password": PASSWORD},
        "send-otp": {"email": an_email()},
        "check-email": {"email": an_email()},
        "password/reset-request": {"email": an_email()},
        "password/reset": {"token": "reset_0_x", "newPassword": PASSWORD},
        "verify-otp": {"challengeId": f"chl_{'0' * 12}7000{'8' + '0' * 15}", "code": "123456"},
        "verify-link": {"token": "link_0_x"},
        "refresh": {"refreshToken": "refresh_0_x"},
        "logout": {},
    }
    answers = {}
    for path, body in bodies.items():
        answer = await visitor.post(path, {"authorization": "Bearer x"} if path == "logout" else {}, **body)
        answers[path] = (answer.status_code, answer.json().get("retryable"))
    return answers


@pytest.fixture
async def without_database(tmp_path: Path) -> Application:
    nowhere = f"postgresql://admitone@/nothing?host={tmp_path}"
    surroundings = {"DATABASE_URL": nowhere, "ADMITONE_DATA": str(tmp_path), "TRUSTED_PROXIES": PROXY}
    return assemble(Config.load(surroundings), MODULES, TableAuthority(), strict=True)


@pytest.mark.covers("IDN-023")
async def test_without_the_store_of_limits_every_door_is_closed_for_now(
    without_database: Application, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(passwords, "matches", lambda *_: pytest.fail("a password was compared uncounted"))
    answers = await all_doors(Visitor(without_database.edge))
    assert answers == dict.fromkeys(answers, (503, True))


@pytest.mark.covers("IDN-023")
async def test_where_nothing_can_be_counted_nobody_is_let_in(
    house: House, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    ana = await house.a_user()
    await ana.signs_in()
    with monkeypatch.context() as patch:
        patch.setattr(passwords, "matches", lambda *_: pytest.fail("a password was compared uncounted"))
        async with superuser.transaction():
            await superuser.execute("LOCK TABLE kernel.limit_counter IN ACCESS EXCLUSIVE MODE")
            stuck = await ana.login()
    assert (stuck.status_code, stuck.json()["retryable"]) == (503, True)
    assert (await ana.login()).status_code == 200
