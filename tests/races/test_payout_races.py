"""Two schedulers, a freeze against a batch, and a report against an answer: real connections, at the same moment."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec import structs

from admitone.finance.gateways.api import PayoutStatus
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.payouts.commands.paying import hear
from admitone.finance.payouts.model import ObligationState, PayoutState
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import uuid7
from tests.finance.payouts.conftest import AS_IN_THE_TABLE
from tests.finance.payouts.owing import (
    Stay,
    a_stay,
    all_payouts,
    all_there,
    an_owed_stay,
    asked,
    batch,
    disputed,
    happened,
    made,
    obligation,
    owed,
    owes,
    report_of,
    states,
    told,
)
from tests.finance.proof.books import AN_HOUR, proved, red
from tests.finance.world import World, a_world

P, S = PayoutState, ObligationState


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    async with Database(database_url, clock=Clock(-AN_HOUR)) as database:
        batcher = Batcher(database)
        settings = {"clock": lambda: datetime.now(UTC) - AN_HOUR, "terms": AS_IN_THE_TABLE}
        async with a_world(database, batcher, **settings) as world:
            yield world
        await batcher.drain()


async def at_once(*works: Callable[[], Awaitable[Any]]) -> list[Any]:
    return await asyncio.gather(*(work() for work in works))


@pytest.mark.covers("MOR-036")
async def test_eight_schedulers_at_midnight_make_one_batch(world: World, database: Database, batcher: Batcher):
    owners = [uuid7() for _ in range(4)]
    for owner in owners:
        await an_owed_stay(world, payee=owner)
    made_ = await at_once(*[lambda: made(world)] * 8)
    assert sum(len(payouts) for payouts in made_) == 4
    payouts = await all_payouts(world)
    assert sorted(each.owner for each in payouts) == sorted(owners)
    await at_once(*[lambda: asked(world, payouts)] * 4)
    assert [each.amount_minor for each in all_there(world)] == [85_000] * 4
    assert await states(world) == [P.TRANSFERRED] * 4
    assert red(await proved(database, batcher, world.organization)) == set()


@pytest.mark.covers("MOR-034")
@pytest.mark.parametrize("seed", range(3))
async def test_a_dispute_against_a_batch_ends_in_one_of_two_ways(world: World, seed: int):
    """It is frozen and not paid, or it was asked for before anybody knew: never paid and frozen, never lost."""
    calm, contested = await an_owed_stay(world), await an_owed_stay(world)

    async def contest() -> None:
        await asyncio.sleep(seed * 0.01)
        await disputed(world, contested)
        await happened(world, contested)

    async def pay_out() -> None:
        await batch(world)

    await at_once(contest, pay_out)
    state, [payout], [there] = (await obligation(world, contested)).state, await all_payouts(world), all_there(world)
    assert (await obligation(world, calm)).state is S.IN_PAYOUT
    assert there.amount_minor == payout.amount_minor
    if state is S.FROZEN:
        assert payout.gross_minor == 85_000
    else:
        assert (state, payout.gross_minor) == (S.IN_PAYOUT, 170_000)


@pytest.mark.covers("MOR-035")
async def test_the_providers_word_against_our_own_answer_is_written_once(world: World):
    await an_owed_stay(world)
    payouts = await made(world)

    async def ask() -> None:
        assert await asked(world, payouts) == []

    async def tell() -> None:
        while not (there := all_there(world)):  # noqa: ASYNC110  A provider tells nobody.
            await asyncio.sleep(0)
        world.simulator.act("arrive", there[0].id)
        for _ in range(3):
            await told(world, there[0].id)

    await at_once(ask, tell)
    assert await states(world) == [P.COMPLETED]
    assert await owes(world) == 0


@pytest.mark.covers("MOR-035")
async def test_whoever_writes_second_sees_what_the_first_wrote(world: World):
    """Neither the provider's word nor our note of what it took is committed when the other looks: one waits."""
    await an_owed_stay(world)
    payouts = await made(world)
    world.simulator.misbehave(Faults(lost=10_000))
    await asked(world, payouts)
    world.simulator.misbehave(Faults())
    [there] = all_there(world)
    arrived = structs.replace(report_of(world, there.id), status=PayoutStatus.PAID, at=there.at + timedelta(seconds=1))
    heard, answered = asyncio.Event(), asyncio.Event()

    async def hear_slowly(tx: Tx) -> None:
        await hear(tx, [arrived])
        heard.set()
        with suppress(TimeoutError):  # Whoever answers waits for us, or did not need to.
            await asyncio.wait_for(answered.wait(), 0.3)

    async def tell() -> None:
        await world.database.run(world.scope, hear_slowly, patient=True)

    async def ask() -> None:
        await heard.wait()
        assert await asked(world, payouts) == []
        answered.set()

    await at_once(tell, ask)
    assert await states(world) == [P.COMPLETED]


async def test_what_is_said_to_be_over_by_ten_at_once_is_owed_once(world: World):
    stay: Stay = await a_stay(world)
    outcomes = await at_once(*[lambda: owed(world, stay)] * 10)
    assert sum(each.new for each in outcomes) == 1
    assert len({each.obligation for each in outcomes}) == 1
    assert await owes(world) == 85_000
