"""A stage for each test."""

import asyncpg
import httpx
import pytest

from admitone.kernel.db import Database
from tests.verticals.events.stage import Stage, a_stage


@pytest.fixture
async def stage(site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection) -> Stage:
    return await a_stage(site, database, superuser)
