"""Transactions on PostgreSQL, each with a scope.

Promise: no statement runs outside a transaction, no transaction without a scope, and nothing of a scope survives
its transaction. `Database.run` opens, sets the scope, runs the work, writes its facts and commits; the work never
commits. Deadlocks, serialization failures and overtaken keys are run again. A COMMIT whose answer was lost is looked
up by the transaction's id: it was committed, or it is run again, or it is *unknown*, and never reported as a failure.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from contextvars import ContextVar
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
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.patience import Patience
from admitone.kernel.scope import IdentityScope, PeopleScope, PlatformScope, Role, Scope
from admitone.kernel.transactions import (
    Busy,
    IdentityTx,
    Overtaken,
    PeopleTx,
    PlatformTx,
    Record,
    Transaction,
    Tx,
    WrongCount,
    told_by,
)

Result = TypeVar("Result")
Params = ParamSpec("Params")
AnyScope = Scope | IdentityScope | PeopleScope | PlatformScope
WritingScope = Scope | PeopleScope | PlatformScope

__all__ = (
    "Busy",
    "Database",
    "IdentityTx",
    "Overtaken",
    "PeopleTx",
    "PlatformTx",
    "Record",
    "RowBusy",
    "Transaction",
    "Tx",
    "WritingScope",
    "WrongCount",
    "in_transaction",
    "told_by",
)

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
        unheard: Collection[str] = (),
    ) -> None:
        """`unheard`: the facts that no package of this process hears of."""
        self._url = url
        self._unheard = tuple(sorted(unheard))
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
                await tx.close()
                if (teller := told_by(tx)) and teller.published:
                    await write_facts(teller, self._unheard)
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
