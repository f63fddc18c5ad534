"""Orders whose money went back before anything was issued for it.

Promise: nobody who paid is left without a word. An order that is still open when all of its payment has gone back (it
came too late, its event was cancelled before its turn, or the bank took it) is returned, what was kept for it is free,
and its buyer is told. One that was delivered is none of these: its tickets follow their rights. Nor is one that another
payment pays for: what came late of the one takes nothing from the other.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from admitone.finance.payments import api as payments
from admitone.finance.payments.api import OPEN, PAID, Status
from admitone.finance.payments.facts import ChargebackLost, PaymentFact, PaymentRefunded
from admitone.finance.sources.api import SourceType
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Kind, Priority, Subscription
from admitone.selling.stock import api as stock
from admitone.selling.stock.api import HoldId
from admitone.verticals.events.facts import OrderReturned
from admitone.verticals.events.model import ORDER, OrderState, order_id_of
from admitone.verticals.events.store import orders

HEARD: Final[tuple[type[PaymentFact], ...]] = (PaymentRefunded, ChargebackLost)
PAYS: Final = OPEN | PAID | {Status.DISPUTED}
"""Somebody is paying, or has paid, and whoever issues decides what becomes of it."""


async def return_unissued(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
    ours = {
        order: each
        for each in told
        if each.payload.source_type == SourceType.TICKET_ORDER and (order := order_id_of(each.payload.source_id))
    }
    locked = await orders.lock_orders(tx, sorted(ours), lambda own: own)
    may = [each for each in locked.values() if ORDER.may(each.state, OrderState.RETURNED)]
    tried = await payments.find_of_sources(tx, SourceType.TICKET_ORDER, [str(each.id) for each in may])
    open_ones = [each for each in may if not any(other.status in PAYS for other in tried[str(each.id)])]
    await stock.release(tx, [stock.Release(each.id, HoldId(each.id.uuid)) for each in open_ones])
    returned = [msgspec.structs.replace(each, state=OrderState.RETURNED) for each in open_ones]
    await orders.move_orders(tx, locked, returned)
    for each in returned:
        why = ours[each.id]
        tx.publish(why.caller, OrderReturned.of(each, why.payload.payment_id, reason=why.payload.status.value))


def _hears(fact: type[PaymentFact]) -> Kind[Any]:
    name = f"events.{fact.name.replace('.', '_')}"
    return Kind(name, fact, return_unissued, outside=False, priority=Priority.CRITICAL)


SUBSCRIPTIONS: Final = tuple(Subscription(fact, _hears(fact)) for fact in HEARD)
JOBS: Final = tuple(each.kind for each in SUBSCRIPTIONS)
