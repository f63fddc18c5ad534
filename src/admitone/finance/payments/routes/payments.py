"""Payments as the organisation sees them."""

from uuid import UUID

from admitone.finance.payments import errors, queries
from admitone.finance.payments.model import Payment, Status
from admitone.finance.payments.store.payments import list_payments
from admitone.finance.payments.wires import (
    FINANCE_PAYMENTS_R,
    SOME_PAYMENT,
    PaymentAnswer,
    payment_answer,
)
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import Audience, Call, Contract, Example, Page, PageRequest, Wire, page_of

LAST = UUID(int=2**128 - 1)


class PaymentsRequest(PageRequest):
    status: Status | None = None


class OnePaymentRequest(Wire):
    payment_id: PaymentId


payment = Contract(
    id="C02.GET",
    version="1.0.0",
    owner="payments",
    consumers=("web", "verticals"),
    summary="One payment with its amounts (getPayment).",
    get="/api/org/{organizationId}/payments/{paymentId}",
    takes=OnePaymentRequest,
    gives=PaymentAnswer,
    refuses=(errors.PaymentNotFound,),
    audience=Audience.ORGANIZATION,
    permission=FINANCE_PAYMENTS_R,
    order_key="none",
    examples=(
        Example("Another's", takes=OnePaymentRequest(payment_id=SOME_PAYMENT), refuses=errors.PaymentNotFound()),
    ),
)


@payment.serves
async def show_payment(call: Call, request: OnePaymentRequest) -> PaymentAnswer:
    found = await call.read(queries.find_with_net, request.payment_id)
    if found is None:
        raise errors.PaymentNotFound
    return payment_answer(*found)


payments = Contract(
    id="C02.LIST",
    version="1.0.0",
    owner="payments",
    consumers=("web",),
    summary="Payments, the newest first.",
    get="/api/org/{organizationId}/payments",
    takes=PaymentsRequest,
    gives=Page[PaymentAnswer],
    audience=Audience.ORGANIZATION,
    permission=FINANCE_PAYMENTS_R,
    order_key="none",
    examples=(Example("None yet", takes=PaymentsRequest(), gives=Page(items=[], next_cursor=None)),),
)


@payments.serves
async def show_payments(call: Call, request: PaymentsRequest) -> Page[PaymentAnswer]:
    (before,) = request.after(tuple[UUID]) or (LAST,)
    found: list[Payment] = await call.read(list_payments, before, request.status, request.limit + 1)
    shown = [payment_answer(each, None) for each in found]
    return page_of(shown, request.limit, key=lambda each: (each.payment_id.uuid,))


CONTRACTS = (payment, payments)
