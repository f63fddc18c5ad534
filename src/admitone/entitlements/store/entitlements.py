"""Entitlements and their trail."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeVar
from uuid import UUID

from admitone.entitlements.model import Changed, Entitlement, EntitlementId, Hold, Method, Revocation, Status, Token
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.statements import Insert, Lock, columns

Input = TypeVar("Input")
AT_ONCE: Final = 250
"""Rows that one UPDATE joins: its plan compares each with each."""

COLUMNS = """organization_id, id, emission_key, source_type, source_id, line_key, piece, payment_id, event_id,
           session_id, label, identity_id, kind, offline_allowed, status, held_for, revoked_for, valid_from,
           valid_until, policy_version, methods, max_entries, reentry_minutes, undo_minutes, entries, entered,
           duplicates, consumed_at, last_entry_at, epoch, coded_until, version, created_at, changed_at"""


INSERT_ENTITLEMENTS = Insert(
    "entitlements.entitlement",
    {
        "id": "uuid",
        "emission_key": "text",
        "source_type": "text",
        "source_id": "text",
        "line_key": "text",
        "piece": "integer",
        "payment_id": "uuid",
        "event_id": "text",
        "session_id": "text",
        "label": "text",
        "identity_id": "uuid",
        "kind": "text",
        "offline_allowed": "boolean",
        "status": "text",
        "held_for": "text[]",
        "revoked_for": "text",
        "valid_from": "timestamptz",
        "valid_until": "timestamptz",
        "policy_version": "integer",
        "methods": "text[]",
        "max_entries": "integer",
        "reentry_minutes": "integer",
        "undo_minutes": "integer",
        "entries": "integer",
        "entered": "integer",
        "duplicates": "integer",
        "epoch": "integer",
        "coded_until": "timestamptz",
        "version": "integer",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    on_conflict="(organization_id, emission_key) DO NOTHING",
    returning="id",
    attributes={"source_type": "source.type", "source_id": "source.id", "identity_id": "owner"},
)


INSERT_CHANGES = Insert(
    "entitlements.change",
    {
        "entitlement_id": "uuid",
        "number": "integer",
        "kind": "text",
        "from_status": "text",
        "to_status": "text",
        "reason": "text",
        "identity_id": "uuid",
        "at": "timestamptz",
        "actor_id": "uuid",
        "cause_id": "uuid",
        "correlation_id": "uuid",
    },
)


LOCK_ENTITLEMENTS = Lock(
    f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
""",  # noqa: S608, of constants
    key="id",
)


FIND_ENTITLEMENTS = f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


FIND_BY_KEYS = f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE organization_id = $1
       AND emission_key = ANY($2::text[])
"""  # noqa: S608, of constants


FIND_OF_SOURCES = f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE organization_id = $1
       AND source_type = $2
       AND source_id = ANY($3::text[])
     ORDER BY id
"""  # noqa: S608, of constants


FIND_OF_PAYMENTS = f"""
    SELECT {COLUMNS}
      FROM entitlements.entitlement
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
     ORDER BY id
"""  # noqa: S608, of constants


WRITE_STANDINGS = """
    UPDATE entitlements.entitlement AS e
       SET identity_id = v.identity_id, payment_id = v.payment_id, status = v.status,
           held_for = string_to_array(v.held_for, ','), revoked_for = v.revoked_for, valid_from = v.valid_from,
           valid_until = v.valid_until, methods = string_to_array(v.methods, ','), max_entries = v.max_entries,
           reentry_minutes = v.reentry_minutes, undo_minutes = v.undo_minutes, epoch = v.epoch,
           coded_until = v.coded_until, version = v.version, changed_at = $18
      FROM unnest($2::uuid[], $3::integer[], $4::text[], $5::text[], $6::integer[], $7::uuid[], $8::uuid[], $9::text[],
                  $10::text[], $11::timestamptz[], $12::timestamptz[], $13::integer[], $14::integer[], $15::integer[],
                  $16::integer[], $17::timestamptz[])
        AS v(id, was, held_for, methods, version, identity_id, payment_id, status, revoked_for, valid_from, valid_until,
             max_entries, reentry_minutes, undo_minutes, epoch, coded_until)
     WHERE e.organization_id = $1
       AND e.id = ANY($2::uuid[])
       AND e.id = v.id
       AND e.version = v.was
"""


# A code more, and nothing of the right is another: its version stays.
WRITE_EPOCHS = """
    UPDATE entitlements.entitlement AS e
       SET epoch = v.epoch, coded_until = v.coded_until
      FROM unnest($2::uuid[], $3::integer[], $4::timestamptz[]) AS v(id, epoch, coded_until)
     WHERE e.organization_id = $1
       AND e.id = ANY($2::uuid[])
       AND e.id = v.id
       AND e.epoch = v.epoch - 1
       AND e.status = 'ACTIVE'
"""


# Who guests are by now. It belongs to no organisation, and every one may ask it.
FIND_CLAIMED = """
    SELECT guest_id, user_id
      FROM entitlements.claimed
     WHERE guest_id = ANY($2::uuid[])
       AND $1::uuid IS NOT NULL
"""


LIST_CHANGES = """
    SELECT entitlement_id, number, kind, from_status, to_status, reason, identity_id, at, actor_id, cause_id,
           correlation_id
      FROM entitlements.change
     WHERE organization_id = $1
       AND entitlement_id = $2
     ORDER BY number DESC
     LIMIT $3
"""


async def insert_entitlements(tx: Tx, fresh: Sequence[Entitlement]) -> set[EntitlementId]:
    """Those whose key nobody had taken."""
    ordered = sorted(fresh, key=lambda each: each.emission_key)
    return {EntitlementId(row["id"]) for row in await tx.insert_many(INSERT_ENTITLEMENTS, ordered)}


async def insert_changes(tx: Tx, changes: Sequence[Changed]) -> None:
    await tx.insert_exactly(INSERT_CHANGES, changes)


async def lock_entitlements(
    tx: Tx, inputs: Sequence[Input], whose: Callable[[Input], EntitlementId]
) -> dict[EntitlementId, Entitlement]:
    """Those that the inputs are about."""
    rows = await tx.lock(LOCK_ENTITLEMENTS, inputs, lambda each: whose(each).uuid) if inputs else {}
    return {EntitlementId(key): entitlement_of(row) for key, row in rows.items()}


async def find_entitlements(tx: Tx, ids: Collection[EntitlementId]) -> dict[EntitlementId, Entitlement]:
    rows = await tx.fetch(FIND_ENTITLEMENTS, sorted(each.uuid for each in ids)) if ids else []
    return {EntitlementId(row["id"]): entitlement_of(row) for row in rows}


async def find_by_keys(tx: Tx, keys: Collection[str]) -> dict[str, Entitlement]:
    rows = await tx.fetch(FIND_BY_KEYS, sorted({*keys})) if keys else []
    return {row["emission_key"]: entitlement_of(row) for row in rows}


async def list_of_sources(tx: Tx, kind: SourceType, ids: Collection[str]) -> list[Entitlement]:
    return [entitlement_of(row) for row in await tx.fetch(FIND_OF_SOURCES, kind.value, sorted({*ids}))]


async def list_of_payments(tx: Tx, payments: Collection[PaymentId]) -> list[Entitlement]:
    return [entitlement_of(row) for row in await tx.fetch(FIND_OF_PAYMENTS, sorted(each.uuid for each in payments))]


async def write_standings(tx: Tx, before: Mapping[EntitlementId, int], after: Sequence[Entitlement]) -> None:
    """As they stand now; each still had the version that it was read with."""
    ordered = sorted(after, key=lambda each: each.id)
    for start in range(0, len(ordered), AT_ONCE):
        await _write_standings(tx, before, ordered[start : start + AT_ONCE])


async def _write_standings(tx: Tx, before: Mapping[EntitlementId, int], ordered: Sequence[Entitlement]) -> None:
    [ids, *rest] = columns(
        ordered,
        *("id", "version", "owner", "payment_id", "status"),
        *("revoked_for", "valid_from", "valid_until", "max_entries", "reentry_minutes", "undo_minutes"),
        *("epoch", "coded_until"),
    )
    was = [before[each.id] for each in ordered]
    holds = [",".join(sorted(each.held_for)) for each in ordered]
    methods = [",".join(sorted(each.methods)) for each in ordered]
    await tx.execute_exactly(len(ordered), WRITE_STANDINGS, ids, was, holds, methods, *rest, tx.now)


async def write_epochs(tx: Tx, tokens: Sequence[Token]) -> None:
    """Each is coded by the next of its codes."""
    ordered = sorted(tokens, key=lambda each: each.entitlement)
    await tx.execute_exactly(len(ordered), WRITE_EPOCHS, *columns(ordered, "entitlement", "epoch", "valid_until"))


async def find_claimed(tx: Tx, owners: Collection[IdentityId]) -> dict[IdentityId, IdentityId]:
    rows = await tx.fetch(FIND_CLAIMED, sorted(each.uuid for each in owners))
    return {IdentityId(row["guest_id"]): IdentityId(row["user_id"]) for row in rows}


async def list_changes(tx: Tx, entitlement: EntitlementId, most: int) -> list[Changed]:
    """The latest, in their order."""
    rows = await tx.fetch(LIST_CHANGES, entitlement.uuid, most)
    return [Changed(**dict(row)) for row in reversed(rows)]


def entitlement_of(row: Record) -> Entitlement:
    payment: UUID | None = row["payment_id"]
    return Entitlement(
        organization=OrganizationId(row["organization_id"]),
        id=EntitlementId(row["id"]),
        emission_key=row["emission_key"],
        source=Source(SourceType(row["source_type"]), row["source_id"]),
        line_key=row["line_key"],
        piece=row["piece"],
        payment_id=PaymentId(payment) if payment else None,
        event_id=row["event_id"],
        session_id=row["session_id"],
        label=row["label"],
        owner=IdentityId(row["identity_id"]),
        kind=row["kind"],
        offline_allowed=row["offline_allowed"],
        status=Status(row["status"]),
        held_for=frozenset(map(Hold, row["held_for"])),
        revoked_for=Revocation(row["revoked_for"]) if row["revoked_for"] else None,
        valid_from=row["valid_from"],
        valid_until=row["valid_until"],
        policy_version=row["policy_version"],
        methods=frozenset(map(Method, row["methods"])),
        max_entries=row["max_entries"],
        reentry_minutes=row["reentry_minutes"],
        undo_minutes=row["undo_minutes"],
        entries=row["entries"],
        entered=row["entered"],
        duplicates=row["duplicates"],
        consumed_at=row["consumed_at"],
        last_entry_at=row["last_entry_at"],
        epoch=row["epoch"],
        coded_until=row["coded_until"],
        version=row["version"],
        created_at=row["created_at"],
        changed_at=row["changed_at"],
    )
