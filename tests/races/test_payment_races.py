"""Money that comes in the moment in which a payment ends: it pays, or it goes back, and never both or neither."""

import asyncio
import random
from collections import Counter
from datetime import UTC, datetime

import msgspec
import pytest

from admitone.finance.gateways.api import FactKind, Method
from admitone.finance.gateways.sandbox import reading
from admitone.finance.ledger import api as ledger
from admitone.finance.payments import errands
from admitone.finance.payments.asking import Clerk
from admitone.finance.payments.commands.recording import record
from admitone.finance.payments.facts import ReceiptUnapplied
from admitone.finance.payments.model import Status, Told
from admitone.finance.payments.store.receipts import find_receipts
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.scope import Caller
from tests.finance.world import World, a_world

ROUNDS = 25
PAID, BACK = Status.SUCCEEDED, Status.REFUNDED
MOMENTS: dict[str, set[Status]] = {
    "at once": {PAID},
    "at once, and the webhook is late": {PAID},
    "while we ask": {PAID, BACK},
    "when the provider has closed it": {BACK},
    "when we have closed it": {BACK},
}
"""When the customer pays, and what may become of it."""


@pytest.mark.covers("PAY-053")
@pytest.mark.parametrize("method", Method)
async def test_paid_in_the_moment_it_expires_is_paid_or_given_back(
    database: Database, batcher: Batcher, database_url: str, method: Method
):
    chance = random.Random(method)
    ends: Counter[Status] = Counter()
    async with Database(database_url) as another, a_world(database, batcher) as world:
        other = Batcher(another)
        for number in range(ROUNDS):
            currency = "BRL" if method is Method.PIX else "EUR"
            source = world.shop.sells(world.buyer.identity, 5000, currency=currency)
            payment, charge = await world.opened(source, method=method)
            moment = [*MOMENTS][number % len(MOMENTS)]
            closing = asyncio.create_task(expires(world, Desk(another, other), payment))
            await pays(world, payment, charge, moment, chance, closing)
            await closing
            if (await world.payment(payment)).status is Status.NEEDS_MANUAL:
                await gives_back(world, payment)
            await world.clerk.ask(world.organization, payment, Caller())
            end = await one_end(world, payment)
            assert end in MOMENTS[moment]
            ends[end] += 1
        await other.drain()
        trials = await database.read(world.scope, ledger.trial_balance)
        assert all(trial.debits_minor == trial.credits_minor for trial in trials)
        assert not any(trial.accounts.get(ledger.Account.SUS) for trial in trials)
    assert ends.total() == ROUNDS
    assert set(ends) == {Status.SUCCEEDED, Status.REFUNDED}, "both ways were taken"


async def pays(
    world: World,
    payment: PaymentId,
    charge: str,
    moment: str,
    chance: random.Random,
    closing: asyncio.Task[None],
) -> None:
    """The customer pays, at a provider that takes money for what it had closed; its webhooks tell us."""
    if moment == "while we ask":
        await asyncio.sleep(chance.random() * 0.01)
    elif moment == "when the provider has closed it":
        while world.simulator.get(charge).status not in ("canceled", "cancelled"):  # noqa: ASYNC110  Neither
            await asyncio.sleep(0)
    elif moment == "when we have closed it":
        while (await world.payment(payment)).status is not Status.EXPIRED:  # noqa: ASYNC110  tells us.
            await asyncio.sleep(0)
    world.simulator.act("pay", charge, late=True)
    if moment == "at once, and the webhook is late":
        await closing
    for event in world.simulator.list_events_about(charge):
        understood = reading.read_event(msgspec.json.encode(event), "sandbox")
        told = Told(Caller(), payment, world.gateway.provider, understood.refs, understood.facts)
        await asyncio.gather(*(world.submit(record, told) for _ in range(chance.choice([1, 2]))))


async def expires(world: World, desk: Desk, payment: PaymentId) -> None:
    """The sweep, in another process."""
    assert await Clerk.at(desk).close(world.organization, payment, FactKind.EXPIRED, Caller())


async def gives_back(world: World, payment: PaymentId) -> None:
    [receipt] = await world.database.read(world.scope, find_receipts, payment)
    heard = ReceiptUnapplied(
        payment_id=payment,
        reason=receipt.reason,
        amount_minor=receipt.amount_minor,
        currency=receipt.currency,
    )
    job = Delivered(uuid7(), world.organization, heard, Caller(), "key", None, 1, datetime.now(UTC))
    both = (errands.see_to_receipt.work(Desk(world.database, world.batcher), job) for _ in range(2))
    await asyncio.gather(*both)


async def one_end(world: World, payment: PaymentId) -> Status:
    row = await world.payment(payment)
    entries = Counter(entry for entry, *_ in await world.transfers(payment))
    if row.status is Status.SUCCEEDED:
        assert row.applied
        assert entries == {"GROSS": 1, "PLATFORM_FEE": 1, "TRANSFER_TO_ORG": 1}
    else:
        assert not row.applied
        moved = {"TRANSFER_TO_ORG": 1, "TRANSFER_REVERSAL": 1}
        assert entries == {"UNAPPLIED_RECEIPT": 1, "UNAPPLIED_REFUND": 1, "REFUND_SETTLED": 1} | moved
    return row.status
