"""Buying in one step: an order, and the beginning of its payment.

Promise: a key places one order of one person and begins its payment, for ever. The order stands also when it cannot be
paid yet, and is kept for as long as it can be.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from admitone.finance.gateways.api import Method
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Checkout, CheckoutAnswer, WhyNotPaid
from admitone.finance.sources.api import Source, SourceType
from admitone.kernel.contracts import Audience, Call, Contract, Example, ShortText, Wire
from admitone.kernel.figures import CHECKOUT_PER_ADDRESS
from admitone.kernel.scope import Scope
from admitone.verticals.events import errors
from admitone.verticals.events.commands.ordering import Placing
from admitone.verticals.events.model import Order
from admitone.verticals.events.routes.orders import (
    A_REQUEST,
    LIMITS,
    REFUSES,
    SOME_EVENT,
    SOME_ORGANIZATION,
    OrderAnswer,
    OrderRequest,
    guards_of,
    place_for,
    placed_answer,
    placing_of,
)

BUYING: Final = (*LIMITS, CHECKOUT_PER_ADDRESS)

Address = Annotated[str, Meta(pattern=r"^https?://[^\s<>\"]+$(?!\n)", max_length=2000)]


class BuyRequest(OrderRequest):
    """An order, and how it is paid."""

    method: Method = Method.CARD
    promo_code: ShortText | None = None
    return_url: Address | None = None


class BuyAnswer(Wire):
    order: OrderAnswer
    checkout: CheckoutAnswer | None
    refusal: WhyNotPaid | None
    """Why it cannot be paid yet: the order stands, and another try may."""


buy_tickets = Contract(
    id="EVT.BUY",
    version="1.0.0",
    owner="events",
    consumers=("web", "mobile"),
    summary="Order tickets and begin to pay for them, in one step.",
    post="/api/orders/buy",
    takes=BuyRequest,
    gives=BuyAnswer,
    refuses=REFUSES,
    audience=Audience.PUBLIC,
    recognizes=True,
    stoppable=True,
    guards=guards_of,
    limits=BUYING,
    repeats="a key places one order of one person and begins its payment, for ever; a guest's is a random one of 22 "
    "characters or more",
    order_key="none",
    examples=(
        Example(
            "No such event",
            takes=BuyRequest(
                organization_id=SOME_ORGANIZATION,
                event_id=SOME_EVENT,
                lines=A_REQUEST.lines,
                idempotency_key="order:0198c9a4",
            ),
            refuses=errors.EventNotFound(),
        ),
    ),
)


@buy_tickets.serves
async def order_and_pay(call: Call, request: BuyRequest) -> BuyAnswer:
    """Two transactions, so that nobody waits for the stock while somebody's payment is written. It is kept for as long
    as it can be paid from the start; if it cannot be paid now, or we are cut off, the order stands all the same."""
    placing = msgspec.structs.replace(placing_of(call, request), grace=payments.GRACE)
    placed = await place_for(call, request, placing)
    order = placed_answer(placed)
    checkout, refusal = await payments.try_to_pay(
        call, _checkout(placing, request, placed), Scope(request.organization_id)
    )
    return BuyAnswer(order=order, checkout=checkout, refusal=refusal)


def _checkout(placing: Placing, request: BuyRequest, order: Order) -> Checkout:
    """Under the key of the order, so that whoever repeats it begins the same. What stood before may have been paid for
    and given up, and somebody may be about to keep it no longer: it is kept anew."""
    return Checkout(
        caller=placing.caller,
        source=Source(SourceType.TICKET_ORDER, str(order.id)),
        method=request.method,
        idempotency_key=f"order:{order.id}",
        buyer=order.buyer,
        promo_code=request.promo_code,
        return_url=request.return_url,
        kept=order.id == placing.own,
    )


CONTRACTS: Final = (buy_tickets,)
