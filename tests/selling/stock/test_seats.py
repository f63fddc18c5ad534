"""Numbered units: whoever chooses has what was chosen, everybody else the best, and nobody what is somebody's."""

import pytest

from admitone.kernel.errors import Refusal
from admitone.selling.stock.api import (
    CapacityTaken,
    Hold,
    NotSold,
    PoolId,
    Portion,
    SeatedPool,
    SeatTaken,
    SoldOut,
    Status,
    Unit,
    UnitId,
)
from admitone.selling.stock.policy import together
from tests.selling.stock.market import Market, a_keep
from tests.selling.stock.test_settling import ended


async def labels(market: Market, hall: PoolId, hold: Hold) -> list[str]:
    [portion] = hold.portions
    by_id = {each.id: label for label, each in (await market.units(hall)).items()}
    return [by_id[seat] for seat in portion.seats]


async def test_the_best_that_are_free_and_beside_each_other(market: Market):
    hall = await market.hall("A1", "A2", "A3", "", "B1", "B2")
    first = await market.keep(Portion(hall, "seat", 2))
    assert await labels(market, hall, first) == ["A1", "A2"]
    pair = await market.keep(Portion(hall, "seat", 2))
    assert await labels(market, hall, pair) == ["B1", "B2"], "A3 and B1 are not beside each other"
    assert await labels(market, hall, await market.keep(Portion(hall, "seat", 1))) == ["A3"]
    assert await market.keep(Portion(hall, "seat", 1)) == SoldOut(item="seat", left=0)
    await market.release(first.id)
    [sold] = await market.claim(pair.id)
    assert await labels(market, hall, sold) == ["B1", "B2"]
    assert await market.counted(hall) == (1, 2)


@pytest.mark.parametrize(
    ("places", "quantity", "chosen"),
    [
        ([0, 1, 2], 2, [0, 1]),
        ([0, 2, 3], 2, [2, 3]),
        ([0, 2, 4], 2, [0, 2]),
        ([1, 2, 4, 5, 6], 3, [4, 5, 6]),
        ([5], 1, [5]),
    ],
)
def test_neighbours_are_found_where_there_are_any(places: list[int], quantity: int, chosen: list[int]):
    free = [Unit(UnitId.new(), PoolId.new(), str(place), place) for place in places]
    assert [each.place for each in together(free, quantity)] == chosen


@pytest.mark.covers("EVT-009")
async def test_a_seat_that_was_chosen_is_nobody_elses(market: Market):
    hall, other = await market.hall("A1", "A2", "A3"), await market.hall("X1")
    units, elsewhere = await market.units(hall), await market.units(other)
    middle = Portion(hall, "seat", 1, (units["A2"].id,))
    one, two, best = await market.keep_all([a_keep(middle), a_keep(middle), a_keep(Portion(hall, "seat", 2))])
    assert isinstance(one, Hold)
    assert two == SeatTaken(unit=units["A2"].id)
    assert await labels(market, hall, best) == ["A1", "A3"]
    assert (await market.units(hall))["A2"].hold == one.id
    foreign = Portion(hall, "seat", 1, (elsewhere["X1"].id,))
    assert isinstance(await market.keep(foreign), Refusal)
    await market.release(best.id)
    assert await market.keep(foreign) == SeatTaken(unit=elsewhere["X1"].id)
    counted = await market.pool(5)
    assert await market.keep(Portion(counted, "seat", 1, (units["A1"].id,))) == SeatTaken(unit=units["A1"].id)
    assert await market.counted(hall) == (1, 0)


async def test_what_one_buyer_chose_is_not_given_to_the_same_buyer_by_chance(market: Market):
    hall = await market.hall("A1", "A2")
    units = await market.units(hall)
    kept = await market.keep(Portion(hall, "any", 1), Portion(hall, "chosen", 1, (units["A1"].id,)))
    seats = {each.item: each.seats for each in kept.portions}
    assert seats == {"any": (units["A2"].id,), "chosen": (units["A1"].id,)}


async def test_the_seat_of_an_overdue_hold_can_be_chosen_and_is_handed_out(market: Market):
    hall = await market.hall("A1", "A2", "A3", "A4")
    units = await market.units(hall)
    await market.keep(Portion(hall, "seat", 2))
    await market.sold(Portion(hall, "seat", 1, (units["A3"].id,)))
    market.minutes = 16
    chosen = await market.keep(Portion(hall, "seat", 1, (units["A2"].id,)))
    assert isinstance(chosen, Hold)
    assert (await market.units(hall))["A1"].hold is None, "the overdue hold had both"
    assert await market.keep(Portion(hall, "seat", 1, (units["A3"].id,))) == SeatTaken(unit=units["A3"].id)
    rest = await market.keep(Portion(hall, "seat", 2))
    assert await labels(market, hall, rest) == ["A1", "A4"]
    assert await market.counted(hall) == (3, 1)
    market.minutes = 40
    everything = await market.keep(Portion(hall, "seat", 3))
    assert await labels(market, hall, everything) == ["A1", "A2", "A4"], "nobody swept"
    assert await market.counted(hall) == (3, 1)


@pytest.mark.parametrize("end", ["expired", "released"])
async def test_late_money_has_its_seats_again_or_others(market: Market, end: str):
    hall = await market.hall("A1", "A2", "A3", "A4")
    units = await market.units(hall)
    mine = (units["A2"].id, units["A3"].id)
    kept = await market.keep(Portion(hall, "seat", 2, mine))
    await ended(market, kept, end)
    other = await market.sold(Portion(hall, "seat", 1, (units["A2"].id,)))
    [sold] = await market.claim(kept.id)
    assert await labels(market, hall, sold) == ["A3", "A4"]
    assert (await market.units(hall))["A2"].hold == other.id
    assert await market.counted(hall) == (0, 3)
    same = await market.keep(Portion(hall, "seat", 1))
    await ended(market, same, end)
    [again] = await market.claim(same.id)
    assert again.portions == same.portions


async def test_the_seat_that_is_given_back_is_the_one_that_was_named(market: Market):
    hall = await market.hall("A1", "A2", "A3")
    units = await market.units(hall)
    sold = await market.sold(Portion(hall, "seat", 3))
    assert await market.give_back(sold.id, "guess", {"seat": 1}) == NotSold(item="seat", left=3), "which one?"
    became = await market.give_back(sold.id, "ticket-2", {"seat": 1}, [units["A2"].id])
    assert await labels(market, hall, became) == ["A1", "A3"]
    assert await market.give_back(sold.id, "ticket-2b", {"seat": 1}, [units["A2"].id]) == NotSold(item="seat", left=2)
    assert (await market.keep(Portion(hall, "seat", 1))).portions[0].seats == (units["A2"].id,)
    assert isinstance(await market.give_back(sold.id, "rest"), Hold)
    assert await market.counted(hall) == (1, 0)


# -- Which there are


async def test_seats_come_and_go_and_those_that_somebody_has_stay(market: Market):
    hall = await market.hall("A1", "A2", "A3")
    units = await market.units(hall)
    kept = await market.keep(Portion(hall, "seat", 1, (units["A2"].id,)))
    assert await market.put(hall, "A1", "A3") == SeatTaken(unit=units["A2"].id)
    became = await market.put(hall, "A2", "B1", "B2", "B3")
    assert (became.capacity, became.held) == (4, 1)
    after = await market.units(hall)
    assert [*after] == ["A2", "B1", "B2", "B3"]
    assert after["A2"].id == units["A2"].id and after["A2"].place == 0
    await market.is_whole(hall)
    market.minutes = 16
    became = await market.put(hall, "B1")
    assert (became.capacity, became.held) == (1, 0), "what is overdue gives way"
    await market.is_whole(hall)
    [late] = await market.claim(kept.id)
    assert late.status is Status.SOLD
    assert await labels(market, hall, late) == ["B1"], "its own seat is no more"


async def test_a_pool_is_numbered_or_counted_for_ever(market: Market):
    hall, counted = await market.hall("A1"), await market.pool(1)
    assert await market.resize(hall, 5) == SeatedPool()
    assert await market.put(counted, "A1") == SeatedPool()


async def test_there_is_never_less_than_what_is_out(market: Market):
    pool = await market.pool(10)
    await market.sold(Portion(pool, "seat", 3))
    await market.keep(Portion(pool, "seat", 2))
    assert await market.resize(pool, 4) == CapacityTaken(least=5)
    assert (await market.resize(pool, 5)).free == 0
    assert await market.keep(Portion(pool, "seat", 1)) == SoldOut(item="seat", left=0)
    assert (await market.resize(pool, 6)).free == 1
    market.minutes = 16
    assert await market.resize(pool, 2) == CapacityTaken(least=3)
    assert await market.counted(pool) == (2, 3), "and nothing came of it"
    assert (await market.resize(pool, 3)).free == 0
    assert await market.counted(pool) == (0, 3)
