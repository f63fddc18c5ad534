"""Receipts that paid for nothing."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.finance.payments.model import RECEIPT, Reason, ReceiptState
from admitone.finance.payments.policy import Receipt
from admitone.finance.sources.api import LatePayment, PaymentId
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import Insert, columns

INSERT_RECEIPTS = Insert(
    "payments.unapplied_receipt",
    {
        "payment_id": "uuid",
        "capture_key": "text",
        "city_code": "text",
        "amount_minor": "bigint",
        "currency": "text",
        "reason": "text",
        "policy": "text",
        "state": "text",
        "created_at": "timestamptz",
        "settled_at": "timestamptz",
    },
)


SETTLE_RECEIPTS = """
    UPDATE payments.unapplied_receipt AS r
       SET state = v.state, settled_at = $2
      FROM unnest($3::uuid[], $4::text[], $5::text[]) AS v(payment_id, capture_key, state)
     WHERE r.organization_id = $1
       AND r.payment_id = ANY($3::uuid[])
       AND r.payment_id = v.payment_id
       AND r.capture_key = v.capture_key
       AND r.settled_at IS NULL
"""


MOVE_RECEIPT = """
    UPDATE payments.unapplied_receipt
       SET state = $4
     WHERE organization_id = $1
       AND payment_id = $2
       AND capture_key = $3
       AND state = ANY($5::text[])
"""


REOPEN_RECEIPTS = """
    UPDATE payments.unapplied_receipt AS r
       SET state = 'OPEN', settled_at = NULL
      FROM unnest($2::uuid[], $3::text[]) AS v(payment_id, capture_key)
     WHERE r.organization_id = $1
       AND r.payment_id = ANY($2::uuid[])
       AND r.payment_id = v.payment_id
       AND r.capture_key = v.capture_key
       AND r.state = ANY($4::text[])
"""


FIND_RECEIPTS = """
    SELECT payment_id, capture_key, city_code, amount_minor, currency, reason, policy, state
      FROM payments.unapplied_receipt
     WHERE organization_id = $1
       AND payment_id = $2
     ORDER BY capture_key
     LIMIT 100
"""


LIST_RECEIPTS = """
    SELECT payment_id, capture_key, city_code, amount_minor, currency, reason, policy, state
      FROM payments.unapplied_receipt
     WHERE organization_id = $1
       AND (payment_id, capture_key) < ($2, $3)
       AND settled_at IS NULL
     ORDER BY payment_id DESC, capture_key DESC
     LIMIT $4
"""


class _Row(Receipt, frozen=True, kw_only=True):
    created_at: datetime
    settled_at: datetime | None


async def insert_receipts(tx: Tx, receipts: Sequence[Receipt]) -> None:
    rows = [
        _Row(
            **msgspec.structs.asdict(each),
            created_at=tx.now,
            settled_at=None if each.state is ReceiptState.OPEN else tx.now,
        )
        for each in receipts
    ]
    await tx.insert_exactly(INSERT_RECEIPTS, rows)


async def settle_receipts(tx: Tx, receipts: Sequence[Receipt]) -> None:
    """Those whose money went back, was lost, or paid for its source after all."""
    if receipts:
        await tx.execute(SETTLE_RECEIPTS, tx.now, *columns(receipts, "payment_id", "capture_key", "state"))


async def move_receipt(tx: Tx, receipt: Receipt, to: ReceiptState) -> bool:
    """Whether it was in a state from which it may go there."""
    leaving = [state.value for state in RECEIPT.leaving(to)]
    moved = await tx.execute(MOVE_RECEIPT, receipt.payment_id.uuid, receipt.capture_key, to.value, leaving)
    return moved == 1


async def reopen_receipts(tx: Tx, receipts: Sequence[Receipt]) -> None:
    """Those whose money was to go back, or had gone, and is with us again: somebody must look."""
    if receipts:
        leaving = [state.value for state in RECEIPT.leaving(ReceiptState.OPEN)]
        await tx.execute(REOPEN_RECEIPTS, *columns(receipts, "payment_id", "capture_key"), leaving)


async def reopen_returning(tx: Tx, payment: PaymentId, capture_key: str) -> None:
    """The one whose return was refused."""
    await tx.execute(REOPEN_RECEIPTS, [payment.uuid], [capture_key], [ReceiptState.RETURNING.value])


async def find_receipts(tx: Tx, payment: PaymentId) -> list[Receipt]:
    return [_receipt(row) for row in await tx.fetch(FIND_RECEIPTS, payment.uuid)]


async def list_receipts(tx: Tx, before: tuple[UUID, str], limit: int) -> list[Receipt]:
    """Those that nobody has settled, the newest payment first."""
    return [_receipt(row) for row in await tx.fetch(LIST_RECEIPTS, *before, limit)]


def _receipt(row: Record) -> Receipt:
    return Receipt(
        PaymentId(row["payment_id"]),
        row["capture_key"],
        row["city_code"],
        row["amount_minor"],
        row["currency"],
        Reason(row["reason"]),
        LatePayment(row["policy"]),
        ReceiptState(row["state"]),
    )
