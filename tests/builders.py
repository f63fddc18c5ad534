"""Builders hide what does not matter in a test; `at_the_same_time` is how a race is run."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import asyncpg

from admitone.kernel.crypto import new_secret
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.scope import Caller, Scope
from tests.toy import commands
from tests.toy.model import Counter, Increment

Result = TypeVar("Result")


def a_caller() -> Caller:
    return Caller(actor=IdentityId.new())


async def an_organization(database: Database, *names: str, ceiling: int = 10**9) -> Scope:
    """A committed organisation with counters of these names."""
    scope = Scope(OrganizationId.new(), "test")
    counters = [Counter(name, 0, ceiling) for name in names or ("visits",)]
    await database.run(scope, lambda tx: commands.create(tx, counters))
    return scope


def an_increment(counter: str = "visits", amount: int = 1) -> Increment:
    return Increment(a_caller(), counter, amount)


async def value_of(database: Database, scope: Scope, name: str = "visits") -> int:
    async def query(tx: Tx) -> int:
        [row] = await tx.fetch("SELECT value FROM toy.counter WHERE organization_id = $1 AND name = $2", name)
        return row["value"]

    return await database.read(scope, query)


async def rows_of(database: Database, scope: Scope, table: str) -> int:
    async def query(tx: Tx) -> int:
        [row] = await tx.fetch(f"SELECT count(*) FROM {table} WHERE organization_id = $1")
        return row["count"]

    return await database.read(scope, query)


async def at_the_same_time(
    times: int, work: Callable[[Tx], Awaitable[Result]], database: Database, scope: Scope, *, patient: bool = False
) -> Sequence[Result | BaseException]:
    """Run the work in as many transactions at once: each on its own connection, all past BEGIN before any goes on.

    Where each locks several rows and none is patient, each may find one that another has, and all of them be busy.
    """
    barrier = asyncio.Barrier(times)

    async def one() -> Result:
        waited = False

        async def gated(tx: Tx) -> Result:
            nonlocal waited
            if not waited:
                waited = True
                await barrier.wait()
            return await work(tx)

        return await database.run(scope, gated, patient=patient)

    outcomes: list[Any] = await asyncio.gather(*(one() for _ in range(times)), return_exceptions=True)
    return outcomes


@dataclass(frozen=True)
class Credential:
    text: str
    identity: IdentityId


async def a_credential(superuser: asyncpg.Connection, scope: Scope, *permissions: str) -> Credential:
    """A committed key of a member with these permissions."""
    secret = new_secret("key", scope.organization)
    identity = IdentityId.new()
    await superuser.execute(
        "INSERT INTO toy.credential (digest, identity_id, organization_id, permissions) VALUES ($1, $2, $3, $4)",
        secret.digest,
        identity.uuid,
        scope.organization.uuid,
        list(permissions),
    )
    return Credential(secret.text, identity)


async def sent_in(database: Database, scope: Scope, work: Callable[[Tx], Awaitable[object]]) -> list[str]:
    """The statements of one transaction."""
    sent: list[str] = []

    async def counted(tx: Tx) -> None:
        connection = tx._connection

        class Counting:
            def __getattr__(self, name: str) -> Any:
                said = getattr(connection, name)
                if name not in ("fetch", "fetchrow", "execute"):
                    return said

                async def counted(sql: str, *values: Any) -> Any:
                    sent.append(sql)
                    return await said(sql, *values)

                return counted

        tx._connection = Counting()
        try:
            await work(tx)
            await tx.close()
        finally:
            tx._connection = connection

    await database.run(scope, counted)
    return sent
