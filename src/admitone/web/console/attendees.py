"""The tickets of an event and who came in on them; somebody by name; and why a ticket opens a door or does not.

Promise: a name or an address that somebody looks for stands in no address of a page.
"""

from functools import partial
from typing import Final

from msgspec.structs import replace

from admitone.entitlements.api import EntitlementId
from admitone.entitlements.routes import exporting, why
from admitone.entitlements.routes.exporting import ExportRequest
from admitone.entitlements.routes.why import WhyRequest
from admitone.kernel.contracts import Audience, Call, Html, Stream, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.routes import attendees
from admitone.verticals.events.routes.attendees import AttendeesRequest, SearchRequest
from admitone.web.console import desk
from admitone.web.console.place import enter, show_in
from admitone.web.console.programme import ExportForm, open_programme
from admitone.web.form import Form, Typed, filled
from admitone.web.lists import OLDEST_WORDS, Listing, ListPage, Source
from admitone.web.page import page

TAB: Final = "attendees"
EXPORT_WORDS: Final[dict[str, str]] = {
    "GUEST_LIST": "A list for the door",
    "CONTACT_ATTENDEES": "To reach those who come",
    "SAFETY": "For their safety",
    "CUSTOMER_REQUEST": "A customer asked",
}
"""Why names and addresses are taken away."""
TICKETS: Final = Source(
    attendees.attendees,
    OLDEST_WORDS,
    (
        *("ticket_id", "order_id", "ticket_type_id", "seat", "status", "holder_id"),
        *("came_in", "entries", "first_entry_at"),
    ),
    name="tickets",
)
DOOR_WORDS: Final[dict[str, str]] = {
    "INVALID_TOKEN": "The code is not valid",
    "TOKEN_EXPIRED": "The code is too old",
    "WRONG_EVENT": "It is for another event",
    "WRONG_SESSION": "It is for another session",
    "ENTITLEMENT_NOT_ACTIVE": "It is not valid any more",
    "NOT_YET_VALID": "It is not valid yet",
    "NO_LONGER_VALID": "Its time is over",
    "METHOD_NOT_ALLOWED": "One does not come in this way here",
    "ALREADY_CONSUMED": "Somebody came in on it before",
    "REENTRY_WINDOW_PASSED": "It is too late to come in again",
    "MAX_ENTRIES_REACHED": "It was used as often as it may be",
}
"""Why a door stays shut."""


class AttendeesPage(ListPage, kw_only=True):
    organization_id: OrganizationId
    event_id: Typed = ""
    ticket_type_id: Typed = ""
    status: Typed = ""
    came_in: Typed = ""
    order_id: Typed = ""


class SearchForm(Wire):
    organization_id: OrganizationId
    event_id: Typed = ""
    search: Typed = ""
    cursor: Typed = ""


class WhyPage(Wire):
    organization_id: OrganizationId
    entitlement_id: EntitlementId


attendees_page = page(
    "ORG.ATTENDEES",
    "The tickets of an event, and who came in on them.",
    get="/org/{organizationId}/attendees",
    takes=AttendeesPage,
    audience=Audience.PERSON,
)
search = page(
    "ORG.ATTENDEES.SEARCH",
    "Find somebody's tickets, by name or by e-mail address.",
    post="/org/{organizationId}/attendees/search",
    takes=SearchForm,
    audience=Audience.PERSON,
)
export = page(
    "ORG.ATTENDEES.EXPORT",
    "Take away who holds which right, with names and addresses.",
    post="/org/{organizationId}/attendees/export",
    takes=ExportForm,
    audience=Audience.PERSON,
)
why_page = page(
    "ORG.WHY",
    "Why a right opens a door, or does not.",
    get="/org/{organizationId}/attendees/{entitlementId}/why",
    takes=WhyPage,
    audience=Audience.PERSON,
)


@attendees_page.serves
async def show_attendees(call: Call, request: AttendeesPage) -> Html | Stream:
    return await _attendees(call, request, Form.of(request))


@search.serves
async def find_somebody(call: Call, form: SearchForm) -> Html | Stream:
    asked = AttendeesPage(organization_id=form.organization_id, event_id=form.event_id)
    try:
        wanted = filled(
            SearchRequest, event_id=form.event_id, search=form.search, cursor=form.cursor, limit=str(desk.ROWS)
        )
        found = await call.ask(attendees.find_attendees, wanted, organization=form.organization_id)
    except Refusal as refusal:
        return await _attendees(call, asked, desk.refused(call, form, refusal))
    return await _attendees(call, asked, Form.of(form), found=found)


@export.serves
async def take_away(call: Call, form: ExportForm) -> Html | Stream:
    try:
        asked = filled(ExportRequest, event_id=form.event_id, reason_code=form.reason_code)
        taken: Stream = await call.ask(exporting.export, asked, organization=form.organization_id)
    except Refusal as refusal:
        again = AttendeesPage(organization_id=form.organization_id, event_id=form.event_id)
        return await _attendees(call, again, desk.refused(call, form, refusal))
    return taken


async def _attendees(call: Call, request: AttendeesPage, form: Form, found: object = None) -> Html | Stream:
    """All of them, or those whom somebody looked for."""
    place = await enter(call, request.organization_id)
    programme = await open_programme(call, place, request.event_id)
    event, seen = programme.event, None
    if event is not None:
        request = replace(request, event_id=str(event.event_id))
    if event is not None and found is None and not form.says:
        looked = await TICKETS.look(call, request, partial(_asked, request), place.id)
        if isinstance(looked, Stream):
            return looked
        seen, form = looked
    return show_in(
        call,
        place,
        TAB,
        "console/attendees.html",
        status=form.status,
        programme=programme,
        event=event,
        form=form,
        seen=seen,
        found=found,
        listing=Listing.of(request, place.path(TAB), OLDEST_WORDS, seen),
        tickets=desk.TICKETS,
        rights=desk.RIGHTS,
        reasons=EXPORT_WORDS,
    )


def _asked(request: AttendeesPage) -> AttendeesRequest:
    return TICKETS.asked(
        AttendeesRequest,
        request,
        event_id=request.event_id,
        ticket_type_id=request.ticket_type_id,
        status=request.status,
        came_in=request.came_in,
        order_id=request.order_id.strip(),
    )


@why_page.serves
async def show_why(call: Call, request: WhyPage) -> Html:
    place = await enter(call, request.organization_id)
    chain = await call.ask(why.why, WhyRequest(entitlement_id=request.entitlement_id), organization=place.id)
    return show_in(
        call,
        place,
        TAB,
        "console/why.html",
        chain=chain,
        zone=place.zone,
        rights=desk.RIGHTS,
        payments=desk.PAYMENTS,
        refunds=desk.REFUNDS,
        doors=DOOR_WORDS,
        takes_away=f"/api/org/{place.id}/checkin/entitlements/{request.entitlement_id}/why.json",
    )


CONTRACTS: Final = (attendees_page, search, export, why_page)
