"""What stands on accounts through which money only passes: of each payment, and of what belongs to none."""

from collections.abc import Sequence
from uuid import UUID

from admitone.kernel.db import Record, Tx

# The last payment of a full page may go on in the next one: it is left for that.
LIST_UNCLEARED = """
      WITH page AS MATERIALIZED (
            SELECT t.payment_id, t.debit_account, t.credit_account, t.amount_minor, t.currency, t.posted_at
              FROM ledger.transfer AS t
             WHERE t.organization_id = $1
               AND t.payment_id > $2
             ORDER BY t.payment_id
             LIMIT $3),
           edge AS MATERIALIZED (
            SELECT count(*) AS looked_at,
                   (SELECT p.payment_id FROM page AS p ORDER BY p.payment_id DESC LIMIT 1) AS last
              FROM page),
           whole AS MATERIALIZED (
            SELECT p.payment_id, p.debit_account, p.credit_account, p.amount_minor, p.currency, p.posted_at
              FROM page AS p
             CROSS JOIN edge AS e
             WHERE e.looked_at < $3
                OR p.payment_id < e.last),
           uncleared AS (
            SELECT w.payment_id, s.account, w.currency, sum(s.minor)::bigint AS minor, max(w.posted_at) AS last_at
              FROM whole AS w
             CROSS JOIN LATERAL (VALUES (w.debit_account, w.amount_minor), (w.credit_account, -w.amount_minor))
                AS s (account, minor)
             WHERE s.account = ANY($4::text[])
             GROUP BY w.payment_id, s.account, w.currency
            HAVING sum(s.minor) <> 0)
    SELECT e.looked_at, (SELECT w.payment_id FROM whole AS w ORDER BY w.payment_id DESC LIMIT 1) AS last,
           u.payment_id, u.account, u.currency, u.minor, u.last_at
      FROM edge AS e
      LEFT JOIN uncleared AS u ON true
     LIMIT $3
"""


LIST_UNCLEARED_BY_REFERENCE = """
    SELECT u.reference, u.currency, sum(u.minor)::bigint AS minor, max(u.posted_at) AS last_at
      FROM (SELECT d.reference, d.currency, d.amount_minor AS minor, d.posted_at
              FROM ledger.transfer AS d
             WHERE d.organization_id = $1
               AND d.debit_account = $2
               AND d.payment_id IS NULL
             UNION ALL
            SELECT c.reference, c.currency, -c.amount_minor, c.posted_at
              FROM ledger.transfer AS c
             WHERE c.organization_id = $1
               AND c.credit_account = $2
               AND c.payment_id IS NULL) AS u
     GROUP BY u.reference, u.currency
    HAVING sum(u.minor) <> 0
     LIMIT $3
"""


async def list_uncleared(tx: Tx, after: UUID, limit: int, accounts: Sequence[str]) -> list[Record]:
    return await tx.fetch(LIST_UNCLEARED, after, limit, accounts)


async def list_uncleared_by_reference(tx: Tx, account: str, limit: int) -> list[Record]:
    return await tx.fetch(LIST_UNCLEARED_BY_REFERENCE, account, limit)
