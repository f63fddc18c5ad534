"""Migrations, on a real server, with real crashes."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import asyncpg
import pytest

from admitone.kernel import migrate as module
from admitone.kernel.config import ROOT
from admitone.kernel.embedded import SUPERUSER, Cluster
from admitone.kernel.migrate import OWNER, MigrationProblem, migrate, read_migrations, schema_of
from admitone.kernel.scope import Role

HEADER = "-- why: a test needs it\n-- lock: none\n-- phase: expand\n"
NUMBERS = count(1)
MIGRATOR = """
import asyncio, sys
from pathlib import Path
from admitone.kernel.migrate import migrate
asyncio.run(migrate(sys.argv[1], folder=Path(sys.argv[2])))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with Cluster.temporary({"shared_buffers": "16MB"}) as cluster:
        yield cluster


@pytest.fixture
async def url(server: Cluster) -> str:
    """An empty database, seen by the one who migrates."""
    return await an_empty_database(server)


async def an_empty_database(server: Cluster, owner: str = SUPERUSER) -> str:
    name = f"scratch_{next(NUMBERS)}"
    await execute(server.url(SUPERUSER, "postgres"), f"CREATE DATABASE {name} OWNER {owner}")
    return server.url(owner, name)


@pytest.fixture
async def connection(url: str) -> AsyncIterator[asyncpg.Connection]:
    opened = await asyncpg.connect(url)
    yield opened
    await opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "0001_shop.sql", "CREATE SCHEMA shop;")
    write(
        tmp_path,
        "0002_ticket.sql",
        "CREATE TABLE shop.ticket (id int PRIMARY KEY); INSERT INTO shop.ticket VALUES (1);",
    )
    return tmp_path


def write(folder: Path, name: str, sql: str, header: str = HEADER) -> None:
    (folder / name).write_text(header + sql)


async def execute(url: str, sql: str) -> None:
    opened = await asyncpg.connect(url)
    try:
        await opened.execute(sql)
    finally:
        await opened.close()


async def test_files_are_applied_once_and_in_order(url, folder, connection):
    assert [migration.number for migration in await migrate(url, folder=folder)] == [1, 2]
    assert await migrate(url, folder=folder) == []
    assert await connection.fetchval("SELECT count(*) FROM shop.ticket") == 1
    write(folder, "0003_more.sql", "INSERT INTO shop.ticket VALUES (2);")
    assert [migration.name for migration in await migrate(url, folder=folder)] == ["more"]


async def test_every_object_belongs_to_the_owner_that_nobody_logs_in_as(url, folder, connection):
    await migrate(url, folder=folder)
    assert await connection.fetchval("SELECT tableowner FROM pg_tables WHERE tablename = 'ticket'") == OWNER
    assert not await connection.fetchval(
        "SELECT rolcanlogin OR rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = $1", OWNER
    )


async def test_the_runtime_may_become_the_six_roles_and_has_none_of_their_rights_before(url, folder, connection):
    await connection.execute("CREATE ROLE cashier LOGIN INHERIT")
    await migrate(url, runtime_login="cashier", folder=folder)
    granted = await connection.fetch(
        """SELECT r.rolname, m.inherit_option, m.set_option, m.admin_option, r.rolbypassrls OR r.rolsuper OR r.rolcanlogin AS strong
             FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid WHERE m.member = 'cashier'::regrole"""
    )
    assert {tuple(row) for row in granted} == {(role, False, True, False, False) for role in Role}


async def test_the_runtime_cannot_rewrite_what_was_applied(server, url, folder):
    await migrate(url, folder=folder)
    runtime = await asyncpg.connect(url.replace(f"//{SUPERUSER}@", "//admitone@"))
    try:
        for role in Role:
            await runtime.execute(f"SET ROLE {role}")
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await runtime.execute("DELETE FROM kernel.migration")
    finally:
        await runtime.close()


async def test_a_file_that_fails_leaves_nothing_and_is_named(url, folder, connection):
    write(folder, "0003_broken.sql", "CREATE TABLE shop.half (id int); SELECT 1 / 0;")
    with pytest.raises(MigrationProblem, match=r"0003_broken\.sql: division by zero"):
        await migrate(url, folder=folder)
    assert await connection.fetchval("SELECT to_regclass('shop.half')") is None
    write(folder, "0003_broken.sql", "CREATE TABLE shop.half (id int);")
    assert [migration.number for migration in await migrate(url, folder=folder)] == [3]


async def test_a_migrator_killed_midway_leaves_nothing_and_no_lock(url, folder, connection):
    write(folder, "0003_slow.sql", "CREATE TABLE shop.half (id int); SELECT pg_sleep(600);")
    victim = subprocess.Popen([sys.executable, "-c", MIGRATOR, url, folder])  # noqa: ASYNC220
    while not await connection.fetchval("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    victim.kill()
    victim.wait()
    write(folder, "0003_slow.sql", "CREATE TABLE shop.half (id int);")
    applied = await asyncio.wait_for(migrate(url, folder=folder), timeout=10)
    assert [migration.number for migration in applied] == [3]


async def test_two_migrators_at_once_wait_for_each_other(url, folder, connection):
    await migrate(url, folder=folder)
    write(folder, "0003_slow.sql", "SELECT pg_sleep(0.2); UPDATE shop.ticket SET id = id + 1;")
    results = await asyncio.gather(*(migrate(url, folder=folder) for _ in range(4)))
    assert sorted(len(applied) for applied in results) == [0, 0, 0, 1]
    assert await connection.fetchval("SELECT id FROM shop.ticket") == 2


async def test_a_first_migration_may_be_started_twice(url, folder):
    results = await asyncio.gather(*(migrate(url, folder=folder) for _ in range(4)))
    assert sorted(len(applied) for applied in results) == [0, 0, 0, 2]


async def test_two_databases_of_one_new_server_can_be_migrated_at_once(folder):
    with Cluster.temporary({"shared_buffers": "16MB"}) as fresh:
        urls = [await an_empty_database(fresh) for _ in range(4)]
        results = await asyncio.gather(*(migrate(url, folder=folder) for url in urls))
    assert [len(applied) for applied in results] == [2, 2, 2, 2]


async def test_a_login_that_may_create_roles_can_migrate_a_managed_server(folder):
    with Cluster.temporary({"shared_buffers": "16MB"}) as fresh:
        await execute(fresh.url(SUPERUSER, "postgres"), "CREATE ROLE deployer LOGIN CREATEROLE")
        url = await an_empty_database(fresh, owner="deployer")
        assert len(await migrate(url, folder=folder)) == 2
        assert await migrate(url, folder=folder) == []


async def test_a_login_without_the_right_is_told_what_it_lacks(server, folder):
    await execute(server.url(SUPERUSER, "postgres"), "CREATE ROLE visitor LOGIN")
    url = await an_empty_database(server)
    with pytest.raises(MigrationProblem, match="must be a superuser, or be allowed to create roles"):
        await migrate(url.replace(f"//{SUPERUSER}@", "//visitor@"), folder=folder)


async def test_a_runtime_login_that_does_not_exist_is_named(url, folder):
    with pytest.raises(MigrationProblem, match="no login nobody_here"):
        await migrate(url, runtime_login="nobody_here", folder=folder)


async def test_a_server_that_is_not_there_is_a_sentence(tmp_path, folder):
    with pytest.raises(MigrationProblem, match="cannot be reached"):
        await migrate(f"postgresql://postgres@/admitone?host={tmp_path}", folder=folder)


async def test_a_file_changed_after_it_was_applied_is_refused(url, folder):
    await migrate(url, folder=folder)
    write(folder, "0001_shop.sql", "CREATE SCHEMA shop; -- better")
    with pytest.raises(MigrationProblem, match=r"0001_shop\.sql was changed"):
        await migrate(url, folder=folder)


async def test_a_database_ahead_of_the_code_is_left_as_it_is(url, folder):
    await migrate(url, folder=folder)
    (folder / "0002_ticket.sql").unlink()
    assert await migrate(url, folder=folder) == []


async def test_a_lock_that_another_holds_is_asked_for_again(url, folder, connection, monkeypatch):
    monkeypatch.setattr(module, "_LOCK_TIMEOUT_MS", 50)
    await migrate(url, folder=folder)
    write(folder, "0003_colour.sql", "ALTER TABLE shop.ticket ADD COLUMN colour text;")
    async with connection.transaction():
        await connection.execute("LOCK TABLE shop.ticket")
        migrating = asyncio.create_task(migrate(url, folder=folder))
        await asyncio.sleep(0.5)
        assert not migrating.done()
    assert [migration.number for migration in await migrating] == [3]


async def test_a_lock_that_never_comes_is_given_up_with_its_name(url, folder, connection, monkeypatch):
    monkeypatch.setattr(module, "_LOCK_TIMEOUT_MS", 20)
    monkeypatch.setattr(module, "_ATTEMPTS", 2)
    await migrate(url, folder=folder)
    write(folder, "0003_colour.sql", "ALTER TABLE shop.ticket ADD COLUMN colour text;")
    async with connection.transaction():
        await connection.execute("LOCK TABLE shop.ticket")
        with pytest.raises(MigrationProblem, match="did not get its lock"):
            await migrate(url, folder=folder)


async def test_a_file_that_leaves_its_role_is_rolled_back(url, folder, connection):
    write(folder, "0003_escape.sql", "RESET ROLE; CREATE TABLE shop.escaped (id int);")
    with pytest.raises(MigrationProblem, match="left its transaction or its role"):
        await migrate(url, folder=folder)
    assert await connection.fetchval("SELECT to_regclass('shop.escaped')") is None


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("0004_gap.sql", HEADER, "no file with the number 0003 before it"),
        ("0002_again.sql", HEADER, "two files have the number 0002"),
        ("3_short.sql", HEADER, "called like 0007_ticket_types.sql"),
        ("0003_Loud.sql", HEADER, "called like 0007_ticket_types.sql"),
        ("0003_bare.sql", "SELECT 1;", "lacks `-- why: …`, `-- lock: …`, `-- phase: …`"),
        ("0003_late.sql", "SELECT 1;\n" + HEADER, "lacks"),
        ("0003_idle.sql", HEADER.replace("a test needs it", ""), "lacks `-- why: …`"),
        ("0003_phase.sql", HEADER.replace("expand", "explode"), "one of expand, contract, not 'explode'"),
        ("0003_rows.sql", HEADER.replace("expand", "backfill"), "organisation by organisation"),
        ("0003_begin.sql", HEADER + "SELECT 1;\nCOMMIT;\nBEGIN;", "must not begin or end one"),
        ("0003_start.sql", HEADER + "  start  transaction ;", "must not begin or end one"),
    ],
)
def test_a_folder_that_is_not_in_order_is_refused(folder, name, content, complaint):
    (folder / name).write_text(content)
    with pytest.raises(MigrationProblem, match=complaint) as told:
        read_migrations(folder)
    assert name in str(told.value)


def test_a_missing_folder_is_a_sentence(tmp_path):
    with pytest.raises(MigrationProblem, match="There is no folder"):
        read_migrations(tmp_path / "nowhere")


def test_a_function_may_have_a_body(folder):
    write(
        folder,
        "0003_function.sql",
        "CREATE FUNCTION shop.f() RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n  NULL;\nEND;\n$$;",
    )
    assert len(read_migrations(folder)) == 3


async def test_the_committed_schema_is_what_the_migrations_make(url):
    await migrate(url)
    assert schema_of(url) == (ROOT / "schema.sql").read_text(), "run `make golden` and commit schema.sql"


async def test_the_schema_as_text_says_nothing_about_the_machine(url, folder):
    await migrate(url, folder=folder)
    text = schema_of(url)
    assert "CREATE TABLE shop.ticket" in text
    assert "OWNER TO admitone_owner" in text
    assert not any(word in text for word in ("Dumped", "restrict", "SET statement_timeout"))
    assert schema_of(url) == text


FORETOLD = """
    SELECT a.attname::text AS name, s.stadistinct AS kinds
      FROM pg_statistic AS s
      JOIN pg_attribute AS a ON a.attrelid = s.starelid AND a.attnum = s.staattnum
     WHERE s.starelid = 'shop.seat'::regclass
"""


async def test_of_rows_that_nobody_counted_the_planner_believes_that_one_organisation_has_them(url, folder, connection):
    write(
        folder,
        "0003_seat.sql",
        "CREATE TABLE shop.seat (organization_id int, id int, row int, city_code text, PRIMARY KEY (organization_id, id));",
    )
    await migrate(url, folder=folder)
    assert dict(await connection.fetch(FORETOLD)) == {"organization_id": 1, "id": -1, "city_code": 1}

    await connection.execute("INSERT INTO shop.seat SELECT n / 10, n, 1, 'LIS' FROM generate_series(0, 99) AS n")
    await connection.execute("ANALYZE shop.seat")
    await migrate(url, folder=folder)
    assert dict(await connection.fetch(FORETOLD))["organization_id"] == 10, "what was counted stays"
