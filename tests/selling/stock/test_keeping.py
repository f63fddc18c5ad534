"""What there is goes to whoever comes first, all of it or nothing, and to nobody twice."""

from datetime import timedelta

import asyncpg
import pytest

from admitone.kernel.ids import IdentityId
from admitone.selling.stock.api import (
    BuyerLimit,
    GiveBack,
    Hold,
    HoldId,
    HoldReused,
    Keep,
    PoolId,
    PoolNotFound,
    PoolPut,
    Portion,
    SoldOut,
    Status,
    UnitId,
    UnitsPut,
    find_holds,
    keep,
)
from tests.builders import an_organization, sent_in
from tests.selling.stock.market import TTL, Market, a_keep


async def test_what_is_kept_is_kept_from_others_until_its_time_is_over(market: Market):
    hall = await market.pool(3)
    kept = await market.keep(Portion(hall, "seat", 2))
    assert (kept.status, kept.portions) == (Status.HELD, (Portion(hall, "seat", 2),))
    assert await market.keep(Portion(hall, "seat", 2)) == SoldOut(item="seat", left=1)
    assert await market.counted(hall) == (2, 0)
    market.minutes = 15.1
    assert (await market.find(hall)).free == 3, "what is overdue is kept for nobody"
    assert isinstance(await market.keep(Portion(hall, "seat", 2)), Hold)
    assert await market.counted(hall) == (2, 0)


@pytest.mark.covers("EVT-009")
async def test_one_that_is_too_large_keeps_no_smaller_one_waiting(market: Market):
    hall = await market.pool(4)
    wishes = [a_keep(Portion(hall, "seat", quantity)) for quantity in (3, 2, 1, 1)]
    said = await market.keep_all(wishes)
    assert [each if isinstance(each, SoldOut) else each.status for each in said] == [
        Status.HELD, SoldOut(item="seat", left=1), Status.HELD, SoldOut(item="seat", left=0),
    ]  # fmt: skip
    assert await market.counted(hall) == (4, 0)


async def test_a_hold_has_all_its_pools_or_none(market: Market):
    hall, balcony = await market.pool(10), await market.pool(1)
    both = (Portion(balcony, "balcony", 1), Portion(hall, "balcony", 1))
    assert isinstance(await market.keep(*both), Hold)
    assert await market.keep(*both) == SoldOut(item="balcony", left=0)
    assert (await market.counted(hall), await market.counted(balcony)) == ((1, 0), (1, 0))
    twice = (Portion(hall, "a", 5), Portion(hall, "b", 5))
    assert await market.keep(*twice) == SoldOut(item="b", left=4), "two items of one pool add up"


async def test_the_same_hold_again_is_the_same_hold_whatever_became_of_it(market: Market):
    hall, hold = await market.pool(5), HoldId.new()
    first = await market.keep(Portion(hall, "seat", 2), hold=hold, subject="ord_a")
    again = await market.keep(Portion(hall, "seat", 2), hold=hold, subject="ord_a")
    assert again.status is Status.HELD and again.portions == first.portions and again.expires_at == first.expires_at
    in_one_batch = a_keep(Portion(hall, "seat", 1), hold=HoldId.new())
    one, other = await market.keep_all([in_one_batch, in_one_batch])
    assert one == other
    assert await market.counted(hall) == (3, 0)
    assert await market.keep(Portion(hall, "seat", 2), hold=hold, subject="ord_b") == HoldReused()
    await market.claim(hold)
    assert (await market.keep(Portion(hall, "seat", 2), hold=hold, subject="ord_a")).status is Status.SOLD


async def test_a_pool_of_nobodys_or_of_somebody_elses_is_not_there(market: Market):
    nowhere = PoolId.new()
    assert await market.keep(Portion(nowhere, "seat", 1)) == PoolNotFound(pool=nowhere)
    other = Market(market.database, await an_organization(market.database))
    theirs = await other.pool(5)
    assert await market.keep(Portion(theirs, "seat", 1)) == PoolNotFound(pool=theirs)


@pytest.mark.parametrize(
    "portions",
    [
        (),
        (Portion(PoolId.new(), "a", 1), Portion(PoolId.new(), "a", 2)),
        (Portion(pool := PoolId.new(), "a", 1), Portion(pool, "a", 1)),
    ],
    ids=["nothing", "an item unevenly", "one portion twice"],
)
async def test_what_makes_no_sense_cannot_be_asked_for(portions: tuple[Portion, ...]):
    with pytest.raises(ValueError):
        Keep(None, HoldId.new(), "ord", IdentityId.new(), portions, None)  # type: ignore[arg-type]
    for make in (
        lambda: Portion(PoolId.new(), "a", 0),
        lambda: Portion(PoolId.new(), "a", 2, (UnitId.new(),)),
        lambda: GiveBack(None, HoldId.new(), "k", {"a": 0}),
        lambda: PoolPut(None, PoolId.new(), -1),
        lambda: UnitsPut(None, PoolId.new(), ("A1", "A1")),
    ):
        with pytest.raises(ValueError):
            make()


# -- Limits


@pytest.mark.covers("EVT-009")
async def test_a_buyer_has_no_more_of_an_item_than_allowed_kept_and_sold_together(market: Market):
    hall, own, ana = await market.pool(100), await market.pool(100), IdentityId.new()
    both = (Portion(own, "early", 2), Portion(hall, "early", 2))
    limited = {"buyer": ana, "limits": {"early": 5}}
    bought = await market.sold(*both, **limited)
    assert isinstance(await market.keep(*both, **limited), Hold), "an item in two pools counts once"
    assert await market.keep(*both, **limited) == BuyerLimit(item="early", most=5)
    one = (Portion(own, "early", 1), Portion(hall, "early", 1))
    assert isinstance(await market.keep(*one, **limited), Hold)
    assert isinstance(await market.keep(*both, limits={"early": 5}), Hold), "others have theirs"
    assert isinstance(await market.keep(Portion(hall, "late", 2), buyer=ana, limits={"late": 2}), Hold)
    await market.give_back(bought.id, items={"early": 1})
    assert isinstance(await market.keep(*one, **limited), Hold), "what went back is not had"


async def test_a_limit_holds_within_one_batch_and_lets_go_of_what_is_overdue(market: Market):
    hall, ana = await market.pool(100), IdentityId.new()
    wishes = [a_keep(Portion(hall, "seat", 2), buyer=ana, limits={"seat": 4}) for _ in range(3)]
    said = await market.keep_all(wishes)
    assert [type(each) for each in said] == [Hold, Hold, BuyerLimit]
    market.minutes = 16
    [after] = await market.keep_all(wishes[2:])
    assert isinstance(after, Hold), "nobody swept, and yet nothing is kept for her"


# -- What is overdue


@pytest.mark.covers("EVT-009", "PLT-023")
async def test_what_is_overdue_is_granted_again_at_once_the_oldest_first_and_no_more_than_needed(market: Market):
    hall = await market.pool(3)
    old = await market.keep(Portion(hall, "seat", 1), ttl=timedelta(minutes=5))
    newer = await market.keep(Portion(hall, "seat", 1), ttl=timedelta(minutes=6))
    await market.keep(Portion(hall, "seat", 1), ttl=timedelta(minutes=60))
    market.minutes = 10
    refused, fresh = await market.keep_all([a_keep(Portion(hall, "seat", 3)), a_keep(Portion(hall, "seat", 1))])
    assert refused == SoldOut(item="seat", left=2)
    assert isinstance(fresh, Hold)
    assert await status_of(market, old.id) is Status.EXPIRED
    assert await status_of(market, newer.id) is Status.HELD, "nobody needed it"
    assert await market.counted(hall) == (3, 0)


async def test_an_overdue_hold_gives_way_in_one_pool_and_goes_on_in_another(market: Market):
    hall, a, b = await market.pool(1), await market.pool(1), await market.pool(1)
    late = await market.keep(Portion(a, "a", 1), Portion(hall, "a", 1))
    market.minutes = 16
    assert isinstance(await market.keep(Portion(b, "b", 1), Portion(hall, "b", 1)), Hold)
    assert await status_of(market, late.id) is Status.EXPIRED
    assert [await market.counted(each) for each in (hall, a, b)] == [(1, 0), (1, 0), (1, 0)]
    assert (await market.find(a)).free == 1
    [refused] = await market.claim(late.id)
    assert refused == SoldOut(item="a", left=0)
    assert [await market.counted(each) for each in (hall, a, b)] == [(1, 0), (1, 0), (1, 0)], "nothing of it"


async def status_of(market: Market, hold: HoldId) -> Status:
    found = await market.run(lambda tx: find_holds(tx, [hold]))
    return found[hold].status


# -- How it is done


async def sent_by(market: Market, work) -> list[str]:
    """The statements of one transaction."""
    return await sent_in(market.database, market.scope, work)


async def test_a_full_batch_on_one_pool_is_five_statements_and_tells_nothing(
    market: Market, superuser: asyncpg.Connection
):
    hall = await market.pool(1_000)
    wishes = [a_keep(Portion(hall, "seat", 1), limits={"seat": 4}) for _ in range(256)]
    sent = await sent_by(market, lambda tx: keep(tx, [each(tx.now + TTL) for each in wishes]))
    assert len(sent) == 5, sent
    assert await market.counted(hall) == (256, 0)
    told = "SELECT count(*) FROM kernel.event_log WHERE organization_id = $1 AND type LIKE 'stock%'"
    assert await superuser.fetchval(told, market.scope.organization.uuid) == 0
    shared = await market.pool(700)
    wishes = [a_keep(Portion(hall, "seat", 3), Portion(shared, "seat", 3)) for _ in range(256)]
    sent = await sent_by(market, lambda tx: keep(tx, [each(tx.now + TTL) for each in wishes]))
    assert len(sent) == 5, "as many where it is short: no limits, but a look at what is overdue"
    assert await market.counted(shared) == (699, 0)
