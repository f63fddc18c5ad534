"""What an operation is, and the rows of the matrix."""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.sources.api import PaymentId, Source
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle


class Scenario(StrEnum):
    """How something was bought (FUL-006)."""

    SINGLE = "SINGLE"
    FREE = "FREE"
    """Finance calls it FREE_CHECKOUT."""
    RESALE = "RESALE"
    GROUP_FULL = "GROUP_FULL"
    GROUP_SPLIT = "GROUP_SPLIT"
    GROUP_SPLIT_SECOND_CHARGE = "GROUP_SPLIT_SECOND_CHARGE"
    SUBSCRIPTION = "SUBSCRIPTION"


OFF: Final = frozenset({Scenario.SUBSCRIPTION})
"""The feature `subscriptions` is off, whoever brings a recipe for it (FUL-016)."""


class State(StrEnum):
    OPEN = "OPEN"
    """The money is disputed: what becomes of it decides."""
    DONE = "DONE"
    RETURNED = "RETURNED"
    """Nothing was handed over, and the money is back or on its way."""
    FAILED = "FAILED"
    """It was tried as often as it may, and somebody must look."""


OPERATION: Final = Lifecycle(
    "operation",
    initial=State.OPEN,  # Most are begun and done in one transaction.
    moves={
        State.OPEN: (State.DONE, State.RETURNED, State.FAILED),
        State.FAILED: (State.OPEN, State.DONE, State.RETURNED),
    },
)
ENDED: Final = frozenset(OPERATION.terminal())

LEDGER_STEP: Final = "UPSERT_LEDGER_FROM_PI"
"""The first of every recipe. What it would append is there when a payment has succeeded, so it looks (CF-27)."""
LONGEST_REASON: Final = 200


class Operation(msgspec.Struct, frozen=True):
    """What became of one payment."""

    payment: PaymentId
    source: Source
    state: State
    scenario: Scenario | None
    """None: it never came so far that anybody asked."""
    key: str | None
    """`ISSUE_TICKETS:pay_…`, as the recipe says: unique for ever."""
    steps: tuple[str, ...]
    """Those that were done, in their order."""
    reason: str | None
    refund_id: UUID | None
    attempts: int
    correlation_id: UUID
    begun_at: datetime
    changed_at: datetime


class Wanted(msgspec.Struct, frozen=True):
    """Fulfil this payment."""

    caller: Caller
    payment: PaymentId
    attempt: int = 1
