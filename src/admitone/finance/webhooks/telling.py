"""What may be said of an event in a log (PAY-071, PAY-072, FIN-065): what is on the list, and nothing else."""

from typing import Any, Final

from admitone.kernel.telemetry import logger

ALLOWED: Final = frozenset(
    {
        "stripeEventId",
        "eventType",
        "stripeAccountId",
        "checkoutSessionId",
        "orgId",
        "paymentId",
        "holdId",
        "propertyId",
        "correlationId",
        "receiptId",
        "source",
        "status",
        "basis",
        "durationMs",
        "attempts",
        "events",
    }
)


def say(event: str, **said: Any) -> None:
    """One line; a field that is not on the list is dropped, whoever adds it."""
    logger().info(event, **{name: value for name, value in said.items() if name in ALLOWED and value is not None})
