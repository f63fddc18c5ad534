"""Ordering tickets: place, look at, give up.

Promise: a key places one order of one person for ever. Somebody who is signed in orders for themselves; a guest, where
the policy lets guests buy, says which address the tickets go to. Phones order signed in (FIN-016). What is not one's
own and what never was is the same: not found. Whether somebody ever ordered as a guest is told by nothing, and not by
the time that a refusal takes; a guest's order is shown again to whoever knows its key, so that must be a random one.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment, Status
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.foundation.identity.api import Guest, InvalidEmail, find_guest, make_guests, normalise_email
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Count,
    Example,
    IdempotencyKey,
    Instant,
    Minor,
    Page,
    PageRequest,
    Wire,
    page_of,
)
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.kernel.figures import MINUTE
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import PeopleScope, Scope
from admitone.selling.stock.api import BuyerLimit, SeatTaken, SoldOut, UnitId
from admitone.verticals.events import errors
from admitone.verticals.events.billing import Billing
from admitone.verticals.events.commands.ordering import Cancelling, Placing, Want, cancel, consider, find_placed, place
from admitone.verticals.events.model import EventId, Order, OrderId, OrderLine, OrderState, TicketTypeId
from admitone.verticals.events.reporting import find_kept, find_telling, see
from admitone.verticals.events.routes.purchases import PaymentAnswer, TicketAnswer
from admitone.verticals.events.routes.wires import FULL_LINE
from admitone.verticals.events.secrets import order_secret
from admitone.verticals.events.store import orders

CLIENT_HEADER: Final = "x-client-id"
MOBILE: Final = "mobile"
GUESTS: Final = PeopleScope("whose address a guest's tickets go to")
MOST_LINES: Final = 20
# Not in A1, so ours: somebody in a hurry tries often; a crowd behind one address orders as one.
ORDERS_PER_PERSON: Final = Limit("orders.per_person", 30, 5 * MINUTE, Per.IDENTITY)
ORDERS_PER_ADDRESS: Final = Limit("orders.per_address", 120, 5 * MINUTE, Per.ADDRESS)
LIMITS: Final = (ORDERS_PER_PERSON, ORDERS_PER_ADDRESS)
LAST: Final = UUID(int=2**128 - 1)
LEAST_GUEST_KEY: Final = 22
"""Characters, as many as 128 random bits have in base64."""

Quantity = Annotated[int, Meta(ge=1, le=100)]
Email = Annotated[str, Meta(min_length=3, max_length=254)]
Token = Annotated[str, Meta(min_length=1, max_length=200)]


class LineRequest(Wire):
    ticket_type_id: TicketTypeId
    quantity: Quantity
    seats: Annotated[tuple[UnitId, ...], Meta(max_length=100)] = ()
    """Of numbered seats these; left out, the best that are free."""


class BillingRequest(Wire):
    name: Annotated[str, Meta(min_length=1, max_length=200, pattern=FULL_LINE)]
    tax_number: Annotated[str, Meta(min_length=1, max_length=40, pattern=r"^[0-9A-Za-z ./-]+$(?!\n)")] | None = None

    def billing(self) -> Billing:
        return Billing(self.name, self.tax_number)


class OrderRequest(Wire):
    organization_id: OrganizationId
    event_id: EventId
    lines: Annotated[list[LineRequest], Meta(min_length=1, max_length=MOST_LINES)]
    idempotency_key: IdempotencyKey
    """A guest's is a random one, of 22 characters or more: whoever knows it is shown the order again."""
    guest_email: Email | None = None
    """Where the tickets of somebody who is not signed in go."""
    age_confirmed: bool = False
    invite_token: Token | None = None
    billing: BillingRequest | None = None
    """Whom the invoice is for. Of an order that is placed again under its key, the first word counts."""


class LineAnswer(Wire):
    ticket_type_id: TicketTypeId
    name: str
    quantity: Count
    unit_price_minor: Minor

    @classmethod
    def of(cls, line: OrderLine) -> "LineAnswer":
        return cls(
            ticket_type_id=line.ticket_type,
            name=line.name,
            quantity=line.quantity,
            unit_price_minor=line.unit_price_minor,
        )


class OrderAnswer(Wire):
    order_id: OrderId
    organization_id: OrganizationId
    event_id: EventId
    state: OrderState
    is_expired: bool
    """It was not paid while it was kept."""
    expires_at: Instant
    currency: str
    amount_minor: Minor
    """Before discounts, taxes and fees: ask for a quote."""
    lines: list[LineAnswer]
    payment_id: PaymentId | None
    created_at: Instant
    order_secret: str | None
    """To whoever orders as a guest: with it, in the header `x-order-secret`, they come back to their order."""


def order_answer(order: Order, now: Instant) -> OrderAnswer:
    return OrderAnswer(
        order_id=order.id,
        organization_id=order.organization,
        event_id=order.event_id,
        state=order.state,
        is_expired=is_expired(order, now),
        expires_at=order.expires_at,
        currency=order.currency,
        amount_minor=order.amount_minor,
        lines=[LineAnswer.of(line) for line in order.lines],
        payment_id=order.payment_id,
        created_at=order.created_at,
        order_secret=None,
    )


def is_expired(order: Order, now: Instant) -> bool:
    return order.state is OrderState.OPEN and order.expires_at <= now


def placed_answer(order: Order) -> OrderAnswer:
    """To whoever has just placed it."""
    secret = order_secret(order) if order.is_guest else None
    return msgspec.structs.replace(order_answer(order, datetime.now(UTC)), order_secret=secret)


SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000ad")
SOME_ORDER: Final = OrderId.parse("ord_0198c9a40000700080000000000000b2")
SOME_EVENT: Final = EventId.parse("event_0198c9a40000700080000000000000e1")
SOME_TYPE: Final = TicketTypeId.parse("tkt_0198c9a40000700080000000000000f1")
A_REQUEST: Final = OrderRequest(
    organization_id=SOME_ORGANIZATION,
    event_id=SOME_EVENT,
    lines=[LineRequest(ticket_type_id=SOME_TYPE, quantity=2)],
    idempotency_key="order:0198c9a4",
)
A_GUESTS_REQUEST: Final = msgspec.structs.replace(
    A_REQUEST, guest_email="ana@example.org", idempotency_key="8f14e45f-ceea-467f-9c1d-3b6a1e0f7a52"
)
A_GUESSED_REQUEST: Final = msgspec.structs.replace(A_GUESTS_REQUEST, idempotency_key="cart-17")

REFUSES: Final = (
    errors.EventNotFound,
    errors.TicketTypeNotFound,
    errors.EventNotOnSale,
    errors.TicketTypeNotOnSale,
    errors.TooManyTickets,
    errors.LinesInvalid,
    errors.InviteNeeded,
    errors.SignInToOrder,
    errors.GuestKeyTooShort,
    errors.AgeNotConfirmed,
    InvalidEmail,
    SoldOut,
    SeatTaken,
    BuyerLimit,
    KeyReused,
)


def guards_of(request: OrderRequest) -> tuple[str, ...]:
    return (f"event:{request.event_id}", f"organization:{request.organization_id}")


place_order = Contract(
    id="EVT.ORDER",
    version="1.0.0",
    owner="events",
    consumers=("web", "mobile"),
    summary="Order tickets: they are kept for you until the order ends.",
    post="/api/orders",
    takes=OrderRequest,
    gives=OrderAnswer,
    refuses=REFUSES,
    audience=Audience.PUBLIC,
    recognizes=True,
    stoppable=True,
    guards=guards_of,
    limits=LIMITS,
    repeats="a key places one order of one person, for ever; a guest's is a random one of 22 characters or more",
    order_key="none",
    examples=(
        Example("No such event", takes=A_REQUEST, refuses=errors.EventNotFound()),
        Example("A guest", takes=A_GUESTS_REQUEST, refuses=errors.EventNotFound()),
        Example("A guest's key that can be guessed", takes=A_GUESSED_REQUEST, refuses=errors.GuestKeyTooShort()),
    ),
)


@place_order.serves
async def order_tickets(call: Call, request: OrderRequest) -> OrderAnswer:
    return placed_answer(await place_for(call, request, placing_of(call, request)))


def placing_of(call: Call, request: OrderRequest) -> Placing:
    return Placing(
        caller=call.caller,
        event=request.event_id,
        buyer=call.identity or IdentityId.new(),
        wants=tuple(Want(each.ticket_type_id, each.quantity, each.seats) for each in request.lines),
        key=request.idempotency_key,
        is_guest=call.identity is None,
        language=call.language,
        age_confirmed=request.age_confirmed,
        invite_token=request.invite_token,
        billing=request.billing.billing() if request.billing else None,
    )


async def place_for(call: Call, request: OrderRequest, placing: Placing) -> Order:
    """Of a guest who may not order nothing is written."""
    scope = Scope(request.organization_id)
    if placing.is_guest:
        email = _address_of(call, request)
        try:
            await call.batch(consider, placing, scope=scope)
        except Refusal as refusal:
            return await _placed_before(call, placing, email, scope, refusal)
        placing = msgspec.structs.replace(
            placing, buyer=await call.batch(make_guests, Guest(call.caller, email), scope=GUESTS)
        )
    return await call.batch(place, placing, scope=scope)


def _address_of(call: Call, request: OrderRequest) -> str:
    """Where a guest's tickets go."""
    is_mobile = (call.headers.get(CLIENT_HEADER) or "").lower().startswith(MOBILE)
    if request.guest_email is None or is_mobile:
        raise Unauthenticated
    if len(request.idempotency_key) < LEAST_GUEST_KEY:
        raise errors.GuestKeyTooShort
    return normalise_email(request.guest_email)


async def _placed_before(call: Call, placing: Placing, email: str, scope: Scope, refusal: Refusal) -> Order:
    """Whoever ordered before is shown that, also when nobody may order any more. Whoever never did is looked for like
    them, under an id that nobody has, so that the time it takes does not tell who did."""
    guest = await call.read(find_guest, email, scope=GUESTS) or placing.buyer
    order = await call.read(find_placed, msgspec.structs.replace(placing, buyer=guest), scope=scope)
    if order is None:
        raise refusal
    if order.request_hash != placing.request_hash:
        raise KeyReused
    return order


class OwnRequest(Wire):
    order_id: OrderId


class OwnAnswer(OrderAnswer):
    tickets: list[TicketAnswer]
    """Without those that were passed on."""
    payment: PaymentAnswer | None
    """What paid for it, or the last try."""
    status_secret: str | None
    """With it that payment is asked for, gone on with or given up (`x-status-secret`)."""


show_order = Contract(
    id="EVT.ORDER.OWN",
    version="1.0.0",
    owner="events",
    consumers=("web", "mobile"),
    summary="One of your orders, with its tickets and how its payment stands.",
    get="/api/me/orders/{orderId}",
    takes=OwnRequest,
    gives=OwnAnswer,
    refuses=(errors.OrderNotFound,),
    audience=Audience.PERSON,
    order_key="none",
    examples=(Example("Another's", takes=OwnRequest(order_id=SOME_ORDER), refuses=errors.OrderNotFound()),),
)


@show_order.serves
async def tell_order(call: Call, request: OwnRequest) -> OwnAnswer:
    return await whole_order(call, await own_order(call, request.order_id))


async def whole_order(call: Call, own: Order) -> OwnAnswer:
    async def look(tx: Tx) -> OwnAnswer:
        [seen] = await see(tx, [own.id])
        answer = order_answer(seen.order, tx.now)
        return OwnAnswer(
            **{name: getattr(answer, name) for name in OrderAnswer.__struct_fields__},
            tickets=[TicketAnswer.of(each) for each in await find_kept(tx, seen.order)],
            payment=PaymentAnswer.of(seen.payment) if seen.payment else None,
            status_secret=payments.status_secret(seen.payment) if seen.payment else None,
        )

    return await call.read(look, scope=Scope(own.organization, "show an order to whoever placed it"))


class OrderItem(Wire):
    """An order in a list: without its lines."""

    order_id: OrderId
    organization_id: OrganizationId
    event_id: EventId
    state: OrderState
    is_expired: bool
    expires_at: Instant
    currency: str
    amount_minor: Minor
    payment: PaymentAnswer | None
    """What paid for it, or the last try."""
    created_at: Instant


list_orders = Contract(
    id="EVT.ORDER.LIST",
    version="1.0.0",
    owner="events",
    consumers=("web", "mobile"),
    summary="Your orders in all organisations, the latest first.",
    get="/api/me/orders",
    takes=PageRequest,
    gives=Page[OrderItem],
    audience=Audience.PERSON,
    order_key="none",
    examples=(Example("None yet", takes=PageRequest(), gives=Page[OrderItem](items=[], next_cursor=None)),),
)


@list_orders.serves
async def tell_orders(call: Call, request: PageRequest) -> Page[OrderItem]:
    [before] = request.after(tuple[UUID]) or (LAST,)
    found, now = await call.read(orders.list_own, before, request.limit + 1), datetime.now(UTC)
    paid = await _payments_of(call, found)
    items = [
        OrderItem(
            order_id=each.id,
            organization_id=each.organization,
            event_id=each.event_id,
            state=each.state,
            is_expired=is_expired(each, now),
            expires_at=each.expires_at,
            currency=each.currency,
            amount_minor=each.amount_minor,
            payment=PaymentAnswer.of(paid[each.id]) if each.id in paid else None,
            created_at=each.created_at,
        )
        for each in found
    ]
    return page_of(items, request.limit, key=lambda item: (item.order_id.uuid,))


async def _payments_of(call: Call, own: Sequence[Order]) -> dict[OrderId, Payment]:
    """The ones that tell how these stand, from each organisation's own books."""
    found: dict[OrderId, Payment] = {}
    for organization in {each.organization for each in own}:
        ids = [each.id for each in own if each.organization == organization]
        found |= await call.read(find_telling, ids, scope=Scope(organization, "show orders to whoever placed them"))
    return found


give_up = Contract(
    id="EVT.ORDER.CANCEL",
    version="1.0.0",
    owner="events",
    consumers=("web", "mobile"),
    summary="Give up an order that is not paid: what was kept for you is free again.",
    post="/api/me/orders/{orderId}/cancel",
    takes=OwnRequest,
    gives=OrderAnswer,
    refuses=(errors.OrderNotFound, errors.OrderNotOpen, errors.OrderBeingPaid),
    audience=Audience.PERSON,
    repeats="what is given up stays so",
    order_key="orderId",
    examples=(Example("Another's", takes=OwnRequest(order_id=SOME_ORDER), refuses=errors.OrderNotFound()),),
)


@give_up.serves
async def cancel_order(call: Call, request: OwnRequest) -> OrderAnswer:
    own = await own_order(call, request.order_id)
    scope = Scope(own.organization, "give up an order")
    if own.state is OrderState.OPEN:
        await _end_payments(call, own, scope)
    cancelled = await call.batch(cancel, Cancelling(call.caller, own.id, own.buyer), scope=scope)
    return order_answer(cancelled, datetime.now(UTC))


async def _end_payments(call: Call, own: Order, scope: Scope) -> None:
    """Those that wait for the buyer, or could be tried again: so nobody pays for what they gave up."""
    tried = await call.read(payments.find_of_sources, SourceType.TICKET_ORDER, [str(own.id)], scope=scope)
    for each in tried[str(own.id)]:
        if each.status in payments.CLOSABLE and each.status is not Status.PROCESSING:
            await payments.give_up(call, each)


async def own_order(call: Call, order: OrderId) -> Order:
    """The caller's, or none."""
    found = await call.read(orders.find_own, order)
    if found is None:
        raise errors.OrderNotFound
    return found


CONTRACTS: Final = (place_order, show_order, list_orders, give_up)
