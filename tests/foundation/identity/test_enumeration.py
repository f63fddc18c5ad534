"""Whether somebody has an account shows nowhere: not in the answer, and not in the work that it takes."""

import re
from typing import Any

import httpx
import pytest

from admitone.foundation.identity import passwords
from tests.foundation.identity.house import ANOTHER_PASSWORD, PASSWORD, House, Visitor, an_email, statements_of

ASKING = {
    "signup": {"password": ANOTHER_PASSWORD},
    "send-otp": {},
    "password/reset-request": {},
    "check-email": {},
    "login": {"password": "not the one of anybody"},
}
IDS = re.compile(r'"(correlationId|challengeId)":"[^"]*"')


def seen(answer: httpx.Response) -> tuple[int, str, dict[str, str]]:
    """What a stranger sees, without what is different each time."""
    headers = {name: value for name, value in answer.headers.items() if name != "x-correlation-id"}
    return answer.status_code, IDS.sub("", answer.text), headers


async def known_ones(house: House) -> list[str]:
    """With a password, and without one."""
    with_password = await house.a_user()
    without = house.a_visitor(email=an_email())
    asked = await without.post("send-otp", email=without.email)
    await house.verifies(without, asked)
    return [with_password.email, without.email]


@pytest.mark.covers("IDN-012")
@pytest.mark.parametrize("path", ASKING)
async def test_known_and_unknown_addresses_are_answered_alike(house: House, path: str):
    for known in await known_ones(house):
        answers = [
            seen(await house.a_visitor().post(path, email=email, **ASKING[path])) for email in (known, an_email())
        ]
        assert answers[0] == answers[1]
        assert "EXISTS" not in answers[0][1]


@pytest.mark.covers("IDN-012")
async def test_check_email_is_the_same_by_get(house: House):
    ana = await house.a_user()
    answers = [
        seen(await house.a_visitor().send("GET", "check-email", params={"email": email}))
        for email in (ana.email, an_email())
    ]
    assert answers[0] == answers[1]
    assert answers[0][0] == 200


@pytest.mark.covers("IDN-012")
@pytest.mark.parametrize("path", ASKING)
async def test_known_and_unknown_addresses_take_the_same_work(house: House, path: str, monkeypatch: pytest.MonkeyPatch):
    for known in await known_ones(house):
        work = [await work_of(house.a_visitor(), path, email, monkeypatch) for email in (known, an_email())]
        assert work[0] == work[1]


async def work_of(visitor: Visitor, path: str, email: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Statements to the database, and what is hashed."""
    hashed: list[str] = []
    async with statements_of(monkeypatch) as said:
        with monkeypatch.context() as patch:
            watch_hasher(patch, hashed)
            await visitor.post(path, email=email, **ASKING[path])
    return [*said, *hashed]


def watch_hasher(patch: pytest.MonkeyPatch, hashed: list[str]) -> None:
    hasher = type(passwords.HASHER)
    for name in ("hash", "verify"):
        original = getattr(hasher, name)

        def watched(self: Any, *words: Any, _name: str = name, _original: Any = original) -> Any:
            costs = words[0].split("$")[3] if _name == "verify" else ""
            hashed.append(f"{_name} {costs}")
            return _original(self, *words)

        patch.setattr(hasher, name, watched)


@pytest.mark.covers("IDN-012")
async def test_how_many_letters_an_address_had_shows_to_nobody_else(house: House):
    ana = await house.a_user()
    for email in (ana.email, an_email()):
        first = seen(await house.a_visitor().post("password/reset-request", email=email))
        more = [seen(await house.a_visitor().post("password/reset-request", email=email)) for _ in range(4)]
        assert more == [first] * 4


async def test_a_wrong_code_tells_nothing_of_its_challenge(house: House):
    ana = await house.a_user()
    real = (await ana.post("send-otp", email=ana.email)).json()["challengeId"]
    none = f"chl_{'0' * 12}7000{'8' + '0' * 15}"
    answers = [seen(await ana.post("verify-otp", challengeId=each, code="1")) for each in (real, none)]
    assert answers[0] == answers[1]


async def test_a_password_that_is_like_the_address_is_refused_for_known_and_unknown(house: House):
    ana = await house.a_user()
    for email in (ana.email, an_email()):
        answer = await ana.post("signup", email=email, password=f"x{email.partition('@')[0]}")
        assert (answer.json()["errorCode"], answer.json()["rule"]) == ("WEAK_PASSWORD", "LIKE_THE_ADDRESS")
    assert (await ana.login(PASSWORD)).status_code == 200
