"""Looking at a payment again: for whoever runs the platform, when something did not arrive."""

from typing import Annotated, Any, Final

from msgspec import Meta

from admitone.finance.gateways.api import ObjectType, Provider, Ref
from admitone.finance.payments import errors
from admitone.finance.payments.asking import Clerk
from admitone.finance.payments.commands.reprocessing import Reprocessing, note_reprocessings
from admitone.finance.payments.store.payments import find_payments
from admitone.finance.payments.store.references import find_refs
from admitone.finance.payments.wires import SOME_PAYMENT
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import Audience, Call, Contract, Example, ReasonCode, Wire
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.scope import Scope

PLATFORM_PAYMENTS_RW: Final = "PLATFORM_PAYMENTS_RW"
SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000ad")
CHARGES: Final = (ObjectType.INTENT, ObjectType.PIX, ObjectType.SESSION, ObjectType.CHARGE)
PLATFORM: Final = Scope(PLATFORM_ORGANIZATION, "whose charge it is")


class AnswerOfAll(Wire):
    payment_id: PaymentId
    state: str


class ReprocessRequest(Wire):
    organization: OrganizationId
    payment_id: PaymentId
    reason_code: ReasonCode


class PurchaseRequest(Wire):
    organization: OrganizationId
    payment_id: PaymentId


class ChargeRequest(Wire):
    provider: Provider
    charge_id: Annotated[str, Meta(min_length=1, max_length=200)]


REFUSES: Final = (errors.PaymentNotFound, errors.NotAtProvider, errors.ProviderUnanswered, errors.GatewayRefused)


def _contract(number: str, path: str, summary: str, takes: type[Wire], example: Any, **more: Any) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="payments",
        consumers=("operations",),
        summary=summary,
        post=path,
        takes=takes,
        gives=AnswerOfAll,
        refuses=REFUSES,
        repeats="what is known already changes nothing",
        examples=(Example("None", takes=example, refuses=errors.PaymentNotFound()),),
        **more,
    )


admin = _contract(
    "C02.ADMIN.REPROCESS",
    "/api/admin/payments/reprocess",
    "Ask the provider about a payment again, and record everything that it says.",
    ReprocessRequest,
    ReprocessRequest(organization=SOME_ORGANIZATION, payment_id=SOME_PAYMENT, reason_code="WEBHOOK_LOST"),
    audience=Audience.ADMIN,
    permission=PLATFORM_PAYMENTS_RW,
    step_up=True,
    order_key="paymentId",
)
purchase = _contract(
    "C10.REPROCESS.PURCHASE",
    "/api/internal/reprocess/purchase",
    "The same, by the payment's own id.",
    PurchaseRequest,
    PurchaseRequest(organization=SOME_ORGANIZATION, payment_id=SOME_PAYMENT),
    audience=Audience.INTERNAL,
    order_key="paymentId",
)
charge = _contract(
    "C10.REPROCESS.INTENT",
    "/api/internal/reprocess/payment-intent",
    "The same, by the provider's id of its intent, session, charge or PIX.",
    ChargeRequest,
    ChargeRequest(provider=Provider.SANDBOX, charge_id="pi_1"),
    audience=Audience.INTERNAL,
    order_key="chargeId",
)


@admin.serves
async def reprocess(call: Call, request: ReprocessRequest) -> AnswerOfAll:
    scope = Scope(request.organization, "reprocess")
    if request.payment_id not in await call.read(find_payments, [request.payment_id], scope=scope):
        raise errors.PaymentNotFound
    asked = Reprocessing(call.caller, request.payment_id, request.reason_code)
    await call.batch(note_reprocessings, asked, scope=scope)
    return await _ask(call, request.organization, request.payment_id)


@purchase.serves
async def reprocess_purchase(call: Call, request: PurchaseRequest) -> AnswerOfAll:
    return await _ask(call, request.organization, request.payment_id)


@charge.serves
async def reprocess_charge(call: Call, request: ChargeRequest) -> AnswerOfAll:
    refs = [Ref(kind, request.charge_id) for kind in CHARGES]
    owners = await call.read(find_refs, request.provider, refs, scope=PLATFORM)
    for owner in owners.values():
        if owner.payment is not None:
            return await _ask(call, owner.organization, owner.payment)
    raise errors.PaymentNotFound


async def _ask(call: Call, organization: OrganizationId, payment: PaymentId) -> AnswerOfAll:
    scope, clerk = Scope(organization, "reprocess"), Clerk.of(call)
    if payment not in await call.read(find_payments, [payment], scope=scope):
        raise errors.PaymentNotFound
    await clerk.complete(organization, payment, call.caller)
    await clerk.ask(organization, payment, call.caller)
    now = (await call.read(find_payments, [payment], scope=scope))[payment]
    return AnswerOfAll(payment_id=payment, state=now.status)


CONTRACTS: Final = (admin, purchase, charge)
