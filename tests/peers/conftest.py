"""Collected only by `make peers`."""

import os
from collections.abc import AsyncIterator

import asyncpg
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.db import Database
from admitone.kernel.outbound import Outbound
from admitone.kernel.telemetry import Metrics

collect_ignore_glob = [] if os.environ.get("PEERS") else ["test_*.py"]


@pytest.fixture(scope="module")
async def outbound(database: Database) -> AsyncIterator[Outbound]:
    metrics = Metrics()
    async with Outbound(Breakers(Batcher(database), metrics), metrics) as outbound:
        yield outbound


@pytest.fixture(autouse=True)
async def a_closed_breaker(superuser: asyncpg.Connection) -> AsyncIterator[None]:
    yield
    await superuser.execute("DELETE FROM kernel.breaker WHERE dependency = 'stripe'")
