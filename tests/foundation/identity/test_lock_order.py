"""Whoever proves themselves locks what is theirs in one order, so that nobody waits in a circle (docs/flows/locking.md)."""

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from admitone.foundation.identity import api
from admitone.foundation.identity.commands import accounts
from admitone.kernel.scope import Caller
from admitone.kernel.transactions import Transaction
from tests.foundation.identity.house import ANOTHER_PASSWORD, PASSWORD, House, an_email
from tests.foundation.identity.test_first_proof import made_by_an_operator, proves
from tests.foundation.identity.test_guest_links import a_link
from tests.foundation.identity.visitors import an_account, an_authenticator, now_of

ORDER = {
    "identity.challenge": 0,
    "identity.identity": 1,
    "identity.password": 2,
    "identity.totp": 3,
    "identity.recovery_code": 3,
    "identity.apple": 3,
    "authority.session": 4,
}
HOLDS = re.compile(r"FOR NO KEY UPDATE|^UPDATE|^DELETE|DO UPDATE")
TABLE = re.compile(r"(?:FROM|^UPDATE|INTO) ((?:identity|authority)\.\w+)")


@contextmanager
def locks(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[int, list[str]]]:
    """Which tables each transaction held rows of, in the order in which it first did."""
    held: dict[int, list[str]] = defaultdict(list)
    kept = []  # So that no two transactions have one id.
    with monkeypatch.context() as patch:
        for name in ("fetch", "find", "execute"):
            original = getattr(Transaction, name)

            async def recording(self: Transaction, sql: str, *values: Any, _original: Any = original) -> Any:
                said = " ".join(sql.split())
                if HOLDS.search(said) and (table := TABLE.search(said)) and table[1] in ORDER:
                    kept.append(self)
                    if table[1] not in held[id(self)]:
                        held[id(self)].append(table[1])
                return await _original(self, sql, *values)

            patch.setattr(Transaction, name, recording)
        yield held


def in_order(held: dict[int, list[str]], *longest: str) -> None:
    for tables in held.values():
        assert tables == sorted(tables, key=lambda table: ORDER[table])
    assert set(longest) <= {table for tables in held.values() for table in tables}, "and that was what happened"


@pytest.mark.parametrize("way", ["code", "link", "signup", "reset"])
async def test_whoever_proves_an_address_first(house: House, monkeypatch: pytest.MonkeyPatch, way: str):
    _, thief = await made_by_an_operator(house)
    await house.people(lambda tx: api.guests(tx, [thief.email]))
    with locks(monkeypatch) as held:
        await proves(house, house.a_visitor(email=thief.email), way)
    in_order(held, "identity.challenge", "identity.identity", "identity.password", "authority.session")


async def test_whoever_has_a_second_factor(house: House, monkeypatch: pytest.MonkeyPatch):
    ana = await an_account(house.application, password=PASSWORD)
    totp, codes = await an_authenticator(ana)
    await house.people(lambda tx: api.guests(tx, [ana.email]))
    token = await a_link(house, ana.email)
    with locks(monkeypatch) as held:
        assert (await ana.login(secondFactor=totp.at(await now_of(ana)))).status_code == 200
        assert (await ana.post("step-up", secondFactor=codes[0])).status_code == 200
        assert (await house.a_visitor().post("verify-link", token=token, secondFactor=codes[1])).status_code == 200
        assert (await ana.post("totp/disable", code=codes[2])).status_code == 200
    in_order(held, "identity.challenge", "identity.identity", "identity.password", "identity.totp")


async def test_whoever_changes_password_or_address_or_goes(house: House, monkeypatch: pytest.MonkeyPatch):
    ana = await house.a_user()
    new = an_email()
    await house.people(lambda tx: api.guests(tx, [new]))
    with locks(monkeypatch) as held:
        changed = await ana.post("password/change", ana.bearer, currentPassword=PASSWORD, newPassword=ANOTHER_PASSWORD)
        assert changed.status_code == 200
        asked = await ana.post("step-up/send-code", ana.bearer)
        code = await house.code_to(ana.email)
        stepped = await ana.post("step-up", ana.bearer, challengeId=asked.json()["challengeId"], code=code)
        assert stepped.status_code == 200
        asked = await ana.post("email/change", ana.bearer, newEmail=new)
        code = await house.code_to(new)
        confirmed = await ana.post("email/confirm", ana.bearer, challengeId=asked.json()["challengeId"], code=code)
        assert confirmed.status_code == 200
        assert await house.people(lambda tx: accounts.erase(tx, [(Caller(), ana.identity)])) == [True]
    in_order(held, "identity.challenge", "identity.identity", "identity.password", "authority.session")
