"""Transactions on PostgreSQL, each with a scope.

Promise: no statement runs outside a transaction, no transaction without a scope, and nothing of a scope survives
its transaction. `Database.run` opens, sets the scope, runs the work, writes its facts and commits; the work never
commits. Deadlocks, serialization failures and overtaken keys are run again. A COMMIT whose answer was lost is looked
up by the transaction's id: it was committed, or it is run again, or it is *unknown*, and never reported as a failure.

Four kinds of transaction, so that the type checker knows what a function may touch:

    Tx           one organisation; `$1` of every statement is the organisation
    IdentityTx   one person's own rows, to read; `$1` is the person
    PeopleTx     people's own rows, to write; nothing is bound, and `platform` is its side for facts, jobs and audit
    PlatformTx   a platform role; nothing is bound
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar, overload

import asyncpg
from asyncpg.connect_utils import SessionAttribute

from admitone.kernel import failpoints
from admitone.kernel.clock import Clock
from admitone.kernel.driver import (
    DRIVER,
    LIFE,
    Connection,
    ConnectionLost,
    DatabaseUnavailable,
    LivingConnection,
    Pool,
    leave_clean,
    prepare,
    roll_back,
    say,
    session_of,
    told,
)
from admitone.kernel.errors import OutcomeUnknown, Unavailable
from admitone.kernel.event_log import write_facts
from admitone.kernel.facts import Fact, Published
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.patience import Patience
from admitone.kernel.scope import Caller, IdentityScope, PeopleScope, PlatformScope, Role, Scope
from admitone.kernel.statements import Insert, Lock

Record = asyncpg.Record
Result = TypeVar("Result")
Input = TypeVar("Input")
Params = ParamSpec("Params")
AnyScope = Scope | IdentityScope | PeopleScope | PlatformScope
WritingScope = Scope | PeopleScope | PlatformScope

SET_SCOPE: Final = "SELECT at, transaction_id FROM kernel.set_scope($1, $2, $3, $4, $5)"
TRANSACTION_STATUS: Final = "SELECT pg_xact_status($1::text::xid8)"
PING: Final = "SELECT 1"
POWERS: Final = """
    SELECT r.rolsuper, r.rolbypassrls, pg_has_role(session_user, 'admitone_owner', 'MEMBER') AS owns
      FROM pg_roles AS r
     WHERE r.rolname = session_user
"""

ATTEMPTS: Final = 5
PATIENT_LOCK_TIMEOUT_MS: Final = 2_000
RESOLVE_SECONDS: Final = 10
ACQUIRE_SECONDS: Final = 5

POOL_SIZES: Final = {
    Role.APP: 12,
    Role.AUTHORITY: 8,
    Role.BUYER: 4,
    Role.IDENTITY: 8,
    Role.RELAY: 2,
    Role.MAINTENANCE: 2,
}

BAD_LUCK: Final = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,  # A migration changed a type under a prepared statement.
)


class RowBusy(Unavailable):
    """Somebody else is changing this right now; nothing was done, try again."""

    code = "RESOURCE_BUSY"


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

    @asynccontextmanager
    async def taken_back(self) -> AsyncIterator[None]:
        """What is written inside is taken back at the end."""
        await say(self._connection, "SAVEPOINT taken_back")
        yield
        await say(self._connection, "ROLLBACK TO SAVEPOINT taken_back")

    async def each(self, works: Sequence[Callable[[], Awaitable[None]]]) -> list[Exception | None]:
        """Run one after another, each behind a savepoint; what one that raises wrote and published is taken back.

        A savepoint to which one went back serves the next, too; one that was passed is set anew in the same breath.
        """
        if not works:
            return []
        errors: list[Exception | None] = []
        self._depth += 1
        mark = f"each_{self._depth}"  # A work may do the same.
        await say(self._connection, f"SAVEPOINT {mark}")
        for work in works:
            told = len(self.published)
            try:
                await work()
                # A work that swallowed an error of the database fails here, and not the one after it.
                await say(self._connection, f"RELEASE SAVEPOINT {mark}; SAVEPOINT {mark}")
                errors.append(None)
            except ConnectionLost:
                raise
            except Exception as error:  # noqa: BLE001  The caller decides what it means.
                await say(self._connection, f"ROLLBACK TO SAVEPOINT {mark}")
                del self.published[told:]
                errors.append(error)
        await say(self._connection, f"RELEASE SAVEPOINT {mark}")
        self._depth -= 1
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


_open: ContextVar[Transaction | None] = ContextVar("admitone_transaction", default=None)


def in_transaction() -> bool:
    """Whether this task, or the one that started it, is inside a transaction that is still at work."""
    # A task may outlive the transaction in which it was started, so the transaction itself is asked.
    tx = _open.get()
    return tx is not None and tx.at_work


async def _inside(tx: Transaction, work: Awaitable[Result]) -> Result:
    outer = _open.set(tx)
    try:
        return await work
    finally:
        tx.at_work = False
        _open.reset(outer)


class Database:
    """One PostgreSQL, reached as one login that takes a role per connection: one pool for each role, opened on need."""

    def __init__(
        self,
        url: str,
        *,
        clock: Clock | None = None,
        retried: Callable[[str, str], None] | None = None,
    ) -> None:
        self._url = url
        self._retried = retried or (lambda role, cause: None)  # noqa: ARG005
        self._clock = clock or Clock()
        self._pools: dict[Role, Pool] = {}
        self._opening = asyncio.Lock()
        self._patience = Patience()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.terminate()

    async def ping(self) -> None:
        """Answers when the database does, else raises `DatabaseUnavailable`."""
        # Of a role whose connections are never all taken: a busy process is not a broken one.
        async with self._connection(Role.AUTHORITY) as connection:
            try:
                await connection.fetchval(PING, timeout=2)
            except DRIVER as error:
                raise DatabaseUnavailable from error

    def connections(self, role: Role) -> tuple[int, int]:
        """How many are busy, and how many are idle."""
        pool = self._pools.get(role)
        return (pool.get_size() - pool.get_idle_size(), pool.get_idle_size()) if pool else (0, 0)

    async def dangerous_powers(self) -> list[str]:
        """What our login could do that no runtime login should, in words."""
        try:
            async with self._connection(Role.APP) as connection:
                row = await connection.fetchrow(POWERS)
        except (*DRIVER, ConnectionLost) as lost:
            raise DatabaseUnavailable from lost
        assert row is not None
        words = {"rolsuper": "is a superuser", "rolbypassrls": "bypasses row level security", "owns": "owns the tables"}
        return [word for power, word in words.items() if row[power]]

    @overload
    async def run(self, scope: Scope, work: Callable[[Tx], Awaitable[Result]], *, patient: bool = ...) -> Result: ...
    @overload
    async def run(
        self, scope: PeopleScope, work: Callable[[PeopleTx], Awaitable[Result]], *, patient: bool = ...
    ) -> Result: ...
    @overload
    async def run(
        self, scope: PlatformScope, work: Callable[[PlatformTx], Awaitable[Result]], *, patient: bool = ...
    ) -> Result: ...
    async def run(
        self, scope: WritingScope, work: Callable[[Any], Awaitable[Result]], *, patient: bool = False
    ) -> Result:
        """Run the work in one transaction of this scope and commit it; run it again when it merely had bad luck."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._attempt(scope, work, patient)
            except (*BAD_LUCK, Overtaken) as bad_luck:
                if attempt == ATTEMPTS:
                    raise
                cause: Exception = bad_luck
            except asyncpg.UniqueViolationError as taken:
                # Two writers of one key: the second look sees the first's row. If not, it is a bug.
                if attempt > 1:
                    raise
                cause = taken
            except (ConnectionLost, asyncpg.ReadOnlySQLTransactionError) as lost:  # read only: a former primary
                if attempt == ATTEMPTS:
                    raise DatabaseUnavailable from lost
                cause = lost
            self._retried(scope.role, type(cause).__name__)
            await asyncio.sleep(random.uniform(0, 0.01) * 2**attempt)  # noqa: S311, jitter is no secret
        raise AssertionError("unreachable: the last attempt returns or raises")

    @overload
    async def read(
        self, scope: Scope, query: Callable[Concatenate[Tx, Params], Awaitable[Result]],
        *args: Params.args, **kwargs: Params.kwargs,
    ) -> Result: ...  # fmt: skip
    @overload
    async def read(
        self, scope: IdentityScope, query: Callable[Concatenate[IdentityTx, Params], Awaitable[Result]],
        *args: Params.args, **kwargs: Params.kwargs,
    ) -> Result: ...  # fmt: skip
    @overload
    async def read(
        self, scope: PeopleScope, query: Callable[Concatenate[PeopleTx, Params], Awaitable[Result]],
        *args: Params.args, **kwargs: Params.kwargs,
    ) -> Result: ...  # fmt: skip
    @overload
    async def read(
        self, scope: PlatformScope, query: Callable[Concatenate[PlatformTx, Params], Awaitable[Result]],
        *args: Params.args, **kwargs: Params.kwargs,
    ) -> Result: ...  # fmt: skip
    async def read(self, scope: AnyScope, query: Callable[..., Awaitable[Result]], *args: Any, **kwargs: Any) -> Result:
        """Run a query in a read-only transaction of this scope."""
        try:
            async with self._connection(scope.role) as connection:
                tx = await self._begin(connection, scope, read_only=True)
                try:
                    return await _inside(tx, query(tx, *args, **kwargs))
                finally:
                    await roll_back(connection)
        except ConnectionLost as lost:
            raise DatabaseUnavailable from lost

    async def _attempt(self, scope: WritingScope, work: Callable[[Any], Awaitable[Result]], patient: bool) -> Result:
        async with self._connection(scope.role) as connection:
            tx = await self._begin(connection, scope, patient=patient)
            try:
                result = await _inside(tx, work(tx))
                if (teller := told_by(tx)) and teller.published:
                    await write_facts(teller)
                failpoints.reach("commit.before")
            except BaseException:
                await roll_back(connection)
                raise
            try:
                await _commit(connection)
                return result
            except ConnectionLost as lost:
                reason = lost
        # The answer to COMMIT was lost: only the server knows what happened.
        await self._resolve(tx, scope.role, reason)
        return result

    async def _begin(
        self, connection: Connection, scope: AnyScope, *, patient: bool = False, read_only: bool = False
    ) -> Transaction:
        await say(connection, "BEGIN READ ONLY" if read_only else "BEGIN")
        organization = scope.organization.uuid if isinstance(scope, Scope) else None
        identity = scope.identity.uuid if isinstance(scope, IdentityScope) else None
        cities = scope.city_codes if isinstance(scope, Scope) else None
        patience = PATIENT_LOCK_TIMEOUT_MS if patient else None
        try:
            opened = await connection.fetchrow(SET_SCOPE, organization, identity, cities, patience, not read_only)
        except DRIVER as error:
            raise told(error, connection) from error
        assert opened is not None
        now, transaction_id = self._clock.at(opened["at"]), opened["transaction_id"]
        life: datetime | None = connection.life  # type: ignore[attr-defined]
        match scope:
            case Scope():
                return Tx(connection, (organization,), now, transaction_id, patient, life, scope=scope)
            case IdentityScope():
                return IdentityTx(connection, (identity,), now, transaction_id, patient, life, scope=scope)
            case PeopleScope():
                own = Scope(PLATFORM_ORGANIZATION, scope.purpose)
                ours = Tx(connection, (own.organization.uuid,), now, transaction_id, patient, life, scope=own)
                return PeopleTx(
                    connection, (), now, transaction_id, patient, life, ours.published, scope=scope, platform=ours
                )
            case PlatformScope():
                return PlatformTx(connection, (), now, transaction_id, patient, life, scope=scope)

    async def _resolve(self, tx: Transaction, role: Role, lost: BaseException) -> None:
        """Return if the transaction was committed; raise what lost it if it was not; else it is unknown."""
        deadline = asyncio.get_running_loop().time() + RESOLVE_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            try:
                status, same_life = await self._status(tx, role)
            except (*DRIVER, ConnectionLost, DatabaseUnavailable):
                status, same_life = None, True
            if status == "committed" and same_life:
                return
            if status == "committed":  # Ours before the crash, or another's after it: only its key can tell.
                break
            if status == "aborted" or not same_life:
                raise lost
            await asyncio.sleep(0.1)
        raise OutcomeUnknown from lost

    async def _status(self, tx: Transaction, role: Role) -> tuple[str | None, bool]:
        """What became of the transaction's number, and whether the server still means the same one by it."""
        async with self._connection(role) as connection:
            same_life = await connection.fetchval(LIFE) == tx.life
            try:
                return await connection.fetchval(TRANSACTION_STATUS, tx.id), same_life
            except asyncpg.InvalidParameterValueError:  # "in the future": it was lost, and nobody has its number yet
                return "aborted", same_life

    @asynccontextmanager
    async def _connection(self, role: Role) -> AsyncIterator[Connection]:
        pool = self._pools.get(role) or await self._open(role)
        try:
            connection = await self._patience.within(ACQUIRE_SECONDS, pool.acquire())
        except TimeoutError:
            raise DatabaseUnavailable from None  # All are busy; to stand in line once more would help nobody.
        except DRIVER as error:  # Also in its words for a server that went while the connection was being made.
            raise ConnectionLost from error
        try:
            yield connection  # type: ignore[misc]  # a pooled proxy, which behaves as the connection it stands for
        finally:
            await pool.release(connection)

    async def _open(self, role: Role) -> Pool:
        async with self._opening:
            if role not in self._pools:
                self._pools[role] = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=POOL_SIZES[role],
                    max_inactive_connection_lifetime=300,
                    statement_cache_size=1000,
                    max_cached_statement_lifetime=0,
                    connection_class=LivingConnection,
                    init=prepare,
                    reset=leave_clean,
                    target_session_attrs=SessionAttribute.read_write,
                    server_settings=session_of(role),
                )
            return self._pools[role]


async def _commit(connection: Connection) -> None:
    tag = await say(connection, "COMMIT")
    try:
        failpoints.reach("commit.after")
    except ConnectionResetError as cut:
        raise ConnectionLost from cut
    if tag != "COMMIT":
        raise AssertionError("a statement had failed and its error was swallowed: the server rolled back")
