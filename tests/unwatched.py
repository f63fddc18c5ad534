"""A database of a module's own, that no server of this run watches: what is seen there, the test's own watch saw.

Every server of a run watches the worker's database. Whoever counts how often something was seen, or reads in the log
who saw it first, imports these instead of the fixtures of the same names.
"""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from admitone.kernel.db import Database
from tests.conftest import Clone, TestCluster


@pytest.fixture(scope="module")
async def unwatched(cluster: TestCluster) -> AsyncIterator[Clone]:
    async with cluster.clone() as clone:
        yield clone


@pytest.fixture(scope="module")
def database_url(unwatched: Clone) -> str:
    return unwatched.url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A test may turn its clock."""
    async with Database(database_url) as database:
        yield database


@pytest.fixture
async def superuser(unwatched: Clone) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(unwatched.superuser_url)
    yield connection
    await connection.close()
