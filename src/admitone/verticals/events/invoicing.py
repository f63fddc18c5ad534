"""What an invoice needs: who sold what to whom, what it cost, and what went back.

Promise (FIN-008, FIN-034): every amount is the one of the payment's own price, frozen when it was paid, and of the
refunds that were given; nothing is computed anew. Whoever sold is what the organisation says of itself for the law;
whom the invoice is for is what the buyer said when ordering. We issue none: that is the seller's duty.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import EntryType
from admitone.finance.payments.api import Payment
from admitone.finance.pricing.api import Snapshot
from admitone.finance.refunds import api as refunds
from admitone.finance.refunds.api import Refund, RefundLine, RefundState
from admitone.foundation.organizations.api import get_organization
from admitone.kernel.db import Tx
from admitone.verticals.events import reporting
from admitone.verticals.events.billing import Billing, opened
from admitone.verticals.events.errors import OrderNotFound, OrderNotPaid
from admitone.verticals.events.model import Event, Order, OrderId
from admitone.verticals.events.store import events

GIVEN: Final = (RefundState.PENDING, RefundState.SUCCEEDED)
MOST_REFUNDS: Final = 1_000


class Seller(msgspec.Struct, frozen=True):
    """As the organisation stands in its papers; what it has not said is missing."""

    display_name: str
    legal_name: str | None
    tax_id: str | None
    tax_country: str | None
    address: tuple[str, ...]
    invoice_prefix: str | None


class Invoiced(msgspec.Struct, frozen=True):
    """All of one order."""

    order: Order
    event: Event
    seller: Seller
    billing: Billing | None
    payment: Payment
    paid_at: datetime
    price: Snapshot
    refunds: Sequence[Refund]
    refund_lines: Mapping[UUID, Sequence[RefundLine]]


async def find_invoiced(tx: Tx, own: OrderId) -> Invoiced:
    seen = await reporting.see(tx, [own])
    if not seen:
        raise OrderNotFound
    [order, payment] = [seen[0].order, seen[0].payment]
    if payment is None or not payment.applied:
        raise OrderNotPaid
    given = [each for each in await refunds.list_of_payment(tx, payment.id, MOST_REFUNDS) if each.state in GIVEN]
    return Invoiced(
        order=order,
        event=(await events.find_events(tx, [order.event_id]))[order.event_id],
        seller=await _seller(tx),
        billing=opened(order),
        payment=payment,
        paid_at=await _paid_at(tx, payment),
        price=payment.price,
        refunds=given,
        refund_lines=await refunds.find_lines(tx, [each.id for each in given]),
    )


async def _seller(tx: Tx) -> Seller:
    said = (await get_organization(tx)).settings
    return Seller(
        said.display_name, said.legal_name, said.tax_id, said.tax_country, said.invoice_address, said.invoice_prefix
    )


async def _paid_at(tx: Tx, payment: Payment) -> datetime:
    """When it came into the books; what cost nothing was had when it was asked for."""
    posted = await ledger.list_transfers_of(tx, [payment.id])
    return next((each.posted_at for each in posted if each.entry_type is EntryType.GROSS), payment.created_at)
