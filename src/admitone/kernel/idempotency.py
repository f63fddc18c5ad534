"""Idempotency: a request repeated under its key gets the answer it got before.

Promise: key, hash of the input and answer commit with the effect, in one transaction, so there is no moment at which
one exists without the others. Same key and input: the stored answer. Same key, other input: 409. Refusals are not
stored: what was refused may be tried again. Kept for at least 72 hours; money never relies on this alone.

The keys are read first and written last. Another process may write the same key in between: then the insert finds it
taken, the transaction is run again from the start, and sees it (`Overtaken`). Patient work first waits for such a
writer with empty hands (`outwait`), so that nobody waits in turn for rows that it would hold meanwhile.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Self

import msgspec

from admitone.kernel.db import Overtaken, Tx
from admitone.kernel.errors import Conflict
from admitone.kernel.statements import Insert


class KeyReused(Conflict):
    """This idempotency key was already used for a different request."""

    code = "IDEMPOTENCY_KEY_REUSED"
    next_step = "Use a new key for a new request, and the same key only to repeat the same request."


class AnswerOutdated(Conflict):
    """This was done before, but its answer can no longer be shown."""

    code = "IDEMPOTENCY_ANSWER_OUTDATED"
    next_step = "Look at what was done; use a new key to do it again."


class Keyed(msgspec.Struct, frozen=True):
    """Under which key an input runs, and what the input was."""

    name: bytes
    hash: bytes

    @classmethod
    def of(cls, *, contract: str, caller: str, key: str, request: bytes) -> Self:
        """The same key of another caller or another contract is another key."""
        scope = f"{len(contract)}:{contract}{len(caller)}:{caller}{key}"
        return cls(sha256(scope.encode()).digest(), sha256(request).digest())


class Stored(msgspec.Struct, frozen=True):
    """One answer as it is kept."""

    name: bytes
    request_hash: bytes
    answer: bytes
    created_at: datetime


FIND_ANSWERS = """
    SELECT name, request_hash, answer, created_at
      FROM kernel.idempotency_key
     WHERE organization_id = $1
       AND name = ANY($2::bytea[])
"""

KEEP_ANSWERS = Insert(
    "kernel.idempotency_key",
    {"name": "bytea", "request_hash": "bytea", "answer": "bytea", "created_at": "timestamptz"},
    on_conflict="DO NOTHING",
)


async def find_answers(tx: Tx, keys: Sequence[Keyed]) -> Mapping[bytes, Stored]:
    if not keys:
        return {}
    rows = await tx.fetch(FIND_ANSWERS, [each.name for each in keys])
    return {row["name"]: Stored(**row) for row in rows}


async def outwait(tx: Tx, keys: Sequence[Keyed]) -> None:
    """Wait until nobody else is writing these keys: an insert that is taken back at once."""
    if keys:
        async with tx.taken_back():
            await _insert(tx, [(each, b"") for each in keys])


async def keep_answers(tx: Tx, answers: Sequence[tuple[Keyed, bytes]]) -> None:
    if answers and await _insert(tx, answers) != len(answers):
        raise Overtaken("another process answered under the same key first")


async def _insert(tx: Tx, answers: Sequence[tuple[Keyed, bytes]]) -> int:
    # Sorted, so that two transactions that keep the same keys cannot deadlock.
    rows = [
        Stored(keyed.name, keyed.hash, answer, tx.now)
        for keyed, answer in sorted(answers, key=lambda pair: pair[0].name)
    ]
    return await tx.execute(KEEP_ANSWERS.sql, *KEEP_ANSWERS.arguments(rows))
