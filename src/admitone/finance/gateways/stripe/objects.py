"""What Stripe has, as far as we read it: the same structs for answers and for events.

Promise: amounts are whole minor units and times are seconds, as Stripe sends them. What Stripe may send as an id or,
asked to expand it, as the object itself, is either here.
"""

from typing import Any, Generic, TypeVar

import msgspec

Each = TypeVar("Each")


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    created: int
    metadata: dict[str, str] | None = None

    @property
    def carried(self) -> dict[str, str]:
        return self.metadata or {}


class Page(msgspec.Struct, Generic[Each], frozen=True, kw_only=True):
    """A page of a list, the newest first."""

    data: list[Each]
    has_more: bool = False


class Transaction(Thing, frozen=True, kw_only=True):
    """A row of Stripe's books. Its amount is what came in, negative if it went out; its fee was taken besides."""

    amount: int
    currency: str
    type: str
    fee: int = 0
    source: Any = None
    exchange_rate: Any = None
    """Something, if the currency of the account is another than that of the charge."""


class Reversal(Thing, frozen=True, kw_only=True):
    """Of a transfer: what of it came back."""

    amount: int
    transfer: "Transfer | str"
    source_refund: "Refund | str | None" = None

    @property
    def refund(self) -> str | None:
        return self.source_refund.id if isinstance(self.source_refund, Refund) else self.source_refund


class Transfer(Thing, frozen=True, kw_only=True):
    """To an organisation's account: of a charge, or by itself when we pay out."""

    amount: int
    currency: str
    destination: str
    reversed: bool = False
    reversals: Page[Reversal] | None = None
    source_transaction: "Attempt | str | None" = None


class FeeRefund(Thing, frozen=True, kw_only=True):
    """What of our fee went back."""

    amount: int
    fee: "ApplicationFee | str"


class ApplicationFee(Thing, frozen=True, kw_only=True):
    """Our fee, from what a charge brought to an organisation's account."""

    amount: int
    amount_refunded: int = 0
    originating_transaction: "Attempt | str | None" = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    reason: str | None = None


class Attempt(Thing, frozen=True, kw_only=True):
    """What Stripe calls a charge: one attempt to take the money."""

    amount: int
    currency: str
    status: str
    amount_refunded: int = 0
    payment_intent: str | None = None
    balance_transaction: Transaction | str | None = None
    disputed: bool = False
    failure_code: str | None = None
    outcome: Outcome | None = None
    application_fee: ApplicationFee | str | None = None
    transfer: Transfer | str | None = None

    @property
    def reference(self) -> str:
        """Of the capture: an intent is captured once, and every event knows its name."""
        return self.payment_intent or self.id


class Refund(Thing, frozen=True, kw_only=True):
    amount: int
    currency: str
    status: str | None = None
    charge: Attempt | str | None = None
    payment_intent: str | None = None
    failure_reason: str | None = None
    balance_transaction: Transaction | str | None = None
    failure_balance_transaction: Transaction | str | None = None

    @property
    def attempt(self) -> str:
        return (self.charge.id if isinstance(self.charge, Attempt) else self.charge) or ""


class EvidenceDetails(msgspec.Struct, frozen=True, kw_only=True):
    due_by: int | None = None
    has_evidence: bool = False
    submission_count: int = 0


class Dispute(Thing, frozen=True, kw_only=True):
    amount: int
    currency: str
    status: str
    reason: str
    charge: Attempt | str
    payment_intent: str | None = None
    balance_transactions: list[Transaction] = []
    """What was taken for it, and what came back."""
    evidence_details: EvidenceDetails = EvidenceDetails()

    @property
    def attempt(self) -> str:
        return self.charge.id if isinstance(self.charge, Attempt) else self.charge


class PaymentMethod(msgspec.Struct, frozen=True, kw_only=True):
    id: str


class PaymentError(msgspec.Struct, frozen=True, kw_only=True):
    """Why the latest attempt failed."""

    code: str | None = None
    decline_code: str | None = None
    charge: str | None = None
    payment_method: PaymentMethod | None = None


class QrCode(msgspec.Struct, frozen=True, kw_only=True):
    data: str
    expires_at: int


class NextAction(msgspec.Struct, frozen=True, kw_only=True):
    pix_display_qr_code: QrCode | None = None


class PixOptions(msgspec.Struct, frozen=True, kw_only=True):
    expires_at: int | None = None


class MethodOptions(msgspec.Struct, frozen=True, kw_only=True):
    pix: PixOptions | None = None


class Intent(Thing, frozen=True, kw_only=True):
    amount: int
    currency: str
    status: str
    amount_received: int | None = None
    client_secret: str | None = None
    canceled_at: int | None = None
    latest_charge: Attempt | str | None = None
    last_payment_error: PaymentError | None = None
    next_action: NextAction | None = None
    payment_method: str | None = None
    payment_method_types: list[str] = []
    payment_method_options: MethodOptions | None = None

    @property
    def is_pix(self) -> bool:
        return self.payment_method_types == ["pix"]

    @property
    def ends(self) -> int | None:
        """When its PIX code does, by Stripe itself."""
        options = self.payment_method_options
        return options.pix.expires_at if options and options.pix else None


class Session(Thing, frozen=True, kw_only=True):
    """A page on which a customer pays. Stripe makes its intent when the customer first tries."""

    status: str | None
    payment_status: str
    expires_at: int | None = None
    amount_total: int | None = None
    currency: str | None = None
    url: str | None = None
    payment_intent: Intent | str | None = None


class Requirements(msgspec.Struct, frozen=True, kw_only=True):
    currently_due: list[str] | None = None
    past_due: list[str] | None = None
    disabled_reason: str | None = None


class Account(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    type: str
    charges_enabled: bool = False
    payouts_enabled: bool = False
    requirements: Requirements | None = None
    metadata: dict[str, str] | None = None


class Payout(Thing, frozen=True, kw_only=True):
    """From an account at Stripe to the bank of whoever has it."""

    amount: int
    currency: str
    status: str
    failure_code: str | None = None


class Link(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    expires_at: int
