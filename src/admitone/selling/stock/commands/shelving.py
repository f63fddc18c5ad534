"""What all that changes stock has in common: which rows are locked and read before, and written after.

Promise: one order for everybody. Pools are locked first, sorted by id, and whatever is of a pool is read and written
under its lock: portions, units, what was given back. So a batch of any size sends a fixed number of statements, and
nobody else takes anything between the look and the writing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from admitone.kernel.db import Tx
from admitone.selling.stock.model import (
    Claim,
    GiveBack,
    HoldId,
    KeepUntil,
    Part,
    Pool,
    PoolId,
    Portion,
    Release,
    UnitId,
)
from admitone.selling.stock.policy import Bought, Stock
from admitone.selling.stock.store import pools as pool_store
from admitone.selling.stock.store import portions as portion_store
from admitone.selling.stock.store import units as unit_store
from admitone.selling.stock.store.pools import Need

SPARE_UNITS: Final = 64
"""Read beyond what is wanted, so that neighbours are found among them."""


async def lock_holds(
    tx: Tx, inputs: Sequence[Claim | KeepUntil | Release | GiveBack]
) -> tuple[dict[PoolId, Pool], list[Part]]:
    """The pools that these holds have something of, and what it is."""
    places = await portion_store.find_places(tx, {each.hold for each in inputs})
    needs = [Need(each.of, pool) for each in inputs for pool in places.get(each.hold, ())]
    pools = await pool_store.lock_pools(tx, needs)
    return pools, await portion_store.find_portions(tx, places)


async def survey(
    tx: Tx,
    pools: Mapping[PoolId, Pool],
    parts: Sequence[Part],
    wishes: Sequence[Portion] = (),
    *,
    touched: Sequence[Part] = (),
    spared: Collection[Part] = (),
    bought: Bought | None = None,
    given: Collection[tuple[HoldId, str]] = (),
) -> Stock:
    """All that must be known to decide: of what is overdue as much as may be needed, of numbered units those that may
    change hands. What is `spared` goes to nobody else."""
    wanted: dict[PoolId, int] = {}
    for each in wishes:
        wanted[each.pool] = wanted.get(each.pool, 0) + each.quantity
    short = {
        own: wanted[own] - pool.free + len(spared) for own, pool in pools.items() if wanted.get(own, 0) > pool.free
    }
    overdue = await portion_store.find_overdue(tx, short)
    named = {seat for each in wishes for seat in each.seats} | _units_of(touched)
    if named or any(pools[own].seated for own in wanted if own in pools):
        units = await unit_store.find_units(tx, named)
        owners = {each.hold for each in units.values() if each.hold} - {each.hold for each in touched}
        overdue += [each for each in await portion_store.find_portions(tx, owners) if each.is_overdue(tx.now)]
        units |= await unit_store.find_units(tx, _units_of(overdue) - units.keys())
        seated = {own: quantity + SPARE_UNITS for own, quantity in wanted.items() if own in pools and pools[own].seated}
        units |= {each.id: each for each in await unit_store.find_free(tx, seated)}
    else:
        units = {}
    mine = {each.key for each in spared}
    return Stock(
        pools,
        tx.now,
        parts=parts,
        bought=bought,
        overdue=[each for each in overdue if each.key not in mine and each.pool in pools],
        units=[each for each in units.values() if each.pool in pools],
        given=given,
    )


async def write(tx: Tx, stock: Stock) -> None:
    """Whatever was decided. Portions before counters: a portion refers to its pool, which is locked and not yet new."""
    await portion_store.insert_portions(tx, stock.fresh)
    await portion_store.write_portions(tx, stock.moved)
    await portion_store.write_ends(tx, [*stock.put_off.values()])
    await portion_store.insert_given_back(tx, stock.given)
    await unit_store.write_owners(tx, stock.owners)
    await pool_store.write_counters(tx, stock.deltas)


def _units_of(parts: Iterable[Part]) -> set[UnitId]:
    return {unit for each in parts for unit in each.units or ()}
