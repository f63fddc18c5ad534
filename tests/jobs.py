"""Builders for jobs: a workshop that runs until there is nothing left to do, and what became of it."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from admitone.entrypoints.duties import duties_of
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.jobs import Desk, Job, Kind, enqueue
from admitone.kernel.jobs.dead import DeadLetterId, Replay, replay
from admitone.kernel.jobs.worker import Duties, Rhythm, Worker
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.telemetry import Metrics
from tests.toy.handlers import Act, Deed, perform
from tests.toy.module import MODULE

BRISK = Rhythm(lease_seconds=60, poll_seconds=0.02, schedule_seconds=0.05, grace_seconds=5)
"""For tests: looks often, and is not thought dead because the machine is slow."""

DEADLINE_SECONDS = 60
UNDONE = """
    SELECT kind, lane, priority, run_at - now() AS due, worker, attempts, crashes, now() - created_at AS age
      FROM kernel.job
     WHERE organization_id = $1
     UNION ALL
    SELECT 'an untold fact', NULL, NULL, NULL, NULL, count(*), NULL, now() - min(created_at)
      FROM kernel.outbox
     WHERE organization_id = $1 AND published_at IS NULL
    HAVING count(*) > 0
     ORDER BY kind
"""
"""For whoever reads why a test failed."""


async def a_job(
    database: Database, scope: Scope, *keys: str, act: Act = Act.WORK, kind: Kind[Any] = perform, **said: Any
) -> int:
    """Committed jobs under these keys; how many were new."""
    jobs = [Job.of(kind, Deed(act, number), Caller(), key=key, **said) for number, key in enumerate(keys)]
    return await database.run(scope, lambda tx: enqueue(tx, jobs))


@asynccontextmanager
async def a_worker(
    database: Database,
    duties: Duties | None = None,
    rhythm: Rhythm = BRISK,
    metrics: Metrics | None = None,
    services: Mapping[type, Any] | None = None,
) -> AsyncIterator[Worker]:
    batcher = Batcher(database)
    worker = Worker(
        Desk(database, batcher, services or {}), duties or duties_of([MODULE]), metrics or Metrics(), rhythm
    )
    running = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await running
        await batcher.drain(5)


def duties(*kinds: Kind[Any], modules: Sequence[Module] = ()) -> Duties:
    """Of these kinds alone, so that a test's worker leaves other tests' jobs in peace."""
    return duties_of([Module("test", jobs=kinds), *modules])


async def until_idle(superuser: asyncpg.Connection, scope: Scope) -> None:
    """Until the organisation has no job that could run and no fact that is untold."""
    await until(
        superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1 AND run_at < now() + '10 s'", scope
    )
    await until(
        superuser, "SELECT count(*) FROM kernel.outbox WHERE organization_id = $1 AND published_at IS NULL", scope
    )
    await until(
        superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1 AND run_at < now() + '10 s'", scope
    )


async def until(superuser: asyncpg.Connection, left: str, scope: Scope) -> None:
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while await superuser.fetchval(left, scope.organization.uuid):  # noqa: ASYNC110  Nobody tells us.
                await asyncio.sleep(0.02)
    except TimeoutError as late:
        rows = [*map(str, await superuser.fetch(UNDONE, scope.organization.uuid))]
        raise AssertionError("\n".join([f"not done after {DEADLINE_SECONDS} seconds:", *rows])) from late


async def heard(database: Database, scope: Scope) -> list[str]:
    """The keys of the effects, each as often as it came."""

    async def query(tx: Tx) -> list[str]:
        rows = await tx.fetch("SELECT key FROM toy.heard WHERE organization_id = $1 ORDER BY key")
        return [row["key"] for row in rows]

    return await database.read(scope, query)


async def replay_dead(database: Database, superuser: asyncpg.Connection, scope: Scope) -> None:
    """As whoever runs this does, once what killed them is mended."""
    letters = [DeadLetterId(row["id"]) for row in await dead(superuser, scope) if row["replayed_at"] is None]
    again = [Replay(Caller(), each, "operator", "it is mended") for each in letters]
    await database.run(scope, lambda tx: replay(tx, again))


async def dead(superuser: asyncpg.Connection, scope: Scope) -> list[asyncpg.Record]:
    return await superuser.fetch(
        "SELECT * FROM kernel.dead_letter WHERE organization_id = $1 ORDER BY key", scope.organization.uuid
    )
