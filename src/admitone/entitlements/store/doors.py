"""What happened at doors: entries, the log, the counts, closed scanners."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from admitone.entitlements.model import Checkin, CheckinId, Entitlement, EntitlementId, Tally, Way
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import Insert, columns


class Entry(NamedTuple):
    """The latest that let somebody in."""

    checkin: UUID
    at: datetime
    gate: str


INSERT_CHECKINS = Insert(
    "entitlements.checkin",
    {
        "id": "uuid",
        "entitlement_id": "uuid",
        "event_id": "text",
        "session_id": "text",
        "source_type": "text",
        "action": "text",
        "admitted": "boolean",
        "reason_code": "text",
        "entry": "integer",
        "method": "text",
        "gate": "text",
        "device": "text",
        "scanner_id": "uuid",
        "at": "timestamptz",
        "recorded_at": "timestamptz",
        "policy_version": "integer",
        "epoch": "integer",
        "refers_to": "uuid",
        "lease_id": "uuid",
        "scan_key": "text",
        "correlation_id": "uuid",
    },
)


WRITE_ENTRIES = """
    UPDATE entitlements.entitlement AS e
       SET entries = v.entries, entered = v.entered, duplicates = v.duplicates, consumed_at = v.consumed_at,
           last_entry_at = v.last_entry_at
      FROM unnest($2::uuid[], $3::integer[], $4::integer[], $5::integer[], $6::integer[], $7::timestamptz[],
                  $8::timestamptz[])
        AS v(id, version, entries, entered, duplicates, consumed_at, last_entry_at)
     WHERE e.organization_id = $1
       AND e.id = ANY($2::uuid[])
       AND e.id = v.id
       AND e.version = v.version
"""


# Of the entries that were not undone the latest. Told by its number: what a device let in by itself is heard of late.
FIND_LATEST = """
    SELECT w.id AS entitlement_id, c.id, c.at, c.gate
      FROM unnest($2::uuid[]) AS w(id)
     CROSS JOIN LATERAL (SELECT c.id, c.at, c.gate
                           FROM entitlements.checkin AS c
                          WHERE c.organization_id = $1
                            AND c.entitlement_id = w.id
                            AND c.entry IS NOT NULL
                            AND c.admitted
                            AND NOT EXISTS (SELECT
                                              FROM entitlements.checkin AS u
                                             WHERE u.organization_id = $1
                                               AND u.entitlement_id = c.entitlement_id
                                               AND u.entry = c.entry
                                               AND u.action = 'UNDO')
                          ORDER BY c.entry DESC
                          LIMIT 1) AS c
"""


CHECKIN_COLUMNS = """id, entitlement_id, event_id, session_id, source_type, action, admitted, reason_code, entry,
           method, gate, device, scanner_id, at, recorded_at, policy_version, epoch, refers_to, lease_id, scan_key,
           correlation_id"""


FIND_CHECKINS = f"""
    SELECT {CHECKIN_COLUMNS}
      FROM entitlements.checkin
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


LIST_OF_RIGHT = f"""
    SELECT {CHECKIN_COLUMNS}
      FROM entitlements.checkin
     WHERE organization_id = $1
       AND entitlement_id = $2
     ORDER BY id DESC
     LIMIT $3
"""  # noqa: S608, of constants


# Entries that were not undone, in their order. A right has few.
FIND_STANDING = """
    SELECT c.entitlement_id, c.id, c.at, c.gate
      FROM entitlements.checkin AS c
     WHERE c.organization_id = $1
       AND c.entitlement_id = ANY($2::uuid[])
       AND c.admitted
       AND NOT EXISTS (SELECT
                         FROM entitlements.checkin AS u
                        WHERE u.organization_id = c.organization_id
                          AND u.entitlement_id = c.entitlement_id
                          AND u.entry = c.entry
                          AND u.action = 'UNDO')
     ORDER BY c.entitlement_id, c.entry
"""


COUNT = Insert(
    "entitlements.tally",
    {
        "event_id": "text",
        "device": "text",
        "minute": "timestamptz",
        "gate": "text",
        "session_id": "text",
        "admitted": "integer",
        "undone": "integer",
        "duplicate": "integer",
        "denied": "integer",
    },
    on_conflict="(organization_id, event_id, device, minute, gate, session_id) DO UPDATE"
    " SET admitted = tally.admitted + EXCLUDED.admitted, undone = tally.undone + EXCLUDED.undone,"
    " duplicate = tally.duplicate + EXCLUDED.duplicate, denied = tally.denied + EXCLUDED.denied",
)


async def insert_checkins(tx: Tx, rows: Sequence[object]) -> None:
    await tx.insert_exactly(INSERT_CHECKINS, rows)


async def write_entries(tx: Tx, after: Sequence[Entitlement]) -> None:
    ordered = sorted(after, key=lambda each: each.id)
    names = ("id", "version", "entries", "entered", "duplicates", "consumed_at", "last_entry_at")
    await tx.execute_exactly(len(ordered), WRITE_ENTRIES, *columns(ordered, *names))


async def find_latest(tx: Tx, entitlements: Collection[EntitlementId]) -> dict[EntitlementId, Entry]:
    if not entitlements:
        return {}
    rows = await tx.fetch(FIND_LATEST, sorted(each.uuid for each in entitlements))
    return {EntitlementId(row["entitlement_id"]): Entry(row["id"], row["at"], row["gate"]) for row in rows}


async def find_checkins(tx: Tx, ids: Collection[CheckinId]) -> dict[CheckinId, Checkin]:
    rows = await tx.fetch(FIND_CHECKINS, sorted(each.uuid for each in ids))
    return {CheckinId(row["id"]): checkin_of(row) for row in rows}


async def list_of_right(tx: Tx, entitlement: EntitlementId, most: int) -> list[Checkin]:
    """The latest that happened with it, also what was refused, in its order."""
    return [checkin_of(row) for row in reversed(await tx.fetch(LIST_OF_RIGHT, entitlement.uuid, most))]


async def list_standing(tx: Tx, entitlements: Collection[EntitlementId]) -> dict[EntitlementId, list[Entry]]:
    standing: dict[EntitlementId, list[Entry]] = {own: [] for own in entitlements}
    for row in await tx.fetch(FIND_STANDING, sorted(own.uuid for own in entitlements)):
        standing[EntitlementId(row["entitlement_id"])].append(Entry(row["id"], row["at"], row["gate"]))
    return standing


def checkin_of(row: Record) -> Checkin:
    return Checkin(**(dict(row) | {"method": Way(row["method"])}))


async def count(tx: Tx, tallies: Sequence[Tally]) -> None:
    """In their order, so that two who count the same do not wait for each other."""
    await tx.insert_exactly(COUNT, tallies)
