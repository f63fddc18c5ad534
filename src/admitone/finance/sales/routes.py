"""What an organisation sees of its sales."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final
from uuid import UUID

from msgspec import Meta

from admitone.finance.payments.api import Status
from admitone.finance.sales import store
from admitone.finance.sales.model import PromoSnapshot, Sale, SaleLine
from admitone.finance.sales.store import BEGINNING, END
from admitone.finance.sources.api import PaymentId, Source, SourceId, SourceType
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    Instant,
    Page,
    PageRequest,
    ValidationFailed,
    Wire,
    page_of,
)
from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId

FINANCE_SALES_R: Final = "FINANCE_SALES_R"
FIRST_DAY, LAST_DAY = date(1900, 1, 2), date(8999, 12, 30)


class SalesRequest(PageRequest):
    source_type: SourceType | None = None
    """With `sourceId`: the sales of one source."""
    source_id: SourceId | None = None
    status: Status | None = None
    day: Annotated[date | None, Meta(description="In UTC, by when the payment began.")] = None


class SaleLineAnswer(Wire):
    key: str
    quantity: int
    unit_price_minor: int
    gross_minor: int
    discount_minor: int
    platform_fee_minor: int
    net_minor: int
    promotions: tuple[PromoSnapshot, ...]

    @classmethod
    def of(cls, line: SaleLine) -> "SaleLineAnswer":
        return cls(**{name: getattr(line, name) for name in cls.__struct_fields__})


class SaleAnswer(Wire):
    purchase_id: PaymentId
    payment_intent_id: str | None
    owner_identity_id: IdentityId
    source_type: SourceType
    source_id: str
    status: Status
    is_test: bool
    currency: str
    subtotal_minor: int
    discount_minor: int
    platform_fee_minor: int
    card_fee_minor: int
    """Always nothing: nobody pays more for paying by card."""
    stripe_fee_minor: int | None
    """What the processor took; null until it said so."""
    total_minor: int
    refunded_minor: int
    net_minor: int
    promotions: tuple[PromoSnapshot, ...]
    lines: list[SaleLineAnswer]
    created_at: Instant
    changed_at: Instant

    @classmethod
    def of(cls, sale: Sale, lines: list[SaleLine]) -> "SaleAnswer":
        return cls(
            purchase_id=PaymentId(sale.payment_id),
            payment_intent_id=sale.provider_intent_id,
            owner_identity_id=IdentityId(sale.identity_id),
            source_type=SourceType(sale.source_type),
            source_id=sale.source_id,
            status=Status(sale.status),
            is_test=sale.is_test,
            currency=sale.currency,
            subtotal_minor=sale.subtotal_minor,
            discount_minor=sale.discount_minor,
            platform_fee_minor=sale.platform_fee_minor,
            card_fee_minor=sale.card_fee_minor,
            stripe_fee_minor=sale.stripe_fee_minor,
            total_minor=sale.total_minor,
            refunded_minor=sale.refunded_minor,
            net_minor=sale.net_minor,
            promotions=sale.promotions,
            lines=[SaleLineAnswer.of(line) for line in lines],
            created_at=sale.created_at,
            changed_at=sale.changed_at,
        )


SOME_SALE: Final = SaleAnswer(
    purchase_id=PaymentId.parse("pay_0198c9a40000700080000000000000bb"),
    payment_intent_id="pi_1",
    owner_identity_id=IdentityId.parse("idn_0198c9a40000700080000000000000aa"),
    source_type=SourceType.TICKET_ORDER,
    source_id="to_456",
    status=Status.SUCCEEDED,
    is_test=True,
    currency="EUR",
    subtotal_minor=5000,
    discount_minor=0,
    platform_fee_minor=300,
    card_fee_minor=0,
    stripe_fee_minor=100,
    total_minor=5000,
    refunded_minor=0,
    net_minor=4600,
    promotions=(),
    lines=[
        SaleLineAnswer(
            key="tt_1",
            quantity=2,
            unit_price_minor=2500,
            gross_minor=5000,
            discount_minor=0,
            platform_fee_minor=300,
            net_minor=4700,
            promotions=(),
        )
    ],
    created_at=datetime(2026, 5, 1, 9, 30, tzinfo=UTC),
    changed_at=datetime(2026, 5, 1, 9, 31, tzinfo=UTC),
)

list_sales = Contract(
    id="SALES.01",
    version="1.0.0",
    owner="sales",
    consumers=("web",),
    summary="Sales, the newest first: of a source, in a status, of a day.",
    get="/api/org/{organizationId}/finance/sales",
    takes=SalesRequest,
    gives=Page[SaleAnswer],
    audience=Audience.ORGANIZATION,
    permission=FINANCE_SALES_R,
    order_key="createdAt, purchaseId",
    examples=(
        Example(
            "paid ones",
            takes=SalesRequest(status=Status.SUCCEEDED, limit=1),
            gives=Page(items=[SOME_SALE], next_cursor=None),
        ),
    ),
)


@list_sales.serves
async def see_sales(call: Call, request: SalesRequest) -> Page[SaleAnswer]:
    source = _source(request)
    since, end = _day(request.day)
    before = request.after(tuple[datetime, UUID]) or end
    found, lines = await call.read(_sales, source, request.status, since, before, request.limit + 1)
    answers = [SaleAnswer.of(sale, lines[sale.payment_id]) for sale in found]
    return page_of(answers, request.limit, key=lambda each: (each.created_at, each.purchase_id.uuid))


async def _sales(
    tx: Tx, source: Source | None, status: Status | None, since: datetime, before: store.Place, limit: int
) -> tuple[list[Sale], dict[UUID, list[SaleLine]]]:
    found = await store.list_sales(tx, source, status, since, before, limit)
    return found, await store.find_lines(tx, [sale.payment_id for sale in found])


def _source(request: SalesRequest) -> Source | None:
    match request.source_type, request.source_id:
        case None, None:
            return None
        case SourceType() as kind, str() as own:
            return Source(kind, own)
    raise ValidationFailed.at("$.sourceId", "A source is its type and its id together")


def _day(day: date | None) -> tuple[datetime, store.Place]:
    if day is None:
        return BEGINNING, END
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValidationFailed.at("$.day", "No sale was ever on such a day")
    midnight = datetime.combine(day, time(), UTC)
    return midnight, (midnight + timedelta(days=1), UUID(int=0))


CONTRACTS: Final = (list_sales,)
