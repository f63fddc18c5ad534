"""Orders and their lines."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar
from uuid import UUID

from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import IdentityTx, Record, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.statements import Insert, Lock, columns
from admitone.verticals.events.model import EventId, Order, OrderId, OrderLine, OrderState, SessionId, TicketTypeId

Input = TypeVar("Input")
LAST: Final = UUID(int=2**128 - 1)

COLUMNS = """organization_id, id, event_id, identity_id, key, request_hash, state, currency, amount_minor, is_guest,
           language, age_confirmed, billing, expires_at, payment_id, fulfilled_at, version, created_at, changed_at"""
OF_ORDER = ", ".join(f"o.{name.strip()}" for name in COLUMNS.split(","))


INSERT_ORDERS = Insert(
    "events.ticket_order",
    {
        "id": "uuid",
        "event_id": "uuid",
        "identity_id": "uuid",
        "key": "text",
        "request_hash": "bytea",
        "state": "text",
        "currency": "text",
        "amount_minor": "bigint",
        "is_guest": "boolean",
        "language": "text",
        "age_confirmed": "boolean",
        "billing": "bytea",
        "expires_at": "timestamptz",
        "version": "integer",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    on_conflict="(organization_id, identity_id, key) DO NOTHING",
    returning="id",
    attributes={"identity_id": "buyer"},
)


INSERT_LINES = Insert(
    "events.order_line",
    {
        "order_id": "uuid",
        "ticket_type_id": "uuid",
        "name": "text",
        "quantity": "integer",
        "unit_price_minor": "bigint",
        "sessions": "uuid[]",
    },
    attributes={"order_id": "order.id", "ticket_type_id": "line.ticket_type", "name": "line.name"}
    | {name: f"line.{name}" for name in ("quantity", "unit_price_minor")},
)


FIND_ORDERS = f"""
    SELECT {COLUMNS}
      FROM events.ticket_order
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


# One by one, each in the order of its index, which an equal sign would make void: asked for all at once, the planner
# reads all of an organisation's orders while nobody has counted them.
FIND_BY_KEYS = f"""
    SELECT {OF_ORDER}
      FROM unnest($2::uuid[], $3::text[]) AS v(identity_id, key)
     CROSS JOIN LATERAL (SELECT {COLUMNS}
                           FROM events.ticket_order
                          WHERE organization_id = $1
                            AND identity_id = v.identity_id
                            AND key BETWEEN v.key AND v.key
                          ORDER BY key
                          LIMIT 1) AS o
"""  # noqa: S608, of constants


LOCK_ORDERS = Lock(
    f"""
    SELECT {COLUMNS}
      FROM events.ticket_order
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
""",  # noqa: S608, of constants
    key="id",
)


FIND_LINES = """
    SELECT order_id, ticket_type_id, name, quantity, unit_price_minor, sessions
      FROM events.order_line
     WHERE organization_id = $1
       AND order_id = ANY($2::uuid[])
     ORDER BY order_id, ticket_type_id
"""


MOVE_ORDERS = """
    UPDATE events.ticket_order AS o
       SET state = v.state, payment_id = v.payment_id, fulfilled_at = v.fulfilled_at, version = o.version + 1,
           changed_at = $7
      FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::uuid[], $6::timestamptz[])
        AS v(id, was, state, payment_id, fulfilled_at)
     WHERE o.organization_id = $1
       AND o.id = ANY($2::uuid[])
       AND o.id = v.id
       AND o.version = v.was
"""


KEEP_ORDERS = """
    UPDATE events.ticket_order AS o
       SET expires_at = v.expires_at, version = o.version + 1, changed_at = $5
      FROM unnest($2::uuid[], $3::integer[], $4::timestamptz[]) AS v(id, was, expires_at)
     WHERE o.organization_id = $1
       AND o.id = ANY($2::uuid[])
       AND o.id = v.id
       AND o.version = v.was
       AND o.state = 'OPEN'
"""


# Its key was the guest's: whoever has it now may have taken the same for another order. Nobody can have taken this one.
HAND_OVER = """
    UPDATE events.ticket_order AS o
       SET identity_id = v.identity_id, key = 'claimed:' || gen_random_uuid(), version = o.version + 1, changed_at = $4
      FROM unnest($2::uuid[], $3::uuid[]) AS v(id, identity_id)
     WHERE o.organization_id = $1
       AND o.id = ANY($2::uuid[])
       AND o.id = v.id
"""


# By both columns together, which one index alone has, and by the first, whose predicate it is.
LIST_OF_EVENT = f"""
    SELECT {COLUMNS}
      FROM events.ticket_order
     WHERE organization_id = $1
       AND event_id >= $2
       AND (event_id, id) > ($2, $3)
       AND (event_id, id) <= ($2, $4)
     ORDER BY event_id, id
     LIMIT $5
"""  # noqa: S608, of constants


LIST_OWN = f"""
    SELECT {COLUMNS}
      FROM events.ticket_order
     WHERE identity_id = $1
       AND id < $2
     ORDER BY id DESC
     LIMIT $3
"""  # noqa: S608, of constants


# In the order of its index, for the planner's sake.
FIND_OWN = f"""
    SELECT {COLUMNS}
      FROM events.ticket_order
     WHERE identity_id = $1
       AND id BETWEEN $2 AND $2
     ORDER BY id
     LIMIT 1
"""  # noqa: S608, of constants


class _Row:
    """A line with the order that it is of."""

    __slots__ = ("line", "order", "sessions")

    def __init__(self, order: Order, line: OrderLine) -> None:
        self.order = order
        self.line = line
        self.sessions = tuple(each.uuid for each in line.sessions or ())


async def insert_orders(tx: Tx, orders: Sequence[Order]) -> set[OrderId]:
    """Those whose key nobody had taken, with their lines."""
    ordered = sorted(orders, key=lambda each: (each.buyer, each.key))
    new = {OrderId(row["id"]) for row in await tx.insert_many(INSERT_ORDERS, ordered)}
    await tx.insert_exactly(
        INSERT_LINES, [_Row(each, line) for each in orders if each.id in new for line in each.lines]
    )
    return new


async def find_orders(tx: Tx, ids: Collection[OrderId]) -> dict[OrderId, Order]:
    """With their lines."""
    if not ids:
        return {}
    return await _with_lines(tx, await tx.fetch(FIND_ORDERS, sorted(each.uuid for each in ids)))


async def find_by_keys(tx: Tx, keys: Collection[tuple[IdentityId, str]]) -> dict[tuple[IdentityId, str], Order]:
    if not keys:
        return {}
    ordered = sorted(keys)
    rows = await tx.fetch(FIND_BY_KEYS, [own.uuid for own, _ in ordered], [key for _, key in ordered])
    return {(each.buyer, each.key): each for each in (await _with_lines(tx, rows)).values()}


async def list_of_event(tx: Tx, event: EventId, after: UUID, limit: int) -> list[Order]:
    """The first one first; without their lines."""
    return [order_of(row) for row in await tx.fetch(LIST_OF_EVENT, event.uuid, after, LAST, limit)]


async def lock_orders(tx: Tx, inputs: Sequence[Input], whose: Callable[[Input], OrderId]) -> dict[OrderId, Order]:
    """With their lines."""
    rows = await tx.lock(LOCK_ORDERS, inputs, lambda each: whose(each).uuid) if inputs else {}
    return await _with_lines(tx, [*rows.values()])


async def move_orders(tx: Tx, before: Mapping[OrderId, Order], after: Sequence[Order]) -> None:
    """To where they stand now; each still had the version that it was read with."""
    ordered = sorted(after, key=lambda each: each.id)
    [ids, *rest] = columns(ordered, "id", "state", "payment_id", "fulfilled_at")
    was = [before[each.id].version for each in ordered]
    await tx.execute_exactly(len(ordered), MOVE_ORDERS, ids, was, *rest, tx.now)


async def keep_orders(tx: Tx, orders: Sequence[Order]) -> None:
    """Open ones, each until its new end; each still had the version that it was read with."""
    ordered = sorted(orders, key=lambda each: each.id)
    await tx.execute_exactly(len(ordered), KEEP_ORDERS, *columns(ordered, "id", "version", "expires_at"), tx.now)


async def hand_over(tx: Tx, owners: Mapping[OrderId, IdentityId]) -> None:
    """To whoever placed them, by the id that they have now."""
    ordered = sorted(owners.items())
    ids, people = [own.uuid for own, _ in ordered], [owner.uuid for _, owner in ordered]
    await tx.execute_exactly(len(ordered), HAND_OVER, ids, people, tx.now)


async def list_own(tx: IdentityTx, before: UUID, limit: int) -> list[Order]:
    """A person's own in all organisations, the latest first; without their lines."""
    return [order_of(row) for row in await tx.fetch(LIST_OWN, before, limit)]


async def find_own(tx: IdentityTx, own: OrderId) -> Order | None:
    """Without its lines: whose they are is a matter of its organisation."""
    row = await tx.find(FIND_OWN, own.uuid)
    return order_of(row) if row else None


async def _with_lines(tx: Tx, rows: Sequence[Record]) -> dict[OrderId, Order]:
    if not rows:
        return {}
    lines: dict[UUID, list[OrderLine]] = {row["id"]: [] for row in rows}
    for each in await tx.fetch(FIND_LINES, sorted(lines)):
        lines[each["order_id"]].append(_line(each))
    return {OrderId(row["id"]): order_of(row, lines[row["id"]]) for row in rows}


def _line(row: Record) -> OrderLine:
    sessions = row["sessions"]
    return OrderLine(
        TicketTypeId(row["ticket_type_id"]),
        row["name"],
        row["quantity"],
        row["unit_price_minor"],
        None if sessions is None else tuple(map(SessionId, sessions)),
    )


def order_of(row: Record, lines: Sequence[OrderLine] = ()) -> Order:
    payment = row["payment_id"]
    values = dict(row) | {
        "organization_id": OrganizationId(row["organization_id"]),
        "id": OrderId(row["id"]),
        "event_id": EventId(row["event_id"]),
        "identity_id": IdentityId(row["identity_id"]),
        "state": OrderState(row["state"]),
        "payment_id": PaymentId(payment) if payment else None,
    }
    organization, buyer = values.pop("organization_id"), values.pop("identity_id")
    return Order(organization=organization, buyer=buyer, lines=tuple(lines), **values)
