"""Rights stand where their money says, also when it changes while somebody looks."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from datetime import UTC, datetime
from typing import Any

import pytest

from admitone.entitlements.commands import following
from admitone.entitlements.commands.granting import grant
from admitone.entitlements.handlers import JOBS
from admitone.entitlements.model import Revocation, Status
from admitone.finance.payments import errands
from admitone.finance.payments.facts import PaymentDisputed, RefundBegun, RefundSettled
from admitone.finance.refunds.api import Piece
from admitone.finance.refunds.handlers import settled
from admitone.kernel.db import Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered
from admitone.kernel.scope import Caller
from tests.entitlements.rights import Hall
from tests.entitlements.test_following import given, told
from tests.entitlements.test_following import hall as hall
from tests.finance.conftest import world as world
from tests.finance.lives import FEES, PAY, hear, live
from tests.finance.payments.test_trouble import run
from tests.finance.refunds.test_refunds import TWO, a_sale_of, ask
from tests.finance.world import World

[DISPUTED] = [kind for kind in JOBS if kind.carries is PaymentDisputed]


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, happens: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Once, right after somebody did that."""
    does, waiting = getattr(module, name), [happens]

    async def then(*values: Any) -> Any:
        done = await does(*values)
        if waiting:
            # Somebody else's doing: not inside the transaction that looks.
            await asyncio.create_task(waiting.pop()(), context=Context())
        return done

    monkeypatch.setattr(module, name, then)


async def deliver(hall: Hall, kind: Any, payload: Any) -> None:
    """As a worker does, who waits for rows that others hold."""
    job = Delivered(uuid7(), hall.organization, payload, Caller(), "key", None, 1, datetime.now(UTC))
    await hall.database.run(hall.scope, lambda tx: kind.work(tx, [job]), patient=True)


@pytest.mark.covers("ENT-007", "ENT-008")
async def test_a_dispute_that_is_won_while_somebody_still_hears_of_it_leaves_the_right_active(
    world: World, hall: Hall, monkeypatch: pytest.MonkeyPatch
):
    payment = await live(world, (PAY, FEES))
    [right] = await given(hall, payment)
    charge = (await world.payment(payment)).charge_id
    world.simulator.act("dispute", charge)
    await hear(world, payment)

    async def won_and_heard() -> None:
        world.simulator.act("win", charge)
        await hear(world, payment)
        await told(hall, payment, 1)

    stale = PaymentDisputed(
        payment_id=payment,
        payment_version=3,
        source_type="TICKET_ORDER",
        source_id="order-1",
        amount_minor=5000,
        refunded_minor=0,
        currency="EUR",
    )
    meanwhile(monkeypatch, following.store, "list_of_payments", won_and_heard)
    await deliver(hall, DISPUTED, stale)
    assert (await hall.find(right.id)).status is Status.ACTIVE


@pytest.mark.covers("ENT-007", "ENT-008")
async def test_a_refund_that_arrives_while_somebody_grants_takes_what_they_grant(world: World, hall: Hall):
    payment = await a_sale_of(world, *TWO)
    refund = await ask(world, payment, Piece("child", 1))
    begun = RefundBegun(payment_id=payment, refund_id=str(refund.id))
    await run(world, errands.refund, begun)
    granted, ended = asyncio.Event(), asyncio.Event()

    async def slow(tx: Tx) -> Any:
        [given_now] = await grant(tx, [hall.a_grant(payment=payment, line_key="child")])
        granted.set()
        await ended.wait()
        return given_now

    granting = asyncio.create_task(hall.database.run(hall.scope, slow))
    await granted.wait()

    async def arrives() -> None:
        await deliver(hall, settled, RefundSettled(payment_id=payment, refund_id=str(refund.id)))
        await told(hall, payment)

    arriving = asyncio.create_task(arrives())
    await asyncio.wait([arriving], timeout=0.5)
    ended.set()
    right, _ = await asyncio.gather(granting, arriving)
    assert (await hall.find(right.id)).revoked_for is Revocation.REFUND
