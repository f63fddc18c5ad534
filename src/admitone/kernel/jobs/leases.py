"""Workers and their leases: who is at work, and what becomes of the jobs of whoever is not seen any more."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from admitone.kernel.db import PlatformTx
from admitone.kernel.jobs.model import Kind
from admitone.kernel.statements import columns

REGISTER = """
    INSERT INTO kernel.worker (id, name, started_at, seen_at)
    VALUES ($1, $2, $3, $3)
        ON CONFLICT DO NOTHING
"""
# A release may give a kind another lane or priority; what waits goes with it.
CHANGE_LANES = """
    UPDATE kernel.job AS j
       SET lane = v.lane, priority = v.priority
      FROM unnest($1::text[], $2::text[], $3::smallint[]) AS v(kind, lane, priority)
     WHERE j.kind = v.kind
       AND j.worker IS NULL
       AND (j.lane, j.priority) IS DISTINCT FROM (v.lane, v.priority)
"""
BEAT = """
    UPDATE kernel.worker
       SET seen_at = $2
     WHERE id = $1
"""
RESIGN = """
    DELETE FROM kernel.worker
     WHERE id = $1
"""
FREE_ORPHANS = """
    UPDATE kernel.job AS j
       SET worker = NULL, crashes = j.crashes + 1
     WHERE j.id = ANY(ARRAY(
            SELECT o.id
              FROM kernel.job AS o
             WHERE o.worker IS NOT NULL
               AND NOT EXISTS (SELECT FROM kernel.worker AS w WHERE w.id = o.worker AND w.seen_at BETWEEN $1 AND $2)
               FOR NO KEY UPDATE SKIP LOCKED))
    RETURNING j.id
"""
STRIKE_OFF = """
    DELETE FROM kernel.worker
     WHERE id = ANY(ARRAY(
            SELECT id
              FROM kernel.worker
             WHERE seen_at NOT BETWEEN $1 AND $2
               FOR NO KEY UPDATE SKIP LOCKED))
"""
# After the database's clock was set back, what was due is not due for as long again.
PULL_JOBS_BACK = """
    UPDATE kernel.job
       SET run_at = $1 + (run_at - created_at), created_at = $1
     WHERE created_at > $1
"""
PULL_OUTBOX_BACK = """
    UPDATE kernel.outbox
       SET next_attempt_at = $1
     WHERE published_at IS NULL
       AND next_attempt_at > $1::timestamptz + interval '2 minutes'
"""
# Retries wait for seconds. One that waits for longer was put off by a clock that had leapt ahead.
PULL_RETRIES_BACK = """
    UPDATE kernel.job
       SET run_at = $1
     WHERE attempts > 0
       AND worker IS NULL
       AND run_at > $1::timestamptz + interval '10 minutes'
"""


async def register(tx: PlatformTx, worker: UUID, name: str, kinds: Sequence[Kind[Any]]) -> None:
    await tx.execute(REGISTER, worker, name, tx.now)
    await tx.execute(CHANGE_LANES, *columns(kinds, "name", "lane.name", "priority"))


async def beat(tx: PlatformTx, worker: UUID) -> bool:
    """Whether the worker is still on the list."""
    return await tx.execute(BEAT, worker, tx.now) == 1


async def resign(tx: PlatformTx, worker: UUID) -> None:
    await tx.execute(RESIGN, worker)


async def free_orphans(tx: PlatformTx, lease: timedelta) -> int:
    """Take workers that were not seen off the list, and free their jobs. Seen in the future is not seen, either."""
    since, until = tx.now - lease, tx.now + lease
    freed = await tx.fetch(FREE_ORPHANS, since, until)
    await tx.execute(STRIKE_OFF, since, until)
    return len(freed)


async def pull_back(tx: PlatformTx) -> tuple[int, int]:
    jobs = await tx.execute(PULL_JOBS_BACK, tx.now) + await tx.execute(PULL_RETRIES_BACK, tx.now)
    return jobs, await tx.execute(PULL_OUTBOX_BACK, tx.now)
