"""Tickets: what was sold, piece by piece."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, Lock, columns
from admitone.verticals.events.model import EventId, OrderId, Ticket, TicketId, TicketStatus, TicketTypeId

Input = TypeVar("Input")

COLUMNS = """id, order_id, event_id, ticket_type_id, emission_index, identity_id, status, price_minor, unit_id, seat,
           version, created_at, changed_at"""


INSERT_TICKETS = Insert(
    "events.ticket",
    {
        "id": "uuid",
        "order_id": "uuid",
        "event_id": "uuid",
        "ticket_type_id": "uuid",
        "emission_index": "integer",
        "identity_id": "uuid",
        "status": "text",
        "price_minor": "bigint",
        "unit_id": "uuid",
        "seat": "text",
        "version": "integer",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    attributes={"ticket_type_id": "ticket_type", "identity_id": "owner"},
)


FIND_OF_ORDERS = f"""
    SELECT {COLUMNS}
      FROM events.ticket
     WHERE organization_id = $1
       AND order_id = ANY($2::uuid[])
     ORDER BY order_id, ticket_type_id, emission_index
"""  # noqa: S608, of constants


LOCK_TICKETS = Lock(
    f"""
    SELECT {COLUMNS}
      FROM events.ticket
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
""",  # noqa: S608, of constants
    key="id",
)


MOVE_TICKETS = """
    UPDATE events.ticket AS t
       SET status = v.status, identity_id = v.identity_id, version = t.version + 1, changed_at = $6
      FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::uuid[]) AS v(id, was, status, identity_id)
     WHERE t.organization_id = $1
       AND t.id = ANY($2::uuid[])
       AND t.id = v.id
       AND t.version = v.was
"""


async def insert_tickets(tx: Tx, tickets: Sequence[Ticket]) -> None:
    await tx.insert_exactly(INSERT_TICKETS, tickets)


async def find_of_orders(tx: Tx, orders: Collection[OrderId]) -> list[Ticket]:
    rows = await tx.fetch(FIND_OF_ORDERS, sorted(each.uuid for each in orders)) if orders else []
    return [ticket_of(row) for row in rows]


async def lock_tickets(tx: Tx, inputs: Sequence[Input], whose: Callable[[Input], TicketId]) -> dict[TicketId, Ticket]:
    rows = await tx.lock(LOCK_TICKETS, inputs, lambda each: whose(each).uuid) if inputs else {}
    return {TicketId(key): ticket_of(row) for key, row in rows.items()}


async def move_tickets(tx: Tx, before: Mapping[TicketId, Ticket], after: Sequence[Ticket]) -> None:
    ordered = sorted(after, key=lambda each: each.id)
    was = [before[each.id].version for each in ordered]
    [ids, *rest] = columns(ordered, "id", "status", "owner")
    await tx.execute_exactly(len(ordered), MOVE_TICKETS, ids, was, *rest, tx.now)


def ticket_of(row: Record) -> Ticket:
    unit: UUID | None = row["unit_id"]
    return Ticket(
        id=TicketId(row["id"]),
        order_id=OrderId(row["order_id"]),
        event_id=EventId(row["event_id"]),
        ticket_type=TicketTypeId(row["ticket_type_id"]),
        emission_index=row["emission_index"],
        owner=IdentityId(row["identity_id"]),
        status=TicketStatus(row["status"]),
        price_minor=row["price_minor"],
        unit_id=unit,
        seat=row["seat"],
        version=row["version"],
        created_at=row["created_at"],
        changed_at=row["changed_at"],
    )
