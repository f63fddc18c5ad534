"""Refunds at the edge: shown first, then done; for organisations, and for whoever runs the platform."""

from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import Meta

from admitone.finance.payments.api import PaymentNotFound
from admitone.finance.refunds import errors, store
from admitone.finance.refunds.commands import Retry, anew, request_refunds, retry_refunds
from admitone.finance.refunds.model import (
    BY_HAND,
    CancellationId,
    Piece,
    Reason,
    Refund,
    RefundId,
    RefundState,
    Request,
)
from admitone.finance.refunds.planning import CANCELLATION, REFUND, Asked, Cancellation
from admitone.finance.refunds.wires import FINANCE_REFUNDS_RW, REFUSES, RefundAnswer, reason_by_hand
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    IdempotencyKey,
    Minor,
    Page,
    PageRequest,
    ReasonCode,
    Wire,
)
from admitone.kernel.ids import OrganizationId
from admitone.kernel.plans import (
    Applied,
    AppliedAnswer,
    Draft,
    Order,
    PlanAnswer,
    PlanExpired,
    PlanId,
    PlanNotFound,
    PlanOvertaken,
    PlanTooLarge,
    apply,
    make,
)
from admitone.kernel.scope import Scope
from admitone.kernel.statements import ListOrder

FINANCE_REFUNDS_R: Final = "FINANCE_REFUNDS_R"
PLATFORM_REFUNDS_RW: Final = "PLATFORM_REFUNDS_RW"

MOST_OF_A_PAYMENT: Final = 1_000
SOME_PAYMENT: Final = PaymentId.parse("pay_0198c9a40000700080000000000000b1")
SOME_REFUND: Final = RefundId.parse("rfd_0198c9a40000700080000000000000b2")
SOME_PLAN: Final = PlanId.parse("pln_0198c9a40000700080000000000000b3")
SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000ad")
OVER: Final = (PlanNotFound, PlanOvertaken, PlanExpired)

Pieces = Annotated[tuple[Piece, ...], Meta(max_length=200, description="Of the price's lines; none: all that is left.")]
Subject = Annotated[str, Meta(min_length=1, max_length=200, description="What the seller calls it.")]


class RefundRequest(Wire):
    payment_id: PaymentId
    reason_code: ReasonCode
    """One of those for which somebody may give back (FIN-071)."""
    pieces: Pieces = ()
    refund_id: RefundId | None = None
    """Made by the caller, so that money goes back once for it however much later it is said again; left out, it is made
    here."""


class RefundOrder(RefundRequest, kw_only=True):
    idempotency_key: IdempotencyKey
    """Of whoever gives back: nobody does without one (FIN-003)."""


def _contract(number: str, summary: str, **more: Any) -> Contract:
    usual: dict[str, Any] = {
        "version": "1.0.0",
        "owner": "refunds",
        "consumers": ("web",),
        "audience": Audience.ORGANIZATION,
        "permission": FINANCE_REFUNDS_RW,
        "verified_only": True,
        "step_up": True,
    }
    return Contract(id=number, summary=summary, **(usual | more))


# -- One payment

_ASKED: dict[str, Any] = {"payment_id": SOME_PAYMENT, "reason_code": Reason.TECHNICAL_PROBLEM.value}
refund = _contract(
    "C02.REFUND",
    "Give back a payment, or some pieces of it.",
    post="/api/org/{organizationId}/payments/{paymentId}/refund",
    takes=RefundOrder,
    gives=RefundAnswer,
    refuses=REFUSES,
    idempotent_by="idempotencyKey",
    order_key="paymentId",
    examples=(
        Example("Another's", takes=RefundOrder(**_ASKED, idempotency_key="refund-1"), refuses=PaymentNotFound()),
    ),
)
preview = _contract(
    "C02.REFUND.PLAN",
    "Show what giving back would post, ask and cost; nothing is done.",
    post="/api/org/{organizationId}/payments/{paymentId}/refund/plan",
    takes=RefundRequest,
    gives=PlanAnswer,
    refuses=(*REFUSES, PlanTooLarge),
    repeats="each is a new plan, and does nothing",
    order_key="paymentId",
    examples=(Example("Another's", takes=RefundRequest(**_ASKED), refuses=PaymentNotFound()),),
)


@refund.serves
async def give_back(call: Call, request: RefundOrder) -> RefundAnswer:
    wanted = _request(call, request)
    return RefundAnswer.of(await call.batch(request_refunds, wanted))


@preview.serves
async def show_refund(call: Call, request: RefundRequest) -> PlanAnswer:
    wanted = _request(call, request)
    asked = Asked(payment_id=wanted.payment, refund_id=wanted.refund, reason=wanted.reason, pieces=wanted.pieces)
    await call.read(REFUND.look, asked)  # Whatever refuses it refuses only this one.
    return PlanAnswer.of(await call.batch(make, Draft(call.caller, REFUND, asked)))


def _request(call: Call, request: RefundRequest) -> Request:
    own = request.refund_id or RefundId.new()
    return Request(call.caller, request.payment_id, own, reason_by_hand(request.reason_code), request.pieces)


# -- Everything of a subject


class CancellationRequest(Wire):
    subject: Subject
    reason_code: ReasonCode


cancellation = _contract(
    "C02.CANCELLATION.PLAN",
    "Show what giving back everything that was paid for a subject would do; nothing is done.",
    post="/api/org/{organizationId}/finance/cancellations/plan",
    takes=CancellationRequest,
    gives=PlanAnswer,
    refuses=(errors.ReasonNotAllowed, PlanTooLarge),
    repeats="each is a new plan, and does nothing",
    order_key="subject",
    wait_seconds=60,
    examples=(
        Example(
            "Did not come",
            takes=CancellationRequest(subject="event:evt_1", reason_code="NO_SHOW"),
            refuses=errors.ReasonNotAllowed(allowed=tuple(sorted(each.value for each in BY_HAND))),
        ),
    ),
)


@cancellation.serves
async def show_cancellation(call: Call, request: CancellationRequest) -> PlanAnswer:
    wanted = Cancellation(
        cancellation_id=CancellationId.new(), subject=request.subject, reason=reason_by_hand(request.reason_code)
    )
    return PlanAnswer.of(await call.batch(make, Draft(call.caller, CANCELLATION, wanted)))


class ApplyRequest(Wire):
    plan_id: PlanId
    reason_code: ReasonCode


applies = _contract(
    "C02.REFUND.APPLY",
    "Do what a plan says, if it is still what would be done; a cancellation goes on by itself.",
    post="/api/org/{organizationId}/finance/refund-plans/{planId}/apply",
    takes=ApplyRequest,
    gives=AppliedAnswer,
    refuses=OVER,
    repeats="a plan is applied once",
    order_key="planId",
    wait_seconds=60,
    examples=(
        Example(
            "None",
            takes=ApplyRequest(plan_id=SOME_PLAN, reason_code=Reason.CANCELLED_BY_SELLER.value),
            refuses=PlanNotFound(),
        ),
    ),
)


@applies.serves
async def apply_plan(call: Call, request: ApplyRequest) -> AppliedAnswer:
    order = Order(call.caller, request.plan_id, request.reason_code, (REFUND, CANCELLATION))
    done: Applied = await call.batch(apply, order)
    return AppliedAnswer.of(done)


# -- What there is


class RefundsRequest(PageRequest):
    state: RefundState | None = None
    order: ListOrder = ListOrder.NEWEST


class OneRefundRequest(Wire):
    refund_id: RefundId


one_refund = _contract(
    "C02.REFUND.GET",
    "One refund, and how far it is.",
    get="/api/org/{organizationId}/finance/refunds/{refundId}",
    takes=OneRefundRequest,
    gives=RefundAnswer,
    refuses=(errors.RefundNotFound,),
    permission=FINANCE_REFUNDS_R,
    verified_only=False,
    step_up=False,
    order_key="refundId",
    examples=(Example("None", takes=OneRefundRequest(refund_id=SOME_REFUND), refuses=errors.RefundNotFound()),),
)


@one_refund.serves
async def show_one(call: Call, request: OneRefundRequest) -> RefundAnswer:
    found = await call.read(store.find_refunds, [request.refund_id.uuid])
    if request.refund_id.uuid not in found:
        raise errors.RefundNotFound
    return RefundAnswer.of(found[request.refund_id.uuid])


class RefundsOfRequest(Wire):
    payment_id: PaymentId


refunds_of = _contract(
    "C02.REFUNDS.PAYMENT",
    "What was given back of one payment, or tried to be, the first first.",
    get="/api/org/{organizationId}/payments/{paymentId}/refunds",
    takes=RefundsOfRequest,
    gives=list[RefundAnswer],
    permission=FINANCE_REFUNDS_R,
    verified_only=False,
    step_up=False,
    order_key="refundId",
    examples=(Example("None", takes=RefundsOfRequest(payment_id=SOME_PAYMENT), gives=[]),),
)


@refunds_of.serves
async def show_of_payment(call: Call, request: RefundsOfRequest) -> list[RefundAnswer]:
    found: list[Refund] = await call.read(store.list_of_payment, request.payment_id, MOST_OF_A_PAYMENT)
    return [RefundAnswer.of(each) for each in found]


def _lists(number: str, path: str) -> Contract:
    return _contract(
        number,
        "Refunds, the newest first.",
        get=path,
        takes=RefundsRequest,
        gives=Page[RefundAnswer],
        permission=FINANCE_REFUNDS_R,
        verified_only=False,
        step_up=False,
        order_key="none",
        examples=(Example("None", takes=RefundsRequest(), gives=Page(items=[], next_cursor=None)),),
    )


refunds = _lists("C02.REFUNDS", "/api/org/{organizationId}/finance/refunds")
refunds_too = _lists("C02.REFUNDS.ALIAS", "/api/organizacao/refunds/list")


@refunds.serves
@refunds_too.serves
async def show_refunds(call: Call, request: RefundsRequest) -> Page[RefundAnswer]:
    return await _page(call, request)


async def _page(call: Call, request: RefundsRequest, scope: Scope | None = None) -> Page[RefundAnswer]:
    (place,) = request.after(tuple[UUID]) or (None,)
    found: list[Refund] = await call.read(
        store.list_refunds, place, request.state, request.limit + 1, request.order, scope=scope
    )
    return request.page([RefundAnswer.of(each) for each in found], key=lambda each: (each.refund_id.uuid,))


class RetryRequest(Wire):
    refund_id: RefundId
    reason_code: ReasonCode


again = _contract(
    "C02.REFUND.RETRY",
    "Order a refund that failed anew.",
    post="/api/org/{organizationId}/finance/refunds/{refundId}/retry",
    takes=RetryRequest,
    gives=RefundAnswer,
    refuses=(errors.RefundNotFound, errors.RefundNotFailed, *REFUSES),
    repeats="what is left goes back once",
    order_key="refundId",
    examples=(
        Example(
            "None",
            takes=RetryRequest(refund_id=SOME_REFUND, reason_code="CARD_REPLACED"),
            refuses=errors.RefundNotFound(),
        ),
    ),
)


@again.serves
async def order_anew(call: Call, request: RetryRequest) -> RefundAnswer:
    return RefundAnswer.of(await call.batch(retry_refunds, _retry(call, request)))


def _retry(call: Call, request: RetryRequest) -> Retry:
    return Retry(call.caller, request.refund_id, anew(request.refund_id), request.reason_code)


# -- For whoever runs the platform


class AdminRefundRequest(Wire):
    organization: OrganizationId
    payment_id: PaymentId
    reason_code: ReasonCode
    idempotency_key: IdempotencyKey
    pieces: Pieces = ()
    amount_minor: Minor | None = None
    """In whatever amount (PAY-068); left out, the pieces, or all that is left."""
    refund_id: RefundId | None = None


class AdminRefundsRequest(RefundsRequest, kw_only=True):
    organization: OrganizationId


class AdminRetryRequest(RetryRequest, kw_only=True):
    organization: OrganizationId


def _admins(number: str, summary: str, **more: Any) -> Contract:
    usual = {"consumers": ("operations",), "audience": Audience.ADMIN, "permission": PLATFORM_REFUNDS_RW}
    return _contract(number, summary, **(usual | {"verified_only": False} | more))


admin_refund = _admins(
    "C02.ADMIN.REFUND",
    "Give back a payment of any organisation.",
    post="/api/admin/payments/refund",
    takes=AdminRefundRequest,
    gives=RefundAnswer,
    refuses=REFUSES,
    idempotent_by="idempotencyKey",
    order_key="paymentId",
    examples=(
        Example(
            "Another's",
            takes=AdminRefundRequest(
                organization=SOME_ORGANIZATION,
                payment_id=SOME_PAYMENT,
                reason_code="GOODWILL",
                idempotency_key="refund-1",
                amount_minor=500,
            ),
            refuses=PaymentNotFound(),
        ),
    ),
)
admin_refunds = _admins(
    "C02.ADMIN.REFUNDS",
    "Refunds of an organisation, the newest first.",
    get="/api/admin/refunds/list",
    takes=AdminRefundsRequest,
    gives=Page[RefundAnswer],
    step_up=False,
    order_key="organization",
    examples=(
        Example(
            "None",
            takes=AdminRefundsRequest(organization=SOME_ORGANIZATION),
            gives=Page(items=[], next_cursor=None),
        ),
    ),
)
admin_retry = _admins(
    "C02.ADMIN.RETRY",
    "Order a refund of any organisation that failed anew.",
    post="/api/admin/refunds/retry",
    takes=AdminRetryRequest,
    gives=RefundAnswer,
    refuses=(errors.RefundNotFound, errors.RefundNotFailed, *REFUSES),
    repeats="what is left goes back once",
    order_key="refundId",
    examples=(
        Example(
            "None",
            takes=AdminRetryRequest(organization=SOME_ORGANIZATION, refund_id=SOME_REFUND, reason_code="CARD_REPLACED"),
            refuses=errors.RefundNotFound(),
        ),
    ),
)


@admin_refund.serves
async def give_back_of(call: Call, request: AdminRefundRequest) -> RefundAnswer:
    own = request.refund_id or RefundId.new()
    wanted = Request(
        call.caller,
        request.payment_id,
        own,
        Reason.ADMIN_OVERRIDE,
        request.pieces,
        request.amount_minor,
        request.reason_code,
    )
    return RefundAnswer.of(await call.batch(request_refunds, wanted, scope=Scope(request.organization, "refund")))


@admin_refunds.serves
async def show_refunds_of(call: Call, request: AdminRefundsRequest) -> Page[RefundAnswer]:
    scope = Scope(request.organization, "look at refunds")
    return await _page(call, request, scope)


@admin_retry.serves
async def order_anew_of(call: Call, request: AdminRetryRequest) -> RefundAnswer:
    scope = Scope(request.organization, "refund")
    return RefundAnswer.of(await call.batch(retry_refunds, _retry(call, request), scope=scope))


CONTRACTS: tuple[Any, ...] = (
    refund,
    preview,
    cancellation,
    applies,
    refunds,
    refunds_too,
    one_refund,
    refunds_of,
    again,
    admin_refund,
    admin_refunds,
    admin_retry,
)
