"""The statements of fulfilment."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.statements import Insert
from admitone.selling.fulfilment.model import Operation, Scenario, State

MOST: Final = 10_000
"""What is counted beyond it is "at least"."""

# Whoever writes holds the payment; that what has ended stays is said twice.
PUT_OPERATIONS = Insert(
    "fulfilment.operation",
    {
        "payment_id": "uuid",
        "source_type": "text",
        "source_id": "text",
        "state": "text",
        "scenario": "text",
        "key": "text",
        "steps": "text[]",
        "reason": "text",
        "refund_id": "uuid",
        "attempts": "integer",
        "correlation_id": "uuid",
        "begun_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    on_conflict="""(organization_id, payment_id) DO UPDATE
       SET state = EXCLUDED.state, scenario = EXCLUDED.scenario, key = EXCLUDED.key, steps = EXCLUDED.steps,
           reason = EXCLUDED.reason, refund_id = EXCLUDED.refund_id, attempts = EXCLUDED.attempts,
           changed_at = EXCLUDED.changed_at
     WHERE operation.state IN ('OPEN', 'FAILED')""",
    attributes={"payment_id": "payment", "source_type": "source.type", "source_id": "source.id"},
)


FIND_OPERATIONS = """
    SELECT payment_id, source_type, source_id, state, scenario, key, steps, reason, refund_id, attempts,
           correlation_id, begun_at, changed_at
      FROM fulfilment.operation
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
"""


# -- Over all organisations, for whoever watches


LIST_FRUITLESS = """
    SELECT organization_id, payment_id, correlation_id
      FROM fulfilment.operation
     WHERE state IN ('RETURNED', 'FAILED')
       AND changed_at > $1
       AND reason <> ALL($2::text[])
     ORDER BY changed_at DESC
     LIMIT $3
"""


COUNT_SINCE = """
    SELECT count(*) AS operations
      FROM (SELECT FROM fulfilment.operation
             WHERE changed_at > $1
             LIMIT $2) AS o
"""


COUNT_UNFINISHED = """
    SELECT o.state, count(*) AS operations
      FROM (SELECT state
              FROM fulfilment.operation
             WHERE state IN ('OPEN', 'FAILED')
             ORDER BY state
             LIMIT $1) AS o
     GROUP BY o.state
"""


class Fruitless(msgspec.Struct, frozen=True):
    """Somebody paid, and has nothing for it."""

    organization: UUID
    payment: PaymentId
    correlation_id: UUID


async def put_operations(tx: Tx, operations: Sequence[Operation]) -> None:
    ordered = sorted(operations, key=lambda each: each.payment)
    await tx.insert_exactly(PUT_OPERATIONS, ordered)


async def find_operations(tx: Tx, payments: Collection[PaymentId]) -> dict[PaymentId, Operation]:
    """What became of each of these payments; of one that nobody has come to, nothing."""
    rows = await tx.fetch(FIND_OPERATIONS, sorted(each.uuid for each in payments))
    return {PaymentId(row["payment_id"]): _operation(row) for row in rows}


async def list_fruitless(tx: PlatformTx, since: datetime, but_for: Collection[str]) -> list[Fruitless]:
    """The newest first."""
    rows = await tx.fetch(LIST_FRUITLESS, since, sorted(but_for), MOST)
    return [Fruitless(row["organization_id"], PaymentId(row["payment_id"]), row["correlation_id"]) for row in rows]


async def count_since(tx: PlatformTx, since: datetime, most: int) -> int:
    [row] = await tx.fetch(COUNT_SINCE, since, most)
    return int(row["operations"])


async def count_unfinished(tx: PlatformTx) -> dict[State, int]:
    return {State(row["state"]): row["operations"] for row in await tx.fetch(COUNT_UNFINISHED, MOST)}


def _operation(row: Record) -> Operation:
    return Operation(
        payment=PaymentId(row["payment_id"]),
        source=Source(SourceType(row["source_type"]), row["source_id"]),
        state=State(row["state"]),
        scenario=Scenario(row["scenario"]) if row["scenario"] else None,
        key=row["key"],
        steps=tuple(row["steps"]),
        reason=row["reason"],
        refund_id=row["refund_id"],
        attempts=row["attempts"],
        correlation_id=row["correlation_id"],
        begun_at=row["begun_at"],
        changed_at=row["changed_at"],
    )
