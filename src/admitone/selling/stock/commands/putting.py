"""How much there is.

Promise: never less than what is sold or kept; what is overdue gives way. Of numbered units those that somebody has
stay.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from admitone.kernel.db import Overtaken, Tx
from admitone.kernel.errors import Refusal
from admitone.selling.stock.commands.shelving import survey, write
from admitone.selling.stock.errors import SeatedPool
from admitone.selling.stock.model import MOST_UNITS, Pool, PoolId, PoolPut, Portion, Unit, UnitId, UnitsPut
from admitone.selling.stock.policy import Stock
from admitone.selling.stock.store import pools as pool_store
from admitone.selling.stock.store import units as unit_store
from admitone.selling.stock.store.pools import Need
from admitone.selling.stock.store.portions import find_overdue


async def put_pools(tx: Tx, puts: Sequence[PoolPut]) -> list[Pool | Refusal]:
    """Made, or made larger or smaller."""
    pools = await _lock_or_make(tx, puts, {each.pool: Pool(each.pool, each.capacity) for each in reversed(puts)})
    short = {
        each.pool: pools[each.pool].held + pools[each.pool].sold - each.capacity
        for each in sorted(puts, key=lambda each: -each.capacity)
        if pools[each.pool].held + pools[each.pool].sold > each.capacity and not pools[each.pool].seated
    }
    stock = Stock(pools, tx.now, overdue=await find_overdue(tx, short))
    outcomes = [SeatedPool() if pools[each.pool].seated else stock.resize(each.pool, each.capacity) for each in puts]
    await write(tx, stock)
    sizes = {own: stock.pool(own).capacity for own in pools}
    await pool_store.write_capacities(tx, {own: size for own, size in sizes.items() if size != pools[own].capacity})
    return outcomes


async def put_units(tx: Tx, puts: Sequence[UnitsPut]) -> list[Pool | Refusal]:
    """The units of a pool are these from now on; it is made if it is not there."""
    pools = await _lock_or_make(tx, puts, {each.pool: Pool(each.pool, 0, seated=True) for each in puts})
    outcomes: list[Pool | Refusal] = []
    for each in puts:
        became = await _put_units(tx, pools[each.pool], each.labels)
        if isinstance(became, Pool):
            pools[each.pool] = became
        outcomes.append(became)
    return outcomes


async def _lock_or_make(tx: Tx, puts: Sequence[PoolPut | UnitsPut], new: dict[PoolId, Pool]) -> dict[PoolId, Pool]:
    pools = await pool_store.lock_pools(tx, [Need(each.of, each.pool) for each in puts])
    made = {own: pool for own, pool in new.items() if own not in pools}
    if await pool_store.insert_pools(tx, [*made.values()]) != len(made):
        raise Overtaken  # Another made one this instant.
    return pools | made


async def _put_units(tx: Tx, pool: Pool, labels: Sequence[str]) -> Pool | Refusal:
    if not pool.seated:
        return SeatedPool()
    places = {label: place for place, label in enumerate(labels) if label}
    known = {each.label: each for each in await unit_store.list_units(tx, pool.id, "", MOST_UNITS)}
    gone = [each.id for label, each in known.items() if label not in places]
    wishes = [Portion(pool.id, "-", len(gone), tuple(gone))] if gone else []
    stock = await survey(tx, {pool.id: pool}, (), wishes)
    if refusal := stock.clear(gone):
        return refusal
    await write(tx, stock)
    await unit_store.delete_units(tx, gone)
    fresh = [Unit(UnitId.new(), pool.id, label, place) for label, place in places.items() if label not in known]
    await unit_store.insert_units(tx, fresh)
    moved = [
        replace(each, place=places[label])
        for label, each in known.items()
        if places.get(label, each.place) != each.place
    ]
    await unit_store.write_places(tx, moved)
    after = replace(stock.pool(pool.id), capacity=len(places))
    if after.capacity != pool.capacity:
        await pool_store.write_capacities(tx, {pool.id: after.capacity})
    return after
