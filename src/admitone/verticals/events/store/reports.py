"""Orders and tickets of one event, as its organiser looks at them: page by page, and summed up by days."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.statements import BothWays, ListOrder
from admitone.verticals.events.model import EventId, Order, Ticket, TicketTypeId
from admitone.verticals.events.store.listing import LISTING
from admitone.verticals.events.store.orders import COLUMNS as ORDER_COLUMNS
from admitone.verticals.events.store.orders import order_of
from admitone.verticals.events.store.tickets import COLUMNS as TICKET_COLUMNS
from admitone.verticals.events.store.tickets import ticket_of

FIRST: Final = UUID(int=0)
LAST: Final = UUID(int=2**128 - 1)
RECONCILING: Final = LISTING
MOST_SUMMED: Final = 10_000_000
CLOCKS_DIFFER: Final = timedelta(hours=1)
"""Between whoever makes ids, by their own clock, and the database, by whose clock everything else is: never so much."""


# By both columns together, which one index alone has, and by the first, whose predicate it is: of those that look
# equally good, as all do while nobody has counted the rows, the planner would take the key's, and read all of the
# organisation's.
LIST_ORDERS = BothWays(
    f"""
    SELECT {ORDER_COLUMNS}
      FROM events.ticket_order
     WHERE organization_id = $1
       AND event_id >= $2
       AND (event_id, id) < ($2, $3)
       AND (event_id, id) > ($2, $4)
     ORDER BY event_id {{way}}, id {{way}}
     LIMIT $5
"""  # noqa: S608, of constants
)


LIST_TICKETS = BothWays(
    f"""
    SELECT {TICKET_COLUMNS}
      FROM events.ticket
     WHERE organization_id = $1
       AND (event_id, id) > ($2, $3)
       AND (event_id, id) < ($2, $4)
     ORDER BY event_id {{way}}, id {{way}}
     LIMIT $5
"""  # noqa: S608, of constants
)


# Which day is for the caller to say, who knows the event's clocks; by ids near those days, so that no others are read.
# In the order of its index, for the planner's sake, and so with a limit, which is more than any event has.
SUM_SALES = """
    SELECT width_bucket(t.created_at, $5::timestamptz[]) AS day, t.ticket_type_id,
           count(DISTINCT t.order_id)::integer AS orders, count(*)::integer AS tickets,
           sum(t.price_minor)::bigint AS gross_minor,
           count(*) FILTER (WHERE t.status IN ('REFUNDED', 'CHARGEBACK_LOST', 'CANCELLED'))::integer AS gone,
           COALESCE(sum(t.price_minor) FILTER (WHERE t.status IN ('REFUNDED', 'CHARGEBACK_LOST', 'CANCELLED')),
                    0)::bigint AS refunded_minor
      FROM (SELECT created_at, ticket_type_id, order_id, price_minor, status
              FROM events.ticket
             WHERE organization_id = $1
               AND (event_id, id) > ($2, $3)
               AND (event_id, id) < ($2, $4)
             ORDER BY event_id, id
             LIMIT $8) AS t
     WHERE t.created_at >= $6
       AND t.created_at < $7
     GROUP BY 1, 2
     ORDER BY 1, 2
"""


LIST_PUBLISHED = """
    SELECT event_id, organization_id, ends_at
      FROM events.listing
     WHERE (ends_at, event_id) > ($1, $2)
     ORDER BY ends_at, event_id
     LIMIT $3
"""


class SoldOn(msgspec.Struct, frozen=True):
    """What was sold of a type on one day, at its price."""

    day: int
    """The first of those that were asked for is 1."""
    ticket_type: TicketTypeId
    orders: int
    tickets: int
    gross_minor: int
    gone: int
    refunded_minor: int


class Published(msgspec.Struct, frozen=True):
    event: EventId
    organization: OrganizationId
    ends_at: datetime

    @property
    def place(self) -> tuple[datetime, UUID]:
        """In the list."""
        return self.ends_at, self.event.uuid


async def list_orders(
    tx: Tx, event: EventId, after: UUID, before: UUID, limit: int, way: ListOrder = ListOrder.NEWEST
) -> list[Order]:
    """Those between two places; without their lines."""
    return [order_of(row) for row in await tx.fetch(LIST_ORDERS.first(way), event.uuid, before, after, limit)]


async def list_tickets(
    tx: Tx, event: EventId, place: UUID | None, limit: int, way: ListOrder = ListOrder.OLDEST
) -> list[Ticket]:
    """By when they were issued."""
    rows = await tx.fetch(LIST_TICKETS.first(way), event.uuid, *way.ids(place), limit)
    return [ticket_of(row) for row in rows]


async def sum_sales(tx: Tx, event: EventId, midnights: Sequence[datetime]) -> list[SoldOn]:
    """Day by day, from the first of these midnights to the last."""
    first, last = midnights[0], midnights[-1]
    ids = id_near(first - CLOCKS_DIFFER), id_near(last + CLOCKS_DIFFER)
    rows = await tx.fetch(SUM_SALES, event.uuid, *ids, [*midnights], first, last, MOST_SUMMED)
    return [SoldOn(row["day"], TicketTypeId(row["ticket_type_id"]), *[*row.values()][2:]) for row in rows]


async def list_published(tx: PlatformTx, after: tuple[datetime, UUID], limit: int) -> list[Published]:
    """Everybody's, by their end: what is over for long is not read."""
    rows = await tx.fetch(LIST_PUBLISHED, *after, limit)
    return [Published(EventId(row["event_id"]), OrganizationId(row["organization_id"]), row["ends_at"]) for row in rows]


def id_near(instant: datetime) -> UUID:
    """The first id that is made then, by a clock that is right."""
    milliseconds = (instant.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    return UUID(int=min(max(milliseconds, 0), 2**48 - 1) << 80)
