"""A provider that tells late, twice, out of order, not at all and falsely: the payment ends where the provider says."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.sandbox.faults import Forgery
from admitone.finance.gateways.sandbox.simulator import Delivery
from admitone.finance.payments.model import Status
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.finance.webhooks.ground import at_work, hurry
from tests.finance.webhooks.test_polling import a_run
from tests.finance.world import World
from tests.jobs import DEADLINE_SECONDS

SEEDS = range(6)


@pytest.fixture(autouse=True)
async def from_the_beginning(superuser: asyncpg.Connection) -> AsyncIterator[None]:
    yield
    await superuser.execute("DELETE FROM webhooks.cursor")


async def deliver(site: httpx.AsyncClient, deliveries: Sequence[Delivery]) -> None:
    for each in deliveries:
        answer = await site.post(each.path, content=each.body, headers=dict(each.headers))
        assert answer.status_code == (200 if each.forgery is Forgery.NONE else 400), answer.text


async def until_heard(superuser: asyncpg.Connection) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while await superuser.fetchval("SELECT count(*) FROM kernel.job WHERE kind LIKE 'webhooks.%'"):
            await hurry(superuser)
            await asyncio.sleep(0.02)


@pytest.mark.covers("OPS-041", "FIN-051", "PAY-023")
@pytest.mark.parametrize("seed", SEEDS)
async def test_however_a_provider_tells_it_the_payment_ends_where_it_says(
    world: World,
    site: httpx.AsyncClient,
    superuser: asyncpg.Connection,
    database: Database,
    batcher: Batcher,
    seed: int,
):
    chance = random.Random(seed)
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    world.simulator.act("pay", charge)
    world.simulator.act("refund", charge, amount=2000, key="r1")
    told = world.simulator.due_deliveries()
    assert len(told) >= 2
    came = [each for each in told for _ in range(chance.choice((0, 1, 1, 3)))]
    chance.shuffle(came)
    async with at_work(database):
        await deliver(site, came)
        await until_heard(superuser)
        await a_run(database, batcher)  # What was lost is asked for.
        await until_heard(superuser)
    ended = await world.payment(payment)
    assert (ended.status, ended.captured_minor, ended.refunded_minor) == (Status.PARTIAL_REFUND, 5000, 2000)
    entries = [entry for entry, *_ in await world.transfers(payment)]
    assert entries.count("GROSS") == entries.count("REFUND_GROSS") == 1
    states = await superuser.fetch(
        "SELECT state FROM webhooks.receipt WHERE organization_id = $1", world.organization.uuid
    )
    assert {row["state"] for row in states} == {"PROCESSED"}
