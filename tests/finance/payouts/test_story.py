"""A Monday, from midnight to money: the schedule, the worker, the provider, its webhook, the alerts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.payouts import errands
from admitone.finance.payouts.facts import (
    PayoutCompleted,
    PayoutFailed,
    PayoutImpossible,
    RiskCleared,
    RiskFlagged,
)
from admitone.finance.payouts.model import ObligationState, PayoutId, PayoutState
from admitone.finance.payouts.module import MODULE
from admitone.finance.webhooks.handlers.applying import apply
from admitone.finance.webhooks.handlers.mourning import tell
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from tests.alerts import alerts_about
from tests.finance.payments.telling import published
from tests.finance.payouts.owing import (
    Stay,
    all_payouts,
    all_there,
    an_owed_stay,
    asked,
    disputed,
    made,
    obligation,
    states,
)
from tests.finance.webhooks.test_story import deliver
from tests.finance.world import World, a_world
from tests.jobs import DEADLINE_SECONDS, a_worker, duties

P, S = PayoutState, ObligationState
MONDAY = datetime(2026, 2, 16, tzinfo=UTC)


@pytest.fixture
async def world(database: Database, batcher: Batcher) -> AsyncIterator[World]:
    async with a_world(database, batcher) as world:
        yield world


@pytest.fixture(autouse=True)
async def nothing_left_to_do(superuser: asyncpg.Connection) -> AsyncIterator[None]:
    """Batches are everybody's: what other tests owe would be paid by this test's worker."""
    await superuser.execute("UPDATE payouts.obligation SET eligible_at = 'infinity' WHERE state = 'DUE'")
    yield
    await superuser.execute("DELETE FROM kernel.job WHERE kind LIKE 'payouts.%' OR kind LIKE 'webhooks.%'")


def delivered(payload: Any, world: World) -> Delivered[Any]:
    return Delivered(uuid7(), world.organization, payload, Caller(), "key", None, 1, datetime.now(UTC))


def firing(world: World, at: datetime = MONDAY) -> Delivered[Firing]:
    return delivered(Firing("payouts.daily", at), world)


async def until(is_so: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not await is_so():  # noqa: ASYNC110  Another task tells nobody.
            await asyncio.sleep(0.02)


async def until_states(world: World, *wanted: PayoutState) -> None:
    async def is_so() -> bool:
        return sorted(await states(world)) == sorted(wanted)

    await until(is_so)


async def until_alert(superuser: asyncpg.Connection, about: str, *, is_over: bool) -> None:
    async def is_so() -> bool:
        found = await alerts_about(superuser, about, "payouts.not_paid")
        return [each["resolved_at"] is not None for each in found] == [is_over]

    await until(is_so)


async def until_obligation(world: World, stay: Stay, state: ObligationState) -> None:
    async def is_so() -> bool:
        return (await obligation(world, stay)).state is state

    await until(is_so)


@pytest.mark.covers("MOR-030", "MOR-034", "MOR-035", "FIN-064")
async def test_a_monday_from_midnight_to_money(
    world: World, site: httpx.AsyncClient, superuser: asyncpg.Connection, database: Database
):
    owners = [uuid7() for _ in range(3)]
    stays = [await an_owed_stay(world, payee=owner) for owner in owners]
    desk = Desk(database, world.batcher)
    async with a_worker(database, duties(resolve, apply, tell, modules=(MODULE,))):
        for _ in range(2):  # Two schedulers, or one that fires twice.
            await errands.begin_batches.work(desk, firing(world))
        await until_states(world, *[P.TRANSFERRED] * 3)
        first, second, third = all_there(world)
        world.simulator.act("arrive", first.id)
        world.simulator.act("arrive", second.id)
        world.simulator.act("fail", third.id)
        await deliver(site, world.simulator.due_deliveries())
        await until_states(world, P.COMPLETED, P.COMPLETED, P.FAILED)
        [failed] = [each for each in await all_payouts(world) if each.state is P.FAILED]
        about = f"{world.organization}:{failed.owner}"
        await until_alert(superuser, about, is_over=False)
        # The next week pays them, and the alert is over.
        await errands.begin_batches.work(desk, firing(world, MONDAY + timedelta(days=7)))
        await until_states(world, P.COMPLETED, P.COMPLETED, P.FAILED, P.TRANSFERRED)
        world.simulator.act("arrive", all_there(world)[0].id)
        await deliver(site, world.simulator.due_deliveries())
        await until_states(world, P.COMPLETED, P.COMPLETED, P.COMPLETED, P.FAILED)
        await until_alert(superuser, about, is_over=True)
    assert {(await obligation(world, stay)).state for stay in stays} == {S.PAID}
    assert await published(world, "payout.obligation_paid") == 3


@pytest.mark.covers("MOR-034")
async def test_a_dispute_that_payments_tell_of_freezes_what_is_owed(world: World, database: Database):
    stay = await an_owed_stay(world)
    async with a_worker(database, duties(modules=(MODULE,))):
        await disputed(world, stay)
        await until_obligation(world, stay, S.FROZEN)
        world.simulator.act("win", stay.charge)
        await world.clerk.ask(world.organization, stay.payment, Caller())
        await until_obligation(world, stay, S.DUE)


async def test_a_provider_that_is_away_spends_no_attempt_and_is_asked_again(
    world: World, superuser: asyncpg.Connection, database: Database
):
    await an_owed_stay(world)
    world.simulator.misbehave(Faults(unreachable=10_000))
    async with a_worker(database, duties(modules=(MODULE,))):
        await errands.begin_batches.work(Desk(database, world.batcher), firing(world))
        waiting = "kernel.job WHERE kind = 'payouts.pay' AND run_at > now() + interval '5 s'"
        await until(lambda: superuser.fetchval(f"SELECT count(*) FROM {waiting}"))
        assert await superuser.fetchval(f"SELECT attempts FROM {waiting}") == 0
        world.simulator.misbehave(Faults())
        await superuser.execute("UPDATE kernel.job SET run_at = now() WHERE kind = 'payouts.pay'")
        await until_states(world, P.TRANSFERRED)
    assert len(all_there(world)) == 1


async def test_what_nobody_answers_for_an_hour_wakes_somebody_until_it_is_known(
    world: World, superuser: asyncpg.Connection, database: Database
):
    await an_owed_stay(world)
    payouts = await made(world)
    world.simulator.misbehave(Faults(lost=10_000))
    await asked(world, payouts)
    own, desk = str(payouts[0].id), Desk(database, world.batcher)
    later = datetime.now(UTC) + timedelta(minutes=59)
    await errands.complete.work(desk, firing(world, later))
    assert await alerts_about(superuser, own, "payouts.unanswered") == []
    await errands.complete.work(desk, firing(world, later + timedelta(minutes=2)))
    [alert] = await alerts_about(superuser, own, "payouts.unanswered")
    assert (alert["resolved_at"], await states(world)) == (None, [P.PROCESSING])
    world.simulator.misbehave(Faults())
    await errands.complete.work(desk, firing(world, later + timedelta(minutes=7)))
    [alert] = await alerts_about(superuser, own, "payouts.unanswered")
    assert (alert["resolved_at"] is not None, await states(world)) == (True, [P.TRANSFERRED])
    assert len(all_there(world)) == 1


@pytest.mark.covers("FIN-091")
async def test_alerts_begin_and_end_with_what_they_are_about(
    world: World, superuser: asyncpg.Connection, database: Database
):
    desk, own, owner = Desk(database, world.batcher), str(world.organization), uuid7()
    flagged = RiskFlagged(organization_id=own, reason_code="DISPUTE", payouts_blocked=True)
    await errands.tell_of_block.work(desk, delivered(flagged, world))
    cleared = RiskCleared(organization_id=own, reason_code="DISPUTE")
    await errands.tell_of_clearing.work(desk, delivered(cleared, world))
    [alert] = await alerts_about(superuser, own, "payouts.blocked")
    assert alert["resolved_at"] is not None
    said = {"payout_id": PayoutId.new(), "owner_id": owner, "period": MONDAY.date()}
    said |= {"amount_minor": 1, "recovered_minor": 0, "currency": "EUR"}
    impossible = PayoutImpossible(
        owner_id=owner, period=MONDAY.date(), amount_minor=1, currency="EUR", reason="NO_ACCOUNT"
    )
    await errands.tell_of_impossible.work(desk, delivered(impossible, world))
    await errands.tell_of_failure.work(desk, delivered(PayoutFailed(**said, code="account_closed"), world))
    [alert] = await alerts_about(superuser, f"{own}:{owner}", "payouts.not_paid")
    assert (alert["times"], alert["resolved_at"]) == (2, None)
    await errands.tell_of_arrival.work(desk, delivered(PayoutCompleted(**said), world))
    [alert] = await alerts_about(superuser, f"{own}:{owner}", "payouts.not_paid")
    assert alert["resolved_at"] is not None
