"""A job comes into being by its permanent key.

Promise: a key that was taken once, also by a job that ended long ago, means that there is nothing to do: `enqueue`
says so and writes nothing. A job that was enqueued by a transaction exists if and only if that transaction commits.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.jobs import store
from admitone.kernel.jobs.model import Job, Kind


async def enqueue(tx: Tx | PlatformTx, jobs: Sequence[Job]) -> int:
    """How many were new. Business transactions publish facts instead; this is for handlers, errands and schedules."""
    own = tx.scope.organization.uuid if isinstance(tx, Tx) else None
    stamped = [
        replace(job, organization_id=own or job.organization_id, run_at=job.run_at or tx.now, created_at=tx.now)
        for job in jobs
    ]
    first = {(job.organization_id, job.key): job for job in reversed(stamped)}
    if isinstance(tx, Tx):
        take, insert = partial(store.take_keys, tx), partial(store.insert_jobs, tx)
    else:
        take, insert = partial(store.take_keys_of_many, tx), partial(store.insert_jobs_of_many, tx)
    free = await take(list(first.values()))
    fresh = [job for key, job in first.items() if key in free]
    await insert(fresh)
    return len(fresh)


async def cancel(tx: Tx, kind: Kind[Any], keys: Sequence[str]) -> set[str]:
    """Take back jobs that nobody has begun; the keys of those that were. Their keys stay taken."""
    return await store.cancel(tx, kind.lane.name, kind.priority, keys)
