"""Schedules fire each instant once, across workers and across what clocks do."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from cronsim import CronSimError

from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import CatchUp, Delivered, Lane, Schedule, errand
from admitone.kernel.jobs.model import Desk
from admitone.kernel.jobs.schedules import Firing, fire
from admitone.kernel.jobs.worker import SCOPE
from tests.toy.handlers import perform

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@errand("toy.tick", lane=Lane("clockwork", places=1))
async def tick(desk: Desk, firing: Delivered[Firing]) -> None: ...


def a_schedule(cron: str = "* * * * *", catch_up: CatchUp = CatchUp.LATEST) -> Schedule:
    return Schedule(f"toy.{uuid7().hex}", cron, tick, catch_up)


@pytest.mark.parametrize(
    ("cron", "last", "now", "latest", "every"),
    [
        ("0 * * * *", NOON, NOON, [], []),
        ("0 * * * *", NOON, NOON + timedelta(minutes=59), [], []),
        ("0 * * * *", NOON, NOON + timedelta(hours=1), [13], [13]),
        ("0 * * * *", NOON, NOON + timedelta(hours=3, minutes=5), [15], [13, 14, 15]),
    ],
)
def test_instants_that_passed_are_caught_up_with_as_the_schedule_says(cron, last, now, latest, every):
    assert [instant.hour for instant in a_schedule(cron).due(last, now)] == latest
    assert [instant.hour for instant in a_schedule(cron, CatchUp.ALL).due(last, now)] == every


def test_a_leap_of_years_fires_once_or_in_portions():
    later = NOON + timedelta(days=3 * 365)
    assert len(a_schedule().due(NOON, later)) == 1
    assert len(a_schedule(catch_up=CatchUp.ALL).due(NOON, later)) == 1_000


def test_a_schedule_that_cannot_be_read_or_does_not_fit_is_refused_where_it_is_declared():
    with pytest.raises(CronSimError):
        a_schedule("every morning")
    with pytest.raises(TypeError, match="Firing"):
        Schedule("toy.wrong", "* * * * *", perform)


async def fired(superuser: asyncpg.Connection, schedule: Schedule) -> list[str]:
    rows = await superuser.fetch(
        "SELECT key FROM kernel.job WHERE organization_id = $1 AND kind = 'toy.tick' AND starts_with(key, $2) ORDER BY key",
        PLATFORM_ORGANIZATION.uuid,
        f"cron:{schedule.name}:",
    )
    return [row["key"].rpartition(schedule.name)[2] for row in rows]


async def long_ago(superuser: asyncpg.Connection, schedule: Schedule, minutes: int) -> None:
    await superuser.execute(
        "INSERT INTO kernel.schedule VALUES ($1, date_trunc('minute', now()) - make_interval(mins => $2))",
        schedule.name,
        minutes,
    )


@pytest.mark.covers("FUN-049")
async def test_two_schedulers_at_one_instant_fire_once(database_url: str, superuser: asyncpg.Connection):
    schedules = [a_schedule(catch_up=CatchUp.ALL) for _ in range(5)]
    for schedule in schedules:
        await long_ago(superuser, schedule, minutes=3)
    databases = [Database(database_url) for _ in range(6)]
    try:
        await asyncio.gather(*(each.run(SCOPE, lambda tx: fire(tx, schedules)) for each in databases for _ in range(4)))
    finally:
        await asyncio.gather(*(each.close() for each in databases))
    for schedule in schedules:
        assert len(await fired(superuser, schedule)) in (3, 4), "the minute may have turned"


async def test_a_new_schedule_begins_now(database: Database, superuser: asyncpg.Connection):
    schedule = a_schedule("0 0 1 1 *")
    await database.run(SCOPE, lambda tx: fire(tx, [schedule]))
    assert await fired(superuser, schedule) == []
    assert await superuser.fetchval(
        "SELECT now() - last_at < '1 minute' FROM kernel.schedule WHERE name = $1", schedule.name
    )


async def test_a_clock_that_leaps_a_day_and_comes_back_fires_nothing_twice_and_goes_on(
    database_url: str, superuser: asyncpg.Connection
):
    schedule = a_schedule()
    await long_ago(superuser, schedule, minutes=1)
    day = timedelta(days=1)
    for shift in (timedelta(), day, day, timedelta(), -day, timedelta(), timedelta(minutes=1), timedelta(minutes=1)):
        async with Database(database_url, clock=Clock(shift)) as database:
            for _ in range(2):
                await database.run(SCOPE, lambda tx: fire(tx, [schedule]))
    keys = await fired(superuser, schedule)
    assert len(keys) == len(set(keys))
    now = await superuser.fetchval("SELECT now()")
    today = {f":{now + timedelta(minutes=minutes):%Y-%m-%dT%H:%MZ}" for minutes in (-1, 0, 1)}
    assert len(today & set(keys)) >= 2, "after the clock came back, it went on"
