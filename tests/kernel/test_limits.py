"""Limits are counted in the database, across processes, in order."""

import asyncio
from datetime import timedelta

import pytest

from admitone.kernel import limits
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, PlatformTx
from admitone.kernel.errors import Throttled
from admitone.kernel.ids import uuid7
from admitone.kernel.limits import Hit, Limit, Per
from admitone.kernel.scope import PlatformScope, Role

SCOPE = PlatformScope("test limits", Role.AUTHORITY)
THREE = Limit("test.three", count=3, seconds=60, per=Per.ADDRESS)


def hits(subject: str, times: int, limit: Limit = THREE) -> list[Hit]:
    return [Hit(limit, subject)] * times


async def count(database: Database, wanted: list[Hit]) -> list[bool]:
    return [verdict is None for verdict in await database.run(SCOPE, lambda tx: limits.count(tx, wanted))]


async def test_the_last_allowed_is_the_last_allowed_also_within_one_batch(database: Database) -> None:
    somebody = str(uuid7())
    assert await count(database, hits(somebody, 2)) == [True, True]
    assert await count(database, hits(somebody, 3)) == [True, False, False]
    assert await count(database, hits(str(uuid7()), 1)) == [True]


async def test_a_new_period_begins_when_the_old_one_ends(database: Database, database_url: str) -> None:
    somebody = str(uuid7())
    assert await count(database, hits(somebody, 4)) == [True, True, True, False]
    async with Database(database_url, clock=Clock(timedelta(seconds=61))) as later:
        assert await count(later, hits(somebody, 4)) == [True, True, True, False]


async def test_a_throttled_caller_is_told_when_to_come_back(database: Database) -> None:
    somebody = str(uuid7())
    verdicts = await database.run(SCOPE, lambda tx: limits.count(tx, hits(somebody, 4)))
    assert isinstance(verdicts[3], Throttled)
    assert 58 <= verdicts[3].retry_after_seconds <= 60


async def test_processes_count_together(database: Database) -> None:
    """Sixteen transactions at once, each touching the same subjects in another order: no deadlock, no lost count."""
    limit = Limit("test.hundred", count=100, seconds=60, per=Per.ADDRESS)
    subjects = [str(uuid7()) for _ in range(10)]

    async def one(turn: int) -> list[bool]:
        order = subjects[turn % 10 :] + subjects[: turn % 10]
        return await count(database, [Hit(limit, subject) for subject in order])

    answers = await asyncio.gather(*(one(turn) for turn in range(110)))
    assert sum(map(sum, answers)) == 100 * len(subjects)


async def test_no_subject_is_stored_in_clear(database: Database, superuser) -> None:
    await count(database, hits("203.0.113.77", 1))
    rows = await superuser.fetch("SELECT encode(key, 'escape') AS key FROM kernel.limit_counter")
    assert rows
    assert not any("203.0.113.77" in row["key"] for row in rows)


def test_a_limit_on_the_request_says_on_what() -> None:
    with pytest.raises(TypeError, match="subject"):
        Limit("test.email", count=1, seconds=1, per=Per.REQUEST)


async def test_counting_nothing_asks_nothing(database: Database) -> None:
    async def nothing(tx: PlatformTx) -> list[Throttled | None]:
        return await limits.count(tx, [])

    assert await database.run(SCOPE, nothing) == []
