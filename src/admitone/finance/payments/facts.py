"""What became of payments, for whoever sells and whoever watches."""

from typing import ClassVar, Final

from admitone.finance.payments.model import Payment, Status
from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact


class PaymentFact(Fact, frozen=True):
    """What all of them tell: which payment, for what, and where it stands now."""

    name = "payment.changed"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")
    status: ClassVar[Status]

    payment_id: PaymentId
    payment_version: int
    source_type: str
    source_id: str
    amount_minor: int
    refunded_minor: int
    currency: str


class PaymentCreated(PaymentFact, frozen=True):
    name = "payment.created"
    status = Status.CREATED


class PaymentPending(PaymentFact, frozen=True):
    name = "payment.pending"
    status = Status.PENDING


class PaymentActionRequired(PaymentFact, frozen=True):
    name = "payment.action_required"
    status = Status.REQUIRES_ACTION


class PaymentProcessing(PaymentFact, frozen=True):
    name = "payment.processing"
    status = Status.PROCESSING


class PaymentSucceeded(PaymentFact, frozen=True):
    """Paid: the ledger has it. Whoever sold it may now hand it over."""

    name = "payment.succeeded"
    status = Status.SUCCEEDED


class PaymentFailed(PaymentFact, frozen=True):
    name = "payment.failed"
    status = Status.FAILED


class PaymentCancelled(PaymentFact, frozen=True):
    name = "payment.cancelled"
    status = Status.CANCELLED


class PaymentExpired(PaymentFact, frozen=True):
    name = "payment.expired"
    status = Status.EXPIRED


class PaymentNeedsManual(PaymentFact, frozen=True):
    """Money came and paid for nothing."""

    name = "payment.needs_manual"
    status = Status.NEEDS_MANUAL


class PaymentPartlyRefunded(PaymentFact, frozen=True):
    name = "payment.partly_refunded"
    status = Status.PARTIAL_REFUND


class PaymentRefunded(PaymentFact, frozen=True):
    name = "payment.refunded"
    status = Status.REFUNDED


class PaymentDisputed(PaymentFact, frozen=True):
    """What was sold is to be suspended until it is decided."""

    name = "payment.disputed"
    status = Status.DISPUTED


class ChargebackWon(PaymentFact, frozen=True):
    name = "payment.chargeback_won"
    status = Status.CHARGEBACK_WON


class ChargebackLost(PaymentFact, frozen=True):
    name = "payment.chargeback_lost"
    status = Status.CHARGEBACK_LOST


def told_of(payment: Payment, status: Status, version: int, refunded_minor: int = 0) -> PaymentFact:
    """That a payment came to stand so."""
    return BY_STATUS[status](
        payment_id=payment.id,
        payment_version=version,
        source_type=payment.source.type,
        source_id=payment.source.id,
        amount_minor=payment.amount_minor,
        refunded_minor=refunded_minor,
        currency=payment.currency,
    )


BY_STATUS: Final[dict[Status, type[PaymentFact]]] = {kind.status: kind for kind in PaymentFact.__subclasses__()}


class PaymentIncomplete(Fact, frozen=True):
    """Something was told that proves more than we know; the provider is asked for the rest."""

    name = "payment.incomplete"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId


class PaymentBooked(Fact, frozen=True):
    """The books have more of it, and it stands where it stood: for whoever shows it, not for whoever sold it."""

    name = "payment.booked"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId


class PaymentContradicted(Fact, frozen=True):
    """Something was told that cannot be as the payment stands: it stays as it is, the books have what was told, and
    somebody looks."""

    name = "payment.contradicted"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    status: str
    told: str


class DisputeRecorded(Fact, frozen=True):
    """A dispute of it was opened, won or lost, whatever that makes of the payment: for whoever keeps the case."""

    name = "payment.dispute_recorded"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId


class AttemptsSpent(Fact, frozen=True):
    """It failed as often as it may, or somebody began anew; the charge is closed at the provider."""

    name = "payment.attempts_spent"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId


class RefundBegun(Fact, frozen=True):
    """It was ordered that so much goes back; the provider is asked next."""

    name = "payment.refund_begun"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    refund_id: str


class RefundSettled(Fact, frozen=True):
    """A refund that we ordered arrived."""

    name = "payment.refund_settled"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    refund_id: str


class RefundFailed(Fact, frozen=True):
    """A refund that we ordered will not arrive; what was booked for it is booked back, and somebody must look."""

    name = "payment.refund_failed"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    refund_id: str
    reason: str


class RefundReturned(Fact, frozen=True):
    """A refund that had arrived, whoever ordered it, came back: what the organisation's account gave for it goes there
    again."""

    name = "payment.refund_returned"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId


class ReceiptUnapplied(Fact, frozen=True):
    """Money came that paid for nothing."""

    name = "payment.receipt_unapplied"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    reason: str
    amount_minor: int
    currency: str


class ReceiptChanged(Fact, frozen=True):
    """What became of money that paid for nothing; `OPEN`: it is with us again."""

    name = "payment.receipt_changed"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    state: str


class ProcessorFeesFinal(Fact, frozen=True):
    """What the provider takes is known, so what is left for the organisation is."""

    name = "payment.fees_final"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    fees_minor: int
    currency: str


class FreeCheckoutDenied(Fact, frozen=True):
    """Somebody wanted something for nothing once more than they may (FIN-084)."""

    name = "free_checkout.denied"
    version = "1.0.0"
    subject = ("SOURCE", "source_id")

    source_type: str
    source_id: str
    reason_code: str


class AccountChanged(Fact, frozen=True):
    """What an organisation's account at a provider may do changed."""

    name = "finance.account_changed"
    version = "1.0.0"
    subject = ("ACCOUNT", "account_id")

    account_id: str
    provider: str
    onboarding_status: str
    charges_enabled: bool
    payouts_enabled: bool
    fingerprint: str
    """The same for the same state: whoever notifies tells it once (FIN-092)."""


class AccountUnclear(Fact, frozen=True):
    """Two different things were told of an account for the same instant; the provider is asked how it is."""

    name = "finance.account_unclear"
    version = "1.0.0"
    subject = ("ACCOUNT", "account_id")

    account_id: str
    provider: str
    livemode: bool


class RiskHoldChanged(Fact, frozen=True):
    name = "risk.hold_changed"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: str
    standing: bool
    reason_code: str


FACTS: Final[tuple[type[Fact], ...]] = (
    *BY_STATUS.values(),
    PaymentIncomplete,
    PaymentBooked,
    PaymentContradicted,
    DisputeRecorded,
    AttemptsSpent,
    RefundBegun,
    RefundSettled,
    RefundFailed,
    RefundReturned,
    ReceiptUnapplied,
    ReceiptChanged,
    ProcessorFeesFinal,
    FreeCheckoutDenied,
    AccountChanged,
    AccountUnclear,
    RiskHoldChanged,
)
