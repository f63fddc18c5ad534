"""A PostgreSQL that is durable as in production, in which every world gets a database of its own."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from admitone.kernel.embedded import SUPERUSER, Cluster, keeper
from admitone.kernel.migrate import migrate
from bench.ground import run_sql

TOY_SCHEMA = Path(__file__).parents[2] / "tests" / "toy" / "schema.sql"
TEMPLATE = "faults_template"
HASTY = {"fsync": "off", "full_page_writes": "off"}
"""For what is made before anything breaks."""
SMALL = {"shared_buffers": "64MB", "max_wal_size": "256MB"}


@dataclass(frozen=True)
class Installation:
    cluster: Cluster
    _numbers: count = field(default_factory=lambda: count(1))  # type: ignore[type-arg]

    @property
    def home(self) -> Path:
        return self.cluster.home

    async def clone(self) -> str:
        """The name of a new database with the schema of everything."""
        name = f"faults_{next(self._numbers)}"
        await run_sql(self.cluster.url(SUPERUSER, "postgres"), f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        return name


@contextmanager
def an_installation(home: Path | None = None, **settings: str) -> Iterator[Installation]:
    """It ends with the block, and its data with it."""
    home = home or Path(tempfile.mkdtemp(prefix="admitone-faults-"))
    home.mkdir(exist_ok=True)
    home.chmod(0o711)
    with Cluster(home, HASTY, tell=_silence) as hasty:
        asyncio.run(_make_template(hasty))
    cluster = Cluster(home, {**SMALL, **settings}, tell=_silence)
    assert cluster.settings.get("fsync", "on") == "on"
    # Whoever keeps a server that dies often waits longer each time; here it dies on purpose.
    patience, keeper._SETTLED_SECONDS = keeper._SETTLED_SECONDS, 0.0
    try:
        cluster.start()
        yield Installation(cluster)
    finally:
        keeper._SETTLED_SECONDS = patience
        cluster.remove()


def _silence(text: str) -> None:  # noqa: ARG001  It dies on purpose, and often.
    return


async def _make_template(cluster: Cluster) -> None:
    await run_sql(cluster.url(SUPERUSER, "postgres"), f"CREATE DATABASE {TEMPLATE}")
    url = cluster.url(SUPERUSER, TEMPLATE)
    await migrate(url)
    await run_sql(url, f"SET ROLE admitone_owner; {TOY_SCHEMA.read_text()}")
