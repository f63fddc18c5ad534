"""Buying at once: an order and the beginning of its payment, decided and written together.

Promise: what is kept and what is to be paid commit together, and it is kept for as long as it can be paid from the
start: no statement is sent for that. If it cannot be paid now, the order stands all the same
for as long as it is kept, and whoever placed it is told why.
"""

from collections.abc import Sequence

import msgspec

from admitone.finance.gateways.api import Method
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Begun, Checkout
from admitone.finance.sources.api import Source, SourceType
from admitone.kernel.commands import command
from admitone.kernel.db import Busy, Tx
from admitone.kernel.errors import Refusal
from admitone.verticals.events.commands.ordering import Placing, place
from admitone.verticals.events.model import EventId, Order


class Buying(msgspec.Struct, frozen=True):
    placing: Placing
    method: Method
    promo_code: str | None = None
    return_url: str | None = None

    @property
    def event(self) -> EventId:
        return self.placing.event


class Bought(msgspec.Struct, frozen=True):
    """An order, and its payment or why there is none yet."""

    order: Order
    checkout: Checkout
    begun: Begun | None = None
    refused: Refusal | None = None


@command(keyed_by=lambda buying: buying.event)
async def buy(tx: Tx, buyings: Sequence[Buying]) -> list[Bought | Refusal]:
    placed = await _place(tx, buyings)
    checkouts = [
        _checkout(each, order) for each, order in zip(buyings, placed, strict=True) if isinstance(order, Order)
    ]
    begun = zip(checkouts, await payments.begin(tx, checkouts) if checkouts else (), strict=True)
    return [order if isinstance(order, Refusal) else _bought(order, *next(begun)) for order in placed]


async def _place(tx: Tx, buyings: Sequence[Buying]) -> Sequence[Order | Refusal]:
    """What is busy is told by the inputs of this batch."""
    placings = [msgspec.structs.replace(each.placing, grace=payments.GRACE) for each in buyings]
    whose = {id(placing): each for placing, each in zip(placings, buyings, strict=True)}
    try:
        return await place(tx, placings)
    except Busy as busy:
        raise Busy({key: [whose[id(each)] for each in inputs] for key, inputs in busy.inputs_by_key.items()}) from None


def _bought(order: Order, checkout: Checkout, said: Begun | Refusal) -> Bought:
    if isinstance(said, Refusal):
        return Bought(order, checkout, refused=said)
    return Bought(order, checkout, said)


def _checkout(buying: Buying, order: Order) -> Checkout:
    """Under the key of the order, so that whoever repeats it begins the same."""
    return Checkout(
        caller=buying.placing.caller,
        source=Source(SourceType.TICKET_ORDER, str(order.id)),
        method=buying.method,
        idempotency_key=f"order:{order.id}",
        buyer=order.buyer,
        promo_code=buying.promo_code,
        return_url=buying.return_url,
        # Also an order that stood before: to keep it longer would lock it after the pools of the others.
        kept=True,
    )
