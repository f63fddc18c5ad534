"""A payment's status in the words of others: tables, one for each (unification (c)).

Promise: every status has a word in each of them, and none of these words is ever stored (FIN-015).
"""

from typing import Final

from admitone.finance.payments.model import Payment, Reason, RefundState, Status, is_paid
from admitone.finance.sources.api import LatePayment

S = Status

_ORYA: Final[dict[Status, str]] = {
    S.CREATED: "CREATED",
    S.PENDING: "CREATED",
    S.REQUIRES_ACTION: "REQUIRES_ACTION",
    S.PROCESSING: "PROCESSING",
    S.SUCCEEDED: "SUCCEEDED",
    S.FAILED: "FAILED",
    S.CANCELLED: "CANCELLED",
    S.EXPIRED: "CANCELLED",
    S.PARTIAL_REFUND: "PARTIAL_REFUND",
    S.REFUNDED: "REFUNDED",
    S.DISPUTED: "DISPUTED",
    S.CHARGEBACK_WON: "CHARGEBACK_WON",
    S.CHARGEBACK_LOST: "CHARGEBACK_LOST",
}
_RESERVE: Final[dict[Status, str]] = {
    S.CREATED: "pending",
    S.PENDING: "pending",
    S.REQUIRES_ACTION: "processing",
    S.PROCESSING: "processing",
    S.SUCCEEDED: "succeeded",
    S.FAILED: "failed",
    S.CANCELLED: "cancelled",
    S.EXPIRED: "expired",
    S.PARTIAL_REFUND: "partially_refunded",
    S.REFUNDED: "refunded",
    S.DISPUTED: "disputed",
    S.CHARGEBACK_WON: "dispute_won",
    S.CHARGEBACK_LOST: "dispute_lost",
}
_SESSION: Final[dict[Status, str]] = {
    S.CREATED: "created",
    S.PENDING: "pending",
    S.REQUIRES_ACTION: "pending",
    S.PROCESSING: "pending",
    S.FAILED: "failed",
    S.CANCELLED: "failed",
    S.EXPIRED: "failed",
    S.NEEDS_MANUAL: "needs_manual",
}
PAID_ALIAS: Final = "PAID"


def orya(payment: Payment) -> str:
    """The states of FIN-050. Money that waits for a decision leaves the last of them: it is not paid."""
    if payment.status is S.NEEDS_MANUAL:
        return "CANCELLED" if payment.manual_reason is Reason.LATE else "PROCESSING"
    return _ORYA[payment.status]


def orya_v1(payment: Payment) -> str:
    """As older clients know it (FIN-015)."""
    return PAID_ALIAS if payment.status is S.SUCCEEDED else orya(payment)


def reserve(payment: Payment) -> str:
    """The statuses of PAY-060, as stays show them."""
    if payment.status is S.NEEDS_MANUAL:
        goes_back = payment.manner.late_payment is LatePayment.AUTO_REFUND
        returning = goes_back and payment.refund_state is not RefundState.FAILED
        return "refund_pending" if returning or payment.refund_state is RefundState.PENDING else "processing"
    if payment.refund_state is RefundState.PENDING and is_paid(payment.status):
        return "refund_pending"
    return _RESERVE[payment.status]


def session(payment: Payment) -> str:
    """The statuses of PAY-003."""
    if payment.unreadable_status or (payment.status is S.REFUNDED and not payment.applied):
        return "needs_manual"
    return _SESSION.get(payment.status, "succeeded")
