"""Asking the provider: what is repeated is the same, and nothing is closed that may still be paid."""

import asyncio
from datetime import UTC, datetime

import pytest

from admitone.entrypoints.duties import duties_of
from admitone.finance.gateways.api import FactKind
from admitone.finance.gateways.sandbox.charges import No
from admitone.finance.gateways.sandbox.faults import CallFault, Faults
from admitone.finance.payments.asking import Case
from admitone.finance.payments.commands.checkouts import begin
from admitone.finance.payments.commands.receipts import Decision
from admitone.finance.payments.errands import PATIENCE_OF_RETURNS, close_spent, complete_intents
from admitone.finance.payments.facts import FACTS as PAYMENT_FACTS
from admitone.finance.payments.facts import AttemptsSpent
from admitone.finance.payments.model import Status
from admitone.finance.sources.api import SourceType
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.errors import OutcomeUnknown, Unavailable
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk, Subscription
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from tests.finance.world import World, a_world
from tests.jobs import a_worker


@pytest.mark.covers("PAY-042", "PAY-044", "PAY-045")
@pytest.mark.parametrize("fault", [CallFault.LOST, CallFault.ERROR_AFTER, CallFault.ERROR_BEFORE])
async def test_who_heard_nothing_and_asks_again_is_given_the_same_charge(
    database: Database, batcher: Batcher, fault: CallFault
):
    """Also under another correlation id: a request that is repeated is another request, and the same order."""
    async with a_world(database, batcher) as world:
        world.simulator.misbehave(Faults(script=(fault,)))
        order = world.shop.sells(world.buyer.identity, 5000)
        begun = await world.begin(order, key="once")
        case = Case(begun.payment, (begun.intent,))
        with pytest.raises(OutcomeUnknown):
            await world.clerk.open(case, Caller(world.buyer.identity))

        again = await world.submit(begin, world.checkout(order, key="once"))
        assert again.replayed
        recorded, charge = await world.clerk.open(Case(again.payment, (again.intent,)), Caller(world.buyer.identity))

        assert recorded.status is Status.PENDING
        assert [each.id for each in world.simulator.list_newest(type(world.simulator.get(charge.id)))] == [charge.id]
        await world.clerk.complete(world.organization, begun.payment.id, Caller())


@pytest.mark.covers("PAY-053")
async def test_what_a_slow_bank_may_still_pay_is_not_closed(world: World):
    order = world.shop.sells(world.buyer.identity, 5000)
    payment, charge = await world.opened(order)
    world.simulator.act("pay", charge, card="slow")

    assert await world.clerk.close(world.organization, payment, FactKind.EXPIRED, Caller())
    assert (await world.payment(payment)).status is Status.PROCESSING

    world.simulator.act("clear", charge)
    assert await world.clerk.close(world.organization, payment, FactKind.EXPIRED, Caller())
    paid = await world.payment(payment)
    assert paid.status is Status.SUCCEEDED
    assert paid.applied


@pytest.mark.covers("PAY-053")
async def test_what_a_slow_bank_refused_is_closed_the_next_time(world: World):
    order = world.shop.sells(world.buyer.identity, 5000)
    payment, charge = await world.opened(order)
    world.simulator.act("pay", charge, card="slow")
    await world.clerk.close(world.organization, payment, FactKind.EXPIRED, Caller())
    world.simulator.act("fail_clearing", charge)

    assert await world.clerk.close(world.organization, payment, FactKind.EXPIRED, Caller())
    assert (await world.payment(payment)).status is Status.EXPIRED


@pytest.mark.covers("PAY-005")
async def test_who_begins_anew_after_a_decline_cannot_pay_in_the_first_window(world: World):
    order = world.shop.sells(world.buyer.identity, 5000)
    first, charge = await world.opened(order)
    world.simulator.act("pay", charge, card="card_declined")
    await world.clerk.ask(world.organization, first, Caller())
    assert (await world.payment(first)).status is Status.FAILED

    second, _ = await world.opened(order)

    module = Module(
        "test", jobs=(close_spent,), subscriptions=(Subscription(AttemptsSpent, close_spent),), facts=PAYMENT_FACTS
    )
    async with a_worker(world.database, duties_of([module])), asyncio.timeout(30):
        while (await world.payment(first)).status is Status.FAILED:  # noqa: ASYNC110  The worker tells nobody.
            await asyncio.sleep(0.05)
    with pytest.raises(No):
        world.simulator.act("pay", charge)
    assert (await world.payment(first)).status is Status.CANCELLED
    assert (await world.payment(second)).status is Status.PENDING


@pytest.mark.covers("PAY-042")
@pytest.mark.parametrize("fault", [CallFault.LOST, CallFault.ERROR_BEFORE, CallFault.UNREACHABLE])
async def test_a_return_that_somebody_decided_is_finished_by_the_sweep(
    database: Database, batcher: Batcher, fault: CallFault
):
    """Whoever asked for it is gone; the money goes back all the same, and once."""
    async with a_world(database, batcher) as world:
        order = world.shop.sells(world.buyer.identity, 5000, type=SourceType.COUPON_CAMPAIGN)
        payment, charge = await world.opened(order)
        await world.clerk.close(world.organization, payment, FactKind.CANCELLED, Caller())
        world.simulator.act("pay", charge, late=True)
        await world.clerk.ask(world.organization, payment, Caller())
        assert (await world.payment(payment)).status is Status.NEEDS_MANUAL

        world.simulator.misbehave(Faults(script=(CallFault.NONE, fault)))
        with pytest.raises(Unavailable):
            await world.clerk.give_back(world.organization, Decision(world.owner.caller, payment, "LATE_PIX"))
        world.simulator.misbehave(Faults())

        firing = Firing("payments.complete_intents", datetime.now(UTC) + 2 * PATIENCE_OF_RETURNS)
        told = Delivered(uuid7(), PLATFORM_ORGANIZATION, firing, Caller(), "now", None, 1, firing.at)
        await complete_intents.work(Desk(database, batcher), told)
        assert (await world.payment(payment)).status is Status.REFUNDED
        intent = world.simulator.get(charge)
        assert [refund.amount for attempt in intent.charges for refund in attempt.refunds] == [5000]
