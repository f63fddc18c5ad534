"""Devices that work without a network.

Promise (ENT-030 to ENT-032): a device lets in by its list for so many entries, two hours at most and half an hour
without having been in touch. What it let in is recorded when it is back, once, whatever is sent twice; what it would
have refused, had it known, is an incident that somebody sees, and never an error that is lost. Whoever came in used
their right, however late we hear of it. What a device had asked for before, under the same key, and was let in without
its hearing of it, is that entry and no other.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.entitlements import policy
from admitone.entitlements.commands.checking_in import audited, tallies_of
from admitone.entitlements.errors import LeaseNotFound, ScannerClosed
from admitone.entitlements.facts import CheckinConsumed, CheckinIncident, of_checkin
from admitone.entitlements.model import (
    LIST_LIFE,
    STAYS_OUT,
    Checkin,
    CheckinId,
    Entitlement,
    EntitlementId,
    Incident,
    Lease,
    LeaseId,
    Place,
    Token,
    Way,
)
from admitone.entitlements.store import doors
from admitone.entitlements.store import entitlements as store
from admitone.entitlements.store import leases as lease_store
from admitone.entitlements.store import tokens as token_store
from admitone.entitlements.store.leases import Known
from admitone.entitlements.store.scanners import find_closed
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller


class LeaseWanted(msgspec.Struct, frozen=True):
    caller: Caller
    place: Place
    entries_allowed: int


class LetIn(msgspec.Struct, frozen=True):
    """Somebody whom a device let in by its list."""

    key: str
    """The device's own, for ever."""
    digest: bytes
    at: datetime


class Sync(msgspec.Struct, frozen=True):
    """A device is back."""

    caller: Caller
    lease: LeaseId
    device: str
    let_in: tuple[LetIn, ...]


class Recorded(msgspec.Struct, frozen=True):
    key: str
    checkin: CheckinId
    admitted: bool
    incident: Incident | None
    replayed: bool = False


class Synced(msgspec.Struct, frozen=True):
    lease: Lease
    recorded: tuple[Recorded, ...]


class LeaseRevoking(msgspec.Struct, frozen=True):
    caller: Caller
    lease: LeaseId
    reason_code: str


@command()
async def lease(tx: Tx, wanted: Sequence[LeaseWanted]) -> list[Lease | Refusal]:
    """Each, unless its device is closed. What the device had before is over; of two at once both stand, and count."""
    closed = await find_closed(tx, {each.place.scanner for each in wanted})
    given = iter(await _give(tx, [each for each in wanted if each.place.scanner not in closed]))
    return [ScannerClosed() if each.place.scanner in closed else next(given) for each in wanted]


async def _give(tx: Tx, wanted: Sequence[LeaseWanted]) -> list[Lease]:
    given = [
        Lease(
            id=LeaseId.new(),
            device=each.place.device,
            event_id=each.place.event_id,
            session_id=each.place.session_id,
            gate=each.place.gate,
            issued_by=each.caller.actor,
            issued_at=tx.now,
            expires_at=tx.now + LIST_LIFE,
            synced_at=tx.now,
            entries_allowed=each.entries_allowed,
            entries_used=0,
        )
        for each in wanted
    ]
    await lease_store.insert_leases(tx, given)
    await audit.record(
        tx,
        [
            audit.Entry(each.caller, "entitlements.lease", str(own.id), after={"entriesAllowed": own.entries_allowed})
            for each, own in zip(wanted, given, strict=True)
        ],
    )
    return given


@command()
async def revoke_leases(tx: Tx, revokings: Sequence[LeaseRevoking]) -> list[Lease | Refusal]:
    held = await lease_store.lock_leases(tx, revokings)
    over = {own: msgspec.structs.replace(each, revoked_at=each.revoked_at or tx.now) for own, each in held.items()}
    await lease_store.write_leases(tx, [*over.values()])
    known = [each for each in revokings if each.lease in over]
    entries = [audit.Entry(e.caller, "entitlements.revoke_lease", str(e.lease), e.reason_code) for e in known]
    await audit.record(tx, entries)
    return [over.get(each.lease) or LeaseNotFound() for each in revokings]


@command()
async def synchronise(tx: Tx, syncs: Sequence[Sync]) -> list[Synced | Refusal]:
    """Record what was let in, in the order in which it happened."""
    leases = await lease_store.lock_leases(tx, syncs)
    own = [each for each in syncs if each.lease in leases and leases[each.lease].device == each.device]
    keys = {scan.key for each in own for scan in each.let_in}
    known = await lease_store.find_synced(tx, leases, keys)
    tokens = await token_store.find_by_digests(tx, {scan.digest for each in own for scan in each.let_in})
    rights = await store.lock_entitlements(
        tx, sorted({each.entitlement for each in tokens.values()}), lambda each: each
    )
    # As at the door: whether a code is good is known once its right is held.
    tokens = await token_store.find_by_digests(tx, tokens)
    asked = await lease_store.find_asked(tx, rights, keys)
    book = Book(tx, leases, tokens, dict(rights), asked)
    outcomes: dict[int, Synced] = {}
    for position, each in enumerate(syncs):
        if each in own:
            outcomes[position] = book.take(each, known)
    await doors.write_entries(tx, [each for right, each in book.rights.items() if each != rights[right]])
    await doors.insert_checkins(tx, book.rows)
    await doors.count(tx, tallies_of(book.rows))
    await audit.record(tx, book.audited)
    await lease_store.write_leases(tx, [book.leases[each] for each in {each.lease for each in own}])
    return [outcomes.get(position) or LeaseNotFound() for position in range(len(syncs))]


class Book:
    """What is recorded at once: one entry after the other, each knowing those before it."""

    def __init__(
        self,
        tx: Tx,
        leases: dict[LeaseId, Lease],
        tokens: dict[bytes, Token],
        rights: dict[EntitlementId, Entitlement],
        asked: dict[tuple[EntitlementId, str, str], Known],
    ) -> None:
        self._tx = tx
        self._tokens = tokens
        self._asked = asked
        self.leases = leases
        self.rights = rights
        self.rows: list[Checkin] = []
        self.audited: list[audit.Entry] = []

    def take(self, sync: Sync, known: dict[tuple[UUID, str], Known]) -> Synced:
        recorded: list[Recorded] = []
        before = self.leases[sync.lease]
        for scan in sorted(sync.let_in, key=lambda each: each.at):
            said = known.get((sync.lease.uuid, scan.key)) or self._let_in_already(sync, scan)
            if said is None:
                row = self._record(sync, before, scan)
                known[sync.lease.uuid, scan.key] = Known(row.id, row.admitted, row.reason_code)
            recorded.append(_recorded(scan.key, said or known[sync.lease.uuid, scan.key], replayed=said is not None))
        # Whoever was away for too long was away: its lease ended then, and it fetches a new list.
        expires_at = before.expires_at if self._tx.now <= before.good_until else before.good_until
        self.leases[sync.lease] = msgspec.structs.replace(
            self.leases[sync.lease], synced_at=self._tx.now, expires_at=expires_at
        )
        return Synced(self.leases[sync.lease], tuple(recorded))

    def _let_in_already(self, sync: Sync, scan: LetIn) -> Known | None:
        """The device asked under this key, was let in, and did not hear of it: its list then let in the same person."""
        token = self._tokens.get(scan.digest)
        return self._asked.get((token.entitlement, sync.device, scan.key)) if token else None

    def _record(self, sync: Sync, before: Lease, scan: LetIn) -> Checkin:
        token = self._tokens.get(scan.digest)
        right = self.rights.get(token.entitlement) if token else None
        used = self.leases[sync.lease].entries_used
        incident = policy.incident_of(right, token, before, scan.at, used, self._tx.now)
        admitted = right is not None and incident not in STAYS_OUT
        at = min(max(scan.at, before.issued_at), self._tx.now)
        if right is not None and admitted:
            right = self.rights[right.id] = policy.entered(right, at)
        elif right is not None and incident is Incident.DUPLICATE:
            right = self.rights[right.id] = msgspec.structs.replace(right, duplicates=right.duplicates + 1)
        self.leases[sync.lease] = msgspec.structs.replace(self.leases[sync.lease], entries_used=used + 1)
        row = _row(self._tx, sync, before, scan, token, right, incident, at)
        self.rows.append(row)
        self.audited.append(audited(sync.caller, row))
        _tell(self._tx, sync.caller, row, incident)
        return row


def _row(
    tx: Tx,
    sync: Sync,
    lease: Lease,
    scan: LetIn,
    token: Token | None,
    right: Entitlement | None,
    incident: Incident | None,
    at: datetime,
) -> Checkin:
    admitted = right is not None and incident not in STAYS_OUT
    session = right.session_id if right and incident is not Incident.NOT_ON_LIST else None
    return Checkin(
        id=uuid7(),
        entitlement_id=right.id.uuid if right else None,
        event_id=lease.event_id,
        session_id=lease.session_id or session,
        source_type=right.source.type if right else None,
        action="ENTRY",
        admitted=admitted,
        reason_code=incident,
        entry=right.entered if right and admitted else None,
        method=Way.QR,
        gate=lease.gate,
        device=lease.device,
        scanner_id=sync.caller.actor.uuid if sync.caller.actor else None,
        at=at,
        recorded_at=tx.now,
        policy_version=right.policy_version if right else None,
        epoch=token.epoch if token else None,
        refers_to=None,
        lease_id=lease.id.uuid,
        scan_key=scan.key,
        correlation_id=sync.caller.correlation_id,
    )


def _tell(tx: Tx, caller: Caller, row: Checkin, incident: Incident | None) -> None:
    if row.admitted:
        tx.publish(caller, of_checkin(CheckinConsumed, row, entry=row.entry))
    if incident is not None:
        tx.publish(caller, of_checkin(CheckinIncident, row))


def _recorded(key: str, known: Known, *, replayed: bool) -> Recorded:
    incident = Incident(known.reason_code) if known.reason_code else None
    return Recorded(key, CheckinId(known.id), known.admitted, incident, replayed)
