"""The statements of the engine.

The relay's role works across organisations; handlers end their jobs in their own organisation's transaction.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any
from uuid import UUID

from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.jobs.model import Claimed, Job
from admitone.kernel.statements import Insert, columns

# -- Enqueueing

_JOB = (
    *("id", "kind", "lane", "priority", "run_at", "key", "payload"),
    *("event_id", "actor_id", "causation_id", "correlation_id", "created_at"),
)

TAKE_KEYS = Insert(
    "kernel.job_key", {"key": "text", "created_at": "timestamptz"}, on_conflict="DO NOTHING", returning="key"
)
INSERT_JOBS = """
    INSERT INTO kernel.job (organization_id, id, kind, lane, priority, run_at, key, payload, event_id, actor_id,
                            causation_id, correlation_id, created_at)
    SELECT $1, v.id, v.kind, v.lane, v.priority, v.run_at, v.key, v.payload::jsonb, v.event_id, v.actor_id,
           v.causation_id, v.correlation_id, v.created_at
      FROM unnest($2::uuid[], $3::text[], $4::text[], $5::smallint[], $6::timestamptz[], $7::text[], $8::text[],
                  $9::uuid[], $10::uuid[], $11::uuid[], $12::uuid[], $13::timestamptz[])
        AS v(id, kind, lane, priority, run_at, key, payload, event_id, actor_id, causation_id, correlation_id,
             created_at)
"""
CANCEL = """
    DELETE FROM kernel.job
     WHERE organization_id = $1
       AND lane = $2
       AND priority = $3
       AND key = ANY($4::text[])
       AND worker IS NULL
       AND crashes < 1
    RETURNING key
"""

RELAY_TAKE_KEYS = Insert(
    "kernel.job_key",
    {"organization_id": "uuid", "key": "text", "created_at": "timestamptz"},
    tenant=False,
    on_conflict="DO NOTHING",
    returning="organization_id, key",
)
RELAY_INSERT_JOBS = """
    INSERT INTO kernel.job (organization_id, id, kind, lane, priority, run_at, key, payload, event_id, actor_id,
                            causation_id, correlation_id, created_at)
    SELECT v.organization_id, v.id, v.kind, v.lane, v.priority, v.run_at, v.key, v.payload::jsonb, v.event_id,
           v.actor_id, v.causation_id, v.correlation_id, v.created_at
      FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::smallint[], $6::timestamptz[], $7::text[],
                  $8::text[], $9::uuid[], $10::uuid[], $11::uuid[], $12::uuid[], $13::timestamptz[])
        AS v(organization_id, id, kind, lane, priority, run_at, key, payload, event_id, actor_id, causation_id,
             correlation_id, created_at)
"""


async def take_keys(tx: Tx, jobs: Sequence[Job]) -> set[tuple[UUID, str]]:
    """Which of the keys nobody had taken."""
    rows = await tx.insert_many(TAKE_KEYS, _ordered(jobs))
    return {(tx.scope.organization.uuid, row["key"]) for row in rows}


async def take_keys_of_many(tx: PlatformTx, jobs: Sequence[Job]) -> set[tuple[UUID, str]]:
    rows = await tx.insert_many(RELAY_TAKE_KEYS, _ordered(jobs))
    return {(row["organization_id"], row["key"]) for row in rows}


def _ordered(jobs: Sequence[Job]) -> list[Job]:
    """So that two who enqueue the same cannot deadlock."""
    return sorted(jobs, key=attrgetter("organization_id", "key"))


async def insert_jobs(tx: Tx, jobs: Sequence[Job]) -> None:
    await tx.execute_exactly(len(jobs), INSERT_JOBS, *columns(jobs, *_JOB))


async def insert_jobs_of_many(tx: PlatformTx, jobs: Sequence[Job]) -> None:
    await tx.execute_exactly(len(jobs), RELAY_INSERT_JOBS, *columns(jobs, "organization_id", *_JOB))


async def cancel(tx: Tx, lane: str, priority: int, keys: Sequence[str]) -> set[str]:
    return {row["key"] for row in await tx.fetch(CANCEL, lane, priority, list(keys))}


# -- The relay

# Plans are made once and live as long as a session does, also those that were made while a table was empty: so each of
# these says by itself how rows are found. OFFSET 0 keeps the look into the log a look-up for each row; a row that we
# have locked keeps its ctid; an array is looked up, where a join might read everything.
CLAIM_OUTBOX = """
    SELECT o.ctid AS place, o.organization_id, o.event_id, o.attempts, e.type, e.payload, e.actor_id, e.correlation_id
      FROM kernel.outbox AS o
      LEFT JOIN LATERAL (SELECT l.type, l.payload::text AS payload, l.actor_id, l.correlation_id
                           FROM kernel.event_log AS l
                          WHERE l.organization_id = o.organization_id
                            AND l.id = o.event_id
                         OFFSET 0) AS e ON true
     WHERE o.published_at IS NULL
       AND o.next_attempt_at <= $1
     ORDER BY o.next_attempt_at
     LIMIT $2
       FOR NO KEY UPDATE OF o SKIP LOCKED
"""
MARK_PUBLISHED = """
    UPDATE kernel.outbox
       SET published_at = $2, attempts = attempts + 1
     WHERE ctid = ANY($1::tid[])
       AND published_at IS NULL
"""
PUT_OFF = """
    UPDATE kernel.outbox
       SET attempts = attempts + 1, next_attempt_at = $2
     WHERE ctid = ANY($1::tid[])
       AND published_at IS NULL
"""
LIST_FACTS_TO_REPLAY = """
    SELECT e.organization_id, e.id AS event_id, e.type, e.payload::text AS payload, e.actor_id, e.correlation_id
      FROM kernel.event_log AS e
     WHERE e.organization_id = $1
       AND e.id > $2
       AND e.id < $3
       AND e.type = $4
     ORDER BY e.id
     LIMIT $5
"""


HAS_DUE_FACTS = """
    SELECT EXISTS (SELECT FROM kernel.outbox WHERE published_at IS NULL AND next_attempt_at <= $1) AS due
"""


async def has_due_facts(tx: PlatformTx) -> bool:
    row = await tx.find(HAS_DUE_FACTS, tx.now)
    return row is not None and bool(row["due"])


async def claim_outbox(tx: PlatformTx, most: int) -> list[Record]:
    return await tx.fetch(CLAIM_OUTBOX, tx.now, most)


async def mark_published(tx: PlatformTx, rows: Sequence[Record]) -> None:
    await tx.execute_exactly(len(rows), MARK_PUBLISHED, [row["place"] for row in rows], tx.now)


async def put_off(tx: PlatformTx, rows: Sequence[Record], until: datetime) -> None:
    await tx.execute_exactly(len(rows), PUT_OFF, [row["place"] for row in rows], until)


async def list_facts_to_replay(tx: Tx, after: UUID, until: UUID, fact: str, most: int) -> list[Record]:
    return await tx.fetch(LIST_FACTS_TO_REPLAY, after, until, fact, most)


# -- Claiming

LIST_DUE_LANES = """
    SELECT v.lane
      FROM unnest($1::text[], $2::smallint[], $3::timestamptz[]) AS v(lane, priority, since)
     WHERE EXISTS (SELECT 1
                     FROM kernel.job AS j
                    WHERE j.lane = v.lane
                      AND j.priority = v.priority
                      AND j.run_at BETWEEN v.since AND $4
                      AND j.worker IS NULL
                      AND j.crashes = 0)
     LIMIT 1000
"""
LIST_SUSPECT_LANES = """
    SELECT v.lane
      FROM unnest($1::text[]) AS v(lane)
     WHERE EXISTS (SELECT 1
                     FROM kernel.job AS j
                    WHERE j.lane = v.lane
                      AND j.run_at <= $2
                      AND j.worker IS NULL
                      AND j.crashes > 0)
     LIMIT 1000
"""
# The oldest jobs say which organisations are served; others of the same organisations go with them, because jobs of
# one organisation share a transaction. `crashes = 0` means one index and `crashes < 1` the other. What was claimed and
# ended lies dead at the head of the index until it is vacuumed, or for as long as somebody holds a snapshot:
# `run_at >= $8` steps over it (see `worker`).
CLAIM = """
    UPDATE kernel.job AS j
       SET worker = $1
     WHERE j.id = ANY(ARRAY(
            SELECT mine.id
              FROM (
                    SELECT head.organization_id
                      FROM (SELECT organization_id, run_at
                              FROM kernel.job
                             WHERE lane = $2 AND priority = $3 AND run_at BETWEEN $8 AND $4
                               AND worker IS NULL AND crashes = 0 AND kind = ANY($5::text[])
                             ORDER BY run_at
                             LIMIT $6) AS head
                     GROUP BY head.organization_id
                     ORDER BY min(head.run_at)
                   ) AS whose
             CROSS JOIN LATERAL (
                    SELECT id
                      FROM kernel.job
                     WHERE organization_id = whose.organization_id
                       AND lane = $2 AND priority = $3 AND run_at BETWEEN $8 AND $4
                       AND worker IS NULL AND crashes < 1 AND kind = ANY($5::text[])
                     ORDER BY run_at
                     LIMIT ($7 + 1) / 2
                       FOR NO KEY UPDATE SKIP LOCKED
                   ) AS mine
             LIMIT $7))
    RETURNING j.id, j.organization_id, j.kind, j.attempts, j.crashes, j.key, j.payload::text AS payload, j.event_id,
              j.actor_id, j.causation_id, j.correlation_id, j.run_at, j.created_at, j.worker
"""
# Those that lost fewest workers first: where workers are killed from outside, it is not always the same job that is
# found in their hands; and one that kills them comes after all that do not.
CLAIM_SUSPECT = """
    UPDATE kernel.job AS j
       SET worker = $1
     WHERE j.id = ANY(ARRAY(
            SELECT id
              FROM kernel.job
             WHERE lane = $2 AND run_at <= $3 AND worker IS NULL AND crashes > 0 AND kind = ANY($4::text[])
             ORDER BY crashes, priority, run_at
             LIMIT 1
               FOR NO KEY UPDATE SKIP LOCKED))
    RETURNING j.id, j.organization_id, j.kind, j.attempts, j.crashes, j.key, j.payload::text AS payload, j.event_id,
              j.actor_id, j.causation_id, j.correlation_id, j.run_at, j.created_at, j.worker
"""
RELEASE_FORGOTTEN = """
    UPDATE kernel.job
       SET worker = NULL, run_at = $4
     WHERE worker = $1
       AND lane = $2
       AND NOT id = ANY($3::uuid[])
"""
RELEASE_ALL = """
    UPDATE kernel.job
       SET worker = NULL
     WHERE worker = $1
"""


async def list_due_lanes(tx: PlatformTx, heads: Sequence[tuple[str, int, datetime]]) -> list[str]:
    """Of lanes, priorities and where their queues begin: those where something waits."""
    lanes, priorities, since = zip(*heads, strict=True) if heads else ((), (), ())
    return [row["lane"] for row in await tx.fetch(LIST_DUE_LANES, lanes, priorities, since, tx.now)]


async def list_suspect_lanes(tx: PlatformTx, lanes: Sequence[str]) -> list[str]:
    """Of these, those where a job waits that a worker was lost with."""
    return [row["lane"] for row in await tx.fetch(LIST_SUSPECT_LANES, lanes, tx.now)]


async def claim(
    tx: PlatformTx, worker: UUID, lane: str, priority: int, kinds: Sequence[str], since: datetime, most: int
) -> list[Claimed]:
    heads = max(1, most // 8)
    rows = await tx.fetch(CLAIM, worker, lane, priority, tx.now, kinds, heads, most, since)
    return [Claimed(**row) for row in rows]


async def claim_suspect(tx: PlatformTx, worker: UUID, lane: str, kinds: Sequence[str]) -> list[Claimed]:
    return [Claimed(**row) for row in await tx.fetch(CLAIM_SUSPECT, worker, lane, tx.now, kinds)]


async def release_forgotten(tx: PlatformTx, worker: UUID, lane: str, known: Sequence[UUID]) -> int:
    """What the worker holds without knowing it; not at once, because something about it may be wrong."""
    return await tx.execute(RELEASE_FORGOTTEN, worker, lane, known, tx.now + timedelta(seconds=2))


async def release_all(tx: PlatformTx, worker: UUID) -> int:
    return await tx.execute(RELEASE_ALL, worker)


# -- Ending a job, in its organisation

# IS NOT DISTINCT FROM, because the fence is to be looked at and not searched by: an index on the worker leads to all
# that it holds and held.
END = """
    WITH ended AS (
        DELETE FROM kernel.job
         WHERE organization_id = $1
           AND id = ANY($2::uuid[])
           AND worker IS NOT DISTINCT FROM $3
        RETURNING key
    )
    INSERT INTO kernel.inbox (organization_id, key, done_at)
    SELECT $1, e.key, $4
      FROM ended AS e
        ON CONFLICT DO NOTHING
"""
FIND_HELD = """
    SELECT id
      FROM kernel.job
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND worker IS NOT DISTINCT FROM $3
"""
FIND_DONE = """
    SELECT key
      FROM kernel.inbox
     WHERE organization_id = $1
       AND key = ANY($2::text[])
"""
DROP_DONE = """
    DELETE FROM kernel.job
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND worker IS NOT DISTINCT FROM $3
"""


async def end(tx: Tx, worker: UUID, jobs: Sequence[Claimed]) -> bool:
    """End the jobs and note their effect; false if one of them was not ours any more, or had its effect before."""
    return await tx.execute(END, [job.id for job in jobs], worker, tx.now) == len(jobs)


async def find_done(tx: Tx, jobs: Sequence[Claimed]) -> set[str]:
    return {row["key"] for row in await tx.fetch(FIND_DONE, [job.key for job in jobs])}


async def drop_done(tx: Tx, worker: UUID, jobs: Sequence[Claimed]) -> None:
    if jobs:
        await tx.execute(DROP_DONE, [job.id for job in jobs], worker)


async def find_held(tx: Tx, worker: UUID, jobs: Sequence[Claimed]) -> set[UUID]:
    return {row["id"] for row in await tx.fetch(FIND_HELD, [job.id for job in jobs], worker)}


# -- Failures

# The worker is the fence, and what it saw: it may hold the same job again, after a retry that it never heard of.
_SEEN = ("job.attempts", "job.run_at")

RUN_AGAIN = """
    UPDATE kernel.job AS j
       SET worker = NULL, run_at = v.run_at, attempts = j.attempts + v.spent
      FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::smallint[], $5::smallint[], $6::timestamptz[])
        AS v(id, worker, run_at, spent, attempts, due_at)
     WHERE j.id = ANY($1::uuid[])
       AND j.id = v.id
       AND j.worker IS NOT DISTINCT FROM v.worker
       AND j.attempts = v.attempts
       AND j.run_at = v.due_at
    RETURNING j.id
"""
BURY = """
    WITH dead AS (
        DELETE FROM kernel.job AS j
         USING unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::smallint[], $6::smallint[], $7::timestamptz[])
            AS v(id, worker, reason, error, spent, attempts, due_at)
         WHERE j.id = ANY($1::uuid[])
           AND j.id = v.id
           AND j.worker IS NOT DISTINCT FROM v.worker
           AND j.attempts = v.attempts
           AND j.run_at = v.due_at
        RETURNING j.id, j.organization_id, j.kind, j.lane, j.priority, j.attempts + v.spent AS attempts, j.crashes,
                  j.key, j.payload, j.event_id, j.actor_id, j.causation_id, j.correlation_id, j.created_at,
                  v.reason, v.error
    )
    INSERT INTO kernel.dead_letter (id, organization_id, kind, lane, priority, attempts, crashes, key, payload,
                                    event_id, actor_id, causation_id, correlation_id, created_at, died_at, reason,
                                    error)
    SELECT d.id, d.organization_id, d.kind, d.lane, d.priority, d.attempts, d.crashes, d.key, d.payload, d.event_id,
           d.actor_id, d.causation_id, d.correlation_id, d.created_at, $8, d.reason, d.error
      FROM dead AS d
    RETURNING id
"""
RECORD_ATTEMPTS = """
    INSERT INTO kernel.job_attempt (job_id, number, organization_id, key, kind, worker, at, error)
    SELECT v.job_id, v.number, v.organization_id, v.key, v.kind, v.worker, $8, v.error
      FROM unnest($1::uuid[], $2::integer[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::text[])
        AS v(job_id, number, organization_id, key, kind, worker, error)
"""


async def run_again(tx: PlatformTx, rows: Sequence[Any]) -> set[UUID]:
    """Those that were still ours."""
    if not rows:
        return set()
    return {
        row["id"]
        for row in await tx.fetch(RUN_AGAIN, *columns(rows, "job.id", "job.worker", "run_at", "spent", *_SEEN))
    }


async def bury(tx: PlatformTx, rows: Sequence[Any]) -> set[UUID]:
    if not rows:
        return set()
    arrays = columns(rows, "job.id", "job.worker", "reason", "error", "spent", *_SEEN)
    return {row["id"] for row in await tx.fetch(BURY, *arrays, tx.now)}


async def record_attempts(tx: PlatformTx, rows: Sequence[Any]) -> None:
    if rows:
        whose = columns(rows, "job.id", "number", "job.organization_id", "job.key", "job.kind", "job.worker", "error")
        await tx.execute_exactly(len(rows), RECORD_ATTEMPTS, *whose, tx.now)


# -- Schedules

FIND_SCHEDULES = """
    SELECT name, last_at
      FROM kernel.schedule
     WHERE name = ANY($1::text[])
     ORDER BY name
       FOR NO KEY UPDATE SKIP LOCKED
"""
BEGIN_SCHEDULES = """
    INSERT INTO kernel.schedule (name, last_at)
    SELECT v.name, $2
      FROM unnest($1::text[]) AS v(name)
        ON CONFLICT DO NOTHING
"""
ADVANCE_SCHEDULE = """
    UPDATE kernel.schedule
       SET last_at = $2
     WHERE name = $1
"""


async def find_schedules(tx: PlatformTx, names: Sequence[str]) -> dict[str, datetime]:
    """Those that nobody else is looking at right now."""
    return {row["name"]: row["last_at"] for row in await tx.fetch(FIND_SCHEDULES, list(names))}


async def begin_schedules(tx: PlatformTx, names: Sequence[str]) -> None:
    await tx.execute(BEGIN_SCHEDULES, sorted(names), tx.now)


async def advance_schedule(tx: PlatformTx, name: str, to: datetime) -> None:
    await tx.execute_exactly(1, ADVANCE_SCHEDULE, name, to)
