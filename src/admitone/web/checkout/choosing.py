"""Choosing tickets, and placing the order.

Promise: nothing is kept for anybody before they say so; one form places one order, however often it is sent; whoever
has to sign in on the way comes back to the same choice and to what they had typed. What an order is refused for is said
above what was typed.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Final
from urllib.parse import quote
from uuid import uuid4

from admitone.kernel.contracts import Call, Cookie, Html, Redirect
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.kernel.ids import InvalidId
from admitone.verticals.events.api import TicketTypeId
from admitone.verticals.events.routes import orders, public, seats
from admitone.verticals.events.routes.orders import OrderAnswer, OrderRequest
from admitone.verticals.events.routes.public import EventPageAnswer, PageOfEventRequest
from admitone.verticals.events.routes.seats import SeatAnswer, SeatsRequest
from admitone.web.checkout.choice import BUYABLE, Asked, Choice
from admitone.web.checkout.place import COOKIE, Place
from admitone.web.form import Form, Typed, filled
from admitone.web.page import SIGNED_IN, page, show

SIGN_IN: Final = "sign-in"
WRONG: Final = 422
A_WEEK_SECONDS: Final = 7 * 86_400
"""How long a guest's browser finds the way back to their order; the tickets come by mail."""


class TicketsPage(Asked):
    change: Typed = ""
    """Said by whoever wants to choose again."""


class TicketsForm(Asked):
    then: Typed = ""
    as_guest: Typed = ""
    """The form asked for an address."""
    guest_email: Typed = ""
    billing_name: Typed = ""
    tax_number: Typed = ""
    idempotency_key: Typed = ""


tickets_page = page(
    "PAY.TICKETS",
    "Choose tickets for an event.",
    get="/e/{eventId}/tickets",
    takes=TicketsPage,
    recognizes=True,
)
place_order = page(
    "PAY.TICKETS.ORDER",
    "Order the tickets that were chosen.",
    post="/e/{eventId}/tickets",
    takes=TicketsForm,
    recognizes=True,
    sets_cookies=(COOKIE,),
)


@tickets_page.serves
async def show_tickets(call: Call, request: TicketsPage) -> Html | Redirect:
    event = await _event(call, request)
    choice = Choice.of(request, event)
    if call.identity is None and SIGNED_IN in call.cookies:
        return _to_sign_in(choice.address)  # There is a session, which only has to be renewed.
    if not choice.lines or request.change or not choice.can_be_had or event.closed:
        return _choose(call, event, choice)
    form = Form({"idempotencyKey": f"web:{uuid4()}", "ageConfirmed": request.age_confirmed})
    return await _details(call, event, choice, form)


@place_order.serves
async def order_tickets(call: Call, form: TicketsForm) -> Html | Redirect:
    event = await _event(call, form)
    choice = Choice.of(form, event)
    if not choice.lines:
        return Redirect(choice.address_to_change)
    if form.then == SIGN_IN and not call.rehearsal:
        raise Unauthenticated
    if form.as_guest and not form.guest_email and call.identity is None:
        return await _details(call, event, choice, _without_address(call, form))
    try:
        placed = await call.ask(orders.place_order, _request(event, choice, form))
    except Unauthenticated:
        raise
    except Refusal as refusal:
        return await _details(call, event, choice, Form.refused(form, refusal, call.words))
    return _placed(call, placed)


async def _event(call: Call, asked: Asked) -> EventPageAnswer:
    """With the tickets that only those see who have their links, if they are among those that were named."""
    linked = []
    for each in asked.ticket_type_id:
        with suppress(InvalidId):
            linked.append(TicketTypeId.parse(each))
    found: EventPageAnswer = await call.ask(
        public.one, PageOfEventRequest(event_id=asked.event_id, ticket_type_id=tuple(linked))
    )
    return found


def _choose(call: Call, event: EventPageAnswer, choice: Choice) -> Html:
    accent = event.organizer.accent_color
    return show(call, "checkout/choose.html", accent=accent, event=event, choice=choice, buyable=BUYABLE)


async def _details(call: Call, event: EventPageAnswer, choice: Choice, form: Form) -> Html:
    numbered = {
        str(each.kind.ticket_type_id): await _seats(call, event, each.kind.ticket_type_id)
        for each in choice.lines
        if each.kind.seated
    }
    return show(
        call,
        "checkout/details.html",
        accent=event.organizer.accent_color,
        status=form.status,
        event=event,
        choice=choice,
        form=form,
        numbered=numbered,
        is_known=call.identity is not None,
    )


async def _seats(call: Call, event: EventPageAnswer, kind: TicketTypeId) -> list[SeatAnswer]:
    found = await call.ask(seats.seats, SeatsRequest(event_id=event.event_id, ticket_type_id=kind))
    return [each for each in found.items if each.available]


def _request(event: EventPageAnswer, choice: Choice, form: TicketsForm) -> OrderRequest:
    billing = {"name": form.billing_name, "taxNumber": form.tax_number or None}
    return filled(
        OrderRequest,
        organization_id=event.organizer.organization_id,
        event_id=event.event_id,
        lines=[each.line() for each in choice.lines],
        idempotency_key=form.idempotency_key,
        guest_email=form.guest_email,
        age_confirmed="true" if form.age_confirmed else "false",
        invite_token=form.invite_token,
        billing=billing if form.billing_name else None,
    )


def _placed(call: Call, order: OrderAnswer) -> Redirect:
    place = Place(organization_id=order.organization_id, order_id=order.order_id)
    if order.order_secret:
        call.set_cookie(Cookie(COOKIE, order.order_secret, A_WEEK_SECONDS, path=place.path))
    return Redirect(place.path)


def _without_address(call: Call, form: TicketsForm) -> Form:
    again = Form.of(form)
    return replace(again, wrong={"guestEmail": call.words.say("Say where the tickets go.")}, status=WRONG)


def _to_sign_in(address: str) -> Redirect:
    return Redirect(f"/sign-in?next={quote(address, safe='')}")


CONTRACTS: Final = (tickets_page, place_order)
