"""A hall for each test."""

from collections.abc import Iterator

import pytest

from admitone.entitlements.port import KINDS, OWN
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.entitlements.rights import Hall, a_hall


@pytest.fixture(autouse=True)
def _kinds() -> Iterator[None]:
    with KINDS.wired({kind.name: kind for kind in OWN}):
        yield


@pytest.fixture
async def hall(database: Database, batcher: Batcher) -> Hall:
    return await a_hall(database, batcher)
