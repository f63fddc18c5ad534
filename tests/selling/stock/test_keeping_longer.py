"""What is kept can be kept longer or shorter, while it is kept, and never for ever."""

from datetime import timedelta

import asyncpg
import pytest

from admitone.kernel.db import Tx, WrongCount
from admitone.selling.stock.api import (
    Hold,
    HoldId,
    HoldNotFound,
    KeepUntil,
    NotKept,
    Portion,
    SoldOut,
    Status,
    find_holds,
    keep_until,
)
from admitone.selling.stock.commands.settling import expire
from admitone.selling.stock.store.portions import find_portions, write_ends
from tests.selling.stock.market import LONGEST, Market, a_keep
from tests.selling.stock.test_keeping import sent_by, status_of

PUT_OFF = "UPDATE stock.portion SET expires_at = keepable_until + $2 WHERE hold_id = $1"


@pytest.mark.covers("PAY-002")
async def test_what_is_kept_longer_is_nobody_elses_until_then(market: Market):
    hall, own = await market.pool(2), await market.pool(2)
    kept = await market.keep(Portion(own, "seat", 2), Portion(hall, "seat", 2))
    market.minutes = 14
    longer = await market.keep_until(kept.id, 17)
    assert longer.expires_at - kept.expires_at == pytest.approx(timedelta(minutes=16), abs=timedelta(seconds=9))
    assert longer.portions == kept.portions
    market.minutes = 30
    assert await market.run(lambda tx: expire(tx, [kept.id])) == 0, "the sweeper sees it, too"
    assert await market.keep(Portion(hall, "seat", 1)) == SoldOut(item="seat", left=0)
    assert (await market.find(hall)).held == 2
    market.minutes = 31.2
    assert (await market.find(hall)).free == 2
    assert isinstance(await market.keep(Portion(hall, "seat", 1)), Hold)
    assert (await market.counted(hall), await market.counted(own)) == ((1, 0), (2, 0))


async def test_what_is_kept_shorter_is_anybodys_then(market: Market):
    hall = await market.pool(1)
    kept = await market.keep(Portion(hall, "seat", 1))
    await market.keep_until(kept.id, 2)
    market.minutes = 3
    assert isinstance(await market.keep(Portion(hall, "seat", 1)), Hold)
    assert await status_of(market, kept.id) is Status.EXPIRED
    other = await market.pool(1)
    kept = await market.keep(Portion(other, "seat", 1))
    assert isinstance(await market.keep_until(kept.id, -60), Hold)
    assert (await market.find(other)).free == 1, "at once"


@pytest.mark.covers("PAY-002")
async def test_however_often_it_is_asked_nothing_is_kept_for_ever(market: Market):
    hall = await market.pool(1)
    kept = await market.keep(Portion(hall, "seat", 1))
    first = kept.expires_at - timedelta(minutes=15)
    for _ in range(20):
        market.minutes += 10
        said = await market.keep_until(kept.id, 30)
        if isinstance(said, NotKept):
            break
        assert said.expires_at <= first + LONGEST
    assert (market.minutes, said) == (100, NotKept())
    assert (await market.find(hall)).free == 1


async def test_what_nobody_said_could_be_kept_longer_is_not(market: Market):
    hall = await market.pool(1)
    kept = await market.keep(Portion(hall, "seat", 1), keepable=False)
    assert (await market.keep_until(kept.id, 30)).expires_at == kept.expires_at
    assert (await market.keep_until(kept.id, 5)).expires_at < kept.expires_at


@pytest.mark.parametrize("end", ["overdue", "swept", "taken", "released", "sold"])
async def test_what_has_ended_is_not_kept_again(market: Market, end: str):
    hall = await market.pool(1)
    kept = await market.keep(Portion(hall, "seat", 1))
    market.minutes = 0 if end in ("released", "sold") else 16
    match end:
        case "swept":
            await market.run(lambda tx: expire(tx, [kept.id]))
        case "taken":
            assert isinstance(await market.keep(Portion(hall, "seat", 1)), Hold)
        case "released":
            await market.release(kept.id)
        case "sold":
            await market.claim(kept.id)
    before = await market.counted(hall), await status_of(market, kept.id)
    assert await market.keep_until(kept.id, 30) == NotKept()
    assert (await market.counted(hall), await status_of(market, kept.id)) == before
    assert await market.keep_until(HoldId.new(), 30) == HoldNotFound()


async def test_what_has_ended_in_one_pool_is_kept_in_none(market: Market):
    """Somebody took what was overdue in one of its pools, by a clock that was a little ahead."""
    hall, own = await market.pool(1), await market.pool(1)
    kept = await market.keep(Portion(own, "seat", 1), Portion(hall, "seat", 1))
    market.minutes = 16
    assert isinstance(await market.keep(Portion(hall, "other", 1)), Hold)
    market.minutes = 14
    assert await market.keep_until(kept.id, 30) == NotKept()


async def test_the_database_keeps_nothing_for_ever_and_nothing_again_either(
    market: Market, superuser: asyncpg.Connection
):
    hall = await market.pool(1)
    kept = await market.keep(Portion(hall, "seat", 1))
    await superuser.execute(PUT_OFF, kept.id.uuid, timedelta(0))
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(PUT_OFF, kept.id.uuid, timedelta(seconds=1))

    async def write(tx: Tx) -> None:
        await write_ends(tx, await find_portions(tx, [kept.id]))

    await market.run(write)
    market.minutes = 96
    with pytest.raises(WrongCount):
        await market.run(write)
    market.minutes = 0
    await market.release(kept.id)
    with pytest.raises(WrongCount):
        await market.run(write)


async def test_a_full_batch_of_payers_is_four_statements(market: Market):
    hall, shared = await market.pool(300), await market.pool(300)
    wishes = [a_keep(Portion(hall, "seat", 1), Portion(shared, "seat", 1)) for _ in range(256)]
    holds = [each.id for each in await market.keep_all(wishes)]
    later = timedelta(minutes=40)
    sent = await sent_by(market, lambda tx: keep_until(tx, [KeepUntil(None, each, tx.now + later) for each in holds]))
    assert len(sent) == 4, sent
    found = await market.run(lambda tx: find_holds(tx, holds))
    assert len({each.expires_at for each in found.values()}) == 1
    assert await market.counted(hall) == (256, 0)
