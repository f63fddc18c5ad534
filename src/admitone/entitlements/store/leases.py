"""What devices may do without asking, and the list of codes that they do it by."""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from admitone.entitlements.model import EntitlementId, Lease, LeaseId, Listed, Place
from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, Lock, columns


class Known(NamedTuple):
    """What was recorded of an entry before."""

    id: UUID
    admitted: bool
    reason_code: str | None


COLUMNS = """id, device, event_id, session_id, gate, issued_by, issued_at, expires_at, synced_at, entries_allowed,
           entries_used, revoked_at"""


INSERT_LEASES = Insert(
    "entitlements.lease",
    {
        "id": "uuid",
        "device": "text",
        "event_id": "text",
        "session_id": "text",
        "gate": "text",
        "issued_by": "uuid",
        "issued_at": "timestamptz",
        "expires_at": "timestamptz",
        "synced_at": "timestamptz",
        "entries_allowed": "integer",
        "entries_used": "integer",
    },
)


LOCK_LEASES = Lock(
    f"""
    SELECT {COLUMNS}
      FROM entitlements.lease
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
""",  # noqa: S608, of constants
    key="id",
)


LIST_LEASES = f"""
    SELECT {COLUMNS}
      FROM entitlements.lease
     WHERE organization_id = $1
       AND event_id = $2
       AND expires_at > $3
     ORDER BY expires_at, id
     LIMIT $4
"""  # noqa: S608, of constants


FIND_LEASE = f"""
    SELECT {COLUMNS}
      FROM entitlements.lease
     WHERE organization_id = $1
       AND id = $2
"""  # noqa: S608, of constants


# A device that fetches a list anew is in touch: what it had before is over.
END_EARLIER = """
    UPDATE entitlements.lease AS l
       SET expires_at = greatest($4, l.issued_at + interval '1 microsecond')
      FROM unnest($2::text[], $3::text[]) AS v(device, event_id)
     WHERE l.organization_id = $1
       AND l.event_id = v.event_id
       AND l.expires_at > $4
       AND l.device = v.device
"""


WRITE_LEASES = """
    UPDATE entitlements.lease AS l
       SET expires_at = v.expires_at, synced_at = v.synced_at, entries_used = v.entries_used, revoked_at = v.revoked_at
      FROM unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::integer[], $6::timestamptz[])
        AS v(id, expires_at, synced_at, entries_used, revoked_at)
     WHERE l.organization_id = $1
       AND l.id = ANY($2::uuid[])
       AND l.id = v.id
"""


# Of rights that are good, codes that are: what may be let in without asking (ENT-030, U-52). Also of those that were
# used, for a door says when and where.
LIST_CODES = """
    SELECT e.id, e.label, e.session_id, e.valid_from, e.valid_until,
           greatest(e.max_entries - e.entries, 0) AS entries_left, e.reentry_minutes, e.last_entry_at,
           CASE WHEN e.entries > 0
                THEN (SELECT c.gate
                        FROM entitlements.checkin AS c
                       WHERE c.organization_id = e.organization_id
                         AND c.entitlement_id = e.id
                         AND c.admitted
                         AND c.at = e.last_entry_at
                       ORDER BY c.id DESC
                       LIMIT 1)
           END AS last_gate,
           ARRAY(SELECT t.digest
                   FROM entitlements.token AS t
                  WHERE t.organization_id = e.organization_id
                    AND t.entitlement_id = e.id
                    AND t.revoked_at IS NULL
                    AND t.redeemed_at IS NULL
                    AND t.valid_until > $5
                  ORDER BY t.epoch) AS digests
      FROM entitlements.entitlement AS e
     WHERE e.organization_id = $1
       AND e.event_id = $2
       AND e.id > $3
       AND e.status = 'ACTIVE'
       AND e.offline_allowed
       AND e.valid_until > $5
       AND e.methods && ARRAY['QR_TICKET', 'QR_REGISTRATION', 'QR_BOOKING']
       AND ($4::text IS NULL OR e.session_id IS NULL OR e.session_id = $4)
     ORDER BY e.id
     LIMIT $6
"""


FIND_SYNCED = """
    SELECT lease_id, scan_key, id, admitted, reason_code
      FROM entitlements.checkin
     WHERE organization_id = $1
       AND lease_id = ANY($2::uuid[])
       AND scan_key = ANY($3::text[])
"""


# What a device asked for and the server let in; whether the device heard of it is not known here. A right has few.
FIND_ASKED = """
    SELECT entitlement_id, device, scan_key, id, admitted, reason_code
      FROM entitlements.checkin
     WHERE organization_id = $1
       AND entitlement_id = ANY($2::uuid[])
       AND lease_id IS NULL
       AND scan_key = ANY($3::text[])
       AND admitted
"""


async def insert_leases(tx: Tx, leases: Sequence[Lease]) -> None:
    """Each instead of what its device had for the same event."""
    await tx.execute(END_EARLIER, *columns(leases, "device", "event_id"), tx.now)
    await tx.insert_exactly(INSERT_LEASES, leases)


async def lock_leases(tx: Tx, inputs: Sequence[object]) -> dict[LeaseId, Lease]:
    """Of inputs that say which lease they are about."""
    rows = await tx.lock(LOCK_LEASES, inputs, lambda each: each.lease.uuid)  # type: ignore[attr-defined]
    return {LeaseId(key): lease_of(row) for key, row in rows.items()}


async def list_leases(tx: Tx, event: str, most: int) -> list[Lease]:
    """Those that are not over."""
    return [lease_of(row) for row in await tx.fetch(LIST_LEASES, event, tx.now, most)]


async def find_lease(tx: Tx, own: LeaseId) -> Lease | None:
    row = await tx.find(FIND_LEASE, own.uuid)
    return lease_of(row) if row else None


async def write_leases(tx: Tx, leases: Sequence[Lease]) -> None:
    ordered = sorted(leases, key=lambda each: each.id)
    values = columns(ordered, "id", "expires_at", "synced_at", "entries_used", "revoked_at")
    await tx.execute_exactly(len(ordered), WRITE_LEASES, *values)


async def list_codes(tx: Tx, place: Place, after: UUID, most: int) -> list[Listed]:
    rows = await tx.fetch(LIST_CODES, place.event_id, after, place.session_id, tx.now, most)
    return [Listed(**(dict(row) | {"id": EntitlementId(row["id"]), "digests": tuple(row["digests"])})) for row in rows]


async def find_synced(tx: Tx, leases: Collection[LeaseId], keys: Collection[str]) -> dict[tuple[UUID, str], Known]:
    """What was recorded before, by lease and the device's own key."""
    rows = await tx.fetch(FIND_SYNCED, sorted(each.uuid for each in leases), sorted({*keys}))
    return {(row["lease_id"], row["scan_key"]): Known(row["id"], row["admitted"], row["reason_code"]) for row in rows}


async def find_asked(
    tx: Tx, rights: Collection[EntitlementId], keys: Collection[str]
) -> dict[tuple[EntitlementId, str, str], Known]:
    """Entries that were asked for, by their right, device and the device's own key."""
    rows = await tx.fetch(FIND_ASKED, sorted(each.uuid for each in rights), sorted({*keys}))
    return {
        (EntitlementId(row["entitlement_id"]), row["device"], row["scan_key"]): Known(
            row["id"], row["admitted"], row["reason_code"]
        )
        for row in rows
    }


def lease_of(row: Record) -> Lease:
    issued_by: UUID | None = row["issued_by"]
    return Lease(**(dict(row) | {"id": LeaseId(row["id"]), "issued_by": IdentityId(issued_by) if issued_by else None}))
