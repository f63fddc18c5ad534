"""Transfers, to add and to read. Nothing here changes one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.finance.ledger.model import POSITION, Account, EntryType, Holding, Transfer, TransferId
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Record, Tx
from admitone.kernel.money import Currency, Money
from admitone.kernel.statements import BothWays, Insert, ListOrder, columns

Place = tuple[datetime, UUID]
"""Where a transfer stands in a statement."""
BEGINNING: Final[Place] = (datetime(1, 1, 2, tzinfo=UTC), UUID(int=0))
END: Final[Place] = (datetime(9000, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))


INSERT_TRANSFERS = Insert(
    "ledger.transfer",
    {
        "id": "uuid",
        "transaction_id": "uuid",
        "city_code": "text",
        "payee_id": "uuid",
        "entry_type": "text",
        "event": "text",
        "flow": "text",
        "line": "integer",
        "debit_account": "text",
        "credit_account": "text",
        "amount_minor": "bigint",
        "currency": "text",
        "payment_id": "uuid",
        "source_type": "text",
        "source_id": "text",
        "causation_id": "text",
        "correlation_id": "uuid",
        "reference": "text",
        "metadata": "jsonb",
        "posted_at": "timestamptz",
    },
    on_conflict="DO NOTHING",
    returning="id",
)


COLUMNS = """t.id, t.transaction_id, t.city_code, t.payee_id, t.entry_type, t.event, t.flow, t.line, t.debit_account,
           t.credit_account, t.amount_minor, t.currency, t.payment_id, t.source_type, t.source_id, t.causation_id,
           t.correlation_id, t.reference, t.metadata, t.posted_at"""


# Each is at most one step down the index; the limit says so to the planner.
FIND_BY_CAUSE = f"""
    SELECT {COLUMNS}
      FROM unnest($2::uuid[], $3::text[], $4::text[], $5::integer[]) AS v (payment_id, entry_type, causation_id, line)
     CROSS JOIN LATERAL (
               SELECT {COLUMNS}
                 FROM ledger.transfer AS t
                WHERE t.organization_id = $1
                  AND t.payment_id = v.payment_id
                  AND t.entry_type = v.entry_type
                  AND t.causation_id = v.causation_id
                  AND t.line = v.line
                LIMIT 1) AS t
     UNION ALL
    SELECT {COLUMNS}
      FROM unnest($2::uuid[], $3::text[], $4::text[], $5::integer[]) AS v (payment_id, entry_type, causation_id, line)
     CROSS JOIN LATERAL (
               SELECT {COLUMNS}
                 FROM ledger.transfer AS t
                WHERE t.organization_id = $1
                  AND t.payment_id IS NULL
                  AND t.entry_type = v.entry_type
                  AND t.causation_id = v.causation_id
                  AND t.line = v.line
                LIMIT 1) AS t
     WHERE v.payment_id IS NULL
"""  # noqa: S608, of constants


LIST_BY_PAYMENT = f"""
    SELECT {COLUMNS}
      FROM ledger.transfer AS t
     WHERE t.organization_id = $1
       AND t.payment_id = ANY($2::uuid[])
     ORDER BY t.id
     LIMIT $3
"""  # noqa: S608, of constants


# Without reading one of them: each is under a seal, or in a delta, and the last seal has counted those before it.
SUM_TRANSFERS = """
    SELECT COALESCE((SELECT s.total
                       FROM ledger.seal AS s
                      WHERE s.organization_id = $1
                        AND s.number > 0
                      ORDER BY s.number DESC
                      LIMIT 1), 0)
           + (SELECT COALESCE(sum(cardinality(d.transfers)), 0)
                FROM ledger.delta AS d
               WHERE d.organization_id = $1) AS transfers
"""


SUM_POSITIONS = """
    SELECT payment_id, currency,
           (COALESCE(sum(amount_minor) FILTER (WHERE credit_account = ANY($3::text[])), 0)
            - COALESCE(sum(amount_minor) FILTER (WHERE debit_account = ANY($3::text[])), 0))::bigint AS net_minor
      FROM ledger.transfer
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
     GROUP BY payment_id, currency
"""


SUM_POSITIONS_BY_TYPE = """
    SELECT payment_id, currency, entry_type,
           (COALESCE(sum(amount_minor) FILTER (WHERE credit_account = ANY($3::text[])), 0)
            - COALESCE(sum(amount_minor) FILTER (WHERE debit_account = ANY($3::text[])), 0))::bigint AS net_minor
      FROM ledger.transfer
     WHERE organization_id = $1
       AND payment_id = ANY($2::uuid[])
     GROUP BY payment_id, currency, entry_type
"""


SUM_ACCOUNTS_OF_PAYMENTS = """
    SELECT s.payment_id, s.currency, s.account, sum(s.debit)::bigint AS debits_minor,
           sum(s.credit)::bigint AS credits_minor
      FROM (SELECT t.payment_id, t.currency, v.account, v.debit, v.credit
              FROM ledger.transfer AS t
             CROSS JOIN LATERAL (VALUES (t.debit_account, t.amount_minor, 0), (t.credit_account, 0, t.amount_minor))
                AS v (account, debit, credit)
             WHERE t.organization_id = $1
               AND t.payment_id = ANY($2::uuid[])) AS s
     GROUP BY s.payment_id, s.currency, s.account
"""


LIST_STATEMENT = BothWays(
    f"""
    SELECT {COLUMNS}
      FROM ((SELECT {COLUMNS}
               FROM ledger.transfer AS t
              WHERE t.organization_id = $1
                AND t.debit_account = $2
                AND t.payee_id = $3
                AND t.currency = $4
                AND (t.posted_at, t.id) > ($5::timestamptz, $6::uuid)
                AND (t.posted_at, t.id) < ($7::timestamptz, $8::uuid)
              ORDER BY t.posted_at {{way}}, t.id {{way}}
              LIMIT $9)
              UNION ALL
            (SELECT {COLUMNS}
               FROM ledger.transfer AS t
              WHERE t.organization_id = $1
                AND t.credit_account = $2
                AND t.payee_id = $3
                AND t.currency = $4
                AND (t.posted_at, t.id) > ($5::timestamptz, $6::uuid)
                AND (t.posted_at, t.id) < ($7::timestamptz, $8::uuid)
              ORDER BY t.posted_at {{way}}, t.id {{way}}
              LIMIT $9)) AS t
     ORDER BY t.posted_at {{way}}, t.id {{way}}
     LIMIT $9
"""  # noqa: S608, of constants
)


async def insert_transfers(tx: Tx, transfers: Sequence[Transfer]) -> set[TransferId]:
    """Those that were not there yet."""
    return {TransferId(row["id"]) for row in await tx.insert_many(INSERT_TRANSFERS, transfers)}


async def find_by_cause(tx: Tx, like: Sequence[Transfer]) -> list[Transfer]:
    """What was posted for the same payment, type, cause and line."""
    rows = await tx.fetch(FIND_BY_CAUSE, *columns(like, "payment_id", "entry_type", "causation_id", "line"))
    return [transfer_in(row) for row in rows]


async def list_by_payment(tx: Tx, payments: Sequence[PaymentId], limit: int) -> list[Transfer]:
    rows = await tx.fetch(LIST_BY_PAYMENT, [payment.uuid for payment in payments], limit)
    return [transfer_in(row) for row in rows]


async def list_statement(
    tx: Tx, holding: Holding, after: Place, before: Place, limit: int, order: ListOrder
) -> list[Transfer]:
    """Both sides in one."""
    whose = holding.account, holding.payee, holding.currency
    rows = await tx.fetch(LIST_STATEMENT.first(order), *whose, *after, *before, limit)
    return [transfer_in(row) for row in rows]


async def sum_positions(tx: Tx, payments: Sequence[PaymentId]) -> list[tuple[PaymentId, Money]]:
    rows = await tx.fetch(SUM_POSITIONS, [payment.uuid for payment in payments], sorted(POSITION))
    return [(PaymentId(row["payment_id"]), Money(row["net_minor"], row["currency"])) for row in rows]


async def sum_positions_by_type(
    tx: Tx, payments: Sequence[PaymentId]
) -> list[tuple[PaymentId, Currency, EntryType, int]]:
    """What entries of each type changed on the position of each payment's payee."""
    rows = await tx.fetch(SUM_POSITIONS_BY_TYPE, sorted(each.uuid for each in payments), sorted(POSITION))
    return [
        (PaymentId(row["payment_id"]), row["currency"], EntryType(row["entry_type"]), row["net_minor"]) for row in rows
    ]


async def sum_accounts(tx: Tx, payments: Sequence[PaymentId]) -> list[tuple[PaymentId, Currency, Account, int, int]]:
    """What went through each account for each payment: debits, and credits."""
    rows = await tx.fetch(SUM_ACCOUNTS_OF_PAYMENTS, sorted(each.uuid for each in payments))
    return [
        (
            PaymentId(row["payment_id"]),
            row["currency"],
            Account(row["account"]),
            row["debits_minor"],
            row["credits_minor"],
        )
        for row in rows
    ]


def transfer_in(row: Record) -> Transfer:
    found: dict[str, Any] = dict(row)
    found["id"] = TransferId(found["id"])
    found["payment_id"] = PaymentId(found["payment_id"]) if found["payment_id"] else None
    return msgspec.convert(found, Transfer)


async def sum_transfers(tx: Tx) -> int:
    [row] = await tx.fetch(SUM_TRANSFERS)
    return int(row["transfers"])
