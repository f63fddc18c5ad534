"""What the sandbox has: objects with the names and the words that Stripe gives its own.

Promise: amounts are whole minor units, `created` is in seconds as at Stripe, and `status_transitions` are in
microseconds, strictly rising along one charge, so that what happened to it has one order even on a clock that stands
still. Nothing here is ever live.
"""

from typing import Any, Final, Literal

import msgspec

MILLION: Final = 1_000_000
BANK: Final = "bank"
"""The platform's own, as the destination of a payout."""


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """An object with an id, and when which status began."""

    id: str
    status: str
    created: int
    status_transitions: dict[str, int]
    livemode: Literal[False] = False


class Transaction(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the provider's books in which it takes a fee, or takes more of it or less."""

    id: str
    fee: int
    currency: str
    source: str
    at: int
    object: str = "balance_transaction"


class Refund(Thing, frozen=True, kw_only=True):
    amount: int
    currency: str
    charge: str
    payment_intent: str
    metadata: dict[str, str]
    refund_application_fee: int = 0
    """How much of the platform's fee goes back with it."""
    reverse_transfer: bool = True
    """Whether the account that was paid gives the money for it."""
    total: int = 0
    """What was refunded of the charge up to and including this one, once it succeeded."""
    failure_reason: str | None = None
    handed_on: int = 0
    """To the account that had given the money for it, after it came back."""
    object: str = "refund"


class EvidenceDetails(msgspec.Struct, frozen=True, kw_only=True):
    due_by: int | None = None
    """In seconds; none in books of old."""
    has_evidence: bool = False
    submission_count: int = 0


class Dispute(Thing, frozen=True, kw_only=True):
    amount: int
    currency: str
    charge: str
    payment_intent: str
    fee: int
    """Taken when it is opened, given back when it is won."""
    metadata: dict[str, str] = {}
    reason: str = "fraudulent"
    evidence: dict[str, str] = {}
    evidence_details: EvidenceDetails = EvidenceDetails()
    taken_back: int = 0
    """From the account to which the charge went, after it was lost."""
    object: str = "dispute"

    @property
    def is_open(self) -> bool:
        return self.status in ("needs_response", "under_review")


class Attempt(Thing, frozen=True, kw_only=True):
    """What Stripe calls a charge: one attempt to take the money."""

    amount: int
    currency: str
    payment_intent: str
    amount_refunded: int = 0
    balance_transaction: Transaction | None = None
    """None until the fee is told."""
    fee_adjustments: tuple[Transaction, ...] = ()
    refunds: tuple[Refund, ...] = ()
    disputes: tuple[Dispute, ...] = ()
    failure_code: str | None = None
    metadata: dict[str, str] = {}
    object: str = "charge"

    @property
    def refundable(self) -> int:
        """What is neither refunded nor on its way back."""
        given = sum(each.amount for each in self.refunds if each.status in ("pending", "succeeded"))
        return self.amount - given

    @property
    def application_fee_refunded(self) -> int:
        """Also by a refund that came back after it had arrived: that part of the fee was given and stays so."""
        return sum(
            each.refund_application_fee
            for each in self.refunds
            if each.status == "pending" or "succeeded" in each.status_transitions
        )


class Pix(msgspec.Struct, frozen=True, kw_only=True):
    copy_paste: str
    expires_at: int


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the provider's on which the customer pays an intent."""

    id: str
    status: str
    payment_status: str
    url: str
    payment_intent: Any = None
    """Left out inside its intent, and the whole intent inside an event."""
    object: str = "checkout.session"


class Intent(Thing, frozen=True, kw_only=True):
    """What is to be paid: by card, or by PIX when it has a code."""

    object: Literal["payment_intent", "pix_charge"]
    amount: int
    currency: str
    client_secret: str
    description: str
    metadata: dict[str, str]
    order_key: str
    expires_at: int
    redirect_url: str
    amount_received: int = 0
    latest_charge: str | None = None
    charges: tuple[Attempt, ...] = ()
    application_fee_amount: int = 0
    destination: str | None = None
    return_url: str | None = None
    session: Session | None = None
    pix: Pix | None = None
    touched: int
    """When it last changed."""

    @property
    def latest(self) -> Attempt | None:
        return self.charges[-1] if self.charges else None

    @property
    def paid(self) -> Attempt | None:
        return next((each for each in self.charges if each.status == "succeeded"), None)


class Account(Thing, frozen=True, kw_only=True):
    """Its status is `new`, `enabled` or `restricted`; a provider says the same by what is enabled and what is due."""

    type: str
    country: str
    email: str | None
    charges_enabled: bool
    payouts_enabled: bool
    requirements_due: tuple[str, ...]
    metadata: dict[str, str]
    object: str = "account"


class Payout(Thing, frozen=True, kw_only=True):
    amount: int
    currency: str
    destination: str
    metadata: dict[str, str]
    order_key: str
    failure_code: str | None = None
    object: str = "payout"


class Balance(msgspec.Struct, frozen=True, kw_only=True):
    """What became available, with the charge whose fee is known now; left out, of whatever was waiting."""

    amount: int
    currency: str
    charge: Attempt | None = None
    object: str = "balance"


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why the provider says no."""

    type: str
    code: str
    message: str = ""
    payment_intent: Intent | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    error: Fault


class MovementRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `list_movements`, as it goes over the wire."""

    id: str
    kind: str
    reference: str
    amount: int
    currency: str
    at: int
    organization: str | None
    payment: str | None


Kept = Intent | Account | Payout
"""What is found by its id. Attempts, refunds and disputes stand in their intent; the journal knows in which a dispute
does."""
