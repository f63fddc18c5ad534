"""Events, their sessions, ticket types and policies."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from admitone.entitlements.api import CheckinPolicy, Method
from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.statements import Lock
from admitone.verticals.events.model import (
    AccessMode,
    AccessPolicy,
    Event,
    EventId,
    EventStatus,
    IdentityMatch,
    PricingMode,
    Session,
    SessionId,
    TicketType,
    TicketTypeId,
    TypeStatus,
    Venue,
)

Input = TypeVar("Input")

COLUMNS = """organization_id, id, title, description, status, starts_at, ends_at, time_zone, currency, venue, address,
           city, country, least_age, hold_minutes, allows_zero, pricing_mode, policy_version, first_sold_at,
           published_at, cancelled_at, version, created_at, changed_at"""
TYPE_COLUMNS = """id, event_id, name, description, price_minor, allows_zero, free_per_person, pool_id, shared_pools,
           seated, sales_from, sales_until, most_per_order, most_per_buyer, status, sessions, position, version,
           created_at, changed_at"""
POLICY_COLUMNS = """event_id, version, mode, guest_checkout_allowed, login_required, invite_token_allowed,
           invite_identity_match, invite_token_hours, requires_entitlement, scanner_required, methods, allow_reentry,
           reentry_minutes, max_entries, undo_minutes"""
OF_POLICY = ", ".join(f"p.{name.strip()}" for name in POLICY_COLUMNS.split(","))


FIND_EVENTS = f"""
    SELECT {COLUMNS}
      FROM events.event
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


LOCK_EVENTS = Lock(
    f"""
    SELECT {COLUMNS}
      FROM events.event
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
""",  # noqa: S608, of constants
    key="id",
)


FIND_SESSIONS = """
    SELECT event_id, id, label, starts_at, ends_at
      FROM events.session
     WHERE organization_id = $1
       AND event_id = ANY($2::uuid[])
     ORDER BY event_id, starts_at, id
"""


FIND_TYPES = f"""
    SELECT {TYPE_COLUMNS}
      FROM events.ticket_type
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


FIND_TYPES_OF_EVENTS = f"""
    SELECT {TYPE_COLUMNS}
      FROM events.ticket_type
     WHERE organization_id = $1
       AND event_id = ANY($2::uuid[])
     ORDER BY event_id, position, id
"""  # noqa: S608, of constants


# Of each event the one in force; looked up event by event, and not joined with all that an organisation ever had.
FIND_POLICIES = f"""
    SELECT {OF_POLICY}
      FROM events.event AS e
     CROSS JOIN LATERAL (SELECT {POLICY_COLUMNS}
                           FROM events.access_policy AS a
                          WHERE a.organization_id = $1
                            AND a.event_id = e.id
                            AND a.version = e.policy_version
                          LIMIT 1) AS p
     WHERE e.organization_id = $1
       AND e.id = ANY($2::uuid[])
"""  # noqa: S608, of constants


MARK_FIRST_SALE = """
    UPDATE events.event
       SET first_sold_at = $3
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND first_sold_at IS NULL
"""


async def find_events(tx: Tx, ids: Collection[EventId]) -> dict[EventId, Event]:
    rows = await tx.fetch(FIND_EVENTS, sorted(each.uuid for each in ids)) if ids else []
    return {EventId(row["id"]): event_of(row) for row in rows}


async def lock_events(tx: Tx, inputs: Sequence[Input], whose: Callable[[Input], EventId]) -> dict[EventId, Event]:
    rows = await tx.lock(LOCK_EVENTS, inputs, lambda each: whose(each).uuid) if inputs else {}
    return {EventId(key): event_of(row) for key, row in rows.items()}


async def mark_first_sale(tx: Tx, events: Collection[EventId]) -> None:
    """Of events that the caller has locked."""
    if events:
        await tx.execute(MARK_FIRST_SALE, sorted(each.uuid for each in events), tx.now)


async def find_sessions(tx: Tx, events: Collection[EventId]) -> dict[EventId, tuple[Session, ...]]:
    found: dict[EventId, list[Session]] = {own: [] for own in events}
    for row in await tx.fetch(FIND_SESSIONS, sorted(each.uuid for each in events)):
        session = Session(SessionId(row["id"]), row["label"], row["starts_at"], row["ends_at"])
        found[EventId(row["event_id"])].append(session)
    return {own: tuple(sessions) for own, sessions in found.items()}


async def find_named_sessions(tx: Tx, types: Iterable[TicketType]) -> dict[EventId, tuple[Session, ...]]:
    """Those of events of which one of these types names any. Most name none, and nothing is asked."""
    events = {each.event_id for each in types if each.sessions}
    return await find_sessions(tx, events) if events else {}


async def find_types(tx: Tx, ids: Collection[TicketTypeId]) -> dict[TicketTypeId, TicketType]:
    rows = await tx.fetch(FIND_TYPES, sorted(each.uuid for each in ids)) if ids else []
    return {TicketTypeId(row["id"]): type_of(row) for row in rows}


async def find_types_of_events(tx: Tx, events: Collection[EventId]) -> dict[EventId, tuple[TicketType, ...]]:
    found: dict[EventId, list[TicketType]] = {own: [] for own in events}
    for row in await tx.fetch(FIND_TYPES_OF_EVENTS, sorted(each.uuid for each in events)):
        found[EventId(row["event_id"])].append(type_of(row))
    return {own: tuple(types) for own, types in found.items()}


async def find_policies(tx: Tx, events: Collection[EventId]) -> dict[EventId, AccessPolicy]:
    """Of each event the one in force."""
    rows = await tx.fetch(FIND_POLICIES, sorted(each.uuid for each in events)) if events else []
    return {EventId(row["event_id"]): policy_of(row) for row in rows}


def event_of(row: Record) -> Event:
    values = dict(row)
    venue = Venue(values.pop("venue"), values.pop("address"), values.pop("city"), values.pop("country"))
    return Event(
        organization=OrganizationId(values.pop("organization_id")),
        id=EventId(values.pop("id")),
        venue=venue,
        status=EventStatus(values.pop("status")),
        pricing_mode=PricingMode(values.pop("pricing_mode")),
        **values,
    )


def type_of(row: Record) -> TicketType:
    values = dict(row) | {
        "id": TicketTypeId(row["id"]),
        "event_id": EventId(row["event_id"]),
        "shared_pools": tuple(row["shared_pools"]),
        "status": TypeStatus(row["status"]),
        "sessions": tuple(map(SessionId, row["sessions"])),
    }
    return TicketType(**values)


def policy_of(row: Record) -> AccessPolicy:
    return AccessPolicy(
        version=row["version"],
        mode=AccessMode(row["mode"]),
        guest_checkout_allowed=row["guest_checkout_allowed"],
        login_required=row["login_required"],
        invite_token_allowed=row["invite_token_allowed"],
        invite_identity_match=IdentityMatch(row["invite_identity_match"]),
        invite_token_hours=row["invite_token_hours"],
        requires_entitlement=row["requires_entitlement"],
        scanner_required=row["scanner_required"],
        checkin=CheckinPolicy(
            methods=tuple(map(Method, row["methods"])),
            allow_reentry=row["allow_reentry"],
            reentry_minutes=row["reentry_minutes"],
            max_entries=row["max_entries"],
            undo_minutes=row["undo_minutes"],
        ),
    )
