"""Who keeps failing is left alone for a while, by all processes together."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import asyncpg
import pytest

from admitone.kernel import telemetry
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Admission, Breaker, Breakers, Dependency, DependencyUnavailable, State
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.errors import Unavailable
from admitone.kernel.ids import uuid7
from admitone.kernel.telemetry import Metrics

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STRIPE = Dependency("stripe")

Travel = Callable[[float], "Breakers"]


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def failing_at(*seconds: float) -> Breaker:
    breaker = Breaker()
    for second in seconds:
        breaker = breaker.failed(STRIPE, at(second), None)
    return breaker


@pytest.mark.covers("FUN-044")
@pytest.mark.parametrize(
    ("fifth", "state"),
    [(59, State.OPEN), (60, State.OPEN), (60.001, State.CLOSED), (61, State.CLOSED)],
)
def test_the_fifth_failure_within_a_minute_opens(fifth: float, state: State) -> None:
    assert failing_at(0, 10, 20, 30).state is State.CLOSED
    assert failing_at(0, 10, 20, 30, fifth).state is state


@pytest.mark.covers("FUN-044")
def test_the_minute_slides() -> None:
    assert failing_at(0, 58, 59, 60, 61).state is State.CLOSED
    assert failing_at(0, 58, 59, 60, 61, 62).state is State.OPEN


@pytest.mark.covers("FUN-044")
def test_it_rejects_for_thirty_seconds_and_then_admits_one() -> None:
    opened = failing_at(0, 0, 0, 0, 0)
    assert opened.rejects(STRIPE, at(0)) == DependencyUnavailable(dependency="stripe", retry_after_seconds=30)
    assert opened.rejects(STRIPE, at(29.5)) == DependencyUnavailable(dependency="stripe", retry_after_seconds=1)
    assert opened.rejects(STRIPE, at(30)) is None
    probing = opened.probed(STRIPE, at(30), uuid4())
    assert probing.rejects(STRIPE, at(30)) == DependencyUnavailable(dependency="stripe", retry_after_seconds=5)


@pytest.mark.covers("FUN-045")
def test_each_failed_probe_doubles_the_wait_up_to_five_minutes_and_closing_starts_over() -> None:
    breaker, now, waits = failing_at(0, 0, 0, 0, 0), NOON, []
    for _ in range(6):
        assert breaker.until
        waits.append((breaker.until - now).total_seconds())
        now, probe = breaker.until, uuid4()
        breaker = breaker.probed(STRIPE, now, probe).failed(STRIPE, now, probe)
    assert waits == [30, 60, 120, 240, 300, 300]
    probe = uuid4()
    closed = breaker.probed(STRIPE, now, probe).succeeded(probe)
    assert closed == Breaker()
    for _ in range(5):
        closed = closed.failed(STRIPE, now, None)
    assert closed.until == now + timedelta(seconds=30)


def test_only_the_probe_that_is_awaited_decides() -> None:
    probe, given_up = uuid4(), uuid4()
    half_open = failing_at(0, 0, 0, 0, 0).probed(STRIPE, at(30), given_up).probed(STRIPE, at(90), probe)
    for old_news in (None, given_up):
        assert half_open.succeeded(old_news) == half_open
        assert half_open.failed(STRIPE, at(91), old_news) == half_open
    assert half_open.succeeded(probe).state is State.CLOSED
    assert half_open.failed(STRIPE, at(91), probe).state is State.OPEN


def test_a_call_that_was_let_through_before_the_breaker_opened_does_not_hold_it_open() -> None:
    opened = failing_at(0, 0, 0, 0, 0)
    assert opened.failed(STRIPE, at(29), None) == opened
    assert opened.succeeded(None) == opened


def test_what_commits_in_another_order_than_it_began_counts_all_the_same() -> None:
    assert failing_at(30, 20, 40, 10, 35).state is State.OPEN
    assert failing_at(80, 10, 15, 81, 82).state is State.CLOSED, "two of them are too old, however late they came"


@pytest.fixture
async def travel(database_url: str) -> AsyncIterator[Travel]:
    """The breakers of another process, so many seconds from now."""
    async with AsyncExitStack() as stack:

        def go(seconds: float) -> Breakers:
            database = Database(database_url, clock=Clock(timedelta(seconds=seconds)))
            batcher = Batcher(database)
            stack.push_async_callback(database.close)
            stack.push_async_callback(batcher.drain)
            return Breakers(batcher, Metrics())

        yield go


@pytest.fixture
def dependency() -> Dependency:
    return Dependency(f"test_{uuid7().hex}")


async def fail(breakers: Breakers, dependency: Dependency, times: int = 1) -> None:
    for _ in range(times):
        await breakers.report(await breakers.admit(dependency), healthy=False)


async def row_of(superuser: asyncpg.Connection, dependency: Dependency) -> asyncpg.Record | None:
    return await superuser.fetchrow("SELECT *, xmin FROM kernel.breaker WHERE dependency = $1", dependency.name)


@pytest.mark.covers("FUN-044")
async def test_four_old_failures_and_a_new_one_leave_it_closed(travel: Travel, dependency: Dependency) -> None:
    await fail(travel(0), dependency, 4)
    late = travel(61)
    await fail(late, dependency)
    await late.admit(dependency)


@pytest.mark.covers("FUN-044", "FUN-046")
async def test_what_one_process_saw_fail_the_others_leave_alone(travel: Travel, dependency: Dependency) -> None:
    here, there = travel(0), travel(0)
    await fail(here, dependency, 2)
    await fail(there, dependency, 3)
    for process in (here, there, travel(0)):
        with pytest.raises(DependencyUnavailable) as refused:
            await process.admit(dependency)
        assert isinstance(refused.value, Unavailable)
        assert 1 <= refused.value.retry_after_seconds <= 30
        assert refused.value.dependency == dependency.name


@pytest.mark.covers("FUN-046")
async def test_each_dependency_has_a_breaker_of_its_own(travel: Travel, dependency: Dependency) -> None:
    breakers, other = travel(0), Dependency(f"test_{uuid7().hex}")
    await fail(breakers, dependency, 5)
    assert await breakers.admit(other) == Admission(other)


@pytest.mark.covers("FUN-044", "FUN-045")
async def test_a_probe_that_fails_opens_it_for_longer_and_one_that_succeeds_closes_it(
    travel: Travel, dependency: Dependency
) -> None:
    await fail(travel(0), dependency, 5)
    await fail(travel(100), dependency)
    with pytest.raises(DependencyUnavailable) as refused:
        await travel(100).admit(dependency)
    assert 30 < refused.value.retry_after_seconds <= 60
    later = travel(200)
    probe = await later.admit(dependency)
    with pytest.raises(DependencyUnavailable):
        await later.admit(dependency)
    await later.report(probe, healthy=True)
    assert await later.admit(dependency) == Admission(dependency)


@pytest.mark.covers("FUN-044")
async def test_of_those_who_come_together_one_probes(travel: Travel, dependency: Dependency) -> None:
    await fail(travel(0), dependency, 5)
    later = travel(31)
    answers = await asyncio.gather(*(later.admit(dependency) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(answer, Admission) for answer in answers) == 1
    assert sum(isinstance(answer, DependencyUnavailable) for answer in answers) == 19


async def test_a_probe_whose_process_died_is_given_up(travel: Travel, dependency: Dependency) -> None:
    await fail(travel(0), dependency, 5)
    lost = await travel(31).admit(dependency)
    with pytest.raises(DependencyUnavailable):
        await travel(31).admit(dependency)
    later = travel(31 + dependency.probe_seconds + 1)
    probe = await later.admit(dependency)
    await later.report(lost, healthy=True)
    with pytest.raises(DependencyUnavailable):
        await later.admit(dependency)
    await later.report(probe, healthy=True)
    await later.admit(dependency)


async def test_nothing_is_written_while_all_goes_well(travel: Travel, dependency: Dependency, superuser) -> None:
    breakers = travel(0)
    await breakers.report(await breakers.admit(dependency), healthy=True)
    assert await row_of(superuser, dependency) is None
    await fail(breakers, dependency)
    before = await row_of(superuser, dependency)
    await breakers.report(await breakers.admit(dependency), healthy=True)
    assert await row_of(superuser, dependency) == before


async def test_failures_that_come_together_are_counted_one_by_one(
    travel: Travel, dependency: Dependency, superuser
) -> None:
    breakers, other = travel(0), Dependency(f"test_{uuid7().hex}")
    admissions = await asyncio.gather(*(breakers.admit(each) for each in [dependency, other] * 7))
    await asyncio.gather(*(breakers.report(each, healthy=False) for each in admissions))
    for each in (dependency, other):
        row = await row_of(superuser, each)
        assert row and (row["state"], row["openings"]) == ("OPEN", 1), "those after the fifth are old news"


async def test_changes_are_told(database: Database, batcher: Batcher, dependency: Dependency, superuser) -> None:
    metrics, lines = Metrics(), io.BytesIO()
    breakers = Breakers(batcher, metrics)
    state = metrics.calls_out.breaker.labels(dependency.name)._value
    telemetry._output.stream = lines
    try:
        await breakers.admit(dependency)
        assert state.get() == 0
        await fail(breakers, dependency, 5)
        assert state.get() == 2
        await superuser.execute(
            "UPDATE kernel.breaker SET until = now() - interval '1 second' WHERE dependency = $1", dependency.name
        )
        probe = await breakers.admit(dependency)
        assert state.get() == 1
        await breakers.report(probe, healthy=True)
        assert state.get() == 0
    finally:
        telemetry._output.stream = None
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [(line["event"], line["level"], line["state"]) for line in told] == [
        ("breaker.changed", "warning", "OPEN"),
        ("breaker.changed", "info", "HALF_OPEN"),
        ("breaker.changed", "info", "CLOSED"),
    ]
    for each in State:
        assert metrics.calls_out.breaker_changes.labels(dependency.name, each)._value.get() == 1
