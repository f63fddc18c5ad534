"""What an invoice needs, for whoever bought and for whoever must write it.

Promise: both are shown the same amounts, those of the payment's own price. A buyer is not told of a fee that the seller
absorbs (U-13). Whom it is for is shown to people who signed in and may see the accounts, and that somebody of the
organisation looked is written down before.
"""

from typing import Any, Final

from admitone.entitlements.api import Note, PeopleOnly, note
from admitone.finance.pricing.api import FeeMode, LineItem, Snapshot
from admitone.finance.refunds.api import RefundId
from admitone.finance.sources.api import PaymentId
from admitone.kernel.contracts import Audience, Call, Contract, Count, Example, Instant, Minor, Wire
from admitone.kernel.scope import Scope
from admitone.verticals.events.errors import OrderNotFound, OrderNotPaid
from admitone.verticals.events.invoicing import Invoiced, find_invoiced
from admitone.verticals.events.model import EventId, OrderId
from admitone.verticals.events.routes.attendees import people_only
from admitone.verticals.events.routes.orders import SOME_ORDER, OwnRequest, own_order
from admitone.verticals.events.routes.reports import OrderRequest
from admitone.verticals.events.routes.wires import FINANCE_SALES_R, SOME_EVENT, organisers


class SellerAnswer(Wire):
    """As the organisation says of itself today; what it has not said is null."""

    display_name: str
    legal_name: str | None
    tax_number: str | None
    tax_country: str | None
    address: list[str]
    invoice_prefix: str | None


class BuyerAnswer(Wire):
    name: str
    tax_number: str | None


class InvoiceLine(Wire):
    """Its part of discounts, taxes and fee stands with each line; all lines sum to the totals."""

    key: str
    description: str
    quantity: Count
    unit_price_minor: Minor
    gross_minor: Minor
    discount_minor: Minor
    tax_minor: Minor
    platform_fee_minor: Minor | None
    total_minor: Minor

    @classmethod
    def of(cls, item: LineItem, *, with_fee: bool) -> "InvoiceLine":
        return cls(
            key=item.key,
            description=item.label,
            quantity=item.quantity,
            unit_price_minor=item.unit_price,
            gross_minor=item.gross,
            discount_minor=item.discount,
            tax_minor=item.tax,
            platform_fee_minor=item.fee if with_fee else None,
            total_minor=item.total,
        )


class DiscountAnswer(Wire):
    label: str
    code: str | None
    amount_minor: Minor


class TaxAnswer(Wire):
    name: str
    jurisdiction: str
    rate_bps: Count
    borne_by: str
    amount_minor: Minor


class RefundPiece(Wire):
    key: str
    quantity: Count
    amount_minor: Minor


class RefundAnswer(Wire):
    refund_id: RefundId
    state: str
    reason: str
    amount_minor: Minor
    pieces: list[RefundPiece]
    """None, if it was for an amount or for all that was left."""
    ordered_at: Instant
    settled_at: Instant | None


class InvoiceAnswer(Wire):
    """Amounts are in minor units of the currency."""

    order_id: OrderId
    event_id: EventId
    event_title: str
    seller: SellerAnswer
    buyer: BuyerAnswer | None
    """Null, if the buyer did not say."""
    currency: str
    lines: list[InvoiceLine]
    discounts: list[DiscountAnswer]
    """Promotions; what the seller took off itself is the rest of `discountMinor`."""
    taxes: list[TaxAnswer]
    gross_minor: Minor
    discount_minor: Minor
    subtotal_minor: Minor
    tax_minor: Minor
    """Of what the customer paid on top."""
    platform_fee_minor: Minor | None
    """Null to a buyer, where the seller absorbs it."""
    fee_is_added: bool
    """Else it is part of the price."""
    total_minor: Minor
    payment_id: PaymentId
    payment_method: str
    payment_status: str
    paid_at: Instant
    refunded_minor: Minor
    refunds: list[RefundAnswer]

    @classmethod
    def of(cls, found: Invoiced, *, for_seller: bool) -> "InvoiceAnswer":
        price, payment = found.price, found.payment
        with_fee = for_seller or price.fee_shown is not None
        return cls(
            order_id=found.order.id,
            event_id=found.event.id,
            event_title=found.event.title,
            seller=_seller(found),
            buyer=BuyerAnswer(name=found.billing.name, tax_number=found.billing.tax_number) if found.billing else None,
            currency=price.currency,
            lines=[InvoiceLine.of(each, with_fee=with_fee) for each in price.line_items],
            **_shares(price),
            gross_minor=price.gross,
            discount_minor=price.discounts,
            subtotal_minor=price.subtotal,
            tax_minor=price.customer_taxes,
            platform_fee_minor=price.platform_fee if with_fee else None,
            fee_is_added=price.fee_mode is FeeMode.ADDED,
            total_minor=price.total,
            payment_id=payment.id,
            payment_method=payment.method,
            payment_status=payment.status,
            paid_at=found.paid_at,
            refunded_minor=payment.refunded_minor,
            refunds=_refunds(found),
        )


def _seller(found: Invoiced) -> SellerAnswer:
    seller = found.seller
    return SellerAnswer(
        display_name=seller.display_name,
        legal_name=seller.legal_name,
        tax_number=seller.tax_id,
        tax_country=seller.tax_country,
        address=[*seller.address],
        invoice_prefix=seller.invoice_prefix,
    )


def _shares(price: Snapshot) -> dict[str, Any]:
    return {
        "discounts": [
            DiscountAnswer(label=each.label, code=each.code_snapshot, amount_minor=each.amount)
            for each in price.promotions
        ],
        "taxes": [
            TaxAnswer(
                name=each.name,
                jurisdiction=each.jurisdiction,
                rate_bps=each.rate_bps,
                borne_by=each.bearer,
                amount_minor=each.amount,
            )
            for each in price.taxes
        ],
    }


def _refunds(found: Invoiced) -> list[RefundAnswer]:
    return [
        RefundAnswer(
            refund_id=RefundId(each.id),
            state=each.state,
            reason=each.reason,
            amount_minor=each.amount_minor,
            pieces=[
                RefundPiece(key=line.line_key, quantity=line.quantity, amount_minor=line.amount_minor)
                for line in found.refund_lines[each.id]
            ],
            ordered_at=each.created_at,
            settled_at=each.settled_at,
        )
        for each in found.refunds
    ]


own_invoice = Contract(
    id="EVT.ORDER.INVOICE",
    version="1.0.0",
    owner="events",
    consumers=("web", "mobile"),
    summary="What an invoice of one of your orders says.",
    get="/api/me/orders/{orderId}/invoice-data",
    takes=OwnRequest,
    gives=InvoiceAnswer,
    refuses=(OrderNotFound, OrderNotPaid),
    audience=Audience.PERSON,
    order_key="none",
    examples=(Example("Another's", takes=OwnRequest(order_id=SOME_ORDER), refuses=OrderNotFound()),),
)


@own_invoice.serves
async def tell_own_invoice(call: Call, request: OwnRequest) -> InvoiceAnswer:
    own = await own_order(call, request.order_id)
    scope = Scope(own.organization, "show an invoice to whoever it is for")
    return InvoiceAnswer.of(await call.read(find_invoiced, own.id, scope=scope), for_seller=False)


sold_invoice = organisers(
    "REPORT.INVOICE",
    "What you need to write the invoice of an order. That you looked is written down.",
    permission=FINANCE_SALES_R,
    get="/api/org/{organizationId}/events/{eventId}/orders/{orderId}/invoice-data",
    takes=OrderRequest,
    gives=InvoiceAnswer,
    refuses=(OrderNotFound, OrderNotPaid, PeopleOnly),
    examples=(
        Example("Not yet", takes=OrderRequest(event_id=SOME_EVENT, order_id=SOME_ORDER), refuses=OrderNotPaid()),
    ),
)


@sold_invoice.serves
async def tell_sold_invoice(call: Call, request: OrderRequest) -> InvoiceAnswer:
    await people_only(call)
    found = await call.read(find_invoiced, request.order_id)
    if found.order.event_id != request.event_id:
        raise OrderNotFound
    await call.batch(note, Note(call.caller, "events.see_invoice", str(request.order_id)))
    return InvoiceAnswer.of(found, for_seller=True)


CONTRACTS: Final = (own_invoice, sold_invoice)
