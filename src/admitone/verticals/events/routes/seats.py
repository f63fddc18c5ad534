"""Which numbered seats of a ticket can be had, for whoever looks at an event's page.

Promise: a seat is free or taken, and nobody reads whose it is. What is overdue is shown as taken until somebody needs
it or the minute is over: an order is told the truth.
"""

from typing import Annotated, Final

from msgspec import Meta

from admitone.kernel.contracts import Call, Example, Page, PageRequest, Wire, page_of
from admitone.kernel.db import Tx
from admitone.selling.stock.api import PoolId, Unit, UnitId, list_units
from admitone.verticals.events.errors import EventNotFound, NotSeated, TicketTypeNotFound
from admitone.verticals.events.model import EventId, TicketTypeId, TypeStatus
from admitone.verticals.events.policy import is_public
from admitone.verticals.events.routes.public import ASKED_EACH_TIME, home_of, public
from admitone.verticals.events.routes.wires import SOME_EVENT, SOME_TYPE
from admitone.verticals.events.store import events


class SeatsRequest(PageRequest, kw_only=True):
    event_id: EventId
    ticket_type_id: TicketTypeId
    limit: Annotated[int, Meta(ge=1, le=1000)] = 500


class SeatAnswer(Wire):
    unit_id: UnitId
    label: str
    available: bool

    @classmethod
    def of(cls, unit: Unit) -> "SeatAnswer":
        return cls(unit_id=unit.id, label=unit.label, available=unit.hold is None)


A_SEAT: Final = SeatAnswer(unit_id=UnitId.parse("unt_0198c9a40000700080000000000000f3"), label="A1", available=True)

seats = public(
    "SEATS",
    "The numbered seats of a ticket, by their labels, and which are free.",
    get="/api/events/{eventId}/ticket-types/{ticketTypeId}/seats",
    takes=SeatsRequest,
    gives=Page[SeatAnswer],
    refuses=(EventNotFound, TicketTypeNotFound, NotSeated),
    order_key="eventId",
    cache=ASKED_EACH_TIME,
    conditional=True,
    examples=(
        Example(
            "A hall",
            takes=SeatsRequest(event_id=SOME_EVENT, ticket_type_id=SOME_TYPE),
            gives=Page(items=[A_SEAT], next_cursor=None),
        ),
        Example("A draft", takes=SeatsRequest(event_id=SOME_EVENT, ticket_type_id=SOME_TYPE), refuses=EventNotFound()),
    ),
)


@seats.serves
async def see_seats(call: Call, request: SeatsRequest) -> Page[SeatAnswer]:
    (after,) = request.after(tuple[str]) or ("",)

    async def look(tx: Tx) -> list[Unit]:
        event = (await events.find_events(tx, [request.event_id])).get(request.event_id)
        if event is None or not is_public(event):
            raise EventNotFound
        kind = (await events.find_types(tx, [request.ticket_type_id])).get(request.ticket_type_id)
        if kind is None or kind.event_id != event.id or kind.status is TypeStatus.ARCHIVED:
            raise TicketTypeNotFound
        if not kind.seated:
            raise NotSeated
        return await list_units(tx, PoolId(kind.pool_id), after, request.limit + 1)

    units = await call.read(look, scope=await home_of(call, request.event_id))
    return page_of([SeatAnswer.of(each) for each in units], request.limit, lambda each: (each.label,))


CONTRACTS: Final = (seats,)
