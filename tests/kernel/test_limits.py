"""Limits are counted in the database, across processes, in order."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

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
STEPS = (timedelta(minutes=15), timedelta(minutes=60))
FIVE = Limit("test.five", count=5, seconds=600, per=Per.ADDRESS, cooldown=STEPS)
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def hits(subject: str, times: int, limit: Limit = THREE) -> list[Hit]:
    return [Hit(limit, subject)] * times


async def count(database: Database, wanted: list[Hit]) -> list[bool]:
    return [verdict is None for verdict in await database.run(SCOPE, lambda tx: limits.count(tx, wanted))]


async def waits(database: Database, at: timedelta, wanted: list[Hit]) -> list[int | None]:
    """How many seconds each has to wait, at that time after noon; `None` for whom there is nothing to wait for."""
    verdicts = await database.run(SCOPE, lambda tx: limits.count(replace(tx, now=NOON + at), wanted))
    return [verdict and verdict.retry_after_seconds for verdict in verdicts]


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


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


async def test_counting_nothing_asks_nothing(database: Database) -> None:
    async def nothing(tx: PlatformTx) -> list[Throttled | None]:
        return await limits.count(tx, [])

    assert await database.run(SCOPE, nothing) == []


async def test_who_comes_back_when_told_to_is_not_too_early(database: Database) -> None:
    somebody = str(uuid7())
    await waits(database, minutes(0), hits(somebody, 3))
    [wait] = await waits(database, timedelta(seconds=20.4), hits(somebody, 1))
    assert wait == 40
    assert await waits(database, timedelta(seconds=20.4 + wait), hits(somebody, 1)) == [None]


# -- Cooldown


async def test_a_door_closes_for_a_quarter_then_an_hour_and_an_hour_ever_after(database: Database) -> None:
    somebody = str(uuid7())
    begins = minutes(0)
    for step in (*STEPS, STEPS[-1], STEPS[-1]):
        assert await waits(database, begins, hits(somebody, 5, FIVE)) == [None] * 5
        assert await waits(database, begins + minutes(9), hits(somebody, 1, FIVE)) == [step.total_seconds()]
        begins += minutes(9) + step


async def test_knocking_at_a_closed_door_does_not_keep_it_closed(database: Database) -> None:
    somebody = str(uuid7())
    assert await waits(database, minutes(0), hits(somebody, 7, FIVE)) == [None] * 5 + [900, 900]
    for minute in range(1, 15):
        assert await waits(database, minutes(minute), hits(somebody, 9, FIVE)) == [900 - 60 * minute] * 9
    assert await waits(database, minutes(15), hits(somebody, 6, FIVE)) == [None] * 5 + [3600]


async def test_a_door_that_was_not_closed_for_a_day_is_forgiven(database: Database) -> None:
    early, late = str(uuid7()), str(uuid7())
    for somebody in (early, late):
        assert (await waits(database, minutes(0), hits(somebody, 6, FIVE)))[-1] == 900
    almost = limits.COOLDOWN_MEMORY - timedelta(seconds=1)
    assert (await waits(database, almost, hits(early, 6, FIVE)))[-1] == 3600
    assert (await waits(database, 2 * almost, hits(early, 6, FIVE)))[-1] == 3600
    assert (await waits(database, limits.COOLDOWN_MEMORY, hits(late, 6, FIVE)))[-1] == 900


async def test_one_closed_door_closes_no_other(database: Database) -> None:
    """Plain limits and limits with a cooldown, two subjects, all in one statement."""
    bad, good = str(uuid7()), str(uuid7())
    wanted = [*hits(bad, 6, FIVE), *hits(bad, 4), *hits(good, 5, FIVE), *hits(good, 3)]
    assert await waits(database, minutes(0), wanted) == [*[None] * 5, 900, *[None] * 3, 60, *[None] * 8]
    assert await waits(database, minutes(2), [*hits(bad, 1), *hits(good, 1), *hits(good, 1, FIVE)]) == [None, None, 900]


async def test_within_its_limit_nobody_is_closed_out_however_long_it_goes_on(database: Database) -> None:
    somebody = str(uuid7())
    for period in range(30):
        assert await waits(database, minutes(10 * period), hits(somebody, 5, FIVE)) == [None] * 5


async def test_counting_is_a_heap_only_update(superuser) -> None:
    """Nothing that changes stands in an index, and pages have room for the next version of a row."""
    for table in ("kernel.limit_counter", "kernel.streak"):
        indexed = await superuser.fetch(
            "SELECT a.attname FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid"
            " AND a.attnum = ANY(i.indkey) WHERE i.indrelid = $1::text::regclass",
            table,
        )
        assert [row["attname"] for row in indexed] == ["key"]
        assert "fillfactor=50" in await superuser.fetchval(
            "SELECT reloptions FROM pg_class WHERE oid = $1::text::regclass", table
        )


# -- How limits are declared


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"count": 0}, "nobody"),
        ({"seconds": 0}, "never ends"),
        ({"subject": str}, "no subject"),
        ({"cooldown": (timedelta(seconds=59),)}, "as long as the period"),
        ({"cooldown": (timedelta(hours=25),)}, "no longer than memory"),
    ],
)
def test_a_limit_that_cannot_be_kept_is_refused(wrong: dict, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        Limit(**{"name": "test.wrong", "count": 1, "seconds": 60, "per": Per.ADDRESS, **wrong})


def test_a_shared_figure_is_told_where_its_subject_stands() -> None:
    figure = Limit("test.email", count=1, seconds=60, per=Per.REQUEST)
    bound = figure.on(str.lower)
    assert bound.subject is str.lower
    assert (bound.name, bound.count, bound.seconds) == (figure.name, figure.count, figure.seconds)
