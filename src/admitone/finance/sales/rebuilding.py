"""Rebuilding sales from payments and the ledger: those that something happened to, and all of them.

Promise: what is written is read in the same transaction and comes from nowhere else: not from the fact, which may be
old, and not from the row that was there. A rebuild of everything goes on where it was cut off, takes away what is no
sale, and may run while sales go on.
"""

from collections.abc import Collection, Sequence
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
from admitone.finance.sales import store
from admitone.finance.sales.model import is_sale, lines_of, priced, sale_of
from admitone.finance.sources.api import PaymentId
from admitone.kernel.bulk import Progress, Step, bulk
from admitone.kernel.db import Tx
from admitone.kernel.facts import Fact
from admitone.kernel.jobs import Delivered, Kind, Priority, Subscription

AT_A_TIME: Final = 500
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


async def rebuild(tx: Tx, which: Collection[PaymentId]) -> None:
    """The sales of these payments, as they stand."""
    found = await payments.find_payments(tx, which)
    await _write(tx, [*found.values()])


async def _write(tx: Tx, found: Sequence[Payment]) -> None:
    sold = {each.id: each for each in found if is_sale(each)}
    nets = await ledger.net_of(tx, [*sold])
    prices = {own: priced(each) for own, each in sold.items()}
    await store.put_sales(
        tx,
        [sale_of(each, prices[own], nets.get((own, each.currency))) for own, each in sold.items()],
        [line for own, each in sold.items() for line in lines_of(each, prices[own])],
    )


def _hears(fact: type[Fact]) -> Kind[Any]:
    async def hear(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
        await rebuild(tx, {each.payload.payment_id for each in told})

    return Kind(f"sales.{fact.name.replace('.', '_')}", fact, hear, outside=False, priority=Priority.NOTICE)


SUBSCRIPTIONS: Final = tuple(Subscription(fact, _hears(fact)) for fact in HEARD)


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
    await store.delete_strays(tx, since, before, [each.id.uuid for each in page if is_sale(each)])
    await _write(tx, page)
    return Progress(cursor=str(since), done=len(page), finished=is_last)
