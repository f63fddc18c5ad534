"""Several items of one hold that draw from the same pool: each finds what those before it took."""

from datetime import timedelta

from admitone.selling.stock.api import Hold, Portion, Status
from admitone.selling.stock.commands.settling import expire
from tests.selling.stock.market import Market


async def test_two_items_of_one_pool_make_room_for_both(market: Market):
    hall = await market.pool(4)
    overdue = [await market.keep(Portion(hall, "standing", 1), ttl=timedelta(minutes=1)) for _ in range(2)]
    market.minutes = 5
    kept = await market.keep(Portion(hall, "standing", 2), Portion(hall, "seated", 2))
    assert isinstance(kept, Hold), kept
    assert await market.counted(hall) == (4, 0)
    assert [each.status for each in await market.holds(*overdue)] == [Status.EXPIRED] * 2


async def test_late_money_for_two_items_of_one_pool_makes_room_for_both(market: Market):
    hall = await market.pool(4)
    ended = await market.keep(Portion(hall, "standing", 2), Portion(hall, "seated", 2), ttl=timedelta(minutes=1))
    market.minutes = 2
    await market.run(lambda tx: expire(tx, [ended.id]))
    overdue = await market.keep(Portion(hall, "standing", 2), ttl=timedelta(minutes=1))
    market.minutes = 5
    [sold] = await market.claim(ended.id)
    assert isinstance(sold, Hold), sold
    assert await market.counted(hall) == (0, 4)
    assert [each.status for each in await market.holds(overdue)] == [Status.EXPIRED]
