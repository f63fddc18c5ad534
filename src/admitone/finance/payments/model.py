"""What a payment is, in which states it can be, and what is asked of this package."""

import hashlib
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import (
    Account,
    FactKind,
    Method,
    PixCode,
    Provider,
    ProviderFact,
    Ref,
)
from admitone.finance.pricing.api import Priced, Snapshot
from admitone.finance.sources.api import SOURCE_TYPES, Flow, Manner, PaymentId, SettlementModel, Source
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle


class Status(StrEnum):
    """Where a payment stands. FIN-050's states are a projection of these (unification (c))."""

    CREATED = "CREATED"
    PENDING = "PENDING"
    REQUIRES_ACTION = "REQUIRES_ACTION"
    PROCESSING = "PROCESSING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"
    NEEDS_MANUAL = "NEEDS_MANUAL"
    PARTIAL_REFUND = "PARTIAL_REFUND"
    REFUNDED = "REFUNDED"
    DISPUTED = "DISPUTED"
    CHARGEBACK_WON = "CHARGEBACK_WON"
    CHARGEBACK_LOST = "CHARGEBACK_LOST"


S = Status
_WAITING: Final = (S.PENDING, S.REQUIRES_ACTION, S.PROCESSING)
_OUTCOMES: Final = (S.SUCCEEDED, S.FAILED, S.CANCELLED, S.EXPIRED, S.NEEDS_MANUAL)
_PROVES_CAPTURE: Final = (S.PARTIAL_REFUND, S.REFUNDED, S.DISPUTED)

PAYMENT: Final = Lifecycle(
    "payment",
    initial=S.CREATED,
    moves={
        S.CREATED: (*_WAITING, *_OUTCOMES, *_PROVES_CAPTURE),
        S.PENDING: (S.REQUIRES_ACTION, S.PROCESSING, *_OUTCOMES, *_PROVES_CAPTURE),
        S.REQUIRES_ACTION: (S.PENDING, S.PROCESSING, *_OUTCOMES, *_PROVES_CAPTURE),
        S.PROCESSING: (S.PENDING, S.REQUIRES_ACTION, *_OUTCOMES, *_PROVES_CAPTURE),
        S.FAILED: (*_WAITING, S.SUCCEEDED, S.CANCELLED, S.EXPIRED, S.NEEDS_MANUAL, *_PROVES_CAPTURE),
        S.CANCELLED: (S.NEEDS_MANUAL,),
        S.EXPIRED: (S.NEEDS_MANUAL,),
        S.NEEDS_MANUAL: (S.SUCCEEDED, S.REFUNDED, S.DISPUTED, S.CANCELLED),
        S.SUCCEEDED: _PROVES_CAPTURE,
        S.PARTIAL_REFUND: _PROVES_CAPTURE,  # Also itself: another part of it.
        S.DISPUTED: (S.CHARGEBACK_WON, S.CHARGEBACK_LOST, S.PARTIAL_REFUND, S.REFUNDED, S.NEEDS_MANUAL),
        S.CHARGEBACK_WON: _PROVES_CAPTURE,
    },
)

OPEN: Final = frozenset({S.CREATED, *_WAITING})
"""Somebody may still pay, and nobody else may begin to."""
CLOSABLE: Final = OPEN | {S.FAILED}
PAID: Final = frozenset({S.SUCCEEDED, S.PARTIAL_REFUND, S.CHARGEBACK_WON})
"""Paid, and not fully reversed: the one predicate (FIN-001)."""
FINAL: Final = frozenset(Status) - OPEN - {S.FAILED, S.NEEDS_MANUAL, S.DISPUTED}


def is_paid(status: Status) -> bool:
    return status in PAID


class RefundState(StrEnum):
    NONE = "NONE"
    PENDING = "PENDING"
    FAILED = "FAILED"


class Scenario(StrEnum):
    PAID = "PAID"
    FREE_CHECKOUT = "FREE_CHECKOUT"


class PaymentMethod(StrEnum):
    CARD = "CARD"
    PIX = "PIX"
    FREE = "FREE"


class Reason(StrEnum):
    """Why money paid for nothing."""

    LATE = "LATE"
    AMOUNT_MISMATCH = "AMOUNT_MISMATCH"
    CURRENCY_MISMATCH = "CURRENCY_MISMATCH"
    SOURCE_ALREADY_PAID = "SOURCE_ALREADY_PAID"
    SURPLUS = "SURPLUS"
    SECOND_CAPTURE = "SECOND_CAPTURE"


class ReceiptState(StrEnum):
    OPEN = "OPEN"
    RETURNING = "RETURNING"
    RETURNED = "RETURNED"
    APPLIED = "APPLIED"
    LOST = "LOST"


RECEIPT: Final = Lifecycle(
    "unapplied_receipt",
    initial=ReceiptState.OPEN,
    moves={
        ReceiptState.OPEN: (ReceiptState.RETURNING, ReceiptState.RETURNED, ReceiptState.APPLIED, ReceiptState.LOST),
        ReceiptState.RETURNING: (ReceiptState.OPEN, ReceiptState.RETURNED, ReceiptState.LOST),
        ReceiptState.RETURNED: (ReceiptState.OPEN,),  # Refunds come back.
    },
)


class IntentAction(StrEnum):
    OPEN = "OPEN"
    REFUND = "REFUND"


class IntentState(StrEnum):
    OPEN = "OPEN"
    DONE = "DONE"
    REFUSED = "REFUSED"


INTENT: Final = Lifecycle(
    "gateway_intent", initial=IntentState.OPEN, moves={IntentState.OPEN: (IntentState.DONE, IntentState.REFUSED)}
)


class Onboarding(StrEnum):
    PENDING = "PENDING"
    COMPLETE = "COMPLETE"
    RESTRICTED = "RESTRICTED"


class FeesStatus(StrEnum):
    PENDING = "PENDING"
    FINAL = "FINAL"


APPLIED: Final = "APPLIED"
"""Somebody here decided that the money pays for its source."""
COMMISSION_HELD: Final = "COMMISSION_HELD"
"""What was sold is confirmed, and so much of the money is the platform's, should nothing go back (U-07)."""
COMMISSION_KEPT: Final = "COMMISSION_KEPT"
"""So much of what is held does not go back with the money (U-06)."""
REFUND_BEGUN: Final = "REFUND_BEGUN"
"""We order that so much goes back: it is owed to the customer from now on (U-05)."""
REFUND_GIVEN_UP: Final = "REFUND_GIVEN_UP"
"""The provider refused it as often as it may: it is not owed any more, and somebody must look."""
TAX_WITHHELD: Final = "TAX_WITHHELD"
"""So much of what is held is owed to an authority, and not to the payee (U-08)."""
DUE: Final = "DUE"
"""What was held is owed from now on: `amount_minor` to the payee, `fee_minor` to the platform (U-07, U-15)."""
OURS: Final = frozenset({APPLIED, COMMISSION_HELD, COMMISSION_KEPT, REFUND_BEGUN, REFUND_GIVEN_UP, TAX_WITHHELD, DUE})
"""The kinds of facts that no provider tells."""


LONGEST_KEY: Final = 180
"""Of what the provider tells: ours, which name it, are longer."""
LONGEST_REFERENCE: Final = 200
LONGEST_CODE: Final = 100


class RecordedFact(msgspec.Struct, frozen=True):
    """A fact as it stands in the book."""

    kind: FactKind | str
    key: str
    at: datetime
    reference: str
    amount_minor: int = 0
    currency: str = ""
    total_minor: int = 0
    fee_minor: int = 0
    code: str = ""
    charge: str = ""
    order: str = ""
    ordinal: int = 0
    """The order in which we learnt it."""

    @classmethod
    def of(cls, fact: ProviderFact) -> "RecordedFact":
        """Cut to what is kept: a provider's words may be of any length."""
        given = msgspec.structs.asdict(fact)
        given |= {name: given[name][:LONGEST_REFERENCE] for name in ("reference", "charge", "order")}
        if len(fact.key) > LONGEST_KEY:
            given["key"] = f"{fact.kind.lower()}:{hashlib.sha256(fact.key.encode()).hexdigest()}"
        return cls(**(given | {"code": fact.code[:LONGEST_CODE]}))


class Payment(msgspec.Struct, frozen=True):
    """A payment as its row has it."""

    id: PaymentId
    organization: OrganizationId
    city_code: str
    identity: IdentityId
    payee: UUID
    source: Source
    flow: Flow
    settlement: SettlementModel
    scenario: Scenario
    method: PaymentMethod
    provider: Provider | None
    account: str | None
    livemode: bool
    amount_minor: int
    fee_minor: int
    currency: str
    fee_policy_version: str
    snapshot: str
    snapshot_hash: str
    subjects: tuple[str, ...]
    idempotency_key: str
    request_hash: bytes
    correlation_id: UUID
    status: Status
    refund_state: RefundState
    manual_reason: Reason | None
    applied: bool
    captured_minor: int
    refunded_minor: int
    failed_attempts: int
    processor_fees_status: FeesStatus
    processor_fees_actual: int | None
    charge_id: str | None
    version: int
    created_at: datetime
    changed_at: datetime
    expires_at: datetime
    unreadable_status: str | None = None
    """The provider's last word for its state, if it is none that we know: somebody must look (PAY-061)."""

    @property
    def manner(self) -> Manner:
        return SOURCE_TYPES[self.source.type]

    @property
    def price(self) -> Snapshot:
        """As it was priced, or `Tampered`."""
        return Priced.read(self.snapshot, self.snapshot_hash).snapshot


REMEMBERED: Final = timedelta(hours=1)
"""Every provider remembers our keys for much longer: a day, at the least."""


MOST_UNANSWERED: Final = 3
"""PAY-069."""
OVERDUE: Final = timedelta(minutes=30)


class GatewayIntent(msgspec.Struct, frozen=True):
    """What we ask a provider, and whether it has answered."""

    id: UUID
    payment: PaymentId
    action: IntentAction
    state: IntentState
    amount_minor: int
    currency: str
    description: str
    return_url: str | None = None
    reason: str | None = None
    answer: bytes | None = None
    created_at: datetime | None = None
    capture_key: str | None = None
    """Of a return or a refund: which capture it is of."""
    fee_minor: int | None = None
    """Of a refund: how much of the platform's fee goes back with it. A return of what paid for nothing has none."""
    unanswered: int = 0
    """How often its provider was asked and did not answer."""
    refused: int = 0
    """How often it said no, of a refund that may be asked for again."""

    def is_fresh(self, now: datetime) -> bool:
        """Whether every provider still remembers its key: asked again it gives what it gave, and need not be looked
        for first."""
        is_young = self.created_at is not None and now - self.created_at < REMEMBERED
        return self.unanswered == 0 and self.refused == 0 and is_young

    def is_overdue(self, now: datetime) -> bool:
        """Whether somebody must know that it waits, should this try not be answered either (PAY-069)."""
        is_old = self.created_at is not None and now - self.created_at >= OVERDUE
        return self.unanswered + 1 >= MOST_UNANSWERED or is_old

    @property
    def is_return(self) -> bool:
        """Of money that paid for nothing."""
        return self.action is IntentAction.REFUND and self.fee_minor is None


class Way(msgspec.Struct, frozen=True):
    """How the customer goes on: what the provider answered when the charge was opened."""

    client_secret: str | None = None
    redirect_url: str | None = None
    pix: PixCode | None = None


# -- What is asked of us


class Checkout(msgspec.Struct, frozen=True):
    """Somebody wants to pay for a source."""

    caller: Caller
    source: Source
    method: Method
    idempotency_key: str
    buyer: IdentityId | None
    """Whom the caller says it is for; it must be so."""
    snapshot_hash: str | None = None
    amount_minor: int | None = None
    currency: str | None = None
    promo_code: str | None = None
    invite_token: str | None = None
    return_url: str | None = None
    counted: bool = False
    """That the limits of what is free were asked."""
    kept: bool = False
    """That the vertical placed it for this very call and keeps it for whoever pays: it is not asked to."""


class Told(msgspec.Struct, frozen=True):
    """What a provider says of a payment."""

    caller: Caller
    payment: PaymentId
    provider: Provider
    refs: tuple[Ref, ...]
    facts: tuple[ProviderFact, ...]
    asked: bool = False
    """That it is the answer to our question, and so everything that there is."""

    @property
    def is_whole(self) -> bool:
        """Whoever tells of the capture tells all that happened to it by then; of a refund or a dispute alone, not."""
        return self.asked or any(fact.kind is FactKind.CAPTURED for fact in self.facts)


class Recorded(msgspec.Struct, frozen=True):
    """Where the payment stands now, and whether anything was new."""

    payment: PaymentId
    status: Status
    fresh: bool


class AccountTold(msgspec.Struct, frozen=True):
    """What a provider says of an organisation's account."""

    caller: Caller
    provider: Provider
    account: Account
    at: datetime
    """When it was so: the event's own time, or, of an answer, what `policy.asked_at` says."""


class KnownAccount(msgspec.Struct, frozen=True):
    """An organisation's account at a provider, as we last heard."""

    provider: Provider
    livemode: bool
    account: str
    onboarding_status: Onboarding
    charges_enabled: bool
    payouts_enabled: bool
    requirements_due: tuple[str, ...]
    told_at: datetime
    version: int

    @property
    def name(self) -> str:
        """Which of an organisation's accounts it is."""
        return account_name(self.provider, livemode=self.livemode)


def account_name(provider: Provider, *, livemode: bool) -> str:
    """An organisation has one at each provider in each mode."""
    return f"{provider} {'live' if livemode else 'test'}"


class Owner(msgspec.Struct, frozen=True):
    """Whose an object at a provider is."""

    organization: OrganizationId
    payment: PaymentId | None
