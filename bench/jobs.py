"""The engine: facts through outbox, relay, worker and inbox, as many as there are until none is left.

A worker process of its own, as in production; what is measured is the time from its first effect to its last.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg

from admitone.kernel.embedded import SUPERUSER
from bench.calibration import calibrate
from bench.figures import Figures
from bench.ground import Ground, a_cluster, a_ground

ROOT = Path(__file__).parent.parent
FACTS = 30_000
DEFERRED = 200_000
PATIENCE_SECONDS = 300

# As commands write them, only faster: the bench is about what comes after.
WRITE_FACTS = """
    WITH fact AS (
        SELECT o.id AS organization_id,
               (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
                || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid AS id
          FROM kernel.tenant AS o CROSS JOIN generate_series(1, $1::integer)
         WHERE o.id <> '00000000-0000-7000-8000-000000000001'
         ORDER BY random()
    ), told AS (
        INSERT INTO kernel.event_log
        SELECT organization_id, id, 'toy.counter_incremented', '1.0.0', 'COUNTER', 'visits', NULL, id, id, id::text,
               '{"counter": "visits", "amount": 1}', now()
          FROM fact RETURNING organization_id, id
    )
    INSERT INTO kernel.outbox (organization_id, event_id, created_at, next_attempt_at)
    SELECT organization_id, id, now(), now() FROM told
"""
# Jobs of their own, without facts: every third fails, as often as it may.
ENQUEUE = """
    WITH job AS (
        SELECT o.id AS organization_id, n, gen_random_uuid() AS id
          FROM kernel.tenant AS o CROSS JOIN generate_series(1, $1::integer) AS n
         WHERE o.id <> '00000000-0000-7000-8000-000000000001'
         ORDER BY random()
    ), keyed AS (
        INSERT INTO kernel.job_key SELECT organization_id, 'bench:' || id, now() FROM job
    )
    INSERT INTO kernel.job (id, organization_id, kind, lane, priority, run_at, key, payload, causation_id, correlation_id,
                            created_at)
    SELECT id, organization_id, 'toy.perform', 'work', 1, now() + $2::interval, 'bench:' || id,
           jsonb_build_object('act', CASE WHEN $3 AND n % 3 = 0 THEN 'fail' ELSE 'work' END, 'number', n), id, id, now()
      FROM job
"""


def measure(figures: Figures) -> None:
    with a_cluster() as cluster:
        first = a_ground(cluster, organizations=1, name="jobs_1")
        calibration = calibrate(first)
        print(calibration)
        for organizations in (1, 5_000):
            ground = first if organizations == 1 else a_ground(cluster, organizations=organizations, name="jobs_many")
            each = FACTS // organizations
            print(f"\nJobs, {organizations:,} organisations")
            rate = facts_told(ground, each)
            figures.must("facts through outbox, relay, worker, inbox", rate, 4_000 * calibration.s, "/s")
            rate = healthy_while_others_fail(ground, each)
            figures.must("healthy jobs while a third of all fail", rate, 2_000 * calibration.s, "/s")
            rate = beside_deferred(ground, each, organizations)
            figures.must("jobs beside 200,000 that wait", rate, 2_000 * calibration.s, "/s")


def facts_told(ground: Ground, each: int) -> float:
    with prepared(ground):
        execute(ground, WRITE_FACTS, each)
        return drained(ground)


def healthy_while_others_fail(ground: Ground, each: int) -> float:
    with prepared(ground):
        execute(ground, ENQUEUE, each, timedelta0(), True)
        return drained(ground)


def beside_deferred(ground: Ground, each: int, organizations: int) -> float:
    with prepared(ground):
        execute(ground, ENQUEUE, DEFERRED // organizations, a_day(), False)
        execute(ground, WRITE_FACTS, each)
        return drained(ground)


def timedelta0():
    from datetime import timedelta

    return timedelta()


def a_day():
    from datetime import timedelta

    return timedelta(days=1)


@contextmanager
def prepared(ground: Ground) -> Iterator[None]:
    execute(
        ground,
        "TRUNCATE kernel.job, kernel.job_key, kernel.inbox, kernel.outbox, kernel.event_log, toy.heard,"
        " kernel.dead_letter, kernel.job_attempt",
    )
    yield


def drained(ground: Ground) -> float:
    execute(ground, "VACUUM ANALYZE")
    with a_worker(ground):
        return asyncio.run(_drained(ground))


async def _drained(ground: Ground) -> float:
    connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    left = (
        "SELECT (SELECT count(*) FROM kernel.outbox WHERE published_at IS NULL)"
        " + (SELECT count(*) FROM kernel.job WHERE run_at < now() + interval '1 hour' )"
    )
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not await connection.fetchval("SELECT EXISTS (SELECT FROM toy.heard)"):
            await asyncio.sleep(0.01)
        began = time.monotonic()
        before = await connection.fetchval("SELECT count(*) FROM toy.heard")
        while await connection.fetchval(left) and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        ended = time.monotonic()
        effects = await connection.fetchval("SELECT count(*) FROM toy.heard")
        print(effects, before, ended - began)
        return (effects - before) / (ended - began)
    finally:
        await connection.close()


def execute(ground: Ground, sql: str, *values: object) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
        try:
            await connection.execute(sql, *values)
        finally:
            await connection.close()

    asyncio.run(run())


@contextmanager
def a_worker(ground: Ground) -> Iterator[None]:
    with TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        environment = {**os.environ, "DATABASE_URL": ground.url, "ADMITONE_DATA": folder}
        worker = subprocess.Popen(
            [sys.executable, "-m", "bench.work"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        try:
            yield
        finally:
            worker.terminate()
            worker.wait(20)
            text = (Path(folder) / "log").read_text()
            print(text[-1500:] if "error" in text else "")
