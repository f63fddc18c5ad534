"""What became of events, for lists of them, for rights to them and for whoever sold something."""

from typing import Final, Self

from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact
from admitone.kernel.ids import IdentityId
from admitone.verticals.events.model import EventId, Order, OrderId, TicketTypeId


class EventFact(Fact, frozen=True):
    """What all of them tell: which event, and after how many changes. What it is like now is asked of its rows."""

    name = "event.told"
    version = "1.0.0"
    subject = ("EVENT", "event_id")

    event_id: EventId
    event_version: int


class EventCreated(EventFact, frozen=True):
    """As a draft."""

    name = "event.created"


class EventChanged(EventFact, frozen=True):
    """It says something else of itself; when it takes place, and who may come, are other facts."""

    name = "event.changed"


class EventRescheduled(EventFact, frozen=True):
    """It, or a session of it, takes place at another time."""

    name = "event.rescheduled"


class EventPublished(EventFact, frozen=True):
    name = "event.published"


class EventCancelled(EventFact, frozen=True):
    """It does not take place. Whoever paid for it gets their money back (FIN-070)."""

    name = "event.cancelled"

    was_published: bool
    reason_code: str


class AccessPolicyChanged(EventFact, frozen=True):
    """Another version of who may buy, and of how people are let in, is in force."""

    name = "event.policy_changed"

    policy_version: int


class TicketTypeChanged(Fact, frozen=True):
    """It was put on offer, or is offered otherwise."""

    name = "ticket_type.changed"
    version = "1.0.0"
    subject = ("TICKET_TYPE", "ticket_type_id")

    ticket_type_id: TicketTypeId
    event_id: EventId
    type_version: int


class SoldQuantityDiffers(Fact, frozen=True):
    """What its stock counts as sold is not what people have, and counting again did not help."""

    name = "ticket_type.sold_differs"
    version = "1.0.0"
    subject = ("TICKET_TYPE", "ticket_type_id")

    ticket_type_id: TicketTypeId
    event_id: EventId
    counted: int
    sold: int


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


FACTS: Final[tuple[type[Fact], ...]] = (
    EventCreated,
    EventChanged,
    EventRescheduled,
    EventPublished,
    EventCancelled,
    AccessPolicyChanged,
    TicketTypeChanged,
    SoldQuantityDiffers,
    OrderFulfilled,
    OrderReturned,
)
