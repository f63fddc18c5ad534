"""The statements of mail.

Who posts only inserts: the identity role may do no more. The relay's role counts what waits, in all organisations, and
cannot read a letter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from admitone.foundation.mail.model import Fate, LetterId, Template
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.statements import Insert
from admitone.kernel.words import Language

MOST_COUNTED: Final = 10_000

INSERT_LETTERS = Insert(
    "mail.letter",
    {"id": "uuid", "template": "text", "language": "text", "sealed": "bytea", "created_at": "timestamptz"},
)
FIND_WAITING = """
    SELECT id, template, language, sealed, created_at
      FROM mail.letter
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND sealed IS NOT NULL
"""
CLOSE_LETTERS = """
    UPDATE mail.letter
       SET sealed = NULL, sent_at = $3::timestamptz, refused_at = $4::timestamptz
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND sealed IS NOT NULL
"""
COUNT_WAITING = """
    SELECT count(*) AS letters, min(created_at) AS oldest_at
      FROM (SELECT created_at
              FROM mail.letter
             WHERE sent_at IS NULL
               AND refused_at IS NULL
               AND created_at > $1
               AND created_at <= $2
             ORDER BY created_at
             LIMIT $3) AS waiting
"""


@dataclass(frozen=True, slots=True)
class NewLetter:
    """A row to insert."""

    id: LetterId
    template: Template
    language: Language
    sealed: bytes
    created_at: datetime


async def insert_letters(tx: Tx, letters: Sequence[NewLetter]) -> None:
    await tx.insert_exactly(INSERT_LETTERS, letters)


async def find_waiting(tx: Tx, letters: Sequence[LetterId]) -> dict[LetterId, Record]:
    """Those that were not sent or refused before, and whose days are not over."""
    return {LetterId(row["id"]): row for row in await tx.fetch(FIND_WAITING, [each.uuid for each in letters])}


async def close(tx: Tx, letters: Sequence[LetterId], fate: Fate) -> None:
    """Keep what became of them, and forget what they said."""
    sent_at, refused_at = (tx.now, None) if fate is Fate.SENT else (None, tx.now)
    ids = sorted(each.uuid for each in letters)
    await tx.execute_exactly(len(ids), CLOSE_LETTERS, ids, sent_at, refused_at)


async def count_waiting(tx: PlatformTx, since: datetime, until: datetime) -> tuple[int, datetime | None]:
    """How many were posted between these instants and are not sent, and when the oldest was."""
    [row] = await tx.fetch(COUNT_WAITING, since, until, MOST_COUNTED)
    return row["letters"], row["oldest_at"]
