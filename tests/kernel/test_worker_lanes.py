"""Lanes are woken when something is due in them, and those that give way leave handlers their time."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from admitone.kernel.db import Database, Tx
from admitone.kernel.jobs import Delivered, Desk, Kind, Lane, Priority, errand, handler, worker
from tests.builders import an_increment, an_organization
from tests.jobs import a_job, a_worker, duties, until_idle
from tests.toy import commands
from tests.toy.handlers import Deed

FOR_EVER = 3600.0


def an_errand(name: str, done: list[str], lane: Lane) -> Kind[Deed]:
    @errand(f"test.{name}", lane=lane, priority=Priority.NOTICE)
    async def run(desk: Desk, told: Delivered[Deed]) -> None:
        done.append(name)

    return run


@pytest.mark.parametrize("lane", [Lane("woken", places=2), Lane("woken and kind", places=2, gives_way=True)])
async def test_a_lane_is_woken_when_something_is_due(
    database: Database, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch, lane: Lane
):
    """However seldom it looks by itself."""
    monkeypatch.setattr(worker, "LOOK_AT_ALL_SECONDS", FOR_EVER)
    scope, done = await an_organization(database), list[str]()
    kind = an_errand("woken", done, lane)
    async with a_worker(database, duties(kind)):
        for number in range(3):
            await asyncio.sleep(0.3)  # Until nobody looks any more.
            await a_job(database, scope, f"job {number}", kind=kind)
            await until_idle(superuser, scope)
    assert done == ["woken"] * 3


async def test_a_suspect_wakes_its_lane(database: Database, superuser: asyncpg.Connection):
    """However seldom the lane looks by itself: what a worker was lost with is due like anything else."""
    scope, done = await an_organization(database), list[str]()
    kind = an_errand("suspect", done, Lane("suspected", places=2))
    async with a_worker(database, duties(kind)):
        await asyncio.sleep(0.3)  # Until nobody looks any more.
        await a_job(database, scope, "later", kind=kind, run_at=datetime.now(UTC) + timedelta(hours=1))
        await superuser.execute(
            "UPDATE kernel.job SET crashes = 1, run_at = now() WHERE organization_id = $1", scope.organization.uuid
        )
        async with asyncio.timeout(worker.SELDOM_SECONDS / 2):
            await until_done(done, 1)
    assert done == ["suspect"]


async def test_facts_are_passed_on_however_seldom_the_relay_looks(
    database: Database, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(worker, "SELDOM_SECONDS", FOR_EVER)
    scope = await an_organization(database)
    async with a_worker(database):
        for _ in range(3):
            await asyncio.sleep(0.3)  # Until nobody looks any more.
            await database.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
            await until_idle(superuser, scope)


async def test_a_lane_that_gives_way_begins_nothing_while_a_handler_is_at_work(
    database: Database, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(worker, "GIVE_WAY_SECONDS", FOR_EVER)
    scope, done = await an_organization(database), list[str]()
    begun, over = asyncio.Event(), asyncio.Event()

    @handler("test.busy")
    async def busy(tx: Tx, told: Sequence[Delivered[Deed]]) -> None:
        begun.set()
        await over.wait()

    kind, other = (
        an_errand("kind", done, Lane("gives way", places=2, gives_way=True)),
        an_errand("other", done, Lane("does not", places=2)),
    )
    async with a_worker(database, duties(busy, kind, other)):
        await a_job(database, scope, "busy", kind=busy)
        await begun.wait()
        await a_job(database, scope, "first", kind=kind)
        for number in range(3):
            await a_job(database, scope, f"other {number}", kind=other)
            await until_done(done, number + 1)
        over.set()
    assert done == ["other"] * 3
    async with a_worker(database, duties(busy, kind, other)):
        await until_idle(superuser, scope)
    assert done == ["other"] * 3 + ["kind"]


async def until_done(done: list[str], number: int) -> None:
    async with asyncio.timeout(60):
        while len(done) < number:  # noqa: ASYNC110  There is nobody to tell us.
            await asyncio.sleep(0.02)
