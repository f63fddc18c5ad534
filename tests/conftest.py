"""One embedded cluster for the whole run, one template database, one clone of it per worker.

Nothing of ours is replaced by a double. Tests share their worker's database and keep apart by organisation.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import asyncpg
import httpx
import pytest
from hypothesis import HealthCheck, settings

from admitone.entrypoints.http import assemble
from admitone.entrypoints.modules import MODULES
from admitone.kernel.batch import Batcher
from admitone.kernel.config import Config
from admitone.kernel.contracts import Edge
from admitone.kernel.db import Database
from admitone.kernel.embedded import SUPERUSER, Cluster
from admitone.kernel.ids import uuid7
from admitone.kernel.migrate import migrate
from tests.people import application, site  # noqa: F401, fixtures for all
from tests.toy.authority import ToyAuthority
from tests.toy.module import MODULE

# How long it takes to think of examples depends on who else uses the machine.
settings.register_profile("ours", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ours")

TEMPLATE = "admitone_template"
CLUSTER = "ADMITONE_TEST_CLUSTER"
TOY_SCHEMA = Path(__file__).parent / "toy" / "schema.sql"


class Clone(NamedTuple):
    """Where a clone of the template is found, by the application and by whoever may do anything."""

    url: str
    superuser_url: str


class TestCluster:
    """The running cluster as the workers see it: an address with blanks for login and database."""

    __test__ = False

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def url(self, database: str, user: str = "admitone") -> str:
        return self.pattern.replace("{user}", user).replace("{database}", database)

    @asynccontextmanager
    async def clone(self) -> AsyncIterator[Clone]:
        """A database of one's own, where nobody has ever been; gone when it is over."""
        name, admin = f"clone_{uuid7().hex}", self.url("postgres", SUPERUSER)
        await run_as_superuser(admin, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        try:
            yield Clone(self.url(name), self.url(name, SUPERUSER))
        finally:
            await run_as_superuser(admin, f"DROP DATABASE {name} WITH (FORCE)")


async def make_template(cluster: Cluster) -> None:
    await run_as_superuser(cluster.url(SUPERUSER, "postgres"), f"CREATE DATABASE {TEMPLATE}")
    url = cluster.url(SUPERUSER, TEMPLATE)
    await migrate(url)
    await run_as_superuser(url, f"SET ROLE admitone_owner; {TOY_SCHEMA.read_text()}")


async def run_as_superuser(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def start_cluster(config: pytest.Config) -> str:
    """Start the cluster once; it ends with the run."""
    context = Cluster.temporary({"max_connections": "200"})
    cluster = context.__enter__()
    config.add_cleanup(lambda: context.__exit__(None, None, None))
    asyncio.run(make_template(cluster))
    return cluster.url("{user}", "{database}").replace("%7B", "{").replace("%7D", "}")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None):
        os.environ[CLUSTER] = start_cluster(config)


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> TestCluster:
    return TestCluster(os.environ.get(CLUSTER) or start_cluster(request.config))


@pytest.fixture(scope="session")
def database_name(cluster: TestCluster, worker_id: str) -> str:
    """This worker's clone of the template."""
    name = f"admitone_{worker_id}"
    admin = cluster.url("postgres", SUPERUSER)
    asyncio.run(run_as_superuser(admin, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}"))
    return name


@pytest.fixture
async def clone(cluster: TestCluster) -> AsyncIterator[Clone]:
    """For a test that nobody else may disturb, or that would disturb others."""
    async with cluster.clone() as clone:
        yield clone


@pytest.fixture(scope="session")
def database_url(cluster: TestCluster, database_name: str) -> str:
    return cluster.url(database_name)


@pytest.fixture(scope="session")
def superuser_url(cluster: TestCluster, database_name: str) -> str:
    """For what only an operator can do: breaking things, and reading the catalog."""
    return cluster.url(database_name, SUPERUSER)


@pytest.fixture(scope="session")
async def database(database_url: str) -> AsyncIterator[Database]:
    async with Database(database_url) as database:
        yield database


@pytest.fixture
async def batcher(database: Database) -> AsyncIterator[Batcher]:
    batcher = Batcher(database)
    yield batcher
    await batcher.drain()


@pytest.fixture
async def superuser(superuser_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(superuser_url)
    yield connection
    await connection.close()


INTERNAL_SECRET = "the internal secret of all tests, long enough"


@pytest.fixture(scope="session")
async def edge(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """The toy behind the real edge, on this worker's database."""
    surroundings = {
        "DATABASE_URL": database_url,
        "ADMITONE_DATA": str(tmp_path_factory.mktemp("home")),
        "ORYA_CRON_SECRET": INTERNAL_SECRET,
    }
    toy = assemble(Config.load(surroundings), [*MODULES, MODULE], ToyAuthority(), strict=True)
    await toy.start()
    yield toy.edge
    await toy.close()


@pytest.fixture
async def http(edge: Edge) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(edge, client=("203.0.113.9", 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://admitone.test") as client:
        yield client
