"""Streaks: who failed too often proves who they are, or waits."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from admitone.kernel import streaks
from admitone.kernel.batch import Batcher
from admitone.kernel.contracts import status_of
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal, Throttled
from admitone.kernel.ids import uuid7
from admitone.kernel.streaks import Mark, Outcome, Result, StepUpRequired, Streak

EVENING = datetime(2026, 6, 1, 22, tzinfo=UTC)
FAILED, SUCCEEDED, PASSED = Result
PAUSE = timedelta(minutes=5)
IN_A_ROW = Streak("test.in_a_row", 10, 3600, in_a_row=True, pause=PAUSE)
IN_A_WHILE = Streak("test.in_a_while", 3, 600)
PAUSE_ONLY = Streak("test.pause_only", 5, 3600, in_a_row=True, step_up=False, pause=PAUSE)


def a_mark(streak: Streak) -> Mark:
    return Mark(streak, str(uuid7()))


async def record(database: Database, mark: Mark, *results: Result, at: timedelta = timedelta()) -> None:
    outcomes = tuple(Outcome(mark, result) for result in results)
    await database.run(streaks.SCOPE, lambda tx: streaks.record(replace(tx, now=EVENING + at), [outcomes]))


async def verdict(database: Database, *marks: Mark, at: timedelta = timedelta()) -> object:
    [answer] = await database.run(streaks.SCOPE, lambda tx: streaks.check(replace(tx, now=EVENING + at), [marks]))
    return answer if isinstance(answer, Refusal) else None


async def test_ten_in_a_row_ask_for_a_step_up_and_nine_do_not(database: Database) -> None:
    mark = a_mark(IN_A_ROW)
    await record(database, mark, *[FAILED] * 9)
    assert await verdict(database, mark) is None
    await record(database, mark, FAILED)
    assert await verdict(database, mark) == StepUpRequired()
    assert await verdict(database, a_mark(IN_A_ROW)) is None
    assert status_of(StepUpRequired) == 403


@pytest.mark.parametrize("together", [True, False])
async def test_a_success_begins_the_row_anew(database: Database, together: bool) -> None:
    """Told at once or one by one: the order in which outcomes are told is the order in which they count."""
    mark = a_mark(IN_A_ROW)
    told = [*[FAILED] * 9, SUCCEEDED, *[FAILED] * 9]
    for results in [told] if together else [[result] for result in told]:
        await record(database, mark, *results)
    assert await verdict(database, mark) is None
    await record(database, mark, FAILED)
    assert await verdict(database, mark) == StepUpRequired()


async def test_a_success_after_the_tenth_failure_comes_too_late(database: Database) -> None:
    mark = a_mark(IN_A_ROW)
    await record(database, mark, *[FAILED] * 10, SUCCEEDED)
    assert await verdict(database, mark) == StepUpRequired()
    await record(database, mark, SUCCEEDED)
    assert await verdict(database, mark) == StepUpRequired()


async def test_the_step_up_can_be_passed_at_once_and_the_pause_is_waited_out(database: Database) -> None:
    mark = a_mark(IN_A_ROW)
    await record(database, mark, *[FAILED] * 10)
    await record(database, mark, PASSED, at=timedelta(minutes=1))
    assert await verdict(database, mark, at=timedelta(minutes=2)) == Throttled(retry_after_seconds=180)
    await record(database, mark, *[FAILED] * 10, at=timedelta(minutes=3))
    assert await verdict(database, mark, at=timedelta(minutes=4)) == Throttled(retry_after_seconds=60)
    assert await verdict(database, mark, at=PAUSE) is None
    await record(database, mark, *[FAILED] * 9, at=PAUSE)
    assert await verdict(database, mark, at=PAUSE) is None


async def test_waiting_alone_passes_no_step_up_before_a_day_is_over(database: Database) -> None:
    mark = a_mark(IN_A_ROW)
    await record(database, mark, *[FAILED] * 10)
    assert await verdict(database, mark, at=timedelta(hours=23)) == StepUpRequired()
    assert await verdict(database, mark, at=streaks.STEP_UP_STANDS) is None


async def test_three_failures_in_any_ten_minutes_ask_for_a_step_up(database: Database) -> None:
    """Not only in ten minutes that begin with the first."""
    mark = a_mark(IN_A_WHILE)
    for minute in (0, 9, 11):
        await record(database, mark, FAILED, at=timedelta(minutes=minute))
        assert await verdict(database, mark, at=timedelta(minutes=minute)) is None
    await record(database, mark, FAILED, at=timedelta(minutes=18))
    assert await verdict(database, mark, at=timedelta(minutes=18)) == StepUpRequired()


async def test_in_a_while_a_success_makes_up_for_nothing(database: Database) -> None:
    mark = a_mark(IN_A_WHILE)
    await record(database, mark, FAILED, FAILED, SUCCEEDED, FAILED)
    assert await verdict(database, mark) == StepUpRequired()


async def test_whoever_passed_begins_anew(database: Database) -> None:
    mark = a_mark(IN_A_WHILE)
    await record(database, mark, *[FAILED] * 3)
    await record(database, mark, PASSED)
    assert await verdict(database, mark) is None
    await record(database, mark, FAILED, FAILED)
    assert await verdict(database, mark) is None
    await record(database, mark, FAILED)
    assert await verdict(database, mark) == StepUpRequired()


async def test_a_pause_without_a_step_up_ends_by_itself_and_is_not_lengthened(database: Database) -> None:
    mark = a_mark(PAUSE_ONLY)
    await record(database, mark, *[FAILED] * 5)
    await record(database, mark, *[FAILED] * 9, at=timedelta(minutes=4))
    assert await verdict(database, mark, at=timedelta(minutes=4)) == Throttled(retry_after_seconds=60)
    assert await verdict(database, mark, at=PAUSE) is None
    await record(database, mark, *[FAILED] * 4, at=PAUSE)
    assert await verdict(database, mark, at=PAUSE) is None


async def test_of_several_marks_the_first_that_is_closed_speaks(database: Database) -> None:
    fine, paused, asked = a_mark(IN_A_WHILE), a_mark(PAUSE_ONLY), a_mark(IN_A_ROW)
    await record(database, paused, *[FAILED] * 5)
    await record(database, asked, *[FAILED] * 10)
    assert await verdict(database, fine, paused, asked) == Throttled(retry_after_seconds=300)
    assert await verdict(database, fine, asked, paused) == StepUpRequired()


async def test_a_success_of_somebody_without_failures_writes_nothing(database: Database, superuser) -> None:
    mark = a_mark(IN_A_ROW)
    await record(database, mark, SUCCEEDED, PASSED)
    assert await superuser.fetchval("SELECT count(*) FROM kernel.streak WHERE key = $1", mark.key) == 0


async def test_many_callers_are_answered_by_one_statement_each_for_itself(batcher: Batcher, superuser) -> None:
    marks = [a_mark(IN_A_WHILE) for _ in range(40)]
    told = [tuple(Outcome(mark, FAILED) for _ in range(n % 5)) for n, mark in enumerate(marks)]
    await asyncio.gather(*(batcher.submit(streaks.record, streaks.SCOPE, each) for each in told))
    answers = await asyncio.gather(
        *(batcher.submit(streaks.check, streaks.SCOPE, (mark,)) for mark in marks), return_exceptions=True
    )
    assert [isinstance(answer, StepUpRequired) for answer in answers] == [n % 5 >= 3 for n in range(40)]
    rows = await superuser.fetch("SELECT * FROM kernel.streak")
    assert not any(mark.subject in str(rows) for mark in marks)


@pytest.mark.parametrize(
    "wrong", [{"count": 0}, {"seconds": 0}, {"step_up": False}, {"pause": timedelta(hours=25)}], ids=str
)
def test_a_streak_that_leads_nowhere_is_refused(wrong: dict) -> None:
    with pytest.raises(TypeError, match=r"test\.wrong"):
        Streak(**{"name": "test.wrong", "count": 1, "seconds": 1, **wrong})
