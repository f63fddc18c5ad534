"""What every test of the adapter needs: a way out, and somebody who plays Stripe."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.db import Database
from admitone.kernel.outbound import Outbound
from admitone.kernel.telemetry import Metrics
from tests.finance.gateways.stripe.stages import StripeStage, a_stage


@pytest.fixture(scope="module")
async def outbound(database: Database) -> AsyncIterator[Outbound]:
    metrics = Metrics()
    async with Outbound(Breakers(Batcher(database), metrics), metrics) as outbound:
        yield outbound


@pytest.fixture
async def stage(outbound: Outbound) -> AsyncIterator[StripeStage]:
    async with a_stage(outbound) as stage:
        yield stage


@pytest.fixture(autouse=True)
async def a_closed_breaker(superuser: asyncpg.Connection) -> AsyncIterator[None]:
    """Whatever a test did to it: all of them share it."""
    yield
    await superuser.execute("DELETE FROM kernel.breaker WHERE dependency = 'stripe'")
