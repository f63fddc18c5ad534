"""What a case is, in which states it can be, and what is asked of this package."""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import Dispute as File
from admitone.finance.gateways.api import Provider
from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import Id, IdentityId, OrganizationId
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle


class DisputeId(Id, prefix="dsp"):
    """One case."""


class State(StrEnum):
    OPEN = "OPEN"
    """Somebody must answer."""
    EVIDENCE_SUBMITTED = "EVIDENCE_SUBMITTED"
    """The bank decides."""
    WON = "WON"
    LOST = "LOST"


S = State
DISPUTE: Final = Lifecycle(
    "dispute",
    initial=S.OPEN,
    moves={
        S.OPEN: (S.EVIDENCE_SUBMITTED, S.WON, S.LOST),
        S.EVIDENCE_SUBMITTED: (S.WON, S.LOST),
        S.WON: (S.LOST,),  # As payments have it: a loss that is told counts, whatever was told before.
    },
)
CLOSED: Final = frozenset({S.WON, S.LOST})


class StepKind(StrEnum):
    """What can happen to a case."""

    OPENED = "OPENED"
    FILE_READ = "FILE_READ"
    """The provider's file was read, and said something new."""
    TAKEN = "TAKEN"
    """Somebody made it theirs."""
    EVIDENCE_PUT = "EVIDENCE_PUT"
    SUBMISSION_ORDERED = "SUBMISSION_ORDERED"
    FILED = "FILED"
    """The provider has the draft."""
    SUBMITTED = "SUBMITTED"
    SUBMITTED_ELSEWHERE = "SUBMITTED_ELSEWHERE"
    """Somebody answered at the provider's own page."""
    REFUSED = "REFUSED"
    """The provider did not take it."""
    WON = "WON"
    LOST = "LOST"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the trail."""

    kind: StepKind
    caller: Caller
    reason_code: str | None = None
    evidence: int | None = None
    """Which evidence it is about."""
    detail: str | None = None
    """Names and words of providers; nothing of what was said."""

    @property
    def actor_id(self) -> IdentityId | None:
        return self.caller.actor

    @property
    def correlation_id(self) -> UUID:
        return self.caller.correlation_id


class TrailStep(msgspec.Struct, frozen=True):
    """A line of the trail, as it stands."""

    number: int
    kind: StepKind
    at: datetime
    actor: IdentityId | None
    reason_code: str | None
    evidence: int | None
    detail: str | None


Texts = tuple[tuple[str, str], ...]
"""By what they show, in the providers' words: `product_description`, `access_activity_log`, `refund_policy`…"""


class Case(msgspec.Struct, frozen=True):
    """A dispute as its row has it."""

    id: DisputeId
    organization: OrganizationId
    city_code: str
    payment: PaymentId
    provider: Provider
    reference: str
    state: State
    reason: str
    amount_minor: int
    currency: str
    fee_minor: int
    opened_at: datetime
    due_at: datetime | None
    told_at: datetime | None
    assignee: IdentityId | None
    evidence: int
    filed: int
    submission: int | None
    submitted_at: datetime | None
    closed_at: datetime | None
    version: int
    created_at: datetime
    changed_at: datetime

    @property
    def is_closed(self) -> bool:
        return self.state in CLOSED

    @property
    def is_being_submitted(self) -> bool:
        return self.submission is not None and self.submitted_at is None and not self.is_closed


class Evidence(msgspec.Struct, frozen=True):
    """What was said to a dispute."""

    id: UUID
    """The provider's idempotency key."""
    dispute: DisputeId
    number: int
    submits: bool
    texts: Texts


class Dossier(msgspec.Struct, frozen=True):
    """A case with its trail."""

    case: Case
    trail: tuple[TrailStep, ...]


# -- What is asked of us


class Statement(msgspec.Struct, frozen=True):
    """Somebody says something to a dispute."""

    caller: Caller
    dispute: DisputeId
    texts: Texts | None
    """Left out, what was put last."""
    submits: bool
    reason_code: str


class Taking(msgspec.Struct, frozen=True):
    """Somebody makes a case theirs."""

    caller: Caller
    dispute: DisputeId
    reason_code: str


class FileRead(msgspec.Struct, frozen=True):
    """What a provider has on file."""

    caller: Caller
    dispute: DisputeId
    file: File


class Filing(msgspec.Struct, frozen=True):
    """What a provider answered to evidence: its file, or its word for no."""

    caller: Caller
    dispute: DisputeId
    evidence: int
    submits: bool
    answer: File | str
