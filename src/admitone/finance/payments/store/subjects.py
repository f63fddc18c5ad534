"""Which payments paid for something of a subject."""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from admitone.finance.payments.model import Payment
from admitone.finance.payments.store.payments import OF_PAYMENT, payment_of
from admitone.kernel.db import Tx
from admitone.kernel.statements import Insert

INSERT_SUBJECTS = Insert("payments.paid_subject", {"subject": "text", "payment_id": "uuid"}, on_conflict="DO NOTHING")


LIST_OF_SUBJECT = f"""
    SELECT {OF_PAYMENT}
      FROM payments.paid_subject AS s
      JOIN payments.payment AS p
        ON p.organization_id = s.organization_id
       AND p.id = s.payment_id
     WHERE s.organization_id = $1
       AND s.subject = $2
       AND s.payment_id > $3
     ORDER BY s.payment_id
     LIMIT $4
"""  # noqa: S608, of constants


COUNT_OF_SUBJECT = """
    SELECT count(*) AS payments
      FROM payments.paid_subject
     WHERE organization_id = $1
       AND subject = $2
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
        await tx.execute(INSERT_SUBJECTS.sql, *INSERT_SUBJECTS.arguments(rows))


async def list_of_subject(tx: Tx, subject: str, after: UUID, limit: int) -> list[Payment]:
    """Those that paid for something of it, in the order in which they began."""
    return [payment_of(row) for row in await tx.fetch(LIST_OF_SUBJECT, subject, after, limit)]


async def count_of_subject(tx: Tx, subject: str) -> int:
    [row] = await tx.fetch(COUNT_OF_SUBJECT, subject)
    return int(row["payments"])


async def find_paid(tx: Tx, subjects: Collection[str]) -> set[str]:
    """Those for which anybody ever paid, whatever became of the money."""
    return {row["subject"] for row in await tx.fetch(FIND_PAID, sorted({*subjects}))}
