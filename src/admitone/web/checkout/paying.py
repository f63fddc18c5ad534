"""Paying for an order, and choosing another way to pay.

Promise: one form begins one payment, however often it is sent. Whatever is refused, the order stands and the page says
why. People leave for the provider by a link, and the provider sends them back to the order.
"""

import base64
from typing import Final

from admitone.finance.payments.api import CheckoutAnswer
from admitone.finance.payments.routes import checkout
from admitone.finance.payments.routes.checkout import PaymentRequest, StatusRequest
from admitone.finance.sources.api import SourceType
from admitone.kernel.contracts import Audience, Call, Contract, File, Html, Reads, Redirect, Writes, status_of
from admitone.kernel.errors import OutcomeUnknown, Refusal, Unauthenticated
from admitone.kernel.streaks import StepUpRequired
from admitone.verticals.events.api import OrderNotFound
from admitone.web.checkout.order import stand, tell
from admitone.web.checkout.place import Place, look_at
from admitone.web.checkout.standing import Scene
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page, show


class PayForm(Place):
    method: Typed = ""
    idempotency_key: Typed = ""
    promo_code: Typed = ""
    pricing_snapshot_hash: Typed = ""


pay = page(
    "PAY.ORDER.PAY",
    "Begin to pay for an order.",
    post="/checkout/{organizationId}/{orderId}/pay",
    takes=PayForm,
    recognizes=True,
)
payment_page = page(
    "PAY.PAYMENT",
    "The way to the provider's own page.",
    get="/checkout/{organizationId}/{orderId}/payment",
    takes=Place,
    recognizes=True,
)
choose_another = page(
    "PAY.ANOTHER",
    "Give up a payment, to choose another way to pay.",
    post="/checkout/{organizationId}/{orderId}/another",
    takes=Place,
    reads=Reads.NOTHING,
    recognizes=True,
)
pix_picture = Contract(
    id="WEB.PAY.PIX",
    version="1.0.0",
    owner="web",
    consumers=("people",),
    summary="The PIX code of an order's payment, as a picture.",
    get="/checkout/{organizationId}/{orderId}/pix.png",
    takes=Place,
    writes=Writes.FILE,
    refuses=(OrderNotFound,),
    audience=Audience.PUBLIC,
    recognizes=True,
    order_key="none",
)


@pay.serves
async def begin_to_pay(call: Call, form: PayForm) -> Html | Redirect:
    place = _place(form)
    await look_at(call, place)
    try:
        begun: CheckoutAnswer = await call.ask(checkout.intent, _request(call, place, form))
    except (Unauthenticated, StepUpRequired):
        raise
    except Refusal as refusal:
        return await _refused(call, place, form, refusal)
    return Redirect(f"{place.path}/payment" if begun.redirect_url and not begun.pix else place.path)


def _request(call: Call, place: Place, form: PayForm) -> PaymentRequest:
    return filled(
        PaymentRequest,
        organization_id=place.organization_id,
        source_type=SourceType.TICKET_ORDER,
        source_id=str(place.order_id),
        idempotency_key=form.idempotency_key,
        method=form.method,
        promo_code=form.promo_code,
        pricing_snapshot_hash=form.pricing_snapshot_hash,
        return_url=f"{call.origin}{place.path}",
    )


async def _refused(call: Call, place: Place, form: PayForm, refusal: Refusal) -> Html | Redirect:
    """If the order stands otherwise than to be paid, that is what there is to say: somebody pays already, or has."""
    standing = await stand(call, place)
    if standing.scene is not Scene.PAY or isinstance(refusal, OutcomeUnknown):
        return Redirect(place.path)
    return await tell(call, standing, Form.refused(form, refusal, call.words))


@payment_page.serves
async def show_payment(call: Call, request: Place) -> Html | Redirect:
    standing = await stand(call, request)
    if standing.scene is not Scene.GO_ON or standing.way is None:
        return Redirect(request.path)
    accent = standing.event.organizer.accent_color if standing.event else None
    return show(call, "checkout/payment.html", accent=accent, place=request, order=standing.order, way=standing.way)


@choose_another.serves
async def give_up_payment(call: Call, request: Place) -> Html | Redirect:
    order = await look_at(call, request)
    if order.payment is None:
        return Redirect(request.path)
    asked = StatusRequest(payment_id=order.payment.payment_id, status_secret=order.status_secret)
    try:
        await call.ask(checkout.cancel, asked)
    except OutcomeUnknown as refusal:
        return await tell(call, await stand(call, request), _not_known_to_be_closed(call, refusal))
    return Redirect(request.path)


def _not_known_to_be_closed(call: Call, refusal: OutcomeUnknown) -> Form:
    says = call.words.say(
        "We asked the provider to close this payment and have no answer: we do not know yet whether it is closed."
    )
    then = call.words.say("Try again in a moment, or wait: when its time is over, we close it by ourselves.")
    return Form(says=says, next_step=then, status=status_of(type(refusal)))


@pix_picture.serves
async def show_pix(call: Call, request: Place) -> File:
    standing = await stand(call, request)
    if standing.way is None or standing.way.pix is None:
        raise OrderNotFound
    return File(base64.b64decode(standing.way.pix.qr_code_base64), "image/png")


def _place(form: Place) -> Place:
    return Place(organization_id=form.organization_id, order_id=form.order_id)


CONTRACTS: Final = (pay, payment_page, choose_another, pix_picture)
