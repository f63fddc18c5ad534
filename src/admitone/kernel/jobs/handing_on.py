"""From the platform's own organisation to another: a job for whoever an event turned out to be.

Promise: only the platform's own scope may, and all that it may do with the jobs of others is to add one; it sees none
of them, so that how many went in is all that it learns. Keys are permanent here as everywhere.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from admitone.kernel.db import Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.jobs.model import Job
from admitone.kernel.statements import columns

# The policies of both tables say it, too: in another scope these add nothing.
HAND_ON_KEYS = """
    INSERT INTO kernel.job_key (organization_id, key, created_at)
    SELECT v.organization_id, v.key, $4
      FROM unnest($2::uuid[], $3::text[]) AS v(organization_id, key)
     WHERE $1::uuid = '00000000-0000-7000-8000-000000000001'
        ON CONFLICT DO NOTHING
"""
HAND_ON_JOBS = """
    INSERT INTO kernel.job (organization_id, id, kind, lane, priority, run_at, key, payload, actor_id, causation_id,
                            correlation_id, created_at)
    SELECT v.organization_id, v.id, v.kind, v.lane, v.priority, v.run_at, v.key, v.payload::jsonb, v.actor_id,
           v.causation_id, v.correlation_id, $13
      FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::smallint[], $7::timestamptz[], $8::text[],
                  $9::text[], $10::uuid[], $11::uuid[], $12::uuid[])
        AS v(organization_id, id, kind, lane, priority, run_at, key, payload, actor_id, causation_id, correlation_id)
     WHERE $1::uuid = '00000000-0000-7000-8000-000000000001'
"""
_JOB = (
    *("organization_id", "id", "kind", "lane", "priority", "run_at", "key", "payload"),
    *("actor_id", "causation_id", "correlation_id"),
)


class HandedOnBefore(Exception):
    """Of these jobs some were handed on before; which, shows when each goes alone."""


async def hand_on(tx: Tx, jobs: Sequence[Job]) -> int:
    """To the organisations that the jobs name, all of them or none; how many were new."""
    if tx.scope.organization != PLATFORM_ORGANIZATION:
        raise TypeError("only the platform's own organisation hands jobs on to others")
    # Sorted, so that two who hand on the same cannot deadlock.
    due = sorted((replace(job, run_at=job.run_at or tx.now) for job in jobs), key=attrgetter("organization_id", "key"))
    free = await tx.execute(HAND_ON_KEYS, *columns(due, "organization_id", "key"), tx.now) if due else 0
    if free == len(due):
        await tx.execute_exactly(len(due), HAND_ON_JOBS, *columns(due, *_JOB), tx.now)
    elif len(due) > 1:
        raise HandedOnBefore
    return free
