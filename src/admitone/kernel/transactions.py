"""What a transaction is to those who work in one.

Promise: a function says by the type of its first argument whose rows it may touch, and cannot end the transaction: it
has no `commit`. Whatever it publishes is written with its rows, by whoever opened the transaction (`kernel.db`).

    Tx           one organisation; `$1` of every statement is the organisation
    IdentityTx   one person's own rows, to read; `$1` is the person
    PeopleTx     people's own rows, to write; nothing is bound, and `platform` is its side for facts, jobs and audit
    PlatformTx   a platform role; nothing is bound
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

import asyncpg

from admitone.kernel.driver import DRIVER, Connection, ConnectionLost, say, told
from admitone.kernel.facts import Fact, Published
from admitone.kernel.scope import Caller, IdentityScope, PeopleScope, PlatformScope, Scope
from admitone.kernel.statements import Insert, Lock

Record = asyncpg.Record
Input = TypeVar("Input")


class Busy(Exception):
    """Rows exist but are locked by others. Carries the inputs that need them, by the key of the row."""

    def __init__(self, inputs_by_key: dict[Any, list[Any]]) -> None:
        super().__init__(f"{len(inputs_by_key)} rows are locked by others")
        self.inputs_by_key = inputs_by_key


class Overtaken(Exception):
    """Another transaction wrote the same key first; run again, and its row will be seen."""


class WrongCount(Exception):
    """A guarded statement changed another number of rows than policy had decided: a bug, so nothing is committed."""


@dataclass
class Transaction:
    """What all kinds share. Lives inside `Database.run` or `Database.read` only."""

    _connection: Connection
    _bound: tuple[Any, ...]
    now: datetime
    id: str | None = None
    patient: bool = False
    life: datetime | None = None
    """Of the server; `id` is this transaction's in that life only."""
    published: list[Published] = field(default_factory=list)
    at_work: bool = True
    _closing: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    _depth: int = 0

    async def fetch(self, sql: str, *values: Any) -> list[Record]:
        try:
            return await self._connection.fetch(sql, *self._bound, *values)
        except DRIVER as error:
            raise told(error, self._connection) from error

    async def find(self, sql: str, *values: Any) -> Record | None:
        try:
            return await self._connection.fetchrow(sql, *self._bound, *values)
        except DRIVER as error:
            raise told(error, self._connection) from error

    async def execute(self, sql: str, *values: Any) -> int:
        """How many rows the statement changed."""
        try:
            tag: str = await self._connection.execute(sql, *self._bound, *values)
        except DRIVER as error:
            raise told(error, self._connection) from error
        return int(tag.rpartition(" ")[2])

    async def execute_exactly(self, count: int, sql: str, *values: Any) -> None:
        """The statement repeats in its WHERE what policy decided; if it changes other rows, nothing is committed."""
        changed = await self.execute(sql, *values) if count else 0
        if changed != count:
            raise WrongCount(f"{changed} rows changed instead of {count}: {' '.join(sql.split())[:120]}")

    async def lock(
        self, lock: Lock, inputs: Sequence[Input], key: Callable[[Input], Any], *values: Any
    ) -> dict[Any, Record]:
        """Lock the rows that the inputs need and return them by key; a row that does not exist is not in the answer.

        Rows that others hold are skipped and reported as `Busy`, so that one slow row never stalls the rest; only
        patient work waits for them.
        """
        keys = sorted({key(each) for each in inputs})
        rows = await self.fetch(lock.waiting if self.patient else lock.skipping, keys, *values)
        locked = {row[lock.key]: row for row in rows}
        missing = [each for each in keys if each not in locked]
        if missing and not self.patient:
            # Unlocked, so that a row that another holds is never mistaken for a missing one.
            held = {row[lock.key] for row in await self.fetch(lock.select, missing, *values)}
            if held:
                raise Busy({busy: [each for each in inputs if key(each) == busy] for busy in held})
        return locked

    def at_last(self, work: Callable[[], Awaitable[None]]) -> None:
        """Write this when everything else is written: rows that many others wait for are held until the commit."""
        self._closing.append(work)

    async def close(self) -> None:
        while self._closing:
            await self._closing.pop(0)()

    @asynccontextmanager
    async def taken_back(self) -> AsyncIterator[None]:
        """What is written inside is taken back at the end."""
        await say(self._connection, "SAVEPOINT taken_back")
        closing, self._closing = self._closing, []
        yield
        await self.close()
        self._closing = closing
        await say(self._connection, "ROLLBACK TO SAVEPOINT taken_back")

    async def each(self, works: Sequence[Callable[[], Awaitable[None]]]) -> list[Exception | None]:
        """Run one after another, each behind a savepoint; what one that raises wrote and published is taken back.

        A savepoint to which one went back serves the next, too; one that was passed is set anew in the same breath.
        Whoever holds rows of one does not wait for those of another, or two who do would wait in a circle: rows that
        others hold raise `Busy`.
        """
        if not works:
            return []
        errors: list[Exception | None] = []
        patience = self.patient
        self._depth += 1
        mark = f"each_{self._depth}"  # A work may do the same.
        await say(self._connection, f"SAVEPOINT {mark}")
        for work in works:
            told, closing = len(self.published), self._closing
            self._closing, self.patient = [], patience and None not in errors
            try:
                await work()
                await self.close()
                # A work that swallowed an error of the database fails here, and not the one after it.
                await say(self._connection, f"RELEASE SAVEPOINT {mark}; SAVEPOINT {mark}")
                errors.append(None)
            except ConnectionLost:
                raise
            except Exception as error:  # noqa: BLE001  The caller decides what it means.
                await say(self._connection, f"ROLLBACK TO SAVEPOINT {mark}")
                del self.published[told:]
                errors.append(error)
            finally:
                self._closing = closing
        await say(self._connection, f"RELEASE SAVEPOINT {mark}")
        self._depth -= 1
        self.patient = patience
        return errors

    async def insert_many(self, insert: Insert, rows: Sequence[object]) -> list[Record]:
        return await self.fetch(insert.sql, *insert.arguments(rows)) if rows else []

    async def insert_exactly(self, insert: Insert, rows: Sequence[object]) -> None:
        await self.execute_exactly(len(rows), insert.sql, *insert.arguments(rows))


@dataclass
class Tx(Transaction):
    """One organisation's transaction: the first argument of every command and query."""

    scope: Scope = field(kw_only=True)

    def publish(self, caller: Caller, fact: Fact, *, key: str | None = None) -> None:
        """Collect a fact; it is written with the transaction's rows, under a key if it may be told only once."""
        self.published.append(Published(caller, fact, key))


@dataclass
class IdentityTx(Transaction):
    """One person's own rows across organisations, read only."""

    scope: IdentityScope = field(kw_only=True)


@dataclass
class PeopleTx(Transaction):
    """People's own rows, of as many people as the inputs name."""

    scope: PeopleScope = field(kw_only=True)
    platform: Tx = field(kw_only=True)
    """The same transaction as the platform's own organisation has it."""

    def publish(self, caller: Caller, fact: Fact, *, key: str | None = None) -> None:
        self.platform.publish(caller, fact, key=key)


@dataclass
class PlatformTx(Transaction):
    """Work of a platform role."""

    scope: PlatformScope = field(kw_only=True)


def told_by(tx: Transaction) -> Tx | None:
    """As whom a transaction tells facts and keeps answers; platform roles do neither."""
    if isinstance(tx, PeopleTx):
        return tx.platform
    return tx if isinstance(tx, Tx) else None
