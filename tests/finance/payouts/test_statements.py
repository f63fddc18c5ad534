"""Owners' statements: what the ledger moved for them in a week, no more and no less."""

import csv
import io
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest

from admitone.finance.payouts import papers
from admitone.finance.payouts.errors import WeekNotOver
from admitone.finance.payouts.statements import Statement, Unbalanced, Week
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.words import Language, Words
from tests.finance.payouts.owing import an_owed_stay, batch, decided, disputed, ends, owes
from tests.finance.world import World

A_WEEK = timedelta(days=7)


class Reader:
    """A week later."""

    def __init__(self, world: World, database: Database) -> None:
        self.world, self.database = world, database

    async def __call__(self, query: Any, *args: Any) -> Any:
        return await self.database.read(self.world.scope, query, *args)


@pytest.fixture
async def read(world: World, database_url: str) -> Any:
    async with Database(database_url, clock=Clock(A_WEEK)) as database:
        yield Reader(world, database)


async def this_week(world: World, owner: UUID) -> Week:
    async def now(tx: Tx) -> date:
        return tx.now.date()

    today = await world.database.read(world.scope, now)
    return Week(owner, "EUR", today - timedelta(days=today.weekday()))


async def table_of(statement: Statement) -> list[dict[str, str]]:
    text = "".join([part async for part in papers.as_csv(statement)])
    return list(csv.DictReader(io.StringIO(text)))


async def lived(world: World, owner: UUID) -> None:
    """Paid, lost, and owed again."""
    stay = await an_owed_stay(world, payee=owner)
    [payout] = await batch(world)
    await ends(world, payout)
    await disputed(world, stay)
    await decided(world, stay, "lose")
    await an_owed_stay(world, "2026-02-20T20:00Z", payee=owner)


@pytest.mark.covers("MOR-046")
async def test_the_total_of_a_statement_is_what_the_ledger_moved(world: World, read: Reader):
    owner, other = uuid7(), uuid7()
    await lived(world, owner)
    await an_owed_stay(world, payee=other)
    statement = await Statement.of(await this_week(world, owner), read)
    rows = await table_of(statement)
    lines = [row for row in rows if not row["type"].startswith("BALANCE")]
    assert sum(int(row["amount_minor"]) for row in lines) == await owes(world, owner) == statement.totals.moved_minor
    assert (rows[0]["type"], int(rows[0]["amount_minor"])) == ("BALANCE_AFTER", -1_500)
    assert (rows[-1]["type"], rows[-1]["amount_minor"]) == ("BALANCE_BEFORE", "0")
    told = {row["type"]: int(row["amount_minor"]) for row in lines}
    assert told == {
        "PAYOUT_DUE": 85_000, "PAYOUT_INITIATED": -85_000, "DISPUTE_FEE": -1_500, "CHARGEBACK_GROSS": -100_000,
        "CHARGEBACK_PLATFORM_FEE_REVERSAL": 15_000,
    }  # fmt: skip
    assert [row["posted_at"] for row in lines] == sorted((row["posted_at"] for row in lines), reverse=True)


@pytest.mark.covers("MOR-046")
async def test_the_next_week_begins_where_this_one_ended_and_nothing_is_in_both(world: World, database_url: str):
    owner = uuid7()
    await lived(world, owner)
    week = await this_week(world, owner)
    async with Database(database_url, clock=Clock(2 * A_WEEK)) as database:
        read = Reader(world, database)
        first = await Statement.of(week, read)
        second = await Statement.of(Week(owner, "EUR", week.monday + A_WEEK), read)
        assert first.totals.after_minor == second.totals.before_minor == second.totals.after_minor == -1_500
        assert len(await table_of(second)) == 2


@pytest.mark.covers("MOR-046")
async def test_lines_that_do_not_sum_up_are_no_statement(world: World, read: Reader):
    owner = uuid7()
    await an_owed_stay(world, payee=owner)
    statement = await Statement.of(await this_week(world, owner), read)
    statement.totals = type(statement.totals)(0, statement.totals.after_minor + 1)
    with pytest.raises(Unbalanced):
        await table_of(statement)


async def test_a_week_that_is_not_over_or_is_none_has_no_statement(world: World, read: Reader):
    week = await this_week(world, uuid7())
    for monday in (week.monday + timedelta(days=1), week.monday + 2 * A_WEEK):
        with pytest.raises(WeekNotOver):
            await Statement.of(Week(week.owner, "EUR", monday), read)


@pytest.mark.covers("MOR-046")
@pytest.mark.parametrize("language", list(Language))
async def test_a_page_has_the_same_totals_in_every_language(world: World, read: Reader, language: Language):
    owner = uuid7()
    await lived(world, owner)
    statement, words = await Statement.of(await this_week(world, owner), read), Words(language)
    rows = await papers.gather(statement, words)
    assert len(rows) == 6
    assert rows[0].what == "PAYOUT_DUE"
    page = papers.as_pdf(statement, rows, words)
    assert page.startswith(b"%PDF-") and len(page) > 1_000
    assert papers.as_pdf(statement, rows, words) == page
    assert papers.amount_of(-8_500, "EUR", words).endswith("85 EUR")


async def test_what_is_too_much_for_a_page_is_gathered_by_day_and_kind(
    world: World, read: Reader, monkeypatch: pytest.MonkeyPatch
):
    owner = uuid7()
    await lived(world, owner)
    monkeypatch.setattr(papers, "MOST_LINES", 3)
    statement, words = await Statement.of(await this_week(world, owner), read), Words()
    rows = await papers.gather(statement, words)
    assert {row.what for row in rows} >= {"PAYOUT_DUE", "CHARGEBACK_GROSS"}
    assert [row.reference for row in rows if row.what == "PAYOUT_DUE"] == ["x 2"]


async def test_a_week_in_which_nothing_moved_is_a_page_too(world: World, read: Reader):
    statement = await Statement.of(await this_week(world, uuid7()), read)
    assert await papers.gather(statement, Words()) == []
    assert papers.as_pdf(statement, [], Words()).startswith(b"%PDF-")
