"""Giving back single tickets of an order.

Promise (FIN-072): the money of these tickets goes back, and when it arrived these are gone and on sale again, and no
others (OPS-041). Until then nothing changes for whoever has them. A key gives back once, and a ticket goes back once.
"""

from collections.abc import Mapping, Sequence
from uuid import uuid5

import msgspec

from admitone.finance.payments.api import NotRefundable
from admitone.finance.refunds import api as refunds
from admitone.finance.refunds.api import Piece, Reason, Refund, RefundId, Request
from admitone.kernel.commands import command
from admitone.kernel.db import Busy, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller
from admitone.verticals.events.errors import OrderNotFound, TicketNotActive, TicketNotFound
from admitone.verticals.events.model import Order, OrderId, Ticket, TicketId, TicketStatus
from admitone.verticals.events.store import orders
from admitone.verticals.events.store import tickets as store


class Returning(msgspec.Struct, frozen=True):
    caller: Caller
    order: OrderId
    tickets: tuple[TicketId, ...]
    reason: Reason
    key: str

    @property
    def refund(self) -> RefundId:
        """For ever that of its key."""
        return RefundId(uuid5(self.order.uuid, self.key))


@command(keyed_by=lambda returning: returning.order)
async def give_back(tx: Tx, returnings: Sequence[Returning]) -> list[Refund | Refusal]:
    """What each costs is on its way, or why not. That a piece goes back once is decided while its payment is held."""
    ids = {each.order for each in returnings}
    placed = await orders.find_orders(tx, ids)
    sold: dict[OrderId, dict[TicketId, Ticket]] = {own: {} for own in ids}
    for ticket in await store.find_of_orders(tx, ids):
        sold[ticket.order_id][ticket.id] = ticket
    known = await refunds.find_refunds(tx, [each.refund.uuid for each in returnings])
    asked: list[tuple[Returning, Request]] = []
    outcomes: dict[int, Refund | Refusal] = {}
    for each in returnings:
        wanted = _request(each, placed.get(each.order), sold[each.order], is_known=each.refund.uuid in known)
        if isinstance(wanted, Refusal):
            outcomes[id(each)] = wanted
        else:
            asked.append((each, wanted))
    for (each, _), said in zip(asked, await _request_refunds(tx, asked), strict=True):
        outcomes[id(each)] = said
    return [outcomes[id(each)] for each in returnings]


async def find_wanted(tx: Tx, returning: Returning) -> Request | Refusal:
    """What would be asked of refunds; of no ticket in particular, all that is left."""
    placed = (await orders.find_orders(tx, [returning.order])).get(returning.order)
    if placed is not None and placed.payment_id is None:
        return NotRefundable(status=placed.state.value)
    sold = {each.id: each for each in await store.find_of_orders(tx, [returning.order])}
    return _request(returning, placed, sold, is_known=False)


async def _request_refunds(tx: Tx, asked: Sequence[tuple[Returning, Request]]) -> Sequence[Refund | Refusal]:
    """What is busy is told by the inputs of this batch."""
    whose = {id(request): returning for returning, request in asked}
    try:
        return await refunds.request_refunds(tx, [request for _, request in asked])
    except Busy as busy:
        raise Busy({key: [whose[id(each)] for each in inputs] for key, inputs in busy.inputs_by_key.items()}) from None


def _request(
    returning: Returning, order: Order | None, sold: Mapping[TicketId, Ticket], *, is_known: bool
) -> Request | Refusal:
    if order is None:
        return OrderNotFound()
    for own in returning.tickets:
        if own not in sold:
            return TicketNotFound(ticket=str(own))
        # Asked again, it is what was given back.
        if sold[own].status is not TicketStatus.ACTIVE and not is_known:
            return TicketNotActive(ticket=str(own), status=sold[own].status.value)
    assert order.payment_id is not None, "what has tickets was paid for"
    pieces = tuple(_piece(sold[own]) for own in dict.fromkeys(returning.tickets))
    return Request(returning.caller, order.payment_id, returning.refund, returning.reason, pieces)


def _piece(ticket: Ticket) -> Piece:
    return Piece(str(ticket.ticket_type), 1, (ticket.emission_index,))
