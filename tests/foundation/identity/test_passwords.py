"""Passwords: compared off the event loop, in a line that is no longer than we can serve."""

import asyncio
import threading

import pytest
from argon2 import PasswordHasher

from admitone.foundation.identity import passwords
from admitone.foundation.identity.errors import WeakPassword
from admitone.foundation.identity.passwords import HASHER, IN_LINE, NOBODYS, hash_of, is_outdated, matches, refuse_weak
from admitone.kernel.batch import Overloaded
from tests.foundation.identity.house import PASSWORD, House, Visitor

CHEAP = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)


async def hash_kept(house: House, ana: Visitor) -> str:
    kept: str = await house.superuser.fetchval(
        "SELECT hash FROM identity.password WHERE identity_id = $1", ana.identity.uuid
    )
    return kept


async def keep_hash(house: House, ana: Visitor, hashed: str) -> None:
    await house.superuser.execute(
        "UPDATE identity.password SET hash = $2 WHERE identity_id = $1", ana.identity.uuid, hashed
    )


@pytest.mark.parametrize(
    ("password", "rule"),
    [
        ("", "TOO_SHORT"),
        ("nine char", "TOO_SHORT"),
        ("x" * 129, "TOO_LONG"),
        ("password123", "TOO_COMMON"),
        ("PASSWORD123", "TOO_COMMON"),
        ("aaaaaaaaaaaaaaaa", "TOO_COMMON"),
        ("abababababab", "TOO_COMMON"),
        ("ana.silva 2026", "LIKE_THE_ADDRESS"),
        ("silva@example", "LIKE_THE_ADDRESS"),
    ],
)
def test_what_everybody_would_try_is_refused(password: str, rule: str):
    with pytest.raises(WeakPassword) as refused:
        refuse_weak(password, "ana.silva@example.org")
    assert refused.value.rule == rule


@pytest.mark.parametrize("password", [PASSWORD, "ten chars!", "çãoçãoçãoç12", "x1" * 5 + "yz!", "a" * 120 + "bcdefgh"])
def test_what_is_long_enough_is_taken(password: str):
    refuse_weak(password, "eva@example.org")


async def test_nobodys_hash_costs_what_others_do_and_nobody_has_it():
    assert not is_outdated(NOBODYS)
    assert not await matches("nobody has this password", None)
    assert await matches(PASSWORD, HASHER.hash(PASSWORD))
    assert not await matches(PASSWORD, "no hash at all")


async def test_whoever_comes_when_the_line_is_full_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch):
    go_on = threading.Event()
    hashed: list[str] = []

    def slowly(password: str, stored: str) -> bool:
        go_on.wait(60)
        hashed.append(password)
        return True

    monkeypatch.setattr(passwords, "_verify", slowly)
    waiting = [asyncio.create_task(matches(str(number), NOBODYS)) for number in range(IN_LINE)]
    await asyncio.sleep(0)
    try:
        for work in (matches("one too many", NOBODYS), hash_of("one too many")):
            with pytest.raises(Overloaded):
                await asyncio.wait_for(work, 10)
    finally:
        go_on.set()
    assert all(await asyncio.gather(*waiting))
    assert hashed == [str(number) for number in range(IN_LINE)], "in order, one at a time"
    monkeypatch.undo()
    assert await matches(PASSWORD, HASHER.hash(PASSWORD)), "and the line is open again"


async def test_a_full_line_is_503_with_a_time_to_come_back(house: House, monkeypatch: pytest.MonkeyPatch):
    ana = await house.a_user()
    monkeypatch.setattr(passwords, "_waiting", IN_LINE)
    answer = await ana.login()
    assert (answer.status_code, answer.json()["errorCode"], answer.json()["retryable"]) == (503, "OVERLOADED", True)
    assert (await ana.post("signup", email="new@example.org", password=PASSWORD)).status_code == 503


async def test_whoever_leaves_the_line_leaves_room(monkeypatch: pytest.MonkeyPatch):
    go_on = threading.Event()
    monkeypatch.setattr(passwords, "_verify", lambda *_: go_on.wait(60))
    waiting = [asyncio.create_task(matches(str(number), NOBODYS)) for number in range(IN_LINE)]
    await asyncio.sleep(0)
    for each in waiting[1:]:
        each.cancel()
    await asyncio.gather(*waiting[1:], return_exceptions=True)
    last = asyncio.create_task(matches("the last", NOBODYS))
    await asyncio.sleep(0)
    go_on.set()
    assert await last


async def test_an_outdated_hash_is_made_anew_when_its_owner_signs_in(house: House):
    ana = await house.a_user()
    await keep_hash(house, ana, CHEAP.hash(PASSWORD))
    assert (await ana.login("a wrong one")).status_code == 401
    assert is_outdated(await hash_kept(house, ana)), "not by a guess"
    assert (await ana.login()).status_code == 200
    assert not is_outdated(await hash_kept(house, ana))
    assert (await ana.login()).status_code == 200


async def test_two_who_sign_in_at_once_with_an_outdated_hash_both_get_in(house: House):
    ana = await house.a_user()
    await ana.signs_in()
    device = {"cookie": f"device={ana.http.cookies['device']}"}
    await keep_hash(house, ana, CHEAP.hash(PASSWORD))
    answers = await asyncio.gather(
        *(house.a_visitor().post("login", device, email=ana.email, password=PASSWORD) for _ in range(4))
    )
    assert [answer.status_code for answer in answers] == [200] * 4


async def test_a_password_that_changes_while_it_is_compared_opens_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
):
    ana = await house.a_user()
    new = HASHER.hash("another one since")
    compare = passwords.matches

    async def overtaken(password: str, stored: str | None) -> bool:
        found = await compare(password, stored)
        await keep_hash(house, ana, new)
        return found

    monkeypatch.setattr(passwords, "matches", overtaken)
    assert (await ana.login()).json()["errorCode"] == "INVALID_CREDENTIALS"
