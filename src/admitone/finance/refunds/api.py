"""The door for other packages: a vertical gives back what it could not deliver, or what was agreed."""

from admitone.finance.refunds.commands import request_refunds
from admitone.finance.refunds.model import (
    CancellationId,
    GoneBack,
    Piece,
    Reason,
    Refund,
    RefundId,
    RefundState,
    Request,
)
from admitone.finance.refunds.planning import CANCELLATION, REFUND, Asked, Cancellation
from admitone.finance.refunds.store import find_going_back

__all__ = (
    "CANCELLATION",
    "REFUND",
    "Asked",
    "Cancellation",
    "CancellationId",
    "GoneBack",
    "Piece",
    "Reason",
    "Refund",
    "RefundId",
    "RefundState",
    "Request",
    "find_going_back",
    "request_refunds",
)
