"""Who gets a name, who keeps it, and for how long it is held for whoever left it."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from admitone.foundation.usernames import handlers, store
from admitone.foundation.usernames.api import (
    Claimed,
    Resolved,
    UsernameCooldown,
    UsernameInvalid,
    UsernameTaken,
)
from admitone.foundation.usernames.errors import Rule
from admitone.foundation.usernames.handlers import MAINTENANCE
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs.model import Desk
from admitone.kernel.scope import Scope
from tests.builders import rows_of
from tests.foundation.usernames.registry import AN_INSTANT, a_holder, a_name, day, on, whose

FIFTEEN_DAYS_IN_SECONDS = 15 * 24 * 3600


def new(name: str) -> Claimed:
    return Claimed(name, is_new=True)


def kept(name: str) -> Claimed:
    return Claimed(name, is_new=False)


def cooling(seconds: int) -> UsernameCooldown:
    return UsernameCooldown(retry_after_seconds=seconds)


@pytest.mark.covers("IDN-033", "IDN-034")
async def test_who_claims_a_free_name_goes_by_it(database: Database):
    holder, name = await a_holder(database), a_name()

    assert await whose(database, name) is None
    assert await holder.claims(f"  {name.upper()} ") == new(name)

    assert await whose(database, f" {name.title()}") == Resolved(name, holder.id)
    assert await holder.name() == name


@pytest.mark.covers("IDN-033")
async def test_a_name_of_another_is_taken(database: Database):
    name = a_name()
    holder, other = await a_holder(database, name), await a_holder(database)

    assert await other.claims(name) == UsernameTaken()
    assert await other.claims(name.upper()) == UsernameTaken()

    assert await whose(database, name) == Resolved(name, holder.id)
    assert await other.name() is None


async def test_to_claim_what_one_has_changes_nothing(database: Database):
    first, second = a_name(), a_name()
    holder = await a_holder(database, first, second)
    told = await rows_of(database, holder.scope, "kernel.event_log")

    assert await holder.claims(second) == kept(second), "not even within the cooldown"

    assert await rows_of(database, holder.scope, "kernel.event_log") == told
    assert await whose(database, first) == Resolved(first, None)


async def test_what_cannot_be_a_name_is_refused_and_hinders_nobody_else_in_the_call(database: Database):
    holder, first, second = await a_holder(database), a_name(), a_name()

    outcomes = await holder.claims_all("ab", first, "jo\u0430na", "admin", second, first)

    assert outcomes == [
        UsernameInvalid(rule=Rule.LENGTH),
        new(first),
        UsernameInvalid(rule=Rule.MIXED_SCRIPTS),
        UsernameInvalid(rule=Rule.RESERVED),
        new(second),
        new(first),
    ], "each as if it came alone: claimed, renamed, and taken back"
    assert await holder.name() == first


async def test_a_call_without_claims_asks_nothing(database: Database):
    assert await (await a_holder(database)).claims_all() == []


@pytest.mark.covers("IDN-032")
@pytest.mark.parametrize("leaving", ["rename", "release"])
async def test_a_name_that_was_left_is_held_for_fifteen_days_against_strangers(database: Database, leaving: str):
    name = a_name()
    holder, stranger = await a_holder(database, name), await a_holder(database)
    assert await (holder.releases() if leaving == "release" else holder.claims(a_name()))

    assert await stranger.claims(name, at=day(0)) == UsernameTaken()
    assert await stranger.claims(name, at=day(14)) == UsernameTaken()
    assert await stranger.claims(name, at=day(15) - AN_INSTANT) == UsernameTaken()
    assert await stranger.claims(name, at=day(15)) == new(name)
    assert await whose(database, name, at=day(15)) == Resolved(name, stranger.id)
    assert await holder.claims(name, at=day(30)) == UsernameTaken(), "it is nobody's former name any more"


@pytest.mark.covers("IDN-032")
@pytest.mark.parametrize("leaving", ["rename", "release"])
async def test_the_former_holder_takes_the_name_back_within_the_hold(database: Database, leaving: str):
    name, other = a_name(), a_name()
    holder = await a_holder(database, name)
    await (holder.releases() if leaving == "release" else holder.claims(other))

    assert await holder.claims(name, at=day(14)) == new(name)

    assert await whose(database, name, at=day(14)) == Resolved(name, holder.id)
    if leaving == "rename":
        assert await whose(database, other, at=day(29) - AN_INSTANT) == Resolved(other, None), "held in its turn"
        assert await whose(database, other, at=day(29)) is None


@pytest.mark.covers("IDN-032")
async def test_whoever_changed_their_name_waits_fifteen_days_to_do_so_again(database: Database):
    holder, third = await a_holder(database, a_name(), a_name()), a_name()

    assert await holder.claims(third) == cooling(FIFTEEN_DAYS_IN_SECONDS)
    assert await holder.claims(third, at=day(14)) == cooling(24 * 3600)
    assert await holder.claims(third, at=day(15) - AN_INSTANT) == cooling(1)
    assert await holder.claims(third, at=day(15)) == new(third)
    assert await holder.claims(a_name(), at=day(16)) == cooling(14 * 24 * 3600), "it counts from the last change"


@pytest.mark.covers("IDN-032")
async def test_to_take_a_name_back_is_a_change_too(database: Database):
    first, second, third = a_name(), a_name(), a_name()
    holder = await a_holder(database, first, second)
    assert await holder.claims(first, at=day(14)) == new(first)

    assert await holder.claims(third, at=day(15)) == cooling(14 * 24 * 3600)
    assert await holder.claims(third, at=day(29)) == new(third)


@pytest.mark.covers("IDN-032")
async def test_to_release_first_is_no_way_around_the_cooldown(database: Database):
    holder, other = await a_holder(database, a_name()), a_name()
    assert await holder.releases()
    assert not await holder.releases(), "there is nothing left to release"

    assert await holder.claims(other, at=day(14)) == cooling(24 * 3600)
    assert await holder.claims(other, at=day(15)) == new(other)


@pytest.mark.covers("IDN-032")
async def test_the_first_name_and_the_first_change_of_it_need_no_wait(database: Database):
    holder, first, second = await a_holder(database), a_name(), a_name()
    assert await holder.claims(first) == new(first)
    assert await holder.claims(second) == new(second)


async def test_a_taken_name_is_said_to_be_taken_also_within_the_cooldown(database: Database):
    name = a_name()
    await a_holder(database, name)
    holder = await a_holder(database, a_name(), a_name())
    assert await holder.claims(name) == UsernameTaken(), "to wait would not help"


@pytest.mark.covers("IDN-034")
async def test_a_held_name_is_not_told_to_be_anybodys(database: Database):
    name = a_name()
    holder = await a_holder(database, name)
    await holder.releases()

    held = await whose(database, name, at=day(15) - AN_INSTANT)
    assert held == Resolved(name, None)
    assert held.is_held
    assert await whose(database, name, at=day(15)) is None
    assert await holder.name() is None


@pytest.mark.covers("IDN-033")
async def test_fifty_who_want_one_name_at_once_are_one_winner_and_forty_nine_refused(database: Database):
    name = a_name()
    holders = [await a_holder(database) for _ in range(50)]

    outcomes = await asyncio.gather(*(holder.claims(name) for holder in holders))

    assert sorted(outcomes, key=str) == sorted([new(name), *[UsernameTaken()] * 49], key=str)
    [winner] = [holder for holder, outcome in zip(holders, outcomes, strict=True) if outcome == new(name)]
    assert await whose(database, name) == Resolved(name, winner.id)


@pytest.mark.covers("IDN-033")
async def test_fifty_who_want_a_name_whose_hold_is_over_are_one_winner(database: Database):
    name = a_name()
    await (await a_holder(database, name)).releases()
    holders = [await a_holder(database) for _ in range(50)]

    outcomes = await asyncio.gather(*(holder.claims(name, at=day(15)) for holder in holders))

    assert sum(outcome == new(name) for outcome in outcomes) == 1
    assert outcomes.count(UsernameTaken()) == 49


@pytest.mark.covers("IDN-032", "IDN-033")
async def test_an_owner_who_asks_for_many_names_at_once_has_one_and_changed_it_once(database: Database):
    holder = await a_holder(database, a_name())
    names = [a_name() for _ in range(20)]

    outcomes = await asyncio.gather(*(holder.claims(name) for name in names))

    [won] = [outcome for outcome in outcomes if isinstance(outcome, Claimed)]
    assert await holder.name() == won.username
    assert sum(isinstance(outcome, UsernameCooldown) for outcome in outcomes) == 19


@pytest.mark.covers("IDN-033")
async def test_an_organization_cannot_claim_or_release_in_another_ones_name(database: Database):
    name, other_name = a_name(), a_name()
    victim, thief = await a_holder(database, name), await a_holder(database)

    async def run_for_the_victim(statement: str, *values: object) -> None:
        async def work(tx: Tx) -> None:
            tx._bound = (victim.id.uuid,)
            await tx.fetch(statement, *values, tx.now)

        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await database.run(thief.scope, work)

    await run_for_the_victim(store.CLAIM_FOR_ORGANIZATION, [other_name])
    await run_for_the_victim(store.RELEASE_OF_ORGANIZATION)

    assert await victim.name() == name
    assert await whose(database, other_name) is None


@pytest.mark.covers("IDN-033")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT usernames.claim_for_people(ARRAY[$1::uuid], ARRAY['anybody'], now())",
        "SELECT usernames.release_of_people(ARRAY[$1::uuid], now())",
        "SELECT usernames.claim('USER', ARRAY[$1::uuid], ARRAY['anybody'], now())",
        "SELECT usernames.leave('USER', ARRAY[$1::uuid], now())",
        "SELECT usernames.forget(1, now()) WHERE $1::uuid IS NOT NULL",
        "INSERT INTO usernames.username VALUES ('anybody', 'ORGANIZATION', $1, 'LIVE', now())",
    ],
)
async def test_the_app_has_no_other_way_to_write_a_name(database: Database, sql: str):
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(Scope(OrganizationId.new()), lambda tx: tx.fetch(sql))


@pytest.mark.covers("IDN-030", "IDN-033")
@pytest.mark.parametrize(
    ("name", "constraint"),
    [
        ("abc", "length"),
        ("a" * 16, "length"),
        ("Joana", "lower"),
        ("jose\u0301", "NFC"),
        ("ana silva", "whitespace"),
    ],
)
async def test_the_table_itself_refuses_what_is_not_normal(superuser: asyncpg.Connection, name: str, constraint: str):
    insert = "INSERT INTO usernames.username VALUES ($1, 'USER', gen_random_uuid(), 'LIVE', now())"
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(insert, name)


async def test_a_claim_and_a_release_are_told_without_the_name(database: Database, superuser: asyncpg.Connection):
    name = a_name()
    holder = await a_holder(database, name)
    await holder.releases(at=day(1))

    told = await superuser.fetch(
        "SELECT type, payload::text FROM kernel.event_log WHERE organization_id = $1 ORDER BY id", holder.id.uuid
    )
    assert [row["type"] for row in told] == ["username.claimed", "username.released"]
    assert all(str(holder.id) in row["payload"] and name not in row["payload"] for row in told)


async def test_what_is_taken_back_with_its_transaction_was_never_claimed(database: Database):
    holder, other, name = await a_holder(database), await a_holder(database), a_name()

    async def claim_and_fail(tx: Tx) -> None:
        await store.claim_for_organization(tx, [name])
        raise LookupError

    with pytest.raises(LookupError):
        await database.run(holder.scope, claim_and_fail)
    assert await other.claims(name) == new(name)


async def test_a_name_is_forgotten_when_its_hold_is_over_and_not_before(
    database: Database, superuser: asyncpg.Connection
):
    left, live = a_name(), a_name()
    await a_holder(database, left, live)

    async def forget(at_day: float) -> list[str]:
        while await database.run(MAINTENANCE, on(day(at_day), lambda tx: store.forget(tx, 10))):
            pass
        rows = await superuser.fetch("SELECT name FROM usernames.username WHERE name = ANY($1)", [left, live])
        return sorted(row["name"] for row in rows)

    assert await forget(14.9) == sorted([left, live])
    assert await forget(15) == [live]
    assert await forget(4000) == [live]


async def test_the_hourly_errand_forgets_all_that_is_due(
    database_url: str, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(handlers, "ROWS_PER_BATCH", 2)
    async with Database(database_url, clock=Clock(timedelta(days=16))) as later:
        for _ in range(5):
            await a_holder(later, a_name(), a_name())
        await handlers.forget_held.work(Desk(later, Batcher(later)), None)
    due = "SELECT count(*) FROM usernames.username WHERE held_until < now() + interval '15 days 23 hours'"
    assert await superuser.fetchval(due) == 0
