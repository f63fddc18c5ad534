"""Giving back: what would go back is shown first, then somebody confirms it, and then one sees how far it is.

Promise: what is confirmed is what was shown. If it would be another amount by then, nothing is done, and that is shown.
What the provider did not do can be ordered anew, for a reason; however often that is said, it goes back once.
"""

from typing import Annotated, Any, Final

from msgspec import Meta

from admitone.finance.refunds import routes as refunds
from admitone.finance.refunds.api import RefundAnswer, RefundId
from admitone.finance.refunds.routes import OneRefundRequest, RefundOrder, RetryRequest
from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Conflict, Invalid, Refusal
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import OrderId
from admitone.verticals.events.routes import planning, reports, returning
from admitone.verticals.events.routes.reports import PlacedRequest
from admitone.verticals.events.routes.returning import LookRequest, ReturnRequest
from admitone.verticals.events.routes.wires import EventRequest
from admitone.web.console import desk
from admitone.web.console.books import ACCOUNT_WORDS, ENTRY_WORDS
from admitone.web.console.place import Place, enter, show_in
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page

TAB: Final = "orders"
WHOLE, SOME = "whole", "tickets"
REASON_WORDS: Final[dict[str, str]] = {
    "CANCELLED_BY_SELLER": "We cancelled it",
    "SERIOUS_FAILURE": "Something serious went wrong",
    "ABUSE_REPORTED": "Abuse was reported",
    "TECHNICAL_PROBLEM": "A technical problem",
}
"""For which somebody may give back (FIN-071)."""
OTHER_REASON_WORDS: Final[dict[str, str]] = {
    "NOT_DELIVERED": "It could not be delivered",
    "CUSTOMER_CANCELLED": "The customer cancelled",
    "ADMIN_OVERRIDE": "By the platform",
}
RETRY_WORDS: Final[dict[str, str]] = {
    "PROVIDER_RECOVERED": "The provider works again",
    "BALANCE_TOPPED_UP": "There is enough money now",
    "CARD_REPLACED": "The buyer has another card",
    "CUSTOMER_REQUEST": "A customer asked",
}
"""Why what failed is tried again."""
FINANCE_REFUNDS_RW: Final = "FINANCE_REFUNDS_RW"
Tickets = Annotated[list[Typed], Meta(max_length=100)]


class RefundChanged(Conflict):
    """What would go back is not what you were shown any more."""

    code = "REFUND_CHANGED"
    next_step = "Look at the new amount, then confirm again."


class NothingChosen(Invalid):
    """You did not choose what goes back."""

    code = "NOTHING_CHOSEN"
    next_step = "Tick at least one ticket, or choose everything that is left."


class RefundPage(Wire):
    organization_id: OrganizationId
    order_id: OrderId
    what: Typed = ""
    tickets: Tickets = []  # noqa: RUF012, msgspec copies it
    reason_code: Typed = ""


class RefundForm(RefundPage, kw_only=True):
    shown_minor: Typed = ""
    """What they were shown."""
    key: Typed = ""


class StatusPage(Wire):
    organization_id: OrganizationId
    refund_id: RefundId


class RetryForm(StatusPage, kw_only=True):
    reason_code: Typed = ""


refund_page = page(
    "ORG.REFUND",
    "Choose what goes back of an order, and see what that does before it is done.",
    get="/org/{organizationId}/orders/{orderId}/refund",
    takes=RefundPage,
    audience=Audience.PERSON,
)
refund = page(
    "ORG.REFUND.DO",
    "Give back what was shown.",
    post="/org/{organizationId}/orders/{orderId}/refund",
    takes=RefundForm,
    audience=Audience.PERSON,
)
status_page = page(
    "ORG.REFUND.STATUS",
    "How far a refund is.",
    get="/org/{organizationId}/financas/refunds/{refundId}",
    takes=StatusPage,
    audience=Audience.PERSON,
)
retry = page(
    "ORG.REFUND.RETRY",
    "Order a refund anew that failed.",
    post="/org/{organizationId}/financas/refunds/{refundId}",
    takes=RetryForm,
    audience=Audience.PERSON,
)


@refund_page.serves
async def show_refund(call: Call, request: RefundPage) -> Html:
    return await _shown(call, request, Form.of(request))


async def _shown(call: Call, request: RefundPage, form: Form) -> Html:
    place = await enter(call, request.organization_id)
    order = await call.ask(reports.placed, PlacedRequest(order_id=request.order_id), organization=place.id)
    event = await call.ask(planning.show, EventRequest(event_id=order.event_id), organization=place.id)
    step = None
    if request.reason_code:
        try:
            step = await _look(call, place, request)
        except Refusal as refusal:
            form = desk.refused(call, request, refusal)
    return show_in(
        call,
        place,
        TAB,
        "console/refunding.html",
        status=form.status,
        order=order,
        event=event,
        types={each.ticket_type_id: each.name for each in event.ticket_types},
        form=form,
        step=step,
        key=desk.new_key(),
        reasons=REASON_WORDS,
        accounts=ACCOUNT_WORDS,
        entries=ENTRY_WORDS,
        tickets=desk.TICKETS,
    )


async def _look(call: Call, place: Place, request: RefundPage) -> Any:
    asked = filled(
        LookRequest, order_id=request.order_id, reason_code=request.reason_code, tickets=_chosen(request) or None
    )
    return await call.ask(returning.look, asked, organization=place.id)


def _chosen(request: RefundPage) -> list[str]:
    """None, if all that is left was said in so many words; never because nothing was ticked."""
    if request.what == WHOLE:
        return []
    if not request.tickets:
        raise NothingChosen
    return [*request.tickets]


@refund.serves
async def give_back(call: Call, form: RefundForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        step = await _look(call, place, form)
        if str(step.amount_minor) != form.shown_minor:
            raise RefundChanged
        done = await _order(call, place, form, step)
    except Refusal as refusal:
        return await _shown(call, form, desk.refused(call, form, refusal))
    return Redirect(place.path("financas", "refunds", done.refund_id))


async def _order(call: Call, place: Place, form: RefundForm, step: Any) -> RefundAnswer:
    """Of the whole order its payment goes back, with whatever was paid beside its tickets."""
    said = {"reason_code": form.reason_code, "idempotency_key": form.key}
    if tickets := _chosen(form):
        one = filled(ReturnRequest, order_id=form.order_id, tickets=tickets, **said)
        some: RefundAnswer = await call.ask(returning.returns, one, organization=place.id)
        return some
    everything = filled(RefundOrder, payment_id=step.payment_id, **said)
    whole: RefundAnswer = await call.ask(refunds.refund, everything, organization=place.id)
    return whole


@status_page.serves
async def show_status(call: Call, request: StatusPage) -> Html:
    return await _status(call, request, Form())


async def _status(call: Call, request: StatusPage, form: Form) -> Html:
    place = await enter(call, request.organization_id)
    found = await call.ask(refunds.one_refund, OneRefundRequest(refund_id=request.refund_id), organization=place.id)
    return show_in(
        call,
        place,
        "financas",
        "console/refund.html",
        status=form.status,
        form=form,
        refund=found,
        can_retry=found.state == "FAILED" and place.may(FINANCE_REFUNDS_RW),
        again=RETRY_WORDS,
        refunds=desk.REFUNDS,
        reasons=REASON_WORDS | OTHER_REASON_WORDS,
        zone=place.zone,
    )


@retry.serves
async def order_anew(call: Call, form: RetryForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        asked = filled(RetryRequest, refund_id=form.refund_id, reason_code=form.reason_code)
        anew: RefundAnswer = await call.ask(refunds.again, asked, organization=place.id)
    except Refusal as refusal:
        return await _status(call, form, desk.refused(call, form, refusal))
    return Redirect(place.path("financas", "refunds", anew.refund_id))


CONTRACTS: Final = (refund_page, refund, status_page, retry)
