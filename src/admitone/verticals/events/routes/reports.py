"""What an organiser sees of an event's sales: its orders, what is left, and how it sells day by day."""

from datetime import date
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta

from admitone.kernel.contracts import (
    Call,
    Count,
    Example,
    Instant,
    Minor,
    Page,
    PageRequest,
    SignedMinor,
    ValidationFailed,
    Wire,
    cursor_of,
)
from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from admitone.verticals.events.errors import EventNotFound, OrderNotFound
from admitone.verticals.events.model import EventId, OrderId, TicketTypeId, TypeStatus
from admitone.verticals.events.netting import Moved
from admitone.verticals.events.queries import find_plan
from admitone.verticals.events.reporting import (
    OrdersWanted,
    SeenOrder,
    Standing,
    find_moved,
    find_tickets,
    list_orders,
    see,
    sum_sales,
)
from admitone.verticals.events.routes.answers import PoolAnswer, SharedPoolAnswer
from admitone.verticals.events.routes.orders import SOME_ORDER, LineAnswer
from admitone.verticals.events.routes.purchases import A_PAYMENT, A_TICKET, PaymentAnswer, TicketAnswer
from admitone.verticals.events.routes.wires import (
    EVENTS_R,
    SOME_EVENT,
    SOME_POOL,
    SOME_TYPE,
    SOONER,
    THEN,
    EventRequest,
    organisers,
)
from admitone.verticals.events.store.reports import LAST

MOST_DAYS: Final = 366
USUAL_DAYS: Final = 30
FIRST_DAY, LAST_DAY = date(1970, 1, 2), date(8999, 12, 30)
SOMEBODY: Final = IdentityId.parse("idn_0198c9a40000700080000000000000c4")


# -- Orders


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

    @property
    def wanted(self) -> OrdersWanted:
        return OrdersWanted(self.event_id, self.state, self.since, self.until, self.order_id, self.buyer_id)


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
    "The orders of an event, the latest first. A page may be short and still have a next: it looked far for what is "
    "rare.",
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
    (before,) = request.after(tuple[UUID]) or (LAST,)
    found = await call.read(list_orders, request.wanted, before, request.limit)
    items = [OrderLineAnswer.of(each) for each in found.items]
    return Page(items=items, next_cursor=cursor_of((found.looked_until,)) if found.looked_until else None)


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


class OrderRequest(Wire):
    event_id: EventId
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
    async def look(tx: Tx) -> WholeOrderAnswer:
        seen = next(
            (each for each in await see(tx, [request.order_id]) if each.order.event_id == request.event_id), None
        )
        if seen is None:
            raise OrderNotFound
        shown = OrderLineAnswer.of(seen)
        moved = await find_moved(tx, seen.payment) if seen.payment else None
        return WholeOrderAnswer(
            **{name: getattr(shown, name) for name in OrderLineAnswer.__struct_fields__},
            lines=[LineAnswer.of(line) for line in seen.order.lines],
            ticket_list=[TicketAnswer.of(each) for each in await find_tickets(tx, seen.order.id)],
            net=NetAnswer.of(*moved) if moved else None,
        )

    return await call.read(look)


# -- Sales


class DayAnswer(Wire):
    """What was sold of a type on one day of the event's own calendar; what went back since counts on that day, too."""

    day: date
    ticket_type_id: TicketTypeId
    orders: Count
    tickets: Count
    gross_minor: Minor
    """At their prices: before discounts, taxes and fees."""
    refunded_tickets: Count
    refunded_minor: Minor
    """At their prices."""


class SalesAnswer(Wire):
    since: date
    until: date
    time_zone: str
    currency: str
    days: list[DayAnswer]
    """Those on which something was sold, by day and type."""


class SalesRequest(Wire):
    event_id: EventId
    since: Annotated[date | None, Meta(description="The first day, there. Left out, a month before the last.")] = None
    until: Annotated[date | None, Meta(description="The last day, there. Left out, today.")] = None


sales = organisers(
    "REPORT.SALES",
    "What was sold on each day, as the clocks at the event count days.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}/sales",
    takes=SalesRequest,
    gives=SalesAnswer,
    refuses=(EventNotFound,),
    examples=(
        Example(
            "A good day",
            takes=SalesRequest(event_id=SOME_EVENT, since=SOONER.date(), until=SOONER.date()),
            gives=SalesAnswer(
                since=SOONER.date(),
                until=SOONER.date(),
                time_zone="Europe/Lisbon",
                currency="EUR",
                days=[
                    DayAnswer(
                        day=SOONER.date(),
                        ticket_type_id=SOME_TYPE,
                        orders=1,
                        tickets=2,
                        gross_minor=5000,
                        refunded_tickets=0,
                        refunded_minor=0,
                    )
                ],
            ),
        ),
        Example("No such event", takes=SalesRequest(event_id=SOME_EVENT), refuses=EventNotFound()),
    ),
)


@sales.serves
async def see_sales(call: Call, request: SalesRequest) -> SalesAnswer:
    given = [each for each in (request.since, request.until) if each]
    is_in_order = given == sorted(given) and (len(given) < 2 or (given[1] - given[0]).days < MOST_DAYS)
    if not is_in_order or not all(FIRST_DAY <= each <= LAST_DAY for each in given):
        raise ValidationFailed.at("$.until", f"Days are in order, and {MOST_DAYS} at the most")
    found = await call.read(sum_sales, request.event_id, request.since, request.until, USUAL_DAYS, MOST_DAYS)
    if found is None:
        raise EventNotFound
    return SalesAnswer(
        since=found.days[0],
        until=found.days[-1],
        time_zone=found.event.time_zone,
        currency=found.event.currency,
        days=[
            DayAnswer(
                day=found.days[each.day - 1],
                ticket_type_id=each.ticket_type,
                orders=each.orders,
                tickets=each.tickets,
                gross_minor=each.gross_minor,
                refunded_tickets=each.gone,
                refunded_minor=each.refunded_minor,
            )
            for each in found.sold
        ],
    )


# -- What is left


class TotalAnswer(Wire):
    ticket_type_id: TicketTypeId
    name: str
    status: TypeStatus
    pool: PoolAnswer
    free: Count
    """What can still be had, with regard to what it shares with others."""


class TotalsAnswer(Wire):
    ticket_types: list[TotalAnswer]
    shared_pools: list[SharedPoolAnswer]
    at: Instant


totals = organisers(
    "REPORT.TOTALS",
    "How many there are of each ticket, kept for whoever is paying, sold, and left.",
    permission=EVENTS_R,
    get="/api/org/{organizationId}/events/{eventId}/totals",
    takes=EventRequest,
    gives=TotalsAnswer,
    refuses=(EventNotFound,),
    examples=(
        Example(
            "A night",
            takes=EventRequest(event_id=SOME_EVENT),
            gives=TotalsAnswer(
                ticket_types=[
                    TotalAnswer(
                        ticket_type_id=SOME_TYPE,
                        name="Standing",
                        status=TypeStatus.ON_SALE,
                        pool=PoolAnswer(pool_id=SOME_POOL, capacity=500, held=2, sold=40),
                        free=458,
                    )
                ],
                shared_pools=[],
                at=THEN,
            ),
        ),
        Example("No such event", takes=EventRequest(event_id=SOME_EVENT), refuses=EventNotFound()),
    ),
)


@totals.serves
async def see_totals(call: Call, request: EventRequest) -> TotalsAnswer:
    async def look(tx: Tx) -> TotalsAnswer:
        plan = await find_plan(tx, request.event_id)
        if plan is None:
            raise EventNotFound
        return TotalsAnswer(
            ticket_types=[
                TotalAnswer(
                    ticket_type_id=each.id,
                    name=each.name,
                    status=each.status,
                    pool=PoolAnswer.of(each.pool_id, plan.pools.get(each.pool_id)),
                    free=max(plan.free(each), 0),
                )
                for each in plan.types
            ],
            shared_pools=[
                SharedPoolAnswer(label=each.label, pool=PoolAnswer.of(each.id, plan.pools.get(each.id)))
                for each in plan.shared
            ],
            at=tx.now,
        )

    return await call.read(look)


CONTRACTS: Final = (some_orders, one_order, sales, totals)
