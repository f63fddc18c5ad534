"""What is owed, when it is paid, what a payout is, and what is asked of this package."""

import re
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from admitone.finance.gateways.api import Payout as TakenPayout
from admitone.finance.gateways.api import PayoutStatus, PlannedCall, Provider, Refused
from admitone.finance.ledger.api import PlannedTransfer
from admitone.finance.sources.api import LARGEST_AMOUNT, PaymentId, SettlementModel
from admitone.kernel.ids import Id
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle

PropertyKey = Annotated[str, Meta(max_length=100, pattern=r"^[A-Za-z0-9_.:-]*$(?!\n)")]
"""The vertical's own word for what was paid for; empty where there is none."""
MOST_HOLD_DAYS: Final = 365
LONGEST_CODE: Final = 100


def code_of(said: str, default: str = "") -> str:
    """A provider's word for why, as we keep and tell it: printable, without spaces, and not long."""
    return re.sub(r"[^!-~]", "_", said)[:LONGEST_CODE] or default


class PayoutId(Id, prefix="pyo"):
    """One payout; its provider's key."""


class ObligationId(Id, prefix="obl"):
    """What is owed of one payment."""


# -- When owners are paid


class Frequency(StrEnum):
    WEEKLY = "weekly"
    BIWEEKLY = "biweekly"
    MONTHLY = "monthly"
    ON_CHECKOUT = "on_checkout"
    """On the first payout day after it may be paid; every day is one."""


class Schedule(msgspec.Struct, frozen=True):
    """When an owner is paid (MOR-031). Days begin at midnight UTC, wherever the owner is (U-32)."""

    frequency: Frequency
    day_of_week: Annotated[int, Meta(ge=0, le=6)] | None = None
    """From Monday, which is 0."""
    day_of_month: Annotated[int, Meta(ge=1, le=31)] | None = None
    """In a month that has no such day, its last one."""
    min_threshold_minor: Annotated[int, Meta(ge=0, le=LARGEST_AMOUNT)] = 0
    """What is less waits for the next one."""
    hold_days: Annotated[int, Meta(ge=0, le=MOST_HOLD_DAYS)] = 0
    """Added to the day that everything waits."""

    @property
    def is_whole(self) -> bool:
        """Whether it says which day, and only as its frequency knows days."""
        by_week = self.frequency in (Frequency.WEEKLY, Frequency.BIWEEKLY)
        by_month = self.frequency is Frequency.MONTHLY
        return by_week == (self.day_of_week is not None) and by_month == (self.day_of_month is not None)


SYSTEM: Final = Schedule(Frequency.WEEKLY, day_of_week=0)
"""Of whoever said nothing: Monday, 00:00 UTC (MOR-030)."""


class KnownSchedule(msgspec.Struct, frozen=True):
    owner: UUID
    property_key: str
    """Empty: of all that have none of their own."""
    schedule: Schedule
    version: int


# -- What is owed


class ObligationState(StrEnum):
    DUE = "DUE"
    IN_PAYOUT = "IN_PAYOUT"
    PAID = "PAID"
    FROZEN = "FROZEN"
    REVERSED = "REVERSED"
    """Nothing is left of it."""


O = ObligationState  # noqa: E741  The letter of the table below.
OBLIGATION: Final = Lifecycle(
    "payout_obligation",
    initial=O.DUE,
    moves={
        O.DUE: (O.IN_PAYOUT, O.FROZEN, O.REVERSED),
        O.IN_PAYOUT: (O.PAID, O.DUE, O.FROZEN, O.REVERSED),  # Back, when its payout failed or was not asked for yet.
        O.FROZEN: (O.DUE, O.REVERSED),
        O.REVERSED: (O.DUE, O.FROZEN),  # A refund came back.
        O.PAID: (O.DUE, O.FROZEN),  # What was kept from it for a debt is owed after all.
    },
)


class Obligation(msgspec.Struct, frozen=True):
    id: ObligationId
    payment: PaymentId
    owner: UUID
    city_code: str
    property_key: str
    livemode: bool
    currency: str
    due_minor: int
    amount_minor: int
    checked_out_at: datetime
    hold_days: int
    eligible_at: datetime
    state: ObligationState
    payout: PayoutId | None = None
    kept_minor: int = 0
    """What of it was kept from its payout to recover what the owner owed."""
    is_returned: bool = False
    """It was paid before, and what was kept then is owed now."""


class Reason(StrEnum):
    """Why what is owed of a payment is not paid for now."""

    DISPUTE = "DISPUTE"
    REFUND_FAILED = "REFUND_FAILED"
    """A refund of it did not arrive, and somebody must look (MOR-045)."""
    OPERATOR = "OPERATOR"


# -- What is paid


class PayoutState(StrEnum):
    """MOR-033, with the two ends that it lacks."""

    PAYOUT_PENDING = "payout_pending"
    """Written down; nobody was asked."""
    PROCESSING = "processing"
    """The provider is being asked, or did not answer."""
    TRANSFERRED = "transferred"
    """The provider took it."""
    COMPLETED = "completed"
    """It arrived."""
    FAILED = "failed"
    """The provider refused it, or it came back: what it was for is owed again."""
    FROZEN = "frozen"
    """Nothing of it was left to pay before anybody was asked."""


P = PayoutState
PAYOUT: Final = Lifecycle(
    "payout",
    initial=P.PAYOUT_PENDING,
    moves={
        P.PAYOUT_PENDING: (P.PROCESSING, P.FROZEN),
        P.PROCESSING: (P.TRANSFERRED, P.FAILED),
        P.TRANSFERRED: (P.COMPLETED, P.FAILED),
    },
)
UNPOSTED: Final = (P.PAYOUT_PENDING, P.PROCESSING)
"""Of which the ledger knows nothing yet."""


class Payout(msgspec.Struct, frozen=True):
    id: PayoutId
    owner: UUID
    city_code: str
    period: date
    currency: str
    provider: Provider
    livemode: bool
    account: str
    gross_minor: int
    """What is owed and is in it."""
    recovered_minor: int
    """What the owner owed."""
    state: PayoutState
    created_at: datetime
    correlation_id: UUID
    settlement_model: SettlementModel = SettlementModel.PLATFORM_MOR
    reference: str | None = None
    """The provider's own id of it."""
    code: str = ""
    """Why it failed, in the provider's word."""
    asked_at: datetime | None = None

    @property
    def amount_minor(self) -> int:
        return self.gross_minor - self.recovered_minor


class Destination(msgspec.Struct, frozen=True):
    """Where an organisation's money goes."""

    provider: Provider
    livemode: bool
    account: str


class Item(msgspec.Struct, frozen=True):
    """An obligation as it is in a payout that is planned."""

    obligation: ObligationId
    payment: PaymentId
    amount_minor: int


class PlannedPayout(msgspec.Struct, frozen=True):
    """A payout that would be made now, with everything that it depends on and leads to."""

    owner: UUID
    period: date
    currency: str
    city_code: str
    destination: Destination
    items: tuple[Item, ...]
    gross_minor: int
    recovered_minor: int
    amount_minor: int
    postings: tuple[PlannedTransfer, ...]
    calls: tuple[PlannedCall, ...]


# -- What is asked of us


class Owing(msgspec.Struct, frozen=True):
    """A payment is due to its owner: what was paid for is over, or was kept although nobody came (U-16)."""

    caller: Caller
    payment: PaymentId
    amount_minor: int
    """What is left for the owner; it must be what is held."""
    checked_out_at: datetime
    """When it was over, or would have been."""
    property_key: str = ""
    hold_days: int | None = None
    """Left out: as the schedule says."""


class Owed(msgspec.Struct, frozen=True):
    payment: PaymentId
    obligation: ObligationId | None
    """None where nothing was left for the owner."""
    eligible_at: datetime
    new: bool


class FreezeOrder(msgspec.Struct, frozen=True):
    """Do not pay out, or pay out again, what is owed of a payment."""

    caller: Caller
    payment: PaymentId
    reason: Reason
    reason_code: str | None = None
    """Of whoever orders it by hand."""


class Answer(msgspec.Struct, frozen=True):
    """What a provider said to an order."""

    caller: Caller
    payout: PayoutId
    said: TakenPayout | Refused


class Report(msgspec.Struct, frozen=True):
    """What a provider says of a payout by itself."""

    caller: Caller
    provider: Provider
    reference: str
    status: PayoutStatus
    amount_minor: int
    currency: str
    at: datetime
    code: str = ""
    to_bank: bool = False
    """Of whoever has the balance that it is of."""


def in_order(report: Report) -> tuple[bool, datetime]:
    """Of several reports of one payout the last counts: an end after what is pending, else by the provider's time."""
    return report.status is not PayoutStatus.PENDING, report.at


class Reported(msgspec.Struct, frozen=True):
    """The same, as it is kept."""

    provider: Provider
    reference: str
    status: PayoutStatus
    amount_minor: int
    currency: str
    code: str
    at: datetime
    payout: PayoutId | None = None
    released_at: datetime | None = None
