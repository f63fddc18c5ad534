"""The schema moves forward, one numbered file at a time.

Promise: `migrate` may be run at any time, twice, by two at once, or be killed midway: afterwards a file is applied
whole or not at all, and never twice. A file that was applied is never edited again: its checksum is remembered. A
file waits only briefly for a lock, so that it cannot stall the application that runs beside it.

    migrations/0007_ticket_types.sql

    -- why: ticket types get a colour, which the door shows
    -- lock: ACCESS EXCLUSIVE on events.ticket_type, for an instant
    -- phase: expand
    ALTER TABLE events.ticket_type ADD COLUMN colour text;

`phase` is expand (yesterday's code still runs) or contract (nobody uses it any more). What lies between, the backfill
of rows, is no migration: under row level security the owner sees none. It is bulk work (`kernel.bulk`), which a worker
does organisation by organisation:

    0007_ticket_types.sql        expand: the column, without NOT NULL; the release writes it from now on
    @bulk("events.colour_types", of=ColourTypes)        a step colours some hundred rows that have none
    admitone bulk start events.colour_types --key 0007  in every organisation; `admitone bulk watch ID` until it is done
    0009_colour_is_needed.sql    contract, in a later release: NOT NULL, and what it replaces goes

Roles belong to the whole server, so they are made here and not in a file. `admitone_owner` owns every object and
nobody logs in as it; the runtime's login may become one of the runtime roles (`scope.Role`) and has no rights of its
own. A superuser can migrate, and so can, on a managed server, a login that may create roles and owns the database.
"""

import asyncio
import hashlib
import logging
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

import asyncpg

from admitone.kernel import embedded
from admitone.kernel.scope import Role

OWNER = "admitone_owner"
MIGRATIONS = Path(__file__).resolve().parents[3] / "migrations"
"""Beside the sources, which is where an editable install, the only one we ship, finds them."""

PARTITIONS = (timedelta(days=31), timedelta(days=93))
"""How far back and ahead logs have partitions: clocks may differ by a day, and a worker may be off for weeks."""

_OUR_LOCK = 0x61646D_69746F6E  # Any number that nobody else uses for an advisory lock; these are the letters "admiton".
_LOCK_TIMEOUT_MS = 4_000
_STATEMENT_TIMEOUT_MINUTES = 10
_ATTEMPTS = 8

log = logging.getLogger("admitone.migrate")


class MigrationProblem(Exception):
    """The schema cannot be moved; the text says which file and why, for the person who deploys."""


class Phase(StrEnum):
    EXPAND = "expand"
    CONTRACT = "contract"


@dataclass(frozen=True, slots=True)
class Migration:
    """One file."""

    number: int
    name: str
    sql: str
    why: str
    lock: str
    phase: Phase

    @property
    def file(self) -> str:
        return f"{self.number:04}_{self.name}.sql"

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


# -- Reading the folder

_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_HEADER = re.compile(r"--\s*(why|lock|phase):\s*(\S.*)")
# A file is one transaction, and it is not the file that ends it. (In plpgsql no semicolon follows BEGIN.)
_TRANSACTION_CONTROL = re.compile(
    r"^\s*(BEGIN|COMMIT|ROLLBACK|ABORT|START\s+TRANSACTION)(\s+(WORK|TRANSACTION))?\s*;", re.IGNORECASE | re.MULTILINE
)


def read_migrations(folder: Path = MIGRATIONS) -> list[Migration]:
    """Every file in its order, or a problem that names the file to mend."""
    if not folder.is_dir():
        raise MigrationProblem(f"There is no folder {folder}; install admitone from its source tree (pip install -e).")
    migrations = [_read(path) for path in sorted(folder.glob("*.sql"))]
    for expected, migration in enumerate(migrations, start=1):
        if migration.number < expected:
            twin = migrations[expected - 2].file
            raise MigrationProblem(f"{twin} and {migration.file}: two files have the number {migration.number:04}.")
        if migration.number > expected:
            raise MigrationProblem(f"{migration.file}: there is no file with the number {expected:04} before it.")
    return migrations


def _read(path: Path) -> Migration:
    named = _FILE.fullmatch(path.name)
    if named is None:
        raise MigrationProblem(f"{path.name}: a migration is called like 0007_ticket_types.sql.")
    sql = path.read_text(encoding="utf-8")
    header = _header(sql)
    missing = [key for key in ("why", "lock", "phase") if key not in header]
    if missing:
        raise MigrationProblem(
            f"{path.name}: the comment at its top lacks {', '.join(f'`-- {k}: …`' for k in missing)}."
        )
    if header["phase"] == "backfill":
        raise MigrationProblem(
            f"{path.name}: the owner sees no rows under row level security, so a backfill here would change none and be"
            " recorded as done. Write it as bulk work (kernel.bulk), which goes organisation by organisation, and run"
            " `admitone bulk start`."
        )
    if header["phase"] not in list(Phase):
        raise MigrationProblem(f"{path.name}: the phase is one of {', '.join(Phase)}, not {header['phase']!r}.")
    if _TRANSACTION_CONTROL.search(sql):
        raise MigrationProblem(f"{path.name}: each file is one transaction; it must not begin or end one itself.")
    return Migration(int(named[1]), named[2], sql, header["why"], header["lock"], Phase(header["phase"]))


def _header(sql: str) -> dict[str, str]:
    found = {}
    for line in sql.splitlines():
        if line.strip() and not line.startswith("--"):
            break
        if said := _HEADER.fullmatch(line.rstrip()):
            found[said[1]] = said[2]
    return found


# -- Applying


async def migrate(
    direct_url: str, *, runtime_login: str = embedded.RUNTIME_LOGIN, folder: Path = MIGRATIONS
) -> list[Migration]:
    """Bring the database to the folder's state; returns what was applied now."""
    migrations = read_migrations(folder)
    connection = await _connect(direct_url)
    try:
        # Held by the session: a second migrator waits here, and a killed one frees it.
        await connection.execute("SELECT pg_advisory_lock($1)", _OUR_LOCK)
        await _prepare(connection, runtime_login)
        pending = _pending(migrations, await _applied(connection))
        for migration in pending:
            await _apply_patiently(connection, migration)
        await _add_partitions(connection)
        await _foretell(connection)
        return pending
    finally:
        await connection.close()


async def _connect(direct_url: str) -> asyncpg.Connection:
    try:
        # A migrator that was killed in a long statement must not hold its locks until that statement ends.
        return await asyncpg.connect(direct_url, server_settings={"client_connection_check_interval": "1s"})
    except (OSError, asyncpg.PostgresError) as problem:
        raise MigrationProblem(f"The database cannot be reached: {problem}") from problem


async def _applied(connection: asyncpg.Connection) -> dict[int, tuple[str, str]]:
    async with connection.transaction():
        await connection.execute(f"SET LOCAL ROLE {OWNER}")
        rows = await connection.fetch("SELECT number, name, checksum FROM kernel.migration ORDER BY number")
    return {row["number"]: (row["name"], row["checksum"]) for row in rows}


def _pending(migrations: Sequence[Migration], applied: dict[int, tuple[str, str]]) -> list[Migration]:
    """What is left. Files that only the database knows belong to a later release, and that is allowed."""
    for migration in migrations:
        if applied.get(migration.number, (migration.name, migration.checksum)) != (migration.name, migration.checksum):
            raise MigrationProblem(
                f"{migration.file} was changed after it was applied to this database."
                " Restore it, and write what you want to change as a new file."
            )
    return [migration for migration in migrations if migration.number not in applied]


async def _apply_patiently(connection: asyncpg.Connection, migration: Migration) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return await _apply(connection, migration)
        except asyncpg.LockNotAvailableError:
            # Whoever queues behind our lock request waits as long as we do; so we step back and come again.
            log.info("%s waits for a lock (%s), attempt %d", migration.file, migration.lock, attempt)
            await asyncio.sleep(0.25 * attempt)
        except asyncpg.PostgresError as problem:
            raise MigrationProblem(f"{migration.file}: {problem}") from problem
    raise MigrationProblem(f"{migration.file} did not get its lock ({migration.lock}); run it again at a quieter time.")


async def _apply(connection: asyncpg.Connection, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = {_LOCK_TIMEOUT_MS}")
        await connection.execute(f"SET LOCAL statement_timeout = '{_STATEMENT_TIMEOUT_MINUTES}min'")
        await connection.execute("SET LOCAL search_path = pg_catalog")  # Names say their schema.
        await connection.execute(f"SET LOCAL ROLE {OWNER}")
        begun = await connection.fetchval("SELECT pg_current_xact_id()::text")
        await connection.execute(migration.sql)
        ended = await connection.fetchval("SELECT pg_current_xact_id()::text")
        if begun != ended or await connection.fetchval("SELECT current_user") != OWNER:
            raise MigrationProblem(f"{migration.file} left its transaction or its role.")
        await connection.execute(
            "INSERT INTO kernel.migration (number, name, checksum) VALUES ($1, $2, $3)",
            migration.number,
            migration.name,
            migration.checksum,
        )


async def _add_partitions(connection: asyncpg.Connection) -> None:
    """Logs need a partition to write to before the first worker keeps them ahead."""
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = {_LOCK_TIMEOUT_MS}")
        await connection.execute(f"SET LOCAL ROLE {OWNER}")
        if await connection.fetchval("SELECT to_regproc('kernel.add_partitions')"):
            await connection.execute(
                "SELECT kernel.add_partitions(now() - $1::interval, now() + $2::interval)", *PARTITIONS
            )


# A planner that has counted nothing takes it that there are 200 organisations, and that a table of a thousand rows has
# five of each: it would read all that an organisation has to find one row; and that of ten rows one is of a city that
# we may see, so that it compares each of a batch with each. Organisations and cities may as well be one, and a key is
# of one row. Who counts the rows overwrites this with the truth.
_FORETELL = """
    SELECT pg_restore_attribute_stats(
               'schemaname', t.relnamespace::regnamespace::text, 'relname', t.relname::text, 'attname', a.attname::text,
               'inherited', false, 'null_frac', 0::real,
               'avg_width', CASE WHEN a.attlen > 0 THEN a.attlen ELSE 32 END::integer,
               'n_distinct', CASE WHEN a.attname IN ('organization_id', 'city_code') THEN 1 ELSE -1 END::real)
      FROM pg_class AS t
      JOIN pg_attribute AS a ON a.attrelid = t.oid
      JOIN pg_index AS own ON own.indrelid = t.oid AND own.indisprimary
      JOIN pg_attribute AS whose ON whose.attrelid = t.oid AND whose.attnum = own.indkey[0]
     WHERE t.relkind = 'r'
       AND t.relowner = current_user::regrole
       AND t.reltuples <= 0
       AND whose.attname = 'organization_id'
       AND (a.attnum = whose.attnum
            OR a.attname = 'city_code'
            OR EXISTS (SELECT FROM pg_index AS i
                        WHERE i.indrelid = t.oid
                          AND i.indisunique
                          AND i.indpred IS NULL
                          AND i.indkey::text = concat(whose.attnum, ' ', a.attnum)))
"""


async def _foretell(connection: asyncpg.Connection) -> None:
    """What the planner is to believe of tables whose rows nobody has counted; PostgreSQL 18 and later can be told."""
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = {_LOCK_TIMEOUT_MS}")
        await connection.execute(f"SET LOCAL ROLE {OWNER}")
        if await connection.fetchval("SELECT to_regproc('pg_restore_attribute_stats')"):
            await connection.execute(_FORETELL)


# -- What must be there before the first file


async def _prepare(connection: asyncpg.Connection, runtime_login: str) -> None:
    """Roles, and the table that remembers. Two databases of one server may do this at once: the loser looks again."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            async with connection.transaction():
                await _ensure_roles(connection, runtime_login)
                await _ensure_memory(connection)
        except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError, asyncpg.InternalServerError):
            # The last is "tuple concurrently updated", which has no code of its own.
            if attempt == _ATTEMPTS:
                raise
            await asyncio.sleep(0.05 * attempt)
        except asyncpg.InsufficientPrivilegeError as problem:
            raise MigrationProblem(
                f"The login of DIRECT_URL lacks a right: {problem}."
                " It must be a superuser, or be allowed to create roles and own the database."
            ) from problem
        else:
            return


async def _ensure_roles(connection: asyncpg.Connection, runtime_login: str) -> None:
    login = _quoted(runtime_login)
    if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", runtime_login):
        raise MigrationProblem(f"There is no login {runtime_login} on this server; create it, then migrate again.")
    for role in (OWNER, *Role):
        if not await connection.fetchval("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role):
            await connection.execute(f"CREATE ROLE {role} NOLOGIN NOINHERIT")
    if not await connection.fetchval("SELECT pg_has_role($1, 'SET')", OWNER):
        await connection.execute(f"GRANT {OWNER} TO CURRENT_USER WITH INHERIT FALSE, SET TRUE")
    for role in Role:
        if not await connection.fetchval(_MAY_BECOME, role, runtime_login):
            await connection.execute(f"GRANT {role} TO {login} WITH INHERIT FALSE, SET TRUE")
    await _ensure_owner_may_create(connection)


# Two roles that one login may be, but whose rights it does not have until it says so.
_MAY_BECOME = """
    SELECT COALESCE(bool_or(m.set_option) AND NOT bool_or(m.inherit_option), FALSE)
      FROM pg_auth_members AS m
      JOIN pg_roles AS granted ON granted.oid = m.roleid
      JOIN pg_roles AS member ON member.oid = m.member
     WHERE granted.rolname = $1
       AND member.rolname = $2
"""


async def _ensure_owner_may_create(connection: asyncpg.Connection) -> None:
    if not await connection.fetchval("SELECT has_database_privilege($1, current_database(), 'CREATE')", OWNER):
        database = await connection.fetchval("SELECT quote_ident(current_database())")
        await connection.execute(f"GRANT CREATE ON DATABASE {database} TO {OWNER}")


# Row level security is on here as everywhere; only the owner, who migrates, has a policy.
_MEMORY = """
    CREATE SCHEMA IF NOT EXISTS kernel;
    CREATE TABLE kernel.migration (
        number     integer     PRIMARY KEY CHECK (number > 0),
        name       text        NOT NULL,
        checksum   text        NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    ALTER TABLE kernel.migration ENABLE ROW LEVEL SECURITY;
    ALTER TABLE kernel.migration FORCE ROW LEVEL SECURITY;
    CREATE POLICY migration_owner ON kernel.migration TO admitone_owner USING (TRUE) WITH CHECK (TRUE);
"""


async def _ensure_memory(connection: asyncpg.Connection) -> None:
    await connection.execute(f"SET LOCAL ROLE {OWNER}")
    if await connection.fetchval("SELECT to_regclass('kernel.migration')") is None:
        await connection.execute(_MEMORY)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# -- The schema as text

_NOISE = re.compile(r"\\(un)?restrict |SET default_(tablespace|table_access_method) = |-- PostgreSQL database dump")


def schema_of(url: str) -> str:
    """The schema of a database as SQL that says the same on every machine: what is committed as `schema.sql`."""
    # Partitions come and go with the weeks.
    words = ["--schema-only", "--exclude-table", "*.*_[0-9][0-9][0-9][0-9]_w[0-9][0-9]", "--dbname", url]
    dumped = subprocess.run([embedded.tool("pg_dump"), *words], capture_output=True, text=True, check=False)
    if dumped.returncode != 0:
        raise MigrationProblem(f"pg_dump failed: {dumped.stderr.strip()}")
    _, first, objects = dumped.stdout.partition("-- Name: ")  # Before the first object: versions and settings.
    lines = [line for line in (first + objects).splitlines() if line.strip("- ") and not _NOISE.match(line)]
    return "\n".join(f"\n{line}" if line.startswith("-- Name: ") else line for line in lines).strip() + "\n"
