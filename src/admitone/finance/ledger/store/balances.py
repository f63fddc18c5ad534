"""Deltas, and the balances that they are folded into. A balance is always the folded row and the deltas still open,
read in one statement: at every moment a movement stands in exactly one of them."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final
from uuid import UUID

from admitone.finance.ledger.model import Account, Balance, Holding
from admitone.finance.ledger.policy import Delta
from admitone.kernel.db import Record, Tx
from admitone.kernel.money import Currency
from admitone.kernel.statements import Insert

FIRST: Final = UUID(int=0)


INSERT_DELTAS = Insert(
    "ledger.delta",
    {
        "id": "uuid",
        "city_code": "text",
        "day": "date",
        "accounts": "text[]",
        "payees": "uuid[]",
        "currencies": "text[]",
        "debits": "bigint[]",
        "credits": "bigint[]",
        "transfers": "uuid[]",
        "posted_at": "timestamptz",
    },
)


LIST_BALANCES = """
    SELECT m.account, m.payee_id, m.currency, sum(m.debits)::bigint AS debits_minor,
           sum(m.credits)::bigint AS credits_minor
      FROM (SELECT b.account, b.payee_id, b.currency, b.debits_minor AS debits, b.credits_minor AS credits
              FROM ledger.balance AS b
             WHERE b.organization_id = $1
               AND b.account = ANY($2::text[])
             UNION ALL
            SELECT v.account, v.payee_id, v.currency, v.debits, v.credits
              FROM ledger.delta AS d
             CROSS JOIN LATERAL unnest(d.accounts, d.payees, d.currencies, d.debits, d.credits)
                AS v (account, payee_id, currency, debits, credits)
             WHERE d.organization_id = $1
               AND v.account = ANY($2::text[])) AS m
     WHERE (m.account, m.payee_id, m.currency) > ($3::text, $4::uuid, $5::text)
     GROUP BY m.account, m.payee_id, m.currency
     ORDER BY m.account, m.payee_id, m.currency
     LIMIT $6
"""


LIST_BALANCES_OF_PAYEE = """
    SELECT m.account, m.payee_id, m.currency, sum(m.debits)::bigint AS debits_minor,
           sum(m.credits)::bigint AS credits_minor
      FROM (SELECT b.account, b.payee_id, b.currency, b.debits_minor AS debits, b.credits_minor AS credits
              FROM ledger.balance AS b
             WHERE b.organization_id = $1
               AND b.account = ANY($2::text[])
               AND b.payee_id = $3
             UNION ALL
            SELECT v.account, v.payee_id, v.currency, v.debits, v.credits
              FROM ledger.delta AS d
             CROSS JOIN LATERAL unnest(d.accounts, d.payees, d.currencies, d.debits, d.credits)
                AS v (account, payee_id, currency, debits, credits)
             WHERE d.organization_id = $1
               AND v.account = ANY($2::text[])
               AND v.payee_id = $3) AS m
     WHERE (m.account, m.payee_id, m.currency) > ($4::text, $3::uuid, $5::text)
     GROUP BY m.account, m.payee_id, m.currency
     ORDER BY m.account, m.payee_id, m.currency
     LIMIT $6
"""


SUM_BALANCES_OF_PAYEES = """
    SELECT m.account, m.payee_id, m.currency, sum(m.debits)::bigint AS debits_minor,
           sum(m.credits)::bigint AS credits_minor
      FROM (SELECT b.account, b.payee_id, b.currency, b.debits_minor AS debits, b.credits_minor AS credits
              FROM ledger.balance AS b
             WHERE b.organization_id = $1
               AND b.account = ANY($2::text[])
               AND b.payee_id = ANY($3::uuid[])
             UNION ALL
            SELECT v.account, v.payee_id, v.currency, v.debits, v.credits
              FROM ledger.delta AS d
             CROSS JOIN LATERAL unnest(d.accounts, d.payees, d.currencies, d.debits, d.credits)
                AS v (account, payee_id, currency, debits, credits)
             WHERE d.organization_id = $1
               AND v.account = ANY($2::text[])
               AND v.payee_id = ANY($3::uuid[])) AS m
     GROUP BY m.account, m.payee_id, m.currency
"""


SUM_MOVED_UNTIL = """
    SELECT COALESCE(sum(m.debits), 0)::bigint AS debits_minor, COALESCE(sum(m.credits), 0)::bigint AS credits_minor
      FROM (SELECT b.debits_minor AS debits, b.credits_minor AS credits
              FROM ledger.balance_day AS b
             WHERE b.organization_id = $1
               AND b.account = $2
               AND b.payee_id = $3
               AND b.currency = $4
               AND b.day < $5
             UNION ALL
            SELECT v.debits, v.credits
              FROM ledger.delta AS d
             CROSS JOIN LATERAL unnest(d.accounts, d.payees, d.currencies, d.debits, d.credits)
                AS v (account, payee_id, currency, debits, credits)
             WHERE d.organization_id = $1
               AND d.day < $5
               AND v.account = $2
               AND v.payee_id = $3
               AND v.currency = $4
             UNION ALL
            SELECT t.amount_minor, 0
              FROM ledger.transfer AS t
             WHERE t.organization_id = $1
               AND t.debit_account = $2
               AND t.payee_id = $3
               AND t.currency = $4
               AND t.posted_at >= $6
               AND t.posted_at <= $7
             UNION ALL
            SELECT 0, t.amount_minor
              FROM ledger.transfer AS t
             WHERE t.organization_id = $1
               AND t.credit_account = $2
               AND t.payee_id = $3
               AND t.currency = $4
               AND t.posted_at >= $6
               AND t.posted_at <= $7) AS m
"""


SUM_MOVED_BETWEEN = """
    SELECT m.account, m.payee_id, m.currency, sum(m.debits)::bigint AS debits_minor,
           sum(m.credits)::bigint AS credits_minor
      FROM (SELECT b.account, b.payee_id, b.currency, b.debits_minor AS debits, b.credits_minor AS credits
              FROM ledger.balance_day AS b
             WHERE b.organization_id = $1
               AND b.account = ANY($2::text[])
               AND b.payee_id = ANY($3::uuid[])
               AND b.day >= $4
               AND b.day < $5
             UNION ALL
            SELECT v.account, v.payee_id, v.currency, v.debits, v.credits
              FROM ledger.delta AS d
             CROSS JOIN LATERAL unnest(d.accounts, d.payees, d.currencies, d.debits, d.credits)
                AS v (account, payee_id, currency, debits, credits)
             WHERE d.organization_id = $1
               AND d.day >= $4
               AND d.day < $5
               AND v.account = ANY($2::text[])
               AND v.payee_id = ANY($3::uuid[])) AS m
     GROUP BY m.account, m.payee_id, m.currency
"""


SUM_ACCOUNTS = """
    SELECT m.account, m.currency, sum(m.debits)::bigint AS debits_minor, sum(m.credits)::bigint AS credits_minor
      FROM (SELECT b.account, b.currency, b.debits_minor AS debits, b.credits_minor AS credits
              FROM ledger.balance AS b
             WHERE b.organization_id = $1
             UNION ALL
            SELECT v.account, v.currency, v.debits, v.credits
              FROM ledger.delta AS d
             CROSS JOIN LATERAL unnest(d.accounts, d.currencies, d.debits, d.credits)
                AS v (account, currency, debits, credits)
             WHERE d.organization_id = $1) AS m
     GROUP BY m.account, m.currency
"""


async def insert_deltas(tx: Tx, deltas: Sequence[Delta]) -> None:
    await tx.insert_exactly(INSERT_DELTAS, deltas)


async def list_balances(tx: Tx, accounts: Sequence[Account], after: Holding | None, limit: int) -> list[Balance]:
    start = (after.account, after.payee, after.currency) if after else ("", FIRST, "")
    return [_balance(row) for row in await tx.fetch(LIST_BALANCES, accounts, *start, limit)]


async def list_balances_of_payee(
    tx: Tx, accounts: Sequence[Account], payee: UUID, after: Holding | None, limit: int
) -> list[Balance]:
    start = (after.account, after.currency) if after else ("", "")
    return [_balance(row) for row in await tx.fetch(LIST_BALANCES_OF_PAYEE, accounts, payee, *start, limit)]


async def sum_balances_of_payees(tx: Tx, accounts: Sequence[Account], payees: Sequence[UUID]) -> list[Balance]:
    return [_balance(row) for row in await tx.fetch(SUM_BALANCES_OF_PAYEES, accounts, payees)]


async def sum_moved_until(tx: Tx, holding: Holding, day: date, midnight: datetime, instant: datetime) -> Balance:
    [row] = await tx.fetch(SUM_MOVED_UNTIL, holding.account, holding.payee, holding.currency, day, midnight, instant)
    return Balance(holding, row["debits_minor"], row["credits_minor"])


async def sum_moved_between(
    tx: Tx, accounts: Sequence[Account], payees: Sequence[UUID], first: date, end: date
) -> list[Balance]:
    return [_balance(row) for row in await tx.fetch(SUM_MOVED_BETWEEN, accounts, payees, first, end)]


async def sum_accounts(tx: Tx) -> list[tuple[Account, Currency, int, int]]:
    return [
        (Account(row["account"]), row["currency"], row["debits_minor"], row["credits_minor"])
        for row in await tx.fetch(SUM_ACCOUNTS)
    ]


def _balance(row: Record) -> Balance:
    holding = Holding(Account(row["account"]), row["payee_id"], row["currency"])
    return Balance(holding, row["debits_minor"], row["credits_minor"])
