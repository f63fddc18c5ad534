"""Books that are an hour old, so that nothing of them is in flight."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.finance.proof.books import an_old_world
from tests.finance.reconciliation.books import Sides


@pytest.fixture(autouse=True)
async def nobody_waits(superuser: asyncpg.Connection) -> None:
    """An event that another test left waiting may be anybody's, and excuses what differs."""
    await superuser.execute(
        "UPDATE webhooks.receipt SET state = 'IGNORED', settled_at = now() WHERE state = 'RECEIVED'"
    )


@pytest.fixture
async def sides(database_url: str, database: Database, batcher: Batcher) -> AsyncIterator[Sides]:
    async with an_old_world(database_url) as world:
        yield Sides(world, database_url, database, batcher)
