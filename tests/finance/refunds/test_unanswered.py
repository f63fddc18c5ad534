"""Refunds of which a provider says nothing: they wait, somebody knows, and only what it refuses counts against them."""

from datetime import timedelta
from functools import partial

import asyncpg
import pytest

from admitone.finance.gateways.api import Refused, Unknown
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.payments import errands
from admitone.finance.payments.errors import ProviderUnanswered, RefundPutOff
from admitone.finance.payments.facts import RefundBegun
from admitone.finance.payments.model import Status
from admitone.finance.refunds.api import Refund
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers, Dependency, DependencyUnavailable
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.outbound import Outbound
from admitone.kernel.telemetry import Metrics
from tests.desk import free_port
from tests.finance.payments.saying import saying
from tests.finance.payments.test_trouble import later, run
from tests.finance.refunds.test_refunds import TWO, a_sale_of, ask, found, moved, see_to
from tests.finance.world import World

SILENCE = "payments.refund_unanswered"


async def told(superuser: asyncpg.Connection, *refunds: Refund) -> list[str]:
    """Of which refunds finance knows that nobody answers."""
    rows = await superuser.fetch(
        "SELECT subject FROM kernel.alert WHERE rule = $1 AND subject = ANY($2::text[]) AND resolved_at IS NULL",
        SILENCE,
        [str(each.id) for each in refunds],
    )
    return sorted(row["subject"] for row in rows)


async def counted(superuser: asyncpg.Connection, refund: Refund) -> tuple[str, int, int]:
    row = await superuser.fetchrow(
        "SELECT state, unanswered, refused FROM payments.gateway_intent WHERE id = $1", refund.id
    )
    return (row["state"], row["unanswered"], row["refused"])


async def try_once(world: World, refund: Refund) -> None:
    begun = RefundBegun(payment_id=PaymentId(refund.payment_id), refund_id=str(refund.id))
    await run(world, errands.refund, begun)


@pytest.mark.covers("PAY-069", "MOR-045")
async def test_only_what_the_provider_refuses_counts_against_a_refund(world: World, superuser: asyncpg.Connection):
    refund = await ask(world, await a_sale_of(world, *TWO))
    with saying(world, refund=Unknown("answered 500")):
        for _ in range(4):
            with pytest.raises(ProviderUnanswered):
                await try_once(world, refund)
    with saying(world, refund=Refused("insufficient_funds")):
        for _ in range(2):
            with pytest.raises(RefundPutOff):
                await try_once(world, refund)
        assert await counted(superuser, refund) == ("OPEN", 4, 2)
        await see_to(world, refund)
    assert (await found(world, refund)).state == "FAILED"


@pytest.mark.covers("PAY-069", "FUN-016")
@pytest.mark.parametrize("answer", ["done", "refused"])
async def test_finance_is_told_of_what_was_not_answered_three_times_until_it_is(
    world: World, superuser: asyncpg.Connection, answer: str
):
    refund, other = [await ask(world, await a_sale_of(world, *TWO)) for _ in range(2)]
    with saying(world, refund=Unknown("answered 500"), find_refund=Unknown("answered 500")):
        for number in range(3):
            assert await told(superuser, refund) == []
            with pytest.raises(ProviderUnanswered):
                await try_once(world, refund)
            assert await counted(superuser, refund) == ("OPEN", number + 1, 0)
        assert await told(superuser, refund, other) == [str(refund.id)]
        await later(world, errands.complete_intents)
        assert await counted(superuser, refund) == ("OPEN", 4, 0), "it is looked for all the same"
    if answer == "refused":
        with saying(world, refund=Refused("insufficient_funds")), pytest.raises(RefundPutOff):
            await try_once(world, refund)
    else:
        await later(world, errands.complete_intents)
        assert (await world.payment(PaymentId(refund.payment_id))).status is Status.REFUNDED
    assert await told(superuser, refund) == []


@pytest.mark.covers("PAY-069", "FUN-044", "FUN-046")
async def test_while_a_provider_is_down_for_an_hour_refunds_wait_and_lose_nothing(
    world: World, superuser: asyncpg.Connection, database_url: str
):
    """Nobody listens there; the breaker opens; the clock goes on. When it is back, everybody has their money once."""
    refunds = [await ask(world, await a_sale_of(world, *TWO)) for _ in range(3)]
    own = [each.id for each in refunds]
    dependency, nobody = Dependency(f"test_{uuid7().hex}"), f"http://127.0.0.1:{free_port()}"
    opened = "SELECT state FROM kernel.breaker WHERE dependency = $1"
    for minutes in (0, 20, 40, 60):
        then = Database(database_url, clock=Clock(timedelta(minutes=minutes)))
        batcher = Batcher(then)
        async with Outbound(Breakers(batcher, Metrics()), Metrics()) as outbound:
            gateway = SandboxGateway(world.simulator.keys, nobody, partial(outbound.call, dependency))
            with GATEWAYS.wired(Gateways([gateway])):
                for refund in refunds * 2:
                    with pytest.raises(DependencyUnavailable):
                        await try_once(world, refund)
                await later(world, errands.complete_intents, minutes)
        assert await superuser.fetchval(opened, dependency.name) in ("OPEN", "HALF_OPEN")
        assert {await counted(superuser, each) for each in refunds} == {("OPEN", 0, 0)}
        assert len(await told(superuser, *refunds)) == (0 if minutes < 30 else 3)
        await batcher.drain()
        await then.close()
        older = "UPDATE payments.gateway_intent SET created_at = created_at - interval '20 minutes' WHERE id = ANY($1)"
        await superuser.execute(older, own)
    await later(world, errands.complete_intents)
    assert {(await world.payment(PaymentId(each.payment_id))).status for each in refunds} == {Status.REFUNDED}
    assert await told(superuser, *refunds) == []
    assert [each.amount_minor for each in await moved(world) if each.kind == "REFUND"] == [5000] * 3
