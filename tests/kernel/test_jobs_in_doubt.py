"""A worker that does not know what became of its own claim, or of the clock, leaves no job behind."""

from datetime import timedelta

import asyncpg

from admitone.kernel import failpoints
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.errors import OutcomeUnknown
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
