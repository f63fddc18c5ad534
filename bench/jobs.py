"""The engine: jobs through outbox, relay, worker and inbox, as many as there are until none is left.

Two workers, each a process of its own, as in production. What is measured is the effects per second from the first look
at which there are some until all that can be there are there.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg

from admitone.kernel.embedded import SUPERUSER
from bench.calibration import calibrate
from bench.figures import Figures
from bench.ground import Ground, a_cluster, a_ground, run_sql

ROOT = Path(__file__).parent.parent
JOBS = 60_000
DEFERRED = 200_000
PATIENCE_SECONDS = 300
MANY = 5_000
WORKERS = 2

OTHERS = "o.id <> '00000000-0000-7000-8000-000000000001'"

# As commands write them, only faster: the bench is about what comes after.
WRITE_FACTS = f"""
    WITH fact AS (
        SELECT o.id AS organization_id,
               (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
                || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid AS id
          FROM kernel.tenant AS o CROSS JOIN generate_series(1, $1::integer)
         WHERE {OTHERS}
         ORDER BY random()
    ), told AS (
        INSERT INTO kernel.event_log
        SELECT organization_id, id, 'toy.counter_incremented', '1.0.0', 'COUNTER', 'visits', NULL, id, id, id::text,
               '{{"counter": "visits", "amount": 1}}', now()
          FROM fact
        RETURNING organization_id, id
    )
    INSERT INTO kernel.outbox (organization_id, event_id, created_at, next_attempt_at)
    SELECT organization_id, id, now(), now() FROM told
"""
ENQUEUE = f"""
    WITH job AS (
        SELECT o.id AS organization_id, n, gen_random_uuid() AS id
          FROM kernel.tenant AS o CROSS JOIN generate_series(1, $1::integer) AS n
         WHERE {OTHERS}
         ORDER BY random()
    ), keyed AS (
        INSERT INTO kernel.job_key SELECT organization_id, 'bench:' || id, now() FROM job
    )
    INSERT INTO kernel.job (id, organization_id, kind, lane, priority, run_at, key, payload, causation_id,
                            correlation_id, created_at)
    SELECT id, organization_id, 'toy.try', 'work', 1, now() + $2::interval, 'bench:' || id,
           jsonb_build_object('act', CASE WHEN $3 AND n % 3 = 0 THEN 'fail' ELSE 'work' END, 'number', n), id, id, now()
      FROM job
"""
EMPTY = """
    TRUNCATE kernel.job, kernel.job_key, kernel.inbox, kernel.outbox, kernel.event_log, kernel.dead_letter,
             kernel.job_attempt, toy.heard
"""
EFFECTS = "SELECT count(*) FROM toy.heard"


@dataclass(frozen=True)
class Field:
    """Where jobs are drained: a database with so many organisations, each with its share."""

    ground: Ground
    organizations: int

    def share(self, jobs: int) -> int:
        return jobs // self.organizations

    def execute(self, sql: str, *values: Any) -> None:
        asyncio.run(run_sql(self.ground.cluster.url(SUPERUSER, self.ground.database), sql, *values))


def measure(figures: Figures) -> None:
    with a_cluster() as cluster:
        one = a_ground(cluster, organizations=1, name="jobs_of_one")
        calibration = calibrate(one)
        print(f"\nJobs. {calibration}")
        many = a_ground(cluster, organizations=MANY, name="jobs_of_many")
        for field in (Field(one, 1), Field(many, MANY)):
            whose = f"{field.organizations:,} organisation{'s' * (field.organizations > 1)}"
            must = min(1.0, calibration.s)  # A slower machine is forgiven; a faster one is not asked for more.
            figures.must(f"facts told, {whose}", facts_told(field), 4_000 * must, "/s")
            figures.must(f"healthy jobs while a third fail, {whose}", healthy_among_failing(field), 2_000 * must, "/s")
            figures.must(
                f"facts told beside 200,000 deferred jobs, {whose}", beside_deferred(field), 2_000 * must, "/s"
            )


def facts_told(field: Field) -> float:
    field.execute(EMPTY)
    field.execute(WRITE_FACTS, field.share(JOBS))
    return drained(field, field.share(JOBS) * field.organizations)


def healthy_among_failing(field: Field) -> float:
    each = field.share(JOBS)
    field.execute(EMPTY)
    field.execute(ENQUEUE, each, timedelta(), True)
    return drained(field, (each - each // 3) * field.organizations)


def beside_deferred(field: Field) -> float:
    field.execute(EMPTY)
    field.execute(ENQUEUE, field.share(DEFERRED), timedelta(days=1), False)
    field.execute(WRITE_FACTS, field.share(JOBS))
    return drained(field, field.share(JOBS) * field.organizations)


def drained(field: Field, expected: int) -> float:
    """Effects per second; every one of them must come, and none twice."""
    field.execute("VACUUM ANALYZE")
    with workers(field.ground):
        return asyncio.run(_drained(field.ground, expected))


async def _drained(ground: Ground, expected: int) -> float:
    connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    deadline = time.monotonic() + PATIENCE_SECONDS
    try:
        while not (before := await connection.fetchval(EFFECTS)):
            await asyncio.sleep(0.01)
        began = time.monotonic()
        while (effects := await connection.fetchval(EFFECTS)) < expected and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        ended = time.monotonic()
    finally:
        await connection.close()
    if effects != expected:
        raise RuntimeError(f"{effects} effects instead of {expected}")
    return (effects - before) / (ended - began)


@contextmanager
def workers(ground: Ground) -> Iterator[None]:
    with TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        environment = {**os.environ, "DATABASE_URL": ground.url, "ADMITONE_DATA": folder}
        command = [sys.executable, "-m", "bench.work"]
        running = [subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log) for _ in range(WORKERS)]
        try:
            yield
        finally:
            for worker in running:
                worker.terminate()
            for worker in running:
                worker.wait(20)


if __name__ == "__main__":
    measure(Figures())
