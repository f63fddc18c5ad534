"""A market: one organisation's stock, at any minute, and whether it is whole.

market = await a_market(database)
hall = await market.pool(100)
kept = await market.keep(Portion(hall, "seat", 2))
market.minutes += 20
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Scope
from admitone.selling.stock.api import (
    Claim,
    GiveBack,
    Hold,
    HoldId,
    Keep,
    KeepUntil,
    Pool,
    PoolId,
    PoolPut,
    Portion,
    Release,
    Unit,
    UnitsPut,
    claim,
    find_holds,
    find_pools,
    give_back,
    keep,
    keep_until,
    list_units,
    put_pools,
    put_units,
    release,
)
from admitone.selling.stock.store.sweeping import Standing, sum_standings
from tests.builders import an_organization

Result = TypeVar("Result")
TTL = timedelta(minutes=15)
LONGEST = timedelta(minutes=95)
"""What is kept here is kept, however often it is asked for."""


@dataclass
class Market:
    database: Database
    scope: Scope
    minutes: float = 0
    """How far its clock is ahead."""

    async def run(self, work: Callable[[Tx], Awaitable[Result]], *, patient: bool = True) -> Result:
        async def then(tx: Tx) -> Result:
            tx.now += timedelta(minutes=self.minutes)
            return await work(tx)

        return await self.database.run(self.scope, then, patient=patient)

    async def pool(self, capacity: int) -> PoolId:
        pool = PoolId.new()
        assert await self.resize(pool, capacity) == Pool(pool, capacity)
        return pool

    async def resize(self, pool: PoolId, capacity: int) -> Any:
        [became] = await self.run(lambda tx: put_pools(tx, [PoolPut(None, pool, capacity)]))
        return became

    async def hall(self, *labels: str) -> PoolId:
        """A pool of numbered seats."""
        pool = PoolId.new()
        became = await self.put(pool, *labels)
        assert became == Pool(pool, sum(map(bool, labels)), seated=True)
        return pool

    async def put(self, pool: PoolId, *labels: str) -> Any:
        [became] = await self.run(lambda tx: put_units(tx, [UnitsPut(None, pool, labels)]))
        return became

    async def units(self, pool: PoolId) -> dict[str, Unit]:
        return {each.label: each for each in await self.run(lambda tx: list_units(tx, pool, "", 1_000))}

    async def keep(self, *portions: Portion, ttl: timedelta = TTL, **said: Any) -> Any:
        [kept] = await self.keep_all([a_keep(*portions, **said)], ttl=ttl)
        return kept

    async def keep_all(self, keeps: list[Any], ttl: timedelta = TTL) -> list[Any]:
        """Each a function of its end."""
        return await self.run(lambda tx: keep(tx, [each(tx.now + ttl) for each in keeps]))

    async def claim(self, *holds: HoldId) -> list[Any]:
        return await self.run(lambda tx: claim(tx, [Claim(None, each) for each in holds]))

    async def keep_until(self, hold: HoldId, minutes: float) -> Any:
        """So many minutes from now."""
        ends = timedelta(minutes=minutes)
        [became] = await self.run(lambda tx: keep_until(tx, [KeepUntil(None, hold, tx.now + ends)]))
        return became

    async def release(self, *holds: HoldId) -> list[Any]:
        return await self.run(lambda tx: release(tx, [Release(None, each) for each in holds]))

    async def give_back(self, hold: HoldId, key: str = "refund", items: Any = None, seats: Any = ()) -> Any:
        wanted = GiveBack(None, hold, key, items or {}, tuple(seats))
        [became] = await self.run(lambda tx: give_back(tx, [wanted]))
        return became

    async def sold(self, *portions: Portion, **said: Any) -> Hold:
        kept = await self.keep(*portions, **said)
        [sold] = await self.claim(kept.id)
        assert isinstance(sold, Hold)
        return sold

    async def find(self, pool: PoolId) -> Pool:
        """By the clock."""
        return (await self.run(lambda tx: find_pools(tx, [pool])))[pool]

    async def holds(self, *holds: Hold) -> list[Hold]:
        """As they stand by now."""
        found = await self.run(lambda tx: find_holds(tx, [each.id for each in holds]))
        return [found[each.id] for each in holds]

    async def counted(self, pool: PoolId) -> tuple[int, int]:
        """Held and sold, as the whole pool has them."""
        standing = await self.is_whole(pool)
        return (standing.held, standing.sold)

    async def is_whole(self, pool: PoolId) -> Standing:
        """sold + held + free = capacity, and every seat is whose hold has it (goals 7 and 8)."""
        [standing] = await self.run(lambda tx: sum_standings(tx, [pool]))
        assert standing.is_counted, standing
        assert standing.is_seated_right, standing
        assert min(standing.held, standing.sold, standing.capacity - standing.held - standing.sold) >= 0
        return standing


def a_keep(
    *portions: Portion,
    buyer: IdentityId | None = None,
    limits: Any = None,
    hold: HoldId | None = None,
    subject: str = "ord_1",
    of: Any = None,
    keepable: bool = True,
) -> Any:
    own, who = hold or HoldId.new(), buyer or IdentityId.new()
    return lambda expires_at: Keep(
        of, own, subject, who, portions, expires_at, limits or {}, expires_at + LONGEST - TTL if keepable else None
    )


async def a_market(database: Database) -> Market:
    return Market(database, await an_organization(database))


@pytest.fixture
async def market(database: Database) -> Market:
    return await a_market(database)
