"""Portions: what holds have of pools."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, columns
from admitone.selling.stock.model import GivenBack, HoldId, Part, PoolId, Status, UnitId
from admitone.selling.stock.policy import Bought

COLUMNS = """hold_id, number, pool_id, item, subject, buyer_id, quantity, leads, most, status, returned, units, kept_at,
           expires_at, ended_at, keepable_until"""


INSERT_PORTIONS = Insert(
    "stock.portion",
    {
        "hold_id": "uuid",
        "number": "smallint",
        "pool_id": "uuid",
        "item": "text",
        "subject": "text",
        "buyer_id": "uuid",
        "quantity": "integer",
        "leads": "boolean",
        "most": "integer",
        "status": "text",
        "returned": "integer",
        "units": "uuid[]",
        "kept_at": "timestamptz",
        "expires_at": "timestamptz",
        "keepable_until": "timestamptz",
    },
    attributes={"hold_id": "hold", "pool_id": "pool", "buyer_id": "buyer", "units": "unit_uuids"},
)


FIND_PORTIONS = f"""
    SELECT {COLUMNS}
      FROM stock.portion
     WHERE organization_id = $1
       AND hold_id = ANY($2::uuid[])
     ORDER BY hold_id, number
"""  # noqa: S608, of constants


# Of each pool as many as could be needed at the most, the oldest first.
FIND_OVERDUE = f"""
    SELECT {COLUMNS}
      FROM unnest($2::uuid[], $3::integer[]) AS v(of_pool, short)
     CROSS JOIN LATERAL (SELECT {COLUMNS}
                           FROM stock.portion AS h
                          WHERE h.organization_id = $1
                            AND h.pool_id = v.of_pool
                            AND h.status = 'HELD'
                            AND h.ended_at IS NULL
                            AND h.expires_at <= $4
                          ORDER BY h.expires_at, h.hold_id
                          LIMIT v.short) AS p
     ORDER BY expires_at, hold_id
"""  # noqa: S608, of constants


FIND_PLACES = """
    SELECT hold_id, pool_id
      FROM stock.portion
     WHERE organization_id = $1
       AND hold_id = ANY($2::uuid[])
"""


SUM_BOUGHT = """
    SELECT buyer_id, item, sum(quantity - returned)::integer AS bought
      FROM stock.portion
     WHERE organization_id = $1
       AND buyer_id = ANY($2::uuid[])
       AND item = ANY($3::text[])
       AND leads
       AND status IN ('HELD', 'SOLD')
       AND (status = 'SOLD' OR expires_at > $4)
     GROUP BY buyer_id, item
"""


WRITE_PORTIONS = """
    UPDATE stock.portion AS p
       SET status = v.status, returned = v.returned, units = string_to_array(v.units, ',')::uuid[],
           ended_at = v.ended_at
      FROM unnest($2::uuid[], $3::smallint[], $4::text[], $5::integer[], $6::timestamptz[], $7::text[], $8::integer[],
                  $9::text[])
        AS v(hold_id, number, status, returned, ended_at, was, had_returned, units)
     WHERE p.organization_id = $1
       AND p.hold_id = ANY($2::uuid[])
       AND p.hold_id = v.hold_id
       AND p.number = v.number
       AND p.status = v.was
       AND p.returned = v.had_returned
"""


# What has ended has ended, and there is a last end: the guards say so again, and a CHECK the second.
WRITE_ENDS = """
    UPDATE stock.portion AS p
       SET expires_at = v.expires_at
      FROM unnest($2::uuid[], $3::smallint[], $4::timestamptz[]) AS v(hold_id, number, expires_at)
     WHERE p.organization_id = $1
       AND p.hold_id = ANY($2::uuid[])
       AND p.hold_id = v.hold_id
       AND p.number = v.number
       AND p.status = 'HELD'
       AND p.expires_at > $5
       AND v.expires_at <= COALESCE(p.keepable_until, p.expires_at)
"""


INSERT_GIVEN_BACK = Insert(
    "stock.given_back",
    {
        "hold_id": "uuid",
        "key": "text",
        "number": "smallint",
        "quantity": "integer",
        "units": "uuid[]",
        "at": "timestamptz",
    },
    attributes={"hold_id": "hold", "units": "unit_uuids"},
)


FIND_GIVEN_BACK = """
    SELECT DISTINCT hold_id, key
      FROM stock.given_back
     WHERE organization_id = $1
       AND hold_id = ANY($2::uuid[])
"""


async def find_portions(tx: Tx, holds: Collection[HoldId]) -> list[Part]:
    """All portions of these holds, one hold after another."""
    rows = await tx.fetch(FIND_PORTIONS, sorted(each.uuid for each in holds)) if holds else []
    return [_part(row) for row in rows]


async def find_places(tx: Tx, holds: Collection[HoldId]) -> dict[HoldId, set[PoolId]]:
    """Of which pools these holds have something. That never changes, so it may be asked before anything is locked."""
    places: dict[HoldId, set[PoolId]] = {}
    for row in await tx.fetch(FIND_PLACES, sorted(each.uuid for each in holds)) if holds else []:
        places.setdefault(HoldId(row["hold_id"]), set()).add(PoolId(row["pool_id"]))
    return places


async def find_overdue(tx: Tx, short: Mapping[PoolId, int]) -> list[Part]:
    """The oldest of each pool, one for each that is short."""
    pools = sorted(short)
    rows = (
        await tx.fetch(FIND_OVERDUE, [each.uuid for each in pools], [short[each] for each in pools], tx.now)
        if pools
        else []
    )
    return [_part(row) for row in rows]


async def sum_bought(tx: Tx, wanted: Collection[tuple[IdentityId, str]]) -> Bought:
    """What these buyers have of these items by now, sold and kept, without what is overdue."""
    if not wanted:
        return {}
    buyers, items = sorted({buyer.uuid for buyer, _ in wanted}), sorted({item for _, item in wanted})
    rows = await tx.fetch(SUM_BOUGHT, buyers, items, tx.now)
    return {(IdentityId(row["buyer_id"]), row["item"]): row["bought"] for row in rows}


async def insert_portions(tx: Tx, parts: Sequence[Part]) -> None:
    await tx.insert_exactly(INSERT_PORTIONS, parts)


async def write_portions(tx: Tx, moved: Sequence[tuple[Part, Part]]) -> None:
    """Each was what policy took it for."""
    was, now = [before for before, _ in moved], [after for _, after in moved]
    changes = columns(now, "hold", "number", "status", "returned", "ended_at")
    units = [None if each.units is None else ",".join(str(unit.uuid) for unit in each.units) for each in now]
    await tx.execute_exactly(len(moved), WRITE_PORTIONS, *changes, *columns(was, "status", "returned"), units)


async def write_ends(tx: Tx, parts: Sequence[Part]) -> None:
    """Each is still kept, until then."""
    await tx.execute_exactly(len(parts), WRITE_ENDS, *columns(parts, "hold", "number", "expires_at"), tx.now)


async def insert_given_back(tx: Tx, given: Sequence[GivenBack]) -> None:
    await tx.insert_exactly(INSERT_GIVEN_BACK, given)


async def find_given_back(tx: Tx, holds: Collection[HoldId]) -> set[tuple[HoldId, str]]:
    """Under which keys something came back of them."""
    rows = await tx.fetch(FIND_GIVEN_BACK, sorted(each.uuid for each in holds)) if holds else []
    return {(HoldId(row["hold_id"]), row["key"]) for row in rows}


def _part(row: Record) -> Part:
    units: list[UUID] | None = row["units"]
    return Part(
        HoldId(row["hold_id"]),
        row["number"],
        PoolId(row["pool_id"]),
        row["item"],
        row["subject"],
        IdentityId(row["buyer_id"]),
        row["quantity"],
        row["leads"],
        row["most"],
        row["kept_at"],
        row["expires_at"],
        Status(row["status"]),
        row["returned"],
        None if units is None else tuple(map(UnitId, units)),
        row["ended_at"],
        row["keepable_until"],
    )
