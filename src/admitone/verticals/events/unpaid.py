"""Orders whose payments came to nothing.

Promise (U-28, PAY-062): what was kept longer because somebody was paying is kept no longer when they cannot any more;
whatever the order had without a payment, it still has.
"""

from collections.abc import Sequence
from typing import Any, Final

from admitone.finance.payments.facts import PaymentCancelled, PaymentExpired, PaymentFact
from admitone.finance.sources.api import SourceType
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Kind, Subscription
from admitone.verticals.events.commands.waiting import keep_no_longer
from admitone.verticals.events.model import order_id_of

HEARD: Final[tuple[type[PaymentFact], ...]] = (PaymentCancelled, PaymentExpired)
"""Attempts that are spent end in the first: the charge is closed at its provider, and then nobody can pay."""


def _hears(fact: type[PaymentFact]) -> Kind[Any]:
    async def hear(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
        own = [each.payload for each in told if each.payload.source_type == SourceType.TICKET_ORDER]
        await keep_no_longer(tx, {order for each in own if (order := order_id_of(each.source_id))})

    return Kind(f"events.{fact.name.replace('.', '_')}", fact, hear, outside=False)


SUBSCRIPTIONS: Final = tuple(Subscription(fact, _hears(fact)) for fact in HEARD)
JOBS: Final = tuple(each.kind for each in SUBSCRIPTIONS)
