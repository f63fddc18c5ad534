"""What is ordered of a provider and what it answers, in words that are the same for all of them."""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.sources.api import PaymentId, SettlementModel
from admitone.kernel.contracts.wire import Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller


class Provider(StrEnum):
    SANDBOX = "sandbox"
    STRIPE = "stripe"
    MERCADOPAGO = "mercadopago"
    OPENPIX = "openpix"


class Method(StrEnum):
    CARD = "CARD"
    PIX = "PIX"


class Ability(StrEnum):
    """What not every provider offers. An order that one does not offer is refused as `NOT_OFFERED`."""

    ACCOUNTS = "ACCOUNTS"
    """Organisations have accounts of their own there, which are charged and paid directly."""
    PAYOUTS = "PAYOUTS"
    DISPUTES = "DISPUTES"
    EVENTS = "EVENTS"
    """It lists what it told, so that a lost webhook is found."""
    ACCOUNT_EVENTS = "ACCOUNT_EVENTS"
    """In that list is also what it told of organisations' accounts."""
    MOVEMENTS = "MOVEMENTS"
    """It shows its own books."""


NOT_OFFERED: Final = "not_offered"


# -- What is not an answer


class Refused(msgspec.Struct, frozen=True):
    """The provider said no, and did nothing. `code` is its own word."""

    code: str
    message: str = ""


class NotSent(msgspec.Struct, frozen=True):
    """Nothing left this machine; it may be tried again."""

    refusal: Refusal


class Unknown(msgspec.Struct, frozen=True):
    """It may have been done. Only the provider knows: ask by the key."""

    reason: str


Trouble = Refused | NotSent | Unknown
"""What is not an answer."""


# -- What is neither yes nor no, whatever is written beside it

TURNED_AWAY: Final = 401
"""Our key is not right: nobody looked at what was asked. It is no fault of whose order this is, and will be mended."""
UNSAID: Final = frozenset({408, 409, 423, 424, 425, 429})
"""It waited for us in vain, another call is not over, somebody else did not answer it, or there are too many."""


# -- Things that providers have


class ObjectType(StrEnum):
    """By what a payment, or an organisation, is found again (U-36)."""

    SESSION = "session"
    INTENT = "intent"
    CHARGE = "charge"
    PIX = "pix"
    REFUND = "refund"
    DISPUTE = "dispute"
    PAYOUT = "payout"
    ACCOUNT = "account"


class Ref(msgspec.Struct, frozen=True, order=True):
    """An object at the provider, by its own id."""

    type: ObjectType
    id: str


class FactKind(StrEnum):
    PENDING = "PENDING"
    """Waits for the customer."""
    REQUIRES_ACTION = "REQUIRES_ACTION"
    PROCESSING = "PROCESSING"
    FAILED = "FAILED"
    """One attempt; another may follow."""
    CAPTURED = "CAPTURED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"
    FEE = "FEE"
    """What the provider took for the capture."""
    FEE_ADJUSTMENT = "FEE_ADJUSTMENT"
    """By how much it changed that later; negative if it gave something back."""
    REFUND_PENDING = "REFUND_PENDING"
    REFUNDED = "REFUNDED"
    REFUND_FAILED = "REFUND_FAILED"
    DISPUTE_OPENED = "DISPUTE_OPENED"
    DISPUTE_WON = "DISPUTE_WON"
    DISPUTE_LOST = "DISPUTE_LOST"


class ProviderFact(msgspec.Struct, frozen=True):
    """Something that happened to a charge. It happened once, under its key, however often and in whatever order it is
    told (U-35)."""

    kind: FactKind
    key: str
    """`captured:ch_1`, `failed:ch_2`, `refunded:re_1`, `dispute_opened:dp_1`, `fee:txn_1`."""
    at: datetime
    """By the provider's clock."""
    reference: str
    """The provider's id of what it happened to."""
    amount_minor: int = 0
    currency: str = ""
    total_minor: int = 0
    """Of a refund: what was refunded of the charge up to and including this one."""
    fee_minor: int = 0
    """Of a dispute: what the provider took for it, or gave back."""
    code: str = ""
    """Of a failure: the provider's word for it."""
    charge: str = ""
    """Of a refund, a dispute, or a fee that changed because of a refund: the reference of the capture that it is about;
    empty if the provider does not say."""
    order: str = ""
    """Of a refund: the key of our order that made it; empty if somebody else did, or the provider does not say."""


class PixCode(msgspec.Struct, frozen=True):
    copy_paste: str
    """The BR Code, which is also what the QR shows."""
    expires_at: datetime


class Charge(msgspec.Struct, frozen=True):
    """A charge as the provider has it now, with everything that happened to it."""

    refs: tuple[Ref, ...]
    """Every id it goes by, the one to ask for it first."""
    facts: tuple[ProviderFact, ...]
    client_secret: str | None = msgspec.field(default=None)
    redirect_url: str | None = None
    """Where the customer pays or proves who they are."""
    pix: PixCode | None = None

    @property
    def id(self) -> str:
        return self.refs[0].id


class Refund(msgspec.Struct, frozen=True):
    """A refund as the provider has it: its fact is REFUND_PENDING, REFUNDED or REFUND_FAILED."""

    id: str
    fact: ProviderFact


class Account(msgspec.Struct, frozen=True):
    """An organisation's account at the provider."""

    id: str
    type: str
    """`standard` and nothing else (FIN-004)."""
    charges_enabled: bool
    payouts_enabled: bool
    requirements_due: tuple[str, ...]
    livemode: bool
    organization: OrganizationId | None
    """As its metadata say, which may confirm and never decides."""
    rejected: bool = False
    """The provider closed it, or stopped it to look into it: nothing that is still asked for would mend it."""


class DisputeStatus(StrEnum):
    NEEDS_RESPONSE = "NEEDS_RESPONSE"
    UNDER_REVIEW = "UNDER_REVIEW"
    WON = "WON"
    LOST = "LOST"


class Dispute(msgspec.Struct, frozen=True):
    """What the provider has on file. What happened to the money is told by facts, and decided by them alone."""

    id: str
    charge: str
    """The reference of the capture that it is about."""
    status: DisputeStatus
    reason: str
    amount_minor: int
    currency: str
    opened_at: datetime
    due_at: datetime | None
    """Until when evidence is taken."""
    has_evidence: bool
    submissions: int = 0


class PayoutStatus(StrEnum):
    PENDING = "PENDING"
    PAID = "PAID"
    FAILED = "FAILED"


class Reversal(msgspec.Struct, frozen=True):
    """What came back from an organisation's account."""

    id: str
    amount_minor: int
    currency: str


class HandedOn(msgspec.Struct, frozen=True):
    """What went to an organisation's account once more."""

    id: str
    amount_minor: int
    currency: str


class Payout(msgspec.Struct, frozen=True):
    id: str
    status: PayoutStatus
    amount_minor: int
    currency: str
    at: datetime
    code: str = ""
    to_bank: bool = False
    """From a balance at the provider to the bank of whoever has that balance; else from the platform's to an account
    there."""


class UnknownStatus(Exception):
    """The provider uses a word for the state of something that is in none of our tables. It is neither an answer nor a
    trouble, and not ours to guess: somebody must look (PAY-061). Raised by whatever reads what a provider has."""

    def __init__(
        self,
        status: str,
        refs: tuple[Ref, ...],
        *,
        organization: OrganizationId | None = None,
        payment: PaymentId | None = None,
    ) -> None:
        super().__init__(f"{refs[0].type} {refs[0].id} is {status[:40]!r}, which we do not know")
        self.status = status
        self.refs = refs
        """What it is about, the strongest first."""
        self.organization = organization
        self.payment = payment


# -- What is ordered


class ChargeOrder(msgspec.Struct, frozen=True):
    """Open a charge. Nothing is taken until the customer agrees."""

    caller: Caller
    key: UUID
    """Of the gateway intent: whoever repeats the order repeats the key."""
    payment: PaymentId
    organization: OrganizationId
    method: Method
    amount_minor: int
    currency: str
    settlement: SettlementModel
    account: str | None
    """Whose charge it becomes, in ORG_MOR."""
    application_fee_minor: int
    description: str
    expires_at: datetime
    metadata: tuple[tuple[str, str], ...] = ()
    """Besides `orgId`, `payment_id` and `correlation_id`, which every charge carries (PAY-001)."""
    return_url: str | None = None


class RefundOrder(msgspec.Struct, frozen=True):
    caller: Caller
    key: UUID
    payment: PaymentId
    organization: OrganizationId
    charge: str
    """The intent or PIX charge, as `Charge.id` says it."""
    amount_minor: int
    currency: str
    application_fee_minor: int = 0
    """How much of the platform's fee goes back with it."""
    reverse_transfer: bool = True


class PlannedCall(Wire):
    """What would be asked of a provider, for whoever is asked before."""

    provider: Provider
    action: str
    """`refund`, `pay_out`."""
    reference: str
    """The charge or the account that it is about."""
    amount_minor: int
    currency: str
    application_fee_minor: int = 0


class EvidenceOrder(msgspec.Struct, frozen=True):
    """What the organisation says to a dispute. Submitted, it is with the bank, and can be changed no more."""

    caller: Caller
    key: UUID
    payment: PaymentId
    organization: OrganizationId
    dispute: str
    texts: tuple[tuple[str, str], ...]
    """By what it shows: `product_description`, `access_activity_log`, `refund_policy`, `uncategorized_text`…"""
    submit: bool


class ReversalOrder(msgspec.Struct, frozen=True):
    """Take back what went on to an organisation's account of money that a dispute took from us for good."""

    caller: Caller
    payment: PaymentId
    organization: OrganizationId
    charge: str
    dispute: str
    """The provider's id of it, which is the key of the order: for one dispute it is taken back once."""
    amount_minor: int
    currency: str


class HandOnOrder(msgspec.Struct, frozen=True):
    """Give an organisation's account again what it gave for a refund that had arrived and came back to us."""

    caller: Caller
    payment: PaymentId
    organization: OrganizationId
    account: str
    charge: str
    refund: str
    """The provider's id of it, which is the key of the order: for one refund it is handed on once."""
    amount_minor: int
    currency: str


class PayoutOrder(msgspec.Struct, frozen=True):
    caller: Caller
    key: UUID
    organization: OrganizationId
    account: str
    amount_minor: int
    currency: str


class AccountOrder(msgspec.Struct, frozen=True):
    caller: Caller
    key: UUID
    organization: OrganizationId
    country: str
    email: str | None


class AccountLink(msgspec.Struct, frozen=True):
    url: str
    expires_at: datetime


# -- What providers tell by themselves


class Topic(StrEnum):
    """What an event is about, and so who deals with it."""

    CHARGE = "CHARGE"
    ACCOUNT = "ACCOUNT"
    BALANCE = "BALANCE"
    """Fees became final."""
    PAYOUT = "PAYOUT"
    NOTHING = "NOTHING"
    """A type that we do not deal with: kept and ignored (PAY-018)."""


class Envelope(msgspec.Struct, frozen=True):
    """What is known of an event before anybody understood it."""

    source: str
    """Whose secret signed it: `stripe`, `stripe_connect`, `sandbox`."""
    id: str
    type: str
    created: datetime
    livemode: bool
    account: str | None = None
    request_id: str | None = None


class ProviderEvent(msgspec.Struct, frozen=True):
    """An event, understood."""

    envelope: Envelope
    topic: Topic
    refs: tuple[Ref, ...] = ()
    """By what the payment is found, the strongest first."""
    facts: tuple[ProviderFact, ...] = ()
    """An event that tells of a capture tells everything that had happened to it by then; one that cannot leaves the
    capture out, and whoever needs the rest asks for it."""
    organization: OrganizationId | None = None
    """As the object's metadata say."""
    payment: PaymentId | None = None
    account: Account | None = None
    payout: Payout | None = None


class EventPage(msgspec.Struct, frozen=True):
    payloads: tuple[bytes, ...]
    """As a webhook would have brought them."""
    next_cursor: str | None
    """Where to go on; none: there is no more."""


class MovementKind(StrEnum):
    CHARGE = "CHARGE"
    TRANSFER = "TRANSFER"
    """Of a charge for an organisation's account: all of it goes there from the platform's…"""
    APPLICATION_FEE = "APPLICATION_FEE"
    """…and this much of it comes back as the platform's fee."""
    FEE = "FEE"
    REFUND = "REFUND"
    REFUND_RETURNED = "REFUND_RETURNED"
    """A refund that had succeeded came back."""
    TRANSFER_REVERSED = "TRANSFER_REVERSED"
    """Of a refund: what the account gives for it."""
    TRANSFER_AGAIN = "TRANSFER_AGAIN"
    """Of a refund that came back: what the account had given for it goes there again."""
    APPLICATION_FEE_REFUNDED = "APPLICATION_FEE_REFUNDED"
    """Of a refund: what the account gets back of the platform's fee."""
    DISPUTE = "DISPUTE"
    DISPUTE_RETURNED = "DISPUTE_RETURNED"
    DISPUTE_FEE = "DISPUTE_FEE"
    DISPUTE_FEE_RETURNED = "DISPUTE_FEE_RETURNED"
    PAYOUT = "PAYOUT"
    PAYOUT_RETURNED = "PAYOUT_RETURNED"
    BANK_PAYOUT = "BANK_PAYOUT"
    """From the platform's balance to the platform's own bank, whenever the provider does so…"""
    BANK_PAYOUT_RETURNED = "BANK_PAYOUT_RETURNED"
    """…and what the bank sent back."""
    ACCOUNT_FEE = "ACCOUNT_FEE"
    """What the provider takes of the platform's balance for itself, and for no payment."""


class Movement(msgspec.Struct, frozen=True):
    """A row of the provider's own books: money that it moved."""

    id: str
    kind: MovementKind
    reference: str
    """The object's id, as facts and postings carry it."""
    amount_minor: int
    """Positive; which way it went, the kind says. An adjusted fee is a second row, negative if it fell."""
    currency: str
    at: datetime
    organization: OrganizationId | None
    payment: PaymentId | None


class MovementPage(msgspec.Struct, frozen=True):
    movements: tuple[Movement, ...]
    next_cursor: str | None
