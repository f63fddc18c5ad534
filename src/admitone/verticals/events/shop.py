"""Tickets, as finance sees them: what an order costs, whether it may still be paid (FIN-017), and that it is kept for
whoever pays."""

from collections.abc import Sequence
from datetime import datetime

from admitone.finance.payments.api import SourceNotSold
from admitone.finance.sources.port import Guard, Keeping, Line, Offer, Wanted
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.verticals.events import sales
from admitone.verticals.events.commands.waiting import keep_for_payers
from admitone.verticals.events.model import (
    AccessPolicy,
    Event,
    Order,
    OrderState,
    TicketType,
    TicketTypeId,
    order_id_of,
)
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import orders


class TicketShop:
    """Offers orders that are open, to whoever placed them, for as long as they are kept."""

    async def offer(self, tx: Tx, wanted: Sequence[Wanted]) -> Sequence[Offer | Refusal]:
        ids = [order_id_of(each.source.id) for each in wanted]
        placed = await orders.find_orders(tx, {own for own in ids if own})
        events = {each.event_id for each in placed.values()}
        known = await store.find_events(tx, events)
        policies = await store.find_policies(tx, events)
        types = await store.find_types(tx, {line.ticket_type for each in placed.values() for line in each.lines})
        sessions = await store.find_named_sessions(tx, types.values())
        offers: list[Offer | Refusal] = []
        for each, own in zip(wanted, ids, strict=True):
            order = placed.get(own) if own else None
            event = known[order.event_id] if order else None
            if (
                order is None
                or event is None
                or order.state is not OrderState.OPEN
                or sales.why_ended(order, event, types, sessions.get(event.id, ()), tx.now)
            ):
                offers.append(SourceNotSold())
                continue
            offers.append(_offer(each, order, event, policies[event.id], types, tx.now))
        return offers

    async def keep(self, tx: Tx, keepings: Sequence[Keeping]) -> Sequence[Refusal | None]:
        return await keep_for_payers(tx, keepings)


def _offer(
    wanted: Wanted,
    order: Order,
    event: Event,
    policy: AccessPolicy,
    types: dict[TicketTypeId, TicketType],
    now: datetime,
) -> Offer:
    return Offer(
        source=wanted.source,
        buyer=order.buyer,
        currency=order.currency,
        lines=tuple(
            Line(str(each.ticket_type), each.name, each.unit_price_minor, each.quantity) for each in order.lines
        ),
        expires_at=order.expires_at,
        description=event.title,
        subjects=(event.subject,),
        guards=tuple(
            Guard(f"{event.subject}:{each.ticket_type}", each.quantity, types[each.ticket_type].free_per_person)
            for each in order.lines
        ),
        guest_allowed=order.is_guest and policy.guest_checkout_allowed,
        payable_until=sales.payable_until(order, event, now),
    )
