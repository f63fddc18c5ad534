"""A world an hour ago, with the fees of the unification's table, and a proof that its books are the provider's."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from admitone.finance.gateways.sandbox.charges import Terms
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from tests.finance.proof.books import AN_HOUR, proved, red
from tests.finance.world import World, a_world

AS_IN_THE_TABLE = Terms(fee_bps=290, fee_fixed_minor=30, dispute_fee_minor=1_500)


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    """An hour earlier, so that nothing of it is in flight when it is proved."""
    async with Database(database_url, clock=Clock(-AN_HOUR)) as database:
        batcher = Batcher(database)
        settings = {"clock": lambda: datetime.now(UTC) - AN_HOUR, "terms": AS_IN_THE_TABLE}
        async with a_world(database, batcher, **settings) as world:
            yield world
        await batcher.drain()


@pytest.fixture
async def prove(world: World, database: Database, batcher: Batcher) -> AsyncIterator[None]:
    """In the end the provider's journal says what the ledger says, row for row."""
    yield
    assert red(await proved(database, batcher, world.organization)) == set()
