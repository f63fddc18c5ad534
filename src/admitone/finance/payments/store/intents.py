"""What was asked of providers, written before they were asked."""

from collections.abc import Collection, Sequence
from uuid import UUID

import msgspec

from admitone.finance.payments.model import GatewayIntent, IntentAction, IntentState
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import Insert, columns

INSERT_INTENTS = Insert(
    "payments.gateway_intent",
    {
        "id": "uuid",
        "payment_id": "uuid",
        "action": "text",
        "state": "text",
        "amount_minor": "bigint",
        "currency": "text",
        "return_url": "text",
        "description": "text",
        "capture_key": "text",
        "fee_minor": "bigint",
        "created_at": "timestamptz",
    },
    attributes={"payment_id": "payment"},
)


FIND_INTENTS = """
    SELECT id, payment_id, action, state, amount_minor, currency, return_url, description, reason, answer, created_at,
           capture_key, fee_minor, unanswered, refused
      FROM payments.gateway_intent
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
     ORDER BY created_at, id
"""


# Those that are open, said otherwise: the index of what is open is everybody's, by its time.
SETTLE_INTENTS = """
    UPDATE payments.gateway_intent AS i
       SET state = v.state, reason = v.reason, answer = v.answer, settled_at = $2
      FROM unnest($3::uuid[], $4::text[], $5::text[], $6::bytea[]) AS v(id, state, reason, answer)
     WHERE i.organization_id = $1
       AND i.id = ANY($3::uuid[])
       AND i.id = v.id
       AND i.settled_at IS NULL
    RETURNING i.id
"""


COUNT_UNANSWERED = """
    UPDATE payments.gateway_intent
       SET unanswered = unanswered + 1
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND state = 'OPEN'
"""


COUNT_REFUSED = """
    UPDATE payments.gateway_intent
       SET refused = refused + 1
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND state = 'OPEN'
"""


class Settlement(msgspec.Struct, frozen=True):
    """How an intent ended."""

    id: UUID
    state: IntentState
    reason: str | None = None
    answer: bytes | None = None


async def insert_intents(tx: Tx, intents: Sequence[GatewayIntent]) -> None:
    rows = [msgspec.structs.replace(each, created_at=tx.now) for each in intents]
    await tx.insert_exactly(INSERT_INTENTS, rows)


async def find_intents(tx: Tx, payments: Collection[PaymentId]) -> dict[PaymentId, list[GatewayIntent]]:
    found: dict[PaymentId, list[GatewayIntent]] = {payment: [] for payment in payments}
    for row in await tx.fetch(FIND_INTENTS, sorted(each.uuid for each in payments)):
        found[PaymentId(row["payment_id"])].append(_intent(row))
    return found


async def settle_intents(tx: Tx, settlements: Sequence[Settlement]) -> set[UUID]:
    """Those that nobody had settled before."""
    ordered = sorted(settlements, key=lambda each: each.id)
    rows = await tx.fetch(SETTLE_INTENTS, tx.now, *columns(ordered, "id", "state", "reason", "answer"))
    return {row["id"] for row in rows}


async def count_unanswered(tx: Tx, intents: Collection[UUID]) -> None:
    await tx.execute(COUNT_UNANSWERED, sorted({*intents}))


async def count_refused(tx: Tx, intents: Collection[UUID]) -> None:
    await tx.execute(COUNT_REFUSED, sorted({*intents}))


def _intent(row: Record) -> GatewayIntent:
    return GatewayIntent(
        id=row["id"],
        payment=PaymentId(row["payment_id"]),
        action=IntentAction(row["action"]),
        state=IntentState(row["state"]),
        amount_minor=row["amount_minor"],
        currency=row["currency"],
        description=row["description"],
        return_url=row["return_url"],
        reason=row["reason"],
        answer=row["answer"],
        created_at=row["created_at"],
        capture_key=row["capture_key"],
        fee_minor=row["fee_minor"],
        unanswered=row["unanswered"],
        refused=row["refused"],
    )
