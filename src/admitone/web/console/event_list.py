"""The events of an organisation: searched, by state, the latest or the soonest first."""

from typing import Final

from admitone.kernel.contracts import Audience, Call, Html, Stream
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.routes import planning
from admitone.verticals.events.routes.planning import EventsRequest
from admitone.web.console.events import STATE_KINDS, STATE_WORDS, TAB
from admitone.web.console.place import enter, show_in
from admitone.web.form import Form, Typed
from admitone.web.lists import Listing, ListPage, Source
from admitone.web.page import page

ORDER_WORDS: Final[dict[str, str]] = {"LATEST": "The latest first", "SOONEST": "The soonest first"}
EVENTS: Final = Source(
    planning.mine,
    ORDER_WORDS,
    (
        *("event_id", "title", "status", "starts_at", "ends_at", "time_zone", "currency"),
        *("venue.name", "venue.address", "venue.city", "venue.country"),
    ),
    name="events",
    rows=50,
)


class EventsPage(ListPage, kw_only=True):
    organization_id: OrganizationId
    text: Typed = ""
    status: Typed = ""


events_page = page(
    "ORG.EVENTS",
    "The events of an organisation.",
    get="/org/{organizationId}/events",
    takes=EventsPage,
    audience=Audience.PERSON,
)


@events_page.serves
async def show_events(call: Call, request: EventsPage) -> Html | Stream:
    place = await enter(call, request.organization_id)
    status = request.status if request.status in STATE_WORDS else ""
    asked = EVENTS.asked(EventsRequest, request, status=status, text=request.text[:200])
    found = await EVENTS.read(call, request, asked, place.id)
    if isinstance(found, Stream):
        return found
    return show_in(
        call,
        place,
        TAB,
        "console/events.html",
        lines=found.items,
        listing=Listing.of(request, place.path(TAB), ORDER_WORDS, found),
        form=Form.of(request),
        states=STATE_WORDS,
        kinds=STATE_KINDS,
    )


CONTRACTS: Final = (events_page,)
