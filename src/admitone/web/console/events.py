"""Events as their organisers run them: found, drafted, described, scheduled, ruled, published.

Promise: the pages decide nothing. What is typed is turned into the request of the contract that decides; what that
refuses is shown with all that was typed.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from admitone.foundation.organizations.routes import organizations
from admitone.kernel.contracts import Audience, Call, Html, Redirect, ValidationFailed, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import EventId
from admitone.verticals.events.routes import planning, sales
from admitone.verticals.events.routes.answers import EventAnswer
from admitone.verticals.events.routes.planning import (
    CreateRequest,
    DescribeRequest,
    ScheduleRequest,
    ScheduleWire,
)
from admitone.verticals.events.routes.wires import AboutWire, EventRequest, SessionWire, VenueWire
from admitone.web.console.clocks import instant_there, typed_there
from admitone.web.console.desk import new_key, shown_again
from admitone.web.console.onboarding import is_unready
from admitone.web.console.place import Place, enter, show_in
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page

TAB: Final = "events"
BLANK_SESSIONS: Final = 3
SETTINGS_R: Final = "SETTINGS_R"
STATE_WORDS: Final[dict[str, str]] = {"DRAFT": "Draft", "PUBLISHED": "Published", "CANCELLED": "Cancelled"}
STATE_KINDS: Final = {"DRAFT": "waiting", "PUBLISHED": "good", "CANCELLED": "bad"}
PRICING_WORDS: Final[dict[str, str]] = {"STANDARD": "Tickets may cost something", "FREE_ONLY": "All tickets are free"}
TYPE_WORDS: Final[dict[str, str]] = {
    "ON_SALE": "On sale",
    "HIDDEN": "Only with its link",
    "ARCHIVED": "Not sold any more",
}
TYPE_KINDS: Final = {"ON_SALE": "good", "HIDDEN": "twice", "ARCHIVED": "plain"}
ZONES: Final = (
    *("Europe/Lisbon", "Atlantic/Azores", "Atlantic/Madeira", "Europe/London", "Europe/Madrid", "Europe/Paris"),
    *("Europe/Berlin", "Europe/Rome", "America/Sao_Paulo", "America/Manaus", "America/Bahia", "America/Recife"),
    *("America/New_York", "America/Chicago", "America/Los_Angeles", "Africa/Luanda", "Africa/Maputo", "UTC"),
)

LongText = Annotated[str, Meta(max_length=40_000)]
Boxes = Annotated[list[Typed], Meta(max_length=120)]


# -- One event


class EventPage(Wire):
    organization_id: OrganizationId
    event_id: EventId


event_page = page(
    "ORG.EVENT",
    "One event with what is sold for it.",
    get="/org/{organizationId}/events/{eventId}",
    takes=EventPage,
    audience=Audience.PERSON,
)
publish = page(
    "ORG.EVENT.PUBLISH",
    "Publish an event.",
    post="/org/{organizationId}/events/{eventId}/publish",
    takes=EventPage,
    audience=Audience.PERSON,
    reads=None,
)


@event_page.serves
async def show_event(call: Call, request: EventPage) -> Html:
    place = await enter(call, request.organization_id)
    return await shown_event(call, place, request.event_id)


@publish.serves
async def publish_event(call: Call, request: EventPage) -> Html | Redirect:
    place = await enter(call, request.organization_id)
    try:
        await call.ask(planning.publish, EventRequest(event_id=request.event_id), organization=place.id)
    except Refusal as refusal:
        return await shown_event(call, place, request.event_id, Form.refused(Wire(), refusal, call.words))
    return Redirect(place.path(TAB, request.event_id))


async def get_event(call: Call, place: Place, event: EventId) -> EventAnswer:
    found: EventAnswer = await call.ask(planning.show, EventRequest(event_id=event), organization=place.id)
    return found


async def shown_event(call: Call, place: Place, own: EventId, form: Form | None = None) -> Html:
    """With what is left of each ticket; a form that was refused says why."""
    form = form or Form()
    event = await get_event(call, place, own)
    totals = await call.ask(sales.totals, EventRequest(event_id=own), organization=place.id)
    shown = {"event": event, "free": {each.ticket_type_id: each.free for each in totals.ticket_types}}
    words = {"states": STATE_WORDS, "kinds": STATE_KINDS, "type_states": TYPE_WORDS, "type_kinds": TYPE_KINDS}
    labels = {each.pool.pool_id: each.label for each in event.shared_pools}
    more = {"labels": labels, "unready": await is_unready(call, place)}
    return show_in(call, place, TAB, "console/event.html", status=form.status, form=form, **more, **shown, **words)


# -- What it says of itself


class AboutFields(Wire):
    title: Typed = ""
    description: LongText = ""
    name: Typed = ""
    """Of the venue."""
    address: Typed = ""
    city: Typed = ""
    country: Typed = ""
    least_age: Typed = ""
    hold_minutes: Typed = ""
    allow_zero_price_tickets: Typed = ""
    pricing_mode: Typed = ""


def about_of(form: AboutFields) -> AboutWire:
    venue = filled(
        VenueWire, name=form.name, address=form.address, city=form.city, country=form.country.strip().upper()
    )
    return filled(
        AboutWire,
        title=form.title,
        description=form.description.replace("\r\n", "\n"),
        venue=venue,
        least_age=form.least_age,
        hold_minutes=form.hold_minutes,
        allow_zero_price_tickets=form.allow_zero_price_tickets,
        pricing_mode=form.pricing_mode,
    )


def typed_about(event: EventAnswer) -> dict[str, Any]:
    """What the form shows of it, by the names of its fields."""
    return {
        **msgspec.to_builtins(event.venue),
        "title": event.title,
        "description": event.description,
        "leastAge": event.least_age or "",
        "holdMinutes": event.hold_minutes,
        "allowZeroPriceTickets": "true" if event.allow_zero_price_tickets else "",
        "pricingMode": event.pricing_mode,
    }


class NewPage(Wire):
    organization_id: OrganizationId


class NewForm(AboutFields, kw_only=True):
    organization_id: OrganizationId
    starts_at: Typed = ""
    ends_at: Typed = ""
    time_zone: Typed = ""
    currency: Typed = ""
    key: Typed = ""


new_page = page(
    "ORG.EVENT.NEW",
    "Draft an event.",
    get="/org/{organizationId}/events/new",
    takes=NewPage,
    audience=Audience.PERSON,
)
create = page(
    "ORG.EVENT.NEW.DO",
    "Draft an event.",
    post="/org/{organizationId}/events/new",
    takes=NewForm,
    audience=Audience.PERSON,
)


@new_page.serves
async def show_new(call: Call, request: NewPage) -> Html:
    place = await enter(call, request.organization_id)
    usual = {"timeZone": ZONES[0], "currency": "EUR", "holdMinutes": 15, "key": new_key()}
    if place.may(SETTINGS_R):
        settings = (await call.ask(organizations.show, organization=place.id)).settings
        usual |= {"timeZone": settings.time_zone, "currency": settings.default_currency}
    return _new(call, place, Form(usual))


@create.serves
async def create_event(call: Call, form: NewForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        event = await call.ask(planning.create, _created(form), organization=place.id)
    except Refusal as refusal:
        return _new(call, place, Form.refused(shown_again(form, refusal), refusal, call.words))
    return Redirect(place.path(TAB, event.event_id))


def _created(form: NewForm) -> CreateRequest:
    return filled(
        CreateRequest,
        about=about_of(form),
        schedule=ScheduleWire(
            starts_at=instant_there(form.starts_at, form.time_zone, "startsAt"),
            ends_at=instant_there(form.ends_at, form.time_zone, "endsAt"),
            time_zone=form.time_zone,
        ),
        currency=form.currency.strip().upper(),
        idempotency_key=form.key,
    )


def _new(call: Call, place: Place, form: Form) -> Html:
    return show_in(
        call, place, TAB, "console/event-new.html", status=form.status, form=form, zones=ZONES, modes=PRICING_WORDS
    )


class EditForm(AboutFields, kw_only=True):
    organization_id: OrganizationId
    event_id: EventId
    version: Typed = ""


edit_page = page(
    "ORG.EVENT.EDIT",
    "What an event says of itself.",
    get="/org/{organizationId}/events/{eventId}/edit",
    takes=EventPage,
    audience=Audience.PERSON,
)
edit = page(
    "ORG.EVENT.EDIT.DO",
    "Change what an event says of itself.",
    post="/org/{organizationId}/events/{eventId}/edit",
    takes=EditForm,
    audience=Audience.PERSON,
)


@edit_page.serves
async def show_edit(call: Call, request: EventPage) -> Html:
    place = await enter(call, request.organization_id)
    event = await get_event(call, place, request.event_id)
    return _edited(call, place, event, Form({**typed_about(event), "version": event.version}))


@edit.serves
async def edit_event(call: Call, form: EditForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        asked = filled(DescribeRequest, event_id=form.event_id, about=about_of(form), version=form.version)
        await call.ask(planning.describe, asked, organization=place.id)
    except Refusal as refusal:
        event = await get_event(call, place, form.event_id)
        return _edited(call, place, event, Form.refused(form, refusal, call.words))
    return Redirect(place.path(TAB, form.event_id))


def _edited(call: Call, place: Place, event: EventAnswer, form: Form) -> Html:
    return show_in(
        call, place, TAB, "console/event-edit.html", status=form.status, form=form, event=event, modes=PRICING_WORDS
    )


# -- When it takes place


class ScheduleForm(Wire):
    organization_id: OrganizationId
    event_id: EventId
    session_id: Boxes
    """Boxes that are empty are sent as well: the rows of the four are the same."""
    session_label: Boxes
    session_starts: Boxes
    session_ends: Boxes
    starts_at: Typed = ""
    ends_at: Typed = ""
    time_zone: Typed = ""
    version: Typed = ""


schedule_page = page(
    "ORG.EVENT.SCHEDULE",
    "When an event takes place.",
    get="/org/{organizationId}/events/{eventId}/schedule",
    takes=EventPage,
    audience=Audience.PERSON,
)
schedule = page(
    "ORG.EVENT.SCHEDULE.DO",
    "Say when an event takes place.",
    post="/org/{organizationId}/events/{eventId}/schedule",
    takes=ScheduleForm,
    audience=Audience.PERSON,
)

Row = tuple[str, str, str, str]
"""A session as it is typed: its id, if it has one, its name, when it begins and ends."""


@schedule_page.serves
async def show_schedule(call: Call, request: EventPage) -> Html:
    place = await enter(call, request.organization_id)
    event = await get_event(call, place, request.event_id)
    zone = event.time_zone
    typed = {
        "startsAt": typed_there(event.starts_at, zone),
        "endsAt": typed_there(event.ends_at, zone),
        "timeZone": zone,
        "version": event.version,
    }
    rows = [
        (str(each.session_id), each.label, typed_there(each.starts_at, zone), typed_there(each.ends_at, zone))
        for each in event.sessions
    ]
    return _scheduled(call, place, event, Form(typed), rows)


@schedule.serves
async def reschedule(call: Call, form: ScheduleForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    rows = rows_of(form)
    try:
        await call.ask(planning.reschedule, _schedule_of(form, rows), organization=place.id)
    except Refusal as refusal:
        event = await get_event(call, place, form.event_id)
        return _scheduled(call, place, event, Form.refused(form, refusal, call.words), rows)
    return Redirect(place.path(TAB, form.event_id))


def rows_of(form: ScheduleForm) -> list[Row]:
    """Those in which something was typed; a session whose boxes were all emptied is left out."""
    rows = zip(form.session_id, form.session_label, form.session_starts, form.session_ends, strict=False)
    return [row for row in rows if any(row[1:])]


def _schedule_of(form: ScheduleForm, rows: Sequence[Row]) -> ScheduleRequest:
    zone = form.time_zone
    sessions = [
        filled(
            SessionWire,
            session_id=own,
            label=label,
            starts_at=instant_there(begins, zone, "sessions"),
            ends_at=instant_there(ends, zone, "sessions"),
        )
        for own, label, begins, ends in rows
    ]
    if not form.version.isdecimal():
        raise ValidationFailed.at("$.version", "Expected a number")
    return ScheduleRequest(
        event_id=form.event_id,
        starts_at=instant_there(form.starts_at, zone, "startsAt"),
        ends_at=instant_there(form.ends_at, zone, "endsAt"),
        time_zone=zone,
        sessions=sessions,
        version=int(form.version[:9]),
    )


def _scheduled(call: Call, place: Place, event: EventAnswer, form: Form, rows: Sequence[Row]) -> Html:
    boxes = [*rows, *[("", "", "", "")] * BLANK_SESSIONS]
    shown = {"form": form, "event": event, "rows": boxes, "zones": ZONES}
    return show_in(call, place, TAB, "console/event-schedule.html", status=form.status, **shown)


CONTRACTS: Final = (
    new_page,
    create,
    event_page,
    publish,
    edit_page,
    edit,
    schedule_page,
    schedule,
)
