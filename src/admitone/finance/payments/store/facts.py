"""What happened to payments, as it was recorded."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import FactKind
from admitone.finance.payments.model import OURS, RecordedFact
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import Insert

INSERT_FACTS = Insert(
    "payments.payment_fact",
    {
        "payment_id": "uuid",
        "key": "text",
        "ordinal": "integer",
        "kind": "text",
        "at": "timestamptz",
        "reference": "text",
        "amount_minor": "bigint",
        "currency": "text",
        "total_minor": "bigint",
        "fee_minor": "bigint",
        "code": "text",
        "charge": "text",
        "order_key": "text",
        "recorded_at": "timestamptz",
    },
    attributes={"order_key": "order"},
)


FIND_FACTS = """
    SELECT payment_id, key, ordinal, kind, at, reference, amount_minor, currency, total_minor, fee_minor, code,
           charge, order_key
      FROM payments.payment_fact
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
     ORDER BY payment_id, ordinal
"""


class FactRow(RecordedFact, frozen=True, kw_only=True):
    payment_id: UUID
    recorded_at: datetime


async def insert_facts(tx: Tx, facts: Mapping[PaymentId, Sequence[RecordedFact]]) -> None:
    rows = [
        FactRow(payment_id=payment.uuid, recorded_at=tx.now, **msgspec.structs.asdict(fact))
        for payment, each in sorted(facts.items())
        for fact in each
    ]
    await tx.insert_exactly(INSERT_FACTS, rows)


async def find_facts(tx: Tx, payments: Collection[PaymentId]) -> dict[PaymentId, list[RecordedFact]]:
    found: dict[PaymentId, list[RecordedFact]] = {payment: [] for payment in payments}
    for row in await tx.fetch(FIND_FACTS, sorted(each.uuid for each in payments)):
        found[PaymentId(row["payment_id"])].append(_fact(row))
    return found


def _fact(row: Record) -> RecordedFact:
    kind = row["kind"]
    return RecordedFact(
        kind=kind if kind in OURS else FactKind(kind),
        key=row["key"],
        at=row["at"],
        reference=row["reference"],
        amount_minor=row["amount_minor"],
        currency=row["currency"],
        total_minor=row["total_minor"],
        fee_minor=row["fee_minor"],
        code=row["code"],
        charge=row["charge"],
        order=row["order_key"],
        ordinal=row["ordinal"],
    )
