"""Two tenants on one pooled connection, with aborts and cancels in between."""

import asyncio
import random

import pytest

from admitone.kernel.db import Database, Tx
from admitone.kernel.scope import Role, Scope
from tests.builders import an_organization

ALTERNATIONS = 100_000
SEEN = "SELECT organization_id FROM toy.counter WHERE $1::uuid IS NOT NULL"
SLOW = "SELECT pg_sleep(10) WHERE $1::uuid IS NOT NULL"


@pytest.mark.covers("TEN-T01", "TEN-010")
async def test_a_hundred_thousand_alternations_never_show_a_row_of_the_other(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admitone.kernel.db.POOL_SIZES", dict.fromkeys(Role, 1))
    chance = random.Random(7)
    async with Database(database_url) as database:
        tenants = [await an_organization(database) for _ in range(2)]
        for turn in range(ALTERNATIONS):
            scope = tenants[turn % 2]
            fate = chance.random()
            if fate < 0.01:
                await abort(database, scope)
            elif fate < 0.012:
                await cancel(database, scope)
            else:
                await see_only_its_own(database, scope)


async def see_only_its_own(database: Database, scope: Scope) -> None:
    rows = await database.read(scope, lambda tx: tx.fetch(SEEN))
    assert [row["organization_id"] for row in rows] == [scope.organization.uuid]


async def abort(database: Database, scope: Scope) -> None:
    async def fail(tx: Tx) -> None:
        await tx.fetch(SEEN)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.run(scope, fail)


async def cancel(database: Database, scope: Scope) -> None:
    """The caller gives up between the scope and the answer."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.002):
            await database.run(scope, lambda tx: tx.fetch(SLOW))
