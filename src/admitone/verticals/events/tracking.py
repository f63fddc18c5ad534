"""Tickets follow the rights that they gave.

Promise (EVT-040, EVT-045 to EVT-047): a ticket stands where its rights do, in whatever order that is told and however
often; what was revoked for good is on sale again, once; whoever owns the rights owns the ticket, and a guest who is a
user by now has the order, too.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from admitone.entitlements import api as entitlements
from admitone.entitlements.api import Entitlement, Hold, Revocation, Status
from admitone.entitlements.facts import (
    EntitlementClaimed,
    EntitlementFact,
    EntitlementReleased,
    EntitlementRevoked,
    EntitlementSuspended,
    EntitlementTransferred,
)
from admitone.finance.sources.api import SourceType
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.jobs import Delivered, Kind, Priority, Subscription
from admitone.selling.stock import api as stock
from admitone.selling.stock.api import GiveBack, HoldId, UnitId
from admitone.verticals.events.model import Order, OrderId, Ticket, TicketStatus
from admitone.verticals.events.store import orders
from admitone.verticals.events.store import tickets as store

HEARD: Final[tuple[type[EntitlementFact], ...]] = (
    EntitlementSuspended,
    EntitlementReleased,
    EntitlementRevoked,
    EntitlementTransferred,
    EntitlementClaimed,
)
GONE: Final = {
    Revocation.REFUND: TicketStatus.REFUNDED,
    Revocation.CHARGEBACK: TicketStatus.CHARGEBACK_LOST,
    Revocation.CANCELLATION: TicketStatus.CANCELLED,
    Revocation.ADMIN: TicketStatus.CANCELLED,
    Revocation.VIOLATION: TicketStatus.CANCELLED,
}


def status_of(rights: Sequence[Entitlement]) -> TicketStatus:
    """Of a ticket that gave these. As long as one is left, it is one; that its time is over is no state of it."""
    left = [each for each in rights if each.status is not Status.REVOKED]
    if not left:
        return next(GONE[each.revoked_for] for each in rights if each.revoked_for)
    disputed = any(Hold.DISPUTE in each.held_for for each in left)
    return TicketStatus.DISPUTED if disputed else TicketStatus.ACTIVE


async def follow(tx: Tx, ids: Collection[OrderId]) -> None:
    """The tickets of these orders, as their rights stand now."""
    locked = await orders.lock_orders(tx, sorted(ids), lambda own: own)
    tickets = await store.find_of_orders(tx, locked)
    rights: dict[tuple[str, str, int], list[Entitlement]] = {}
    for each in await entitlements.list_of_sources(tx, SourceType.TICKET_ORDER, [str(own) for own in locked]):
        rights.setdefault((each.source.id, each.line_key, each.piece or 0), []).append(each)
    before = {each.id: each for each in tickets}
    after = [_moved(each, rights.get(each.name, ())) for each in tickets]
    moved = [each for each in after if each != before[each.id]]
    await store.move_tickets(tx, before, moved)
    await _give_back(tx, [each for each in moved if _is_gone(each) and not _is_gone(before[each.id])])
    await _hand_to_users(tx, locked)


def _moved(ticket: Ticket, rights: Sequence[Entitlement]) -> Ticket:
    if not rights:
        return ticket
    status = ticket.status if _is_gone(ticket) else status_of(rights)
    return msgspec.structs.replace(ticket, status=status, owner=rights[0].owner)


def _is_gone(ticket: Ticket) -> bool:
    return ticket.status in GONE.values()


async def _give_back(tx: Tx, gone: Sequence[Ticket]) -> None:
    """On sale again."""
    wanted = [
        GiveBack(each, HoldId(each.order_id.uuid), str(each.id), {str(each.ticket_type): 1}, _seat(each))
        for each in gone
    ]
    for outcome in await stock.give_back(tx, wanted):
        if isinstance(outcome, Refusal):
            raise outcome  # What was sold can come back: a bug.


def _seat(ticket: Ticket) -> tuple[UnitId, ...]:
    return (UnitId(ticket.unit_id),) if ticket.unit_id else ()


async def _hand_to_users(tx: Tx, locked: Mapping[OrderId, Order]) -> None:
    """To whoever the guest turned out to be, and to nobody else: what was passed on was ordered by somebody else."""
    guests = {own: each.buyer for own, each in locked.items() if each.is_guest}
    users = await entitlements.find_claimed(tx, {*guests.values()}) if guests else {}
    await orders.hand_over(tx, {own: users[buyer] for own, buyer in guests.items() if buyer in users})


def _hears(fact: type[EntitlementFact]) -> Kind[Any]:
    async def hear(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
        own = [each.payload for each in told if each.payload.source_type == SourceType.TICKET_ORDER]
        await follow(tx, {OrderId.parse(each.source_id) for each in own})

    return Kind(f"events.{fact.name.replace('.', '_')}", fact, hear, outside=False, priority=Priority.CRITICAL)


SUBSCRIPTIONS: Final = tuple(Subscription(fact, _hears(fact)) for fact in HEARD)
JOBS: Final = tuple(each.kind for each in SUBSCRIPTIONS)
