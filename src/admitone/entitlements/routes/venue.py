"""Doors without a network: a lease, its list of codes, and what was let in by it.

Promise: staff see beforehand how many could at worst come in twice (ENT-030): the sum of what all devices may still let
in without asking. The list holds digests, and nobody gets back from one to a code.
"""

from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta

from admitone.entitlements.commands.leasing import (
    LeaseRevoking,
    LeaseWanted,
    LetIn,
    Recorded,
    Sync,
    lease,
    revoke_leases,
    synchronise,
)
from admitone.entitlements.errors import LeaseNotFound, LeaseOver, NoDevice, ScannerClosed
from admitone.entitlements.model import (
    CheckinId,
    EntitlementId,
    Incident,
    Lease,
    LeaseId,
    Listed,
    Place,
)
from admitone.entitlements.routes.doors import CHECKIN_R, DoorId, Gate, contract, marks_of
from admitone.entitlements.store import leases as store
from admitone.entitlements.store.scanners import find_closed
from admitone.kernel import streaks
from admitone.kernel.contracts import Call, Count, Example, IdempotencyKey, Instant, ReasonCode, Wire
from admitone.kernel.db import Tx
from admitone.kernel.streaks import StepUpRequired

MOST_CODES: Final = 1_000
"""At once: about 270 kB, and less than half of that packed, so that a slow telephone gets page after page."""
MOST_LET_IN: Final = 500
MOST_LEASES: Final = 1_000
FIRST: Final = UUID(int=0)
SOME_LEASE: Final = LeaseId.parse("lse_0198c9a40000700080000000000000c4")

Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}$(?!\n)", max_length=32, description="SHA-256, its first half.")]
Entries = Annotated[int, Meta(ge=1, le=10_000)]
ScanKey = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$(?!\n)")]


class ExposureAnswer(Wire):
    """What can at worst go wrong: so many could come in on a right that was used before."""

    devices: Count
    entries_allowed: Count
    entries_used: Count
    at_most_twice: Count

    @classmethod
    def of(cls, leases: list[Lease]) -> "ExposureAnswer":
        live = [each for each in leases if each.revoked_at is None]
        return cls(
            devices=len(live),
            entries_allowed=sum(each.entries_allowed for each in live),
            entries_used=sum(each.entries_used for each in live),
            at_most_twice=sum(max(each.entries_allowed - each.entries_used, 0) for each in live),
        )


class LeaseAnswer(Wire):
    lease_id: LeaseId
    device_id: str
    event_id: str
    session_id: str | None
    gate: str
    issued_at: Instant
    expires_at: Instant
    offline_until: Instant
    """Unless it is in touch before."""
    entries_allowed: Count
    entries_used: Count
    revoked_at: Instant | None

    @classmethod
    def of(cls, own: Lease) -> "LeaseAnswer":
        return cls(
            lease_id=own.id,
            device_id=own.device,
            event_id=own.event_id,
            session_id=own.session_id,
            gate=own.gate,
            issued_at=own.issued_at,
            expires_at=own.expires_at,
            offline_until=own.good_until,
            entries_allowed=own.entries_allowed,
            entries_used=own.entries_used,
            revoked_at=own.revoked_at,
        )


# -- What could go wrong


class ExposureRequest(Wire):
    event_id: DoorId


class ExposuresAnswer(Wire):
    exposure: ExposureAnswer
    leases: list[LeaseAnswer]


show_exposure = contract(
    "C03.VENUE.EXPOSURE",
    "Show which devices may let in without asking, and what could at worst go wrong.",
    get="/api/org/{organizationId}/checkin/events/{eventId}/leases",
    permission=CHECKIN_R,
    takes=ExposureRequest,
    gives=ExposuresAnswer,
    order_key="none",
    examples=(
        Example(
            "Everybody asks",
            takes=ExposureRequest(event_id="evt-1"),
            gives=ExposuresAnswer(exposure=ExposureAnswer.of([]), leases=[]),
        ),
    ),
)


@show_exposure.serves
async def exposure(call: Call, request: ExposureRequest) -> ExposuresAnswer:
    leases = await call.read(store.list_leases, request.event_id, MOST_LEASES)
    return ExposuresAnswer(exposure=ExposureAnswer.of(leases), leases=[LeaseAnswer.of(each) for each in leases])


# -- A lease


class LeaseRequest(Wire):
    event_id: DoorId
    entries_allowed: Entries
    idempotency_key: IdempotencyKey
    session_id: DoorId | None = None
    gate: Gate = ""


class NewLeaseAnswer(Wire):
    lease: LeaseAnswer
    exposure: ExposureAnswer


give_lease = contract(
    "C03.VENUE.LEASE",
    "Let this device let in so many without asking, by a list; what it had before for the event is over.",
    post="/api/org/{organizationId}/checkin/events/{eventId}/leases",
    takes=LeaseRequest,
    gives=NewLeaseAnswer,
    refuses=(NoDevice, ScannerClosed, StepUpRequired),
    idempotent_by="idempotencyKey",
    order_key="deviceId",
    examples=(
        Example(
            "Nobody knows which device it is",
            takes=LeaseRequest(event_id="evt-1", entries_allowed=200, idempotency_key="lease-1"),
            refuses=NoDevice(),
        ),
    ),
)


@give_lease.serves
async def new_lease(call: Call, request: LeaseRequest) -> NewLeaseAnswer:
    place = Place(request.event_id, request.session_id, request.gate, _device(call))
    # Whoever may not ask now does not go on without asking.
    await call.batch(streaks.check, marks_of(call, place), scope=streaks.SCOPE)
    given = await call.batch(lease, LeaseWanted(call.caller, place, request.entries_allowed))
    leases = await call.read(store.list_leases, request.event_id, MOST_LEASES)
    return NewLeaseAnswer(lease=LeaseAnswer.of(given), exposure=ExposureAnswer.of(leases))


def _device(call: Call) -> str:
    if not call.caller.device:
        raise NoDevice
    return call.caller.device


# -- Its list


class CodesRequest(Wire):
    lease_id: LeaseId
    after: EntitlementId | None = None


class CodesOfRight(Wire):
    entitlement_id: EntitlementId
    label: str
    session_id: str | None
    valid_from: Instant
    valid_until: Instant
    entries_left: Count
    reentry_minutes: Count
    last_entry_at: Instant | None
    digests: list[str]
    last_gate: str | None = None
    """Where it was used last."""

    @classmethod
    def of(cls, listed: Listed) -> "CodesOfRight":
        return cls(
            entitlement_id=listed.id,
            label=listed.label,
            session_id=listed.session_id,
            valid_from=listed.valid_from,
            valid_until=listed.valid_until,
            entries_left=listed.entries_left,
            reentry_minutes=listed.reentry_minutes,
            last_entry_at=listed.last_entry_at,
            digests=[each.hex() for each in listed.digests],
            last_gate=listed.last_gate or None,
        )


class CodesAnswer(Wire):
    rights: list[CodesOfRight]
    after: EntitlementId | None
    """Where the next page begins; none: this was the last."""


list_codes = contract(
    "C03.VENUE.LIST",
    "The codes that a device may let in by while its lease lasts, as digests.",
    get="/api/org/{organizationId}/checkin/leases/{leaseId}/codes",
    takes=CodesRequest,
    gives=CodesAnswer,
    refuses=(LeaseNotFound, LeaseOver, NoDevice, ScannerClosed),
    order_key="none",
    packs=True,
    examples=(Example("Of another device", takes=CodesRequest(lease_id=SOME_LEASE), refuses=LeaseNotFound()),),
)


@list_codes.serves
async def codes(call: Call, request: CodesRequest) -> CodesAnswer:
    device = _device(call)

    async def page(tx: Tx) -> list[Listed]:
        own = await store.find_lease(tx, request.lease_id)
        if own is None or own.device != device:
            raise LeaseNotFound
        if own.revoked_at is not None or tx.now > own.good_until:
            raise LeaseOver
        if await find_closed(tx, {own.place.scanner}):
            raise ScannerClosed
        after = request.after.uuid if request.after else FIRST
        return await store.list_codes(tx, own.place, after, MOST_CODES)

    listed = await call.read(page)
    is_last = len(listed) < MOST_CODES
    return CodesAnswer(rights=[CodesOfRight.of(each) for each in listed], after=None if is_last else listed[-1].id)


# -- Back again


class LetInRequest(Wire):
    key: ScanKey
    digest: Digest
    at: Instant


class SyncRequest(Wire):
    lease_id: LeaseId
    let_in: Annotated[tuple[LetInRequest, ...], Meta(max_length=MOST_LET_IN)]


class RecordedAnswer(Wire):
    key: str
    checkin_id: CheckinId
    admitted: bool
    incident: Incident | None
    replayed: bool

    @classmethod
    def of(cls, recorded: Recorded) -> "RecordedAnswer":
        return cls(
            key=recorded.key,
            checkin_id=recorded.checkin,
            admitted=recorded.admitted,
            incident=recorded.incident,
            replayed=recorded.replayed,
        )


class SyncAnswer(Wire):
    lease: LeaseAnswer
    recorded: list[RecordedAnswer]


sync = contract(
    "C03.VENUE.SYNC",
    "Record whom a device let in by its list. What is sent twice is recorded once.",
    post="/api/org/{organizationId}/checkin/leases/{leaseId}/sync",
    takes=SyncRequest,
    gives=SyncAnswer,
    refuses=(LeaseNotFound, NoDevice),
    repeats="each entry has its device's own key, and is recorded once",
    order_key="leaseId",
    max_body_bytes=200_000,
    examples=(Example("Nobody came", takes=SyncRequest(lease_id=SOME_LEASE, let_in=()), refuses=LeaseNotFound()),),
)


@sync.serves
async def record(call: Call, request: SyncRequest) -> SyncAnswer:
    let_in = tuple(LetIn(each.key, bytes.fromhex(each.digest), each.at) for each in request.let_in)
    synced = await call.batch(synchronise, Sync(call.caller, request.lease_id, _device(call), let_in))
    return SyncAnswer(
        lease=LeaseAnswer.of(synced.lease), recorded=[RecordedAnswer.of(each) for each in synced.recorded]
    )


# -- Taking it back


class RevokeRequest(Wire):
    lease_id: LeaseId
    reason_code: ReasonCode


revoke = contract(
    "C03.VENUE.REVOKE",
    "Take a lease back: what the device lets in after that is an incident.",
    post="/api/org/{organizationId}/checkin/leases/{leaseId}/revoke",
    takes=RevokeRequest,
    gives=LeaseAnswer,
    refuses=(LeaseNotFound,),
    repeats="what was taken back is taken back",
    order_key="leaseId",
    examples=(
        Example(
            "A device was lost",
            takes=RevokeRequest(lease_id=SOME_LEASE, reason_code="DEVICE_LOST"),
            refuses=LeaseNotFound(),
        ),
    ),
)


@revoke.serves
async def take_back(call: Call, request: RevokeRequest) -> LeaseAnswer:
    return LeaseAnswer.of(
        await call.batch(revoke_leases, LeaseRevoking(call.caller, request.lease_id, request.reason_code))
    )


CONTRACTS: Final = (show_exposure, give_lease, list_codes, sync, revoke)
