"""What an organiser sees of an event's orders: all of them, and each."""

from typing import Final
from uuid import UUID

from admitone.kernel.contracts import (
    Call,
    Count,
    Example,
    Instant,
    Minor,
    Page,
    PageRequest,
    SignedMinor,
    Wire,
)
from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import ListOrder
from admitone.verticals.events.errors import OrderNotFound
from admitone.verticals.events.model import EventId, OrderId
from admitone.verticals.events.netting import Moved
from admitone.verticals.events.reporting import (
    OrdersWanted,
    SeenOrder,
    Standing,
    find_moved,
    find_tickets,
    list_orders,
    see,
)
from admitone.verticals.events.routes.orders import SOME_ORDER, LineAnswer
from admitone.verticals.events.routes.purchases import A_PAYMENT, A_TICKET, PaymentAnswer, TicketAnswer
from admitone.verticals.events.routes.wires import (
    EVENTS_R,
    SOME_EVENT,
    SOME_TYPE,
    SOONER,
    organisers,
)

SOMEBODY: Final = IdentityId.parse("idn_0198c9a40000700080000000000000c4")


class OrderLineAnswer(Wire):
    """An order in a list."""

    order_id: OrderId
    buyer_id: IdentityId
    is_guest: bool
    state: Standing
    currency: str
    amount_minor: Minor
    """Before discounts, taxes and fees."""
    tickets: Count
    """How many were ordered."""
    payment: PaymentAnswer | None
    """What paid for it, or the last try."""
    expires_at: Instant
    created_at: Instant

    @classmethod
    def of(cls, seen: SeenOrder) -> "OrderLineAnswer":
        order = seen.order
        return cls(
            order_id=order.id,
            buyer_id=order.buyer,
            is_guest=order.is_guest,
            state=seen.standing,
            currency=order.currency,
            amount_minor=order.amount_minor,
            tickets=sum(line.quantity for line in order.lines),
            payment=PaymentAnswer.of(seen.payment) if seen.payment else None,
            expires_at=order.expires_at,
            created_at=order.created_at,
        )


class OrdersRequest(PageRequest, kw_only=True):
    event_id: EventId
    state: Standing | None = None
    since: Instant | None = None
    until: Instant | None = None
    """Placed before then."""
    order_id: OrderId | None = None
    buyer_id: IdentityId | None = None
    order: ListOrder = ListOrder.NEWEST

    @property
    def wanted(self) -> OrdersWanted:
        named = self.order_id, self.buyer_id
        return OrdersWanted(self.event_id, self.state, self.since, self.until, *named, self.order)


AN_ORDER: Final = OrderLineAnswer(
    order_id=SOME_ORDER,
    buyer_id=SOMEBODY,
    is_guest=False,
    state=Standing.FULFILLED,
    currency="EUR",
    amount_minor=5000,
    tickets=2,
    payment=A_PAYMENT,
    expires_at=SOONER,
    created_at=SOONER,
)

some_orders = organisers(
    "REPORT.ORDERS",
    "The orders of an event, the latest first unless the oldest are asked for. A page may be short and still have a "
    "next: it looked far for what is rare.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}/orders",
    takes=OrdersRequest,
    gives=Page[OrderLineAnswer],
    examples=(
        Example(
            "Those that are paid",
            takes=OrdersRequest(event_id=SOME_EVENT, state=Standing.FULFILLED),
            gives=Page(items=[AN_ORDER], next_cursor=None),
        ),
    ),
)


@some_orders.serves
async def see_orders(call: Call, request: OrdersRequest) -> Page[OrderLineAnswer]:
    (place,) = request.after(tuple[UUID]) or (None,)
    found = await call.read(list_orders, request.wanted, place, request.limit)
    items = [OrderLineAnswer.of(each) for each in found.items]
    return Page(items=items, next_cursor=request.cursor_at((found.looked_until,)) if found.looked_until else None)


class NetAnswer(Wire):
    """What became of the money, as the ledger says."""

    charged_minor: Minor
    refunded_minor: Minor
    platform_fee_minor: SignedMinor
    processor_fee_minor: SignedMinor
    net_minor: SignedMinor
    is_final: bool
    """Whether the processor has said what it took; until then the net is before its fee."""

    @classmethod
    def of(cls, moved: Moved, is_final: bool) -> "NetAnswer":
        return cls(
            charged_minor=moved.charged,
            refunded_minor=moved.refunded,
            platform_fee_minor=moved.platform_fee,
            processor_fee_minor=moved.processor_fee,
            net_minor=moved.net,
            is_final=is_final,
        )


class WholeOrderAnswer(OrderLineAnswer):
    lines: list[LineAnswer]
    ticket_list: list[TicketAnswer]
    net: NetAnswer | None


class PlacedAnswer(WholeOrderAnswer):
    event_id: EventId


class OrderRequest(Wire):
    event_id: EventId
    order_id: OrderId


class PlacedRequest(Wire):
    order_id: OrderId


one_order = organisers(
    "REPORT.ORDER",
    "One order with its tickets, the rights that they gave, and its payment.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}/orders/{orderId}",
    takes=OrderRequest,
    gives=WholeOrderAnswer,
    refuses=(OrderNotFound,),
    examples=(
        Example(
            "Two tickets",
            takes=OrderRequest(event_id=SOME_EVENT, order_id=SOME_ORDER),
            gives=WholeOrderAnswer(
                **{name: getattr(AN_ORDER, name) for name in OrderLineAnswer.__struct_fields__},
                lines=[LineAnswer(ticket_type_id=SOME_TYPE, name="Standing", quantity=2, unit_price_minor=2500)],
                ticket_list=[A_TICKET],
                net=NetAnswer.of(Moved(5000, 0, 300, 100), is_final=True),
            ),
        ),
    ),
)


@one_order.serves
async def see_order(call: Call, request: OrderRequest) -> WholeOrderAnswer:
    found = await call.read(_look_at, request.order_id)
    if found.event_id != request.event_id:
        raise OrderNotFound
    return WholeOrderAnswer(**{name: getattr(found, name) for name in WholeOrderAnswer.__struct_fields__})


placed = organisers(
    "REPORT.PLACED",
    "One order, for whoever knows no more than its id: a line of the ledger names nothing else.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/orders/{orderId}",
    takes=PlacedRequest,
    gives=PlacedAnswer,
    refuses=(OrderNotFound,),
    order_key="orderId",
    examples=(Example("Another's", takes=PlacedRequest(order_id=SOME_ORDER), refuses=OrderNotFound()),),
)


@placed.serves
async def see_placed(call: Call, request: PlacedRequest) -> PlacedAnswer:
    return await call.read(_look_at, request.order_id)


async def _look_at(tx: Tx, own: OrderId) -> PlacedAnswer:
    seen = next(iter(await see(tx, [own])), None)
    if seen is None:
        raise OrderNotFound
    shown = OrderLineAnswer.of(seen)
    moved = await find_moved(tx, seen.payment) if seen.payment else None
    return PlacedAnswer(
        **{name: getattr(shown, name) for name in OrderLineAnswer.__struct_fields__},
        event_id=seen.order.event_id,
        lines=[LineAnswer.of(line) for line in seen.order.lines],
        ticket_list=[TicketAnswer.of(each) for each in await find_tickets(tx, seen.order.id)],
        net=NetAnswer.of(*moved) if moved else None,
    )


CONTRACTS: Final = (some_orders, one_order, placed)
