"""Sale summaries and their lines."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.sales.model import Sale, SaleLine
from admitone.finance.sources.api import Source
from admitone.kernel.db import Tx
from admitone.kernel.statements import Insert

Place = tuple[datetime, UUID]
"""Where a sale stands in the list."""
END: Final[Place] = (datetime(9000, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))
BEGINNING: Final = datetime(1900, 1, 1, tzinfo=UTC)

COLUMNS: Final = {
    "payment_id": "uuid",
    "payment_version": "bigint",
    "city_code": "text",
    "identity_id": "uuid",
    "source_type": "text",
    "source_id": "text",
    "provider_intent_id": "text",
    "status": "text",
    "is_test": "boolean",
    "currency": "text",
    "subtotal_minor": "bigint",
    "discount_minor": "bigint",
    "platform_fee_minor": "bigint",
    "card_fee_minor": "bigint",
    "stripe_fee_minor": "bigint",
    "total_minor": "bigint",
    "refunded_minor": "bigint",
    "net_minor": "bigint",
    "promotions": "jsonb",
    "created_at": "timestamptz",
    "changed_at": "timestamptz",
}
LINE_COLUMNS: Final = {
    "payment_id": "uuid",
    "line": "integer",
    "key": "text",
    "quantity": "integer",
    "unit_price_minor": "bigint",
    "gross_minor": "bigint",
    "discount_minor": "bigint",
    "platform_fee_minor": "bigint",
    "net_minor": "bigint",
    "promotions": "jsonb",
}
NAMES: Final = ", ".join(COLUMNS)
LINE_NAMES: Final = ", ".join(LINE_COLUMNS)


def _renewed(columns: Collection[str], key: Collection[str]) -> str:
    return ", ".join(f"{name} = excluded.{name}" for name in columns if name not in key)


# Of two who read a payment at different times, the later one has the word, whoever writes first.
PUT_SALES = Insert(
    "sales.sale_summary AS s",
    COLUMNS,
    on_conflict=f"(organization_id, payment_id) DO UPDATE SET {_renewed(COLUMNS, ['payment_id'])}"
    " WHERE s.payment_version <= excluded.payment_version",
)


PUT_LINES = Insert(
    "sales.sale_line",
    LINE_COLUMNS,
    on_conflict=f"(organization_id, payment_id, line) DO UPDATE SET {_renewed(LINE_COLUMNS, ['payment_id', 'line'])}",
)


DELETE_STRAY_LINES = """
    DELETE FROM sales.sale_line
     WHERE organization_id = $1
       AND payment_id >= $2
       AND payment_id < $3
       AND payment_id <> ALL($4::uuid[])
"""


DELETE_STRAY_SALES = """
    DELETE FROM sales.sale_summary
     WHERE organization_id = $1
       AND payment_id >= $2
       AND payment_id < $3
       AND payment_id <> ALL($4::uuid[])
"""


LIST_SALES = f"""
    SELECT {NAMES}
      FROM sales.sale_summary
     WHERE organization_id = $1
       AND created_at >= $2
       AND (created_at, payment_id) < ($3::timestamptz, $4::uuid)
     ORDER BY created_at DESC, payment_id DESC
     LIMIT $5
"""  # noqa: S608, of constants


LIST_SALES_IN = f"""
    SELECT {NAMES}
      FROM sales.sale_summary
     WHERE organization_id = $1
       AND status = $6
       AND created_at >= $2
       AND (created_at, payment_id) < ($3::timestamptz, $4::uuid)
     ORDER BY created_at DESC, payment_id DESC
     LIMIT $5
"""  # noqa: S608, of constants


# A source has few payments; it is no matter to read over those in other states.
LIST_SALES_OF = f"""
    SELECT {NAMES}
      FROM sales.sale_summary
     WHERE organization_id = $1
       AND source_type = $6
       AND source_id = $7
       AND created_at >= $2
       AND (created_at, payment_id) < ($3::timestamptz, $4::uuid)
       AND ($8::text IS NULL OR status = $8)
     ORDER BY created_at DESC, payment_id DESC
     LIMIT $5
"""  # noqa: S608, of constants


FIND_LINES = f"""
    SELECT {LINE_NAMES}
      FROM sales.sale_line
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
     ORDER BY payment_id, line
"""  # noqa: S608, of constants


async def put_sales(tx: Tx, sales: Sequence[Sale], lines: Sequence[SaleLine]) -> None:
    """In their order, so that two who rebuild the same cannot deadlock."""
    ordered = sorted(sales, key=lambda sale: sale.payment_id)
    await tx.insert_many(PUT_SALES, ordered)
    ordered_lines = sorted(lines, key=lambda line: (line.payment_id, line.line))
    await tx.insert_many(PUT_LINES, ordered_lines)


async def delete_strays(tx: Tx, since: UUID, before: UUID, kept: Collection[UUID]) -> None:
    """What stands between two payments and is no sale of theirs."""
    await tx.execute(DELETE_STRAY_LINES, since, before, [*kept])
    await tx.execute(DELETE_STRAY_SALES, since, before, [*kept])


async def list_sales(
    tx: Tx, source: Source | None, status: str | None, since: datetime, before: Place, limit: int
) -> list[Sale]:
    if source is not None:
        rows = await tx.fetch(LIST_SALES_OF, since, *before, limit, source.type, source.id, status)
    elif status is not None:
        rows = await tx.fetch(LIST_SALES_IN, since, *before, limit, status)
    else:
        rows = await tx.fetch(LIST_SALES, since, *before, limit)
    return [msgspec.convert(dict(row), Sale) for row in rows]


async def find_lines(tx: Tx, payments: Collection[UUID]) -> dict[UUID, list[SaleLine]]:
    found: dict[UUID, list[SaleLine]] = {payment: [] for payment in payments}
    for row in await tx.fetch(FIND_LINES, [*payments]):
        found[row["payment_id"]].append(msgspec.convert(dict(row), SaleLine))
    return found
