"""Retention among others: it takes what is overdue from under everybody's hands, waits for nobody and stops nobody."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable

import asyncpg
import pytest

from admitone.kernel.db import Database
from admitone.kernel.driver import FAST_LOCK_TIMEOUT_MS
from admitone.kernel.limits import Hit, Limit, Per, count
from admitone.kernel.retention import enforce
from admitone.kernel.scope import PlatformScope, Role
from tests.ageing import Archive, an_archive, only
from tests.architecture.statements import ALL_MODULES
from tests.conftest import TestCluster

KEYS = "kernel.idempotency_key"
COUNTERS = "kernel.limit_counter"
LOCK_TIMEOUT = "SELECT s FROM pg_proc, unnest(proconfig) AS s WHERE proname = 'drop_partition' AND s LIKE $1"


@pytest.fixture
async def archive(cluster: TestCluster) -> AsyncIterator[Archive]:
    async with an_archive(cluster) as archive:
        yield archive


@pytest.mark.parametrize("name", [KEYS, COUNTERS])
async def test_of_two_who_enforce_at_once_each_row_goes_by_the_hands_of_one(archive: Archive, name: str) -> None:
    await archive.add(name, days_old=9, rows=5_000)
    await archive.add(name, days_old=0, rows=100)
    runs = await asyncio.gather(*(enforce(archive.database, only(name), rows_per_batch=50) for _ in range(2)))
    # One may pass over what the other holds and then loses; whatever that is, the next run takes.
    last = await enforce(archive.database, only(name))
    assert sum(run.rows[name] for run in (*runs, last)) == 5_000
    assert await archive.ages(name) == [0] * 100


async def test_nothing_new_is_lost_in_a_storm_of_inserts(archive: Archive) -> None:
    await archive.add(KEYS, days_old=4, rows=5_000)
    insert = await archive.inserting(KEYS)
    done = asyncio.Event()

    async def storm() -> int:
        writer = await asyncpg.connect(archive.superuser_url, server_settings={"lock_timeout": "10s"})
        written = 0
        while not done.is_set():
            await writer.execute(insert, 0, 20)
            await writer.execute(insert, 4, 20)  # Overdue as it comes, under the hands of the purge.
            written += 20
        await writer.close()
        return written

    async def run() -> None:
        for _ in range(5):
            await enforce(archive.database, only(KEYS), rows_per_batch=100, batches_per_table=50)
        done.set()

    *written, _ = await asyncio.gather(storm(), storm(), run())
    await enforce(archive.database, only(KEYS))
    assert await archive.ages(KEYS) == [0] * sum(written)


async def test_who_looked_before_still_sees_what_went_after(archive: Archive) -> None:
    """A backup that runs for hours holds its snapshot; retention goes on meanwhile."""
    await archive.add(KEYS, days_old=4, rows=3_000)
    async with archive.superuser.transaction(isolation="repeatable_read"):
        assert len(await archive.ages(KEYS)) == 3_000
        enforced = await enforce(archive.database, only(KEYS), rows_per_batch=100)
        assert (enforced.rows, enforced.left) == ({KEYS: 3_000}, [])
        assert len(await archive.ages(KEYS)) == 3_000
    assert await archive.ages(KEYS) == []


async def test_a_row_that_somebody_holds_is_left_for_the_next_run(archive: Archive) -> None:
    await archive.add(KEYS, days_old=4, rows=500)
    async with archive.superuser.transaction():
        await archive.superuser.execute(f"SELECT FROM {KEYS} LIMIT 7 FOR NO KEY UPDATE")
        assert (await enforce(archive.database, only(KEYS), rows_per_batch=100)).rows == {KEYS: 493}
    assert (await enforce(archive.database, only(KEYS))).rows == {KEYS: 7}


async def test_counters_that_begin_anew_while_they_are_purged_count_all_hits(archive: Archive) -> None:
    """Whose counter is overdue may come back in the very moment in which it goes."""
    limit = Limit("test.comebacks", count=10**6, seconds=60, per=Per.DEVICE)
    hits = [Hit(limit, f"device {number}") for number in range(300)]
    for _ in range(5):
        await knock(archive.database, hits)
        await archive.superuser.execute(f"UPDATE {COUNTERS} SET ends_at = now() - interval '2 days'")
        knocks: list[Awaitable[object]] = [knock(archive.database, hits[::step]) for step in (1, -1, 2, 3)]
        await asyncio.gather(*knocks, enforce(archive.database, only(COUNTERS), rows_per_batch=20))
        counted = await archive.superuser.fetchval(f"SELECT sum(hits) FROM {COUNTERS} WHERE ends_at > now()")
        assert counted == 300 + 300 + 150 + 100
        await archive.superuser.execute(f"TRUNCATE {COUNTERS}")


async def knock(database: Database, hits: list[Hit]) -> None:
    verdicts = await database.run(PlatformScope("test", Role.AUTHORITY), lambda tx: count(tx, hits), patient=True)
    assert verdicts == [None] * len(hits)


async def test_who_writes_to_a_log_outwaits_the_one_who_would_drop_a_part_of_it(archive: Archive) -> None:
    """A reader holds the log; the drop queues for it, writers queue behind the drop, and all but the drop succeed."""
    await archive.superuser.execute(
        "SELECT kernel.add_partitions(now() - interval '400 days', now() - interval '360 days')"
    )
    # Far longer than the drop may wait (less than everybody else does), so that a slow machine does not matter.
    [setting] = await archive.superuser.fetch(LOCK_TIMEOUT, "lock_timeout=%ms")
    assert int(re.sub(r"\D", "", setting[0])) < FAST_LOCK_TIMEOUT_MS
    writer = await asyncpg.connect(archive.superuser_url, server_settings={"lock_timeout": "10s"})
    async with archive.superuser.transaction():
        await archive.superuser.execute("SELECT FROM kernel.event_log")
        dropping = asyncio.create_task(enforce(archive.database, ALL_MODULES))
        while not dropping.done():
            await writer.execute("INSERT INTO kernel.event_log SELECT * FROM kernel.event_log WHERE false")
        assert dropping.result().left == ["kernel.event_log"]
    await writer.close()
    assert (await enforce(archive.database, ALL_MODULES)).partitions != []
