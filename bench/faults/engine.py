"""The invariants of the engine, which hold for every package: facts, jobs, leases, dead letters, tenants, answers."""

import random
from uuid import UUID

import asyncpg
import httpx

from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from bench.faults.invariants import Evidence, Invariant, invariant
from bench.faults.journal import Outcome

REPEATED = 20
"""How many acknowledged requests are asked for again; the unknown ones all are."""
FRESH = 20
"""How many new requests must be answered when all has settled."""

# -- Delivery


@invariant("every fact has an outbox row, and it is published (13)")
async def facts_are_published(evidence: Evidence) -> list[str]:
    return await evidence.each(
        "fact {id} ({type}): {wrong}",
        """
        SELECT e.id, e.type, CASE WHEN o.event_id IS NULL THEN 'no outbox row' ELSE 'not published' END AS wrong
          FROM kernel.event_log AS e
          LEFT JOIN kernel.outbox AS o ON o.organization_id = e.organization_id AND o.event_id = e.id
         WHERE o.published_at IS NULL
        """,
    )


@invariant("no job is left, none is held (14)")
async def no_job_is_left(evidence: Evidence) -> list[str]:
    return await evidence.each(
        "{kind} {key}: worker {worker} ({lease}), crashes {crashes}, attempts {attempts}",
        """
        SELECT j.kind, j.key, j.worker, j.crashes, j.attempts,
               CASE WHEN w.id IS NULL THEN 'no such worker' ELSE 'which is on the list' END AS lease
          FROM kernel.job AS j
          LEFT JOIN kernel.worker AS w ON w.id = j.worker
        """,
    )


@invariant("every job that was enqueued had its effect noted once, or is a dead letter (12)")
async def every_job_ended(evidence: Evidence) -> list[str]:
    return await evidence.each(
        "{key}: {done} times in the inbox, {dead} dead letters, {left} left",
        """
        WITH ends AS (
            SELECT organization_id, key, 1 AS done, 0 AS dead, 0 AS "left" FROM kernel.inbox
             UNION ALL
            SELECT organization_id, key, 0, 1, 0 FROM kernel.dead_letter WHERE replayed_at IS NULL
             UNION ALL
            SELECT organization_id, key, 0, 0, 1 FROM kernel.job
        )
        SELECT key, COALESCE(sum(done), 0) AS done, COALESCE(sum(dead), 0) AS dead, COALESCE(sum("left"), 0) AS "left"
          FROM kernel.job_key
          LEFT JOIN ends USING (organization_id, key)
         GROUP BY organization_id, key
        HAVING COALESCE(sum(done + dead + "left"), 0) <> 1
        """,
    )


@invariant("nothing had an effect that nobody enqueued (12)")
async def nothing_unasked(evidence: Evidence) -> list[str]:
    return await evidence.each(
        "{key} is in the inbox and was never enqueued",
        """
        SELECT i.key FROM kernel.inbox AS i
         WHERE NOT EXISTS (SELECT FROM kernel.job_key AS k
                            WHERE k.organization_id = i.organization_id AND k.key = i.key)
        """,
    )


@invariant("dead letters are the poison, and nothing else (13)")
async def only_poison_died(evidence: Evidence) -> list[str]:
    rows = await evidence.books.fetch("SELECT key, reason, crashes, attempts, error FROM kernel.dead_letter")
    dead = {row["key"]: row["reason"] for row in rows}
    innocent = [f"{dict(row)}" for row in rows if row["key"] not in evidence.poison]
    survived = [f"{key} should have died of {reason}" for key, reason in evidence.poison.items() if key not in dead]
    mistaken = [
        f"{key} died of {dead[key]}, not of {reason}"
        for key, reason in evidence.poison.items()
        if key in dead and dead[key] != reason
    ]
    return innocent + survived + mistaken


# -- Answers


@invariant("every answer is one that the contract allows")
async def answers_are_allowed(evidence: Evidence) -> list[str]:
    return [
        f"{key}: {told.status} {str(told.answer)[:300]}"
        for key, story in evidence.stories().items()
        for told in story.told
        if told.outcome is Outcome.WRONG
    ]


@invariant("the same key answers the same (11)")
async def same_key_same_answer(evidence: Evidence) -> list[str]:
    """Asks again for what is unknown and for some of what was done, twice each; later invariants see the outcome."""
    crowd = evidence.crowd
    assert crowd is not None
    stories = list(evidence.stories().values())
    unknown = [story for story in stories if story.outcome in (Outcome.UNKNOWN, Outcome.WRONG)]
    done = [story for story in stories if story.outcome is Outcome.OK]
    asked = [*unknown, *random.Random(1).sample(done, min(REPEATED, len(done)))]
    async with httpx.AsyncClient(timeout=20) as http:
        for story in asked:
            for _ in range(2):
                await crowd.send(http, story.request)
    after = evidence.stories()
    different = [
        f"{story.request.key}: {story.answers[:3]}"
        for story in after.values()
        if any(answer != story.answers[0] for answer in story.answers)
    ]
    unsettled = [
        f"{story.request.key}: {[told.outcome for told in after[story.request.key].told[-2:]]} when asked again"
        for story in asked
        if {told.outcome for told in after[story.request.key].told[-2:]} not in ({Outcome.OK}, {Outcome.FAILED})
    ]
    return different + unsettled


@invariant("new requests are answered without an error (20)")
async def alive_again(evidence: Evidence) -> list[str]:
    crowd = evidence.crowd
    assert crowd is not None
    chance, before = random.Random(2), len(evidence.stories())
    async with httpx.AsyncClient(timeout=20) as http:
        fresh = [crowd.load.request(10**6 + before + number, chance) for number in range(FRESH)]
        told = [await crowd.send(http, request) for request in fresh]
    return [f"{each.outcome} {each.status} {each.answer}" for each in told if each.status not in (200, 409)]


# -- Isolation

TENANT_TABLES = """
    SELECT c.oid::regclass::text AS name
      FROM pg_policy AS p
      JOIN pg_class AS c ON c.oid = p.polrelid
     WHERE p.polname = 'app_own'
       AND p.polcmd IN ('r', '*')
       AND has_table_privilege('admitone_app', c.oid, 'SELECT')
       AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'organization_id')
     ORDER BY 1
"""


@invariant("a tenant sees its own rows and no others, and nobody sees none (15)")
async def tenants_see_their_own(evidence: Evidence) -> list[str]:
    tables = [row["name"] for row in await evidence.books.fetch(TENANT_TABLES)]
    tenants = [row["id"] for row in await evidence.books.fetch("SELECT id FROM kernel.tenant")]
    wrong = []
    async with Database(evidence.world.url()) as database:
        for table in tables:
            rows = await evidence.books.fetch(f"SELECT organization_id, count(*) FROM {table} GROUP BY organization_id")
            true = {row["organization_id"]: row["count"] for row in rows}
            seen = {tenant: await _seen(database, table, tenant) for tenant in tenants}
            wrong += [
                f"{table} of {t}: sees {seen[t]} of {true.get(t, 0)}" for t in tenants if seen[t] != true.get(t, 0)
            ]
    return wrong + await _seen_by_nobody(evidence, tables)


async def _seen(database: Database, table: str, tenant: UUID) -> int:
    async def query(tx: Tx) -> int:
        [row] = await tx.fetch(f"SELECT count(*) FROM {table} WHERE $1::uuid IS NOT NULL")
        count: int = row["count"]
        return count

    return await database.read(Scope(OrganizationId(tenant), "examine"), query)


async def _seen_by_nobody(evidence: Evidence, tables: list[str]) -> list[str]:
    nobody = await asyncpg.connect(evidence.world.url(), server_settings={"role": "admitone_app"})
    try:
        counts = {table: await nobody.fetchval(f"SELECT count(*) FROM {table}") for table in tables}
    finally:
        await nobody.close()
    return [f"{table}: {count} rows without a tenant" for table, count in counts.items() if count]


JOBS: tuple[Invariant, ...] = (
    no_job_is_left,
    every_job_ended,
    nothing_unasked,
    only_poison_died,
    facts_are_published,
    tenants_see_their_own,
)
ANSWERS: tuple[Invariant, ...] = (answers_are_allowed, same_key_same_answer, alive_again)
