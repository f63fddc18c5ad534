"""What becomes of what was kept: sold, released, overdue, given back; each once, however often it is said."""

from datetime import timedelta

import pytest

from admitone.kernel.db import Tx, WrongCount
from admitone.kernel.ids import IdentityId
from admitone.selling.stock.api import (
    BuyerLimit,
    Claim,
    Hold,
    HoldId,
    HoldNotFound,
    NotSold,
    Portion,
    SoldOut,
    Status,
    claim,
    find_holds,
)
from admitone.selling.stock.commands.settling import expire
from tests.selling.stock.market import Market, a_keep
from tests.selling.stock.test_keeping import sent_by, status_of


async def test_what_is_paid_is_sold_and_says_so_again(market: Market):
    hall = await market.pool(5)
    kept = await market.keep(Portion(hall, "seat", 2))
    first, again = await market.claim(kept.id, kept.id)
    assert first.status is again.status is Status.SOLD
    assert first.portions == kept.portions == again.portions
    [later] = await market.claim(kept.id)
    assert later == first
    assert await market.counted(hall) == (0, 2)
    [unknown] = await market.claim(HoldId.new())
    assert unknown == HoldNotFound()


async def test_late_money_buys_what_nobody_took_meanwhile(market: Market):
    hall = await market.pool(2)
    kept = await market.keep(Portion(hall, "seat", 2))
    market.minutes = 20
    [sold] = await market.claim(kept.id)
    assert sold.status is Status.SOLD, "overdue, and not yet swept"
    assert await market.counted(hall) == (0, 2)


@pytest.mark.parametrize("end", ["expired", "released"])
async def test_money_for_what_ended_takes_it_again_if_there_is_any(market: Market, end: str):
    hall, own = await market.pool(3), await market.pool(3)
    both = (Portion(own, "seat", 2), Portion(hall, "seat", 2))
    kept = await market.keep(*both)
    await ended(market, kept, end)
    assert await market.counted(hall) == (0, 0)
    other = await market.keep(Portion(hall, "other", 2))
    [refused] = await market.claim(kept.id)
    assert refused == SoldOut(item="seat", left=1)
    assert await market.counted(own) == (0, 0), "nothing of it"
    await market.release(other.id)
    [sold] = await market.claim(kept.id)
    assert (sold.status, sold.portions) == (Status.SOLD, both)
    assert [await market.counted(each) for each in (hall, own)] == [(0, 2), (0, 2)]


async def ended(market: Market, kept: Hold, end: str) -> None:
    if end == "released":
        [became] = await market.release(kept.id)
        assert became.status is Status.RELEASED
    else:
        market.minutes += 20
        assert await market.run(lambda tx: expire(tx, [kept.id])) == len(kept.portions)
        assert await status_of(market, kept.id) is Status.EXPIRED


async def test_money_for_what_ended_takes_what_is_overdue_but_never_what_is_paid_with_it(market: Market):
    hall = await market.pool(2)
    gone = await market.keep(Portion(hall, "seat", 1))
    await market.release(gone.id)
    overdue = [await market.keep(Portion(hall, "seat", 1), ttl=timedelta(minutes=each)) for each in (1, 2)]
    market.minutes = 20
    oldest = overdue[0].id
    again, own = await market.claim(gone.id, oldest)
    assert (again.status, own.status) == (Status.SOLD, Status.SOLD), "the other one gives way"
    assert await status_of(market, overdue[1].id) is Status.EXPIRED
    assert await market.counted(hall) == (0, 2)


async def test_of_two_who_pay_late_whoever_still_has_it_keeps_it(market: Market):
    hall = await market.pool(1)
    gone = await market.keep(Portion(hall, "seat", 1))
    await market.release(gone.id)
    overdue = await market.keep(Portion(hall, "seat", 1))
    market.minutes = 20
    refused, sold = await market.claim(gone.id, overdue.id)
    assert (refused, sold.status) == (SoldOut(item="seat", left=0), Status.SOLD), "whoever is named first"


async def test_late_money_is_kept_to_the_limit_of_its_buyer(market: Market):
    hall, ana = await market.pool(10), IdentityId.new()
    limited = {"buyer": ana, "limits": {"seat": 2}}
    first = await market.keep(Portion(hall, "seat", 2), **limited)
    market.minutes = 20
    second = await market.keep(Portion(hall, "seat", 2), **limited)
    [late] = await market.claim(first.id)
    assert late == BuyerLimit(item="seat", most=2)
    [sold] = await market.claim(second.id)
    assert sold.status is Status.SOLD
    [late] = await market.claim(first.id)
    assert late == BuyerLimit(item="seat", most=2)
    assert isinstance(await market.give_back(second.id), Hold)
    [late] = await market.claim(first.id)
    assert late.status is Status.SOLD


async def test_what_is_released_is_anybodys_and_what_is_sold_is_not_released(market: Market):
    hall = await market.pool(2)
    kept, sold = await market.keep(Portion(hall, "seat", 1)), await market.sold(Portion(hall, "seat", 1))
    first, other, unknown = await market.release(kept.id, sold.id, HoldId.new())
    assert (first.status, other.status, unknown) == (Status.RELEASED, Status.SOLD, HoldNotFound())
    [again] = await market.release(kept.id)
    assert again.status is Status.RELEASED
    assert await market.counted(hall) == (0, 1)


async def test_only_what_is_overdue_expires_also_if_somebody_thought_otherwise(market: Market):
    hall = await market.pool(3)
    kept = await market.keep(Portion(hall, "seat", 1))
    sold = await market.sold(Portion(hall, "seat", 1))
    assert await market.run(lambda tx: expire(tx, [kept.id, sold.id])) == 0
    market.minutes = 16
    assert await market.run(lambda tx: expire(tx, [kept.id, sold.id])) == 1
    assert await market.run(lambda tx: expire(tx, [kept.id, sold.id])) == 0
    assert await market.counted(hall) == (0, 1)


@pytest.mark.covers("INV-I06")
async def test_what_is_given_back_is_in_every_pool_again_once_for_each_key(market: Market):
    hall, own = await market.pool(5), await market.pool(5)
    sold = await market.sold(Portion(own, "seat", 3), Portion(hall, "seat", 3), Portion(hall, "bar", 1))
    for _ in range(2):
        became = await market.give_back(sold.id, "ticket-1", {"seat": 1})
        assert {(each.pool, each.item): each.quantity for each in became.portions} == {
            (own, "seat"): 2, (hall, "seat"): 2, (hall, "bar"): 1,
        }  # fmt: skip
        assert [await market.counted(each) for each in (hall, own)] == [(0, 3), (0, 2)]
    assert await market.give_back(sold.id, "too-many", {"seat": 3}) == NotSold(item="seat", left=2)
    assert await market.give_back(sold.id, "strange", {"balcony": 1}) == NotSold(item="balcony", left=0)
    rest = await market.give_back(sold.id, "all")
    assert (rest.status, rest.portions) == (Status.SOLD, ())
    assert [await market.counted(each) for each in (hall, own)] == [(0, 0), (0, 0)]
    assert await market.give_back(sold.id, "all") == rest
    assert await market.give_back(sold.id, "nothing-left") == rest, "of nothing nothing comes back"


async def test_what_was_never_sold_is_not_given_back(market: Market):
    hall = await market.pool(5)
    kept = await market.keep(Portion(hall, "seat", 2))
    assert await market.give_back(kept.id) == NotSold(item="seat", left=0)
    assert await market.give_back(HoldId.new()) == HoldNotFound()
    assert await market.counted(hall) == (2, 0)


@pytest.mark.parametrize(("minutes", "statements"), [(0, 4), (14.5, 6)])
async def test_a_full_batch_of_claims_is_so_many_statements(market: Market, minutes: float, statements: int):
    hall, shared = await market.pool(300), await market.pool(300)
    wishes = [a_keep(Portion(hall, "seat", 1), Portion(shared, "seat", 1), limits={"seat": 4}) for _ in range(256)]
    holds = [each.id for each in await market.keep_all(wishes)]
    market.minutes = minutes

    async def claim_all(tx: Tx) -> None:
        tx.now += timedelta(minutes=minutes)
        await claim(tx, [Claim(None, each) for each in holds])

    sent = await sent_by(market, claim_all)
    assert len(sent) == statements, sent
    assert await market.counted(hall) == await market.counted(shared) == (0, 256)
    found = await market.run(lambda tx: find_holds(tx, holds))
    assert {each.status for each in found.values()} == {Status.SOLD}


async def test_nobody_waits_for_what_else_is_done_for_those_who_paid(market: Market):
    hall = await market.pool(5)
    kept = await market.keep(Portion(hall, "seat", 2))

    async def sell_slowly(tx: Tx) -> None:
        await claim(tx, [Claim(None, kept.id)])
        other = await market.keep(Portion(hall, "seat", 3))
        assert isinstance(other, Hold), "while the first is being served"

    await market.run(sell_slowly)
    assert await market.counted(hall) == (3, 2)


async def test_what_ended_under_our_hands_is_not_sold(market: Market):
    """Nobody may end it but its buyer, whose order is locked; if one does, nothing is written."""
    hall = await market.pool(5)
    kept = await market.keep(Portion(hall, "seat", 2))

    async def sell(tx: Tx) -> None:
        await claim(tx, [Claim(None, kept.id)])
        await market.release(kept.id)

    with pytest.raises(WrongCount):
        await market.run(sell)
    assert await market.counted(hall) == (0, 0)


async def test_what_is_written_last_belongs_to_whoever_asked_for_it(market: Market):
    """Of several behind savepoints, only the one whose hold ended loses its sale."""
    hall = await market.pool(5)
    first, second = await market.keep(Portion(hall, "seat", 1)), await market.keep(Portion(hall, "seat", 1))

    async def sell(tx: Tx) -> list[Exception | None]:
        async def lose() -> None:
            await claim(tx, [Claim(None, first.id)])
            await market.release(first.id)

        async def win() -> None:
            await claim(tx, [Claim(None, second.id)])

        return await tx.each([lose, win])

    lost, won = await market.run(sell)
    assert isinstance(lost, WrongCount)
    assert won is None
    assert await market.counted(hall) == (0, 1)
