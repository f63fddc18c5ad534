"""A backfill between two migrations, with the power going out again and again."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from admitone.kernel.bulk import Bulk, BulkId, Status, resume
from admitone.kernel.bulk.everywhere import HOME, start_everywhere
from admitone.kernel.db import Database
from admitone.kernel.embedded import spawn
from tests.builders import a_caller
from tests.bulk import counted, how_it_stands, until_over, visits
from tests.conftest import Clone
from tests.toy.process import ROOT
from tests.toy.recounting import Recount, recount

NAMES = tuple(f"counter {n:02}" for n in range(16))
DEATHS = ("job.before_end=kill", "job.claimed=kill", "commit.before=kill", "job.before_end=kill@2", "commit.after=kill")
"""With the effect written and nothing committed, with jobs in hand, before and after a commit."""


async def a_worker_until(url: str, home: Path, database: Database, which: BulkId, death: str = "") -> int | None:
    """Run a worker until it dies or the work is over; its status if it died."""
    surroundings = {"PATH": os.environ["PATH"], "DATABASE_URL": url, "ADMITONE_DATA": str(home)}
    with (home / "worker.log").open("ab") as said:
        worker = spawn(
            [sys.executable, "-m", "tests.toy.backfiller"],
            last_wish=signal.SIGKILL,
            cwd=ROOT,
            env={**surroundings, "DEATH": death},
            stdout=said,
            stderr=said,
        )
    try:
        over = asyncio.create_task(until_over(database, HOME, which))
        died = asyncio.create_task(asyncio.to_thread(worker.wait))
        await asyncio.wait([over, died], return_when=asyncio.FIRST_COMPLETED)
        ended = worker.poll()
        over.cancel()
    finally:
        worker.kill()
        worker.wait()
    return ended


async def done_in_all(database: Database, scopes) -> int:
    return sum([sum((await visits(database, scope)).values()) for scope in scopes])


async def test_a_backfill_of_two_organisations_survives_every_death_and_visits_each_row_once(
    clone: Clone, tmp_path: Path
):
    async with Database(clone.url) as database:
        scopes = [await counted(database, *NAMES) for _ in range(2)]
        request = Recount(at_a_time=1)
        begun = await database.run(
            HOME, lambda tx: start_everywhere(tx, recount, request, a_caller(), key="fill the new column")
        )
        reached = []
        for death in DEATHS:
            while (ended := await a_worker_until(clone.url, tmp_path, database, begun.id, death)) is None:
                await resume_what_was_given_up(database, begun.id)
            assert ended == -signal.SIGKILL, (tmp_path / "worker.log").read_text()[-4000:]
            reached.append(await done_in_all(database, scopes))
        assert reached == sorted(reached), "nothing that was done is undone"
        assert 0 < reached[-1] < 2 * len(NAMES), "it died on the way, not before and not after"
        over = await to_its_end(clone.url, tmp_path, database, begun.id)
        assert (over.status, over.done, over.total) == (Status.DONE, 2 * len(NAMES), 2 * len(NAMES))
        for scope in scopes:
            assert await visits(database, scope) == dict.fromkeys(NAMES, 1)


async def resume_what_was_given_up(database: Database, which: BulkId) -> None:
    """A job that too many workers were lost with is buried; then somebody looks, and resumes the work."""
    stands = await how_it_stands(database, HOME, which)
    assert stands.status is Status.FAILED and "CRASH_LIMIT" in (stands.error or ""), stands
    await database.run(HOME, lambda tx: resume(tx, which, a_caller(), "POWER_IS_BACK"))


async def to_its_end(url: str, home: Path, database: Database, which: BulkId) -> Bulk:
    while True:
        await a_worker_until(url, home, database, which)
        stands = await how_it_stands(database, HOME, which)
        if stands.status is Status.DONE:
            return stands
        await resume_what_was_given_up(database, which)
