"""What organisers and buyers look at: orders with what became of them, tickets with who came in, sales day by day, and
what each ticket brought.

Promise: nothing is decided by it and nothing is written. A page reads no more than it may, however rare what is looked
for: it says how far it looked, and whoever asks goes on from there. Days are the event's own (EVT-006). Whatever is
said of money is the ledger's and the payment's word, never computed anew.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Final, Generic, Protocol, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from admitone.entitlements import api as entitlements
from admitone.entitlements.api import Entitlement
from admitone.finance.ledger import api as ledger
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment, Scenario
from admitone.finance.pricing.api import LineItem, Tampered
from admitone.finance.sources.api import SourceType
from admitone.kernel.clock import zone
from admitone.kernel.db import Tx
from admitone.kernel.ids import Id, IdentityId
from admitone.kernel.statements import ListOrder
from admitone.verticals.events.model import (
    Event,
    EventId,
    Order,
    OrderId,
    OrderState,
    Ticket,
    TicketId,
    TicketStatus,
    TicketTypeId,
)
from admitone.verticals.events.netting import Brought, Moved, brought
from admitone.verticals.events.store import events, orders, reports
from admitone.verticals.events.store import tickets as ticket_store
from admitone.verticals.events.store.reports import CLOCKS_DIFFER, FIRST, LAST, SoldOn, id_near

FARTHEST: Final = 20_000
"""Rows that are looked at for one page."""
MOST_AT_ONCE: Final = 2_000
TICKETS: Final = 500
"""In one page of an export, with the others of their orders."""


# -- Pages


class _Row(Protocol):
    @property
    def id(self) -> Id: ...


Row = TypeVar("Row", bound=_Row)
Read = Callable[[UUID | None, int], Awaitable[list[Row]]]


class Walked(msgspec.Struct, Generic[Row], frozen=True):
    items: list[Row]
    looked_until: UUID | None = None
    """Where to go on, if there is more to look at."""


async def walk(read: Read[Row], wanted: Callable[[Row], bool], place: UUID | None, most: int) -> Walked[Row]:
    """Those that are wanted, from that place on, or as many of them as there are within what may be looked at."""
    items: list[Row] = []
    looked, step = 0, most + 1
    while True:
        page = await read(place, step)
        for each in page:
            if len(items) == most:
                return Walked(items, place)
            place, looked = each.id.uuid, looked + 1
            if wanted(each):
                items.append(each)
        if len(page) < step:
            return Walked(items)
        if looked >= FARTHEST:
            return Walked(items, place)
        step = min(4 * step, MOST_AT_ONCE)


# -- Orders


class Standing(StrEnum):
    """The states of orders, and what the clock makes of one that is open."""

    OPEN = "OPEN"
    EXPIRED = "EXPIRED"
    """It was not paid while it was kept."""
    FULFILLED = "FULFILLED"
    CANCELLED = "CANCELLED"
    RETURNED = "RETURNED"


def standing_of(order: Order, now: datetime) -> Standing:
    if order.state is OrderState.OPEN and order.expires_at <= now:
        return Standing.EXPIRED
    return Standing(order.state.value)


class OrdersWanted(msgspec.Struct, frozen=True):
    """Which orders of an event, and from which end."""

    event: EventId
    standing: Standing | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Placed before then."""
    order: OrderId | None = None
    buyer: IdentityId | None = None
    way: ListOrder = ListOrder.NEWEST


class SeenOrder(msgspec.Struct, frozen=True):
    """An order with what was paid for it, or is being paid."""

    order: Order
    standing: Standing
    payment: Payment | None


class SeenOrders(msgspec.Struct, frozen=True):
    items: list[SeenOrder]
    looked_until: UUID | None


async def list_orders(tx: Tx, wanted: OrdersWanted, place: UUID | None, most: int) -> SeenOrders:
    first = id_near(wanted.since - CLOCKS_DIFFER) if wanted.since else FIRST
    last = id_near(wanted.until + CLOCKS_DIFFER) if wanted.until else LAST

    async def read(place: UUID | None, limit: int) -> list[Order]:
        stretch = wanted.way.between(place, first, last)
        return await reports.list_orders(tx, wanted.event, *stretch, limit, wanted.way)

    def is_wanted(order: Order) -> bool:
        return (
            (wanted.standing is None or standing_of(order, tx.now) is wanted.standing)
            and (wanted.since is None or order.created_at >= wanted.since)
            and (wanted.until is None or order.created_at < wanted.until)
            and (wanted.buyer is None or order.buyer == wanted.buyer)
        )

    if wanted.order is not None:
        named = (await orders.find_orders(tx, [wanted.order])).values()
        found = Walked([each for each in named if each.event_id == wanted.event and is_wanted(each)])
    else:
        found = await walk(read, is_wanted, place, most)
    return SeenOrders(await see(tx, [each.id for each in found.items]), found.looked_until)


async def see(tx: Tx, ids: Sequence[OrderId]) -> list[SeenOrder]:
    """With their lines and payments, in this order."""
    placed = await orders.find_orders(tx, ids)
    paid = await find_telling(tx, [*placed])
    return [SeenOrder(placed[own], standing_of(placed[own], tx.now), paid.get(own)) for own in ids if own in placed]


async def find_telling(tx: Tx, ids: Collection[OrderId]) -> dict[OrderId, Payment]:
    """The payment that tells how an order stands, of those that anybody tried to pay for."""
    tried = await payments.find_of_sources(tx, SourceType.TICKET_ORDER, [str(own) for own in ids])
    return {own: payment for own in ids if (payment := telling(tried[str(own)]))}


def telling(tried: Sequence[Payment]) -> Payment | None:
    """Of all that were tried for an order, the one that tells how it stands: what paid for it, or the last."""
    return next((each for each in tried if each.applied), tried[-1] if tried else None)


# -- Tickets


class SeenTicket(msgspec.Struct, frozen=True):
    """A ticket with the rights that it gave."""

    ticket: Ticket
    rights: tuple[Entitlement, ...]

    @property
    def id(self) -> TicketId:
        return self.ticket.id

    @property
    def entries(self) -> int:
        return sum(each.entries for each in self.rights)


class TicketsWanted(msgspec.Struct, frozen=True):
    """Which tickets of an event, and from which end."""

    event: EventId
    ticket_type: TicketTypeId | None = None
    status: TicketStatus | None = None
    order: OrderId | None = None
    way: ListOrder = ListOrder.OLDEST
    came_in: bool | None = None


class SeenTickets(msgspec.Struct, frozen=True):
    items: list[SeenTicket]
    looked_until: UUID | None


async def list_tickets(tx: Tx, wanted: TicketsWanted, place: UUID | None, most: int) -> SeenTickets:
    """By when they were issued."""

    async def read(place: UUID | None, limit: int) -> list[Ticket]:
        return await reports.list_tickets(tx, wanted.event, place, limit, wanted.way)

    async def of_order(place: UUID | None, limit: int) -> list[Ticket]:
        after, before = wanted.way.ids(place)
        own = await ticket_store.find_of_orders(tx, [order] if order else ())
        rest = [each for each in own if each.event_id == wanted.event and after < each.id.uuid < before]
        return sorted(rest, key=lambda each: each.id, reverse=wanted.way is ListOrder.NEWEST)[:limit]

    def is_wanted(ticket: Ticket) -> bool:
        return wanted.ticket_type in (None, ticket.ticket_type) and wanted.status in (None, ticket.status)

    async def seen(place: UUID | None, limit: int) -> list[SeenTicket]:
        return await with_rights(tx, await read_some(place, limit))

    def came_so(each: SeenTicket) -> bool:
        return is_wanted(each.ticket) and (each.entries > 0) is wanted.came_in

    order = wanted.order
    read_some = of_order if order else read
    if wanted.came_in is None:
        found = await walk(read_some, is_wanted, place, most)
        return SeenTickets(await with_rights(tx, found.items), found.looked_until)
    came = await walk(seen, came_so, place, most)
    return SeenTickets(came.items, came.looked_until)


async def with_rights(tx: Tx, tickets: Sequence[Ticket]) -> list[SeenTicket]:
    sources = {str(each.order_id) for each in tickets}
    rights: dict[tuple[str, str, int], list[Entitlement]] = {}
    for each in await entitlements.list_of_sources(tx, SourceType.TICKET_ORDER, sources) if sources else []:
        rights.setdefault((each.source.id, each.line_key, each.piece or 0), []).append(each)
    return [SeenTicket(each, tuple(rights.get(piece_of(each), ()))) for each in tickets]


def piece_of(ticket: Ticket) -> tuple[str, str, int]:
    """By which its rights name it."""
    return str(ticket.order_id), str(ticket.ticket_type), ticket.emission_index


async def find_tickets(tx: Tx, order: OrderId) -> list[SeenTicket]:
    return await with_rights(tx, await ticket_store.find_of_orders(tx, [order]))


async def find_kept(tx: Tx, order: Order) -> list[SeenTicket]:
    """Those tickets of an order that are still whoever's they were: who came in with others is not theirs to see."""
    owners = await find_owners(tx, order)
    seen = [
        SeenTicket(each.ticket, tuple(right for right in each.rights if right.owner in owners))
        for each in await find_tickets(tx, order.id)
    ]
    return [each for each in seen if each.rights]


async def find_owners(tx: Tx, order: Order) -> set[IdentityId]:
    """Whoever placed it, by every id that they have had."""
    return {order.buyer, *(await entitlements.find_claimed(tx, [order.buyer])).values()}


async def find_of_rights(tx: Tx, rights: Collection[Entitlement]) -> dict[str, Ticket]:
    """The ticket that each of these came from, by the right's id; of what was no ticket's, none."""
    own = [each for each in rights if each.source.type is SourceType.TICKET_ORDER]
    found = await ticket_store.find_of_orders(tx, {OrderId.parse(each.source.id) for each in own})
    pieces = {piece_of(each): each for each in found}
    named = {str(each.id): pieces.get((each.source.id, each.line_key, each.piece or 0)) for each in own}
    return {own: ticket for own, ticket in named.items() if ticket}


# -- Sales


class Sales(msgspec.Struct, frozen=True):
    event: Event
    days: list[date]
    sold: list[SoldOn]


async def sum_sales(
    tx: Tx, event: EventId, first: date | None, last: date | None, usual: int, most: int
) -> Sales | None:
    """Day by day as the clocks there count them; left out, until today, and so many days as is usual."""
    found = (await events.find_events(tx, [event])).get(event)
    if found is None:
        return None
    there = zone(found.time_zone)
    days = _days(tx.now.astimezone(there).date(), first, last, usual, most)
    midnights = [_midnight(day, there) for day in (*days, days[-1] + timedelta(days=1))]
    return Sales(found, days, await reports.sum_sales(tx, event, midnights))


def _days(today: date, first: date | None, last: date | None, usual: int, most: int) -> list[date]:
    last = last or today
    first = first or last - timedelta(days=usual - 1)
    return [first + timedelta(days=number) for number in range(min(max((last - first).days + 1, 1), most))]


def _midnight(day: date, there: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), there).astimezone(UTC)


# -- What a day brought


class NetOn(msgspec.Struct, frozen=True):
    """What became of the money of all who began to pay on one day."""

    day: date
    payments: int
    moved: Moved


class Nets(msgspec.Struct, frozen=True):
    event: Event
    days: list[date]
    brought: list[NetOn]
    """Those on which somebody paid."""
    is_complete: bool
    """Whether nobody was left out, because it would have been too far to look."""


async def sum_nets(tx: Tx, event: EventId, first: date | None, last: date | None, usual: int, most: int) -> Nets | None:
    """By the same days as sales."""
    found = (await events.find_events(tx, [event])).get(event)
    if found is None:
        return None
    there = zone(found.time_zone)
    days = _days(tx.now.astimezone(there).date(), first, last, usual, most)
    begins, ends = (_midnight(day, there) for day in (days[0], days[-1] + timedelta(days=1)))
    sums: dict[date, NetOn] = {}
    place, looked = id_near(begins - CLOCKS_DIFFER), 0
    while looked < FARTHEST:
        page = await payments.list_of_subject(tx, found.subject, place, MOST_AT_ONCE)
        within = [each for each in page if begins <= each.created_at < ends]
        await _add_up(tx, sums, within, there)
        if len(page) < MOST_AT_ONCE or page[-1].created_at >= ends + CLOCKS_DIFFER:
            return Nets(found, days, [sums[day] for day in sorted(sums)], is_complete=True)
        place, looked = page[-1].id.uuid, looked + len(page)
    return Nets(found, days, [sums[day] for day in sorted(sums)], is_complete=False)


async def _add_up(tx: Tx, sums: dict[date, NetOn], paid: Sequence[Payment], there: ZoneInfo) -> None:
    entries = await ledger.net_by_type(tx, [each.id for each in paid])
    for each in paid:
        day = each.created_at.astimezone(there).date()
        before = sums.get(day, NetOn(day, 0, Moved()))
        moved = Moved.of(entries.get((each.id, each.currency), {}))
        sums[day] = NetOn(day, before.payments + 1, before.moved.and_also(moved))


# -- What each ticket brought


async def find_moved(tx: Tx, payment: Payment) -> tuple[Moved, bool]:
    """What happened to its money, and whether the processor has said its last word of it."""
    entries = (await ledger.net_by_type(tx, [payment.id])).get((payment.id, payment.currency), {})
    return Moved.of(entries), is_final(payment)


def is_final(payment: Payment) -> bool:
    return payment.scenario is Scenario.FREE_CHECKOUT or payment.processor_fees_status == "FINAL"


class NetRow(msgspec.Struct, frozen=True):
    ticket: Ticket
    payment: Payment
    brought: Brought


class NetPage(msgspec.Struct, frozen=True):
    rows: list[NetRow]
    last: UUID | None
    """Where to go on; none, if it is over."""


async def list_nets(tx: Tx, event: EventId, after: UUID) -> NetPage:
    """The next orders by their first tickets, each with all of its tickets: so the rows of a payment stand together,
    and are of one moment."""
    page = await reports.list_tickets(tx, event, after, TICKETS)
    if not page:
        return NetPage([], None)
    every = await ticket_store.find_of_orders(tx, {each.order_id for each in page})
    of_order: dict[OrderId, list[Ticket]] = {}
    for each in sorted(every, key=lambda ticket: ticket.id):
        of_order.setdefault(each.order_id, []).append(each)
    fresh = {own: tickets for own, tickets in of_order.items() if tickets[0].id.uuid > after}
    placed = await orders.find_orders(tx, fresh)
    paid = await payments.find_payments(tx, {each.payment_id for each in placed.values() if each.payment_id})
    moved = await ledger.net_by_type(tx, [*paid])
    rows = []
    for own, tickets in fresh.items():
        payment = paid[placed[own].payment_id]  # type: ignore[index]  # Tickets were issued: it is paid.
        moves = Moved.of(moved.get((payment.id, payment.currency), {}))
        parts: Mapping[TicketId, Brought] = brought(tickets, _items(payment), moves, payment.currency)
        rows += [NetRow(each, payment, parts[each.id]) for each in tickets]
    return NetPage(rows, page[-1].id.uuid)


def _items(payment: Payment) -> tuple[LineItem, ...]:
    """As they were priced. Where that cannot be read any more, the ledger's sums are still shared out."""
    try:
        return payment.price.line_items
    except Tampered:
        return ()
