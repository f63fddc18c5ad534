"""When a worker does not know what became of its claim, of the clock or of other workers, no job is left behind."""

from datetime import timedelta

import asyncpg

from admitone.kernel import failpoints
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.errors import OutcomeUnknown
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import store
from admitone.kernel.jobs.worker import SCOPE
from tests.builders import an_increment, an_organization
from tests.jobs import a_job, a_worker, heard, until, until_idle
from tests.toy import commands


async def test_jobs_of_a_claim_that_nobody_heard_of_are_run_all_the_same(
    database: Database, superuser: asyncpg.Connection
):
    """A crash of the database right after the claim's COMMIT: committed, and the worker cannot know."""
    scope = await an_organization(database)
    keys = [str(number) for number in range(5)]
    await a_job(database, scope, *keys)
    unheard = []

    def lose_it() -> None:
        if len(unheard) < 10:
            unheard.append("claim")
            raise OutcomeUnknown

    with failpoints.armed("job.claimed", lose_it):
        async with a_worker(database):
            await until_idle(superuser, scope)
    assert await heard(database, scope) == keys


async def test_a_worker_that_begins_after_the_clock_was_set_back_does_not_wait_for_it(
    database: Database, database_url: str, superuser: asyncpg.Connection
):
    scope = await an_organization(database)
    async with Database(database_url, clock=Clock(timedelta(days=1))) as ahead:
        await ahead.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
        await a_job(ahead, scope, "enqueued a day ahead")
    async with a_worker(database):
        await until(superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope)
        await until(
            superuser, "SELECT count(*) FROM kernel.outbox WHERE organization_id = $1 AND published_at IS NULL", scope
        )
        await until(superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope)
    assert len(await heard(database, scope)) == 2


async def test_of_jobs_that_lost_their_workers_the_least_suspect_runs_first(
    database: Database, superuser: asyncpg.Connection
):
    """Else three workers that are killed from outside in a row would bury an innocent job: always the same one."""
    lane = "test of suspects"
    scope = await an_organization(database)
    await a_job(database, scope, "twice", "once", "never")
    await superuser.execute(
        """
        UPDATE kernel.job
           SET lane = $2, crashes = CASE key WHEN 'twice' THEN 2 WHEN 'once' THEN 1 ELSE 0 END,
               run_at = CASE key WHEN 'twice' THEN created_at - interval '1 h' ELSE created_at END
         WHERE organization_id = $1
        """,
        scope.organization.uuid,
        lane,
    )
    claims = [
        await database.run(SCOPE, lambda tx: store.claim_suspect(tx, uuid7(), lane, ["toy.perform"])) for _ in range(3)
    ]
    assert [[job.key for job in claimed] for claimed in claims] == [["once"], ["twice"], []]
    await superuser.execute("DELETE FROM kernel.job WHERE lane = $1", lane)
