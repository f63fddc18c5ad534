"""Every minute what is overdue is let go, in every organisation."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk, Kind
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from admitone.selling.stock import errands
from admitone.selling.stock.api import Hold, Portion, Status
from tests.selling.stock.market import Market, a_keep, a_market
from tests.selling.stock.test_keeping import status_of

LEFT = "SELECT count(*) FROM stock.portion WHERE organization_id = $1 AND status = 'HELD'"
ENDED = "SELECT count(*) FROM stock.portion WHERE status = 'EXPIRED' AND ended_at >= expires_at"


@pytest.fixture
async def desk(database_url: str) -> AsyncIterator[Desk]:
    """A worker, twenty minutes later."""
    async with Database(database_url, clock=Clock(timedelta(minutes=20))) as database:
        batcher = Batcher(database)
        yield Desk(database, batcher)
        await batcher.drain()


async def fires(desk: Desk, kind: Kind[Any]) -> None:
    now = datetime.now(UTC)
    fired = Delivered(uuid7(), PLATFORM_ORGANIZATION, Firing(kind.name, now), Caller(), "k", None, 1, now)
    await kind.work(desk, fired)


async def test_nothing_that_is_overdue_outlives_a_sweep_in_any_organisation(
    database: Database, desk: Desk, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(errands, "PAGE", 7)
    monkeypatch.setattr(errands, "AT_A_TIME", 3)
    markets = [await a_market(database) for _ in range(2)]
    for market in markets:
        hall, own = await market.pool(100), await market.pool(100)
        both = (Portion(own, "seat", 2), Portion(hall, "seat", 2))
        await market.keep_all([a_keep(*both) for _ in range(9)])
        sold = await market.sold(*both)
        longer = await market.keep(*both, ttl=timedelta(minutes=60))
        await fires(Desk(database, desk.batcher), errands.sweep)
        assert await market.counted(hall) == (20, 2), "not before their time"
        await fires(desk, errands.sweep)
        assert [await market.counted(each) for each in (hall, own)] == [(2, 2), (2, 2)]
        assert await superuser.fetchval(LEFT, market.scope.organization.uuid) == 2
        assert await status_of(market, sold.id) is Status.SOLD
        assert await status_of(market, longer.id) is Status.HELD
        await fires(desk, errands.sweep)
        assert await market.counted(hall) == (2, 2)
    assert await superuser.fetchval(ENDED) >= 36


async def test_seats_are_free_again_after_a_sweep(market: Market, desk: Desk):
    hall = await market.hall("A1", "A2", "A3")
    await market.keep(Portion(hall, "seat", 2))
    await fires(desk, errands.sweep)
    assert {each.hold for each in (await market.units(hall)).values()} == {None}
    assert isinstance(await market.keep(Portion(hall, "seat", 3)), Hold)
    await market.is_whole(hall)


async def test_what_cannot_be_swept_in_one_organisation_keeps_no_other_waiting(
    database: Database, desk: Desk, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("admitone.kernel.db.PATIENT_LOCK_TIMEOUT_MS", 100)
    stuck, other = await a_market(database), await a_market(database)
    pools = [await each.pool(5) for each in (stuck, other)]
    for market, pool in zip((stuck, other), pools, strict=True):
        await market.keep(Portion(pool, "seat", 1))
    async with superuser.transaction():
        await superuser.execute("SELECT 1 FROM stock.pool WHERE id = $1 FOR UPDATE", pools[0].uuid)
        with pytest.raises(ExceptionGroup):
            await fires(desk, errands.sweep)
    assert [await market.counted(pool) for market, pool in zip((stuck, other), pools, strict=True)] == [(1, 0), (0, 0)]
    await fires(desk, errands.sweep)
    assert await stuck.counted(pools[0]) == (0, 0)
