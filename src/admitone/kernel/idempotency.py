"""Idempotency: a request repeated under its key gets the answer it got before.

Promise: key, hash of the input and answer commit with the effect, in one transaction, so there is no moment at which
one exists without the others. Same key and input: the stored answer. Same key, other input: 409. Refusals are not
stored: what was refused may be tried again. Kept for 72 hours; money never relies on this alone.

The keys are read first and written last. Another process may write the same key in between: then the insert finds it
taken, the transaction is run again from the start, and sees it (`Overtaken`). Patient work first waits for such a
writer with empty hands (`outwait`), so that nobody waits in turn for rows that it would hold meanwhile.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from admitone.kernel.db import Overtaken, Tx
from admitone.kernel.errors import Conflict
from admitone.kernel.statements import Insert, columns

HASH_BYTES = 32


class KeyReused(Conflict):
    """This idempotency key was already used for a different request."""

    code = "IDEMPOTENCY_KEY_REUSED"
    next_step = "Use a new key for a new request, and the same key only to repeat the same request."


class Keyed(msgspec.Struct, frozen=True):
    """Under which key an input runs, for whom, and what the input was."""

    contract: str
    caller: str
    key: str
    hash: bytes

    @property
    def name(self) -> tuple[str, str, str]:
        return (self.contract, self.caller, self.key)


class Stored(msgspec.Struct, frozen=True):
    contract: str
    caller: str
    key: str
    request_hash: bytes
    answer: bytes
    created_at: datetime


FIND_ANSWERS = """
    SELECT k.contract, k.caller, k.key, k.request_hash, k.answer, k.created_at
      FROM kernel.idempotency_key AS k
      JOIN unnest($2::text[], $3::text[], $4::text[]) AS v(contract, caller, key)
        ON k.contract = v.contract
       AND k.caller = v.caller
       AND k.key = v.key
     WHERE k.organization_id = $1
"""

KEEP_ANSWERS = Insert(
    "kernel.idempotency_key",
    {
        "contract": "text",
        "caller": "text",
        "key": "text",
        "request_hash": "bytea",
        "answer": "bytea",
        "created_at": "timestamptz",
    },
    on_conflict="DO NOTHING",
)


async def find_answers(tx: Tx, keys: Sequence[Keyed]) -> Mapping[tuple[str, str, str], Stored]:
    if not keys:
        return {}
    rows = await tx.fetch(FIND_ANSWERS, *columns(keys, "contract", "caller", "key"))
    return {(row["contract"], row["caller"], row["key"]): Stored(**row) for row in rows}


async def outwait(tx: Tx, keys: Sequence[Keyed]) -> None:
    """Wait until nobody else is writing these keys: an insert that is taken back at once."""
    if keys:
        rows = [Stored(each.contract, each.caller, each.key, each.hash, b"", tx.now) for each in _sorted(keys)]
        async with tx.taken_back():
            await tx.execute(KEEP_ANSWERS.sql, *KEEP_ANSWERS.arguments(rows))


async def keep_answers(tx: Tx, answers: Sequence[tuple[Keyed, bytes]]) -> None:
    """Sorted, so that two transactions that keep the same keys cannot deadlock."""
    rows = [
        Stored(keyed.contract, keyed.caller, keyed.key, keyed.hash, answer, tx.now)
        for keyed, answer in sorted(answers, key=lambda pair: pair[0].name)
    ]
    if rows and await tx.execute(KEEP_ANSWERS.sql, *KEEP_ANSWERS.arguments(rows)) != len(rows):
        raise Overtaken("another process answered under the same key first")


def _sorted(keys: Sequence[Keyed]) -> list[Keyed]:
    return sorted(keys, key=lambda each: each.name)
