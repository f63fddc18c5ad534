"""What became of rights and what happened at doors, for verticals, wallets and whoever watches."""

from typing import Any, ClassVar, Final

from admitone.entitlements.model import Change, Checkin, CheckinId, Entitlement, EntitlementId
from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact
from admitone.kernel.ids import IdentityId


class EntitlementFact(Fact, frozen=True):
    """What all of them tell: which right, of whom, from where, and where it stands."""

    name = "entitlement.changed"
    version = "1.0.0"
    subject = ("ENTITLEMENT", "entitlement_id")
    change: ClassVar[Change]

    entitlement_id: EntitlementId
    entitlement_version: int
    source_type: str
    source_id: str
    line_key: str
    event_id: str | None
    session_id: str | None
    owner_id: IdentityId
    status: str
    reason: str | None


class EntitlementGranted(EntitlementFact, frozen=True):
    name = "entitlement.granted"
    change = Change.GRANTED


class EntitlementActivated(EntitlementFact, frozen=True):
    name = "entitlement.activated"
    change = Change.ACTIVATED


class EntitlementSuspended(EntitlementFact, frozen=True):
    name = "entitlement.suspended"
    change = Change.SUSPENDED


class EntitlementReleased(EntitlementFact, frozen=True):
    """What it was suspended for is over."""

    name = "entitlement.released"
    change = Change.RELEASED


class EntitlementRevoked(EntitlementFact, frozen=True):
    name = "entitlement.revoked"
    change = Change.REVOKED


class EntitlementExpired(EntitlementFact, frozen=True):
    name = "entitlement.expired"
    change = Change.EXPIRED


class EntitlementTransferred(EntitlementFact, frozen=True):
    """It is somebody else's now."""

    name = "entitlement.transferred"
    change = Change.TRANSFERRED


class EntitlementClaimed(EntitlementFact, frozen=True):
    """It was a guest's, and is the user's who the guest was."""

    name = "entitlement.claimed"
    change = Change.CLAIMED


class EntitlementRescheduled(EntitlementFact, frozen=True):
    name = "entitlement.rescheduled"
    change = Change.RESCHEDULED


class EntitlementRelaxed(EntitlementFact, frozen=True):
    """It lets in by more ways, more often or for longer than when it was granted."""

    name = "entitlement.relaxed"
    change = Change.RELAXED


class EntitlementCodesRevoked(EntitlementFact, frozen=True):
    """Whoever had a picture of its code has nothing."""

    name = "entitlement.codes_revoked"
    change = Change.CODES_REVOKED


BY_CHANGE: Final[dict[Change, type[EntitlementFact]]] = {kind.change: kind for kind in EntitlementFact.__subclasses__()}


def told_of(change: Change, entitlement: Entitlement, reason: str | None) -> EntitlementFact:
    return BY_CHANGE[change](
        entitlement_id=entitlement.id,
        entitlement_version=entitlement.version,
        source_type=entitlement.source.type,
        source_id=entitlement.source.id,
        line_key=entitlement.line_key,
        event_id=entitlement.event_id,
        session_id=entitlement.session_id,
        owner_id=entitlement.owner,
        status=entitlement.status,
        reason=reason,
    )


class CheckinFact(Fact, frozen=True):
    """What happened at a door."""

    name = "checkin.changed"
    version = "1.0.0"
    subject = ("CHECKIN", "checkin_id")

    checkin_id: CheckinId
    entitlement_id: EntitlementId | None
    event_id: str | None
    session_id: str | None
    gate: str
    device: str
    method: str
    reason_code: str | None


class CheckinConsumed(CheckinFact, frozen=True):
    """Somebody came in."""

    name = "checkin.consumed"

    entry: int


class CheckinDenied(CheckinFact, frozen=True):
    name = "checkin.denied"


class CheckinDuplicate(CheckinFact, frozen=True):
    """Somebody had come in on it before; `CHECKIN_DUPLICATE` is the word of the log (CF-11)."""

    name = "checkin.duplicate"

    count: int


class CheckinUndone(CheckinFact, frozen=True):
    name = "checkin.undo"

    undoes: CheckinId


class CheckinIncident(CheckinFact, frozen=True):
    """A device without a network let somebody in whom it would have refused, had it known."""

    name = "checkin.incident"


class CheckinAnomaly(Fact, frozen=True):
    """One scanner was shown too much that was refused (SAF-016)."""

    name = "risk.checkin_anomaly"
    version = "1.0.0"
    subject = ("EVENT", "event_id")

    event_id: str
    device: str
    scans: int
    refused: int
    reason_code: str
    closes_scanner: bool


def of_checkin(kind: type[CheckinFact], row: Checkin, **more: Any) -> CheckinFact:
    return kind(
        checkin_id=CheckinId(row.id),
        entitlement_id=EntitlementId(row.entitlement_id) if row.entitlement_id else None,
        event_id=row.event_id,
        session_id=row.session_id,
        gate=row.gate,
        device=row.device,
        method=row.method,
        reason_code=row.reason_code,
        **more,
    )


class ScannerOpened(Fact, frozen=True):
    """One that had been closed scans again: somebody answers for it."""

    name = "checkin.scanner_opened"
    version = "1.0.0"
    subject = ("EVENT", "event_id")

    event_id: str
    device: str
    reason_code: str


class RightsStrayed(Fact, frozen=True):
    """Rights did not stand where their payment says, and were put right (ENT-007)."""

    name = "entitlement.strayed"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    entitlements: tuple[EntitlementId, ...]


FACTS: Final[tuple[type[Fact], ...]] = (
    *BY_CHANGE.values(),
    CheckinConsumed,
    CheckinDenied,
    CheckinDuplicate,
    CheckinUndone,
    CheckinIncident,
    CheckinAnomaly,
    ScannerOpened,
    RightsStrayed,
)
