"""Balances as they were folded, and the transfers that they were folded from."""

from typing import Any
from uuid import UUID

import msgspec

from admitone.finance.ledger.policy import Delta
from admitone.kernel.db import Record, Tx

# Seals and balances are written together, so in one statement they are of one moment: the balances are the fold of
# what is sealed up to this seal.
LIST_FOLDED = """
    SELECT s.number AS seal, f.account, f.payee_id, f.currency, f.city_code, f.debits_minor, f.credits_minor,
           f.days_debits_minor, f.days_credits_minor
      FROM (SELECT COALESCE(max(number), 0) AS number
              FROM ledger.seal
             WHERE organization_id = $1) AS s
      LEFT JOIN (SELECT u.account, u.payee_id, u.currency, u.city_code,
                        sum(u.debits)::bigint AS debits_minor, sum(u.credits)::bigint AS credits_minor,
                        sum(u.days_debits)::bigint AS days_debits_minor,
                        sum(u.days_credits)::bigint AS days_credits_minor
                   FROM (SELECT b.account, b.payee_id, b.currency, b.city_code,
                                b.debits_minor AS debits, b.credits_minor AS credits,
                                0 AS days_debits, 0 AS days_credits
                           FROM ledger.balance AS b
                          WHERE b.organization_id = $1
                          UNION ALL
                         SELECT d.account, d.payee_id, d.currency, d.city_code, 0, 0, d.debits_minor, d.credits_minor
                           FROM ledger.balance_day AS d
                          WHERE d.organization_id = $1) AS u
                  GROUP BY u.account, u.payee_id, u.currency, u.city_code) AS f ON true
     LIMIT $2
"""


# What is under a later seal, or in an open delta, is not folded yet. What is in neither never will be, and counts.
SUM_FOLDABLE = """
      WITH page AS (
            SELECT t.id, t.debit_account, t.credit_account, t.payee_id, t.currency, t.city_code, t.amount_minor
              FROM ledger.transfer AS t
             WHERE t.organization_id = $1
               AND t.id > $2
             ORDER BY t.id
             LIMIT $3),
           open AS (
            SELECT unnest(d.transfers) AS id
              FROM ledger.delta AS d
             WHERE d.organization_id = $1),
           marked AS (
            SELECT p.id, p.debit_account, p.credit_account, p.payee_id, p.currency, p.city_code, p.amount_minor,
                   (SELECT m.seal
                      FROM ledger.seal_member AS m
                     WHERE m.organization_id = $1
                       AND m.transfer_id = p.id) AS seal
              FROM page AS p),
           moved AS (
            SELECT debit_account, credit_account, payee_id, currency, city_code, sum(amount_minor)::bigint AS minor
              FROM marked
             WHERE seal <= $4
                OR (seal IS NULL AND id NOT IN (SELECT o.id FROM open AS o))
             GROUP BY debit_account, credit_account, payee_id, currency, city_code)
    SELECT (SELECT count(*) FROM page) AS looked_at, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last,
           m.debit_account, m.credit_account, m.payee_id, m.currency, m.city_code, m.minor
      FROM (VALUES (true)) AS always
      LEFT JOIN moved AS m ON true
     LIMIT $3
"""


LIST_DELTAS = """
    SELECT id, city_code, day, accounts, payees, currencies, debits, credits, transfers, posted_at
      FROM ledger.delta
     WHERE organization_id = $1
       AND id > $2
     ORDER BY id
     LIMIT $3
"""


async def list_folded(tx: Tx, limit: int) -> list[Record]:
    return await tx.fetch(LIST_FOLDED, limit)


async def sum_foldable(tx: Tx, after: UUID, limit: int, until: int) -> list[Record]:
    return await tx.fetch(SUM_FOLDABLE, after, limit, until)


async def list_deltas(tx: Tx, after: UUID, limit: int) -> list[Delta]:
    rows: list[dict[str, Any]] = [dict(row) for row in await tx.fetch(LIST_DELTAS, after, limit)]
    return [msgspec.convert(row, Delta) for row in rows]
