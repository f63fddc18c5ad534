"""A world of money for every test that asks for one."""

from collections.abc import AsyncIterator

import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.finance.world import World, a_world


@pytest.fixture
async def world(database: Database, batcher: Batcher) -> AsyncIterator[World]:
    async with a_world(database, batcher) as world:
        yield world
