"""What an organisation gave for a refund that comes back goes to it again: at the provider, and not in the books only."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg
import pytest

from admitone.finance.gateways.api import MovementKind, Refused
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.payments.commands.refunding import Refunding, RefundWanted, begin_refunds
from admitone.finance.payments.errands import hand_on
from admitone.finance.payments.errors import GatewayRefused, ProviderUnanswered, RefundPutOff
from admitone.finance.payments.facts import RefundReturned
from admitone.finance.payments.module import MODULE
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Subscription
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from tests.finance.gateways.conformance import all_movements
from tests.finance.payments.saying import saying
from tests.finance.payments.telling import a_late_payment, a_paid_sale, ask, published
from tests.finance.world import World, a_world
from tests.jobs import DEADLINE_SECONDS, a_worker, duties

HANDING = Module("handing", jobs=(hand_on,), subscriptions=(Subscription(RefundReturned, hand_on),))


@pytest.fixture
async def world(database: Database, batcher: Batcher) -> AsyncIterator[World]:
    async with a_world(database, batcher) as world:
        yield world


async def a_refund(world: World, payment: PaymentId, amount: int) -> UUID:
    begun: Refunding = await world.submit(begin_refunds, RefundWanted(world.owner.caller, payment, uuid7(), amount))
    return begun.intent.id


async def a_returned_refund(world: World, amount: int = 2000) -> PaymentId:
    """Of 5,000, of which 250 were ours."""
    payment, charge = await a_paid_sale(world)
    refund = await a_refund(world, payment, amount)
    await world.clerk.refund(world.organization, payment, refund, Caller())
    world.simulator.act("return_refund", charge)
    await ask(world, payment)
    return payment


async def moved(world: World, kind: MovementKind) -> list[int]:
    return [each.amount_minor for each in await all_movements(world.gateway, world.organization) if each.kind is kind]


async def handed_on(world: World) -> list[int]:
    return await moved(world, MovementKind.TRANSFER_AGAIN)


async def booked(world: World, payment: PaymentId) -> list[int]:
    return [amount for entry, _, _, amount in await world.transfers(payment) if entry == "TRANSFER_REVERSAL_MIRROR"]


@pytest.mark.covers("FIN-005")
async def test_the_worker_gives_the_account_what_the_books_say(world: World, database: Database):
    assert Subscription(RefundReturned, hand_on) in MODULE.subscriptions
    async with a_worker(database, duties(modules=(HANDING,))):
        payment = await a_returned_refund(world)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await handed_on(world):  # noqa: ASYNC110  Another task tells nobody.
                await asyncio.sleep(0.05)
    assert await handed_on(world) == await booked(world, payment) == [1900]
    gave = sum(await moved(world, MovementKind.TRANSFER_REVERSED))
    got = sum(await moved(world, MovementKind.APPLICATION_FEE_REFUNDED)) + sum(await handed_on(world))
    assert gave == got, "the account has what it had"
    await asyncio.gather(*(world.clerk.hand_on(world.organization, payment, Caller()) for _ in range(3)))
    assert len(await handed_on(world)) == 1, "and once"


async def test_each_refund_that_comes_back_is_handed_on_by_itself(world: World):
    payment = await a_returned_refund(world)
    charge = (await world.payment(payment)).charge_id
    await world.clerk.refund(world.organization, payment, await a_refund(world, payment, 1000), Caller())
    world.simulator.act("return_refund", charge)
    await ask(world, payment)
    await world.clerk.hand_on(world.organization, payment, Caller())
    assert sorted(await handed_on(world)) == sorted(await booked(world, payment))
    assert len(await handed_on(world)) == 2


async def test_money_that_paid_for_nothing_is_handed_on_too(world: World):
    payment, charge = await a_late_payment(world)
    await ask(world, payment)
    world.simulator.act("refund", charge)
    await ask(world, payment)
    world.simulator.act("return_refund", charge)
    await ask(world, payment)
    await world.clerk.hand_on(world.organization, payment, Caller())
    assert await handed_on(world) == await booked(world, payment) != []


async def test_for_a_refund_that_never_arrived_nothing_is_handed_on(world: World):
    """The account gave nothing for it: neither for one that failed on its way, nor for one that was given up."""
    payment, charge = await a_paid_sale(world)
    world.simulator.misbehave(Faults(refund_pending=10_000, refund_failed=10_000))
    await world.clerk.refund(world.organization, payment, await a_refund(world, payment, 1000), Caller())
    world.simulator.misbehave(Faults())
    world.simulator.act("fail_refund", charge)
    await ask(world, payment)
    with saying(world, refund=Refused("charge_disputed")):
        refund = await a_refund(world, payment, 2000)
        for why in (RefundPutOff, RefundPutOff, GatewayRefused):
            with pytest.raises(why):
                await world.clerk.refund(world.organization, payment, refund, Caller())
    assert len(await booked(world, payment)) == 2
    await world.clerk.hand_on(world.organization, payment, Caller())
    assert await handed_on(world) == []
    assert await published(world, "payment.refund_returned") == 0


async def test_a_provider_that_does_not_answer_is_asked_again(world: World):
    payment = await a_returned_refund(world)
    world.simulator.misbehave(Faults(lost=10_000))
    with pytest.raises(ProviderUnanswered):
        await world.clerk.hand_on(world.organization, payment, Caller())
    world.simulator.misbehave(Faults())
    await world.clerk.hand_on(world.organization, payment, Caller())
    assert await handed_on(world) == await booked(world, payment)


async def test_where_it_does_not_go_to_the_account_somebody_is_told(world: World, superuser: asyncpg.Connection):
    """Another amount was given by hand: it is not given a second time, and the books are not right."""
    payment = await a_returned_refund(world)
    charge = (await world.payment(payment)).charge_id
    [attempt] = world.simulator.get(charge).charges
    world.simulator.act("hand_on", charge, refund=attempt.refunds[0].id, amount=1)
    with pytest.raises(GatewayRefused):
        await world.clerk.hand_on(world.organization, payment, Caller())
    alerts = "SELECT rule FROM kernel.alert WHERE subject = $1 AND resolved_at IS NULL"
    assert [row["rule"] for row in await superuser.fetch(alerts, str(payment))] == ["payments.not_handed_on"]
    assert await handed_on(world) == [1]
