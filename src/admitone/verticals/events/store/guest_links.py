"""Links by which guests see their tickets, as digests."""

from collections.abc import Collection
from datetime import datetime

import msgspec

from admitone.kernel.db import Tx
from admitone.verticals.events.model import OrderId

INSERT_LINK = """
    INSERT INTO events.guest_link (organization_id, digest, order_id, expires_at, created_at)
    VALUES ($1, $2, $3, $4, $5)
"""


FIND_LINK = """
    SELECT order_id, expires_at
      FROM events.guest_link
     WHERE organization_id = $1
       AND digest = $2
       AND revoked_at IS NULL
       AND expires_at > $3
"""


PUT_OFF_LINKS = """
    UPDATE events.guest_link
       SET expires_at = $3
     WHERE organization_id = $1
       AND order_id = ANY($2::uuid[])
       AND expires_at <> $3
"""


class Link(msgspec.Struct, frozen=True):
    order: OrderId
    expires_at: datetime


async def insert_link(tx: Tx, digest: bytes, order: OrderId, expires_at: datetime) -> None:
    await tx.execute_exactly(1, INSERT_LINK, digest, order.uuid, expires_at, tx.now)


async def put_off_links(tx: Tx, orders: Collection[OrderId], expires_at: datetime) -> None:
    """Of these orders: to the end of their event, as it is by now."""
    await tx.execute(PUT_OFF_LINKS, sorted(each.uuid for each in orders), expires_at)


async def find_link(tx: Tx, digest: bytes) -> Link | None:
    """One that still leads somewhere."""
    row = await tx.find(FIND_LINK, digest, tx.now)
    return Link(OrderId(row["order_id"]), row["expires_at"]) if row else None
