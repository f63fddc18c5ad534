"""Issuing: a paid order becomes tickets, and each ticket the right to enter.

Promise (FUL-010, FUL-011): what was kept for an order is sold to it, or granted again if its time had passed; if there
is none left, its type draws from other pools by then, what it is good for is over, or the event was cancelled, nothing
is issued and the money goes back. A ticket has its number in its order for ever (FUL-002), and one right for each
session that it is good for, under the policy in force. The first sale of an event and a change of its policy wait for
each other (EVT-017).
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from admitone.entitlements import api as entitlements
from admitone.entitlements.api import TICKET, Grant, doors_of
from admitone.finance.payments.api import Payment
from admitone.finance.payments.api import Scenario as PaidBy
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.selling.fulfilment.api import Scenario
from admitone.selling.fulfilment.port import Book, Purchase, Recipe, Step, Undeliverable
from admitone.selling.stock import api as stock
from admitone.selling.stock.api import Hold, HoldId, Unit, UnitId
from admitone.verticals.events import sales
from admitone.verticals.events.facts import OrderFulfilled, OrderReturned
from admitone.verticals.events.model import (
    ORDER,
    AccessPolicy,
    Event,
    EventId,
    Order,
    OrderId,
    OrderState,
    Session,
    Ticket,
    TicketId,
    TicketStatus,
    TicketType,
    TicketTypeId,
    emission_key,
)
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import orders
from admitone.verticals.events.store import tickets as ticket_store

LONGEST_LABEL: Final = 120
MOVED: Final = "TYPE_MOVED"


class Sold(msgspec.Struct, frozen=True):
    """What is known of the events that tickets are issued for; held until the end while none was sold, and for late
    money."""

    events: Mapping[EventId, Event]
    sessions: Mapping[EventId, tuple[Session, ...]]
    policies: Mapping[EventId, AccessPolicy]
    types: Mapping[TicketTypeId, TicketType]


async def scenario_of(tx: Tx, payments: Sequence[Payment]) -> list[Scenario]:  # noqa: ARG001
    return [Scenario.FREE if each.scenario is PaidBy.FREE_CHECKOUT else Scenario.SINGLE for each in payments]


async def issue(tx: Tx, purchases: Sequence[Purchase]) -> list[Undeliverable | None]:
    """The tickets of each, or why there are none."""
    placed = await orders.lock_orders(tx, purchases, _order)
    sold = await _look_up(tx, placed, purchases)
    reasons = {_order(each): _why_not(placed.get(_order(each)), sold, tx) for each in purchases}
    reasons |= await _find_moved(tx, [placed[own] for own, reason in reasons.items() if reason is None], sold)
    claims = [each for each in purchases if reasons[_order(each)] is None]
    holds = await stock.claim(tx, [stock.Claim(each, HoldId(_order(each).uuid)) for each in claims])
    given: list[tuple[Purchase, Order, Hold]] = []
    for each, hold in zip(claims, holds, strict=True):
        if isinstance(hold, Refusal):
            reasons[_order(each)] = hold.code
        else:
            given.append((each, placed[_order(each)], hold))
    await _hand_over(tx, given, sold)
    await _return(tx, [each for each in purchases if reasons[_order(each)]], placed, reasons)
    return [Undeliverable(reason) if (reason := reasons[_order(each)]) else None for each in purchases]


def _order(purchase: Purchase) -> OrderId:
    return OrderId.parse(purchase.payment.source.id)


async def _look_up(tx: Tx, placed: Mapping[OrderId, Order], purchases: Sequence[Purchase]) -> Sold:
    events = {each.event_id for each in placed.values()}
    known = await store.find_events(tx, events)
    waits = [each for each in purchases if _must_wait(tx, placed.get(_order(each)), known)]
    # Whoever changes the policy, or what a type draws from, waits for this one, or this one for them.
    known |= await store.lock_events(tx, waits, lambda each: placed[_order(each)].event_id)
    types = {line.ticket_type for each in placed.values() for line in each.lines}
    return Sold(
        known,
        await store.find_sessions(tx, events),
        await store.find_policies(tx, events),
        await store.find_types(tx, types),
    )


def _must_wait(tx: Tx, order: Order | None, known: Mapping[EventId, Event]) -> bool:
    return order is not None and (known[order.event_id].first_sold_at is None or _is_late(tx, order))


def _is_late(tx: Tx, order: Order) -> bool:
    """Whether what was kept for it may be somebody else's by now; until then nobody changes where it counts."""
    return order.expires_at <= tx.now + stock.SURELY


async def _find_moved(tx: Tx, placed: Sequence[Order], sold: Sold) -> dict[OrderId, str | None]:
    """Late ones whose types draw from other pools by now, or are good for other sessions: taken again where it was
    kept, it would count where nobody looks any more, and the others would hold more people than they have places; and
    who paid for Friday does not want Saturday."""
    late = [each for each in placed if _is_late(tx, each)]
    holds = await stock.find_holds(tx, {HoldId(each.id.uuid) for each in late}) if late else {}
    return {each.id: MOVED for each in late if _has_moved(each, holds.get(HoldId(each.id.uuid)), sold)}


def _has_moved(order: Order, hold: Hold | None, sold: Sold) -> bool:
    types = {line.ticket_type: sold.types[line.ticket_type] for line in order.lines}
    if any(
        each.sessions is not None and {*each.sessions} != {*types[each.ticket_type].sessions} for each in order.lines
    ):
        return True
    kept = {(each.item, each.pool.uuid) for each in hold.portions} if hold else None
    return kept is not None and kept != {(str(kind.id), pool) for kind in types.values() for pool in kind.pools}


def _why_not(order: Order | None, sold: Sold, tx: Tx) -> str | None:
    if order is None:
        return "ORDER_UNKNOWN"
    if order.state is not OrderState.OPEN:
        return f"ORDER_{order.state}"
    return sales.why_ended(order, sold.events[order.event_id], sold.types, sold.sessions[order.event_id], tx.now)


async def _hand_over(tx: Tx, given: Sequence[tuple[Purchase, Order, Hold]], sold: Sold) -> None:
    seats = {seat for _, _, hold in given for portion in hold.portions for seat in portion.seats}
    units = await stock.find_units(tx, seats) if seats else {}
    tickets: list[Ticket] = []
    grants: list[Grant] = []
    for purchase, order, hold in given:
        own = _tickets(tx, order, hold, units)
        tickets += own
        grants += [each for ticket in own for each in _grants(purchase, order, ticket, sold)]
    owners: dict[tuple[str, str, int | None], IdentityId] = {}
    for outcome in await entitlements.grant(tx, grants):
        if isinstance(outcome, Refusal):
            raise outcome  # It is paid, and held until the end: a bug.
        owners[outcome.source.id, outcome.line_key, outcome.piece] = outcome.owner
    # A guest may be a user by now, who owns what is granted.
    tickets = [msgspec.structs.replace(each, owner=owners[each.name]) for each in tickets]
    await ticket_store.insert_tickets(tx, tickets)
    before = {order.id: order for _, order, _ in given}
    await orders.move_orders(tx, before, [_fulfilled(tx, purchase, order) for purchase, order, _ in given])
    await orders.hand_over(
        tx, {each.order_id: each.owner for each in tickets if each.owner != before[each.order_id].buyer}
    )
    fresh = {order.event_id for _, order, _ in given if sold.events[order.event_id].first_sold_at is None}
    await store.mark_first_sale(tx, fresh)
    for purchase, order, _ in given:
        tx.publish(purchase.caller, OrderFulfilled.of(order, purchase.payment.id))


def _tickets(tx: Tx, order: Order, hold: Hold, units: Mapping[UnitId, Unit]) -> list[Ticket]:
    seats = {each.item: each.seats for each in hold.portions if each.seats}
    tickets = []
    for line in order.lines:
        own = seats.get(str(line.ticket_type), ())
        for index in range(line.quantity):
            unit = units[own[index]] if own else None
            tickets.append(
                Ticket(
                    id=TicketId.new(),
                    order_id=order.id,
                    event_id=order.event_id,
                    ticket_type=line.ticket_type,
                    emission_index=index,
                    owner=order.buyer,
                    status=TicketStatus.ACTIVE,
                    price_minor=line.unit_price_minor,
                    unit_id=unit.id.uuid if unit else None,
                    seat=unit.label if unit else None,
                    version=1,
                    created_at=tx.now,
                    changed_at=tx.now,
                )
            )
    return tickets


def _grants(purchase: Purchase, order: Order, ticket: Ticket, sold: Sold) -> list[Grant]:
    """One for each session that it is good for (ENT-025); of an event without any, one."""
    event, kind = sold.events[order.event_id], sold.types[ticket.ticket_type]
    policy = sold.policies[event.id]
    chosen = [each for each in sold.sessions[event.id] if not kind.sessions or each.id in kind.sessions]
    whole: list[Session | None] = [None]
    grants = []
    for session in chosen or whole:
        when = session or event
        opens, closes = doors_of(when.starts_at, when.ends_at)
        label = " · ".join(each for each in (kind.name, ticket.seat, session and session.label) if each)
        grants.append(
            Grant(
                caller=purchase.caller,
                emission_key=emission_key(order.id, kind.id, ticket.emission_index, session.id if session else None),
                source=purchase.payment.source,
                line_key=str(kind.id),
                piece=ticket.emission_index,
                owner=order.buyer,
                kind=TICKET.name,
                label=label[:LONGEST_LABEL],
                valid_from=opens,
                valid_until=closes,
                policy=policy.checkin,
                policy_version=policy.version,
                event_id=str(event.id),
                session_id=str(session.id) if session else None,
                payment=purchase.payment.id,
            )
        )
    return grants


def _fulfilled(tx: Tx, purchase: Purchase, order: Order) -> Order:
    return msgspec.structs.replace(
        order, state=OrderState.FULFILLED, payment_id=purchase.payment.id, fulfilled_at=tx.now
    )


async def _return(
    tx: Tx, refused: Sequence[Purchase], placed: Mapping[OrderId, Order], reasons: Mapping[OrderId, str | None]
) -> None:
    """What the orders say of money that goes back; one that was fulfilled before stays so. What may still be kept for
    them is overdue, or of what is sold no more: its time ends it. To release it here would lock pools a second time,
    and in another order than everybody else."""
    back = [each for each in refused if _order(each) in placed]
    own = [placed[_order(each)] for each in back]
    may = [order for order in own if ORDER.may(order.state, OrderState.RETURNED)]
    after = [msgspec.structs.replace(order, state=OrderState.RETURNED) for order in may]
    await orders.move_orders(tx, placed, after)
    for each in back:
        order, reason = placed[_order(each)], reasons[_order(each)]
        tx.publish(each.caller, OrderReturned.of(order, each.payment.id, reason=str(reason)))


ISSUE: Final = Step("ISSUE_TICKETS", issue)
BOOK: Final = Book(
    scenario_of,
    {
        Scenario.SINGLE: Recipe("ISSUE_TICKETS", (ISSUE,)),
        Scenario.FREE: Recipe("ISSUE_TICKETS_FREE", (ISSUE,)),
    },
)
"""Promotions bring APPLY_PROMO_REDEMPTION; the receipt is sent by whoever hears that an order was fulfilled."""
