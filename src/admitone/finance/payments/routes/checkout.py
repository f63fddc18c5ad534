"""Paying: begin, ask how it stands, give up.

Promise: a request that is repeated under its key is the same payment; a provider is asked with no transaction open,
after the intent to ask it was committed; what it did not answer is unknown, and said to be so.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from admitone.finance.gateways.api import Method
from admitone.finance.payments import errors, queries
from admitone.finance.payments.commands.checkouts import Quote, quote
from admitone.finance.payments.model import CLOSABLE, Checkout, Payment, Way
from admitone.finance.payments.paying import begin_to_pay, give_up, go_on
from admitone.finance.payments.secrets import organization_of, status_secret
from admitone.finance.payments.wires import (
    SOME_PAYMENT,
    CheckoutAnswer,
    StatusAnswer,
    checkout_answer,
    status_answer,
)
from admitone.finance.sources.api import PaymentId, Source, SourceId, SourceType
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    IdempotencyKey,
    Minor,
    ShortText,
    Wire,
)
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.kernel.figures import CHECKOUT_PER_ADDRESS, CHECKOUT_PER_IDENTITY_AND_SOURCE, MINUTE
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.limits import Limit, Per
from admitone.kernel.scope import IdentityScope, Scope
from admitone.kernel.streaks import StepUpRequired

CLIENT_HEADER = "x-client-id"
SECRET_HEADER = "x-status-secret"  # noqa: S105  Where it travels.
MOBILE = "mobile"

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$(?!\n)", max_length=64)]
CurrencyCode = Annotated[str, Meta(pattern="^[A-Z]{3}$(?!\n)", max_length=3)]
Address = Annotated[str, Meta(pattern=r"^https?://[^\s<>\"]+$(?!\n)", max_length=2000)]
Secret = Annotated[str, Meta(min_length=1, max_length=120)]


class PaymentRequest(Wire):
    """What is paid for, and how. Amount and hash are what the buyer was shown: if they are sent, they must be right."""

    organization_id: OrganizationId
    source_type: SourceType
    source_id: SourceId
    idempotency_key: IdempotencyKey
    method: Method = Method.CARD
    buyer_identity_ref: IdentityId | None = None
    pricing_snapshot_hash: Hash | None = None
    amount_minor: Minor | None = None
    currency: CurrencyCode | None = None
    promo_code: ShortText | None = None
    invite_token: ShortText | None = None
    return_url: Address | None = None


class QuoteRequest(Wire):
    organization_id: OrganizationId
    source_type: SourceType
    source_id: SourceId
    promo_code: ShortText | None = None
    invite_token: ShortText | None = None


class QuoteAnswer(Wire):
    """Every part of the price, before anybody pays."""

    pricing_snapshot_hash: str
    currency: str
    gross_minor: Minor
    discounts_minor: Minor
    taxes_minor: Minor
    platform_fee_minor: Minor | None
    """Nothing where the buyer does not see it."""
    fee_is_added: bool
    """Else it is part of the price."""
    total_minor: Minor
    free_checkout: bool


class StatusRequest(Wire):
    """Whoever is not signed in shows the payment's secret: in the header `x-status-secret`, for addresses are written
    down on their way; `statusSecret` is for clients that cannot send one."""

    payment_id: PaymentId
    status_secret: Secret | None = None


SOME_ORGANIZATION = OrganizationId.parse("org_0198c9a40000700080000000000000ad")
A_REQUEST = PaymentRequest(
    organization_id=SOME_ORGANIZATION,
    source_type=SourceType.TICKET_ORDER,
    source_id="ord_0198c9a40000700080000000000000b2",
    idempotency_key="checkout:ord_0198c9a4",
)


def _source(request: PaymentRequest) -> str:
    return f"{request.organization_id} {request.source_type} {request.source_id}"


PER_IDENTITY = CHECKOUT_PER_IDENTITY_AND_SOURCE.on(_source)
PER_CHECKOUT = (PER_IDENTITY, CHECKOUT_PER_ADDRESS)
# Not in A1, so ours: nobody who looks at prices, gives up or waits for an answer spends what beginning to pay has.
QUOTE_PER_ADDRESS = Limit("payments.quote_per_address", 120, 5 * MINUTE, Per.ADDRESS)
CANCEL_PER_ADDRESS = Limit("payments.cancel_per_address", 60, 5 * MINUTE, Per.ADDRESS)
STATUS_PER_ADDRESS = Limit("payments.status_per_address", 1_200, 5 * MINUTE, Per.ADDRESS)
LIMITS = (*PER_CHECKOUT, QUOTE_PER_ADDRESS, CANCEL_PER_ADDRESS, STATUS_PER_ADDRESS)
REFUSES = (
    errors.SourceNotSold,
    errors.SignInToPay,
    errors.SaleStopped,
    errors.OnRiskHold,
    errors.AlreadyPaid,
    errors.PaymentInProgress,
    errors.OfferEnded,
    errors.PriceChanged,
    KeyReused,
    errors.ConnectNotReady,
    errors.GatewayKeyMissing,
    errors.MethodNotForCurrency,
    errors.FreeNotAllowed,
    errors.FreeLimitReached,
    errors.GatewayRefused,
    StepUpRequired,
)


def _opens(number: str, path: str, summary: str) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="payments",
        consumers=("web", "mobile", "verticals"),
        summary=summary,
        post=path,
        takes=PaymentRequest,
        gives=CheckoutAnswer,
        refuses=REFUSES,
        audience=Audience.PUBLIC,
        recognizes=True,
        stoppable=True,
        limits=PER_CHECKOUT,
        repeats="a key begins one payment of a source, for ever",
        order_key="sourceId",
        examples=(Example("Nothing there", takes=A_REQUEST, refuses=errors.SourceNotSold()),),
    )


intent = _opens("C02", "/api/payments/intent", "Begin to pay for something (createCheckout).")
pix = _opens("C02.PIX", "/payment/pix/create", "Begin to pay by PIX.")


@intent.serves
async def open_intent(call: Call, request: PaymentRequest) -> CheckoutAnswer:
    return await _open(call, request, request.method)


@pix.serves
async def open_pix(call: Call, request: PaymentRequest) -> CheckoutAnswer:
    return await _open(call, request, Method.PIX)


async def _open(call: Call, request: PaymentRequest, method: Method) -> CheckoutAnswer:
    if call.identity is None and (call.headers.get(CLIENT_HEADER) or "").lower().startswith(MOBILE):
        raise Unauthenticated  # Phones pay signed in, whatever the shop allows (FIN-016).
    scope = Scope(request.organization_id)
    return await go_on(call, await begin_to_pay(call, _checkout(call, request, method), scope))


def _checkout(call: Call, request: PaymentRequest, method: Method) -> Checkout:
    return Checkout(
        caller=call.caller,
        source=Source(request.source_type, request.source_id),
        method=method,
        idempotency_key=request.idempotency_key,
        buyer=request.buyer_identity_ref,
        snapshot_hash=request.pricing_snapshot_hash,
        amount_minor=request.amount_minor,
        currency=request.currency,
        promo_code=request.promo_code,
        invite_token=request.invite_token,
        return_url=request.return_url,
    )


prices = Contract(
    id="C02.QUOTE",
    version="1.0.0",
    owner="payments",
    consumers=("web", "mobile"),
    summary="What something would cost now, with every part of the price.",
    post="/api/payments/quote",
    takes=QuoteRequest,
    gives=QuoteAnswer,
    refuses=(errors.SourceNotSold, errors.SignInToPay),
    audience=Audience.PUBLIC,
    recognizes=True,
    limits=(QUOTE_PER_ADDRESS,),
    repeats="nothing is written",
    order_key="none",
    examples=(
        Example(
            "Nothing there",
            takes=QuoteRequest(
                organization_id=SOME_ORGANIZATION,
                source_type=SourceType.TICKET_ORDER,
                source_id="ord_0198c9a40000700080000000000000b2",
            ),
            refuses=errors.SourceNotSold(),
        ),
    ),
)


@prices.serves
async def show_price(call: Call, request: QuoteRequest) -> QuoteAnswer:
    source = Source(request.source_type, request.source_id)
    wanted = Checkout(call.caller, source, Method.CARD, "quote", None, None, None, None, request.promo_code)
    [quoted] = await call.read(
        quote,
        [msgspec.structs.replace(wanted, invite_token=request.invite_token)],
        scope=Scope(request.organization_id),
    )
    if isinstance(quoted, Refusal):
        raise quoted
    _require_buyer(call, quoted)
    snapshot = quoted.priced.snapshot
    return QuoteAnswer(
        pricing_snapshot_hash=quoted.priced.hash,
        currency=snapshot.currency,
        gross_minor=snapshot.gross,
        discounts_minor=snapshot.discounts,
        taxes_minor=snapshot.customer_taxes,
        platform_fee_minor=None if snapshot.fee_mode == "ABSORBED" else snapshot.platform_fee,
        fee_is_added=snapshot.fee_mode == "ADDED",
        total_minor=snapshot.total,
        free_checkout=snapshot.total == 0,
    )


def _require_buyer(call: Call, quoted: Quote) -> None:
    if call.identity is None and not quoted.offer.guest_allowed:
        raise errors.SignInToPay
    if call.identity not in (None, quoted.offer.buyer):
        raise errors.SourceNotSold


def _tells(number: str, path: str, summary: str) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="payments",
        consumers=("web", "mobile"),
        summary=summary,
        get=path,
        takes=StatusRequest,
        gives=StatusAnswer,
        refuses=(errors.PaymentNotFound,),
        audience=Audience.PUBLIC,
        recognizes=True,
        limits=(STATUS_PER_ADDRESS,),
        order_key="none",
        examples=(
            Example("Another's", takes=StatusRequest(payment_id=SOME_PAYMENT), refuses=errors.PaymentNotFound()),
        ),
    )


status = _tells("C02.STATUS", "/api/checkout/status", "How a payment stands, from our own books.")
payment_status = _tells("C02.STATUS.PIX", "/payment/status", "The same, where older clients look for it.")


@status.serves
async def tell_status(call: Call, request: StatusRequest) -> StatusAnswer:
    return status_answer(await _own_payment(call, request))


@payment_status.serves
async def tell_payment_status(call: Call, request: StatusRequest) -> StatusAnswer:
    return status_answer(await _own_payment(call, request))


async def _own_payment(call: Call, request: StatusRequest) -> Payment:
    """The caller's own, by the session or by the secret of the one who began it."""
    payment, secret = request.payment_id, call.headers.get(SECRET_HEADER) or request.status_secret
    found: Payment | None = None
    whose = organization_of(secret, payment) if secret else None
    if whose is not None:
        found = await call.read(queries.find_payment, payment, scope=Scope(whose))
    elif call.identity is not None:
        found = await call.read(queries.find_own, payment, scope=IdentityScope(call.identity))
    if found is None:
        raise errors.PaymentNotFound
    return found


way = Contract(
    id="C02.WAY",
    version="1.0.0",
    owner="payments",
    consumers=("web", "mobile"),
    summary="How the buyer goes on with a payment that was begun: the address or the code that the provider gave.",
    get="/api/checkout/way",
    takes=StatusRequest,
    gives=CheckoutAnswer,
    refuses=(errors.PaymentNotFound,),
    audience=Audience.PUBLIC,
    recognizes=True,
    limits=(STATUS_PER_ADDRESS,),
    order_key="none",
    examples=(Example("Another's", takes=StatusRequest(payment_id=SOME_PAYMENT), refuses=errors.PaymentNotFound()),),
)


@way.serves
async def tell_way(call: Call, request: StatusRequest) -> CheckoutAnswer:
    """For whoever comes back to a page: nobody is asked, and what is over leads nowhere any more."""
    payment = await _own_payment(call, request)
    given = Way()
    if payment.status in CLOSABLE:
        given = await call.read(queries.find_way, payment, scope=Scope(payment.organization))
    return checkout_answer(payment, given, status_secret(payment))


cancel = Contract(
    id="C02.CANCEL",
    version="1.0.0",
    owner="payments",
    consumers=("web", "mobile"),
    summary="Give up a payment, so that another can be begun.",
    post="/api/checkout/cancel",
    takes=StatusRequest,
    gives=StatusAnswer,
    refuses=(errors.PaymentNotFound,),
    audience=Audience.PUBLIC,
    recognizes=True,
    limits=(CANCEL_PER_ADDRESS,),
    repeats="a closed payment stays closed, and a paid one stays paid",
    order_key="paymentId",
    examples=(Example("Another's", takes=StatusRequest(payment_id=SOME_PAYMENT), refuses=errors.PaymentNotFound()),),
)


@cancel.serves
async def give_up_payment(call: Call, request: StatusRequest) -> StatusAnswer:
    await give_up(call, await _own_payment(call, request))
    return status_answer(await _own_payment(call, request))


CONTRACTS: tuple[Any, ...] = (intent, pix, prices, status, payment_status, way, cancel)
