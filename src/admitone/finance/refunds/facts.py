"""What was given back, for whoever must take something back for it."""

from admitone.finance.refunds.model import Piece
from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact


class RefundFact(Fact, frozen=True):
    """What all of them tell. `pieces` are of the price's lines, and `whole` says that it is for all that was left of
    them; neither: an amount was given back, and nothing is taken back for it."""

    name = "refund.changed"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    refund_id: str
    source_type: str
    source_id: str
    reason: str
    amount_minor: int
    currency: str
    pieces: tuple[Piece, ...]
    whole: bool


class RefundRequested(RefundFact, frozen=True):
    name = "refund.requested"


class RefundSucceeded(RefundFact, frozen=True):
    """The money is back: what these pieces gave may be taken away."""

    name = "refund.succeeded"


class RefundFailed(RefundFact, frozen=True):
    """The money did not arrive, or came back; somebody in finance looks at it."""

    name = "refund.failed"


class RefundSeenTo(Fact, frozen=True):
    """One that had failed arrived all the same, or was ordered anew: nobody needs to look at it any more."""

    name = "refund.seen_to"
    version = "1.0.0"
    subject = ("PAYMENT", "payment_id")

    payment_id: PaymentId
    refund_id: str


FACTS = (RefundRequested, RefundSucceeded, RefundFailed, RefundSeenTo)
