"""What jobs can do to their worker and to each other, and what they cannot."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import asyncpg
import pytest

from admitone.kernel.db import Busy, Database, Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk, Kind, Lane, Priority, handler
from admitone.kernel.jobs import store as job_store
from admitone.kernel.jobs.execution import Failure
from admitone.kernel.jobs.model import errand
from admitone.kernel.jobs.worker import SCOPE, Rhythm
from tests.builders import a_caller, an_increment, an_organization
from tests.jobs import BRISK, DEADLINE_SECONDS, a_job, a_worker, dead, duties, heard, until, until_idle
from tests.toy import store
from tests.toy.facts import CounterIncremented
from tests.toy.handlers import QUICK, Deed, perform
from tests.toy.model import Heard


async def note(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
    await store.insert_heard(tx, [Heard(each.key, each.payload.number) for each in deeds])


async def test_a_fact_that_cannot_be_told_at_the_end_costs_only_its_own_job(
    database: Database, superuser: asyncpg.Connection
):
    @handler("toy.tell_twice", retry=QUICK)
    async def tell(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
        await note(tx, deeds)
        for each in deeds:
            if each.key == "bad":  # Told before: it shows when facts are written, after every handler is done.
                tx.publish(each.caller, CounterIncremented(counter="x", amount=1), key="told")

    scope = await an_organization(database)

    async def tell_first(tx: Tx) -> None:
        tx.publish(a_caller(), CounterIncremented(counter="x", amount=1), key="told")

    await database.run(scope, tell_first)
    await a_job(database, scope, "bad", "good 1", "good 2", kind=tell)
    async with a_worker(database, duties(tell)):
        await until(superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope)
    assert await heard(database, scope) == ["good 1", "good 2"]
    assert [letter["key"] for letter in await dead(superuser, scope)] == ["bad"]


async def test_an_error_that_cannot_be_written_down_is_written_without_what_hinders_it(
    database: Database, superuser: asyncpg.Connection
):
    @handler("toy.mumble", retry=QUICK)
    async def mumble(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
        raise RuntimeError("a \0 and half a \ud83d")

    scope = await an_organization(database)
    await a_job(database, scope, "mumbled", kind=mumble)
    async with a_worker(database, duties(mumble)):
        await until(superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope)
    [letter] = await dead(superuser, scope)
    assert letter["error"].startswith("RuntimeError: a  and half a")


async def test_who_is_told_of_a_death_cannot_prevent_it(database: Database, superuser: asyncpg.Connection):
    async def wail(tx: object, failure: Failure) -> None:
        raise RuntimeError("it must not be")

    async def fail(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
        raise RuntimeError("no")

    kind = Kind("toy.mourned", Deed, fail, outside=False, retry=replace(QUICK, executions=1), mourn=wail)
    scope = await an_organization(database)
    await a_job(database, scope, "gone", kind=kind)
    async with a_worker(database, duties(kind)):
        await until(superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope)
    assert [letter["key"] for letter in await dead(superuser, scope)] == ["gone"]


async def test_a_handler_that_swallows_an_error_of_the_database_hurts_nobody_else(
    database: Database, superuser: asyncpg.Connection
):
    @handler("toy.swallow", retry=QUICK)
    async def swallow(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
        await note(tx, deeds)
        if any(each.key == "bad" for each in deeds):
            with suppress(asyncpg.DivisionByZeroError):
                await tx.execute("SELECT 1 / 0 WHERE $1::uuid IS NOT NULL")

    scope = await an_organization(database)
    good = [f"good {n}" for n in range(6)]
    await a_job(database, scope, *good, "bad", kind=swallow)
    async with a_worker(database, duties(swallow)):
        await until(superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope)
    assert await heard(database, scope) == good
    assert [letter["key"] for letter in await dead(superuser, scope)] == ["bad"]


async def lock(tx: Tx, counter: str) -> None:
    await store.lock_counters(tx, [an_increment(counter)])


async def test_of_two_who_do_several_things_behind_savepoints_nobody_waits_in_a_circle(database: Database):
    scope, both = await an_organization(database, "a", "b"), asyncio.Barrier(2)

    async def do(first: str, second: str) -> list[Exception | None]:
        async def begin(tx: Tx) -> None:
            await lock(tx, first)
            await both.wait()

        return await database.run(
            scope, lambda tx: tx.each([lambda: begin(tx), lambda: lock(tx, second)]), patient=True
        )

    async with asyncio.timeout(DEADLINE_SECONDS):
        ends = await asyncio.gather(do("a", "b"), do("b", "a"))
    assert [first for first, _ in ends] == [None, None]
    assert any(isinstance(second, Busy) for _, second in ends), "whoever was first did not wait for the other"


async def test_what_somebody_holds_when_a_group_goes_in_parts_is_done_when_they_let_go(
    database: Database, superuser: asyncpg.Connection
):
    tried: list[str] = []

    @handler("toy.lock", retry=replace(QUICK, executions=1))
    async def locks(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
        for each in deeds:
            tried.append(each.key)
            if each.key == "bad":
                raise RuntimeError("no")
            await lock(tx, each.key)
        await note(tx, deeds)

    scope = await an_organization(database, "a", "b")
    await a_job(database, scope, "bad", "a", "b", kind=locks)

    async def hold(tx: Tx) -> None:
        await lock(tx, "b")
        while tried.count("b") < 2:  # In a part, and then by itself, waiting.  # noqa: ASYNC110
            await asyncio.sleep(0.005)

    async with asyncio.timeout(DEADLINE_SECONDS), asyncio.TaskGroup() as group:
        group.create_task(database.run(scope, hold))
        async with a_worker(database, duties(locks)):
            await until(superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope)
    assert await heard(database, scope) == ["a", "b"]
    assert [letter["key"] for letter in await dead(superuser, scope)] == ["bad"]


async def test_one_organisation_with_many_jobs_does_not_keep_an_older_one_waiting(
    database: Database, superuser: asyncpg.Connection
):
    first, crowded = await an_organization(database), await an_organization(database)
    kind = Kind("toy.fair", Deed, note, outside=False)
    await a_job(database, first, "oldest", kind=kind)
    await a_job(database, crowded, *(f"{n:04}" for n in range(1_000)), kind=kind)
    worker = uuid7()

    async def claim(tx):
        long_ago = tx.now.replace(year=2000)
        return await job_store.claim(tx, worker, "work", Priority.NORMAL, ["toy.fair"], long_ago, 64)

    claimed = await database.run(SCOPE, claim)
    assert {job.organization_id for job in claimed} == {first.organization.uuid, crowded.organization.uuid}
    await superuser.execute("DELETE FROM kernel.job WHERE kind = 'toy.fair'")


async def test_what_waits_follows_its_kind_to_another_lane(database: Database, superuser: asyncpg.Connection):
    before = Kind("toy.moved", Deed, note, outside=False, priority=Priority.NOTICE)
    after = Kind("toy.moved", Deed, note, outside=False, priority=Priority.CRITICAL)
    scope = await an_organization(database)
    await a_job(database, scope, "moved", kind=before)
    async with a_worker(database, duties(after)):
        await until_idle(superuser, scope)
    assert await heard(database, scope) == ["moved"]


async def test_a_stop_does_not_wait_for_ever_for_a_full_lane(database: Database, superuser: asyncpg.Connection):
    began = asyncio.Event()

    @errand("toy.dawdle", lane=Lane("slow", places=1), seconds=3600)
    async def dawdle(desk: Desk, deed: Delivered[Deed]) -> None:
        began.set()
        await asyncio.sleep(3600)

    scope = await an_organization(database)
    await a_job(database, scope, "first", "second", kind=dawdle)
    rhythm = Rhythm(lease_seconds=60, poll_seconds=0.02, grace_seconds=0.1)
    async with asyncio.timeout(30):
        async with a_worker(database, duties(dawdle), rhythm):
            await began.wait()
    rows = await superuser.fetch(
        "SELECT worker, crashes FROM kernel.job WHERE organization_id = $1", scope.organization.uuid
    )
    assert [(row["worker"], row["crashes"]) for row in rows] == [(None, 0), (None, 0)], "given back, and nobody's crash"
    await superuser.execute("DELETE FROM kernel.job WHERE organization_id = $1", scope.organization.uuid)


@pytest.mark.parametrize("leap", ["30 days", "366 days"])
async def test_a_retry_that_a_clock_put_off_for_days_is_pulled_back(
    database: Database, superuser: asyncpg.Connection, leap: str
):
    scope = await an_organization(database)
    await a_job(database, scope, "retried")
    await superuser.execute(
        f"UPDATE kernel.job SET attempts = 1, run_at = now() + '{leap}'::interval WHERE organization_id = $1",
        scope.organization.uuid,
    )
    async with a_worker(database, duties(perform), BRISK):
        await until(superuser, "SELECT count(*) FROM kernel.job WHERE organization_id = $1", scope)
    assert await heard(database, scope) == ["retried"]
