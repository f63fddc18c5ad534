"""Money that paid for nothing: what waits for a decision, and the decision."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from admitone.finance.payments import errors
from admitone.finance.payments.asking import Clerk
from admitone.finance.payments.commands.receipts import Decision, apply
from admitone.finance.payments.model import Recorded
from admitone.finance.payments.policy import Receipt
from admitone.finance.payments.routes.payments import LAST
from admitone.finance.payments.store.receipts import list_receipts
from admitone.finance.payments.wires import FINANCE_PAYMENTS_R, FINANCE_PAYMENTS_RW, SOME_PAYMENT
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    Minor,
    Page,
    PageRequest,
    ReasonCode,
    Wire,
    page_of,
)
from admitone.kernel.errors import OutcomeUnknown, Refusal

CaptureKey = Annotated[str, Meta(min_length=1, max_length=200)]


class ReceiptAnswer(Wire):
    payment_id: PaymentId
    capture_key: str
    """Which of a payment's receipts it is."""
    amount_minor: Minor
    currency: str
    reason: str
    policy: str
    state: str


class DecisionRequest(Wire):
    payment_id: PaymentId
    reason_code: ReasonCode
    capture_key: CaptureKey | None = None
    """Which receipt goes back, where a payment has several; left out, the first that waits."""


class DecisionAnswer(Wire):
    payment_id: PaymentId
    state: str


receipts = Contract(
    id="C02.UNAPPLIED",
    version="1.0.0",
    owner="payments",
    consumers=("web",),
    summary="Money that came and paid for nothing, and is not settled yet.",
    get="/api/org/{organizationId}/finance/unapplied",
    takes=PageRequest,
    gives=Page[ReceiptAnswer],
    audience=Audience.ORGANIZATION,
    permission=FINANCE_PAYMENTS_R,
    order_key="none",
    examples=(Example("None", takes=PageRequest(), gives=Page(items=[], next_cursor=None)),),
)


@receipts.serves
async def show_receipts(call: Call, request: PageRequest) -> Page[ReceiptAnswer]:
    before = request.after(tuple[UUID, str]) or (LAST, "")
    found: list[Receipt] = await call.read(list_receipts, before, request.limit + 1)
    shown = [
        ReceiptAnswer(
            payment_id=each.payment_id,
            capture_key=each.capture_key,
            amount_minor=each.amount_minor,
            currency=each.currency,
            reason=each.reason,
            policy=each.policy,
            state=each.state,
        )
        for each in found
    ]
    return page_of(shown, request.limit, key=lambda each: (each.payment_id.uuid, each.capture_key))


def _decides(number: str, path: str, summary: str, refuses: tuple[type[Refusal], ...]) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="payments",
        consumers=("web",),
        summary=summary,
        post=path,
        takes=DecisionRequest,
        gives=DecisionAnswer,
        refuses=refuses,
        audience=Audience.ORGANIZATION,
        permission=FINANCE_PAYMENTS_RW,
        verified_only=True,
        step_up=True,
        repeats="money goes back, or pays, once",
        order_key="paymentId",
        examples=(
            Example(
                "Another's",
                takes=DecisionRequest(payment_id=SOME_PAYMENT, reason_code="LATE_PIX"),
                refuses=errors.PaymentNotFound(),
            ),
        ),
    )


back = _decides(
    "C02.RETURN",
    "/api/org/{organizationId}/payments/{paymentId}/return",
    "Give back money that paid for nothing.",
    (errors.PaymentNotFound, errors.NotReturnable, errors.GatewayRefused),
)
pays = _decides(
    "C02.APPLY",
    "/api/org/{organizationId}/payments/{paymentId}/apply",
    "Let money that came late pay for its source after all, if its shop still keeps it.",
    (
        errors.PaymentNotFound,
        errors.NotReturnable,
        errors.AlreadyPaid,
        errors.PaymentInProgress,
        errors.SourceNotSold,
        errors.OfferEnded,
    ),
)


@back.serves
async def give_back(call: Call, request: DecisionRequest) -> DecisionAnswer:
    assert call.organization is not None
    decision = Decision(call.caller, request.payment_id, request.reason_code, request.capture_key)
    try:
        recorded = await Clerk.of(call).give_back(call.organization, decision)
    except errors.ProviderUnanswered as trouble:
        raise OutcomeUnknown from trouble
    return DecisionAnswer(payment_id=recorded.payment, state=recorded.status)


@pays.serves
async def let_it_pay(call: Call, request: DecisionRequest) -> DecisionAnswer:
    recorded: Recorded = await call.batch(apply, Decision(call.caller, request.payment_id, request.reason_code))
    return DecisionAnswer(payment_id=recorded.payment, state=recorded.status)


CONTRACTS = (receipts, back, pays)
