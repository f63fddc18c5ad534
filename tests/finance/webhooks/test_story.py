"""A provider that tells late, twice, out of order, not at all and falsely: the payment ends where the provider says."""

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.sandbox.faults import Forgery
from admitone.finance.gateways.sandbox.keys import CARD_ROUTE, CONNECT_ROUTE, source_of
from admitone.finance.gateways.sandbox.objects import Intent
from admitone.finance.gateways.sandbox.simulator import Delivery
from admitone.finance.gateways.signature import sign
from admitone.finance.payments.errands import fetch_fees_of
from admitone.finance.payments.model import FeesStatus, Status
from admitone.finance.webhooks.handlers.applying import apply
from admitone.finance.webhooks.handlers.mourning import tell
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.scope import Caller
from tests.finance.webhooks.ground import at_work, hurry
from tests.finance.webhooks.provider import an_event, as_sent
from tests.finance.webhooks.test_polling import a_run
from tests.finance.world import World
from tests.jobs import DEADLINE_SECONDS, a_worker, duties

SEEDS = range(6)


async def deliver(site: httpx.AsyncClient, deliveries: Sequence[Delivery]) -> None:
    for each in deliveries:
        answer = await site.post(each.path, content=each.body, headers=dict(each.headers))
        assert answer.status_code == (200 if each.forgery is Forgery.NONE else 400), answer.text


async def until_heard(superuser: asyncpg.Connection) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while await superuser.fetchval("SELECT count(*) FROM kernel.job WHERE kind LIKE 'webhooks.%'"):
            await hurry(superuser)
            await asyncio.sleep(0.02)


async def a_balance(world: World, site: httpx.AsyncClient, account: str | None) -> None:
    """Something became available; the provider does not say of which charges."""
    said = an_event("balance.available", account=account, object={"object": "balance"})
    route = CONNECT_ROUTE if account else CARD_ROUTE
    signed = sign(as_sent(said), world.simulator.keys.signing(source_of(route)), datetime.now(UTC))
    answer = await site.post(route, content=as_sent(said), headers={"stripe-signature": signed})
    assert answer.status_code == 200, answer.text


async def until_asked(superuser: asyncpg.Connection) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while await superuser.fetchval("SELECT count(*) FROM kernel.job WHERE kind = $1", fetch_fees_of.name):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.covers("FIN-064", "FIN-042")
@pytest.mark.parametrize("is_the_platforms", [True, False], ids=["of the platform", "of an account"])
async def test_when_a_balance_becomes_available_fees_become_final(
    world: World, site: httpx.AsyncClient, superuser: asyncpg.Connection, database: Database, is_the_platforms: bool
):
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    world.simulator.act("pay", charge)
    async with a_worker(database, duties(resolve, apply, tell, fetch_fees_of)):
        await deliver(site, world.simulator.due_deliveries())
        await until_heard(superuser)
        world.simulator.act("tell_fees", charge)  # What tells of it by name is lost.
        assert (await world.payment(payment)).processor_fees_status is FeesStatus.PENDING
        intent = world.simulator.get(charge)
        assert isinstance(intent, Intent) and intent.destination
        await a_balance(world, site, None if is_the_platforms else intent.destination)
        await until_heard(superuser)
        await until_asked(superuser)
    ended = await world.payment(payment)
    assert (ended.processor_fees_status, ended.processor_fees_actual) == (FeesStatus.FINAL, 100)
    assert [entry for entry, *_ in await world.transfers(payment)].count("PROCESSOR_FEES_FINAL") == 1


@pytest.mark.covers("FIN-064")
@pytest.mark.parametrize(
    ("deeds", "status", "entry"),
    [
        ([("refund", {"key": "r1"})], Status.REFUNDED, "REFUND_GROSS"),
        ([("refund", {"key": "r1", "amount": 2000})], Status.PARTIAL_REFUND, "REFUND_GROSS"),
        ([("dispute", {})], Status.DISPUTED, "DISPUTE_FUNDS_WITHDRAWN"),
        ([("dispute", {}), ("win", {})], Status.CHARGEBACK_WON, "DISPUTE_FUNDS_REINSTATED"),
        ([("dispute", {}), ("lose", {})], Status.CHARGEBACK_LOST, "CHARGEBACK_GROSS"),
    ],
)
async def test_what_is_undone_comes_through_the_door(
    world: World,
    site: httpx.AsyncClient,
    superuser: asyncpg.Connection,
    database: Database,
    deeds: list[tuple[str, dict[str, Any]]],
    status: Status,
    entry: str,
):
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    async with at_work(database):
        for deed, how in (("pay", {}), *deeds):
            world.simulator.act(deed, charge, **how)
            due = world.simulator.due_deliveries()
            await deliver(site, due)
            world.simulator.delivered(*due)
            await until_heard(superuser)
    if status is Status.CHARGEBACK_LOST:  # The last word is not taken from one event: whoever hears it asks.
        await world.clerk.ask(world.organization, payment, Caller())
    assert (await world.payment(payment)).status is status
    entries = [each for each, *_ in await world.transfers(payment)]
    assert entries.count(entry) == 1, entries


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
