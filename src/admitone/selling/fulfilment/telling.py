"""What is said of every purchase: a line in the log with what support searches for, and a figure (FUL-018).

Both are said at the end of the work, a moment before it commits; a line whose transaction was then taken back is
followed by `job.failed`, and by another with the next `attemptNo`.
"""

from collections import Counter
from typing import Final

from admitone.finance.payments.api import Payment
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger
from admitone.selling.fulfilment.model import Operation, State

REVERSED: Final = frozenset({"REFUNDED", "CHARGEBACK_LOST"})
"""Why nothing was handed over that nobody had paid any more: no failure of ours."""
UNDELIVERABLE: Final = "UNDELIVERABLE"


class Figures:
    """Of this process, since it began."""

    def __init__(self) -> None:
        self.paid: Counter[str] = Counter()
        """By scenario: whoever paid, or had it for nothing, and was dealt with."""
        self.failed: Counter[str] = Counter()
        """By why: whoever paid and has nothing."""


FIGURES: Final = Figures()


def tell(operation: Operation, payment: Payment, caller: Caller) -> None:
    if operation.scenario:
        FIGURES.paid[operation.scenario] += 1
        FIGURES.failed[UNDELIVERABLE] += operation.state is State.RETURNED
    say = logger().info if operation.state is State.DONE else logger().warning
    say(
        f"fulfilment.{operation.state.lower()}",
        purchaseId=str(operation.payment),
        paymentIntentId=payment.charge_id,
        sourceId=operation.source.id,
        scenario=operation.scenario,
        dedupeKey=operation.key,
        attemptNo=operation.attempts,
        reason=operation.reason,
        correlationId=str(caller.correlation_id),
    )
