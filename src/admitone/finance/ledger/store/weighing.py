"""Transfers as somebody else's books would have them, placed in buckets and weighed where they lie.

What is compared with what another has in millions of rows is not carried there row by row: each transfer is named as
the other would name it, its name hashed with a secret, and by the hash it falls into a bucket and has a weight. Whoever
hashes the other books likewise compares sums.
"""

from collections.abc import Sequence
from uuid import UUID

from admitone.kernel.db import Record, Tx
from admitone.kernel.statements import columns

# The page is cut before anything else is looked at, so that a page is as long whatever stands in it.
LIST_PLACED = """
      WITH page AS MATERIALIZED (
            SELECT t.id, t.entry_type, t.event, t.debit_account, t.credit_account, t.amount_minor, t.currency,
                   t.reference, t.metadata, t.payment_id, t.posted_at
              FROM ledger.transfer AS t
             WHERE t.organization_id = $1
               AND t.id > $2
             ORDER BY t.id
             LIMIT $3),
           named AS (
            SELECT p.entry_type, p.currency, COALESCE(p.reference, '') AS reference, p.payment_id, p.posted_at,
                   COALESCE(n.kind, p.metadata->>'kind') AS kind,
                   p.amount_minor * ((p.debit_account = ANY($8::text[]))::integer
                                     - (p.credit_account = ANY($8::text[]))::integer) AS inward_minor
              FROM page AS p
              JOIN unnest($4::text[], $5::text[], $6::text[]) AS n (entry_type, kind, event)
                ON n.entry_type = p.entry_type
               AND (n.event IS NULL OR n.event = p.event)
             WHERE p.posted_at BETWEEN $11 AND $12
                OR p.posted_at > $13),
           hashed AS (
            SELECT n.entry_type, n.kind, n.reference, n.currency, n.payment_id, n.posted_at, n.inward_minor,
                   CASE WHEN n.kind = ANY($7::text[]) THEN n.inward_minor ELSE -n.inward_minor END AS minor,
                   sha256($9::bytea || convert_to(n.kind || ' ' || n.currency || ' ' || n.reference, 'UTF8')) AS digest
              FROM named AS n),
           placed AS (
            SELECT h.entry_type, h.kind, h.reference, h.currency, h.payment_id, h.posted_at, h.inward_minor, h.minor,
                   (get_byte(h.digest, 0) * 256 + get_byte(h.digest, 1)) % $10::integer AS bucket,
                   ('x' || encode(substr(h.digest, 3, 7), 'hex'))::bit(56)::bigint | 1 AS weight
              FROM hashed AS h)
    SELECT (SELECT count(*) FROM page) AS looked_at, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last,
           p.bucket, p.kind, p.reference, p.currency, p.minor, p.entry_type, p.payment_id, p.posted_at, p.weight,
           p.inward_minor
      FROM (VALUES (true)) AS always
      LEFT JOIN placed AS p ON $14::integer[] IS NULL OR p.bucket = ANY($14::integer[])
     LIMIT $3
"""


SUM_WEIGHED = f"""
    SELECT p.looked_at, p.last, p.bucket, p.currency, sum(p.weight::numeric * p.minor) AS weighed,
           COALESCE(sum(p.weight::numeric * p.minor) FILTER (WHERE p.posted_at > $15 AND p.posted_at <= $12), 0)
               AS young, sum(p.inward_minor)::bigint AS inward_minor, count(*) AS transfers
      FROM ({LIST_PLACED}) AS p
     GROUP BY p.looked_at, p.last, p.bucket, p.currency
"""  # noqa: S608, of constants


async def sum_weighed(tx: Tx, after: UUID, limit: int, names: Sequence[object], *rest: object) -> list[Record]:
    """`rest` as the statement has it, from what comes in to what is young."""
    return await tx.fetch(SUM_WEIGHED, after, limit, *columns(names, "entry_type", "kind", "event"), *rest)


async def list_placed(tx: Tx, after: UUID, limit: int, names: Sequence[object], *rest: object) -> list[Record]:
    return await tx.fetch(LIST_PLACED, after, limit, *columns(names, "entry_type", "kind", "event"), *rest)
