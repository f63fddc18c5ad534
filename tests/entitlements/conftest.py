"""A hall for each test."""

import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.entitlements.rights import Hall, a_hall


@pytest.fixture
async def hall(database: Database, batcher: Batcher) -> Hall:
    return await a_hall(database, batcher)
