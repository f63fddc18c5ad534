"""Balances as they were folded, and the transfers that they were folded from."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec

from admitone.finance.ledger.model import EntryType, Transfer
from admitone.finance.ledger.policy import Delta
from admitone.finance.ledger.store.transfers import COLUMNS, transfer_in
from admitone.kernel.db import Record, Tx

# Seals and balances are written together, so in one statement they are of one moment: the balances are the fold of
# what is sealed up to this seal.
LIST_FOLDED = """
    SELECT s.number AS seal, b.account, b.payee_id, b.currency, b.city_code, b.debits_minor, b.credits_minor
      FROM (SELECT COALESCE(max(number), 0) AS number
              FROM ledger.seal
             WHERE organization_id = $1) AS s
      LEFT JOIN ledger.balance AS b ON b.organization_id = $1
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


LIST_OF_TYPES = f"""
    SELECT {COLUMNS}
      FROM ledger.transfer AS t
     WHERE t.organization_id = $1
       AND t.id > $2
       AND t.entry_type = ANY($3::text[])
     ORDER BY t.id
     LIMIT $4
"""  # noqa: S608, of constants


async def list_folded(tx: Tx, limit: int) -> list[Record]:
    return await tx.fetch(LIST_FOLDED, limit)


async def sum_foldable(tx: Tx, after: UUID, limit: int, until: int) -> list[Record]:
    return await tx.fetch(SUM_FOLDABLE, after, limit, until)


async def list_deltas(tx: Tx, after: UUID, limit: int) -> list[Delta]:
    rows: list[dict[str, Any]] = [dict(row) for row in await tx.fetch(LIST_DELTAS, after, limit)]
    return [msgspec.convert(row, Delta) for row in rows]


async def list_of_types(tx: Tx, after: UUID, types: Sequence[EntryType], limit: int) -> list[Transfer]:
    return [transfer_in(row) for row in await tx.fetch(LIST_OF_TYPES, after, types, limit)]
