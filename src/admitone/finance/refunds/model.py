"""What a refund is."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import Id
from admitone.kernel.scope import Caller
from admitone.kernel.states import Lifecycle


class RefundId(Id, prefix="rfd"):
    """One refund. Its number is the key under which the provider is asked."""


class CancellationId(Id, prefix="ccl"):
    """One cancellation of everything that was paid for a subject."""


class Reason(StrEnum):
    CANCELLED_BY_SELLER = "CANCELLED_BY_SELLER"
    SERIOUS_FAILURE = "SERIOUS_FAILURE"
    ABUSE_REPORTED = "ABUSE_REPORTED"
    TECHNICAL_PROBLEM = "TECHNICAL_PROBLEM"
    NOT_DELIVERED = "NOT_DELIVERED"
    """What was paid for could not be confirmed (PAY-064)."""
    CUSTOMER_CANCELLED = "CUSTOMER_CANCELLED"
    """As what was agreed when it was bought allows (PAY-065)."""
    ADMIN_OVERRIDE = "ADMIN_OVERRIDE"
    """By whoever runs the platform, in whatever amount (PAY-068)."""


BY_HAND: Final = frozenset(
    {Reason.CANCELLED_BY_SELLER, Reason.SERIOUS_FAILURE, Reason.ABUSE_REPORTED, Reason.TECHNICAL_PROBLEM}
)
"""For which a person may give back; that somebody did not come is none of them (FIN-071)."""


class RefundState(StrEnum):
    PLANNED = "PLANNED"
    OVERTAKEN = "OVERTAKEN"
    PENDING = "PENDING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


S = RefundState
REFUND: Final = Lifecycle(
    "refund",
    initial=S.PLANNED,  # One by itself is planned and ordered at once.
    moves={
        S.PENDING: (S.SUCCEEDED, S.FAILED),
        S.SUCCEEDED: (S.FAILED,),  # The customer's bank may send it back.
        S.FAILED: (S.SUCCEEDED,),  # What a provider refused and did all the same.
        S.PLANNED: (S.PENDING, S.OVERTAKEN),
    },
)


MOST_PIECES: Final = 10_000


class Piece(msgspec.Struct, frozen=True, rename="camel"):
    """So many of a line of the price; these, as far as they are named."""

    key: Annotated[str, Meta(min_length=1, max_length=200)]
    quantity: Annotated[int, Meta(ge=1, le=MOST_PIECES)]
    pieces: Annotated[tuple[Annotated[int, Meta(ge=0, le=MOST_PIECES)], ...], Meta(max_length=MOST_PIECES)] = ()
    """By the numbers that whoever sold them gave the pieces of the line, from 0 on."""


class RefundLine(msgspec.Struct, frozen=True):
    refund_id: UUID
    line_key: str
    quantity: int
    amount_minor: int
    fee_minor: int
    pieces: tuple[int, ...] = ()

    @property
    def piece(self) -> Piece:
        return Piece(self.line_key, self.quantity, self.pieces)


class Gone(msgspec.Struct, frozen=True):
    """How many of a line went back, and which, as far as they were named."""

    quantity: int = 0
    pieces: frozenset[int] = frozenset()

    def and_also(self, line: RefundLine) -> "Gone":
        return Gone(self.quantity + line.quantity, self.pieces | {*line.pieces})


class Request(msgspec.Struct, frozen=True):
    """Give this back: these pieces, or so much, or all that is left."""

    caller: Caller
    payment: PaymentId
    refund: RefundId
    reason: Reason
    pieces: tuple[Piece, ...] = ()
    amount_minor: int | None = None
    why: str | None = None
    """In the words of who asks, for the trail; left out, the reason says it."""
    at_most: bool = False
    """Of pieces: less, if less is left than they cost."""
    stands_for: UUID | None = None
    """The refund of a cancellation that it gives back anew."""


class GoneBack(msgspec.Struct, frozen=True):
    """Which pieces of a payment's lines went back."""

    gone: dict[str, Gone] = {}
    accounted_minor: int = 0
    """What those cost, and the pieces that are on their way. If more went back, nobody said for what."""
    whole_gone: bool = False
    """A cancellation gave all that was left of it back."""


class Refund(msgspec.Struct, frozen=True):
    """A refund as its row has it."""

    id: UUID
    payment_id: UUID
    city_code: str
    source_type: str
    source_id: str
    amount_minor: int
    fee_minor: int
    currency: str
    reason: Reason
    state: RefundState
    created_at: datetime
    cancellation_id: UUID | None = None
    failure: str | None = None
    requested_by: UUID | None = None
    settled_at: datetime | None = None
    stands_for: UUID | None = None
