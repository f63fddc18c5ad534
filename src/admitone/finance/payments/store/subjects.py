"""Which payments paid for something of a subject; those that cost nothing, too, of which nothing can go back."""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from admitone.finance.payments.model import Payment
from admitone.finance.payments.store.payments import OF_PAYMENT, payment_of
from admitone.kernel.db import Tx
from admitone.kernel.statements import Insert

INSERT_SUBJECTS = Insert("payments.paid_subject", {"subject": "text", "payment_id": "uuid"}, on_conflict="DO NOTHING")


# Sorted, so that two who need the same do not wait in a circle. Those who pay share it, and never wait for each other.
JOIN_SUBJECTS = """
    SELECT pg_advisory_xact_lock_shared(v.number)
      FROM (SELECT hashtextextended($1::uuid::text || s.subject, 0) AS number
              FROM unnest($2::text[]) AS s(subject)
             ORDER BY 1) AS v
"""


HOLD_SUBJECTS = """
    SELECT pg_advisory_xact_lock(v.number)
      FROM (SELECT hashtextextended($1::uuid::text || s.subject, 0) AS number
              FROM unnest($2::text[]) AS s(subject)
             ORDER BY 1) AS v
"""


LIST_OF_SUBJECT = f"""
    SELECT {OF_PAYMENT}
      FROM payments.paid_subject AS s
      JOIN payments.payment AS p
        ON p.organization_id = s.organization_id
       AND p.id = s.payment_id
     WHERE s.organization_id = $1
       AND s.subject = $2
       AND s.payment_id > $3
       AND p.amount_minor > 0
     ORDER BY s.payment_id
     LIMIT $4
"""  # noqa: S608, of constants


COUNT_OF_SUBJECT = """
    SELECT count(*) AS payments
      FROM payments.paid_subject AS s
      JOIN payments.payment AS p
        ON p.organization_id = s.organization_id
       AND p.id = s.payment_id
     WHERE s.organization_id = $1
       AND s.subject = $2
       AND p.amount_minor > 0
"""


FIND_PAID = """
    SELECT v.subject
      FROM unnest($2::text[]) AS v(subject)
     WHERE EXISTS (SELECT
                     FROM payments.paid_subject AS s
                    WHERE s.organization_id = $1
                      AND s.subject = v.subject)
"""


class _Row(NamedTuple):
    subject: str
    payment_id: UUID


async def insert_subjects(tx: Tx, payments: Sequence[Payment]) -> None:
    rows = sorted({_Row(subject, each.id.uuid) for each in payments for subject in each.subjects})
    if rows:
        await tx.fetch(JOIN_SUBJECTS, sorted({row.subject for row in rows}))
        await tx.execute(INSERT_SUBJECTS.sql, *INSERT_SUBJECTS.arguments(rows))


async def list_of_subject(tx: Tx, subject: str, after: UUID, limit: int) -> list[Payment]:
    """Those whose money paid for something of it, in the order in which they began."""
    return [payment_of(row) for row in await tx.fetch(LIST_OF_SUBJECT, subject, after, limit)]


async def count_of_subject(tx: Tx, subject: str) -> int:
    """How many of those there are."""
    [row] = await tx.fetch(COUNT_OF_SUBJECT, subject)
    return int(row["payments"])


async def hold_subjects(tx: Tx, subjects: Collection[str]) -> None:
    """Who was paying for these has done so, and is seen; who is about to waits until this transaction has ended."""
    await tx.fetch(HOLD_SUBJECTS, sorted({*subjects}))


async def find_paid(tx: Tx, subjects: Collection[str]) -> set[str]:
    """Those for which anybody ever paid, if nothing, whatever became of it."""
    return {row["subject"] for row in await tx.fetch(FIND_PAID, sorted({*subjects}))}
