"""The orders of an event, and one of them with everything that belongs to it.

Promise: the figures of a period are the overview's, with the orders of these days below them; for whoever may see the
ledger, each leads on to its payment.
"""

from functools import partial
from typing import Final

from msgspec.structs import replace

from admitone.finance.refunds import routes as refunds
from admitone.finance.refunds.routes import RefundsOfRequest
from admitone.kernel.contracts import Audience, Call, Html, Stream, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import OrderId
from admitone.verticals.events.routes import attendees, invoices, planning, reports
from admitone.verticals.events.routes.answers import EventLine
from admitone.verticals.events.routes.attendees import ExportRequest
from admitone.verticals.events.routes.reports import OrderRequest, OrdersRequest, PlacedRequest
from admitone.verticals.events.routes.sales import MOST_DAYS
from admitone.verticals.events.routes.wires import EventRequest
from admitone.web.console import desk
from admitone.web.console.days import day_of, instants_of
from admitone.web.console.place import Place, enter, show_in
from admitone.web.console.programme import ExportForm, open_programme
from admitone.web.console.takings import Takings, takings_of
from admitone.web.form import Form, Typed, filled
from admitone.web.lists import NEWEST_WORDS, Listing, ListPage, Source
from admitone.web.page import page

TAB: Final = "orders"
FINANCE_PAYMENTS_R: Final = "FINANCE_PAYMENTS_R"
FINANCE_LEDGER_R: Final = "FINANCE_LEDGER_R"
EXPORT_WORDS: Final[dict[str, str]] = {
    "MONTHLY_ACCOUNTS": "Monthly accounts",
    "TAX_RETURN": "Tax return",
    "CUSTOMER_REQUEST": "A customer asked",
    "INTERNAL_AUDIT": "Internal audit",
}
"""Why a table is taken away."""
ORDERS: Final = Source(
    reports.some_orders,
    NEWEST_WORDS,
    (
        *("order_id", "buyer_id", "is_guest", "created_at", "state", "tickets", "currency", "amount_minor"),
        *("payment.payment_id", "payment.status", "payment.amount_minor", "payment.refunded_minor"),
    ),
    name="orders",
)


class OrdersPage(ListPage, kw_only=True):
    organization_id: OrganizationId
    event_id: Typed = ""
    state: Typed = ""
    search: Typed = ""
    """The id of an order, or of whoever placed it."""
    since: Typed = ""
    until: Typed = ""
    """The last day, by the clock of the event."""


class OrderPage(Wire):
    organization_id: OrganizationId
    order_id: OrderId


orders_page = page(
    "ORG.ORDERS",
    "The orders of an event.",
    get="/org/{organizationId}/orders",
    takes=OrdersPage,
    audience=Audience.PERSON,
)
order_page = page(
    "ORG.ORDER",
    "One order: lines, tickets, payment, every amount.",
    get="/org/{organizationId}/orders/{orderId}",
    takes=OrderPage,
    audience=Audience.PERSON,
)
invoice_page = page(
    "ORG.ORDER.INVOICE",
    "What an invoice of an order says. That somebody looked is written down.",
    get="/org/{organizationId}/orders/{orderId}/invoice",
    takes=OrderPage,
    audience=Audience.PERSON,
)
export = page(
    "ORG.ORDERS.EXPORT",
    "Take away what each ticket of an event brought.",
    post="/org/{organizationId}/orders/export",
    takes=ExportForm,
    audience=Audience.PERSON,
)


@orders_page.serves
async def show_orders(call: Call, request: OrdersPage) -> Html | Stream:
    return await _orders(call, request, Form.of(request))


async def _orders(call: Call, request: OrdersPage, form: Form) -> Html | Stream:
    place = await enter(call, request.organization_id)
    programme = await open_programme(call, place, request.event_id)
    event, found, takings = programme.event, None, None
    if event is not None and not form.wrong:
        request = replace(request, event_id=str(event.event_id))
        seen = await ORDERS.look(call, request, partial(_asked, request, event), place.id)
        if isinstance(seen, Stream):
            return seen
        found, looked_for = seen
        form = form if form.says else looked_for  # Why an export is shown again is not for a list to forget.
        takings = await _takings(call, place, request, event) if found else None
    return show_in(
        call,
        place,
        TAB,
        "console/orders.html",
        status=form.status,
        programme=programme,
        event=event,
        form=form,
        found=found,
        listing=Listing.of(request, place.path(TAB), NEWEST_WORDS, found),
        takings=takings,
        leads_to_payments=place.may(FINANCE_PAYMENTS_R) and place.may(FINANCE_LEDGER_R),
        states=desk.ORDERS,
        payments=desk.PAYMENTS,
        reasons=EXPORT_WORDS,
    )


async def _takings(call: Call, place: Place, request: OrdersPage, event: EventLine) -> Takings | None:
    """Of a whole period that is not too long to be told."""
    first, last = day_of(request.since, "since"), day_of(request.until, "until")
    if first is None or last is None or (last - first).days >= MOST_DAYS:
        return None
    return await takings_of(call, place, event.event_id, first, last)


def _asked(request: OrdersPage, event: EventLine) -> OrdersRequest:
    search = request.search.strip()
    since, until = instants_of(request.since, request.until, event.time_zone)
    named = {"order_id": search} if search.startswith("ord_") else {"buyer_id": search}
    period = {"since": since, "until": until}
    return ORDERS.asked(OrdersRequest, request, event_id=request.event_id, state=request.state, **period, **named)


@order_page.serves
async def show_order(call: Call, request: OrderPage) -> Html:
    place = await enter(call, request.organization_id)
    order = await call.ask(reports.placed, PlacedRequest(order_id=request.order_id), organization=place.id)
    event = await call.ask(planning.show, EventRequest(event_id=order.event_id), organization=place.id)
    returned = None
    if order.payment:
        asked = RefundsOfRequest(payment_id=order.payment.payment_id)
        returned = await desk.if_permitted(call.ask(refunds.refunds_of, asked, organization=place.id))
    return show_in(
        call,
        place,
        TAB,
        "console/order.html",
        order=order,
        event=event,
        types={each.ticket_type_id: each.name for each in event.ticket_types},
        returned=returned,
        can_return=returned is not None and any(each.status == "ACTIVE" for each in order.ticket_list),
        states=desk.ORDERS,
        payments=desk.PAYMENTS,
        refunds=desk.REFUNDS,
        tickets=desk.TICKETS,
        rights=desk.RIGHTS,
    )


@invoice_page.serves
async def show_invoice(call: Call, request: OrderPage) -> Html:
    place = await enter(call, request.organization_id)
    order = await call.ask(reports.placed, PlacedRequest(order_id=request.order_id), organization=place.id)
    asked = OrderRequest(event_id=order.event_id, order_id=order.order_id)
    invoice = await call.ask(invoices.sold_invoice, asked, organization=place.id)
    return show_in(
        call,
        place,
        TAB,
        "console/invoice.html",
        invoice=invoice,
        zone=place.zone,
        refunds=desk.REFUNDS,
        payments=desk.PAYMENTS,
    )


@export.serves
async def take_away(call: Call, form: ExportForm) -> Html | Stream:
    try:
        asked = filled(ExportRequest, event_id=form.event_id, reason_code=form.reason_code)
        taken: Stream = await call.ask(attendees.export, asked, organization=form.organization_id)
    except Refusal as refusal:
        again = OrdersPage(organization_id=form.organization_id, event_id=form.event_id)
        return await _orders(call, again, desk.refused(call, form, refusal))
    return taken


CONTRACTS: Final = (orders_page, order_page, invoice_page, export)
