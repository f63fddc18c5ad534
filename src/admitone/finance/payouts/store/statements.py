"""Which statements were announced. Nothing here changes one."""

from collections.abc import Sequence
from datetime import date, datetime
from uuid import UUID

import msgspec

from admitone.kernel.db import Tx
from admitone.kernel.statements import Insert

INSERT_STATEMENTS = Insert(
    "payouts.statement",
    {
        "payee_id": "uuid",
        "week": "date",
        "currency": "text",
        "moved_minor": "bigint",
        "announced_at": "timestamptz",
    },
    on_conflict="DO NOTHING",
    returning="payee_id, currency",
)


class Announced(msgspec.Struct, frozen=True):
    payee_id: UUID
    week: date
    currency: str
    moved_minor: int
    announced_at: datetime


async def insert_statements(tx: Tx, statements: Sequence[Announced]) -> list[Announced]:
    """Those of one week that were announced by nobody before."""
    ordered = {(each.payee_id, each.currency): each for each in sorted(statements, key=_place)}
    rows = await tx.insert_many(INSERT_STATEMENTS, [*ordered.values()])
    return [ordered[row["payee_id"], row["currency"]] for row in rows]


def _place(each: Announced) -> tuple[UUID, str]:
    return each.payee_id, each.currency
