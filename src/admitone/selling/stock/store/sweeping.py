"""Stock over all organisations: what is overdue, which pools there are, and what each of them adds up to."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role
from admitone.selling.stock.model import MOST_UNITS, HoldId, PoolId

SWEEPING: Final = PlatformScope("see to what is overdue, and compare what is counted", Role.RELAY)


LIST_OVERDUE = """
    SELECT organization_id, hold_id, expires_at
      FROM stock.portion
     WHERE status = 'HELD'
       AND returned = 0
       AND expires_at <= $1
       AND (expires_at, hold_id) > ($2, $3)
     ORDER BY expires_at, hold_id
     LIMIT $4
"""


# In the order of their key, organisation by organisation.
LIST_POOLS = """
    SELECT organization_id, id
      FROM stock.pool
     WHERE (organization_id, id) > ($1, $2)
     ORDER BY organization_id, id
     LIMIT $3
"""


# One statement, so one moment: what changes meanwhile changes on both sides. Units, and whose each is, are read in the
# order of an index, and so with a limit, which is more than there are: of indexes that look equally good, as all do
# while nobody has counted the rows, the planner would take another, and read all of the organisation's.
SUM_STANDINGS = """
    SELECT p.id, p.capacity, p.held, p.sold, p.seated, h.kept, h.bought, n.units, n.taken, n.rightly
      FROM stock.pool AS p
     CROSS JOIN LATERAL (SELECT COALESCE(sum(quantity) FILTER (WHERE status = 'HELD'), 0)::integer AS kept,
                                COALESCE(sum(quantity - returned) FILTER (WHERE status = 'SOLD'), 0)::integer AS bought
                           FROM stock.portion
                          WHERE organization_id = $1
                            AND pool_id = p.id
                            AND ended_at IS NULL) AS h
     CROSS JOIN LATERAL (SELECT count(*)::integer AS units, count(u.hold_id)::integer AS taken,
                                count(o.hold_id)::integer AS rightly
                           FROM (SELECT id, pool_id, hold_id
                                   FROM stock.unit
                                  WHERE organization_id = $1
                                    AND pool_id BETWEEN p.id AND p.id
                                  ORDER BY pool_id, label
                                  LIMIT $3) AS u
                           LEFT JOIN LATERAL (SELECT r.hold_id
                                                FROM stock.portion AS r
                                               WHERE r.organization_id = $1
                                                 AND r.hold_id = u.hold_id
                                                 AND r.pool_id IS NOT DISTINCT FROM u.pool_id
                                                 AND r.status IN ('HELD', 'SOLD')
                                                 AND u.id = ANY(r.units)
                                               ORDER BY r.number
                                               LIMIT 1) AS o
                             ON true) AS n
     WHERE p.organization_id = $1
       AND p.id = ANY($2::uuid[])
"""


BEFORE_ALL: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Overdue(msgspec.Struct, frozen=True):
    """A hold of which something is overdue, and where it stands in its list."""

    organization: OrganizationId = OrganizationId(UUID(int=0))
    hold: HoldId = HoldId(UUID(int=0))
    at: datetime = BEFORE_ALL


class Place(msgspec.Struct, frozen=True):
    """A pool among everybody's."""

    organization: OrganizationId = OrganizationId(UUID(int=0))
    pool: PoolId = PoolId(UUID(int=0))


class Standing(msgspec.Struct, frozen=True):
    """What a pool's counters say, and what its rows add up to."""

    pool: PoolId
    capacity: int
    held: int
    sold: int
    seated: bool
    kept: int
    bought: int
    units: int
    taken: int
    """Units that have an owner."""
    rightly: int
    """Of those, whose owner says the same."""

    @property
    def is_counted(self) -> bool:
        return (self.held, self.sold) == (self.kept, self.bought)

    @property
    def is_seated_right(self) -> bool:
        out = self.kept + self.bought
        return not self.seated or (self.units, self.taken, self.rightly) == (self.capacity, out, out)


async def list_overdue(tx: PlatformTx, after: Overdue, limit: int) -> list[Overdue]:
    rows = await tx.fetch(LIST_OVERDUE, tx.now, after.at, after.hold.uuid, limit)
    return [Overdue(OrganizationId(row["organization_id"]), HoldId(row["hold_id"]), row["expires_at"]) for row in rows]


async def list_pools(tx: PlatformTx, after: Place, limit: int) -> list[Place]:
    rows = await tx.fetch(LIST_POOLS, after.organization.uuid, after.pool.uuid, limit)
    return [Place(OrganizationId(row["organization_id"]), PoolId(row["id"])) for row in rows]


async def sum_standings(tx: Tx, pools: Collection[PoolId]) -> list[Standing]:
    rows = await tx.fetch(SUM_STANDINGS, sorted(each.uuid for each in pools), MOST_UNITS)
    return [Standing(PoolId(row["id"]), *[*row.values()][1:]) for row in rows]
