"""An event's page: what it is, when and where, and which tickets there are.

Promise: it says what the API says of the event and nothing else (EVT-014); what was never published is not there, in
the words in which nothing is (EVT-002). Nobody has to be known to look at it, so nobody is looked up.
"""

from datetime import timedelta
from typing import Any, Final, TypeVar

from admitone.kernel.contracts import Call, Html, Wire
from admitone.kernel.contracts.refusals import RouteNotFound
from admitone.kernel.ids import Id, InvalidId
from admitone.verticals.events.api import EventId, TicketTypeId
from admitone.verticals.events.routes import public
from admitone.verticals.events.routes.public import EventPageAnswer, PageOfEventRequest, TicketAnswer
from admitone.web.form import Typed
from admitone.web.page import is_signed_in, page, show
from admitone.web.storefront.discover import AS_IT_IS_NOW

ONE_EVENING: Final = timedelta(hours=18)
"""What ends within it needs no second date."""
LONGEST_SUMMARY: Final = 160
FOR_SALE: Final = ("AVAILABLE", "FEW_LEFT")
Named = TypeVar("Named", bound=Id)


class EventPage(Wire):
    event_id: Typed
    ticket_type_id: Typed = ""
    """A ticket that only those see who have its link."""


event_page = page(
    "SHOP.EVENT",
    "An event, and its tickets.",
    get="/e/{eventId}",
    takes=EventPage,
    cache=AS_IT_IS_NOW,
    conditional=True,
)


@event_page.serves
async def show_event(call: Call, request: EventPage) -> Html:
    own = named(EventId, request.event_id)
    linked = (named(TicketTypeId, request.ticket_type_id),) if request.ticket_type_id else ()
    event: EventPageAnswer = await call.ask(public.one, PageOfEventRequest(event_id=own, ticket_type_id=linked))
    return _written.of(call, event)


class Written:
    """Pages as they were written last. The event is asked each time; but the same answer makes the same page, so
    it is not written again for whoever looks next."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pages: dict[tuple[Any, ...], tuple[EventPageAnswer, Html]] = {}

    def of(self, call: Call, event: EventPageAnswer) -> Html:
        reader = (call.path, call.query, call.language, is_signed_in(call), call.origin)
        known = self._pages.get(reader)
        if known and known[0] == event:
            return known[1]
        if len(self._pages) >= self._most:
            self._pages.clear()
        written = _write(call, event)
        self._pages[reader] = (event, written)
        return written


_written = Written(most=500)


def _write(call: Call, event: EventPageAnswer) -> Html:
    for_sale = [each for each in event.ticket_types if each.availability in FOR_SALE]
    return show(
        call,
        "storefront/event.html",
        accent=event.organizer.accent_color,
        event=event,
        most={each.ticket_type_id: most_of(each) for each in for_sale},
        good_for={each.ticket_type_id: sessions_of(each, event) for each in event.ticket_types},
        is_one_evening=event.ends_at - event.starts_at <= ONE_EVENING,
        summary=summary_of(event.description),
        origin=call.origin,
    )


def named(kind: type[Named], text: str) -> Named:
    """What a part of an address means. What means nothing is no address of ours."""
    try:
        return kind.parse(text)
    except InvalidId:
        raise RouteNotFound from None


def most_of(ticket: TicketAnswer) -> int:
    """How many somebody may choose."""
    limits = (ticket.most_per_order, ticket.most_per_buyer, ticket.left)
    return min(limit for limit in limits if limit is not None)


def sessions_of(ticket: TicketAnswer, event: EventPageAnswer) -> str:
    """What it is good for, where an event has several parts."""
    return ", ".join(each.label for each in event.sessions if each.session_id in ticket.sessions)


def summary_of(description: str) -> str:
    """The first of it, on one line, for those who only quote us."""
    words = " ".join(description.split())
    return words if len(words) <= LONGEST_SUMMARY else f"{words[: LONGEST_SUMMARY - 1].rsplit(' ', 1)[0]}…"


CONTRACTS: Final = (event_page,)
