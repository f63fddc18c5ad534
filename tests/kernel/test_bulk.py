"""Bulk work goes on where it was, shows how far it is, and ends in a way that somebody can see."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import asyncpg
import httpx
import pytest

from admitone.kernel import failpoints, jobs
from admitone.kernel.batch import Batcher
from admitone.kernel.bulk import (
    BulkId,
    BulkNotFound,
    Progress,
    Status,
    Step,
    bulk,
    cancel,
    everywhere,
    resume,
    running,
    start,
    store,
)
from admitone.kernel.bulk.everywhere import EVERYWHERE, HOME, Walk, start_everywhere, summed_up
from admitone.kernel.bulk.model import BULK, Turn
from admitone.kernel.db import Database, Tx
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk, Job, enqueue
from admitone.kernel.jobs.model import Finish
from admitone.kernel.states import IllegalMove
from tests.builders import a_caller, an_organization, at_the_same_time, rows_of
from tests.bulk import NAMES, a_bulk, counted, how_it_stands, some_bulk, until_it, until_over, visits
from tests.conftest import INTERNAL_SECRET, Clone
from tests.jobs import a_worker, dead, duties, until_idle
from tests.toy.model import CounterStatus
from tests.toy.recounting import Recount, recount
from tests.toy.store import move

ONCE = dict.fromkeys(NAMES, 1)


# -- One organisation


async def test_bulk_work_visits_every_row_once_and_says_how_many_there_are(
    database: Database, superuser: asyncpg.Connection
):
    scope = await counted(database)
    begun = await some_bulk(database, scope)
    assert (begun.status, begun.percentage) == (Status.QUEUED, None)
    async with a_worker(database):
        over = await until_over(database, scope, begun.id)
        await until_idle(superuser, scope)
    assert (over.status, over.done, over.total, over.percentage) == (Status.DONE, 5, 5, 100)
    assert over.finished_at and over.finished_at >= over.started_at
    assert over.steps == 4, "one that counts, and three of two counters at most"
    assert await visits(database, scope) == ONCE


async def test_a_step_that_dies_before_its_end_leaves_no_trace_and_is_made_again(
    database: Database, superuser: asyncpg.Connection
):
    scope = await counted(database)
    begun = await some_bulk(database, scope)
    turns = iter(range(100))

    def every_other() -> None:
        if next(turns) % 2 == 0:
            raise RuntimeError("it broke after the effect and before the end")

    with failpoints.armed("job.before_end", every_other):
        async with a_worker(database, duties(recount)):
            over = await until_over(database, scope, begun.id)
            await until_idle(superuser, scope)
    assert (over.status, over.done) == (Status.DONE, 5)
    assert await visits(database, scope) == ONCE


async def test_bulk_work_is_started_once_under_its_key(database: Database, superuser: asyncpg.Connection):
    scope = await counted(database)
    started = await at_the_same_time(
        8, lambda tx: start(tx, recount, Recount(), a_caller(), key="same"), database, scope
    )
    assert len({each.id for each in started if not isinstance(each, BaseException)}) == 1 and len(started) == 8
    async with a_worker(database):
        await until_over(database, scope, (await some_bulk(database, scope, "same")).id)
        await until_idle(superuser, scope)
    assert (await some_bulk(database, scope, "same")).status is Status.DONE, "also after its end"
    assert await visits(database, scope) == ONCE
    with pytest.raises(KeyReused):
        await some_bulk(database, scope, "same", at_a_time=3)


async def test_another_organisation_has_keys_of_its_own(database: Database):
    one, other = await counted(database), await counted(database)
    mine, theirs = await some_bulk(database, one), await some_bulk(database, other)
    assert mine.id != theirs.id
    assert await database.read(other, store.find, mine.id) is None


async def test_cancelled_work_stops_at_the_next_step(database: Database, superuser: asyncpg.Connection):
    scope = await counted(database)
    reached, go_on = asyncio.Event(), asyncio.Event()

    @bulk("test.slow", of=Recount)
    async def slow(tx: Tx, step: Step[Recount]) -> Progress:
        await move_on(tx, step)
        reached.set()
        await go_on.wait()
        return Progress((step.cursor or 0) + 1, 1)

    async def move_on(tx: Tx, step: Step[Recount]) -> None:
        await tx.execute("UPDATE toy.counter SET recounts = recounts + 1 WHERE organization_id = $1 AND name = 'a'")

    begun = await database.run(scope, lambda tx: start(tx, slow, Recount(), a_caller(), key="k"))
    async with a_worker(database, duties(slow)):
        await asyncio.wait_for(reached.wait(), 60)
        told = await database.run(scope, lambda tx: cancel(tx, begun.id, a_caller(), "ENOUGH"))
        assert told.status is Status.CANCELLED, "whoever cancels does not wait for the step"
        go_on.set()
        await until_idle(superuser, scope)
    over = await how_it_stands(database, scope, begun.id)
    assert (over.status, over.done, over.steps) == (Status.CANCELLED, 1, 1), "the step under way counts"
    assert (await visits(database, scope))["a"] == 1
    again = await database.run(scope, lambda tx: cancel(tx, begun.id, a_caller(), "ENOUGH"))
    assert again.finished_at == told.finished_at
    with pytest.raises(IllegalMove):
        await database.run(scope, lambda tx: resume(tx, begun.id, a_caller(), "PLEASE"))


async def test_work_whose_step_fails_for_good_says_why_and_goes_on_from_there_when_resumed(
    database: Database, superuser: asyncpg.Connection
):
    scope = await counted(database)
    await database.run(scope, lambda tx: move(tx, ["d"], CounterStatus.PAUSED))
    begun = await some_bulk(database, scope)
    async with a_worker(database):
        failed = await until_over(database, scope, begun.id)
        assert (failed.status, failed.done, failed.cursor) == (Status.FAILED, 2, "b")
        assert failed.error is not None and "NOT_RETRYABLE: CounterNotOpen" in failed.error
        assert len(await dead(superuser, scope)) == 1
        await database.run(scope, lambda tx: move(tx, ["d"], CounterStatus.OPEN))
        resumed = await database.run(scope, lambda tx: resume(tx, begun.id, a_caller(), "MENDED"))
        assert (resumed.status, resumed.error, resumed.finished_at) == (Status.QUEUED, None, None)
        over = await until_over(database, scope, begun.id)
        await until_idle(superuser, scope)
    assert (over.status, over.done, over.error) == (Status.DONE, 5, None)
    assert await visits(database, scope) == ONCE
    trail = await superuser.fetch(
        "SELECT action, reason_code FROM kernel.audit_entry WHERE organization_id = $1 AND action LIKE 'kernel.bulk.%'"
        " ORDER BY id",
        scope.organization.uuid,
    )
    assert [tuple(row) for row in trail] == [("kernel.bulk.start", None), ("kernel.bulk.resume", "MENDED")]


async def test_a_step_is_retried_as_its_kind_says_before_the_work_fails(
    database: Database, superuser: asyncpg.Connection
):
    scope = await counted(database)
    begun = await some_bulk(database, scope, stumbles_at="c")
    async with a_worker(database):
        failed = await until_over(database, scope, begun.id)
        await until_idle(superuser, scope)
    [letter] = await dead(superuser, scope)
    assert (letter["attempts"], letter["reason"]) == (3, "RETRIES_EXHAUSTED")
    assert failed.error == "RETRIES_EXHAUSTED: RuntimeError: stumbled at c"
    assert await visits(database, scope) == {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0}


async def test_work_that_lost_too_many_workers_has_failed_too(database: Database, superuser: asyncpg.Connection):
    scope = await counted(database)
    begun = await some_bulk(database, scope)
    await superuser.execute("UPDATE kernel.job SET crashes = 100 WHERE organization_id = $1", scope.organization.uuid)
    async with a_worker(database):
        failed = await until_over(database, scope, begun.id)
    assert failed.status is Status.FAILED and "CRASH_LIMIT" in (failed.error or "")


async def test_replaying_the_dead_letter_of_a_turn_resumes_the_work(database: Database, superuser: asyncpg.Connection):
    scope = await counted(database)
    await database.run(scope, lambda tx: move(tx, ["d"], CounterStatus.PAUSED))
    begun = await some_bulk(database, scope)
    async with a_worker(database):
        failed = await until_over(database, scope, begun.id)
        await database.run(scope, lambda tx: move(tx, ["d"], CounterStatus.OPEN))
        again = Job.of(recount, Turn(begun.id, failed.steps), a_caller(), key="replayed")
        await database.run(scope, lambda tx: enqueue(tx, [again]))
        over = await until_it(database, scope, begun.id, lambda bulk: bulk.status is Status.DONE)
    assert over.error is None
    assert await visits(database, scope) == ONCE


async def test_a_turn_that_was_made_before_has_nothing_to_do(database: Database, superuser: asyncpg.Connection):
    scope = await counted(database)
    begun = await some_bulk(database, scope)
    async with a_worker(database):
        over = await until_over(database, scope, begun.id)
        turns = [Job.of(recount, Turn(begun.id, n), a_caller(), key=f"again {n}") for n in range(over.steps + 1)]
        await database.run(scope, lambda tx: enqueue(tx, turns))
        await until_idle(superuser, scope)
    assert await how_it_stands(database, scope, begun.id) == over
    assert await visits(database, scope) == ONCE


async def test_of_two_who_make_the_same_step_at_once_one_counts(database: Database, superuser: asyncpg.Connection):
    scope = await counted(database)
    begun = await some_bulk(database, scope)
    found = await how_it_stands(database, scope, begun.id)
    after = running.after_step(found, Progress("b", 2))

    async def step(tx: Tx) -> bool:
        present = await store.find(tx, begun.id)
        if present is None or not present.awaits(Turn(begun.id, 0)):
            return False
        await running.write_step(tx, recount, present, after, a_caller())
        return True

    made = await at_the_same_time(6, step, database, scope)
    assert sorted(map(str, made)) == ["False"] * 5 + ["True"]
    stands = await how_it_stands(database, scope, begun.id)
    assert (stands.steps, stands.done) == (1, 2)


def test_a_step_that_would_be_made_for_ever_is_a_bug():
    standing = a_bulk(cursor="x")
    with pytest.raises(AssertionError, match="stands still"):
        running.after_step(standing, Progress("x", 0))
    assert running.after_step(standing, Progress("x", 1)).done == 1
    assert running.after_step(standing, Progress("x", 0, finished=True)).status is Status.DONE


@pytest.mark.parametrize(
    ("done", "total", "status", "percentage"),
    [
        (0, None, Status.RUNNING, None),
        (0, 0, Status.RUNNING, 0),
        (1, 3, Status.RUNNING, 33),
        (3, 3, Status.RUNNING, 99),
        (7, 3, Status.FAILED, 99),
        (3, None, Status.DONE, 100),
    ],
)
def test_only_what_is_done_is_a_hundred_per_cent(done, total, status, percentage):
    assert replace(a_bulk(), done=done, total=total, status=status).percentage == percentage


def test_two_kinds_of_bulk_work_do_not_share_a_name():
    with pytest.raises(TypeError, match=r"toy\.recount"):
        bulk("toy.recount", of=Recount)(recount.work)


async def test_the_table_knows_the_states_of_the_code(superuser: asyncpg.Connection):
    body = await superuser.fetchval(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'bulk_status_check'"
    )
    assert all(f"'{status}'" in body for status in BULK.states) and body.count("::text") == len(BULK.states)


# -- Every organisation


@pytest.fixture
async def apart(clone: Clone) -> AsyncIterator[Database]:
    """A database of its own: whoever goes everywhere would meet the organisations of other tests."""
    async with Database(clone.url) as database:
        yield database


BOTH = duties(recount, EVERYWHERE)


async def a_backfill(database: Database, **request) -> BulkId:
    begun = await database.run(
        HOME, lambda tx: start_everywhere(tx, recount, Recount(**request), a_caller(), key="2026-03")
    )
    return begun.id


@pytest.mark.covers("TEN-T04")
async def test_a_backfill_reaches_every_organisation_and_sums_their_progress(
    apart: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(everywhere, "PAGE", 2)
    scopes = [await an_organization(apart, *NAMES[: n + 1]) for n in range(5)]
    which = await a_backfill(apart)
    assert await a_backfill(apart) == which
    async with a_worker(apart, BOTH):
        over = await until_over(apart, HOME, which)
    assert (over.status, over.done, over.total, over.percentage) == (Status.DONE, 15, 15, 100)
    for n, scope in enumerate(scopes):
        assert await visits(apart, scope) == dict.fromkeys(NAMES[: n + 1], 1)
        assert await rows_of(apart, scope, "kernel.bulk") == 1
    assert await rows_of(apart, HOME, "kernel.bulk") == 1, "not in the platform's own"


async def test_a_backfill_that_failed_somewhere_says_so_and_is_resumed_there(apart: Database):
    good, bad = await counted(apart), await counted(apart)
    await apart.run(bad, lambda tx: move(tx, ["e"], CounterStatus.PAUSED))
    which = await a_backfill(apart)
    async with a_worker(apart, BOTH):
        failed = await until_over(apart, HOME, which)
        assert (failed.status, failed.done, failed.total) == (Status.FAILED, 9, 10)
        assert failed.error == "of 2 organisations, 1 failed, 0 were cancelled"
        assert await visits(apart, good) == ONCE
        await apart.run(bad, lambda tx: move(tx, ["e"], CounterStatus.OPEN))
        await apart.run(HOME, lambda tx: resume(tx, which, a_caller(), "MENDED"))
        over = await until_over(apart, HOME, which)
    assert (over.status, over.done) == (Status.DONE, 10)
    assert await visits(apart, good) == ONCE and await visits(apart, bad) == ONCE


async def test_a_backfill_that_is_cancelled_cancels_its_parts(apart: Database):
    scopes = [await counted(apart) for _ in range(3)]
    which = await a_backfill(apart)
    async with a_worker(apart, duties(EVERYWHERE)):  # Nobody makes the steps of the parts.
        await until_it(apart, HOME, which, lambda bulk: (bulk.cursor or {}).get("walked", False))
        await apart.run(HOME, lambda tx: cancel(tx, which, a_caller(), "ENOUGH"))
        for scope in scopes:
            part = await part_in(apart, scope, which)
            assert (await until_over(apart, scope, part)).status is Status.CANCELLED
    assert (await how_it_stands(apart, HOME, which)).status is Status.CANCELLED


async def test_parts_that_were_started_while_the_whole_was_cancelled_are_cancelled_too(apart: Database):
    scope = await counted(apart)
    which = await a_backfill(apart)
    finish = await walked(apart, which)
    await apart.run(HOME, lambda tx: cancel(tx, which, a_caller(), "ENOUGH"))
    await apart.run(HOME, finish)
    assert await apart.run(HOME, lambda tx: jobs.cancel(tx, EVERYWHERE, [f"{which}:0"])), "this turn is over"
    async with a_worker(apart, duties(EVERYWHERE)):
        part = await until_over(apart, scope, await part_in(apart, scope, which))
    assert part.status is Status.CANCELLED


async def test_a_page_that_is_walked_again_starts_nothing_twice(apart: Database):
    scope = await counted(apart)
    which = await a_backfill(apart)
    await walked(apart, which)  # And killed, before it could write that down.
    async with a_worker(apart, BOTH):
        over = await until_over(apart, HOME, which)
    assert (over.status, over.done) == (Status.DONE, 5)
    assert await visits(apart, scope) == ONCE


async def walked(database: Database, which: BulkId) -> Finish:
    """The first page is started; the end of the turn is in our hands."""
    turn = Delivered(uuid7(), HOME.organization, Turn(which, 0), a_caller(), "turn", None, 1, datetime.now(UTC))
    finish = await everywhere.walk(Desk(database, Batcher(database)), turn)
    assert finish is not None
    return finish


async def part_in(database: Database, scope, which: BulkId) -> BulkId:
    found = await database.read(scope, store.find_by_key, "toy.recount", str(which))
    assert found is not None and found.parent_id == which
    return found.id


def test_the_whole_is_done_when_every_part_is():
    def stands(walked=True, **parts):
        rows = {
            Status[name]: {"parts": n, "done": n, "total": 2 * n, "counted": name != "QUEUED"}
            for name, n in parts.items()
        }
        whole = summed_up(a_bulk(), Walk(walked=walked), rows)
        return whole.status, whole.done, whole.total

    assert stands(DONE=2, walked=False) == (Status.RUNNING, 2, None)
    assert stands(DONE=2, QUEUED=1) == (Status.RUNNING, 3, None)
    assert stands(DONE=2, RUNNING=1) == (Status.RUNNING, 3, 6)
    assert stands(DONE=2, FAILED=1, RUNNING=1) == (Status.RUNNING, 4, 8)
    assert stands(DONE=2, FAILED=1) == (Status.FAILED, 3, 6)
    assert stands(DONE=2, CANCELLED=1) == (Status.FAILED, 3, 6)
    assert stands(DONE=2) == (Status.DONE, 2, 4)
    assert stands() == (Status.DONE, 0, 0)


# -- Seen from outside


async def test_operations_ask_how_far_it_is(database: Database, http: httpx.AsyncClient):
    scope = await counted(database)
    begun = await some_bulk(database, scope)
    inside = {"x-orya-internal-secret": INTERNAL_SECRET}
    answer = await http.get(f"/api/internal/bulk/{begun.id}", headers=inside)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["status"], told["done"], told["total"], told["percentage"]) == ("QUEUED", 0, None, None)
    assert told["organization"] == str(scope.organization)
    async with a_worker(database):
        await until_over(database, scope, begun.id)
    told = (await http.get(f"/api/internal/bulk/{begun.id}", headers=inside)).json()
    assert (told["status"], told["done"], told["total"], told["percentage"]) == ("DONE", 5, 5, 100)
    missing = await http.get(f"/api/internal/bulk/{BulkId.new()}", headers=inside)
    assert missing.json()["errorCode"] == BulkNotFound.code
    assert (await http.get(f"/api/internal/bulk/{begun.id}")).status_code in (401, 403)
