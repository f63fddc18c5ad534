"""What a sale looks like, in the words of FIN-044."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.finance.payments.api import Payment
from admitone.finance.pricing.api import Promotion, Snapshot
from admitone.kernel.money import Money


class PromoSnapshot(msgspec.Struct, frozen=True, rename="camel"):
    """A promotion as it was when it was promised."""

    promo_code_snapshot: str | None
    label: str
    type: str
    value: int
    amount: int

    @classmethod
    def of(cls, promotion: Promotion) -> "PromoSnapshot":
        return cls(promotion.code_snapshot, promotion.label, promotion.type, promotion.value, promotion.amount)


class Sale(msgspec.Struct, frozen=True):
    """One summary."""

    payment_id: UUID
    """ORYA's purchase id."""
    payment_version: int
    city_code: str
    identity_id: UUID
    source_type: str
    source_id: str
    provider_intent_id: str | None
    """ORYA's payment intent id; none for what cost nothing."""
    status: str
    is_test: bool
    currency: str
    subtotal_minor: int
    discount_minor: int
    platform_fee_minor: int
    stripe_fee_minor: int | None
    """What the processor took; none until it said so (FIN-042)."""
    total_minor: int
    refunded_minor: int
    net_minor: int
    """What the ledger says is the payee's of it."""
    promotions: tuple[PromoSnapshot, ...]
    created_at: datetime
    changed_at: datetime
    card_fee_minor: int = 0
    """Always nothing: what a card costs is the processor's fee, and no buyer pays more for the way they pay."""


class SaleLine(msgspec.Struct, frozen=True):
    """One line of a sale, as it was priced. Refunds and fees of processors are the payment's, and no line's."""

    payment_id: UUID
    line: int
    city_code: str
    key: str
    """The vertical's word for the kind of thing: ORYA's ticket type."""
    quantity: int
    unit_price_minor: int
    gross_minor: int
    discount_minor: int
    platform_fee_minor: int
    net_minor: int
    """What the customer paid for it without the platform's fee."""
    promotions: tuple[PromoSnapshot, ...]
    """Of which it had a part."""


def is_sale(payment: Payment) -> bool:
    """Whether money came, or none was wanted."""
    return payment.applied or payment.captured_minor > 0


def sale_of(payment: Payment, snapshot: Snapshot, net: Money | None) -> Sale:
    return Sale(
        payment_id=payment.id.uuid,
        payment_version=payment.version,
        city_code=payment.city_code,
        identity_id=payment.identity.uuid,
        source_type=payment.source.type,
        source_id=payment.source.id,
        provider_intent_id=payment.charge_id,
        status=payment.status,
        is_test=not payment.livemode,
        currency=payment.currency,
        subtotal_minor=snapshot.subtotal,
        discount_minor=snapshot.discounts,
        platform_fee_minor=snapshot.platform_fee,
        stripe_fee_minor=payment.processor_fees_actual,
        total_minor=snapshot.total,
        refunded_minor=payment.refunded_minor,
        net_minor=net.minor if net else 0,
        promotions=tuple(map(PromoSnapshot.of, snapshot.promotions)),
        created_at=payment.created_at,
        changed_at=payment.changed_at,
    )


def lines_of(payment: Payment, snapshot: Snapshot) -> Sequence[SaleLine]:
    promotions = tuple(map(PromoSnapshot.of, snapshot.promotions))
    return [
        SaleLine(
            payment_id=payment.id.uuid,
            line=number,
            city_code=payment.city_code,
            key=item.key,
            quantity=item.quantity,
            unit_price_minor=item.unit_price,
            gross_minor=item.gross,
            discount_minor=item.discount,
            platform_fee_minor=item.fee,
            net_minor=item.total - item.fee,
            promotions=promotions if item.discount else (),
        )
        for number, item in enumerate(snapshot.line_items, start=1)
    ]
