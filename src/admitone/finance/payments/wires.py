"""What travels of payments, and how a payment is shown."""

import base64
from uuid import UUID

from admitone.finance.gateways.api import PixCode, Provider, qr_png
from admitone.finance.payments import projections
from admitone.finance.payments.model import FINAL, Payment, PaymentMethod, Scenario, Way
from admitone.finance.sources.api import PaymentId, SettlementModel, SourceType
from admitone.kernel.contracts import Instant, Minor, Wire
from admitone.kernel.contracts.wire import SignedMinor
from admitone.kernel.ids import IdentityId

FINANCE_PAYMENTS_R = "FINANCE_PAYMENTS_R"
FINANCE_PAYMENTS_RW = "FINANCE_PAYMENTS_RW"

SOME_PAYMENT = PaymentId.parse("pay_0198c9a40000700080000000000000b1")


class Pix(Wire):
    """What a PIX app reads: as a picture (PNG, base64) and as text."""

    qr_code_base64: str
    copy_paste_key: str
    expires_at: Instant


class WhyNotPaid(Wire):
    """What is to be paid stands, and another try may."""

    error_code: str
    message: str


class CheckoutAnswer(Wire):
    """Where a payment stands and how the buyer goes on. `status` is one of FIN-050's; `state` is ours, which has
    more."""

    payment_id: PaymentId
    status: str
    state: str
    amount_minor: Minor
    currency: str
    pricing_snapshot_hash: str
    correlation_id: UUID
    expires_at: Instant
    client_secret: str | None
    redirect_url: str | None
    pix: Pix | None
    status_secret: str
    """With it, in the header `x-status-secret`, whoever began the payment may ask how it stands without signing in, and
    give it up."""
    checkout_id: PaymentId
    status_v1: str
    free_checkout: bool
    final: bool


class StatusAnswer(Wire):
    payment_id: PaymentId
    status: str
    state: str
    amount_minor: Minor
    refunded_minor: Minor
    currency: str
    expires_at: Instant
    checkout_id: PaymentId
    status_v1: str
    free_checkout: bool
    final: bool


class Amounts(Wire):
    amount_minor: Minor
    platform_fee_minor: Minor
    captured_minor: Minor
    refunded_minor: Minor
    net_to_org_minor: SignedMinor | None
    """What the ledger says is the organisation's; final once the processor's fee is."""


class PaymentAnswer(Wire):
    payment_id: PaymentId
    status: str
    state: str
    amounts: Amounts
    currency: str
    pricing_snapshot_hash: str
    processor_fees_status: str
    processor_fees_actual: SignedMinor | None
    source_type: SourceType
    source_id: str
    customer_identity_id: IdentityId
    settlement_model: SettlementModel
    method: PaymentMethod
    provider: Provider | None
    livemode: bool
    refund_state: str
    manual_reason: str | None
    unreadable_status: str | None
    """The provider's word for its state, where it is none that we know: somebody must look."""
    fee_policy_version: str
    created_at: Instant
    changed_at: Instant
    expires_at: Instant


def checkout_answer(payment: Payment, way: Way, secret: str) -> CheckoutAnswer:
    return CheckoutAnswer(
        payment_id=payment.id,
        status=projections.orya(payment),
        state=payment.status,
        amount_minor=payment.amount_minor,
        currency=payment.currency,
        pricing_snapshot_hash=payment.snapshot_hash,
        correlation_id=payment.correlation_id,
        expires_at=payment.expires_at,
        client_secret=way.client_secret,
        redirect_url=way.redirect_url,
        pix=_shown(way.pix) if way.pix else None,
        status_secret=secret,
        checkout_id=payment.id,
        status_v1=projections.orya_v1(payment),
        free_checkout=payment.scenario is Scenario.FREE_CHECKOUT,
        final=payment.status in FINAL,
    )


def _shown(code: PixCode) -> Pix:
    picture = base64.b64encode(qr_png(code.copy_paste)).decode()
    return Pix(qr_code_base64=picture, copy_paste_key=code.copy_paste, expires_at=code.expires_at)


def status_answer(payment: Payment) -> StatusAnswer:
    return StatusAnswer(
        payment_id=payment.id,
        status=projections.orya(payment),
        state=payment.status,
        amount_minor=payment.amount_minor,
        refunded_minor=payment.refunded_minor,
        currency=payment.currency,
        expires_at=payment.expires_at,
        checkout_id=payment.id,
        status_v1=projections.orya_v1(payment),
        free_checkout=payment.scenario is Scenario.FREE_CHECKOUT,
        final=payment.status in FINAL,
    )


def payment_answer(payment: Payment, net_minor: int | None) -> PaymentAnswer:
    return PaymentAnswer(
        payment_id=payment.id,
        status=projections.orya(payment),
        state=payment.status,
        amounts=Amounts(
            amount_minor=payment.amount_minor,
            platform_fee_minor=payment.fee_minor,
            captured_minor=payment.captured_minor,
            refunded_minor=payment.refunded_minor,
            net_to_org_minor=net_minor,
        ),
        currency=payment.currency,
        pricing_snapshot_hash=payment.snapshot_hash,
        processor_fees_status=payment.processor_fees_status,
        processor_fees_actual=payment.processor_fees_actual,
        source_type=payment.source.type,
        source_id=payment.source.id,
        customer_identity_id=payment.identity,
        settlement_model=payment.settlement,
        method=payment.method,
        provider=payment.provider,
        livemode=payment.livemode,
        refund_state=payment.refund_state,
        manual_reason=payment.manual_reason,
        unreadable_status=payment.unreadable_status,
        fee_policy_version=payment.fee_policy_version,
        created_at=payment.created_at,
        changed_at=payment.changed_at,
        expires_at=payment.expires_at,
    )
