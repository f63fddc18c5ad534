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
    SELECT template, language, sealed, created_at
      FROM mail.letter
     WHERE organization_id = $1
       AND id = $2
       AND sealed IS NOT NULL
"""
CLOSE_LETTER = """
    UPDATE mail.letter
       SET sealed = NULL, sent_at = $3::timestamptz, refused_at = $4::timestamptz
     WHERE organization_id = $1
       AND id = $2
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


async def find_waiting(tx: Tx, letter: LetterId) -> Record | None:
    """Unless it was sent or refused before, or its days are over."""
    return await tx.find(FIND_WAITING, letter.uuid)


async def close(tx: Tx, letter: LetterId, fate: Fate) -> None:
    """Keep what became of it, and forget what it said."""
    sent_at, refused_at = (tx.now, None) if fate is Fate.SENT else (None, tx.now)
    await tx.execute_exactly(1, CLOSE_LETTER, letter.uuid, sent_at, refused_at)


async def count_waiting(tx: PlatformTx, since: datetime, until: datetime) -> tuple[int, datetime | None]:
    """How many were posted between these instants and are not sent, and when the oldest was."""
    [row] = await tx.fetch(COUNT_WAITING, since, until, MOST_COUNTED)
    return row["letters"], row["oldest_at"]
