"""Rebuilding sales from payments and the ledger: those that something happened to, and all of them.

Promise: what is written is read in the same transaction and comes from nowhere else: not from the fact, which may be
old, and not from the row that was there. A rebuild of everything goes on where it was cut off, takes away what is no
sale, and may run while sales go on: whatever it takes away it looks at once more. One that cannot be read holds up no
other.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment
from admitone.finance.payments.facts import (
    ChargebackLost,
    ChargebackWon,
    PaymentBooked,
    PaymentDisputed,
    PaymentNeedsManual,
    PaymentPartlyRefunded,
    PaymentRefunded,
    PaymentSucceeded,
    ProcessorFeesFinal,
)
from admitone.finance.pricing.api import Snapshot, Tampered
from admitone.finance.sales import store
from admitone.finance.sales.facts import SaleUnreadable
from admitone.finance.sales.model import is_sale, lines_of, sale_of
from admitone.finance.sources.api import PaymentId
from admitone.kernel.alerts import ALERTS, Above, Alert, AlertClass, AlertRule, raise_alerts
from admitone.kernel.bulk import Progress, Step, bulk
from admitone.kernel.db import Tx
from admitone.kernel.facts import Fact
from admitone.kernel.jobs import Delivered, Desk, Kind, Lane, Priority, Subscription, errand
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger

AT_A_TIME: Final = 500
TELLING: Final = Lane("sales", places=1)
FIRST, LAST = UUID(int=0), UUID(int=2**128 - 1)

HEARD: Final[tuple[type[Fact], ...]] = (
    PaymentSucceeded,
    PaymentPartlyRefunded,
    PaymentRefunded,
    PaymentDisputed,
    ChargebackWon,
    ChargebackLost,
    PaymentNeedsManual,
    ProcessorFeesFinal,
    PaymentBooked,
)
"""After each of these a sale looks different."""

UNREADABLE: Final = AlertRule(
    "sales.unreadable",
    AlertClass.TICKET,
    Above(0),
    "finance operations",
    "sales-unreadable",
    "The price that a payment was made at is not what was priced: somebody wrote to it past us.",
)


async def rebuild(tx: Tx, which: Collection[PaymentId], caller: Caller) -> None:
    """The sales of these payments, as they stand."""
    found = await payments.find_payments(tx, which)
    sold = {own: each for own, each in found.items() if is_sale(each)}
    nets = await ledger.net_of(tx, [*sold])
    prices = _prices(tx, sold, caller)
    await store.put_sales(
        tx,
        [sale_of(sold[own], price, nets.get((own, sold[own].currency))) for own, price in prices.items()],
        [line for own, price in prices.items() for line in lines_of(sold[own], price)],
    )


def _prices(tx: Tx, sold: Mapping[PaymentId, Payment], caller: Caller) -> dict[PaymentId, Snapshot]:
    """What cannot be read is set aside and told of; the others do not wait for it."""
    prices: dict[PaymentId, Snapshot] = {}
    for own, payment in sold.items():
        try:
            prices[own] = payment.price
        except Tampered:
            logger().error("sale.unreadable", paymentId=str(own))
            tx.publish(caller, SaleUnreadable(payment_id=own))
    return prices


@errand("sales.tell_unreadable", lane=TELLING)
async def tell_unreadable(desk: Desk, told: Delivered[SaleUnreadable]) -> None:
    payment = str(told.payload.payment_id)
    entities = {"paymentId": payment}
    alert = Alert(UNREADABLE, payment, "its price is not what was priced", told.organization, entities, told.caller)
    await desk.batcher.submit(raise_alerts, ALERTS, alert)


def _hears(fact: type[Fact]) -> Kind[Any]:
    async def hear(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
        await rebuild(tx, {each.payload.payment_id for each in told}, told[0].caller)

    return Kind(f"sales.{fact.name.replace('.', '_')}", fact, hear, outside=False, priority=Priority.NOTICE)


SUBSCRIPTIONS: Final = tuple(Subscription(fact, _hears(fact)) for fact in HEARD)
TOLD: Final = Subscription(SaleUnreadable, tell_unreadable)


class RebuildAll(msgspec.Struct, frozen=True):
    """All sales of an organisation."""


async def _count(tx: Tx, _: RebuildAll) -> int:
    return await payments.count_payments(tx)


@bulk("sales.rebuild", of=RebuildAll, total=_count)
async def rebuild_all(tx: Tx, step: Step[RebuildAll]) -> Progress:
    """A page of payments, the newest first, and what stands between them and is no sale."""
    before = UUID(step.cursor) if step.cursor else LAST
    page = await payments.list_payments(tx, before, None, AT_A_TIME)
    is_last = len(page) < AT_A_TIME
    since = FIRST if is_last else page[-1].id.uuid
    deleted = await store.delete_strays(tx, since, before, [each.id.uuid for each in page if is_sale(each)])
    # Read again: what was no sale when the page was read may have become one, and been written, before it was deleted.
    await rebuild(tx, {each.id for each in page} | {*map(PaymentId, deleted)}, step.caller)
    return Progress(cursor=str(since), done=len(page), finished=is_last)
