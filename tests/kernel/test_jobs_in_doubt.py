"""A worker that does not know what became of its own claim leaves no job behind."""

import asyncpg

from admitone.kernel import failpoints
from admitone.kernel.db import Database
from admitone.kernel.errors import OutcomeUnknown
from tests.builders import an_organization
from tests.jobs import a_job, a_worker, heard, until_idle


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
