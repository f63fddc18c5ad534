"""An operator sees how far bulk work is, and starts, cancels and resumes it from the command line."""

import asyncio

import asyncpg
import pytest
from click.testing import Result
from typer.testing import CliRunner

from admitone.entrypoints.cli import app
from admitone.kernel.bulk import BulkId, Status
from admitone.kernel.db import Database
from tests.bulk import NAMES, counted, how_it_stands, some_bulk, until_over, visits
from tests.jobs import a_worker, until_idle
from tests.toy.model import CounterStatus
from tests.toy.store import move


async def admitone(database_url: str, *words: str) -> Result:
    """In a thread, because a command has a loop of its own."""
    return await asyncio.to_thread(CliRunner().invoke, app, ["bulk", *words], env={"DATABASE_URL": database_url})


async def test_watching_ends_well_when_the_work_is_done(
    database: Database, database_url: str, superuser: asyncpg.Connection
):
    scope = await counted(database)
    begun = await some_bulk(database, scope)
    watching = asyncio.create_task(admitone(database_url, "watch", str(begun.id)))
    async with a_worker(database):
        watched = await watching
        await until_idle(superuser, scope)
    assert watched.exit_code == 0, watched.output
    assert "toy.recount DONE" in watched.output and "100%" in watched.output and "5/5" in watched.output
    listed = await admitone(database_url, "list")
    assert listed.exit_code == 0
    [line] = [line for line in listed.output.splitlines() if str(begun.id) in line]
    assert "DONE" in line and "5/5" in line


async def test_watching_ends_badly_when_the_work_failed_and_it_can_be_resumed(
    database: Database, database_url: str, superuser: asyncpg.Connection
):
    scope = await counted(database)
    await database.run(scope, lambda tx: move(tx, ["a"], CounterStatus.PAUSED))
    begun = await some_bulk(database, scope)
    async with a_worker(database):
        watched = await admitone(database_url, "watch", str(begun.id))
        assert watched.exit_code == 1
        assert "ended as FAILED: NOT_RETRYABLE: CounterNotOpen" in watched.output
        shown = await admitone(database_url, "show", str(begun.id))
        assert "NOT_RETRYABLE" in shown.output and shown.exit_code == 0
        await database.run(scope, lambda tx: move(tx, ["a"], CounterStatus.OPEN))
        resumed = await admitone(database_url, "resume", str(begun.id), "--reason", "the counter is open again")
        assert resumed.exit_code == 0, resumed.output
        assert (await admitone(database_url, "watch", str(begun.id))).exit_code == 0
        await until_idle(superuser, scope)
    assert await visits(database, scope) == dict.fromkeys(NAMES, 1)


async def test_work_is_started_in_one_organisation_and_cancelled(database: Database, database_url: str):
    scope = await counted(database)
    words = ("start", "toy.recount", "--key", "k", "--organization", str(scope.organization))
    started = await admitone(database_url, *words, "--request", '{"at_a_time": 3}')
    assert started.exit_code == 0, started.output
    which = next(word for word in started.output.split() if word.startswith("blk_"))
    repeated = await admitone(database_url, *words, "--request", '{"at_a_time": 3}')
    assert which in repeated.output
    other = await admitone(database_url, *words, "--request", '{"at_a_time": 4}')
    assert other.exit_code == 1 and "already used for a different request" in other.output
    cancelled = await admitone(database_url, "cancel", which, "--reason", "not today")
    assert cancelled.exit_code == 0, cancelled.output
    assert (await how_it_stands(database, scope, BulkId.parse(which))).status is Status.CANCELLED
    async with a_worker(database):
        await until_over(database, scope, BulkId.parse(which))
    assert (await admitone(database_url, "watch", which)).exit_code == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["show", "blk_0198c9a40000700080000000000000aa"], "There is no such bulk work."),
        (["show", "nonsense"], "This is not an id of the kind that is asked for."),
        (["start", "toy.nothing", "--key", "k"], "No package of this version does this kind of bulk work."),
        (["start", "kernel.everywhere", "--key", "k"], "No package of this version does this kind of bulk work."),
        (
            ["start", "toy.recount", "--key", "k", "--organization", "org_0198c9a40000700080000000000000aa"],
            "There is no such organisation.",
        ),
        (["start", "toy.recount", "--key", "k", "--request", "[]"], "The request is not what this kind takes"),
        (["cancel", "blk_0198c9a40000700080000000000000aa", "--reason", "x" * 101], "A reason has 1 to 100"),
    ],
)
async def test_what_is_refused_is_one_sentence(database_url: str, words: list[str], sentence: str):
    refused = await admitone(database_url, *words)
    assert refused.exit_code == 1
    assert sentence in refused.output and len(refused.output.strip().splitlines()) == 1
