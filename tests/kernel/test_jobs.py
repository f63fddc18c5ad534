"""Jobs run once, are retried as their kind says, and die with their story."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from admitone.kernel.db import Database, Tx
from admitone.kernel.jobs import Job, cancel, enqueue
from admitone.kernel.scope import Caller
from tests.builders import an_increment, an_organization, rows_of
from tests.jobs import a_job, a_worker, dead, heard, until_idle
from tests.toy import commands
from tests.toy.handlers import Act, Deed, perform, run_errand


@pytest.mark.covers("PLT-006", "PLT-007")
async def test_a_fact_is_told_to_its_subscriber_once(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    increments = [an_increment(amount=each) for each in (1, 2, 3)]
    await database.run(scope, lambda tx: commands.increment(tx, increments))
    async with a_worker(database):
        await until_idle(superuser, scope)
    told = await superuser.fetch("SELECT id FROM kernel.event_log WHERE organization_id = $1", scope.organization.uuid)
    assert await heard(database, scope) == sorted(f"toy.hear:{row['id']}" for row in told)
    assert await rows_of(database, scope, "kernel.inbox") == 3


@pytest.mark.covers("PLT-020", "FUN-048")
async def test_a_key_that_was_taken_means_success_also_after_the_job_ended(
    database: Database, superuser: asyncpg.Connection
):
    scope = await an_organization(database)
    assert await a_job(database, scope, "a", "b", "a") == 2
    assert await a_job(database, scope, "a") == 0
    async with a_worker(database):
        await until_idle(superuser, scope)
        assert await a_job(database, scope, "a", "c") == 1
        await until_idle(superuser, scope)
    assert await heard(database, scope) == ["a", "b", "c"]


async def test_jobs_of_one_organisation_share_a_transaction(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    await a_job(database, scope, *(f"{n:03}" for n in range(100)))
    async with a_worker(database):
        await until_idle(superuser, scope)
    transactions = await superuser.fetchval(
        "SELECT count(DISTINCT xmin::text) FROM toy.heard WHERE organization_id = $1", scope.organization.uuid
    )
    assert transactions == 1


@pytest.mark.covers("PLT-020", "FUN-041")
async def test_a_job_that_fails_is_tried_as_often_as_its_kind_says_and_then_buried(
    database: Database, superuser: asyncpg.Connection
):
    scope = await an_organization(database)
    await a_job(database, scope, "bad", act=Act.FAIL)
    async with a_worker(database):
        await until_idle(superuser, scope)
    [letter] = await dead(superuser, scope)
    assert (letter["reason"], letter["attempts"], letter["key"]) == ("RETRIES_EXHAUSTED", 3, "bad")
    assert "deed 0 fails" in letter["error"] and "somebody@" not in letter["error"]
    attempts = await superuser.fetch(
        "SELECT number, error FROM kernel.job_attempt WHERE organization_id = $1 ORDER BY number",
        scope.organization.uuid,
    )
    assert [row["number"] for row in attempts] == [1, 2, 3]
    assert await heard(database, scope) == []


@pytest.mark.covers("FUN-040")
@pytest.mark.parametrize("kind", [perform, run_errand])
async def test_what_can_never_succeed_is_buried_at_once(database: Database, superuser: asyncpg.Connection, kind):
    scope = await an_organization(database)
    await a_job(database, scope, "refused", act=Act.REFUSE, kind=kind)
    await superuser.execute(
        "INSERT INTO kernel.job (id, organization_id, kind, lane, priority, run_at, key, payload, causation_id,"
        " correlation_id, created_at) SELECT gen_random_uuid(), organization_id, kind, lane, priority, run_at, 'unread',"
        ' \'{"act": "dance"}\', causation_id, correlation_id, created_at FROM kernel.job WHERE organization_id = $1',
        scope.organization.uuid,
    )
    async with a_worker(database):
        await until_idle(superuser, scope)
    letters = await dead(superuser, scope)
    assert [(letter["key"], letter["reason"], letter["attempts"]) for letter in letters] == [
        ("refused", "NOT_RETRYABLE", 1),
        ("unread", "NOT_RETRYABLE", 1),
    ]


async def test_one_bad_job_of_a_group_takes_nothing_from_the_others(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    good = [f"good {n:02}" for n in range(20)]
    await a_job(database, scope, *good)
    await a_job(database, scope, "bad", act=Act.FAIL)
    async with a_worker(database):
        await until_idle(superuser, scope)
    assert await heard(database, scope) == good
    assert [letter["key"] for letter in await dead(superuser, scope)] == ["bad"]


async def test_an_errand_ends_with_what_it_returned(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    await a_job(database, scope, "out", kind=run_errand)
    async with a_worker(database):
        await until_idle(superuser, scope)
    assert await heard(database, scope) == ["out"]
    assert await rows_of(database, scope, "kernel.inbox") == 1


async def test_a_job_waits_for_its_instant(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    later = datetime.now(UTC) + timedelta(hours=1)
    await a_job(database, scope, "later", run_at=later)
    await a_job(database, scope, "now")
    async with a_worker(database):
        await until_idle(superuser, scope)
        assert await heard(database, scope) == ["now"]
        await superuser.execute(
            "UPDATE kernel.job SET run_at = now() WHERE organization_id = $1", scope.organization.uuid
        )
        await until_idle(superuser, scope)
    assert await heard(database, scope) == ["later", "now"]


async def test_what_nobody_has_begun_can_be_cancelled(database: Database, superuser: asyncpg.Connection):
    scope, other = await an_organization(database), await an_organization(database)
    later = datetime.now(UTC) + timedelta(hours=1)
    for whose in (scope, other):
        await a_job(database, whose, "a", "b", run_at=later)
    assert await database.run(scope, lambda tx: cancel(tx, perform, ["a", "nothing"])) == {"a"}
    left = await superuser.fetch(
        "SELECT key FROM kernel.job WHERE organization_id = ANY($1::uuid[]) ORDER BY key",
        [scope.organization.uuid, other.organization.uuid],
    )
    assert [row["key"] for row in left] == ["a", "b", "b"]
    assert await a_job(database, scope, "a") == 0, "the key stays taken"


async def test_a_job_exists_only_if_its_transaction_commits(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)

    async def work(tx: Tx) -> None:
        await enqueue(tx, [Job.of(perform, Deed(Act.WORK), Caller(), key="never")])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.run(scope, work)
    assert await a_job(database, scope, "never") == 1


@pytest.mark.covers("PLT-025", "TEN-T04", "CITY-037")
async def test_a_handler_sees_one_organisation(database: Database, superuser: asyncpg.Connection):
    scopes = [await an_organization(database) for _ in range(3)]
    for scope in scopes:
        await a_job(database, scope, "a", "b")
    async with a_worker(database):
        for scope in scopes:
            await until_idle(superuser, scope)
    for scope in scopes:
        assert await heard(database, scope) == ["a", "b"]


async def test_what_a_worker_has_not_begun_it_gives_back(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    async with a_worker(database) as worker:
        await a_job(database, scope, *map(str, range(50)))
    left = await superuser.fetch(
        "SELECT worker, crashes FROM kernel.job WHERE organization_id = $1", scope.organization.uuid
    )
    assert {(row["worker"], row["crashes"]) for row in left} <= {(None, 0)}
    assert len(left) + len(await heard(database, scope)) == 50
    assert not await superuser.fetchval("SELECT count(*) FROM kernel.worker WHERE id = $1", worker.id)
    async with a_worker(database):
        await until_idle(superuser, scope)
    assert len(await heard(database, scope)) == 50
