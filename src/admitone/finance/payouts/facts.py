"""What became of payouts, for whoever sells and whoever watches."""

from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from admitone.finance.payouts.model import PayoutId
from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact

Word = Annotated[str, Meta(pattern=r"^[!-~]{0,200}$(?!\n)")]
"""A provider's own word or id: printable, without spaces."""


class PayoutFact(Fact, frozen=True):
    """What all of them tell: which payout, to whom, and how much."""

    name = "payout.changed"
    version = "1.0.0"
    subject = ("PAYOUT", "payout_id")

    payout_id: PayoutId
    owner_id: UUID
    period: date
    amount_minor: int
    recovered_minor: int
    currency: Word


class PayoutCreated(PayoutFact, frozen=True):
    """It will be paid; the provider is asked next (KPI-023)."""

    name = "payout.created"
    obligations: int


class PayoutTransferred(PayoutFact, frozen=True):
    """The provider took it, and the ledger has it."""

    name = "payout.transferred"


class PayoutCompleted(PayoutFact, frozen=True):
    """It arrived."""

    name = "payout.completed"


class PayoutFailed(PayoutFact, frozen=True):
    """The provider refused it, or it came back: what it was for is owed again."""

    name = "payout.failed"
    code: Word


class PayoutWithdrawn(PayoutFact, frozen=True):
    """Nothing of it was left to pay before anybody was asked."""

    name = "payout.withdrawn"


class PayoutImpossible(Fact, frozen=True):
    """Something may be paid to an owner, and there is nowhere to pay it to."""

    name = "payout.impossible"
    version = "1.0.0"
    subject = ("OWNER", "owner_id")

    owner_id: UUID
    period: date
    amount_minor: int
    currency: Word
    reason: Word


class PayoutUnknown(Fact, frozen=True):
    """A provider tells of a payout that is none of ours, or is another than we ordered: somebody must reconcile it."""

    name = "payout.unknown"
    version = "1.0.0"
    subject = ("PAYOUT", "reference")

    provider: Word
    reference: Word
    status: Word
    amount_minor: int
    currency: Word
    at: datetime
    payout_id: PayoutId | None = None
    """Of ours, where it claims to be one."""


class ObligationFrozen(Fact, frozen=True):
    """What is owed of a payment is not paid for now."""

    name = "payout.obligation_frozen"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    reason: Word


class ObligationReleased(Fact, frozen=True):
    """What is owed of a payment is paid with the next payout; `amount_minor` is what is left of it."""

    name = "payout.obligation_released"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    amount_minor: int
    currency: Word


class ObligationPaid(Fact, frozen=True):
    """What was owed of a payment arrived, for whoever sold it (STAY-061)."""

    name = "payout.obligation_paid"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    payout_id: PayoutId


class StatementReady(Fact, frozen=True):
    """An owner's week is over, and what moved for them in it can be read: told once for each week and currency, for
    whoever notifies (MOR-046)."""

    name = "payout.statement_ready"
    version = "1.0.0"
    subject = ("OWNER", "owner_id")

    owner_id: UUID
    week: date
    """Its Monday."""
    moved_minor: int
    """The total of the statement: by how much more is owed than a week before."""
    currency: Word


class RiskFlagged(Fact, frozen=True):
    """Something about an organisation's money wants a look (FIN-091); where it is merchant of record we keep nothing
    from it, and say only that its payouts are blocked here."""

    name = "risk.flagged"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: Word
    reason_code: Word
    payouts_blocked: bool
    payment_id: PaymentId | None = None


class RiskCleared(Fact, frozen=True):
    """What it was flagged for is over."""

    name = "risk.cleared"
    version = "1.0.0"
    subject = ("ORGANIZATION", "organization_id")

    organization_id: Word
    reason_code: Word


FACTS: tuple[type[Fact], ...] = (
    PayoutCreated,
    PayoutTransferred,
    PayoutCompleted,
    PayoutFailed,
    PayoutWithdrawn,
    PayoutImpossible,
    PayoutUnknown,
    ObligationFrozen,
    ObligationReleased,
    ObligationPaid,
    StatementReady,
    RiskFlagged,
    RiskCleared,
)
