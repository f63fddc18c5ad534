"""What everybody may see: what is on, an event's page, and calendars.

Promise: what was never published is not there, in the very words in which anything is not there that never was
(EVT-002); lists and feeds show what is published, listed and not over (EVT-003, EVT-010); a page says what can be
bought and by whom in the words of the rules that an order obeys (EVT-014), and is asked for each time: whether
something is sold out is never remembered. Whoever has the same bytes already is told so instead.
"""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import Meta

from admitone.foundation.organizations.api import Settings
from admitone.kernel.clock import local, zone
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Count,
    Example,
    File,
    Instant,
    Minor,
    Page,
    PageRequest,
    Wire,
    Writes,
    page_of,
)
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from admitone.verticals.events import calendars
from admitone.verticals.events.errors import EventNotFound
from admitone.verticals.events.model import (
    AccessMode,
    EventId,
    EventStatus,
    SessionId,
    TicketType,
    TicketTypeId,
)
from admitone.verticals.events.policy import MOST_TYPES, Availability, availability, derived_is_free
from admitone.verticals.events.queries import (
    EARLIEST,
    EVERYWHERE,
    FIRST,
    LATEST,
    Look,
    PublicPage,
    find_in_calendar,
    list_in_calendar,
    look_at,
)
from admitone.verticals.events.routes.wires import (
    LATER,
    SOME_EVENT,
    SOME_ORGANIZATION,
    SOME_TYPE,
    THEN,
    City,
    SessionWire,
    VenueWire,
)
from admitone.verticals.events.sales import Closed
from admitone.verticals.events.store.listing import Listed, Wanted, find_home, list_everywhere, list_of_organization
from admitone.verticals.events.structured import structured_data

FOR_A_MOMENT: Final = "public, max-age=5"
"""Lists: they say nothing of what is left."""
FOR_A_WHILE: Final = "public, max-age=300"
"""Calendars come again in an hour at the soonest."""
ASKED_EACH_TIME: Final = "no-cache"
MOST_HOMES: Final = 10_000

_homes: dict[EventId, OrganizationId] = {}


async def home_of(call: Call, event: EventId) -> Scope:
    """Where an event is kept that was published. That never changes, so it is asked once by each process; whatever is
    wanted of the event is asked of its own rows."""
    home = _homes.get(event) or await call.read(find_home, event, scope=EVERYWHERE)
    if home is None:
        raise EventNotFound
    if len(_homes) >= MOST_HOMES:
        _homes.clear()
    _homes[event] = home
    return Scope(home, "serve somebody who looks at an event")


def public(number: str, summary: str, **more: Any) -> Contract:
    usual: dict[str, Any] = {"consumers": ("web", "mobile", "everybody"), "order_key": "startsAt"}
    return Contract(
        id=f"EVT.PUBLIC.{number}",
        version="1.0.0",
        owner="events",
        summary=summary,
        audience=Audience.PUBLIC,
        **(usual | more),
    )


# -- Lists


class ListedAnswer(Wire):
    event_id: EventId
    organization_id: OrganizationId
    title: str
    starts_at: Instant
    ends_at: Instant
    time_zone: str
    local_starts_at: str
    """As the clocks there show it."""
    venue: str
    city: str
    country: str

    @classmethod
    def of(cls, line: Listed) -> "ListedAnswer":
        return cls(
            event_id=line.event_id,
            organization_id=line.organization,
            title=line.title,
            starts_at=line.starts_at,
            ends_at=line.ends_at,
            time_zone=line.time_zone,
            local_starts_at=there(line.starts_at, line.time_zone),
            venue=line.venue,
            city=line.city,
            country=line.country,
        )


def there(at: datetime, name: str) -> str:
    return local(at, zone(name)).isoformat()


A_LINE: Final = ListedAnswer(
    event_id=SOME_EVENT,
    organization_id=SOME_ORGANIZATION,
    title="Summer night",
    starts_at=THEN,
    ends_at=LATER,
    time_zone="Europe/Lisbon",
    local_starts_at=there(THEN, "Europe/Lisbon"),
    venue="Coliseu",
    city="Porto",
    country="PT",
)


class ListRequest(PageRequest, kw_only=True):
    city: City = ""
    starts_from: Instant | None = None
    starts_until: Instant | None = None

    @property
    def wanted(self) -> Wanted:
        seen = self.after(tuple[datetime, UUID]) or (EARLIEST, FIRST)
        after = max(seen, (self.starts_from or EARLIEST, FIRST))
        return Wanted(after, self.starts_until or LATEST, self.limit + 1, self.city)


class OrganizationListRequest(ListRequest, kw_only=True):
    organization_id: OrganizationId


def _page(lines: list[Listed], limit: int) -> Page[ListedAnswer]:
    answers = [ListedAnswer.of(each) for each in lines]
    return page_of(answers, limit, lambda each: (each.starts_at, each.event_id.uuid))


everything = public(
    "LIST",
    "What is on, by its beginning: of all organisations, in a city, from and until a time.",
    get="/api/events",
    takes=ListRequest,
    gives=Page[ListedAnswer],
    cache=FOR_A_MOMENT,
    conditional=True,
    examples=(Example("In Porto", takes=ListRequest(city="Porto"), gives=Page(items=[A_LINE], next_cursor=None)),),
)


@everything.serves
async def list_events(call: Call, request: ListRequest) -> Page[ListedAnswer]:
    return _page(await call.read(list_everywhere, request.wanted, scope=EVERYWHERE), request.limit)


of_organization = public(
    "ORGANIZATION",
    "What an organisation has on, by its beginning.",
    get="/api/organizations/{organizationId}/events",
    takes=OrganizationListRequest,
    gives=Page[ListedAnswer],
    cache=FOR_A_MOMENT,
    conditional=True,
    examples=(
        Example(
            "One",
            takes=OrganizationListRequest(organization_id=SOME_ORGANIZATION),
            gives=Page(items=[A_LINE], next_cursor=None),
        ),
    ),
)


@of_organization.serves
async def list_its_events(call: Call, request: OrganizationListRequest) -> Page[ListedAnswer]:
    scope = Scope(request.organization_id, "show what it has on")
    return _page(await call.read(list_of_organization, request.wanted, scope=scope), request.limit)


# -- One event


class RulesAnswer(Wire):
    """On what conditions somebody may buy."""

    mode: AccessMode
    invite_required: bool
    guest_checkout_allowed: bool
    login_required: bool
    least_age: Count | None


class TicketAnswer(Wire):
    ticket_type_id: TicketTypeId
    name: str
    description: str
    price_minor: Minor
    availability: Availability
    left: Count | None
    """How many, if those are few."""
    sales_from: Instant | None
    sales_until: Instant | None
    most_per_order: Count
    most_per_buyer: Count | None
    seated: bool
    sessions: list[SessionId]

    @classmethod
    def of(cls, kind: TicketType, page: PublicPage) -> "TicketAnswer":
        rules = page.rules.types[kind.id]
        word, left = availability(rules, page.plan.free(kind))
        return cls(
            ticket_type_id=kind.id,
            name=kind.name,
            description=kind.description,
            price_minor=kind.price_minor,
            availability=word,
            left=left,
            sales_from=kind.sales_from,
            sales_until=kind.sales_until,
            most_per_order=rules.most_per_order,
            most_per_buyer=rules.most_per_buyer,
            seated=kind.seated,
            sessions=list(kind.sessions),
        )


class OrganizerAnswer(Wire):
    organization_id: OrganizationId
    display_name: str
    accent_color: str | None
    """Of its pages, as in #8a1c4a; none, for ours."""

    @classmethod
    def of(cls, own: OrganizationId, settings: Settings) -> "OrganizerAnswer":
        return cls(organization_id=own, display_name=settings.display_name, accent_color=settings.accent_color)


class EventPageAnswer(Wire):
    event_id: EventId
    title: str
    description: str
    status: EventStatus
    closed: Closed | None
    """Why nothing is sold."""
    starts_at: Instant
    ends_at: Instant
    time_zone: str
    local_starts_at: str
    local_ends_at: str
    venue: VenueWire
    organizer: OrganizerAnswer
    currency: str
    derived_is_free: bool
    rules: RulesAnswer
    sessions: list[SessionWire]
    ticket_types: list[TicketAnswer]
    structured_data: str
    """Of schema.org, as JSON that may stand inside a script element as it is."""

    @classmethod
    def of(cls, page: PublicPage) -> "EventPageAnswer":
        event, rules = page.plan.event, page.rules
        tickets = [TicketAnswer.of(each, page) for each in page.types]
        words = {each.ticket_type_id: each.availability for each in tickets}
        return cls(
            event_id=event.id,
            title=event.title,
            description=event.description,
            status=event.status,
            closed=rules.closed,
            starts_at=event.starts_at,
            ends_at=event.ends_at,
            time_zone=event.time_zone,
            local_starts_at=there(event.starts_at, event.time_zone),
            local_ends_at=there(event.ends_at, event.time_zone),
            venue=VenueWire.of(event.venue),
            organizer=OrganizerAnswer.of(event.organization, page.organizer),
            currency=event.currency,
            derived_is_free=derived_is_free(event, page.plan.types),
            rules=RulesAnswer(
                mode=rules.mode,
                invite_required=rules.invite_required,
                guest_checkout_allowed=rules.guest_checkout_allowed,
                login_required=rules.login_required,
                least_age=rules.least_age,
            ),
            sessions=[SessionWire.of(each) for each in page.plan.sessions],
            ticket_types=tickets,
            structured_data=structured_data(event, page.types, words, page.organizer.display_name, page.to_pay),
        )


A_PAGE: Final = EventPageAnswer(
    event_id=SOME_EVENT,
    title="Summer night",
    description="",
    status=EventStatus.PUBLISHED,
    closed=None,
    starts_at=THEN,
    ends_at=LATER,
    time_zone="Europe/Lisbon",
    local_starts_at=there(THEN, "Europe/Lisbon"),
    local_ends_at=there(LATER, "Europe/Lisbon"),
    venue=VenueWire(name="Coliseu", city="Porto", country="PT"),
    organizer=OrganizerAnswer(organization_id=SOME_ORGANIZATION, display_name="Clube do Porto", accent_color="#8a1c4a"),
    currency="EUR",
    derived_is_free=False,
    rules=RulesAnswer(
        mode=AccessMode.PUBLIC,
        invite_required=False,
        guest_checkout_allowed=True,
        login_required=False,
        least_age=None,
    ),
    sessions=[],
    ticket_types=[
        TicketAnswer(
            ticket_type_id=SOME_TYPE,
            name="Standing",
            description="",
            price_minor=2500,
            availability=Availability.FEW_LEFT,
            left=3,
            sales_from=None,
            sales_until=None,
            most_per_order=10,
            most_per_buyer=None,
            seated=False,
            sessions=[],
        )
    ],
    structured_data='{"@context":"https://schema.org","@type":"Event","name":"Summer night"}',
)


class PageOfEventRequest(Wire):
    event_id: EventId
    ticket_type_id: Annotated[tuple[TicketTypeId, ...], Meta(max_length=MOST_TYPES)] = ()
    """Tickets that only those see who have their links."""


one = public(
    "EVENT",
    "An event's page.",
    get="/api/events/{eventId}",
    takes=PageOfEventRequest,
    gives=EventPageAnswer,
    refuses=(EventNotFound,),
    order_key="eventId",
    cache=ASKED_EACH_TIME,
    conditional=True,
    examples=(
        Example("A night", takes=PageOfEventRequest(event_id=SOME_EVENT), gives=A_PAGE),
        Example("A draft", takes=PageOfEventRequest(event_id=SOME_EVENT), refuses=EventNotFound()),
    ),
)


@one.serves
async def see_event(call: Call, request: PageOfEventRequest) -> EventPageAnswer:
    scope = await home_of(call, request.event_id)
    return EventPageAnswer.of(await call.batch(look_at, Look(request.event_id, request.ticket_type_id), scope=scope))


# -- Calendars


class CalendarRequest(Wire):
    event_id: EventId


class FeedRequest(Wire):
    organization_id: OrganizationId


calendar = public(
    "EVENTCALENDAR",
    "An event as calendars read it (RFC 5545).",
    get="/api/events/{eventId}/calendar.ics",
    takes=CalendarRequest,
    writes=Writes.FILE,
    refuses=(EventNotFound,),
    order_key="eventId",
    cache=FOR_A_WHILE,
    conditional=True,
    examples=(Example("A night", takes=CalendarRequest(event_id=SOME_EVENT)),),
)


@calendar.serves
async def see_calendar(call: Call, request: CalendarRequest) -> File:
    scope = await home_of(call, request.event_id)
    shown = await call.read(find_in_calendar, request.event_id, scope=scope)
    if shown is None:
        raise EventNotFound
    return File(calendars.calendar_of(shown[0].title, [shown]), calendars.CONTENT_TYPE, "event.ics")


feed = public(
    "CALENDAR",
    "What an organisation has on, as a calendar to subscribe to (RFC 5545).",
    get="/api/organizations/{organizationId}/calendar.ics",
    takes=FeedRequest,
    writes=Writes.FILE,
    cache=FOR_A_WHILE,
    conditional=True,
    examples=(Example("A club", takes=FeedRequest(organization_id=SOME_ORGANIZATION)),),
)


@feed.serves
async def see_feed(call: Call, request: FeedRequest) -> File:
    shown = await call.read(list_in_calendar, scope=Scope(request.organization_id, "show what it has on"))
    return File(calendars.calendar_of("Events", shown), calendars.CONTENT_TYPE, "events.ics")


CONTRACTS: Final = (everything, of_organization, one, calendar, feed)
