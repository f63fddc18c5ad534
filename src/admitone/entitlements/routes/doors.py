"""Doors: a code is shown, somebody is let in by hand, an entry is taken back.

Promise: who scans too fast, or is refused too often, pauses and proves who they are (ENT-034). Who repeats a scan under
its key is answered as before, also while the device pauses or is closed, and it counts as no scan (ENT-022); that
somebody asked again counts as any request does. A device is the one whose key it is, else what it says it is, else the
person who holds it.
"""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from admitone.entitlements.codes import LONGEST, digest_of
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.undoing import Undo, undo
from admitone.entitlements.errors import CheckinNotFound, ScannerClosed, UndoRefused
from admitone.entitlements.kinds import TICKET
from admitone.entitlements.model import CheckinId, EntitlementId, Place, Reason, Scan, Verdict
from admitone.kernel import figures, streaks
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Count,
    Example,
    IdempotencyKey,
    Instant,
    ReasonCode,
    Wire,
)
from admitone.kernel.errors import Throttled
from admitone.kernel.ids import OrganizationId
from admitone.kernel.limits import Hit, by_device
from admitone.kernel.streaks import Mark, Outcome, Result, StepUpRequired

CHECKIN_R: Final = "CHECKIN_R"
CHECKIN_RW: Final = "CHECKIN_RW"
PERMISSIONS: Final = (CHECKIN_R, CHECKIN_RW)

QrPayload = Annotated[str, Meta(min_length=1, max_length=LONGEST, description="What the camera read.")]
DoorId = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$(?!\n)")]
Gate = Annotated[str, Meta(max_length=64, pattern=r"^[^\x00-\x1f]*$(?!\n)")]
Device = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^(?!key_)[A-Za-z0-9._:-]+$(?!\n)")]
"""As a device calls itself. What begins with key_ proved which one it is; nobody else may call itself so."""
Scanner = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._:-]+$(?!\n)")]
"""As others call it."""

SOME_ENTITLEMENT: Final = EntitlementId.parse("ent_0198c9a40000700080000000000000c1")
SOME_CHECKIN: Final = CheckinId.parse("chk_0198c9a40000700080000000000000c2")


class ConsumeRequest(Wire):
    qr_payload: QrPayload
    event_id: DoorId
    idempotency_key: IdempotencyKey
    session_id: DoorId | None = None
    gate: Gate = ""
    scanner_identity_ref: DoorId | None = None
    """Who scans; it is the caller in any case."""
    device_id: Device | None = None
    """A device that signed in with a key of its own is that one, whatever stands here."""


class DuplicateAnswer(Wire):
    duplicate_of_consumed_at: Instant
    duplicate_count: Count
    gate: str | None


class VerdictAnswer(Wire):
    allow: bool
    checkin_id: CheckinId
    reason_code: Reason | None
    entitlement_id: EntitlementId | None
    label: str | None
    consumed_at: Instant | None
    entry: Count | None
    policy_version_applied: Count | None
    duplicate: DuplicateAnswer | None
    correlation_id: str

    @classmethod
    def of(cls, verdict: Verdict, call: Call) -> "VerdictAnswer":
        again = verdict.duplicate
        return cls(
            allow=verdict.allow,
            checkin_id=verdict.checkin,
            reason_code=verdict.reason,
            entitlement_id=verdict.entitlement,
            label=verdict.label,
            consumed_at=verdict.at if verdict.allow else None,
            entry=verdict.entry,
            policy_version_applied=verdict.policy_version,
            duplicate=DuplicateAnswer(
                duplicate_of_consumed_at=again.of_consumed_at, duplicate_count=again.count, gate=again.gate
            )
            if again
            else None,
            correlation_id=str(call.correlation_id),
        )


NOBODY: Final = VerdictAnswer(
    allow=False,
    checkin_id=SOME_CHECKIN,
    reason_code=Reason.INVALID_TOKEN,
    entitlement_id=None,
    label=None,
    consumed_at=None,
    entry=None,
    policy_version_applied=None,
    duplicate=None,
    correlation_id="0198c9a4-0000-7000-8000-0000000000c3",
)


def contract(number: str, summary: str, **more: Any) -> Contract:
    usual: dict[str, Any] = {
        "version": "3.0.0",
        "owner": "entitlements",
        "consumers": ("web", "scanner"),
        "audience": Audience.ORGANIZATION,
        "permission": CHECKIN_RW,
    }
    return Contract(id=number, summary=summary, **(usual | more))


consume_code = contract(
    "C03",
    "Ask whether a code lets in here and now, and let in.",
    post="/api/internal/checkin/consume",
    consumers=("events", "reservations", "padel", "web", "scanner"),
    takes=ConsumeRequest,
    gives=VerdictAnswer,
    refuses=(ScannerClosed, StepUpRequired),
    limits=figures.SCANS_PER_DEVICE,
    device=lambda request: request.device_id,
    idempotent_by="idempotencyKey",
    order_key="entitlementId",
    examples=(
        Example(
            "A code that never was",
            takes=ConsumeRequest(qr_payload="A1:AAAA", event_id="evt-1", idempotency_key="scan-1"),
            gives=NOBODY,
        ),
    ),
)


@consume_code.serves
async def scan(call: Call, request: ConsumeRequest) -> VerdictAnswer:
    place = Place(request.event_id, request.session_id, request.gate, await _device(call))
    shown = Scan(call.caller, place, digest=digest_of(request.qr_payload), key=request.idempotency_key)
    return VerdictAnswer.of(await _ask(call, shown), call)


class ManualRequest(Wire):
    entitlement_id: EntitlementId
    idempotency_key: IdempotencyKey
    event_id: DoorId | None = None
    """Left out for what belongs to none: a booking is marked as done."""
    session_id: DoorId | None = None
    gate: Gate = ""
    device_id: Device | None = None


let_in = contract(
    "C03.MANUAL",
    "Let somebody in by hand whose right is on the list.",
    post="/api/org/{organizationId}/checkin/entitlements/{entitlementId}/consume",
    takes=ManualRequest,
    gives=VerdictAnswer,
    refuses=(ScannerClosed, StepUpRequired),
    limits=figures.SCANS_PER_DEVICE,
    device=lambda request: request.device_id,
    idempotent_by="idempotencyKey",
    order_key="entitlementId",
    examples=(
        Example(
            "Somebody without a telephone",
            takes=ManualRequest(entitlement_id=SOME_ENTITLEMENT, event_id="evt-1", idempotency_key="scan-2"),
            gives=NOBODY,
        ),
    ),
)


@let_in.serves
async def let_in_by_hand(call: Call, request: ManualRequest) -> VerdictAnswer:
    place = Place(request.event_id or "", request.session_id, request.gate, await _device(call))
    return VerdictAnswer.of(await _ask(call, Scan(call.caller, place, entitlement=request.entitlement_id)), call)


async def _device(call: Call) -> str:
    """Whoever names no device was counted by the edge with all others at the address; the person is counted here."""
    if call.caller.device:
        return call.caller.device
    device = str(call.identity)
    await call.count(*(Hit(limit, by_device(_organization(call), device)) for limit in figures.SCANS_PER_DEVICE))
    return device


def _organization(call: Call) -> OrganizationId:
    assert call.organization is not None
    return call.organization


async def _ask(call: Call, shown: Scan) -> Verdict:
    marks = marks_of(call, shown.place)
    try:
        await call.batch(streaks.check, marks, scope=streaks.SCOPE)
    except (StepUpRequired, Throttled) as paused:
        # Asked all the same: what was answered under this key is answered again, and nothing else is.
        shown = msgspec.structs.replace(shown, paused=paused)
    verdict = await call.batch(consume, shown)
    if not call.replayed:
        result = Result.SUCCEEDED if verdict.allow else Result.FAILED
        await call.batch(streaks.record, tuple(Outcome(mark, result) for mark in marks), scope=streaks.SCOPE)
    return verdict


def marks_of(call: Call, place: Place) -> tuple[Mark, ...]:
    """Whose refusals are counted: the device's, and the device's at this event."""
    device = by_device(_organization(call), place.device)
    in_a_row, at_event = TICKET.streaks
    return (Mark(in_a_row, device), Mark(at_event, f"{device}:{place.event_id}"))


# -- Staff prove who they are


class ConfirmRequest(Wire):
    device_id: Scanner
    event_id: DoorId
    reason_code: ReasonCode


confirm = contract(
    "C03.CONFIRM",
    "Confirm who holds a scanner that was refused too often; its pause ends by itself.",
    post="/api/org/{organizationId}/checkin/devices/{deviceId}/confirm",
    takes=ConfirmRequest,
    gives=None,
    step_up=True,
    repeats="what was confirmed is confirmed",
    order_key="deviceId",
    examples=(
        Example(
            "After ten refusals in a row",
            takes=ConfirmRequest(device_id="north-1", event_id="evt-1", reason_code="STAFF_PRESENT"),
        ),
    ),
)


@confirm.serves
async def confirm_scanner(call: Call, request: ConfirmRequest) -> None:
    marks = marks_of(call, Place(request.event_id, device=request.device_id))
    await call.batch(streaks.record, tuple(Outcome(mark, Result.PASSED) for mark in marks), scope=streaks.SCOPE)


# -- Taking back


class UndoRequest(Wire):
    checkin_id: CheckinId
    reason_code: ReasonCode
    idempotency_key: IdempotencyKey


class UndoAnswer(Wire):
    checkin_id: CheckinId
    undoes: CheckinId
    undone_at: Instant


take_back = contract(
    "C03.UNDO",
    "Take back the latest entry of a right.",
    post="/api/org/{organizationId}/checkin/{checkinId}/undo",
    takes=UndoRequest,
    gives=UndoAnswer,
    refuses=(CheckinNotFound, UndoRefused),
    idempotent_by="idempotencyKey",
    order_key="checkinId",
    examples=(
        Example(
            "The wrong person",
            takes=UndoRequest(checkin_id=SOME_CHECKIN, reason_code="WRONG_PERSON", idempotency_key="undo-1"),
            refuses=CheckinNotFound(),
        ),
    ),
)


@take_back.serves
async def undo_entry(call: Call, request: UndoRequest) -> UndoAnswer:
    asked = Undo(call.caller, request.checkin_id, request.reason_code, call.caller.device or str(call.identity))
    row = await call.batch(undo, asked)
    return UndoAnswer(checkin_id=CheckinId(row.id), undoes=request.checkin_id, undone_at=row.at)


CONTRACTS: Final = (consume_code, let_in, confirm, take_back)
