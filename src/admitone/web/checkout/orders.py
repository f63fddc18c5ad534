"""The orders of somebody who is signed in: what they are, how they stand, and giving up one that is not paid."""

from typing import Final

from admitone.kernel.contracts import Audience, Call, Cursor, Html, Page, PageRequest, Reads, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.verticals.events.api import EventId, EventNotFound, OrderId, OrderNotPaid
from admitone.verticals.events.routes import invoices, orders, public
from admitone.verticals.events.routes.orders import OrderItem, OwnRequest
from admitone.verticals.events.routes.public import EventPageAnswer, PageOfEventRequest
from admitone.web.checkout.order import stand_of
from admitone.web.checkout.place import Place
from admitone.web.checkout.standing import Scene, is_called_off, scene_of
from admitone.web.form import Form
from admitone.web.page import page, show

SHOWN: Final = 20
SCENE_WORDS: Final[dict[Scene, str]] = {
    Scene.PAY: "Not paid yet",
    Scene.GO_ON: "Payment begun",
    Scene.PIX: "Payment begun",
    Scene.ASKING: "Payment begun",
    Scene.CLOSING: "Payment begun",
    Scene.BANK: "The bank is working on it",
    Scene.ISSUING: "Paid: your tickets are being made",
    Scene.OWNED: "Yours",
    Scene.OVER: "Ran out",
    Scene.GIVEN_UP: "Given up",
    Scene.CALLED_OFF: "This event was cancelled",
    Scene.LATE: "Your money came too late",
    Scene.UNFIT: "Your payment did not fit",
    Scene.GOING_BACK: "Your money is on its way back",
    Scene.WENT_BACK: "Money returned",
    Scene.TAKEN: "Disputed at the bank",
}
"""A list does not ask how a payment goes on: of one that waits it says what is true of all."""
SCENE_SHAPES: Final = {
    Scene.PAY: "waiting",
    Scene.GO_ON: "waiting",
    Scene.PIX: "waiting",
    Scene.ASKING: "waiting",
    Scene.CLOSING: "waiting",
    Scene.BANK: "waiting",
    Scene.ISSUING: "waiting",
    Scene.OWNED: "good",
    Scene.CALLED_OFF: "bad",
    Scene.LATE: "twice",
    Scene.UNFIT: "twice",
    Scene.GOING_BACK: "twice",
    Scene.WENT_BACK: "twice",
    Scene.TAKEN: "bad",
}
CAN_BE_PAID: Final = frozenset({Scene.PAY, Scene.GO_ON, Scene.PIX})
TICKET_WORDS: Final[dict[str, str]] = {
    "ACTIVE": "Good",
    "RESALE_LISTED": "On resale",
    "TRANSFERRED": "Passed on",
    "REFUNDED": "Refunded",
    "DISPUTED": "Disputed at the bank",
    "CHARGEBACK_LOST": "Taken back by the bank",
    "CANCELLED": "Cancelled",
}
TICKET_SHAPES: Final = {
    "ACTIVE": "good",
    "REFUNDED": "twice",
    "DISPUTED": "waiting",
    "CHARGEBACK_LOST": "bad",
    "CANCELLED": "bad",
}
PLAIN: Final = "plain"


class OrdersPage(Wire):
    cursor: Cursor | None = None


class OrderRequest(Wire):
    order_id: OrderId


orders_page = page("PAY.ORDERS", "Your orders.", get="/orders", takes=OrdersPage, audience=Audience.PERSON)
own_page = page("PAY.OWN", "One of your orders.", get="/orders/{orderId}", takes=OrderRequest, audience=Audience.PERSON)
invoice_page = page(
    "PAY.INVOICE",
    "What an invoice of one of your orders says.",
    get="/orders/{orderId}/invoice",
    takes=OrderRequest,
    audience=Audience.PERSON,
)
give_up = page(
    "PAY.GIVEUP",
    "Give up an order that is not paid.",
    post="/orders/{orderId}/give-up",
    takes=OrderRequest,
    reads=Reads.NOTHING,
    audience=Audience.PERSON,
)


@orders_page.serves
async def show_orders(call: Call, request: OrdersPage) -> Html:
    found: Page[OrderItem] = await call.ask(orders.list_orders, PageRequest(limit=SHOWN, cursor=request.cursor))
    events = {own: await _event(call, own) for own in {each.event_id for each in found.items}}
    more = f"/orders?cursor={found.next_cursor}" if found.next_cursor else ""
    states = {each.order_id: _state(_scene(each, events[each.event_id])) for each in found.items}
    return show(call, "checkout/orders.html", orders=found.items, events=events, more=more, states=states)


@own_page.serves
async def show_own(call: Call, request: OrderRequest) -> Html:
    return await _own(call, request, Form())


@give_up.serves
async def give_up_order(call: Call, request: OrderRequest) -> Html | Redirect:
    try:
        await call.ask(orders.give_up, OwnRequest(order_id=request.order_id))
    except Refusal as refusal:
        return await _own(call, request, Form.refused(request, refusal, call.words))
    return Redirect(f"/orders/{request.order_id}")


async def _own(call: Call, request: OrderRequest, form: Form) -> Html:
    order = await call.ask(orders.show_order, OwnRequest(order_id=request.order_id))
    event = await _event(call, order.event_id)
    standing = await stand_of(call, order, event)
    return show(
        call,
        "checkout/own-order.html",
        status=form.status,
        accent=event.organizer.accent_color if event else None,
        form=form,
        order=order,
        standing=standing,
        may_pay=standing.scene in CAN_BE_PAID,
        may_give_up=standing.scene is Scene.PAY,
        is_owned=standing.scene is Scene.OWNED,
        event=event,
        place=Place(organization_id=order.organization_id, order_id=order.order_id),
        state=_state(standing.scene),
        ticket_state=_ticket_state,
    )


def _scene(order: OrderItem, event: EventPageAnswer | None) -> Scene:
    return scene_of(order, is_called_off=is_called_off(event))


def _state(scene: Scene) -> tuple[str, str]:
    """Its shape and its word."""
    return SCENE_SHAPES.get(scene, PLAIN), SCENE_WORDS[scene]


def _ticket_state(status: str) -> tuple[str, str]:
    return TICKET_SHAPES.get(status, PLAIN), TICKET_WORDS[status]


async def _event(call: Call, own: EventId) -> EventPageAnswer | None:
    try:
        found: EventPageAnswer = await call.ask(public.one, PageOfEventRequest(event_id=own))
    except EventNotFound:
        return None
    return found


@invoice_page.serves
async def show_invoice(call: Call, request: OrderRequest) -> Html | Redirect:
    try:
        invoice = await call.ask(invoices.own_invoice, OwnRequest(order_id=request.order_id))
    except OrderNotPaid:
        return Redirect(f"/orders/{request.order_id}")
    return show(call, "checkout/invoice.html", invoice=invoice)


CONTRACTS: Final = (orders_page, own_page, invoice_page, give_up)
