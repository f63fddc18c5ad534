"""What is owed, and why it is not paid for now."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.finance.payouts.model import OBLIGATION, Obligation, ObligationId, ObligationState, PayoutId, Reason
from admitone.finance.sources.api import PaymentId, SettlementModel
from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import Insert, columns

COLUMNS = """id, payment_id, payee_id, city_code, property_key, livemode, currency, due_minor, amount_minor,
           checked_out_at, hold_days, eligible_at, state, payout_id, kept_minor, is_returned"""


INSERT_OBLIGATIONS = Insert(
    "payouts.obligation",
    {
        "id": "uuid",
        "payment_id": "uuid",
        "payee_id": "uuid",
        "city_code": "text",
        "property_key": "text",
        "livemode": "boolean",
        "currency": "text",
        "due_minor": "bigint",
        "amount_minor": "bigint",
        "checked_out_at": "timestamptz",
        "hold_days": "smallint",
        "eligible_at": "timestamptz",
        "state": "text",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    attributes={"payment_id": "payment", "payee_id": "owner"},
)


FIND_BY_PAYMENT = f"""
    SELECT {COLUMNS}
      FROM payouts.obligation
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
"""  # noqa: S608, of constants


FIND_BY_PAYOUT = f"""
    SELECT {COLUMNS}
      FROM payouts.obligation
     WHERE organization_id = $1
       AND payout_id = ANY($2::uuid[])
     ORDER BY id
"""  # noqa: S608, of constants


LIST_OWNERS_DUE = """
    SELECT payee_id
      FROM payouts.obligation
     WHERE organization_id = $1
       AND state = 'DUE'
       AND payee_id > $2
       AND eligible_at <= $3
     GROUP BY payee_id
     ORDER BY payee_id
     LIMIT $4
"""


LIST_DUE = f"""
    SELECT {COLUMNS}
      FROM payouts.obligation
     WHERE organization_id = $1
       AND state = 'DUE'
       AND payee_id = ANY($2::uuid[])
       AND eligible_at <= $3
     ORDER BY payee_id, eligible_at, id
     LIMIT $4
"""  # noqa: S608, of constants


SUM_OPEN = """
    SELECT payee_id, currency, sum(amount_minor)::bigint AS open_minor
      FROM payouts.obligation
     WHERE organization_id = $1
       AND state IN ('DUE', 'FROZEN')
       AND payee_id = ANY($2::uuid[])
     GROUP BY payee_id, currency
"""


LIST_KEPT = f"""
    SELECT {COLUMNS}
      FROM payouts.obligation
     WHERE organization_id = $1
       AND payee_id = ANY($2::uuid[])
       AND kept_minor > 0
       AND state = 'PAID'
     ORDER BY payee_id, eligible_at, id
     LIMIT $3
"""  # noqa: S608, of constants


# What was paid, and would be frozen if it were not: what came back of it may have to go to its customer yet.
SUM_IN_QUESTION = """
    SELECT o.payee_id, o.currency, sum(o.due_minor)::bigint AS questioned_minor
      FROM payouts.freeze AS f
      JOIN payouts.obligation AS o
        ON o.organization_id = f.organization_id
       AND o.payment_id = f.payment_id
     WHERE f.organization_id = $1
       AND f.lifted_at IS NULL
       AND o.state = 'PAID'
       AND o.payee_id = ANY($2::uuid[])
     GROUP BY o.payee_id, o.currency
"""


# One row for each state, and one more for what may be paid already.
SUM_STATES = """
    SELECT currency, state, eligible_at <= $3 AS is_eligible, sum(amount_minor)::bigint AS amount_minor,
           count(*) AS obligations
      FROM payouts.obligation
     WHERE organization_id = $1
       AND ($2::uuid IS NULL OR payee_id = $2)
     GROUP BY currency, state, eligible_at <= $3
"""


# What it was is repeated, so that whatever changed meanwhile changes nothing here.
MOVE_OBLIGATIONS = """
    UPDATE payouts.obligation AS o
       SET state = v.state, payout_id = v.payout_id, amount_minor = v.amount_minor,
           kept_minor = COALESCE(v.kept_minor, o.kept_minor), is_returned = o.is_returned OR v.is_returned,
           changed_at = $2
      FROM unnest($3::uuid[], $4::text[], $5::uuid[], $6::bigint[], $7::text[], $8::bigint[], $9::bigint[],
                  $10::boolean[])
        AS v(id, state, payout_id, amount_minor, was_state, was_minor, kept_minor, is_returned)
     WHERE o.organization_id = $1
       AND o.id = ANY($3::uuid[])
       AND o.id = v.id
       AND o.state = v.was_state
       AND o.amount_minor = v.was_minor
"""


FREEZE = """
    INSERT INTO payouts.freeze AS f (organization_id, payment_id, reason, settlement_model, since)
    SELECT $1, v.payment_id, v.reason, v.settlement_model, $2
      FROM unnest($3::uuid[], $4::text[], $5::text[]) AS v(payment_id, reason, settlement_model)
        ON CONFLICT (organization_id, payment_id, reason)
        DO UPDATE SET since = excluded.since, lifted_at = NULL
                WHERE f.lifted_at IS NOT NULL
    RETURNING payment_id, reason
"""


LIFT = """
    UPDATE payouts.freeze AS f
       SET lifted_at = $2
      FROM unnest($3::uuid[], $4::text[]) AS v(payment_id, reason)
     WHERE f.organization_id = $1
       AND f.payment_id = ANY($3::uuid[])
       AND f.payment_id = v.payment_id
       AND f.reason = v.reason
       AND f.lifted_at IS NULL
    RETURNING f.payment_id, f.reason
"""


FIND_STANDING = """
    SELECT payment_id, reason
      FROM payouts.freeze
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
       AND lifted_at IS NULL
"""


FIND_BLOCK = """
    SELECT since
      FROM payouts.freeze
     WHERE organization_id = $1
       AND lifted_at IS NULL
       AND settlement_model = 'ORG_MOR'
       AND since > '-infinity'
     ORDER BY since
     LIMIT 1
"""


class _Fresh(Obligation, frozen=True, kw_only=True):
    created_at: datetime
    changed_at: datetime


class Move(msgspec.Struct, frozen=True):
    """From how an obligation stood to how it stands."""

    id: ObligationId
    state: ObligationState
    payout: PayoutId | None
    amount_minor: int
    was_state: ObligationState
    was_minor: int
    kept_minor: int | None = None
    """Left out: as before."""
    is_returned: bool = False

    @classmethod
    def of(
        cls,
        before: Obligation,
        state: ObligationState,
        *,
        amount_minor: int | None = None,
        payout: PayoutId | None = None,
        kept_minor: int | None = None,
        is_returned: bool = False,
    ) -> "Move":
        """Left out: of as much as it was, and in no payout."""
        if before.state is not state:
            OBLIGATION.check(before.state, state)
        amount = before.amount_minor if amount_minor is None else amount_minor
        return cls(before.id, state, payout, amount, before.state, before.amount_minor, kept_minor, is_returned)


class Freeze(msgspec.Struct, frozen=True, order=True):
    payment: PaymentId
    reason: Reason
    settlement: SettlementModel = SettlementModel.PLATFORM_MOR


async def insert_obligations(tx: Tx, obligations: Sequence[Obligation]) -> None:
    rows = [_Fresh(**msgspec.structs.asdict(each), created_at=tx.now, changed_at=tx.now) for each in obligations]
    await tx.insert_exactly(INSERT_OBLIGATIONS, rows)


async def find_by_payment(tx: Tx, payments: Collection[PaymentId]) -> dict[PaymentId, Obligation]:
    rows = await tx.fetch(FIND_BY_PAYMENT, sorted({each.uuid for each in payments}))
    return {PaymentId(row["payment_id"]): _obligation(row) for row in rows}


async def find_by_payout(tx: Tx, payouts: Collection[PayoutId]) -> dict[PayoutId, list[Obligation]]:
    found: dict[PayoutId, list[Obligation]] = {each: [] for each in payouts}
    for row in await tx.fetch(FIND_BY_PAYOUT, sorted(each.uuid for each in found)):
        found[PayoutId(row["payout_id"])].append(_obligation(row))
    return found


async def list_owners_due(tx: Tx, after: UUID, at: datetime, limit: int) -> list[UUID]:
    """Whose obligations may be paid at that instant."""
    return [row["payee_id"] for row in await tx.fetch(LIST_OWNERS_DUE, after, at, limit)]


async def list_due(tx: Tx, owners: Collection[UUID], at: datetime, limit: int) -> list[Obligation]:
    return [_obligation(row) for row in await tx.fetch(LIST_DUE, sorted({*owners}), at, limit)]


async def sum_open(tx: Tx, owners: Collection[UUID]) -> dict[tuple[UUID, str], int]:
    """What is owed and in no payout, by owner and currency."""
    rows = await tx.fetch(SUM_OPEN, sorted({*owners}))
    return {(row["payee_id"], row["currency"]): row["open_minor"] for row in rows}


async def list_kept(tx: Tx, owners: Collection[UUID], limit: int) -> list[Obligation]:
    """Those of which something was kept to recover a debt, the oldest first."""
    return [_obligation(row) for row in await tx.fetch(LIST_KEPT, sorted({*owners}), limit)]


async def sum_in_question(tx: Tx, owners: Collection[UUID]) -> dict[tuple[UUID, str], int]:
    """What was paid of payments that are frozen, by owner and currency."""
    rows = await tx.fetch(SUM_IN_QUESTION, sorted({*owners}))
    return {(row["payee_id"], row["currency"]): row["questioned_minor"] for row in rows}


async def sum_states(tx: Tx, owner: UUID | None, at: datetime) -> list[Record]:
    return await tx.fetch(SUM_STATES, owner, at)


async def move_obligations(tx: Tx, moves: Sequence[Move]) -> None:
    ordered = sorted(moves, key=lambda move: move.id)
    given = columns(ordered, "id", "state", "payout", "amount_minor", "was_state", "was_minor")
    given += columns(ordered, "kept_minor", "is_returned")
    await tx.execute_exactly(len(ordered), MOVE_OBLIGATIONS, tx.now, *given)


async def put_freezes(tx: Tx, freezes: Collection[Freeze]) -> set[tuple[PaymentId, Reason]]:
    """Those that did not stand before."""
    ordered = sorted({(each.payment, each.reason): each for each in freezes}.values())
    rows = await tx.fetch(FREEZE, tx.now, *columns(ordered, "payment", "reason", "settlement")) if ordered else []
    return {(PaymentId(row["payment_id"]), Reason(row["reason"])) for row in rows}


async def lift_freezes(tx: Tx, freezes: Collection[Freeze]) -> set[tuple[PaymentId, Reason]]:
    """Those that stood."""
    ordered = sorted({(each.payment, each.reason): each for each in freezes}.values())
    rows = await tx.fetch(LIFT, tx.now, *columns(ordered, "payment", "reason")) if ordered else []
    return {(PaymentId(row["payment_id"]), Reason(row["reason"])) for row in rows}


async def find_standing(tx: Tx, payments: Collection[PaymentId]) -> Mapping[PaymentId, set[Reason]]:
    """Why what is owed of these is not paid for now."""
    found: dict[PaymentId, set[Reason]] = {}
    for row in await tx.fetch(FIND_STANDING, sorted({each.uuid for each in payments})):
        found.setdefault(PaymentId(row["payment_id"]), set()).add(Reason(row["reason"]))
    return found


async def find_block(tx: Tx) -> datetime | None:
    """Since when something of what the organisation sells itself is disputed."""
    row = await tx.find(FIND_BLOCK)
    return row["since"] if row else None


def _obligation(row: Record) -> Obligation:
    return Obligation(
        id=ObligationId(row["id"]),
        payment=PaymentId(row["payment_id"]),
        owner=row["payee_id"],
        city_code=row["city_code"],
        property_key=row["property_key"],
        livemode=row["livemode"],
        currency=row["currency"],
        due_minor=row["due_minor"],
        amount_minor=row["amount_minor"],
        checked_out_at=row["checked_out_at"],
        hold_days=row["hold_days"],
        eligible_at=row["eligible_at"],
        state=ObligationState(row["state"]),
        payout=PayoutId(row["payout_id"]) if row["payout_id"] else None,
        kept_minor=row["kept_minor"],
        is_returned=row["is_returned"],
    )
