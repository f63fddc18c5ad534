"""Only the platform's own organisation hands jobs on to others, and it may do nothing else with them."""

from dataclasses import replace

import asyncpg
import pytest

from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId, uuid7
from admitone.kernel.jobs import Job, enqueue, hand_on
from admitone.kernel.jobs.handing_on import HAND_ON_KEYS, HandedOnBefore
from admitone.kernel.scope import Caller, Scope
from tests.builders import an_organization
from tests.toy.handlers import Act, Deed, perform

PLATFORM = Scope(PLATFORM_ORGANIZATION, "test")


def a_job_for(organization: OrganizationId, key: str) -> Job:
    job = Job.of(perform, Deed(Act.WORK, 1), Caller(), key=key)
    return replace(job, organization_id=organization.uuid)


async def jobs_of(superuser: asyncpg.Connection, organization: OrganizationId) -> list[str]:
    rows = await superuser.fetch(
        "SELECT key FROM kernel.job WHERE organization_id = $1 ORDER BY key", organization.uuid
    )
    return [row["key"] for row in rows]


async def test_jobs_are_handed_on_to_whom_they_name_once(database: Database, superuser: asyncpg.Connection):
    one, other = OrganizationId.new(), OrganizationId.new()
    jobs = [a_job_for(one, "a"), a_job_for(one, "b"), a_job_for(other, "a")]
    assert await database.run(PLATFORM, lambda tx: hand_on(tx, jobs)) == 3
    assert (await jobs_of(superuser, one), await jobs_of(superuser, other)) == (["a", "b"], ["a"])
    assert await database.run(PLATFORM, lambda tx: hand_on(tx, [a_job_for(one, "a")])) == 0
    assert await jobs_of(superuser, one) == ["a", "b"]


async def test_of_many_of_which_one_was_handed_on_before_none_is(database: Database, superuser: asyncpg.Connection):
    one = OrganizationId.new()
    await database.run(PLATFORM, lambda tx: hand_on(tx, [a_job_for(one, "a")]))
    with pytest.raises(HandedOnBefore):
        await database.run(PLATFORM, lambda tx: hand_on(tx, [a_job_for(one, "a"), a_job_for(one, "b")]))
    assert await jobs_of(superuser, one) == ["a"]
    assert await database.run(PLATFORM, lambda tx: hand_on(tx, [a_job_for(one, "b")])) == 1


async def test_another_organisation_cannot(database: Database, superuser: asyncpg.Connection):
    attacker, victim = await an_organization(database), OrganizationId.new()
    with pytest.raises(TypeError, match="only the platform"):
        await database.run(attacker, lambda tx: hand_on(tx, [a_job_for(victim, "a")]))
    assert await jobs_of(superuser, victim) == []


JOB = "(organization_id, id, kind, lane, priority, run_at, key, payload, causation_id, correlation_id, created_at)"
VALUES = "($2, gen_random_uuid(), 'toy.perform', 'work', 1, now(), 'x', '{}', $1, $1, now())"
ATTACKS = {
    "a job": f"INSERT INTO kernel.job {JOB} VALUES {VALUES}",
    "a key": "INSERT INTO kernel.job_key (organization_id, key, created_at) SELECT $2, 'x', now() WHERE $1::uuid IS NOT NULL",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
async def test_another_organisation_cannot_by_sql_either(database: Database, attack: str):
    attacker, victim = await an_organization(database), OrganizationId.new()
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(attacker, lambda tx: tx.execute(attack, victim.uuid))


async def test_the_engines_own_statements_add_nothing_in_another_scope(database: Database):
    attacker, victim = await an_organization(database), OrganizationId.new()
    keys = [[victim.uuid], ["a"]]
    assert await database.run(attacker, lambda tx: tx.execute(HAND_ON_KEYS, *keys, tx.now)) == 0


READS = {
    "see a job": "SELECT count(*) FROM kernel.job WHERE organization_id = $2 AND $1::uuid IS NOT NULL",
    "see a key": "SELECT count(*) FROM kernel.job_key WHERE organization_id = $2 AND $1::uuid IS NOT NULL",
    "take one away": "WITH gone AS (DELETE FROM kernel.job WHERE organization_id = $2 AND $1::uuid IS NOT NULL RETURNING 1)"
    " SELECT count(*) FROM gone",
}  # fmt: skip


@pytest.mark.parametrize("attempt", READS.values(), ids=READS)
async def test_the_platform_sees_nothing_of_what_it_handed_on(database: Database, attempt: str):
    whose = await an_organization(database)
    await database.run(whose, lambda tx: enqueue(tx, [a_job_for(whose.organization, f"own {uuid7()}")]))
    await database.run(PLATFORM, lambda tx: hand_on(tx, [a_job_for(whose.organization, "a")]))

    async def look(tx: Tx) -> int:
        [row] = await tx.fetch(attempt, whose.organization.uuid)
        return row["count"]

    assert await database.run(PLATFORM, look) == 0
