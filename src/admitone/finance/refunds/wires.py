"""What is said of a refund at the edge, here and wherever a vertical gives back what it sold."""

from typing import Final

from admitone.finance.payments.api import NotRefundable, PaymentNotFound, RefundTooMuch
from admitone.finance.refunds import errors
from admitone.finance.refunds.model import BY_HAND, Reason, Refund, RefundId, RefundState
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import Instant, Minor, Wire

FINANCE_REFUNDS_RW: Final = "FINANCE_REFUNDS_RW"
REFUSES: Final = (
    PaymentNotFound,
    NotRefundable,
    RefundTooMuch,
    errors.ReasonNotAllowed,
    errors.PieceUnknown,
    errors.PieceGone,
    errors.RefundIdTaken,
)


class RefundAnswer(Wire):
    refund_id: RefundId
    payment_id: PaymentId
    amount_minor: Minor
    fee_minor: Minor
    currency: str
    reason: Reason
    state: RefundState
    failure: str | None
    created_at: Instant
    settled_at: Instant | None

    @classmethod
    def of(cls, refund: Refund) -> "RefundAnswer":
        return cls(
            refund_id=RefundId(refund.id),
            payment_id=PaymentId(refund.payment_id),
            amount_minor=refund.amount_minor,
            fee_minor=refund.fee_minor,
            currency=refund.currency,
            reason=refund.reason,
            state=refund.state,
            failure=refund.failure,
            created_at=refund.created_at,
            settled_at=refund.settled_at,
        )


def reason_by_hand(text: str) -> Reason:
    """The whitelist of FIN-071: that somebody did not come is not on it."""
    if text not in {each.value for each in BY_HAND}:
        raise errors.ReasonNotAllowed(allowed=tuple(sorted(each.value for each in BY_HAND)))
    return Reason(text)
