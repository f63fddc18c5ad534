"""Entitlements and what happens at doors: what they are made of."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.entitlements.kinds import Audience
from admitone.finance.sources.api import PaymentId, Source
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import Id, IdentityId, OrganizationId
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle


class EntitlementId(Id, prefix="ent"):
    """One right of one person."""


class CheckinId(Id, prefix="chk"):
    """One thing that happened at a door."""


class LeaseId(Id, prefix="lse"):
    """What one device may do without asking."""


class Status(StrEnum):
    """Used is none of them (ENT-002)."""

    PENDING = "PENDING"
    """A place is kept: no code, no access."""
    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    """Until a dispute, a refund or an investigation is decided."""
    EXPIRED = "EXPIRED"
    REVOKED = "REVOKED"
    """For good."""


ENTITLEMENT: Final = Lifecycle(
    "entitlement",
    initial=Status.PENDING,
    moves={
        Status.PENDING: (Status.ACTIVE, Status.SUSPENDED, Status.REVOKED, Status.EXPIRED),
        Status.ACTIVE: (Status.SUSPENDED, Status.REVOKED, Status.EXPIRED),
        Status.SUSPENDED: (Status.ACTIVE, Status.REVOKED, Status.EXPIRED),
        # What is decided after its time is still decided: money that went back takes the right with it. What is put
        # off comes back as it was.
        Status.EXPIRED: (Status.REVOKED, Status.PENDING, Status.ACTIVE, Status.SUSPENDED),
    },
)


class Hold(StrEnum):
    """Why a right is suspended, or will be when it is given or comes back."""

    DISPUTE = "DISPUTE"
    INVESTIGATION = "INVESTIGATION"
    FRAUD = "FRAUD"


class Revocation(StrEnum):
    """Why a right is gone."""

    REFUND = "REFUND"
    CHARGEBACK = "CHARGEBACK"
    CANCELLATION = "CANCELLATION"
    ADMIN = "ADMIN"
    VIOLATION = "VIOLATION"


class Method(StrEnum):
    """By what a policy lets people in (ENT-012)."""

    QR_TICKET = "QR_TICKET"
    QR_REGISTRATION = "QR_REGISTRATION"
    QR_BOOKING = "QR_BOOKING"
    MANUAL = "MANUAL"


QR_METHODS: Final = frozenset({Method.QR_TICKET, Method.QR_REGISTRATION, Method.QR_BOOKING})


class Way(StrEnum):
    """By what somebody was let in (ENT-003)."""

    QR = "QR"
    MANUAL = "MANUAL"


class CheckinPolicy(msgspec.Struct, frozen=True):
    """How people are let in: the block `checkin` of an access policy, copied to each entitlement when it is granted."""

    methods: tuple[Method, ...] = (Method.QR_TICKET,)
    allow_reentry: bool = False
    reentry_minutes: int = 15
    max_entries: int = 1
    undo_minutes: int = 10

    @property
    def entries(self) -> int:
        """How often one right lets in; re-entry without a second entry is none (CF-60)."""
        return self.max_entries if self.allow_reentry else 1

    @property
    def warns(self) -> bool:
        return self.allow_reentry and self.max_entries == 1


class Entitlement(msgspec.Struct, frozen=True):
    organization: OrganizationId
    id: EntitlementId
    emission_key: str
    source: Source
    line_key: str
    piece: int | None
    payment_id: PaymentId | None
    event_id: str | None
    session_id: str | None
    label: str
    owner: IdentityId
    kind: str
    offline_allowed: bool
    status: Status
    held_for: frozenset[Hold]
    revoked_for: Revocation | None
    valid_from: datetime
    valid_until: datetime
    policy_version: int | None
    methods: frozenset[Method]
    max_entries: int
    reentry_minutes: int
    undo_minutes: int
    entries: int
    entered: int
    duplicates: int
    consumed_at: datetime | None
    last_entry_at: datetime | None
    epoch: int
    coded_until: datetime | None
    version: int
    created_at: datetime
    changed_at: datetime


class Grant(msgspec.Struct, frozen=True):
    """Give somebody a right. Whoever grants twice under one key grants once."""

    caller: Caller
    emission_key: str
    source: Source
    line_key: str
    owner: IdentityId
    kind: str
    label: str
    valid_from: datetime
    valid_until: datetime
    policy: CheckinPolicy = CheckinPolicy()
    policy_version: int | None = None
    event_id: str | None = None
    session_id: str | None = None
    payment: PaymentId | None = None
    piece: int | None = None
    """Which piece of the line it is a part of, such as one day of a pass: all of a piece go back together. Left out, it
    is one by itself."""
    pending: bool = False
    """A place is kept until `activate`."""


class TokenState(StrEnum):
    """Of a code, not of the right that it shows (U-53)."""

    LIVE = "LIVE"
    EXPIRED = "EXPIRED"
    REVOKED = "REVOKED"
    REDEEMED = "REDEEMED"


class Token(msgspec.Struct, frozen=True):
    """A code as it is kept."""

    digest: bytes
    entitlement: EntitlementId
    epoch: int
    key_version: int
    valid_from: datetime
    valid_until: datetime
    revoked_at: datetime | None = None
    redeemed_at: datetime | None = None

    def state(self, now: datetime) -> TokenState:
        """What was used was used, whatever came after (U-54)."""
        if self.redeemed_at is not None:
            return TokenState.REDEEMED
        if self.revoked_at is not None:
            return TokenState.REVOKED
        return TokenState.LIVE if self.valid_from <= now < self.valid_until else TokenState.EXPIRED


class Change(StrEnum):
    GRANTED = "GRANTED"
    ACTIVATED = "ACTIVATED"
    SUSPENDED = "SUSPENDED"
    RELEASED = "RELEASED"
    REVOKED = "REVOKED"
    EXPIRED = "EXPIRED"
    TRANSFERRED = "TRANSFERRED"
    CLAIMED = "CLAIMED"
    RESCHEDULED = "RESCHEDULED"
    RELAXED = "RELAXED"
    CODES_REVOKED = "CODES_REVOKED"


class Changed(msgspec.Struct, frozen=True):
    """One line of a right's trail."""

    entitlement_id: UUID
    number: int
    kind: Change
    from_status: Status | None
    to_status: Status
    reason: str | None
    identity_id: UUID
    at: datetime
    actor_id: UUID | None
    cause_id: UUID | None
    correlation_id: UUID


class Reason(StrEnum):
    """Why a door stays shut. What a stranger's code gets and what a code gets that never was is the same (ENT-026)."""

    INVALID_TOKEN = "INVALID_TOKEN"  # noqa: S105
    TOKEN_EXPIRED = "TOKEN_EXPIRED"  # noqa: S105
    WRONG_EVENT = "WRONG_EVENT"
    WRONG_SESSION = "WRONG_SESSION"
    ENTITLEMENT_NOT_ACTIVE = "ENTITLEMENT_NOT_ACTIVE"
    NOT_YET_VALID = "NOT_YET_VALID"
    NO_LONGER_VALID = "NO_LONGER_VALID"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    ALREADY_CONSUMED = "ALREADY_CONSUMED"
    REENTRY_WINDOW_PASSED = "REENTRY_WINDOW_PASSED"
    MAX_ENTRIES_REACHED = "MAX_ENTRIES_REACHED"


DUPLICATES: Final = frozenset({Reason.ALREADY_CONSUMED, Reason.REENTRY_WINDOW_PASSED, Reason.MAX_ENTRIES_REACHED})
"""Somebody came in on it before."""


class Place(msgspec.Struct, frozen=True):
    """Which door it is. What belongs to no event, such as a booking, is let in where none is named."""

    event_id: str
    session_id: str | None = None
    gate: str = ""
    device: str = ""
    audience: Audience = Audience.DOOR
    """Who asks: a door is not shown what a shop owes, and a shop not what opens a door."""

    @property
    def scanner(self) -> tuple[str, str]:
        """Who is watched, and closed: one device at one event."""
        return (self.event_id, self.device)


class Scan(msgspec.Struct, frozen=True):
    """Somebody shows a code, or says who they are and staff let them in by hand."""

    caller: Caller
    place: Place
    digest: bytes | None = None
    entitlement: EntitlementId | None = None
    paused: Refusal | None = None
    """Why the device may not ask now: only what was answered before is answered."""
    key: str | None = None
    """Under which the device asks: should it not hear the answer, it lets in by its list under the same."""

    @property
    def way(self) -> Way:
        return Way.QR if self.digest is not None else Way.MANUAL


class Duplicate(msgspec.Struct, frozen=True):
    of_consumed_at: datetime
    count: int
    gate: str | None = None


class Verdict(msgspec.Struct, frozen=True):
    """What the door is told."""

    allow: bool
    checkin: CheckinId
    at: datetime
    reason: Reason | None = None
    entitlement: EntitlementId | None = None
    label: str | None = None
    policy_version: int | None = None
    entry: int | None = None
    duplicate: Duplicate | None = None


CHECKIN_DUPLICATE: Final = "CHECKIN_DUPLICATE"
"""As the log calls a second scan (CF-11)."""


class Checkin(msgspec.Struct, frozen=True):
    """One row of the log of doors."""

    id: UUID
    entitlement_id: UUID | None
    event_id: str | None
    session_id: str | None
    source_type: str | None
    action: str
    admitted: bool
    reason_code: str | None
    entry: int | None
    method: Way
    gate: str
    device: str
    scanner_id: UUID | None
    at: datetime
    recorded_at: datetime
    policy_version: int | None
    epoch: int | None
    refers_to: UUID | None
    lease_id: UUID | None
    scan_key: str | None
    correlation_id: UUID

    @property
    def counted_as(self) -> str:
        """Under which count of its minute."""
        if self.action == "UNDO":
            return "undone"
        if self.admitted:
            return "admitted"
        return "duplicate" if self.reason_code == CHECKIN_DUPLICATE else "denied"


class Tally(msgspec.Struct, frozen=True):
    """What one device saw in one minute."""

    event_id: str
    device: str
    minute: datetime
    gate: str
    session_id: str
    admitted: int = 0
    undone: int = 0
    duplicate: int = 0
    denied: int = 0


LIST_LIFE: Final = timedelta(hours=2)
"""How long a list of codes may be used at all (ENT-030)."""
UNSYNCED_LIFE: Final = timedelta(minutes=30)
"""How long without having been in touch."""


class Lease(msgspec.Struct, frozen=True):
    id: LeaseId
    device: str
    event_id: str
    session_id: str | None
    gate: str
    issued_by: IdentityId | None
    issued_at: datetime
    expires_at: datetime
    synced_at: datetime
    entries_allowed: int
    entries_used: int
    revoked_at: datetime | None = None

    @property
    def place(self) -> Place:
        return Place(self.event_id, self.session_id, self.gate, self.device)

    @property
    def good_until(self) -> datetime:
        """Unless its device is in touch before."""
        return min(self.expires_at, self.synced_at + UNSYNCED_LIFE)


class Listed(msgspec.Struct, frozen=True):
    """One right on the list of a device, with the codes that show it: the present one and the next. One that was used
    is there too: none is left of it, and a door says since when."""

    id: EntitlementId
    label: str
    session_id: str | None
    valid_from: datetime
    valid_until: datetime
    entries_left: int
    reentry_minutes: int
    last_entry_at: datetime | None
    last_gate: str | None
    digests: tuple[bytes, ...]


class Incident(StrEnum):
    """Why an entry that a device let in by itself is not as it should be (ENT-031)."""

    DUPLICATE = "CHECKIN_DUPLICATE"
    """Somebody had come in on it before."""
    NOT_ON_LIST = "NOT_ON_LIST"
    NOT_ACTIVE = "NOT_ACTIVE_THEN"
    """The right, or the code that was shown, had been taken back."""
    NOT_VALID = "NOT_VALID_THEN"
    """Before or after its time, or by a code that was over."""
    OFFLINE_NOT_ALLOWED = "OFFLINE_NOT_ALLOWED"
    OUT_OF_LEASE = "OUT_OF_LEASE"
    OVER_LEASE = "OVER_LEASE"
    CLOCK_AHEAD = "CLOCK_AHEAD"
    LEASE_REVOKED = "LEASE_REVOKED"


STAYS_OUT: Final = frozenset(
    {Incident.DUPLICATE, Incident.NOT_ON_LIST, Incident.NOT_ACTIVE, Incident.OFFLINE_NOT_ALLOWED}
)
"""No right was used by it. With the others somebody used their own, past what the device was allowed."""


def codes_of(tokens: Sequence[Token], now: datetime) -> list[Token]:
    """Those that are good now, or will be."""
    return [each for each in tokens if each.revoked_at is None and each.redeemed_at is None and each.valid_until > now]
