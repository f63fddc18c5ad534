"""The calendar of payouts, by the schedules as they stand in the manifest and two schedulers at once: nights in which the
clocks of a property change, ends of months and of a year. What was paid for falls into one batch, and that is the right
one. Whatever a clock on a wall shows, days of grace and hold are elapsed ones, and a batch is a midnight in UTC."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import asyncpg
import pytest

from admitone.finance.payouts.model import SYSTEM, Frequency, KnownSchedule, Schedule
from admitone.finance.payouts.module import MODULE
from admitone.finance.payouts.policy import OWNER_DEFAULT
from admitone.finance.payouts.store import owners as owner_store
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs.schedules import fire
from admitone.kernel.jobs.worker import SCOPE
from tests.conftest import Clone
from tests.finance.payouts.owing import Stay, all_payouts, all_there, an_owed_stay, obligation
from tests.finance.payouts.test_reporting import a_report, heard, shown
from tests.finance.world import World, a_world
from tests.jobs import DEADLINE_SECONDS, a_worker, duties

LISBON, NEW_YORK, SAO_PAULO = map(ZoneInfo, ("Europe/Lisbon", "America/New_York", "America/Sao_Paulo"))
LAST_OF_MONTH = Schedule(Frequency.MONTHLY, day_of_month=31)
FIRST_OF_MONTH = Schedule(Frequency.MONTHLY, day_of_month=1)
DAILY = Schedule(Frequency.ON_CHECKOUT)
EVERY_OTHER_WEEK = Schedule(Frequency.BIWEEKLY, day_of_week=0)


class Case(NamedTuple):
    """When somebody left by the clock on the wall, and the day on which it is paid."""

    schedule: Schedule
    zone: ZoneInfo
    left: str
    hold_days: int
    paid: str


CASES: Final = (
    # Lisbon's clocks go forward on the 29th at 01:00 UTC: a day later the wall shows an hour more.
    Case(SYSTEM, LISBON, "2026-03-29T00:00", 0, "2026-03-30"),
    Case(SYSTEM, LISBON, "2026-03-29T00:01", 0, "2026-04-06"),
    Case(SYSTEM, LISBON, "2026-03-29T02:00", 0, "2026-04-06"),
    Case(SYSTEM, LISBON, "2026-03-28T00:00", 1, "2026-03-30"),
    Case(SYSTEM, LISBON, "2026-03-30T00:00", 6, "2026-04-06"),
    Case(DAILY, LISBON, "2026-03-29T00:59", 0, "2026-03-31"),
    Case(DAILY, LISBON, "2026-03-30T00:30", 0, "2026-03-31"),
    # And back on the 25th at 01:00 UTC: half past one is twice.
    Case(SYSTEM, LISBON, "2026-10-25T00:00", 0, "2026-10-26"),
    Case(SYSTEM, LISBON, "2026-10-25T01:00", 0, "2026-10-26"),
    Case(SYSTEM, LISBON, "2026-10-25T01:30", 0, "2026-11-02"),
    Case(SYSTEM, LISBON, "2026-10-26T00:00", 6, "2026-11-02"),
    Case(SYSTEM, LISBON, "2026-10-26T00:01", 6, "2026-11-09"),
    Case(DAILY, LISBON, "2026-10-25T00:30", 0, "2026-10-26"),
    # New York's on the 1st of November at 06:00 UTC, and its midnight is none of ours.
    Case(SYSTEM, NEW_YORK, "2026-10-31T20:00", 0, "2026-11-02"),
    Case(SYSTEM, NEW_YORK, "2026-11-01T00:00", 0, "2026-11-09"),
    # November has no 31st.
    Case(LAST_OF_MONTH, SAO_PAULO, "2026-11-28T21:00", 0, "2026-11-30"),
    Case(LAST_OF_MONTH, SAO_PAULO, "2026-11-28T21:01", 0, "2026-12-31"),
    # The year ends within a week, and has 53 of them.
    Case(SYSTEM, LISBON, "2026-12-27T00:00", 0, "2026-12-28"),
    Case(SYSTEM, LISBON, "2026-12-27T00:01", 0, "2027-01-04"),
    Case(EVERY_OTHER_WEEK, LISBON, "2026-12-20T00:01", 0, "2027-01-04"),
    Case(DAILY, LISBON, "2026-12-30T23:59", 0, "2027-01-01"),
    Case(FIRST_OF_MONTH, LISBON, "2026-12-31T00:00", 0, "2027-01-01"),
    Case(FIRST_OF_MONTH, LISBON, "2026-12-31T00:01", 0, "2027-02-01"),
)
MIDNIGHTS: Final = (
    *("2026-03-29", "2026-03-30", "2026-03-31", "2026-04-01", "2026-04-06"),
    *("2026-10-25", "2026-10-26", "2026-10-27", "2026-11-01", "2026-11-02", "2026-11-09", "2026-11-30"),
    *("2026-12-01", "2026-12-28", "2026-12-31", "2027-01-01", "2027-01-02", "2027-01-04", "2027-02-01"),
)
PARTITIONED = "SELECT partrelid::regclass::text AS name FROM pg_partitioned_table"
LEFT = "SELECT count(*) FROM kernel.job WHERE kind LIKE 'payouts.%'"
FIRED = "SELECT key FROM kernel.job_key WHERE key LIKE $1"


class Calendar:
    """Two schedulers, two workers, and one time for all of them."""

    def __init__(self, databases: Sequence[Database], superuser: asyncpg.Connection) -> None:
        self.databases = databases
        self.superuser = superuser

    def turn_to(self, now: datetime) -> None:
        for each in self.databases:
            each._clock = Clock(now - datetime.now(UTC))

    async def comes(self, now: datetime) -> None:
        """Both fire what is due, and all of it is done."""
        self.turn_to(now)
        await asyncio.gather(
            *(each.run(SCOPE, lambda tx: fire(tx, MODULE.schedules), patient=True) for each in self.databases)
        )
        async with asyncio.timeout(DEADLINE_SECONDS):
            while await self.superuser.fetchval(LEFT):  # noqa: ASYNC110  Another task tells nobody.
                await asyncio.sleep(0.02)

    async def fired(self, name: str) -> list[str]:
        return sorted(row["key"] for row in await self.superuser.fetch(FIRED, f"cron:{name}:%"))


async def an_owner(world: World, schedule: Schedule) -> UUID:
    owner = uuid7()

    async def put(tx: Tx) -> None:
        await owner_store.lock_owners(tx, {owner})
        await owner_store.put_schedule(tx, KnownSchedule(owner, OWNER_DEFAULT, schedule, 1))

    if schedule != SYSTEM:
        await world.database.run(world.scope, put)
    return owner


async def all_left(world: World) -> list[tuple[Case, Stay]]:
    """Everybody left when their own wall said so."""
    owners = {schedule: await an_owner(world, schedule) for schedule in {case.schedule for case in CASES}}
    stays = []
    for case in CASES:
        left = datetime.fromisoformat(case.left).replace(tzinfo=case.zone).astimezone(UTC)
        more = {"payee": owners[case.schedule], "hold_days": case.hold_days}
        stays.append((case, await an_owed_stay(world, left.isoformat(), price=10_000, **more)))
    return stays


@pytest.mark.covers("MOR-030", "MOR-031", "MOR-032", "MOR-036")
async def test_every_stay_is_paid_once_on_its_day_whatever_the_clocks_do(clone: Clone):
    """In a database of its own: what it is elsewhere is not years later."""
    async with AsyncExitStack() as stack:
        superuser = await asyncpg.connect(clone.superuser_url)
        stack.push_async_callback(superuser.close)
        for number, row in enumerate(await superuser.fetch(PARTITIONED)):  # Of all the months that nobody has made yet.
            await superuser.execute(f"CREATE TABLE kernel.any_{number} PARTITION OF {row['name']} DEFAULT")
        databases = [await stack.enter_async_context(Database(clone.url)) for _ in range(2)]
        batcher = Batcher(databases[0])
        world = await stack.enter_async_context(a_world(databases[0], batcher))
        calendar = Calendar(databases, superuser)
        calendar.turn_to(datetime(2026, 3, 27, tzinfo=UTC))
        stays = await all_left(world)
        for each in databases:
            await stack.enter_async_context(a_worker(each, duties(*MODULE.jobs)))
        await calendar.comes(datetime(2026, 3, 28, 12, tzinfo=UTC))
        for day in map(datetime.fromisoformat, MIDNIGHTS):
            midnight = day.replace(tzinfo=UTC)
            before = await all_payouts(world)
            await calendar.comes(midnight - timedelta(seconds=30))
            assert await all_payouts(world) == before, "nothing is paid before its midnight"
            await heard(world, a_report(f"po_{midnight:%Y%m%d}"))
            await calendar.comes(midnight + timedelta(seconds=1))
            assert [each for each in await shown(world) if not each[2]] == [(f"po_{midnight:%Y%m%d}", "PAID", False)]
            await calendar.comes(midnight + timedelta(minutes=7, seconds=1))
            assert all(is_released for _, _, is_released in await shown(world))
        paid = {each.id: each for each in await all_payouts(world)}
        for case, stay in stays:
            payout = paid[(await obligation(world, stay)).payout]  # type: ignore[index]
            assert payout.period == date.fromisoformat(case.paid), case
        expected = Counter((case.schedule, case.paid) for case in CASES)
        assert sorted(each.gross_minor for each in paid.values()) == sorted(8_500 * each for each in expected.values())
        assert {each.id: each.amount_minor for each in all_there(world)} == {
            each.reference: each.amount_minor for each in paid.values()
        }
        daily = [f"cron:payouts.daily:{day}T00:00Z" for day in MIDNIGHTS]
        assert {*daily} <= {*await calendar.fired("payouts.daily")}
        assert {f"cron:payouts.release:{day}T00:07Z" for day in MIDNIGHTS} <= {*await calendar.fired("payouts.release")}
        await batcher.drain()
