"""Whether a payment may be fulfilled: pure decisions."""

from enum import Enum, auto

from admitone.finance.payments.api import PAID, Payment, Status
from admitone.selling.fulfilment.model import ENDED, Operation, Scenario


class Standing(Enum):
    """What the money says."""

    PAID = auto()
    DISPUTED = auto()
    REVERSED = auto()
    """All of it went back."""
    UNPAID = auto()


def standing_of(payment: Payment | None) -> Standing:
    """Nothing but the payment itself decides (FUL-001): no summary, and no word of whoever told of it."""
    if payment is None or not payment.applied:
        return Standing.UNPAID
    if payment.status in PAID:
        return Standing.PAID
    if payment.status is Status.DISPUTED:
        return Standing.DISPUTED
    if payment.status in (Status.REFUNDED, Status.CHARGEBACK_LOST):
        return Standing.REVERSED
    return Standing.UNPAID


def is_due(operation: Operation | None) -> bool:
    return operation is None or operation.state not in ENDED


def is_free(payment: Payment) -> bool:
    return payment.amount_minor == 0


def contradicts(scenario: Scenario, payment: Payment) -> bool:
    """Whether a vertical gives away what has a price (FUL-011)."""
    return scenario is Scenario.FREE and not is_free(payment)
