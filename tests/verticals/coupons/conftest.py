"""A merchant for each test."""

from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest

from admitone.entrypoints.http import Application
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.verticals.coupons.shop import Shop, a_coupon_shop


@pytest.fixture
async def shop(
    site: httpx.AsyncClient,
    application: Application,
    database: Database,
    superuser: asyncpg.Connection,
    batcher: Batcher,
) -> AsyncIterator[Shop]:
    async with a_coupon_shop(site, application.edge, database, superuser, batcher) as shop:
        yield shop
