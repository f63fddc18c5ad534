"""Sessions: opened, rotated, ended; a refresh token is worth one rotation, and a stolen one ends everything."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import (
    EndReason,
    InvalidSession,
    JustRenewed,
    Method,
    Opened,
    Opening,
    Refresh,
    TableAuthority,
)
from admitone.foundation.authority.model import ACCESS_LASTS, AT_THE_SAME_MOMENT, REFRESH_LASTS, SESSION_LASTS
from admitone.kernel.authority import Audience, AuthorityReader, Granted
from admitone.kernel.batch import Batcher
from admitone.kernel.commands import Command
from admitone.kernel.crypto import digest_of
from admitone.kernel.db import Database, PeopleTx
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller, PeopleScope
from admitone.kernel.streaks import StepUpRequired
from tests.foundation.authority.shop import StandingClock, an_ask, ask_at

PEOPLE = PeopleScope("test")


async def rotate_many(tx: PeopleTx, refreshes: Sequence[Refresh]) -> Sequence[Opened | Refusal]:
    return await authority.rotate(tx, refreshes)


ROTATE: Command[PeopleTx, Refresh, Opened] = Command(rotate_many, name="test.rotate")


@pytest.fixture
def reader(batcher: Batcher) -> AuthorityReader:
    return AuthorityReader(batcher, TableAuthority())


async def opened(database: Database, identity: IdentityId | None = None) -> Opened:
    opening = Opening(identity or IdentityId.new(), Method.PASSWORD, None)
    [session] = await database.run(PEOPLE, lambda tx: authority.open_sessions(tx, [opening]))
    return session


async def rotated(database: Database, *tokens: str) -> list[Opened | Refusal]:
    return await database.run(PEOPLE, lambda tx: authority.rotate(tx, [Refresh(Caller(), each) for each in tokens]))


async def rotated_at(database_url: str, instant: Any, token: str) -> Opened | Refusal:
    async with Database(database_url, clock=StandingClock(instant=instant)) as then:
        [outcome] = await rotated(then, token)
        return outcome


async def is_known(reader: AuthorityReader, token: str) -> bool:
    try:
        return isinstance(await reader.ask(an_ask(Audience.PERSON, token)), Granted)
    except Unauthenticated:
        return False


async def row_of(superuser: asyncpg.Connection, session: Opened) -> asyncpg.Record:
    row = await superuser.fetchrow("SELECT * FROM authority.session WHERE id = $1", session.session.uuid)
    assert row is not None
    return row


async def alerts_of(superuser: asyncpg.Connection, session: Opened) -> int:
    count: int = await superuser.fetchval(
        "SELECT count(*) FROM kernel.event_log WHERE type = 'security.alert' AND payload->>'sessionId' = $1",
        str(session.session),
    )
    return count


async def test_tokens_stand_in_the_database_as_digests(database: Database, superuser: asyncpg.Connection):
    session = await opened(database)
    row = await row_of(superuser, session)
    assert row["access_digest"] == digest_of(session.access_token)
    assert row["refresh_digest"] == digest_of(session.refresh_token)
    assert session.access_token != session.refresh_token
    written = str([*row.values()])
    for token in (session.access_token, session.refresh_token):
        assert token not in written and token.rpartition("_")[2] not in written


async def test_everybody_who_comes_together_gets_a_session_of_their_own(database: Database, reader: AuthorityReader):
    people = [IdentityId.new() for _ in range(40)]
    openings = [Opening(each, Method.CODE, None) for each in people]
    sessions = await database.run(PEOPLE, lambda tx: authority.open_sessions(tx, openings))
    assert [each.identity for each in sessions] == people
    tokens = {token for each in sessions for token in (each.access_token, each.refresh_token)}
    assert len(tokens) == 80
    granted = await asyncio.gather(*(reader.ask(an_ask(Audience.PERSON, each.access_token)) for each in sessions))
    assert [(each.identity, each.credential) for each in granted] == [
        (each.identity, each.session.uuid) for each in sessions
    ]


@pytest.mark.covers("IDN-015")
async def test_a_rotation_gives_new_tokens_and_ends_the_old_ones(
    database: Database, reader: AuthorityReader, superuser: asyncpg.Connection
):
    first = await opened(database)
    [second] = await rotated(database, first.refresh_token)
    assert isinstance(second, Opened)
    assert (second.session, second.identity) == (first.session, first.identity)
    assert {second.access_token, second.refresh_token}.isdisjoint({first.access_token, first.refresh_token})
    assert not await is_known(reader, first.access_token)
    assert await is_known(reader, second.access_token)
    [third] = await rotated(database, second.refresh_token)
    assert isinstance(third, Opened)
    assert await is_known(reader, third.access_token)
    assert await alerts_of(superuser, first) == 0


@pytest.mark.covers("IDN-015")
async def test_a_spent_token_that_is_shown_again_ends_the_session_for_thief_and_robbed(
    database: Database, reader: AuthorityReader, superuser: asyncpg.Connection
):
    other = await opened(database)
    first = await opened(database, other.identity)
    [second] = await rotated(database, first.refresh_token)
    [third] = await rotated(database, second.refresh_token)
    await a_moment_later(superuser, first)
    assert await rotated(database, first.refresh_token) == [InvalidSession()]
    assert not await is_known(reader, third.access_token)
    assert await rotated(database, third.refresh_token) == [InvalidSession()]
    assert (await row_of(superuser, first))["end_reason"] == EndReason.TOKEN_REUSED
    for _ in range(3):
        assert await rotated(database, first.refresh_token) == [InvalidSession()]
    assert await alerts_of(superuser, first) == 1, "one theft, one alert"
    assert await is_known(reader, other.access_token), "the person's other sessions are others"


async def a_moment_later(superuser: asyncpg.Connection, session: Opened) -> None:
    """So much that it cannot be two pages that woke up together."""
    spent = "UPDATE authority.spent_token SET spent_at = spent_at - $2::interval WHERE session_id = $1"
    await superuser.execute(spent, session.session.uuid, AT_THE_SAME_MOMENT + timedelta(seconds=1))


@pytest.mark.covers("IDN-015")
@pytest.mark.parametrize("processes", [1, 20])
async def test_of_twenty_pages_that_refresh_one_token_at_once_one_wins_and_nothing_ends(
    database: Database, reader: AuthorityReader, superuser: asyncpg.Connection, processes: int
):
    session = await opened(database)
    batchers = [Batcher(database) for _ in range(processes)]
    shown = [
        batchers[n % processes].submit(ROTATE, PEOPLE, Refresh(Caller(), session.refresh_token)) for n in range(20)
    ]
    outcomes = await asyncio.gather(*shown, return_exceptions=True)
    [winner] = [each.outcome for each in outcomes if not isinstance(each, BaseException)]
    assert [each for each in outcomes if isinstance(each, BaseException)] == [JustRenewed()] * 19
    assert await is_known(reader, winner.access_token)
    assert not await is_known(reader, session.access_token)
    assert await alerts_of(superuser, session) == 0
    spent = "SELECT count(*) FROM authority.spent_token WHERE session_id = $1"
    assert await superuser.fetchval(spent, session.session.uuid) == 1
    # Whoever comes with it later is no page that was slow.
    await a_moment_later(superuser, session)
    assert await rotated(database, session.refresh_token) == [InvalidSession()]
    assert not await is_known(reader, winner.access_token)
    assert await alerts_of(superuser, session) == 1


async def test_twenty_sessions_that_are_refreshed_at_once_hurt_each_other_not(
    batcher: Batcher, database: Database, reader: AuthorityReader
):
    sessions = [await opened(database) for _ in range(20)]
    answers = await asyncio.gather(
        *(batcher.submit(ROTATE, PEOPLE, Refresh(Caller(), each.refresh_token)) for each in sessions)
    )
    assert [each.outcome.session for each in answers] == [each.session for each in sessions]
    assert all([await is_known(reader, each.outcome.access_token) for each in answers])


async def test_one_whose_row_is_held_waits_alone(database: Database, superuser: asyncpg.Connection):
    held, free = await opened(database), await opened(database)
    batcher = Batcher(database)
    async with superuser.transaction():
        await superuser.execute("SELECT 1 FROM authority.session WHERE id = $1 FOR NO KEY UPDATE", held.session.uuid)
        waiting = asyncio.create_task(batcher.submit(ROTATE, PEOPLE, Refresh(Caller(), held.refresh_token)))
        quick = await batcher.submit(ROTATE, PEOPLE, Refresh(Caller(), free.refresh_token))
        assert quick.outcome.session == free.session
        assert not waiting.done()
    assert (await waiting).outcome.session == held.session


async def test_in_one_batch_a_theft_ends_its_own_session_only(
    database: Database, reader: AuthorityReader, superuser: asyncpg.Connection
):
    stolen, honest = await opened(database), await opened(database)
    [current] = await rotated(database, stolen.refresh_token)
    await a_moment_later(superuser, stolen)
    strange = "refresh_0_" + "0" * 40
    outcomes = await rotated(database, current.refresh_token, stolen.refresh_token, honest.refresh_token, strange)
    assert [type(each).__name__ for each in outcomes] == ["Opened", "InvalidSession", "Opened", "InvalidSession"]
    assert not await is_known(reader, outcomes[0].access_token)
    assert await is_known(reader, outcomes[2].access_token)
    assert [await alerts_of(superuser, each) for each in (stolen, honest)] == [1, 0]


@pytest.mark.covers("IDN-015")
async def test_what_is_no_refresh_token_rotates_nothing(database: Database, reader: AuthorityReader):
    session = await opened(database)
    tokens = [session.access_token, "", "refresh", session.refresh_token[:-1], session.refresh_token.upper(), "\0", "é"]
    assert await rotated(database, *tokens) == [InvalidSession()] * len(tokens)
    assert await is_known(reader, session.access_token)
    [second] = await rotated(database, session.refresh_token)
    assert isinstance(second, Opened)


async def test_an_access_token_lasts_fifteen_minutes_to_the_instant(database: Database, database_url: str):
    session = await opened(database)
    ask = an_ask(Audience.PERSON, session.access_token)
    ends_at = session.access_expires_at
    assert isinstance(await ask_at(database_url, ends_at - timedelta(microseconds=1), ask), Granted)
    with pytest.raises(Unauthenticated):
        await ask_at(database_url, ends_at, ask)


async def test_a_refresh_token_lasts_thirty_days_and_a_session_ninety_however_often_it_is_refreshed(
    database: Database, database_url: str, superuser: asyncpg.Connection
):
    unused, used = await opened(database), await opened(database)
    assert isinstance(await rotated_at(database_url, unused.refresh_expires_at, unused.refresh_token), InvalidSession)
    opened_at = used.refresh_expires_at - REFRESH_LASTS
    current: Any = used
    for days in (29, 58, 87):
        current = await rotated_at(database_url, opened_at + timedelta(days=days), current.refresh_token)
        assert isinstance(current, Opened)
    lasts_until = opened_at + SESSION_LASTS
    assert current.refresh_expires_at == lasts_until
    late = await rotated_at(database_url, lasts_until - timedelta(minutes=1), current.refresh_token)
    assert isinstance(late, Opened)
    assert late.access_expires_at == late.refresh_expires_at == lasts_until < lasts_until + ACCESS_LASTS
    assert isinstance(await rotated_at(database_url, lasts_until, late.refresh_token), InvalidSession)
    assert await alerts_of(superuser, used) == 0, "to come late is no theft"


@pytest.mark.covers("IDN-015")
async def test_who_signs_out_is_out_at_once_and_stays_out(database: Database, reader: AuthorityReader):
    session = await opened(database)
    other = await opened(database, session.identity)

    async def sign_out(tx: PeopleTx) -> int:
        return await authority.end_sessions(tx, [session.session.uuid], EndReason.LOGOUT)

    assert await database.run(PEOPLE, sign_out) == 1
    assert not await is_known(reader, session.access_token)
    assert await rotated(database, session.refresh_token) == [InvalidSession()]
    assert await database.run(PEOPLE, sign_out) == 0
    assert await is_known(reader, other.access_token)


@pytest.mark.covers("IDN-015")
async def test_a_new_password_ends_every_other_session(
    database: Database, reader: AuthorityReader, superuser: asyncpg.Connection
):
    kept = await opened(database)
    ended = [await opened(database, kept.identity) for _ in range(3)]
    stranger = await opened(database)

    async def change(tx: PeopleTx) -> int:
        people = [kept.identity.uuid]
        return await authority.end_sessions_of(tx, people, EndReason.PASSWORD_CHANGED, but=kept.session.uuid)

    assert await database.run(PEOPLE, change) == 3
    assert [await is_known(reader, each.access_token) for each in ended] == [False] * 3
    assert await rotated(database, *(each.refresh_token for each in ended)) == [InvalidSession()] * 3
    assert await is_known(reader, kept.access_token) and await is_known(reader, stranger.access_token)
    assert {(await row_of(superuser, each))["end_reason"] for each in ended} == {"PASSWORD_CHANGED"}

    async def end_all(tx: PeopleTx) -> int:
        return await authority.end_sessions_of(tx, [kept.identity.uuid], EndReason.SUSPENDED)

    assert await database.run(PEOPLE, end_all) == 1
    assert not await is_known(reader, kept.access_token)
    assert (await row_of(superuser, ended[0]))["end_reason"] == "PASSWORD_CHANGED", "what ended is not changed back"


async def test_a_proof_is_fresh_for_ten_minutes_and_a_rotation_is_none(database: Database, database_url: str):
    session = await opened(database)
    opened_at = session.access_expires_at - ACCESS_LASTS
    stale = opened_at + timedelta(minutes=10)

    def ask(token: str) -> Any:
        return an_ask(Audience.PERSON, token, step_up=True)

    assert isinstance(await ask_at(database_url, stale - timedelta(microseconds=1), ask(session.access_token)), Granted)
    with pytest.raises(StepUpRequired):
        await ask_at(database_url, stale, ask(session.access_token))
    rotated_session = await rotated_at(database_url, stale, session.refresh_token)
    assert isinstance(rotated_session, Opened)
    with pytest.raises(StepUpRequired):
        await ask_at(database_url, stale, ask(rotated_session.access_token))
    async with Database(database_url, clock=StandingClock(instant=stale)) as then:
        await then.run(PEOPLE, lambda tx: authority.step_up(tx, [session.session.uuid]))
    assert isinstance(await ask_at(database_url, stale, ask(rotated_session.access_token)), Granted)
