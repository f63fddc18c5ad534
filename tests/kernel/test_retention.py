"""What is overdue goes, a day after its days and not a day before; nothing else can be made to go."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from admitone.kernel.driver import session_of
from admitone.kernel.migrate import OWNER
from admitone.kernel.retention import BEGINNING, DROP_PARTITION, MAINTENANCE, PURGE, enforce
from admitone.kernel.scope import Role
from tests.ageing import DECLARED, PURGED, Archive, an_archive, only
from tests.architecture.isolation import READ_WHOLE
from tests.architecture.statements import ALL_MODULES
from tests.conftest import TestCluster

ROWS_READ = "SELECT seq_scan, idx_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relid = $1::text::regclass"


@pytest.fixture
async def archive(cluster: TestCluster) -> AsyncIterator[Archive]:
    async with an_archive(cluster) as archive:
        yield archive


@pytest.mark.parametrize("name", PURGED)
async def test_a_row_goes_a_day_after_its_days_and_not_a_day_before(archive: Archive, name: str):
    days = PURGED[name].retention_days
    assert days is not None
    await archive.add(name, days_old=days + 1)
    await archive.add(name, days_old=days - 1)

    enforced = await enforce(archive.database, ALL_MODULES)

    assert await archive.ages(name) == [days - 1]
    assert {table: rows for table, rows in enforced.rows.items() if rows} == {name: 1}
    assert enforced.left == []


async def test_a_fact_that_was_never_told_stays_in_the_outbox_for_ever(archive: Archive):
    await archive.add("kernel.outbox", days_old=4_000, rows=2)
    await archive.superuser.execute("UPDATE kernel.outbox SET created_at = published_at, published_at = NULL")
    await archive.add("kernel.outbox", days_old=4_000)

    enforced = await enforce(archive.database, ALL_MODULES)

    assert enforced.rows["kernel.outbox"] == 1
    assert await archive.superuser.fetchval("SELECT count(*) FROM kernel.outbox WHERE published_at IS NULL") == 2


@pytest.mark.parametrize("name", ["kernel.tenant", "kernel.migration", "kernel.job", "toy.counter", "toy.nickname"])
async def test_a_table_without_days_cannot_be_purged(archive: Archive, name: str):
    """Not even one of which the owner sees every row."""
    await archive.superuser.execute("INSERT INTO toy.nickname VALUES ('Zoe', gen_random_uuid())")
    before = await archive.superuser.fetchval(f"SELECT count(*) FROM {name}")
    with pytest.raises(asyncpg.ObjectNotInPrerequisiteStateError, match=f"{name} has no retention"):
        await archive.database.run(MAINTENANCE, lambda tx: tx.fetch(PURGE, name, 10, BEGINNING))
    assert await archive.superuser.fetchval(f"SELECT count(*) FROM {name}") == before


async def test_a_table_of_which_the_owner_sees_more_than_is_overdue_is_not_purged(archive: Archive):
    await archive.add("kernel.inbox", days_old=1)
    await archive.superuser.execute("CREATE POLICY slip ON kernel.inbox TO admitone_owner USING (true)")
    with pytest.raises(asyncpg.ObjectNotInPrerequisiteStateError):
        await enforce(archive.database, only("kernel.inbox"))
    assert await archive.ages("kernel.inbox") == [1]


async def test_a_false_catalog_does_not_mislead_the_purge(archive: Archive):
    """Temporary tables are found before the catalog by whoever does not say otherwise."""
    session = await asyncpg.connect(archive.url, server_settings=session_of(Role.MAINTENANCE))
    try:
        for table in ("pg_policy", "pg_class", "pg_inherits"):
            await session.execute(f"CREATE TEMPORARY TABLE {table} AS TABLE pg_catalog.{table}")
            await session.execute(f"GRANT SELECT ON pg_temp.{table} TO PUBLIC")
        # Both have their time in the fourth column.
        await session.execute(
            "DELETE FROM pg_temp.pg_policy WHERE polrelid = 'kernel.migration'::regclass;"
            "UPDATE pg_temp.pg_policy SET polrelid = 'kernel.migration'::regclass"
            " WHERE polrelid = 'kernel.fact_key'::regclass AND polname = 'overdue'"
        )
        await archive.superuser.execute("UPDATE kernel.migration SET applied_at = '2000-01-01'")
        with pytest.raises(asyncpg.ObjectNotInPrerequisiteStateError):
            await session.execute("SELECT kernel.purge('kernel.migration', 10, '-infinity')")
        assert await session.fetchval("SELECT kernel.drop_partition('kernel.event_log')") is None
    finally:
        await session.close()


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.MAINTENANCE])
async def test_nobody_else_may_remove_anything(archive: Archive, role: Role):
    session = await asyncpg.connect(archive.url, server_settings=session_of(role))
    try:
        for call in (
            "kernel.purge('kernel.outbox', 1, now())",
            "kernel.drop_partition('kernel.event_log')",
            "kernel.add_partitions(now(), now())",
            "kernel.retention_of(NULL)",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await session.execute(f"SELECT {call}")
    finally:
        await session.close()


async def test_the_owner_sees_what_is_overdue_and_writes_nothing(archive: Archive):
    await archive.add("kernel.outbox", days_old=29)
    await archive.add("kernel.outbox", days_old=31)
    await archive.superuser.execute(f"SET ROLE {OWNER}")
    assert await archive.ages("kernel.outbox") == [31]
    for change in ("UPDATE kernel.outbox SET attempts = 9", "INSERT INTO kernel.outbox SELECT * FROM kernel.outbox"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await archive.superuser.execute(change)


async def test_what_one_run_leaves_the_next_one_takes(archive: Archive):
    await archive.add("kernel.fact_key", days_old=181, rows=25)
    await archive.add("kernel.fact_key", days_old=200, rows=2)
    await archive.add("kernel.fact_key", days_old=1, rows=3)

    first = await enforce(archive.database, only("kernel.fact_key"), rows_per_batch=5, batches_per_table=4)
    assert (first.rows, first.left) == ({"kernel.fact_key": 20}, ["kernel.fact_key"])
    assert 200 not in await archive.ages("kernel.fact_key"), "the oldest go first"

    second = await enforce(archive.database, only("kernel.fact_key"), rows_per_batch=5, batches_per_table=4)
    assert (second.rows, second.left) == ({"kernel.fact_key": 7}, [])
    assert await archive.ages("kernel.fact_key") == [1, 1, 1]


@pytest.mark.parametrize("name", sorted(PURGED.keys() - READ_WHOLE))
@pytest.mark.parametrize("analyzed", [False, True])
async def test_a_batch_reads_no_more_rows_than_it_takes(archive: Archive, name: str, analyzed: bool):
    """In the session that will do it, whether statistics say nothing of overdue rows or there are none."""
    await archive.add(name, days_old=0, rows=2_000)
    if analyzed:
        await archive.superuser.execute(f"ANALYZE {name}")
    await archive.add(name, days_old=DECLARED[name].retention_days + 1, rows=500)
    session = archive.superuser
    async with session.transaction():
        for setting, value in session_of(Role.MAINTENANCE).items():
            await session.execute("SELECT set_config($1, $2, true)", setting, value)
        assert (await session.fetchrow(PURGE, name, 50, BEGINNING))["purged"] == 50
        await session.execute("SET LOCAL ROLE NONE")
        read = await session.fetchrow(ROWS_READ, name)
    assert (read["seq_scan"], read["idx_scan"], read["idx_tup_fetch"]) == (0, 1, 50)


# -- Logs


async def test_a_partition_goes_when_all_of_it_is_overdue(archive: Archive):
    await a_partition(archive, "event_log_old", since=250, until=181)
    await a_partition(archive, "event_log_ending", since=181, until=179)

    enforced = await enforce(archive.database, ALL_MODULES)

    assert enforced.partitions == ["kernel.event_log_old"]
    assert await archive.superuser.fetchval("SELECT count(*) FROM kernel.event_log") == 1


async def test_of_several_partitions_all_go_the_oldest_first(archive: Archive):
    await archive.superuser.execute(
        "SELECT kernel.add_partitions(now() - interval '400 days', now() - interval '280 days')"
    )
    enforced = await enforce(archive.database, only("kernel.event_log"))
    assert len(enforced.partitions) >= 4
    assert enforced.partitions == sorted(enforced.partitions)
    assert (await enforce(archive.database, only("kernel.event_log"))).partitions == []


async def test_a_log_gets_its_partitions_before_it_needs_them(archive: Archive):
    partitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'kernel.event_log'::regclass"
    there = await archive.superuser.fetchval(partitions)
    last = await archive.superuser.fetchval(
        "SELECT max(inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'kernel.event_log'::regclass"
    )
    await archive.superuser.execute(f"DROP TABLE {last}")
    await enforce(archive.database, ALL_MODULES)
    assert await archive.superuser.fetchval(partitions) == there


async def test_a_log_that_somebody_reads_is_left_for_the_next_run(archive: Archive):
    await a_partition(archive, "event_log_old", since=250, until=181)
    await archive.add("kernel.outbox", days_old=31)
    async with archive.superuser.transaction():
        await archive.superuser.execute("SELECT FROM kernel.event_log")
        held = await enforce(archive.database, ALL_MODULES)
    assert (held.left, held.partitions) == (["kernel.event_log"], [])
    assert held.rows["kernel.outbox"] == 1
    assert (await enforce(archive.database, ALL_MODULES)).partitions == ["kernel.event_log_old"]


async def test_a_log_is_not_purged_row_by_row(archive: Archive):
    with pytest.raises(asyncpg.WrongObjectTypeError):
        await archive.database.run(MAINTENANCE, lambda tx: tx.fetch(PURGE, "kernel.event_log", 1, tx.now))


async def test_what_has_no_partitions_loses_none(archive: Archive):
    await archive.add("kernel.outbox", days_old=31)
    [row] = await archive.database.run(MAINTENANCE, lambda tx: tx.fetch(DROP_PARTITION, "kernel.outbox"))
    assert row["name"] is None
    assert await archive.ages("kernel.outbox") == [31]


async def a_partition(archive: Archive, name: str, *, since: int, until: int) -> None:
    """From so many days ago to so many, with a fact of its last hour."""
    bounds = [
        await archive.superuser.fetchval("SELECT kernel.first_id(now() - make_interval(days => $1))::text", days)
        for days in (since, until)
    ]
    await archive.superuser.execute(
        f"CREATE TABLE kernel.{name} PARTITION OF kernel.event_log FOR VALUES FROM ('{bounds[0]}') TO ('{bounds[1]}');"
        f"ALTER TABLE kernel.{name} OWNER TO {OWNER}"
    )
    await archive.superuser.execute(
        "INSERT INTO kernel.event_log (organization_id, id, type, version, subject_type, subject_id, causation_id,"
        " correlation_id, idempotency_key, payload, created_at)"
        " SELECT gen_random_uuid(), kernel.first_id(at), 'a.b', '1.0.0', 'a', 'b', gen_random_uuid(), gen_random_uuid(),"
        " 'k', '{}', at FROM (SELECT now() - make_interval(days => $1) - interval '1 hour' AS at) AS hour",
        until,
    )
