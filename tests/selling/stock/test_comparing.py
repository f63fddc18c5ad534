"""Every night the counters are compared with what they count."""

from datetime import UTC, datetime

import asyncpg
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.scope import Caller
from admitone.selling.stock import comparing
from admitone.selling.stock.api import PoolId, Portion
from admitone.selling.stock.facts import StockStrayed
from admitone.selling.stock.store.sweeping import sum_standings
from tests.alerts import alerts_about
from tests.selling.stock.market import Market, a_keep
from tests.selling.stock.test_sweeping import fires

FACTS = "SELECT payload::text AS payload FROM kernel.event_log WHERE organization_id = $1 AND type = 'stock.strayed'"


@pytest.fixture
def desk(market: Market, batcher: Batcher) -> Desk:
    return Desk(market.database, batcher)


async def a_night(market: Market, desk: Desk, superuser: asyncpg.Connection) -> list[StockStrayed]:
    await fires(desk, comparing.compare)
    rows = await superuser.fetch(FACTS, market.scope.organization.uuid)
    return [comparing.tell_of_strayed.decode(row["payload"]) for row in rows]


async def a_busy_pool(market: Market) -> PoolId:
    pool = await market.pool(20)
    sold = await market.sold(Portion(pool, "seat", 5))
    await market.give_back(sold.id, items={"seat": 2})
    await market.keep_all([a_keep(Portion(pool, "seat", 2)) for _ in range(2)])
    released = await market.keep(Portion(pool, "seat", 1))
    await market.release(released.id)
    return pool


@pytest.mark.covers("EVT-009")
async def test_where_all_is_counted_the_night_finds_nothing(
    market: Market, desk: Desk, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(comparing, "PAGE", 1)
    await a_busy_pool(market)
    hall = await market.hall("A1", "A2", "A3")
    await market.sold(Portion(hall, "seat", 2))
    assert await a_night(market, desk, superuser) == []


@pytest.mark.covers("EVT-009")
async def test_counters_that_strayed_follow_what_was_sold_and_somebody_is_told(
    market: Market, desk: Desk, superuser: asyncpg.Connection
):
    pool = await a_busy_pool(market)
    assert await market.counted(pool) == (4, 3)
    await superuser.execute("UPDATE stock.pool SET held = 6, sold = 2 WHERE id = $1", pool.uuid)
    [fact] = await a_night(market, desk, superuser)
    assert (fact.pool_id, fact.held, fact.sold, fact.kept, fact.bought, fact.put_right) == (pool, 6, 2, 4, 3, True)
    assert await market.counted(pool) == (4, 3)
    told = Delivered(uuid7(), market.scope.organization, fact, Caller(), "k", None, 1, datetime.now(UTC))
    await comparing.tell_of_strayed.work(desk, told)
    [alert] = await alerts_about(superuser, str(pool), "stock.strayed")
    assert alert["concerns"] == market.scope.organization.uuid
    assert len(await a_night(market, desk, superuser)) == 1, "it was put right, and is not found again"


async def test_what_counting_cannot_mend_is_told_and_left(market: Market, desk: Desk, superuser: asyncpg.Connection):
    pool, hall = await market.pool(5), await market.hall("A1", "A2")
    await market.sold(Portion(pool, "seat", 5))
    await superuser.execute("UPDATE stock.pool SET sold = 2, capacity = 4 WHERE id = $1", pool.uuid)
    sold = await market.sold(Portion(hall, "seat", 1))
    await superuser.execute("UPDATE stock.unit SET hold_id = $2 WHERE pool_id = $1", hall.uuid, sold.id.uuid)
    facts = {fact.pool_id: fact for fact in await a_night(market, desk, superuser)}
    assert {pool: facts[pool].put_right, hall: facts[hall].put_right} == {pool: False, hall: False}
    assert (facts[hall].taken, facts[hall].rightly) == (2, 1)
    [standing] = await market.run(lambda tx: sum_standings(tx, [pool]))
    assert (standing.sold, standing.bought) == (2, 5), "more is out than there is: somebody must look"
