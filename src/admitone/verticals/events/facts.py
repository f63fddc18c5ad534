"""What became of events and orders, for whoever watches."""

from typing import Final, Self

from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact
from admitone.kernel.ids import IdentityId
from admitone.verticals.events.model import EventId, Order, OrderId


class OrderFact(Fact, frozen=True):
    """What all of them tell: which order, of whom, for what."""

    name = "order.changed"
    version = "1.0.0"
    subject = ("ORDER", "order_id")

    order_id: OrderId
    event_id: EventId
    buyer_id: IdentityId
    is_guest: bool
    tickets: int
    amount_minor: int
    currency: str
    payment_id: PaymentId | None

    @classmethod
    def of(cls, order: Order, payment: PaymentId | None, **more: str) -> Self:
        return cls(
            order_id=order.id,
            event_id=order.event_id,
            buyer_id=order.buyer,
            is_guest=order.is_guest,
            tickets=sum(line.quantity for line in order.lines),
            amount_minor=order.amount_minor,
            currency=order.currency,
            payment_id=payment,
            **more,
        )


class OrderFulfilled(OrderFact, frozen=True):
    """Its tickets are there."""

    name = "order.fulfilled"


class OrderReturned(OrderFact, frozen=True):
    """It was paid and could not be delivered: the money goes back."""

    name = "order.returned"

    reason: str


ORDER_FACTS: Final[tuple[type[Fact], ...]] = (OrderFulfilled, OrderReturned)
