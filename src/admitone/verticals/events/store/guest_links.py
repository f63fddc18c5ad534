"""Links by which guests see their tickets, as digests."""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from admitone.kernel.db import Tx
from admitone.kernel.statements import Insert
from admitone.verticals.events.model import OrderId

INSERT_LINKS = Insert(
    "events.guest_link",
    {"digest": "bytea", "order_id": "uuid", "expires_at": "timestamptz", "created_at": "timestamptz"},
)


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


class NewLink(msgspec.Struct, frozen=True):
    """A row to insert."""

    digest: bytes
    order_id: OrderId
    expires_at: datetime
    created_at: datetime


async def insert_links(tx: Tx, links: Sequence[NewLink]) -> None:
    await tx.insert_exactly(INSERT_LINKS, links)


async def put_off_links(tx: Tx, orders: Collection[OrderId], expires_at: datetime) -> None:
    """Of these orders: to the end of their event, as it is by now."""
    await tx.execute(PUT_OFF_LINKS, sorted(each.uuid for each in orders), expires_at)


async def find_link(tx: Tx, digest: bytes) -> Link | None:
    """One that still leads somewhere."""
    row = await tx.find(FIND_LINK, digest, tx.now)
    return Link(OrderId(row["order_id"]), row["expires_at"]) if row else None
