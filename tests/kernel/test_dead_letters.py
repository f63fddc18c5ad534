"""Dead letters tell their story and are replayed once; facts can be told again; a call's timeline is whole."""

import asyncio
from datetime import UTC, datetime, timedelta

import asyncpg
import httpx
import pytest

from admitone.entrypoints.duties import subscriptions_of
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.jobs import dead
from admitone.kernel.jobs.dead import DeadLetterId, DeadLetterNotFound, DeadLetterReplayed, Replay, Replayed
from admitone.kernel.jobs.relay import Retelling, retell
from admitone.kernel.scope import Caller, Scope
from tests.builders import an_increment, an_organization
from tests.conftest import INTERNAL_SECRET
from tests.jobs import a_job, a_worker, heard, until_idle
from tests.jobs import dead as dead_of
from tests.toy import commands
from tests.toy.handlers import Act
from tests.toy.module import MODULE

A_REPLAY = {"ids": ["dead_0198c9a40000700080000000000000aa"], "by": "ana", "reason": "mended"}
SECRET = {"x-orya-internal-secret": INTERNAL_SECRET}


async def a_dead_letter(
    database: Database, superuser: asyncpg.Connection, scope: Scope, key: str = "bad"
) -> DeadLetterId:
    await a_job(database, scope, key, act=Act.REFUSE)
    async with a_worker(database):
        await until_idle(superuser, scope)
    return DeadLetterId(next(row["id"] for row in await dead_of(superuser, scope) if row["key"] == key))


async def mend(superuser: asyncpg.Connection, scope: Scope) -> None:
    """What was wrong with the jobs is put right."""
    await superuser.execute(
        'UPDATE kernel.dead_letter SET payload = \'{"act": "work", "number": 1}\' WHERE organization_id = $1',
        scope.organization.uuid,
    )


def a_replay(letter: DeadLetterId) -> Replay:
    return Replay(Caller(), letter, "ana", "the host is back")


@pytest.mark.covers("PLT-022")
async def test_a_replay_runs_once_and_says_who_and_why(
    database: Database, superuser: asyncpg.Connection, batcher: Batcher
):
    scope = await an_organization(database)
    letter = await a_dead_letter(database, superuser, scope)
    await mend(superuser, scope)

    assert isinstance((await batcher.submit(dead.replay, scope, a_replay(letter))).outcome, Replayed)
    with pytest.raises(DeadLetterReplayed):
        await batcher.submit(dead.replay, scope, a_replay(letter))
    async with a_worker(database):
        await until_idle(superuser, scope)

    assert await heard(database, scope) == ["bad"]
    [row] = await dead_of(superuser, scope)
    assert (row["replayed_by"], row["replay_reason"]) == ("ana", "the host is back")
    entry = await superuser.fetchrow(
        "SELECT action, after::text FROM kernel.audit_entry WHERE organization_id = $1 AND subject = $2",
        scope.organization.uuid,
        str(letter),
    )
    assert entry["action"] == "kernel.replay_dead_letter" and "the host is back" in entry["after"]


async def test_replayed_twice_at_once_it_runs_once(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    letter = await a_dead_letter(database, superuser, scope)
    await mend(superuser, scope)
    batchers = [Batcher(database) for _ in range(8)]

    async def again(batcher: Batcher) -> object:
        try:
            return (await batcher.submit(dead.replay, scope, a_replay(letter))).outcome
        except DeadLetterReplayed as refused:
            return refused

    outcomes = await asyncio.gather(*(again(batcher) for batcher in batchers for _ in range(5)))
    assert sum(isinstance(outcome, Replayed) for outcome in outcomes) == 1
    async with a_worker(database):
        await until_idle(superuser, scope)
    assert await heard(database, scope) == ["bad"]


async def test_what_dies_again_is_another_dead_letter_with_the_same_story(
    database: Database, superuser: asyncpg.Connection, batcher: Batcher
):
    scope = await an_organization(database)
    letter = await a_dead_letter(database, superuser, scope)
    await batcher.submit(dead.replay, scope, a_replay(letter))
    async with a_worker(database):
        await until_idle(superuser, scope)
    letters = await dead_of(superuser, scope)
    assert [row["replayed_at"] is None for row in sorted(letters, key=lambda row: row["died_at"])] == [False, True]
    story = await database.read(dead.SCOPE, dead.tell, letter)
    assert [row["number"] for row in story.attempts] == [1, 1]


@pytest.mark.covers("TEN-T04")
async def test_a_dead_letter_is_not_replayed_from_another_organisation(
    database: Database, superuser: asyncpg.Connection, batcher: Batcher
):
    scope, other = await an_organization(database), await an_organization(database)
    letter = await a_dead_letter(database, superuser, scope)
    with pytest.raises(DeadLetterNotFound):
        await batcher.submit(dead.replay, other, a_replay(letter))


@pytest.mark.covers("PLT-022", "FUN-041")
async def test_operators_list_show_and_replay_over_http(
    database: Database, superuser: asyncpg.Connection, http: httpx.AsyncClient
):
    scope = await an_organization(database)
    letter = await a_dead_letter(database, superuser, scope)
    await mend(superuser, scope)

    whose = {"organization": str(scope.organization)}
    [listed] = (await http.get("/api/internal/outbox/dlq", params=whose, headers=SECRET)).json()["items"]
    assert (listed["id"], listed["reason"], listed["organizationId"]) == (
        str(letter),
        "NOT_RETRYABLE",
        str(scope.organization),
    )
    story = (await http.get(f"/api/internal/outbox/dlq/{letter}", headers=SECRET)).json()
    assert [tried["number"] for tried in story["tried"]] == [1] and story["letter"]["correlationId"]

    asked = {"ids": [str(letter), str(DeadLetterId.new())], "by": "ana", "reason": "mended"}
    answer = (await http.post("/api/internal/outbox/replay", json=asked, headers=SECRET)).json()["outcomes"]
    assert [outcome["errorCode"] for outcome in answer] == [None, "DEAD_LETTER_NOT_FOUND"]
    answer = (await http.post("/api/internal/outbox/replay", json=asked, headers=SECRET)).json()["outcomes"]
    assert [outcome["errorCode"] for outcome in answer] == ["DEAD_LETTER_REPLAYED", "DEAD_LETTER_NOT_FOUND"]


@pytest.mark.covers("PLT-022")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/internal/outbox/dlq"),
        ("GET", "/api/internal/outbox/dlq/dead_0198c9a40000700080000000000000aa"),
        ("POST", "/api/internal/outbox/replay"),
        ("GET", "/api/internal/timeline/0198c9a4-0000-7000-8000-0000000000ae"),
    ],
)
async def test_nobody_gets_in_without_the_secret(http: httpx.AsyncClient, method: str, path: str):
    for headers in ({}, {"x-orya-internal-secret": "a guess"}):
        asked = {"json": A_REPLAY} if method == "POST" else {}
        assert (await http.request(method, path, headers=headers, **asked)).status_code == 403


@pytest.mark.covers("PLT-022")
async def test_the_timeline_of_a_call_tells_everything_it_led_to(
    database: Database, superuser: asyncpg.Connection, http: httpx.AsyncClient
):
    scope = await an_organization(database)
    each = an_increment()
    await database.run(scope, lambda tx: commands.increment(tx, [each]))
    path = f"/api/internal/timeline/{each.caller.correlation_id}"
    [waits] = (await http.get(path, headers=SECRET)).json()["moments"]
    assert waits["what"] == "fact toy.counter_incremented" and "not yet published" in waits["detail"]
    async with a_worker(database):
        await until_idle(superuser, scope)
    moments = (await http.get(path, headers=SECRET)).json()["moments"]
    assert [moment["what"] for moment in moments] == ["fact toy.counter_incremented", "job.done"]


# -- Facts told again


def a_retelling(again: str | None = None) -> Retelling:
    subscription = subscriptions_of([MODULE]).named("toy.hear")
    assert subscription
    hour = timedelta(hours=1)
    return Retelling(subscription, datetime.now(UTC) - hour, datetime.now(UTC) + hour, again)


@pytest.mark.covers("PLT-007")
async def test_facts_told_again_change_nothing_for_who_has_heard_them(
    database: Database, superuser: asyncpg.Connection
):
    scope = await an_organization(database)
    await database.run(scope, lambda tx: commands.increment(tx, [an_increment(), an_increment()]))
    async with a_worker(database):
        await until_idle(superuser, scope)
        told = await heard(database, scope)
        assert len(told) == 2
        assert await database.run(scope, lambda tx: retell(tx, a_retelling(), None)) == (0, None)
        await until_idle(superuser, scope)
    assert await heard(database, scope) == told


async def test_a_subscriber_that_missed_facts_is_told_them(database: Database, superuser: asyncpg.Connection):
    scope, other = await an_organization(database), await an_organization(database)
    for whose in (scope, other):
        await database.run(whose, lambda tx: commands.increment(tx, [an_increment(), an_increment()]))
    # Published before there was a subscriber.
    await superuser.execute(
        "UPDATE kernel.outbox SET published_at = now() WHERE organization_id = ANY($1::uuid[])",
        [scope.organization.uuid, other.organization.uuid],
    )
    assert await database.run(scope, lambda tx: retell(tx, a_retelling(), None)) == (2, None)
    assert await database.run(scope, lambda tx: retell(tx, a_retelling(), None)) == (0, None)
    async with a_worker(database):
        await until_idle(superuser, scope)
    assert len(await heard(database, scope)) == 2
    assert await heard(database, other) == []


async def test_under_a_name_everything_is_told_once_more_and_only_once(
    database: Database, superuser: asyncpg.Connection
):
    scope = await an_organization(database)
    await database.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
    async with a_worker(database):
        await until_idle(superuser, scope)
        for _ in range(2):
            await database.run(scope, lambda tx: retell(tx, a_retelling("rebuild"), None))
        await until_idle(superuser, scope)
    assert len(await heard(database, scope)) == 2


async def test_what_was_done_another_way_is_put_away_with_who_and_why(
    database: Database, superuser: asyncpg.Connection
):
    scope, other = await an_organization(database), await an_organization(database)
    letter = await a_dead_letter(database, superuser, scope)
    away = [Replay(Caller(), letter, "ana", "done by hand")] * 2
    assert await database.run(other, lambda tx: dead.put_away(tx, away[:1])) == [False]
    assert await database.run(scope, lambda tx: dead.put_away(tx, away)) == [True, True]
    assert await database.run(scope, lambda tx: dead.put_away(tx, away[:1])) == [False]
    [refused] = await database.run(scope, lambda tx: dead.replay(tx, away[:1]))
    assert isinstance(refused, DeadLetterReplayed)
    [entry] = await superuser.fetch("SELECT action FROM kernel.audit_entry WHERE subject = $1", str(letter))
    assert entry["action"] == "kernel.put_away_dead_letter"
