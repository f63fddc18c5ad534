"""What organisers write: events, sessions, policies, ticket types and shared pools. All of it under the lock of the
event's row."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import BothWays, Insert, ListOrder, columns, plain
from admitone.verticals.events.model import (
    AccessPolicy,
    Event,
    EventId,
    EventStatus,
    Session,
    SessionId,
    SharedPool,
    TicketType,
    TicketTypeId,
)
from admitone.verticals.events.store.events import COLUMNS, event_of, policy_of

INSERT_EVENTS = Insert(
    "events.event",
    {
        "id": "uuid",
        "title": "text",
        "description": "text",
        "status": "text",
        "starts_at": "timestamptz",
        "ends_at": "timestamptz",
        "time_zone": "text",
        "currency": "text",
        "venue": "text",
        "address": "text",
        "city": "text",
        "country": "text",
        "least_age": "smallint",
        "hold_minutes": "smallint",
        "allows_zero": "boolean",
        "pricing_mode": "text",
        "policy_version": "integer",
        "version": "integer",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    attributes={
        "venue": "venue.name",
        "address": "venue.address",
        "city": "venue.city",
        "country": "venue.country",
    },
)


# When it was first sold is for whoever sells to say, and no organiser's to write.
WRITE_EVENTS = """
    UPDATE events.event AS e
       SET title = v.title, description = v.description, status = v.status, starts_at = v.starts_at,
           ends_at = v.ends_at, time_zone = v.time_zone, venue = v.venue, address = v.address, city = v.city,
           country = v.country, least_age = v.least_age, hold_minutes = v.hold_minutes, allows_zero = v.allows_zero,
           pricing_mode = v.pricing_mode, policy_version = v.policy_version, published_at = v.published_at,
           cancelled_at = v.cancelled_at, version = v.version, changed_at = v.changed_at
      FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::timestamptz[],
                  $8::timestamptz[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::smallint[],
                  $15::smallint[], $16::boolean[], $17::text[], $18::integer[], $19::timestamptz[],
                  $20::timestamptz[], $21::integer[], $22::timestamptz[])
        AS v(id, was, title, description, status, starts_at, ends_at, time_zone, venue, address, city, country,
             least_age, hold_minutes, allows_zero, pricing_mode, policy_version, published_at, cancelled_at, version,
             changed_at)
     WHERE e.organization_id = $1
       AND e.id = ANY($2::uuid[])
       AND e.id = v.id
       AND e.version = v.was
"""


LIST_OWN = BothWays(
    f"""
    SELECT {COLUMNS}
      FROM events.event
     WHERE organization_id = $1
       AND starts_at >= $2
       AND (starts_at, id) > ($2, $3)
       AND (starts_at, id) < ($4, $5)
       AND ($6::text IS NULL OR status = $6)
       AND ($7::text IS NULL
            OR position({plain("$7::text")} IN {plain("title || ' ' || venue || ' ' || city")}) > 0)
     ORDER BY starts_at {{way}}, id {{way}}
     LIMIT $8
"""  # noqa: S608, of constants
)


PUT_SESSIONS = Insert(
    "events.session",
    {"event_id": "uuid", "id": "uuid", "label": "text", "starts_at": "timestamptz", "ends_at": "timestamptz"},
    on_conflict="(organization_id, event_id, id) DO UPDATE"
    " SET label = EXCLUDED.label, starts_at = EXCLUDED.starts_at, ends_at = EXCLUDED.ends_at",
)


DELETE_SESSIONS = """
    DELETE FROM events.session
     WHERE organization_id = $1
       AND event_id = $2
       AND id = ANY($3::uuid[])
"""


INSERT_POLICIES = Insert(
    "events.access_policy",
    {
        "event_id": "uuid",
        "version": "integer",
        "mode": "text",
        "guest_checkout_allowed": "boolean",
        "login_required": "boolean",
        "invite_token_allowed": "boolean",
        "invite_identity_match": "text",
        "invite_token_hours": "integer",
        "requires_entitlement": "boolean",
        "scanner_required": "boolean",
        "methods": "text[]",
        "allow_reentry": "boolean",
        "reentry_minutes": "integer",
        "max_entries": "integer",
        "undo_minutes": "integer",
        "created_at": "timestamptz",
        "actor_id": "uuid",
    },
    attributes={
        **{
            name: f"policy.{name}"
            for name in (
                *("version", "mode", "guest_checkout_allowed", "login_required", "invite_token_allowed"),
                *("invite_identity_match", "invite_token_hours", "requires_entitlement", "scanner_required"),
            )
        },
        **{
            name: f"policy.checkin.{name}"
            for name in ("methods", "allow_reentry", "reentry_minutes", "max_entries", "undo_minutes")
        },
    },
)


LIST_POLICIES = """
    SELECT event_id, version, mode, guest_checkout_allowed, login_required, invite_token_allowed,
           invite_identity_match, invite_token_hours, requires_entitlement, scanner_required, methods, allow_reentry,
           reentry_minutes, max_entries, undo_minutes, created_at, actor_id
      FROM events.access_policy
     WHERE organization_id = $1
       AND event_id = $2
       AND version < $3
     ORDER BY version DESC
     LIMIT $4
"""


INSERT_TYPES = Insert(
    "events.ticket_type",
    {
        "id": "uuid",
        "event_id": "uuid",
        "name": "text",
        "description": "text",
        "price_minor": "bigint",
        "allows_zero": "boolean",
        "free_per_person": "integer",
        "pool_id": "uuid",
        "shared_pools": "uuid[]",
        "seated": "boolean",
        "sales_from": "timestamptz",
        "sales_until": "timestamptz",
        "most_per_order": "integer",
        "most_per_buyer": "integer",
        "status": "text",
        "sessions": "uuid[]",
        "position": "integer",
        "version": "integer",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    attributes={"sessions": "session_uuids"},
)


WRITE_TYPES = """
    UPDATE events.ticket_type AS t
       SET name = v.name, description = v.description, price_minor = v.price_minor, allows_zero = v.allows_zero,
           free_per_person = v.free_per_person, sales_from = v.sales_from, sales_until = v.sales_until,
           most_per_order = v.most_per_order, most_per_buyer = v.most_per_buyer, status = v.status,
           position = v.position, version = v.version, changed_at = v.changed_at,
           shared_pools = string_to_array(v.shared_pools, ',')::uuid[],
           sessions = string_to_array(v.sessions, ',')::uuid[]
      FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
                  $9::boolean[], $10::integer[], $11::timestamptz[], $12::timestamptz[], $13::integer[],
                  $14::integer[], $15::text[], $16::integer[], $17::integer[], $18::timestamptz[])
        AS v(id, was, shared_pools, sessions, name, description, price_minor, allows_zero, free_per_person, sales_from,
             sales_until, most_per_order, most_per_buyer, status, position, version, changed_at)
     WHERE t.organization_id = $1
       AND t.id = ANY($2::uuid[])
       AND t.id = v.id
       AND t.version = v.was
"""


PUT_SHARED_POOLS = Insert(
    "events.shared_pool",
    {"event_id": "uuid", "id": "uuid", "label": "text", "created_at": "timestamptz"},
    on_conflict="(organization_id, event_id, id) DO UPDATE SET label = EXCLUDED.label",
)


FIND_SHARED_POOLS = """
    SELECT event_id, id, label
      FROM events.shared_pool
     WHERE organization_id = $1
       AND event_id = ANY($2::uuid[])
     ORDER BY event_id, id
"""


class SessionRow(msgspec.Struct, frozen=True):
    event_id: EventId
    id: SessionId
    label: str
    starts_at: datetime
    ends_at: datetime


class PolicyRow(msgspec.Struct, frozen=True):
    """A version, who made it and when."""

    event_id: EventId
    policy: AccessPolicy
    created_at: datetime
    actor_id: IdentityId | None


class PoolRow(msgspec.Struct, frozen=True):
    event_id: EventId
    id: UUID
    label: str
    created_at: datetime


async def insert_events(tx: Tx, events: Sequence[Event]) -> None:
    await tx.insert_exactly(INSERT_EVENTS, events)


async def write_events(tx: Tx, before: Mapping[EventId, Event], after: Sequence[Event]) -> None:
    """As they are now; each still had the version that it was locked with."""
    [ids, *rest] = columns(
        after,
        *("id", "title", "description", "status", "starts_at", "ends_at", "time_zone"),
        *("venue.name", "venue.address", "venue.city", "venue.country"),
        *("least_age", "hold_minutes", "allows_zero", "pricing_mode", "policy_version"),
        *("published_at", "cancelled_at", "version", "changed_at"),
    )
    await tx.execute_exactly(len(after), WRITE_EVENTS, ids, [before[each.id].version for each in after], *rest)


class OwnWanted(msgspec.Struct, frozen=True):
    """Which events of an organisation."""

    status: EventStatus | None = None
    text: str | None = None
    """In the title, the venue or the city."""


async def list_own(
    tx: Tx,
    wanted: OwnWanted,
    after: tuple[datetime, UUID],
    before: tuple[datetime, UUID],
    limit: int,
    order: ListOrder = ListOrder.OLDEST,
) -> list[Event]:
    """By their beginning, those between two places."""
    rows = await tx.fetch(LIST_OWN.first(order), *after, *before, wanted.status, wanted.text, limit)
    return [event_of(row) for row in rows]


async def put_sessions(tx: Tx, event: EventId, sessions: Sequence[Session], gone: Collection[SessionId]) -> None:
    ordered = sorted(sessions, key=lambda each: each.id)
    rows = [SessionRow(event, each.id, each.label, each.starts_at, each.ends_at) for each in ordered]
    await tx.insert_exactly(PUT_SESSIONS, rows)
    await tx.execute_exactly(len(gone), DELETE_SESSIONS, event.uuid, sorted(each.uuid for each in gone))


async def insert_policies(tx: Tx, rows: Sequence[PolicyRow]) -> None:
    await tx.insert_exactly(INSERT_POLICIES, rows)


async def list_policies(tx: Tx, event: EventId, below: int, limit: int) -> list[PolicyRow]:
    """The newest first."""
    return [
        PolicyRow(event, policy_of(row), row["created_at"], IdentityId(row["actor_id"]) if row["actor_id"] else None)
        for row in await tx.fetch(LIST_POLICIES, event.uuid, below, limit)
    ]


async def insert_types(tx: Tx, types: Sequence[TicketType]) -> None:
    await tx.insert_exactly(INSERT_TYPES, types)


async def write_types(tx: Tx, before: Mapping[TicketTypeId, TicketType], after: Sequence[TicketType]) -> None:
    [ids, *rest] = columns(
        after,
        *("id", "name", "description", "price_minor", "allows_zero", "free_per_person", "sales_from", "sales_until"),
        *("most_per_order", "most_per_buyer", "status", "position", "version", "changed_at"),
    )
    was = [before[each.id].version for each in after]
    pools = [",".join(map(str, each.shared_pools)) for each in after]
    sessions = [",".join(map(str, each.session_uuids)) for each in after]
    await tx.execute_exactly(len(after), WRITE_TYPES, ids, was, pools, sessions, *rest)


async def put_shared_pools(tx: Tx, rows: Sequence[PoolRow]) -> None:
    await tx.insert_exactly(PUT_SHARED_POOLS, rows)


async def find_shared_pools(tx: Tx, events: Collection[EventId]) -> dict[EventId, tuple[SharedPool, ...]]:
    found: dict[EventId, list[SharedPool]] = {own: [] for own in events}
    for row in await tx.fetch(FIND_SHARED_POOLS, sorted(each.uuid for each in events)):
        found[EventId(row["event_id"])].append(SharedPool(row["id"], row["label"]))
    return {own: tuple(pools) for own, pools in found.items()}
