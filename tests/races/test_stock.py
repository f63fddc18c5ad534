"""Buyers, payers, sweepers and refunds at one pool, all at once and from several processes."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.commands import command
from admitone.kernel.db import POOL_SIZES, Busy, Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Role
from admitone.selling.stock import errands
from admitone.selling.stock.api import (
    BuyerLimit,
    Claim,
    GiveBack,
    Hold,
    HoldId,
    Keep,
    KeepUntil,
    NotKept,
    PoolPut,
    Portion,
    Release,
    SeatTaken,
    SoldOut,
    Status,
    claim,
    give_back,
    keep,
    keep_until,
    put_pools,
    release,
)
from tests.builders import at_the_same_time
from tests.selling.stock.market import Market, a_market
from tests.selling.stock.test_keeping import status_of
from tests.selling.stock.test_sweeping import fires

BUYERS, UNITS = 200, 50


class Order(msgspec.Struct, frozen=True):
    """What a vertical's batch has: its own input, of which stock knows nothing."""

    portions: tuple[Portion, ...]
    hold: HoldId = msgspec.field(default_factory=HoldId.new)
    buyer: IdentityId = msgspec.field(default_factory=IdentityId.new)
    most: int | None = None
    minutes: float = 15


@command()
async def place(tx: Tx, orders: Sequence[Order]) -> list[Hold | Refusal]:
    return await keep(tx, [_kept(each, tx) for each in orders])


@command()
async def pay(tx: Tx, claims: Sequence[Claim]) -> list[Hold | Refusal]:
    return await claim(tx, [replace_of(each) for each in claims])


class Staying(msgspec.Struct, frozen=True):
    """Somebody begins to pay."""

    hold: HoldId
    minutes: float = 30


@command()
async def stay(tx: Tx, stays: Sequence[Staying]) -> list[Hold | Refusal]:
    return await keep_until(
        tx, [KeepUntil(each, each.hold, tx.now + timedelta(minutes=each.minutes)) for each in stays]
    )


@command()
async def drop(tx: Tx, releases: Sequence[Release]) -> list[Hold | Refusal]:
    return await release(tx, [replace_of(each) for each in releases])


@command()
async def refund(tx: Tx, backs: Sequence[GiveBack]) -> list[Hold | Refusal]:
    return await give_back(tx, [replace_of(each) for each in backs])


@command()
async def resize(tx: Tx, puts: Sequence[PoolPut]) -> list[Any]:
    return await put_pools(tx, [replace_of(each) for each in puts])


def replace_of(each: Any) -> Any:
    return msgspec.structs.replace(each, of=each)


def _kept(order: Order, tx: Tx) -> Keep:
    limits = {} if order.most is None else {each.item: order.most for each in order.portions}
    ends = tx.now + timedelta(minutes=order.minutes)
    longest = tx.now + timedelta(hours=1)
    return Keep(order, order.hold, "ord", order.buyer, order.portions, ends, limits, longest)


@dataclass
class Street:
    """One market as several processes have it."""

    market: Market
    batchers: list[Batcher]
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    async def all_at_once(self, asks: list[tuple[Any, Any]]) -> list[Any]:
        self.chance.shuffle(asks)
        return await asyncio.gather(*(self.told(*each) for each in asks))

    async def told(self, command: Any, each: Any) -> Any:
        try:
            return (await self.chance.choice(self.batchers).submit(command, self.market.scope, each)).outcome
        except Refusal as refusal:
            return refusal


@pytest.fixture
async def street(database: Database, database_url: str) -> AsyncIterator[Street]:
    others = [Database(database_url) for _ in range(2)]
    yield Street(await a_market(database), [Batcher(each) for each in (database, *others)])
    for each in others:
        await each.close()


@pytest.fixture
async def many_connections(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
    monkeypatch.setattr("admitone.kernel.db.POOL_SIZES", {**POOL_SIZES, Role.APP: 20})
    async with Database(database_url) as database:
        yield database


def kept_of(said: Sequence[Any]) -> list[Hold]:
    return [each for each in said if isinstance(each, Hold)]


@pytest.mark.covers("EVT-009")
async def test_of_twenty_transactions_at_once_one_keeps_the_last(many_connections: Database):
    """Each on a connection of its own, all past BEGIN: the others find it taken, or busy, and nobody oversells."""
    market = await a_market(many_connections)
    hall = await market.pool(1)

    async def take(tx: Tx) -> Hold | Refusal:
        [kept] = await place(tx, [Order((Portion(hall, "seat", 1),))])
        return kept

    said = await at_the_same_time(20, take, many_connections, market.scope)
    assert len(kept_of(said)) == 1
    assert sum(isinstance(each, SoldOut | Busy) for each in said) == 19
    assert await market.counted(hall) == (1, 0)


@pytest.mark.covers("EVT-009")
@pytest.mark.parametrize("seed", range(2))
async def test_two_hundred_buyers_from_three_processes_have_fifty(street: Street, seed: int):
    street.chance.seed(seed)
    market = street.market
    hall, own = await market.pool(UNITS), await market.pool(UNITS + 5)
    orders = [Order((Portion(own, "seat", 1), Portion(hall, "seat", 1))) for _ in range(BUYERS)]
    said = await street.all_at_once([(place, each) for each in orders])
    kept = kept_of(said)
    assert len(kept) == UNITS, "none too many, none left"
    assert all(each == SoldOut(item="seat", left=0) for each in said if not isinstance(each, Hold))
    assert await market.counted(hall) == await market.counted(own) == (UNITS, 0)
    paid = await street.all_at_once([(pay, Claim(None, each.id)) for each in kept for _ in range(2)])
    assert {each.status for each in paid} == {Status.SOLD}
    assert await market.counted(hall) == (0, UNITS)


async def test_one_buyer_from_many_tabs_has_no_more_than_allowed(street: Street):
    market, ana = street.market, IdentityId.new()
    hall, own = await market.pool(1_000), await market.pool(1_000)
    portions = (Portion(own, "seat", 2), Portion(hall, "seat", 2))
    said = await street.all_at_once([(place, Order(portions, buyer=ana, most=5)) for _ in range(60)])
    assert len(kept_of(said)) == 2
    assert {type(each) for each in said} == {Hold, BuyerLimit}


@pytest.mark.covers("EVT-009")
async def test_a_seat_that_fifty_choose_has_one_owner(street: Street):
    market = street.market
    hall = await market.hall(*(f"A{number:02}" for number in range(20)))
    units = await market.units(hall)
    chosen = [Order((Portion(hall, "seat", 1, (units["A07"].id,)),)) for _ in range(50)]
    best = [Order((Portion(hall, "seat", 2),)) for _ in range(20)]
    said = await street.all_at_once([(place, each) for each in (*chosen, *best)])
    assert {type(each) for each in said} <= {Hold, SeatTaken, SoldOut}
    owners = [seat for each in kept_of(said) for portion in each.portions for seat in portion.seats]
    assert len(owners) == len({*owners})
    assert units["A07"].id in owners
    standing = await market.is_whole(hall)
    assert standing.held == len(owners) >= 19, "at most one is left, beside whoever has A07"


@pytest.mark.parametrize("seed", range(2))
async def test_whoever_pays_late_races_the_sweeper_and_other_buyers_and_nothing_is_sold_twice(
    street: Street, database_url: str, seed: int
):
    street.chance.seed(seed)
    market = street.market
    hall = await market.pool(UNITS)
    first = kept_of(
        await street.all_at_once([(place, Order((Portion(hall, "seat", 1),), minutes=-1)) for _ in range(UNITS)])
    )
    late = [(pay, Claim(None, each.id)) for each in first[: UNITS // 2]]
    buyers = [(place, Order((Portion(hall, "seat", 1),))) for _ in range(UNITS)]
    async with Database(database_url, clock=Clock(timedelta(seconds=1))) as worker:
        desk = Desk(worker, street.batchers[0])
        said, *_ = await asyncio.gather(
            street.all_at_once([*late, *buyers]), *(fires(desk, errands.sweep) for _ in range(3))
        )
        await fires(desk, errands.sweep)
    held, sold = await market.counted(hall)
    assert (held, sold) == (
        sum(each.status is Status.HELD for each in kept_of(said)),
        sum(each.status is Status.SOLD for each in kept_of(said)),
    )
    assert held + sold == UNITS, "whoever was refused, was refused because all of it is somebody's"


@pytest.mark.covers("EVT-009", "PAY-002")
@pytest.mark.parametrize("seed", range(3))
async def test_whoever_begins_to_pay_in_the_last_moment_has_it_or_is_told_that_it_is_over(
    street: Street, database_url: str, seed: int
):
    """Some processes' clocks are past the end, others' not yet: sweepers, buyers and payers of all of them meet."""
    street.chance.seed(seed)
    market = street.market
    hall, own = await market.pool(UNITS), await market.pool(UNITS)
    both = (Portion(own, "seat", 1), Portion(hall, "seat", 1))
    first = kept_of(await street.all_at_once([(place, Order(both, minutes=1)) for _ in range(UNITS)]))
    async with Database(database_url, clock=Clock(timedelta(seconds=61))) as ahead:
        late = Street(market, [Batcher(ahead)], street.chance)
        desk = Desk(ahead, late.batchers[0])
        stays, claims, others, *_ = await asyncio.gather(
            street.all_at_once([(stay, Staying(each.id)) for each in first]),
            street.all_at_once([(pay, Claim(None, each.id)) for each in first[: UNITS // 2]]),
            late.all_at_once([(place, Order(both)) for _ in range(UNITS)]),
            fires(desk, errands.sweep),
            fires(desk, errands.sweep),
        )
        await fires(desk, errands.sweep)
    assert {type(each) for each in stays} <= {Hold, NotKept}
    staying = {each.id for each in kept_of(stays)}
    sold = {each.id for each in kept_of(claims)}
    new = {each.id for each in kept_of(others)}
    assert len(staying | sold) + len(new) == UNITS, "each place is somebody's, and nobody's twice"
    assert await market.counted(hall) == await market.counted(own) == (len((staying - sold) | new), len(sold))
    assert [await status_of(market, each) for each in staying - sold] == [Status.HELD] * len(staying - sold)


async def test_nobody_takes_what_somebody_is_about_to_keep_longer(street: Street, database_url: str):
    """The one has not committed; for the other, whose clock is ahead, it is overdue."""
    market = street.market
    hall = await market.pool(1)
    [first] = kept_of(await street.all_at_once([(place, Order((Portion(hall, "seat", 1),), minutes=1))]))
    prolonged, looked = asyncio.Event(), asyncio.Event()

    async def begin(tx: Tx) -> None:
        [said] = await stay(tx, [Staying(first.id)])
        assert isinstance(said, Hold)
        prolonged.set()
        await looked.wait()

    async with Database(database_url, clock=Clock(timedelta(seconds=61))) as ahead, asyncio.TaskGroup() as group:
        group.create_task(market.database.run(market.scope, begin))
        await prolonged.wait()
        other = Order((Portion(hall, "seat", 1),))
        with pytest.raises(Busy):
            await ahead.run(market.scope, lambda tx: place(tx, [other]))
        looked.set()
    assert await status_of(market, first.id) is Status.HELD


async def test_what_goes_back_while_others_buy_is_bought_once(street: Street):
    market = street.market
    hall = await market.pool(UNITS)
    first = kept_of(await street.all_at_once([(place, Order((Portion(hall, "seat", 1),))) for _ in range(UNITS)]))
    await street.all_at_once([(pay, Claim(None, each.id)) for each in first])
    back, dropped = first[:20], first[20:]
    asks = [(refund, GiveBack(None, each.id, "refund")) for each in back for _ in range(2)]
    asks += [(drop, Release(None, each.id)) for each in dropped]
    asks += [(place, Order((Portion(hall, "seat", 1),))) for _ in range(60)]
    asks += [(resize, PoolPut(None, hall, UNITS + 5)), (resize, PoolPut(None, hall, UNITS + 5))]
    said = await street.all_at_once(asks)
    new = [each for each in kept_of(said) if each.status is Status.HELD]
    assert await market.counted(hall) == (len(new), UNITS - 20), "each came back once, and what is sold is not dropped"
    rest = await street.all_at_once([(place, Order((Portion(hall, "seat", 1),))) for _ in range(60)])
    assert len(new) + len(kept_of(rest)) == 25, "in the end none of it is left"
    await market.is_whole(hall)


async def test_pools_in_any_order_never_deadlock_for_long(street: Street):
    """Types that share pools crosswise, and all kinds of deeds on them."""
    market, chance = street.market, street.chance
    pools = [await market.pool(1_000) for _ in range(4)]
    asks: list[tuple[Any, Any]] = []
    for number in range(160):
        one, other = chance.sample(pools, 2)
        order = Order((Portion(one, f"i{number % 3}", 1), Portion(other, f"i{number % 3}", 1)))
        asks.append((place, order))
    kept = kept_of(await street.all_at_once(asks))
    assert len(kept) == 160
    deeds = [(pay, Claim(None, each.id)) for each in kept[:80]] + [(drop, Release(None, each.id)) for each in kept[80:]]
    said = await street.all_at_once(deeds)
    assert len(kept_of(said)) == 160
    standings = [await market.is_whole(each) for each in pools]
    assert sum(each.sold for each in standings) == 160
    assert sum(each.held for each in standings) == 0
