"""`schema.sql` says what the migrations make, and a database that was changed by hand is noticed.

After a new migration, `make golden` writes the file anew.
"""

import asyncio
import difflib

import pytest

from admitone.kernel.embedded import SUPERUSER
from admitone.kernel.migrate import migrate, schema_of
from tests.architecture.source_tree import REPOSITORY
from tests.conftest import TestCluster, run_as_superuser

COMMITTED = REPOSITORY / "schema.sql"


@pytest.fixture(scope="module")
async def migrated(cluster: TestCluster, worker_id: str) -> str:
    """The address of a database with the migrations and nothing else."""
    name = f"admitone_schema_{worker_id}"
    await run_as_superuser(cluster.url("postgres", SUPERUSER), f"CREATE DATABASE {name}")
    await migrate(cluster.url(name, SUPERUSER))
    return cluster.url(name, SUPERUSER)


async def drift(url: str) -> list[str]:
    """The lines in which a database differs from `schema.sql`."""
    there = await asyncio.to_thread(schema_of, url)
    return list(difflib.unified_diff(COMMITTED.read_text().splitlines(), there.splitlines(), lineterm="", n=0))


@pytest.mark.covers("OPS-022")
async def test_the_committed_schema_is_what_the_migrations_make(migrated: str):
    assert await drift(migrated) == []


@pytest.mark.covers("OPS-022")
@pytest.mark.parametrize(
    ("change", "back"),
    [
        ("ALTER TABLE kernel.tenant ADD note text", "ALTER TABLE kernel.tenant DROP note"),
        ("GRANT DELETE ON kernel.tenant TO admitone_app", "REVOKE DELETE ON kernel.tenant FROM admitone_app"),
        ("ALTER TABLE kernel.tenant NO FORCE ROW LEVEL SECURITY", "ALTER TABLE kernel.tenant FORCE ROW LEVEL SECURITY"),
    ],
)
async def test_a_change_by_hand_is_seen(migrated: str, change: str, back: str):
    await run_as_superuser(migrated, change)
    try:
        assert await drift(migrated) != []
    finally:
        await run_as_superuser(migrated, back)
