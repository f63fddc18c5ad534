"""A database of a module's own, that no server of this run watches: what is seen there, the test's own watch saw.

Every server of a run watches the worker's database. Whoever counts how often something was seen, or reads in the log
who saw it first, imports these instead of the fixtures of the same names.
"""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from admitone.kernel.db import Database
from admitone.kernel.embedded import SUPERUSER
from tests.conftest import TEMPLATE, TestCluster, run_as_superuser


@pytest.fixture(scope="module")
async def database_name(cluster: TestCluster, worker_id: str) -> AsyncIterator[str]:
    name, admin = f"admitone_unwatched_{worker_id}", cluster.url("postgres", SUPERUSER)
    await run_as_superuser(admin, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    yield name
    await run_as_superuser(admin, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def database_url(cluster: TestCluster, database_name: str) -> str:
    return cluster.url(database_name)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A test may turn its clock."""
    async with Database(database_url) as database:
        yield database


@pytest.fixture
async def superuser(cluster: TestCluster, database_name: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(cluster.url(database_name, SUPERUSER))
    yield connection
    await connection.close()
