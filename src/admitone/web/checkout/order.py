"""The page of an order: what is kept and for how long, what it costs, how it is paid, and what became of it.

Promise: every part of the price stands on the same screen as the button that pays it. While something is under way the
page says so and changes by itself, with a script or without.
"""

from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from admitone.finance.payments.api import CheckoutAnswer, PaymentNotFound, SourceNotSold
from admitone.finance.payments.routes import checkout
from admitone.finance.payments.routes.checkout import QuoteAnswer, QuoteRequest, StatusRequest
from admitone.finance.sources.api import SourceType
from admitone.kernel.contracts import Audience, Call, Contract, Example, Html, Wire
from admitone.kernel.errors import Unauthenticated
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import OrderId, OrderNotFound
from admitone.verticals.events.routes import public
from admitone.verticals.events.routes.orders import OwnAnswer
from admitone.verticals.events.routes.public import EventPageAnswer, PageOfEventRequest
from admitone.web.checkout.place import Place, look_at
from admitone.web.checkout.standing import WAITS_FOR_BUYER, Scene, Standing, mark_of
from admitone.web.form import Form, Typed
from admitone.web.page import page, show

TEMPLATE: Final = "checkout/order.html"
PIX_CURRENCY: Final = "BRL"
ENTERED_CODES: Final = 60


class OrderPage(Place):
    promo_code: Typed = ""


class MarkAnswer(Wire):
    mark: str
    """Another one as soon as the page has something else to say."""


order_page = page(
    "PAY.ORDER",
    "An order: what it costs, how it is paid, what became of it.",
    get="/checkout/{organizationId}/{orderId}",
    takes=OrderPage,
    recognizes=True,
)
mark = Contract(
    id="WEB.PAY.MARK",
    version="1.0.0",
    owner="web",
    consumers=("people",),
    summary="Whether the page of an order has something else to say by now.",
    get="/checkout/{organizationId}/{orderId}/mark",
    takes=Place,
    gives=MarkAnswer,
    refuses=(OrderNotFound,),
    audience=Audience.PUBLIC,
    recognizes=True,
    order_key="none",
    examples=(
        Example(
            "Another's",
            takes=Place(
                organization_id=OrganizationId.parse("org_0198c9a40000700080000000000000ad"),
                order_id=OrderId.parse("ord_0198c9a40000700080000000000000b2"),
            ),
            refuses=OrderNotFound(),
        ),
    ),
)


@order_page.serves
async def show_order(call: Call, request: OrderPage) -> Html:
    standing = await stand(call, request)
    return await tell(call, standing, Form({"promoCode": request.promo_code}))


@mark.serves
async def tell_mark(call: Call, request: Place) -> MarkAnswer:
    return MarkAnswer(mark=mark_of(await look_at(call, request)))


async def stand(call: Call, place: Place) -> Standing:
    order = await look_at(call, place)
    return await stand_of(call, order, await call.ask(public.one, PageOfEventRequest(event_id=order.event_id)))


async def stand_of(call: Call, order: OwnAnswer, event: EventPageAnswer | None) -> Standing:
    way = await _way(call, order)
    return Standing(order, way, event, is_too_late=way is not None and _ends_at(way) <= datetime.now(UTC))


def _ends_at(way: CheckoutAnswer) -> datetime:
    """With the payment, or with the code if that is sooner."""
    return min(way.expires_at, way.pix.expires_at) if way.pix else way.expires_at


async def _way(call: Call, order: OwnAnswer) -> CheckoutAnswer | None:
    if order.payment is None or order.payment.status not in WAITS_FOR_BUYER:
        return None
    asked = StatusRequest(payment_id=order.payment.payment_id, status_secret=order.status_secret)
    try:
        found: CheckoutAnswer = await call.ask(checkout.way, asked)
    except PaymentNotFound:
        return None
    return found


async def tell(call: Call, standing: Standing, form: Form) -> Html:
    order, event, now = standing.order, standing.event, datetime.now(UTC)
    price = await _price(call, order, form["promoCode"]) if standing.scene is Scene.PAY else None
    return show(
        call,
        TEMPLATE,
        status=form.status,
        accent=event.organizer.accent_color if event else None,
        place=Place(organization_id=order.organization_id, order_id=order.order_id),
        standing=standing,
        mark=mark_of(order),
        ends_at=_ends_at(standing.way) if standing.way else order.expires_at,
        order=order,
        event=event,
        price=price,
        form=form,
        key=f"web:{uuid4()}",
        takes_pix=order.currency == PIX_CURRENCY,
        now=now,
        is_known=call.identity is not None,
        again=_again(order),
    )


async def _price(call: Call, order: OwnAnswer, promo_code: str) -> QuoteAnswer | None:
    """None, if it is not for whoever looks to pay, or not to be paid at all."""
    asked = QuoteRequest(
        organization_id=order.organization_id,
        source_type=SourceType.TICKET_ORDER,
        source_id=str(order.order_id),
        promo_code=promo_code[:ENTERED_CODES] or None,
    )
    try:
        quoted: QuoteAnswer = await call.ask(checkout.prices, asked)
    except (SourceNotSold, Unauthenticated):
        return None
    return quoted


def _again(order: OwnAnswer) -> str:
    """Where the same can be chosen once more."""
    pairs = "&".join(f"ticketTypeId={line.ticket_type_id}&quantity={line.quantity}" for line in order.lines)
    return f"/e/{order.event_id}/tickets?{pairs}"


CONTRACTS: Final = (order_page, mark)
