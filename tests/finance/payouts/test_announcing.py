"""Statements are announced: of every owner for whom something moved in a week, once, and with what the statement sums to."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from msgspec import json

from admitone.finance.ledger.api import roll_out
from admitone.finance.payouts import errands
from admitone.finance.payouts.commands import announcing
from admitone.finance.payouts.commands.announcing import announce, last_week
from admitone.finance.payouts.module import MODULE
from admitone.finance.payouts.statements import Statement, Week
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from tests.finance.payouts.owing import FIRST, an_owed_stay, batch, ends
from tests.finance.world import World
from tests.jobs import a_worker, duties, until

WEEK = timedelta(days=7)
TOLD = "SELECT payload FROM kernel.event_log WHERE organization_id = $1 AND type = 'payout.statement_ready' ORDER BY id"
LEFT = "SELECT count(*) FROM kernel.job WHERE organization_id = $1 AND kind = 'payouts.announce_statements'"


def this_week() -> date:
    """As the world's clock has it, which is behind."""
    return last_week(datetime.now(UTC) - timedelta(hours=1) + WEEK)


async def told(world: World, superuser: asyncpg.Connection) -> list[tuple[UUID, date, int, str]]:
    rows = [json.decode(row["payload"]) for row in await superuser.fetch(TOLD, world.organization.uuid)]
    return [(UUID(row["ownerId"]), date.fromisoformat(row["week"]), row["movedMinor"], row["currency"]) for row in rows]


async def announced(world: World, week: date | None = None) -> UUID | None:
    own = week or this_week()
    return await world.database.run(world.scope, lambda tx: announce(tx, own, FIRST, Caller()))


@pytest.mark.covers("MOR-046", "KPI-041")
async def test_a_week_is_announced_once_and_with_the_total_of_its_statement(
    world: World, superuser: asyncpg.Connection, database_url: str
):
    paid, owed = uuid7(), uuid7()
    await an_owed_stay(world, payee=paid)
    [payout] = await batch(world)
    await ends(world, payout)
    await an_owed_stay(world, payee=owed)
    for rolled in (False, True):
        if rolled:
            await roll_out(world.database, world.organization)
        assert await announced(world) is None
        assert sorted(await told(world, superuser)) == [
            (paid, this_week(), 0, "EUR"),
            (owed, this_week(), 85_000, "EUR"),
        ]
    async with Database(database_url, clock=Clock(WEEK)) as later:

        async def read(query: Any, *args: Any) -> Any:
            return await later.read(world.scope, query, *args)

        for owner, week, moved, currency in await told(world, superuser):
            statement = await Statement.of(Week(owner, currency, week), read)
            lines = [line.change_minor async for line in statement.lines()]
            assert sum(lines) == statement.totals.moved_minor == moved
            assert lines


async def test_who_had_nothing_moved_in_a_week_hears_nothing_of_it(world: World, superuser: asyncpg.Connection):
    await an_owed_stay(world)
    for week in (this_week() - WEEK, this_week() + WEEK):
        await announced(world, week)
    assert await told(world, superuser) == []


async def test_each_currency_has_a_statement_of_its_own(world: World, superuser: asyncpg.Connection):
    await an_owed_stay(world)
    await an_owed_stay(world, currency="BRL")
    await announced(world)
    assert sorted(each[2:] for each in await told(world, superuser)) == [(85_000, "BRL"), (85_000, "EUR")]


@pytest.mark.covers("MOR-046", "FUN-049")
async def test_two_schedulers_announce_a_week_of_many_owners_once(
    world: World, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    """Page by page, also when somebody has the same Monday fired once more."""
    monkeypatch.setattr(announcing, "OWNERS", 2)
    owners = [uuid7() for _ in range(5)]
    for owner in owners:
        await an_owed_stay(world, payee=owner)
    monday = datetime.combine(this_week() + WEEK, datetime.min.time(), UTC) + timedelta(hours=1)
    desk, firing = Desk(world.database, world.batcher), Firing("payouts.statements", monday)
    told_to = Delivered(uuid7(), PLATFORM_ORGANIZATION, firing, Caller(), "k", None, 1, monday)
    for _ in range(2):
        await asyncio.gather(*(errands.begin_statements.work(desk, told_to) for _ in range(2)))
        async with a_worker(world.database, duties(errands.announce_statements)):
            await until(superuser, LEFT, world.scope)
    assert sorted(each[0] for each in await told(world, superuser)) == sorted(owners)
    for _ in range(2):
        await announced(world)
    assert len(await told(world, superuser)) == len(owners)
    await superuser.execute("DELETE FROM kernel.job WHERE kind = 'payouts.announce_statements'")


@pytest.mark.covers("FUN-049")
def test_statements_come_every_week_after_the_batch():
    crons = {each.name: each.cron for each in MODULE.schedules}
    assert crons["payouts.statements"] == "0 1 * * 1"
    assert crons["payouts.daily"] == "0 0 * * *"


@pytest.mark.parametrize(
    ("at", "week"),
    [
        ("2026-02-16T01:00+00:00", date(2026, 2, 9)),
        ("2026-02-22T23:59+00:00", date(2026, 2, 9)),
        ("2026-02-23T00:00+00:00", date(2026, 2, 16)),
        ("2026-03-30T01:00+00:00", date(2026, 3, 23)),
    ],
)
def test_the_last_week_is_the_one_that_is_over(at: str, week: date):
    assert last_week(datetime.fromisoformat(at)) == week
