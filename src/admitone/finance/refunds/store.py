"""The statements of refunds."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from admitone.finance.refunds.model import Gone, GoneBack, Reason, Refund, RefundLine, RefundState
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import BothWays, Insert, ListOrder

COLUMNS = """id, payment_id, city_code, source_type, source_id, amount_minor, fee_minor, currency, reason,
           cancellation_id, state, failure, requested_by, created_at, settled_at, stands_for"""


INSERT_REFUNDS = Insert(
    "refunds.refund",
    {
        "id": "uuid",
        "payment_id": "uuid",
        "city_code": "text",
        "source_type": "text",
        "source_id": "text",
        "amount_minor": "bigint",
        "fee_minor": "bigint",
        "currency": "text",
        "reason": "text",
        "cancellation_id": "uuid",
        "state": "text",
        "requested_by": "uuid",
        "created_at": "timestamptz",
        "stands_for": "uuid",
    },
)


INSERT_LINES = Insert(
    "refunds.refund_line",
    {
        "refund_id": "uuid",
        "line_key": "text",
        "quantity": "integer",
        "amount_minor": "bigint",
        "fee_minor": "bigint",
        "pieces": "integer[]",
    },
)


FIND_REFUNDS = f"""
    SELECT {COLUMNS}
      FROM refunds.refund
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
"""  # noqa: S608, of constants


FIND_OF_PAYMENTS = f"""
    SELECT {COLUMNS}
      FROM refunds.refund
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
     ORDER BY id
"""  # noqa: S608, of constants


LIST_REFUNDS = BothWays(
    f"""
    SELECT {COLUMNS}
      FROM refunds.refund
     WHERE organization_id = $1
       AND id > $2
       AND id < $3
     ORDER BY id {{way}}
     LIMIT $4
"""  # noqa: S608, of constants
)


LIST_REFUNDS_IN = BothWays(
    f"""
    SELECT {COLUMNS}
      FROM refunds.refund
     WHERE organization_id = $1
       AND state = $4
       AND id > $2
       AND id < $3
     ORDER BY id {{way}}
     LIMIT $5
"""  # noqa: S608, of constants
)


LIST_OF_PAYMENT = f"""
    SELECT {COLUMNS}
      FROM refunds.refund
     WHERE organization_id = $1
       AND payment_id = $2
     ORDER BY id
     LIMIT $3
"""  # noqa: S608, of constants


LIST_PLANNED = f"""
    SELECT {COLUMNS}
      FROM refunds.refund
     WHERE organization_id = $1
       AND cancellation_id = $2
       AND payment_id > $3
     ORDER BY payment_id
     LIMIT $4
"""  # noqa: S608, of constants


COUNT_PLANNED = """
    SELECT count(*) AS refunds
      FROM refunds.refund
     WHERE organization_id = $1
       AND cancellation_id = $2
"""


# Of what was ordered anew counts what became of that, the best of it.
COUNT_BY_STATE = """
    SELECT COALESCE(n.state, r.state) AS state, count(*) AS refunds
      FROM refunds.refund AS r
      LEFT JOIN LATERAL (SELECT a.state
                           FROM refunds.refund AS a
                          WHERE a.organization_id = $1
                            AND a.payment_id = r.payment_id
                            AND a.stands_for = r.id
                            AND r.state <> 'SUCCEEDED'
                          ORDER BY array_position(ARRAY['SUCCEEDED', 'PENDING'], a.state)
                          LIMIT 1) AS n
        ON true
     WHERE r.organization_id = $1
       AND r.cancellation_id = $2
     GROUP BY COALESCE(n.state, r.state)
"""


# Of the lines of these payments, what has gone back or is on its way.
FIND_GONE = """
    SELECT r.payment_id, l.refund_id, l.line_key, l.quantity, l.amount_minor, l.fee_minor, l.pieces
      FROM refunds.refund AS r
      JOIN refunds.refund_line AS l
        ON l.organization_id = r.organization_id
       AND l.refund_id = r.id
     WHERE r.organization_id = $1
       AND r.payment_id = ANY($2::uuid[])
       AND r.state IN ('PENDING', 'SUCCEEDED')
"""


# Those that arrived, and what the others are for; a cancellation is for all that was left, and has no lines.
FIND_GONE_BACK = """
    SELECT r.payment_id, r.state, l.refund_id, l.line_key, l.quantity, l.amount_minor, l.fee_minor, l.pieces
      FROM refunds.refund AS r
      LEFT JOIN refunds.refund_line AS l
        ON l.organization_id = r.organization_id
       AND l.refund_id = r.id
     WHERE r.organization_id = $1
       AND r.payment_id = ANY($2::uuid[])
       AND r.state IN ('PENDING', 'SUCCEEDED')
       AND (l.line_key IS NOT NULL OR r.cancellation_id IS NOT NULL)
"""


FIND_LINES = """
    SELECT refund_id, line_key, quantity, amount_minor, fee_minor, pieces
      FROM refunds.refund_line
     WHERE organization_id = $1
       AND refund_id = ANY($2::uuid[])
     ORDER BY refund_id, line_key
"""


MOVE_REFUNDS = """
    UPDATE refunds.refund AS r
       SET state = $3, failure = v.failure, settled_at = $4
      FROM unnest($2::uuid[], $5::text[]) AS v(id, failure)
     WHERE r.organization_id = $1
       AND r.id = ANY($2::uuid[])
       AND r.id = v.id
       AND r.state = ANY($6::text[])
    RETURNING r.id
"""


async def insert_refunds(tx: Tx, refunds: Sequence[Refund], lines: Sequence[RefundLine]) -> None:
    await tx.insert_exactly(INSERT_REFUNDS, refunds)
    await tx.insert_exactly(INSERT_LINES, lines)


async def find_refunds(tx: Tx, ids: Collection[UUID]) -> dict[UUID, Refund]:
    return {row["id"]: _refund(row) for row in await tx.fetch(FIND_REFUNDS, sorted({*ids}))}


async def find_of_payments(tx: Tx, payments: Collection[PaymentId]) -> list[Refund]:
    return [_refund(row) for row in await tx.fetch(FIND_OF_PAYMENTS, sorted({each.uuid for each in payments}))]


async def list_refunds(
    tx: Tx, place: UUID | None, state: RefundState | None, limit: int, order: ListOrder = ListOrder.NEWEST
) -> list[Refund]:
    stretch = order.ids(place)
    if state is None:
        return [_refund(row) for row in await tx.fetch(LIST_REFUNDS.first(order), *stretch, limit)]
    return [_refund(row) for row in await tx.fetch(LIST_REFUNDS_IN.first(order), *stretch, state.value, limit)]


async def list_of_payment(tx: Tx, payment: PaymentId, limit: int) -> list[Refund]:
    """The first one first."""
    return [_refund(row) for row in await tx.fetch(LIST_OF_PAYMENT, payment.uuid, limit)]


async def list_planned(tx: Tx, cancellation: UUID, after: UUID, limit: int) -> list[Refund]:
    """Of a cancellation, in the order of their payments, whatever became of them."""
    return [_refund(row) for row in await tx.fetch(LIST_PLANNED, cancellation, after, limit)]


async def count_planned(tx: Tx, cancellation: UUID) -> int:
    [row] = await tx.fetch(COUNT_PLANNED, cancellation)
    return int(row["refunds"])


async def count_by_state(tx: Tx, cancellation: UUID) -> dict[RefundState, int]:
    rows = await tx.fetch(COUNT_BY_STATE, cancellation)
    return {RefundState(row["state"]): row["refunds"] for row in rows}


async def find_gone(tx: Tx, payments: Collection[PaymentId]) -> dict[PaymentId, dict[str, Gone]]:
    """Of each, what has gone back or is on its way."""
    gone: dict[PaymentId, dict[str, Gone]] = {payment: {} for payment in payments}
    for row in await tx.fetch(FIND_GONE, sorted(each.uuid for each in payments)):
        add_up(gone[PaymentId(row["payment_id"])], [_line(row)])
    return gone


def add_up(gone: dict[str, Gone], lines: Iterable[RefundLine]) -> None:
    for each in lines:
        gone[each.line_key] = gone.get(each.line_key, Gone()).and_also(each)


async def find_gone_back(tx: Tx, payments: Collection[PaymentId]) -> dict[PaymentId, GoneBack]:
    """Of each, what arrived."""
    gone: dict[PaymentId, dict[str, Gone]] = {each: {} for each in payments}
    amounts: Counter[PaymentId] = Counter()
    whole: set[PaymentId] = set()
    for row in await tx.fetch(FIND_GONE_BACK, sorted(each.uuid for each in payments)):
        payment, has_arrived = PaymentId(row["payment_id"]), row["state"] == RefundState.SUCCEEDED.value
        amounts[payment] += row["amount_minor"] or 0
        if has_arrived and row["line_key"] is None:
            whole.add(payment)
        elif has_arrived:
            add_up(gone[payment], [_line(row)])
    return {each: GoneBack(gone[each], amounts[each], each in whole) for each in payments}


async def find_lines(tx: Tx, refunds: Collection[UUID]) -> dict[UUID, list[RefundLine]]:
    found: dict[UUID, list[RefundLine]] = {own: [] for own in refunds}
    for row in await tx.fetch(FIND_LINES, sorted({*refunds})):
        found[row["refund_id"]].append(_line(row))
    return found


async def move_refunds(
    tx: Tx, failures: Mapping[UUID, str | None], to: RefundState, among: Collection[RefundState]
) -> set[UUID]:
    """Those that stood where they could move from."""
    ordered = sorted(failures.items())
    ended = None if to is RefundState.PENDING else tx.now
    why: list[Any] = [failure for _, failure in ordered]
    ids = [own for own, _ in ordered]
    rows = await tx.fetch(MOVE_REFUNDS, ids, to.value, ended, why, sorted(each.value for each in among))
    return {row["id"] for row in rows}


def _line(row: Record) -> RefundLine:
    pieces = tuple(row["pieces"])
    return RefundLine(row["refund_id"], row["line_key"], row["quantity"], row["amount_minor"], row["fee_minor"], pieces)


def _refund(row: Record) -> Refund:
    return Refund(**(dict(row) | {"reason": Reason(row["reason"]), "state": RefundState(row["state"])}))
