"""What is told of money, for the rights that it paid for."""

from collections.abc import Sequence
from typing import Any, Final

from admitone.entitlements.commands.following import follow
from admitone.finance.payments.facts import (
    ChargebackLost,
    ChargebackWon,
    PaymentDisputed,
    PaymentPartlyRefunded,
    PaymentRefunded,
)
from admitone.finance.refunds.facts import RefundFailed, RefundSucceeded
from admitone.kernel.db import Tx
from admitone.kernel.facts import Fact
from admitone.kernel.jobs import Delivered, Kind, Priority, Subscription

HEARD: Final[tuple[type[Fact], ...]] = (
    PaymentRefunded,
    PaymentPartlyRefunded,
    PaymentDisputed,
    ChargebackWon,
    ChargebackLost,
    RefundSucceeded,
    RefundFailed,  # Its money may have gone back all the same, and then nobody said for what.
)


def _hears(fact: type[Fact]) -> Kind[Any]:
    async def hear(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
        await follow(tx, {each.payload.payment_id: each.caller for each in told})

    return Kind(f"entitlements.{fact.name.replace('.', '_')}", fact, hear, outside=False, priority=Priority.CRITICAL)


SUBSCRIPTIONS: Final = tuple(Subscription(fact, _hears(fact)) for fact in HEARD)
JOBS: Final = tuple(each.kind for each in SUBSCRIPTIONS)
