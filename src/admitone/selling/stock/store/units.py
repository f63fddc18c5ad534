"""Numbered units, and whose they are."""

from collections.abc import Collection, Mapping, Sequence

from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import Insert, columns
from admitone.selling.stock.model import HoldId, PoolId, Unit, UnitId

INSERT_UNITS = Insert(
    "stock.unit",
    {"id": "uuid", "pool_id": "uuid", "label": "text", "place": "integer"},
    attributes={"pool_id": "pool"},
)


FIND_UNITS = """
    SELECT id, pool_id, label, place, hold_id
      FROM stock.unit
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""


LIST_UNITS = """
    SELECT id, pool_id, label, place, hold_id
      FROM stock.unit
     WHERE organization_id = $1
       AND pool_id = $2
       AND label > $3
     ORDER BY label
     LIMIT $4
"""


# Nobody else takes any: their pool is locked. So the best are simply the first.
FIND_FREE = """
    SELECT u.id, u.pool_id, u.label, u.place, u.hold_id
      FROM unnest($2::uuid[], $3::integer[]) AS v(pool_id, wanted)
     CROSS JOIN LATERAL (SELECT f.id, f.pool_id, f.label, f.place, f.hold_id
                           FROM stock.unit AS f
                          WHERE f.organization_id = $1
                            AND f.pool_id = v.pool_id
                            AND f.hold_id IS NULL
                          ORDER BY f.place
                          LIMIT v.wanted) AS u
"""


WRITE_OWNERS = """
    UPDATE stock.unit AS u
       SET hold_id = v.hold_id
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) AS v(id, hold_id, was)
     WHERE u.organization_id = $1
       AND u.id = ANY($2::uuid[])
       AND u.id = v.id
       AND u.hold_id IS NOT DISTINCT FROM v.was
"""


WRITE_PLACES = """
    UPDATE stock.unit AS u
       SET place = v.place
      FROM unnest($2::uuid[], $3::integer[]) AS v(id, place)
     WHERE u.organization_id = $1
       AND u.id = ANY($2::uuid[])
       AND u.id = v.id
"""


DELETE_UNITS = """
    DELETE FROM stock.unit
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND hold_id IS NULL
"""


async def find_units(tx: Tx, units: Collection[UnitId]) -> dict[UnitId, Unit]:
    rows = await tx.fetch(FIND_UNITS, sorted(each.uuid for each in units)) if units else []
    return {UnitId(row["id"]): _unit(row) for row in rows}


async def list_units(tx: Tx, pool: PoolId, after: str, limit: int) -> list[Unit]:
    """A page of them, by label."""
    return [_unit(row) for row in await tx.fetch(LIST_UNITS, pool.uuid, after, limit)]


async def find_free(tx: Tx, wanted: Mapping[PoolId, int]) -> list[Unit]:
    """The best that are free of each pool, so many of it."""
    pools = sorted(wanted)
    rows = await tx.fetch(FIND_FREE, [each.uuid for each in pools], [wanted[each] for each in pools]) if pools else []
    return [_unit(row) for row in rows]


async def insert_units(tx: Tx, units: Sequence[Unit]) -> None:
    await tx.insert_exactly(INSERT_UNITS, units)


async def write_owners(tx: Tx, owners: Sequence[tuple[Unit, HoldId | None]]) -> None:
    """Each still belonged to whom policy took it from, or to nobody."""
    was = [before.uuid if before else None for _, before in owners]
    changes = columns([unit for unit, _ in owners], "id", "hold")
    await tx.execute_exactly(len(owners), WRITE_OWNERS, *changes, was)


async def write_places(tx: Tx, units: Sequence[Unit]) -> None:
    await tx.execute_exactly(len(units), WRITE_PLACES, *columns(units, "id", "place"))


async def delete_units(tx: Tx, units: Collection[UnitId]) -> None:
    await tx.execute_exactly(len(units), DELETE_UNITS, sorted(each.uuid for each in units))


def _unit(row: Record) -> Unit:
    owner = HoldId(row["hold_id"]) if row["hold_id"] else None
    return Unit(UnitId(row["id"]), PoolId(row["pool_id"]), row["label"], row["place"], owner)
