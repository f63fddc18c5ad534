"""Many processes at one breaker: one probes, no failure is lost, nobody stands in anybody's way for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Admission, Breakers, Dependency, DependencyUnavailable
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.telemetry import Metrics

PROCESSES = 16


@pytest.fixture
async def crowd(database_url: str) -> AsyncIterator[list[Breakers]]:
    """As many processes, each with connections of its own, an hour from now."""
    async with AsyncExitStack() as stack:
        crowd = []
        for _ in range(PROCESSES):
            database = await stack.enter_async_context(Database(database_url, clock=Clock(timedelta(hours=1))))
            batcher = Batcher(database)
            stack.push_async_callback(batcher.drain)
            crowd.append(Breakers(batcher, Metrics()))
        # Connected before they race.
        await asyncio.gather(*(each.admit(Dependency("nobody")) for each in crowd))
        yield crowd


def a_dependency(**thresholds: int) -> Dependency:
    return Dependency(f"test_{uuid7().hex}", **thresholds)


async def open_it(batcher: Batcher, dependency: Dependency) -> None:
    breakers = Breakers(batcher, Metrics())
    for _ in range(dependency.failures):
        await breakers.report(await breakers.admit(dependency), healthy=False)


@pytest.mark.covers("FUN-044")
@pytest.mark.parametrize("turn", range(10))
async def test_of_many_processes_one_probes(crowd: list[Breakers], batcher: Batcher, turn: int) -> None:
    dependency = a_dependency()
    await open_it(batcher, dependency)
    answers = await asyncio.gather(*(each.admit(dependency) for each in crowd * 3), return_exceptions=True)
    admitted = [answer for answer in answers if isinstance(answer, Admission)]
    assert len(admitted) == 1
    assert admitted[0].probe
    assert sum(isinstance(answer, DependencyUnavailable) for answer in answers) == 3 * PROCESSES - 1


@pytest.mark.covers("FUN-046")
async def test_no_failure_is_lost_between_processes(crowd: list[Breakers], superuser) -> None:
    """One fewer than would open it, all at once, and none of them knows the row yet."""
    dependency = a_dependency(failures=3 * PROCESSES + 1)
    admissions = await asyncio.gather(*(each.admit(dependency) for each in crowd * 3))
    await asyncio.gather(
        *(each.report(admission, healthy=False) for each, admission in zip(crowd * 3, admissions, strict=True))
    )
    row = await superuser.fetchrow("SELECT * FROM kernel.breaker WHERE dependency = $1", dependency.name)
    assert (row["state"], len(row["failures"])) == ("CLOSED", 3 * PROCESSES)
    await crowd[0].report(admissions[0], healthy=False)
    with pytest.raises(DependencyUnavailable):
        await crowd[1].admit(dependency)


async def test_whoever_holds_the_row_stops_no_call(crowd: list[Breakers], batcher: Batcher, superuser) -> None:
    """A process that was frozen over the breaker: others are told to come back, not kept waiting."""
    dependency = a_dependency()
    await open_it(batcher, dependency)
    async with superuser.transaction():
        await superuser.execute("SELECT FROM kernel.breaker WHERE dependency = $1 FOR UPDATE", dependency.name)
        with pytest.raises(DependencyUnavailable):
            await crowd[0].admit(dependency)
    assert (await crowd[0].admit(dependency)).probe
