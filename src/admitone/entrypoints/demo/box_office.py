"""The box office of a house, as it was on some day: orders are placed, charged at the sandbox, paid, booked and handed
over, all of a day together; and some go back.

Promise: everything goes the way of a real sale, by the same commands, and under keys, so that what was sold once is not
sold again. Provider and books have the same instants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from admitone.entrypoints.demo.ground import Ground
from admitone.entrypoints.demo.houses import House, done
from admitone.entrypoints.demo.programme import event_of, kind_of
from admitone.finance.gateways.api import Charge, Method
from admitone.finance.payments import api as payments
from admitone.finance.refunds.api import Reason
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.jobs import Desk
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from admitone.selling.fulfilment import api as fulfilment
from admitone.verticals.events import api as events

BRAZILIAN: Final = "BRL"


@dataclass(frozen=True)
class Sale:
    """Somebody buys so many of some types."""

    key: str
    show: str
    wants: tuple[tuple[str, int], ...]
    buyer: IdentityId
    is_guest: bool = False


class BoxOffice:
    def __init__(self, ground: Ground, house: House) -> None:
        self._ground = ground
        self._house = house
        self._clerk = payments.Clerk.at(Desk(ground.database, Batcher(ground.database)))

    async def sell(self, sales: Sequence[Sale]) -> list[events.Order]:
        """Placed, paid and handed over."""
        placings = [self._placing(each) for each in sales]

        async def order(tx: Tx) -> tuple[list[events.Order], Sequence[payments.Begun | Refusal]]:
            orders = [done(each) for each in await events.place(tx, placings)]
            return orders, await payments.begin(tx, [self._checkout(each) for each in orders])

        orders, begun = await self._ground.database.run(self._house.scope, order)
        await self._settle([done(each) for each in begun])
        return orders

    async def pay(self, checkout: payments.Checkout) -> None:
        """For something else than tickets."""
        [begun] = await self._ground.database.run(self._house.scope, lambda tx: payments.begin(tx, [checkout]))
        await self._settle([done(begun)])

    async def _settle(self, begun: Sequence[payments.Begun]) -> None:
        """Charged and paid at the sandbox, then booked and handed over; what costs nothing is only handed over."""
        answers = [await self._charged(each.payment, each.intent) for each in begun if each.intent is not None]
        wanted = [fulfilment.Wanted(Caller(each.payment.identity), each.payment.id) for each in begun]

        async def hand_over(tx: Tx) -> None:
            for recorded in await payments.take_answers(tx, answers):
                done(recorded)
            await fulfilment.fulfil(tx, wanted)

        await self._ground.database.run(self._house.scope, hand_over)

    async def _charged(self, payment: payments.Payment, intent: payments.GatewayIntent) -> payments.Answer:
        """As the sandbox has it when the buyer has paid, and it has told its fee."""
        gateway, simulator, caller = self._ground.gateway, self._ground.simulator, Caller(payment.identity)
        opened = await self._clerk.order(payment, intent, caller)
        assert isinstance(opened, Charge)
        assert simulator is not None
        if payment.status in payments.OPEN:
            simulator.act("pay", opened.id)
            simulator.tick()
        paid = await gateway.find_charge(caller, opened.id)
        assert isinstance(paid, Charge)
        return payments.Answer(caller, payment.id, intent, paid)

    async def give_back(self, orders: Sequence[events.Order], reason: Reason) -> None:
        """All of each, as the house does it by hand."""
        run, scope, owner = self._ground.database.run, self._house.scope, self._house.owner
        placed = {each.id for each in orders}
        tickets = await self._ground.database.read(scope, events.find_tickets, placed)
        returnings = [
            events.Returning(owner, order, tuple(each.id for each in tickets if each.order_id == order), reason, "demo")
            for order in placed
        ]
        for said in await run(scope, lambda tx: events.give_back(tx, returnings)):
            refund = done(said)
            await self._clerk.refund(self._house.own, PaymentId(refund.payment_id), refund.id, owner)

    def _placing(self, sale: Sale) -> events.Placing:
        return events.Placing(
            caller=Caller(sale.buyer),
            event=event_of(self._house, sale.show),
            buyer=sale.buyer,
            wants=tuple(events.Want(kind_of(self._house, sale.show, kind), count) for kind, count in sale.wants),
            key=f"demo:{sale.key}",
            is_guest=sale.is_guest,
            language=Language.ENGLISH,
            grace=payments.GRACE,
        )

    def _checkout(self, order: events.Order) -> payments.Checkout:
        return payments.Checkout(
            caller=Caller(order.buyer),
            source=Source(SourceType.TICKET_ORDER, str(order.id)),
            method=Method.PIX if order.currency == BRAZILIAN else Method.CARD,
            idempotency_key=order.key,
            buyer=order.buyer,
            counted=True,
        )
