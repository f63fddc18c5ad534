"""What went on to an organisation with money that a dispute took comes back: at the provider, and not in the books only."""

import asyncio

import asyncpg
import pytest

from admitone.finance.gateways.api import MovementKind
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.payments.errands import take_back
from admitone.finance.payments.errors import GatewayRefused, ProviderUnanswered
from admitone.finance.payments.facts import DisputeRecorded
from admitone.finance.payments.model import Status
from admitone.finance.payments.module import MODULE
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Database
from admitone.kernel.jobs import Subscription
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from tests.finance.gateways.conformance import all_movements
from tests.finance.payments.telling import a_paid_sale
from tests.finance.world import World
from tests.jobs import DEADLINE_SECONDS, a_worker, duties

TAKING = Module("taking", jobs=(take_back,), subscriptions=(Subscription(DisputeRecorded, take_back),))


async def a_lost_sale(world: World) -> PaymentId:
    """For 5,000, of which 300 were ours."""
    payment, charge = await a_paid_sale(world)
    for deed in ("dispute", "lose"):
        world.simulator.act(deed, charge)
    await world.clerk.ask(world.organization, payment, Caller())
    assert (await world.payment(payment)).status is Status.CHARGEBACK_LOST
    return payment


async def taken(world: World) -> list[int]:
    rows = await all_movements(world.gateway, world.organization)
    return [each.amount_minor for each in rows if each.kind is MovementKind.TRANSFER_REVERSED]


async def booked(world: World, payment: PaymentId) -> list[int]:
    return [amount for entry, _, _, amount in await world.transfers(payment) if entry == "TRANSFER_REVERSAL"]


@pytest.mark.covers("PAY-037", "FIN-074")
async def test_the_worker_has_the_account_give_what_the_books_say(world: World, database: Database):
    """T8: the merchant account has it back, so it must be there."""
    assert Subscription(DisputeRecorded, take_back) in MODULE.subscriptions
    async with a_worker(database, duties(modules=(TAKING,))):
        payment = await a_lost_sale(world)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await taken(world):  # noqa: ASYNC110  Another task tells nobody.
                await asyncio.sleep(0.05)
    assert await taken(world) == await booked(world, payment) != []
    await asyncio.gather(*(world.clerk.take_back(world.organization, payment, Caller()) for _ in range(3)))
    assert len(await taken(world)) == 1, "and once"


async def test_of_what_is_open_or_won_nothing_is_taken_back(world: World):
    payment, charge = await a_paid_sale(world)
    for deed in ("dispute", "win"):
        world.simulator.act(deed, charge)
        await world.clerk.ask(world.organization, payment, Caller())
        await world.clerk.take_back(world.organization, payment, Caller())
    assert await taken(world) == []


async def test_a_provider_that_does_not_answer_is_asked_again(world: World):
    payment = await a_lost_sale(world)
    world.simulator.misbehave(Faults(lost=10_000))
    with pytest.raises(ProviderUnanswered):
        await world.clerk.take_back(world.organization, payment, Caller())
    world.simulator.misbehave(Faults())
    await world.clerk.take_back(world.organization, payment, Caller())
    assert await taken(world) == await booked(world, payment)


async def test_where_the_account_does_not_give_it_somebody_is_told(world: World, superuser: asyncpg.Connection):
    """Another amount was taken back by hand: it is not taken a second time, and the books are not right."""
    payment = await a_lost_sale(world)
    charge = (await world.payment(payment)).charge_id
    [attempt] = world.simulator.get(charge).charges
    world.simulator.act("take_back", charge, dispute=attempt.disputes[0].id, amount=1)
    with pytest.raises(GatewayRefused):
        await world.clerk.take_back(world.organization, payment, Caller())
    alerts = "SELECT rule FROM kernel.alert WHERE subject = $1 AND resolved_at IS NULL"
    assert [row["rule"] for row in await superuser.fetch(alerts, str(payment))] == ["payments.not_taken_back"]
    assert await taken(world) == [1]
