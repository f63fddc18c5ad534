"""The door for other packages: a vertical gives back what it could not deliver, or what was agreed."""

from admitone.finance.refunds.commands import request_refunds
from admitone.finance.refunds.model import (
    CancellationId,
    GoneBack,
    Piece,
    Reason,
    Refund,
    RefundId,
    RefundLine,
    RefundState,
    Request,
)
from admitone.finance.refunds.planning import CANCELLATION, REFUND, Asked, Cancellation
from admitone.finance.refunds.store import find_gone_back, find_lines, list_of_payment

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
    "RefundLine",
    "RefundState",
    "Request",
    "find_gone_back",
    "find_lines",
    "list_of_payment",
    "request_refunds",
)
