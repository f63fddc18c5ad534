"""Pools: so much there is, and how much of it is kept and sold."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from admitone.kernel.db import Busy, Record, Tx
from admitone.kernel.statements import Insert, Lock, columns
from admitone.selling.stock.model import Pool, PoolId
from admitone.selling.stock.policy import Delta

LOCK_POOLS = Lock(
    """
    SELECT id, capacity, held, sold, seated
      FROM stock.pool
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
""",
    key="id",
)


INSERT_POOLS = Insert(
    "stock.pool",
    {
        "id": "uuid",
        "capacity": "integer",
        "held": "integer",
        "sold": "integer",
        "seated": "boolean",
        "created_at": "timestamptz",
    },
    on_conflict="(organization_id, id) DO NOTHING",
    returning="id",
)


# As they are by the clock: what is overdue is kept for nobody any more.
FIND_POOLS = """
    SELECT p.id, p.capacity, p.held - o.overdue AS held, p.sold, p.seated
      FROM stock.pool AS p
     CROSS JOIN LATERAL (SELECT COALESCE(sum(h.quantity), 0)::integer AS overdue
                           FROM stock.portion AS h
                          WHERE h.organization_id = $1
                            AND h.pool_id = p.id
                            AND h.status = 'HELD'
                            AND h.ended_at IS NULL
                            AND h.expires_at <= $3) AS o
     WHERE p.organization_id = $1
       AND p.id = ANY($2::uuid[])
"""


WRITE_COUNTERS = """
    UPDATE stock.pool AS p
       SET held = p.held + v.held, sold = p.sold + v.sold
      FROM unnest($2::uuid[], $3::integer[], $4::integer[]) AS v(id, held, sold)
     WHERE p.organization_id = $1
       AND p.id = ANY($2::uuid[])
       AND p.id = v.id
       AND p.held + v.held >= 0
       AND p.sold + v.sold >= 0
       AND p.held + v.held + p.sold + v.sold <= p.capacity
"""


WRITE_CAPACITIES = """
    UPDATE stock.pool AS p
       SET capacity = v.capacity
      FROM unnest($2::uuid[], $3::integer[]) AS v(id, capacity)
     WHERE p.organization_id = $1
       AND p.id = ANY($2::uuid[])
       AND p.id = v.id
       AND p.held + p.sold <= v.capacity
"""


class Need(msgspec.Struct, frozen=True):
    """A pool that an input cannot do without."""

    of: Any
    pool: PoolId


async def lock_pools(tx: Tx, needs: Sequence[Need]) -> dict[PoolId, Pool]:
    """Those that there are, sorted by id. `Busy` names the inputs of the caller's batch: those it can set aside."""
    try:
        rows = await tx.lock(LOCK_POOLS, needs, lambda each: each.pool.uuid) if needs else {}
    except Busy as busy:
        raise Busy({pool: [each.of for each in held] for pool, held in busy.inputs_by_key.items()}) from None
    pools = [_pool(row) for row in rows.values()]
    return {each.id: each for each in pools}


async def find_pools(tx: Tx, pools: Collection[PoolId]) -> dict[PoolId, Pool]:
    """As they are by the clock: without what is overdue."""
    rows = await tx.fetch(FIND_POOLS, sorted(each.uuid for each in pools), tx.now) if pools else []
    return {PoolId(row["id"]): _pool(row) for row in rows}


class Fresh(msgspec.Struct, frozen=True):
    id: PoolId
    capacity: int
    held: int
    sold: int
    seated: bool
    created_at: datetime


async def insert_pools(tx: Tx, pools: Sequence[Pool]) -> int:
    """How many were new."""
    ordered = sorted(pools, key=lambda each: each.id)
    rows = [Fresh(each.id, each.capacity, each.held, each.sold, each.seated, tx.now) for each in ordered]
    return len(await tx.insert_many(INSERT_POOLS, rows))


async def write_counters(tx: Tx, deltas: Sequence[Delta]) -> None:
    """Policy has said that they fit; the guard, and a CHECK behind it, say so again."""
    ordered = sorted(deltas, key=lambda each: each.id)
    await tx.execute_exactly(len(ordered), WRITE_COUNTERS, *columns(ordered, "id", "held", "sold"))


async def write_capacities(tx: Tx, capacities: Mapping[PoolId, int]) -> None:
    ids = sorted(capacities)
    sizes = [capacities[each] for each in ids]
    await tx.execute_exactly(len(ids), WRITE_CAPACITIES, [each.uuid for each in ids], sizes)


def _pool(row: Record) -> Pool:
    return Pool(PoolId(row["id"]), row["capacity"], row["held"], row["sold"], row["seated"])
