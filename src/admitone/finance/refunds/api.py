"""The door for other packages: a vertical gives back what it could not deliver, or what was agreed."""

from admitone.finance.refunds.calling_off import CalledOff, Survey, call_off, find_called_off, survey
from admitone.finance.refunds.commands import request_refunds
from admitone.finance.refunds.model import (
    CancellationId,
    Gone,
    GoneBack,
    Piece,
    Reason,
    Refund,
    RefundId,
    RefundLine,
    RefundState,
    Request,
)
from admitone.finance.refunds.planning import CANCELLATION, REFUND, Asked, Cancellation, RefundStep
from admitone.finance.refunds.store import find_gone_back, find_lines, find_refunds, list_of_payment
from admitone.finance.refunds.wires import FINANCE_REFUNDS_RW, REFUSES, RefundAnswer, reason_by_hand

__all__ = (
    "CANCELLATION",
    "FINANCE_REFUNDS_RW",
    "REFUND",
    "REFUSES",
    "Asked",
    "CalledOff",
    "Cancellation",
    "CancellationId",
    "Gone",
    "GoneBack",
    "Piece",
    "Reason",
    "Refund",
    "RefundAnswer",
    "RefundId",
    "RefundLine",
    "RefundState",
    "RefundStep",
    "Request",
    "Survey",
    "call_off",
    "find_called_off",
    "find_gone_back",
    "find_lines",
    "find_refunds",
    "list_of_payment",
    "reason_by_hand",
    "request_refunds",
    "survey",
)
