"""What is sold for an event: tickets with their terms, the order in which people see them, and pools that they share.

Promise: the pages decide nothing; prices are typed in whole units of the event's currency, times by the clock there.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta

from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.selling.stock.api import PoolId
from admitone.verticals.events.api import EventId, SharedPoolNotFound, TicketTypeId, TicketTypeNotFound
from admitone.verticals.events.routes import offering
from admitone.verticals.events.routes.answers import EventAnswer, TypeAnswer
from admitone.verticals.events.routes.offering import (
    LARGE_BODY,
    ArrangeRequest,
    OfferRequest,
    ResizeRequest,
    ReviseRequest,
    ShareRequest,
    SupplyWire,
)
from admitone.web.console.clocks import instant_if_any, typed_there
from admitone.web.console.desk import new_key, shown_again
from admitone.web.console.events import TAB, TYPE_WORDS, EventPage, get_event
from admitone.web.console.place import Place, enter, show_in
from admitone.web.console.prices import minor_of, typed_price
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page

TEMPLATE: Final = "console/ticket-type.html"
SeatList = Annotated[str, Meta(max_length=700_000)]
Chosen = Annotated[list[Typed], Meta(max_length=100)]


class TermsFields(Wire):
    """On what terms a ticket is sold, as it is typed."""

    organization_id: OrganizationId
    event_id: EventId
    name: Typed = ""
    description: Typed = ""
    price: Typed = ""
    capacity: Typed = ""
    seats: SeatList = ""
    """One in a line, the best first."""
    allow_zero_price: Typed = ""
    free_per_person: Typed = ""
    shared_pools: Chosen = []  # noqa: RUF012, msgspec copies it
    sales_from: Typed = ""
    sales_until: Typed = ""
    most_per_order: Typed = ""
    most_per_buyer: Typed = ""
    status: Typed = ""
    sessions: Chosen = []  # noqa: RUF012, msgspec copies it


def terms_of(form: TermsFields, event: EventAnswer) -> dict[str, Any]:
    """By the names of the request's own fields."""
    zone = event.time_zone
    return {
        "event_id": event.event_id,
        "name": form.name,
        "description": form.description.replace("\r\n", "\n"),
        "price_minor": minor_of(form.price, event.currency, "price"),
        "allow_zero_price": form.allow_zero_price,
        "free_per_person": form.free_per_person,
        "shared_pools": form.shared_pools,
        "sales_from": instant_if_any(form.sales_from, zone, "salesFrom"),
        "sales_until": instant_if_any(form.sales_until, zone, "salesUntil"),
        "most_per_order": form.most_per_order,
        "most_per_buyer": form.most_per_buyer,
        "status": form.status,
        "sessions": form.sessions,
    }


def supply_of(form: TermsFields) -> SupplyWire | None:
    """So many, or these seats; nothing typed is nothing said."""
    seats = [line.strip() for line in form.seats.splitlines() if line.strip()]
    if seats:
        return filled(SupplyWire, seats=seats)
    return filled(SupplyWire, capacity=form.capacity) if form.capacity else None


def typed_terms(kind: TypeAnswer, event: EventAnswer) -> dict[str, Any]:
    zone = event.time_zone
    return {
        "name": kind.name,
        "description": kind.description,
        "price": typed_price(kind.price_minor, event.currency),
        "capacity": "" if kind.seated else kind.pool.capacity,
        "allowZeroPrice": kind.allow_zero_price,
        "freePerPerson": kind.free_per_person,
        "sharedPools": [str(each) for each in kind.shared_pools],
        "salesFrom": typed_there(kind.sales_from, zone),
        "salesUntil": typed_there(kind.sales_until, zone),
        "mostPerOrder": kind.most_per_order,
        "mostPerBuyer": kind.most_per_buyer or "",
        "status": kind.status,
        "sessions": [str(each) for each in kind.sessions],
        "version": kind.version,
    }


# -- A new one


class OfferForm(TermsFields, kw_only=True):
    key: Typed = ""


offer_page = page(
    "ORG.TYPE.NEW",
    "Put a ticket on sale.",
    get="/org/{organizationId}/events/{eventId}/types/new",
    takes=EventPage,
    audience=Audience.PERSON,
)
offer = page(
    "ORG.TYPE.NEW.DO",
    "Put a ticket on sale.",
    post="/org/{organizationId}/events/{eventId}/types/new",
    takes=OfferForm,
    audience=Audience.PERSON,
    max_body_bytes=LARGE_BODY,
)


@offer_page.serves
async def show_offer(call: Call, request: EventPage) -> Html:
    place = await enter(call, request.organization_id)
    event = await get_event(call, place, request.event_id)
    usual = {"mostPerOrder": 10, "freePerPerson": 1, "status": "ON_SALE", "key": new_key()}
    return _shown(call, place, event, Form(usual))


@offer.serves
async def offer_type(call: Call, form: OfferForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    event = await get_event(call, place, form.event_id)
    try:
        terms = terms_of(form, event)
        asked = filled(OfferRequest, **terms, supply=supply_of(form) or SupplyWire(), idempotency_key=form.key)
        await call.ask(offering.offer, asked, organization=place.id)
    except Refusal as refusal:
        return _shown(call, place, event, Form.refused(shown_again(form, refusal), refusal, call.words))
    return Redirect(place.path(TAB, event.event_id))


# -- Other terms


class TypePage(EventPage, kw_only=True):
    ticket_type_id: TicketTypeId


class ReviseForm(TermsFields, kw_only=True):
    ticket_type_id: TicketTypeId
    version: Typed = ""


revise_page = page(
    "ORG.TYPE",
    "The terms of a ticket.",
    get="/org/{organizationId}/events/{eventId}/types/{ticketTypeId}",
    takes=TypePage,
    audience=Audience.PERSON,
)
revise = page(
    "ORG.TYPE.DO",
    "Sell a ticket on other terms.",
    post="/org/{organizationId}/events/{eventId}/types/{ticketTypeId}",
    takes=ReviseForm,
    audience=Audience.PERSON,
    max_body_bytes=LARGE_BODY,
)


@revise_page.serves
async def show_revise(call: Call, request: TypePage) -> Html:
    place = await enter(call, request.organization_id)
    event = await get_event(call, place, request.event_id)
    kind = _type_of(event, request.ticket_type_id)
    return _shown(call, place, event, Form(typed_terms(kind, event)), kind)


@revise.serves
async def revise_type(call: Call, form: ReviseForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    event = await get_event(call, place, form.event_id)
    kind = _type_of(event, form.ticket_type_id)
    try:
        own = {"ticket_type_id": form.ticket_type_id, "version": form.version, "supply": supply_of(form)}
        asked = filled(ReviseRequest, **terms_of(form, event), **own)
        await call.ask(offering.revise, asked, organization=place.id)
    except Refusal as refusal:
        return _shown(call, place, event, Form.refused(form, refusal, call.words), kind)
    return Redirect(place.path(TAB, event.event_id))


def _type_of(event: EventAnswer, own: TicketTypeId) -> TypeAnswer:
    found = next((each for each in event.ticket_types if each.ticket_type_id == own), None)
    if found is None:
        raise TicketTypeNotFound
    return found


def _shown(call: Call, place: Place, event: EventAnswer, form: Form, kind: TypeAnswer | None = None) -> Html:
    shown = {"event": event, "form": form, "kind": kind, "type_states": TYPE_WORDS}
    return show_in(call, place, TAB, TEMPLATE, status=form.status, **shown)


# -- Their order


class MoveForm(EventPage, kw_only=True):
    ticket_type_id: TicketTypeId
    move: Typed = ""


move = page(
    "ORG.TYPE.MOVE",
    "Show a ticket before or after its neighbour.",
    post="/org/{organizationId}/events/{eventId}/types/order",
    takes=MoveForm,
    audience=Audience.PERSON,
)


@move.serves
async def move_type(call: Call, form: MoveForm) -> Redirect:
    place = await enter(call, form.organization_id)
    event = await get_event(call, place, form.event_id)
    ids = [each.ticket_type_id for each in event.ticket_types]
    asked = ArrangeRequest(event_id=form.event_id, ticket_type_ids=moved(ids, form.ticket_type_id, form.move))
    await call.ask(offering.arrange, asked, organization=place.id)
    return Redirect(place.path(TAB, form.event_id))


def moved(ids: Sequence[TicketTypeId], own: TicketTypeId, way: str) -> list[TicketTypeId]:
    """One place up, or down; the first and the last stay where they are."""
    if own not in ids:
        raise TicketTypeNotFound
    order = [*ids]
    at = order.index(own)
    to = min(max(at + (-1 if way == "up" else 1), 0), len(order) - 1)
    order.insert(to, order.pop(at))
    return order


# -- What they share


class ShareForm(EventPage, kw_only=True):
    label: Typed = ""
    capacity: Typed = ""
    key: Typed = ""


class PoolPage(EventPage, kw_only=True):
    pool_id: PoolId


class PoolForm(PoolPage, kw_only=True):
    label: Typed = ""
    capacity: Typed = ""


share_page = page(
    "ORG.POOL.NEW",
    "Make a pool that tickets share.",
    get="/org/{organizationId}/events/{eventId}/pools/new",
    takes=EventPage,
    audience=Audience.PERSON,
)
share = page(
    "ORG.POOL.NEW.DO",
    "Make a pool that tickets share.",
    post="/org/{organizationId}/events/{eventId}/pools/new",
    takes=ShareForm,
    audience=Audience.PERSON,
)
pool_page = page(
    "ORG.POOL",
    "A pool that tickets share.",
    get="/org/{organizationId}/events/{eventId}/pools/{poolId}",
    takes=PoolPage,
    audience=Audience.PERSON,
)
resize = page(
    "ORG.POOL.DO",
    "Say how much is in a pool that tickets share.",
    post="/org/{organizationId}/events/{eventId}/pools/{poolId}",
    takes=PoolForm,
    audience=Audience.PERSON,
)


@share_page.serves
async def show_share(call: Call, request: EventPage) -> Html:
    place = await enter(call, request.organization_id)
    event = await get_event(call, place, request.event_id)
    return _pool(call, place, event, Form({"key": new_key()}))


@share.serves
async def make_pool(call: Call, form: ShareForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    event = await get_event(call, place, form.event_id)
    try:
        own = {"event_id": form.event_id, "idempotency_key": form.key}
        asked = filled(ShareRequest, label=form.label, capacity=form.capacity, **own)
        await call.ask(offering.share, asked, organization=place.id)
    except Refusal as refusal:
        return _pool(call, place, event, Form.refused(shown_again(form, refusal), refusal, call.words))
    return Redirect(place.path(TAB, event.event_id))


@pool_page.serves
async def show_pool(call: Call, request: PoolPage) -> Html:
    place = await enter(call, request.organization_id)
    event = await get_event(call, place, request.event_id)
    found = next((each for each in event.shared_pools if each.pool.pool_id == request.pool_id), None)
    if found is None:
        raise SharedPoolNotFound(pool=str(request.pool_id))
    form = Form({"label": found.label, "capacity": found.pool.capacity})
    return _pool(call, place, event, form, request.pool_id)


@resize.serves
async def resize_pool(call: Call, form: PoolForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    event = await get_event(call, place, form.event_id)
    try:
        own = {"event_id": form.event_id, "pool_id": form.pool_id}
        asked = filled(ResizeRequest, label=form.label, capacity=form.capacity, **own)
        await call.ask(offering.resize, asked, organization=place.id)
    except Refusal as refusal:
        return _pool(call, place, event, Form.refused(form, refusal, call.words), form.pool_id)
    return Redirect(place.path(TAB, event.event_id))


def _pool(call: Call, place: Place, event: EventAnswer, form: Form, pool: PoolId | None = None) -> Html:
    shown = {"event": event, "form": form, "pool": pool}
    return show_in(call, place, TAB, "console/pool.html", status=form.status, **shown)


CONTRACTS: Final = (offer_page, offer, move, revise_page, revise, share_page, share, pool_page, resize)
