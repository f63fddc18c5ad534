"""A stage for each test, and a box office for those that sell."""

from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.verticals.events.office import Office, an_office
from tests.verticals.events.stage import Stage, a_stage


@pytest.fixture
async def stage(site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection) -> Stage:
    return await a_stage(site, database, superuser)


@pytest.fixture
async def office(stage: Stage, batcher: Batcher) -> AsyncIterator[Office]:
    async with an_office(stage, batcher) as office:
        yield office
