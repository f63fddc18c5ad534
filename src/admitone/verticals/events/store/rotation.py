"""What orders keep sealed, by the key that it stands under."""

from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import PlatformScope, Role
from admitone.verticals.events.model import OrderId

ROTATING: Final = PlatformScope("write what orders keep under the newest key", Role.RELAY)


LIST_STALE = """
    SELECT organization_id, id, billing_key
      FROM events.ticket_order
     WHERE billing_key < $3
       AND (billing_key, id) > ($1, $2)
     ORDER BY billing_key, id
     LIMIT $4
"""


FIND_BILLING = """
    SELECT id, billing
      FROM events.ticket_order
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND billing IS NOT NULL
"""


# What somebody else wrote meanwhile stays.
WRITE_BILLING = """
    UPDATE events.ticket_order AS o
       SET billing = v.billing
      FROM unnest($2::uuid[], $3::bytea[], $4::bytea[]) AS v(id, was, billing)
     WHERE o.organization_id = $1
       AND o.id = ANY($2::uuid[])
       AND o.id = v.id
       AND o.billing = v.was
"""


class Stale(msgspec.Struct, frozen=True):
    """An order with something under that key, and where it stands in its list."""

    organization: OrganizationId
    order: OrderId
    key: int


BEFORE_ALL: Final = Stale(OrganizationId(UUID(int=0)), OrderId(UUID(int=0)), 0)


async def list_stale(tx: PlatformTx, after: Stale, current: int, limit: int) -> list[Stale]:
    """Of everybody's, what stands under a key that is older than this one."""
    rows = await tx.fetch(LIST_STALE, after.key, after.order.uuid, current, limit)
    return [Stale(OrganizationId(row["organization_id"]), OrderId(row["id"]), row["billing_key"]) for row in rows]


async def find_billing(tx: Tx, orders: Collection[OrderId]) -> dict[OrderId, bytes]:
    rows = await tx.fetch(FIND_BILLING, sorted(each.uuid for each in orders))
    return {OrderId(row["id"]): row["billing"] for row in rows}


async def write_billing(tx: Tx, was: Mapping[OrderId, bytes], sealed: Mapping[OrderId, bytes]) -> int:
    """How many still had what was read."""
    ordered = sorted(sealed)
    ids, before = [each.uuid for each in ordered], [was[each] for each in ordered]
    return await tx.execute(WRITE_BILLING, ids, before, [sealed[each] for each in ordered]) if ordered else 0
