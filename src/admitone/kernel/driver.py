"""What we need of the driver: connections of a role, and its many ways to say that the server is out of reach.

Promise: a connection has its role and settings from its first moment; only the driver's own words become
`ConnectionLost`, never an error of the work that runs on it.
"""

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final

import asyncpg
import msgspec

from admitone.kernel.errors import Unavailable
from admitone.kernel.scope import Role

if TYPE_CHECKING:  # Generic for the type checker only.
    Connection = asyncpg.Connection[asyncpg.Record]
    Pool = asyncpg.Pool[asyncpg.Record]
else:
    Connection, Pool = asyncpg.Connection, asyncpg.Pool

LIFE: Final = "SELECT pg_stat_get_bgwriter_stat_reset_time()"
"""Since when the server counts. A crash, or another server in its place, begins anew, and gives the numbers of
transactions that it lost to others: `TRANSACTION_STATUS` means ours in the same life only."""

FAST_LOCK_TIMEOUT_MS: Final = 100
"""How long ordinary work waits for a lock it did not expect; what it does expect, it skips (see `Tx.lock`)."""
STATEMENT_TIMEOUT_MS: Final = 30_000

UNREACHABLE: Final = (
    OSError,  # a time-out is one of these too
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TargetServerAttributeNotMatched,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.InsufficientResourcesError,  # no connection, no memory, no disk
)
DRIVER: Final = (*UNREACHABLE, asyncpg.InterfaceError, asyncpg.InternalClientError, asyncpg.QueryCanceledError)


class DatabaseUnavailable(Unavailable):
    """The database cannot be reached right now; nothing was done, try again."""

    code = "DATABASE_UNAVAILABLE"


class ConnectionLost(Exception):
    """The driver could not reach the server, or the server could not serve. Only the driver's own words become this."""


def session_of(role: Role) -> dict[str, str]:
    """Fixed when the connection is made. Everything that differs per transaction is SET LOCAL."""
    return {
        "role": role.value,
        "application_name": role.value,
        "timezone": "UTC",
        "search_path": "pg_catalog",
        "array_nulls": "on",
        "jit": "off",
        # Every statement of ours has an index to go by. A plan that was made while a table was small must not read
        # all of it when it is large, and planning a statement anew for each call costs more than the call.
        "enable_seqscan": "off",
        # Nor all that stands before the end of a page: an index is read in its order, as far as is asked.
        "enable_bitmapscan": "off",
        "plan_cache_mode": "force_generic_plan",
        "lock_timeout": str(FAST_LOCK_TIMEOUT_MS),
        "statement_timeout": str(STATEMENT_TIMEOUT_MS),
        "idle_in_transaction_session_timeout": str(STATEMENT_TIMEOUT_MS),
        # Authority only counts hits; losing the last few in a crash costs nothing.
        "synchronous_commit": "off" if role is Role.AUTHORITY else "on",
        "citus.propagate_set_commands": "local",
        "citus.override_table_visibility": "off",
    }


class LivingConnection(Connection):
    """Knows the life of the server in which it was made, and does not survive it."""

    life: datetime | None = None


async def prepare(connection: Connection) -> None:
    connection.life = await connection.fetchval(LIFE)  # type: ignore[attr-defined]
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        encoder=lambda value: msgspec.json.encode(value).decode(),
        decoder=msgspec.json.decode,
    )


async def leave_clean(connection: Connection) -> None:
    """Before a connection goes back to its pool. All our settings are local to a transaction, so ending it is all."""
    if connection.is_in_transaction():
        connection.terminate()


def told(error: Exception, connection: Connection) -> Exception:
    """What the driver's error means to us: the server is out of reach, it had no time, or it is what it says."""
    if isinstance(error, asyncpg.QueryCanceledError):
        return DatabaseUnavailable()
    if isinstance(error, asyncpg.InternalClientError):
        # The driver's words for a connection that the server ended between two statements.
        drop(connection)
        return ConnectionLost()
    if isinstance(error, UNREACHABLE) or _is_gone(connection):
        return ConnectionLost()
    return error


def _is_gone(connection: Connection) -> bool:
    """The pool takes back what the server ended, and then the driver does not even answer this."""
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True


def drop(connection: Connection) -> None:
    with suppress(asyncpg.InterfaceError):
        connection.terminate()


async def say(connection: Connection, words: str) -> str:
    try:
        tag: str = await connection.execute(words)
    except DRIVER as error:
        raise told(error, connection) from error
    return tag


async def roll_back(connection: Connection) -> None:
    try:
        await say(connection, "ROLLBACK")
    except (ConnectionLost, DatabaseUnavailable):
        drop(connection)
