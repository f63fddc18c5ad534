"""A database of its own for a bench: durable as in production, seeded with organisations that increment counters."""

import asyncio
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from admitone.kernel import embedded
from admitone.kernel.crypto import new_secret
from admitone.kernel.embedded import SUPERUSER, Cluster
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.migrate import migrate

HERE = Path(__file__).parent
TOY_SCHEMA = HERE.parent / "tests" / "toy" / "schema.sql"
COUNTERS = 10_000
"""Of all organisations together, so that the tables are equally large whatever the number of organisations."""
CREDENTIALS = 2_000
RUN_LOGIN = "bench_one_by_one"


@dataclass(frozen=True)
class Member:
    """Who sends load: a key, its organisation, and the counters there."""

    credential: str
    digest: bytes
    organization: OrganizationId
    counters: int


@dataclass(frozen=True)
class Ground:
    cluster: Cluster
    database: str
    members: tuple[Member, ...]

    @property
    def url(self) -> str:
        return self.cluster.url(database=self.database)

    def psql(self, *words: str) -> None:
        self._tool("psql", "-q", "-v", "ON_ERROR_STOP=1", "-U", SUPERUSER, *words)

    def pgbench(self, script: Path, *, login: str, seconds: int) -> float:
        """Transactions per second of a script that pgbench runs one by one."""
        said = self._tool(
            "pgbench", "-n", "-M", "prepared", "-U", login, "-c", "32", "-j", "2", "-T", str(seconds), "-f", str(script)
        )
        [line] = [line for line in said.splitlines() if line.startswith("tps = ")]
        return float(line.split()[2])

    def _tool(self, name: str, *words: str) -> str:
        socket = self.cluster.server.socket_folder
        command = [str(embedded.tool(name)), "-h", str(socket), *words, self.database]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr.strip()}")
        return done.stdout


@contextmanager
def a_cluster() -> Iterator[Cluster]:
    """Durable: a bench without fsync measures nothing."""
    with Cluster.temporary({"fsync": "on", "full_page_writes": "on"}) as cluster:
        yield cluster


def a_ground(cluster: Cluster, *, organizations: int, policies: bool = True, name: str = "") -> Ground:
    name = name or f"bench_{organizations}"
    members = asyncio.run(_make(cluster, name, organizations, policies))
    return Ground(cluster, name, tuple(members))


async def _make(cluster: Cluster, name: str, organizations: int, policies: bool) -> list[Member]:
    await run_sql(cluster.url(SUPERUSER, "postgres"), f"CREATE DATABASE {name}")
    url = cluster.url(SUPERUSER, name)
    await migrate(url)
    await run_sql(url, f"SET ROLE admitone_owner; {TOY_SCHEMA.read_text()}")
    connection = await asyncpg.connect(url)
    try:
        members = await _seed(connection, organizations)
        await _let_one_login_run_all(connection)
        if not policies:
            await _lift_policies(connection)
        # Only what was seeded: plans that were made for a table known to be empty read all of it when it is full.
        await connection.execute("VACUUM ANALYZE toy.counter, toy.credential, kernel.tenant")
    finally:
        await connection.close()
    return members


async def _seed(connection: asyncpg.Connection, organizations: int) -> list[Member]:
    owners = [OrganizationId.new() for _ in range(organizations)]
    each = max(1, COUNTERS // organizations)
    ids = [owner.uuid for owner in owners]
    await connection.execute("INSERT INTO kernel.tenant SELECT unnest($1::uuid[]), now()", ids)
    await connection.execute(
        "INSERT INTO toy.counter (organization_id, name, ceiling) "
        "SELECT o, 'counter_' || n, 1000000000000 FROM unnest($1::uuid[]) AS o, generate_series(1, $2) AS n",
        ids,
        each,
    )
    members = []
    for number in range(max(CREDENTIALS, organizations)):
        owner = owners[number % organizations]
        secret = new_secret("key", owner)
        members.append(Member(secret.text, secret.digest, owner, each))
    await connection.executemany(
        "INSERT INTO toy.credential VALUES ($1, $2, $3, '{toy.increment}')",
        [(member.digest, IdentityId.new().uuid, member.organization.uuid) for member in members],
    )
    return members


async def _let_one_login_run_all(connection: asyncpg.Connection) -> None:
    """pgbench has one login per connection: one that inherits what two of our roles may, policies included."""
    exists = await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", RUN_LOGIN)
    if not exists:
        await connection.execute(f"CREATE ROLE {RUN_LOGIN} LOGIN IN ROLE admitone_app, admitone_authority")


async def _lift_policies(connection: asyncpg.Connection) -> None:
    tables = await connection.fetch("SELECT oid::regclass::text AS name FROM pg_class WHERE relrowsecurity")
    for table in tables:
        await connection.execute(f"ALTER TABLE {table['name']} DISABLE ROW LEVEL SECURITY")


async def run_sql(url: str, sql: str, *values: Any) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(sql, *values)
    finally:
        await connection.close()


@contextmanager
def a_script(text: str) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile("w", suffix=".pgb") as file:
        file.write(text)
        file.flush()
        yield Path(file.name)
