"""Many processes count the same subjects: exactly the allowed number pass, and what is closed is closed for everybody."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from admitone.kernel import bans, limits, streaks
from admitone.kernel.authority import Ask, Audience, AuthorityReader, SubjectBanned
from admitone.kernel.bans import Ban
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import POOL_SIZES, Database, PlatformTx
from admitone.kernel.errors import Throttled
from admitone.kernel.ids import uuid7
from admitone.kernel.limits import Hit, Limit, Per, by_address
from admitone.kernel.scope import Caller, Role
from admitone.kernel.streaks import Mark, Outcome, Result, StepUpRequired, Streak
from tests.builders import a_caller
from tests.toy.authority import NobodyKnown

PROCESSES = 4
TOGETHER = POOL_SIZES[Role.AUTHORITY]
STEPS = (timedelta(minutes=15), timedelta(minutes=60))
SLACK_SECONDS = 60
"""How far the clocks of a slow run may have gone on since the door was closed."""


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for a counter here waits until it is free, however slow the machine is."""
    monkeypatch.setattr("admitone.kernel.db.PATIENT_LOCK_TIMEOUT_MS", 60_000)


@dataclass
class Watched:
    """A database that says how often it had to try again, and why."""

    database: Database
    bad_luck: list[str]


@pytest.fixture
async def watched(database_url: str) -> AsyncIterator[Watched]:
    bad_luck: list[str] = []
    async with Database(database_url, retried=lambda _, cause: bad_luck.append(cause)) as database:
        yield Watched(database, bad_luck)


@asynccontextmanager
async def processes(url: str, shift: timedelta = timedelta()) -> AsyncIterator[list[AuthorityReader]]:
    """Each with connections and queues of its own, and nothing else in common but the database."""
    async with AsyncExitStack() as stack:
        databases = [await stack.enter_async_context(Database(url, clock=Clock(shift))) for _ in range(PROCESSES)]
        yield [AuthorityReader(Batcher(database), NobodyKnown()) for database in databases]


async def at_once(database: Database, works: Sequence[Callable[[PlatformTx], Awaitable[Any]]]) -> list[Any]:
    """Each in a transaction of its own, all past BEGIN before any goes on."""
    barrier = asyncio.Barrier(len(works))

    async def one(work: Callable[[PlatformTx], Awaitable[Any]]) -> Any:
        waited = False

        async def gated(tx: PlatformTx) -> Any:
            nonlocal waited
            if not waited:
                waited = True
                await barrier.wait()
            return await work(tx)

        return await database.run(streaks.SCOPE, gated, patient=True)

    return await asyncio.gather(*map(one, works))


def a_limit(count: int = 20, cooldown: tuple[timedelta, ...] = STEPS) -> Limit:
    return Limit(f"test.race.{uuid7()}", count=count, seconds=600, per=Per.REQUEST, cooldown=cooldown)


async def knock(
    readers: Sequence[AuthorityReader], limit: Limit, subjects: Sequence[str], chance: random.Random
) -> list[tuple[str, Any]]:
    """Each subject once, through whichever process, in an order of its own."""

    async def one(subject: str) -> tuple[str, Any]:
        await asyncio.sleep(chance.random() * 0.2)
        ask = Ask(Audience.PUBLIC, None, None, None, None, Caller(address="203.0.113.5"), (), (Hit(limit, subject),))
        [answer] = await asyncio.gather(chance.choice(readers).ask(ask), return_exceptions=True)
        return subject, answer

    return list(await asyncio.gather(*map(one, chance.sample(subjects, len(subjects)))))


async def closures_of(superuser: asyncpg.Connection, limit: Limit, subject: str) -> int | None:
    key = Hit(limit, subject).key_of_closures
    return await superuser.fetchval("SELECT hits FROM kernel.limit_counter WHERE key = $1", key)


def waits(answers: Sequence[tuple[str, Any]], subject: str) -> list[int]:
    """The seconds of those who were refused; nobody was answered in any other way."""
    refused = [answer for name, answer in answers if name == subject and isinstance(answer, Exception)]
    assert {type(answer) for answer in refused} <= {Throttled}
    return [answer.retry_after_seconds for answer in refused]


@pytest.mark.parametrize("seed", range(3))
async def test_exactly_the_allowed_number_pass_and_the_door_closes_once(
    database_url: str, superuser: asyncpg.Connection, seed: int
) -> None:
    chance, limit = random.Random(seed), a_limit()
    subjects = [str(uuid7()) for _ in range(4)]
    async with processes(database_url) as readers:
        answers = await knock(readers, limit, subjects[:3] * 60 + subjects[3:] * 20, chance)
    for subject in subjects[:3]:
        refused = waits(answers, subject)
        assert len(refused) == 40
        # One more for whoever began a moment before the one that closed the door.
        assert all(900 - SLACK_SECONDS <= seconds <= 901 for seconds in refused)
        assert await closures_of(superuser, limit, subject) == 1
    assert waits(answers, subjects[3]) == []
    assert await closures_of(superuser, limit, subjects[3]) is None


async def test_a_closed_door_opens_for_everybody_at_one_instant_and_then_closes_for_longer(
    database_url: str, superuser: asyncpg.Connection
) -> None:
    chance, limit, somebody = random.Random(0), a_limit(count=3), str(uuid7())
    for minutes, knocks, passing, closures in (
        (0, 20, 3, 1),
        (13, 40, 0, 1),
        (16, 20, 3, 2),
        (74, 40, 0, 2),
        (78, 9, 3, 3),
    ):
        async with processes(database_url, timedelta(minutes=minutes)) as readers:
            answers = await knock(readers, limit, [somebody] * knocks, chance)
        assert knocks - len(waits(answers, somebody)) == passing
        assert await closures_of(superuser, limit, somebody) == closures


async def test_a_process_whose_clock_steps_back_finds_the_door_closed(database_url: str) -> None:
    chance, limit, somebody = random.Random(0), a_limit(count=3), str(uuid7())
    for minutes in (0, -60, 13):
        async with processes(database_url, timedelta(minutes=minutes)) as readers:
            answers = await knock(readers, limit, [somebody] * 10, chance)
        assert len(waits(answers, somebody)) == (7 if minutes == 0 else 10)


@pytest.mark.parametrize("limit_of", [{"cooldown": ()}, {"cooldown": STEPS}], ids=["plain", "cooldown"])
async def test_of_all_who_come_for_the_last_place_in_one_moment_one_gets_it(
    database: Database, superuser: asyncpg.Connection, limit_of: dict
) -> None:
    for _ in range(15):
        limit, somebody = a_limit(count=1, **limit_of), str(uuid7())
        works = [lambda tx: limits.count(tx, [Hit(limit, somebody)])] * TOGETHER  # noqa: B023, run in this turn
        verdicts = await at_once(database, works)
        assert sum(verdict is None for [verdict] in verdicts) == 1
        assert await closures_of(superuser, limit, somebody) == (1 if limit.cooldown else None)


async def test_doors_that_close_in_opposite_orders_do_not_wait_in_a_circle(watched: Watched) -> None:
    limit, subjects = a_limit(count=1), [str(uuid7()) for _ in range(30)]

    def counting(order: Sequence[str]) -> Callable[[PlatformTx], Awaitable[Any]]:
        return lambda tx: limits.count(tx, [Hit(limit, subject) for subject in order])

    verdicts = await at_once(watched.database, [counting(subjects), counting(subjects[::-1])] * (TOGETHER // 2))
    assert sum(verdict is None for some in verdicts for verdict in some) == len(subjects)
    assert watched.bad_luck == []


async def test_no_failure_is_lost_when_many_begin_one_streak_together(database: Database) -> None:
    streak = Streak(f"test.race.{uuid7()}", TOGETHER, 600)
    for attempt in range(15):
        mark = Mark(streak, str(attempt))
        works = [lambda tx: streaks.record(tx, [(Outcome(mark, Result.FAILED),)])] * TOGETHER  # noqa: B023
        await at_once(database, works[1:])
        assert await database.run(streaks.SCOPE, lambda tx: streaks.check(tx, [(mark,)])) == [True]  # noqa: B023
        await at_once(database, works[:1])
        [answer] = await database.run(streaks.SCOPE, lambda tx: streaks.check(tx, [(mark,)]))  # noqa: B023
        assert answer == StepUpRequired()


async def test_streaks_in_opposite_orders_do_not_wait_in_a_circle(watched: Watched) -> None:
    streak = Streak(f"test.race.{uuid7()}", TOGETHER + 1, 600)
    marks = [Mark(streak, str(number)) for number in range(30)]

    def failing(order: Sequence[Mark]) -> Callable[[PlatformTx], Awaitable[Any]]:
        return lambda tx: streaks.record(tx, [tuple(Outcome(mark, Result.FAILED) for mark in order)])

    await at_once(watched.database, [failing(marks)])
    await at_once(watched.database, [failing(marks), failing(marks[::-1])] * (TOGETHER // 2))
    answers = await watched.database.run(streaks.SCOPE, lambda tx: streaks.check(tx, [(mark,) for mark in marks]))
    assert answers == [StepUpRequired()] * len(marks)
    assert watched.bad_luck == []


async def test_from_the_moment_a_ban_is_laid_nobody_gets_in_by_any_process(database_url: str, batcher: Batcher) -> None:
    limit = Limit(f"test.race.{uuid7()}", count=10**6, seconds=600, per=Per.ADDRESS)
    address = f"address-{uuid7()}"
    ask = Ask(Audience.PUBLIC, None, None, None, None, Caller(address=address), (limit,))
    laid = asyncio.Event()
    late: list[Any] = []

    async def keep_coming(reader: AuthorityReader) -> None:
        refused = 0
        while refused < 5:
            after = laid.is_set()
            [answer] = await asyncio.gather(reader.ask(ask), return_exceptions=True)
            refused += isinstance(answer, SubjectBanned)
            if after:
                late.append(answer)

    async with processes(database_url) as readers:
        coming = [asyncio.create_task(keep_coming(reader)) for reader in readers for _ in range(3)]
        ends_at = datetime.now(UTC) + timedelta(hours=1)
        await batcher.submit(bans.ban, bans.SCOPE, Ban(a_caller(), by_address(address), "FRAUD_BOT", ends_at))
        laid.set()
        await asyncio.gather(*coming)
    assert late
    assert {type(answer) for answer in late} == {SubjectBanned}
