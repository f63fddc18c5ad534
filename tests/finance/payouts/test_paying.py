"""Asking the provider: what it refuses, does not answer, sends back, says twice or says otherwise."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from admitone.finance.gateways.api import ObjectType, PayoutStatus, Provider, Ref, Refused, UnknownStatus
from admitone.finance.gateways.api import Payout as TakenPayout
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.faults import Faults
from admitone.finance.payouts.commands.paying import hear
from admitone.finance.payouts.errors import PayoutMismatch, PayoutUnanswered
from admitone.finance.payouts.model import PAYOUT, ObligationState, PayoutState, Report
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller
from tests.builders import rows_of
from tests.finance.payments.telling import counted, published
from tests.finance.payouts.owing import (
    NEXT_MONDAY,
    all_payouts,
    all_there,
    an_owed_stay,
    asked,
    batch,
    ends,
    made,
    obligation,
    owes,
    report_of,
    states,
    there,
    told,
    trial,
)
from tests.finance.world import World

S, P = ObligationState, PayoutState


@pytest.mark.covers("MOR-033")
def test_a_payout_goes_these_ways_and_no_other():
    assert set(PAYOUT.moves()) == {
        (P.PAYOUT_PENDING, P.PROCESSING),
        (P.PAYOUT_PENDING, P.FROZEN),
        (P.PROCESSING, P.TRANSFERRED),
        (P.PROCESSING, P.FAILED),
        (P.TRANSFERRED, P.COMPLETED),
        (P.TRANSFERRED, P.FAILED),
    }
    assert set(PAYOUT.terminal()) == {P.COMPLETED, P.FAILED, P.FROZEN}


@pytest.mark.covers("MOR-033")
async def test_what_the_provider_refuses_is_owed_again_and_moved_nothing(world: World):
    stay = await an_owed_stay(world)
    [account] = {each.account for each in await made(world)}
    world.simulator.act("restrict", account)
    before = await trial(world)
    assert await asked(world, await all_payouts(world)) == []
    [payout] = await all_payouts(world)
    assert (payout.state, payout.code) == (P.FAILED, "payouts_not_allowed")
    assert (await obligation(world, stay)).state is S.DUE
    assert await trial(world) == before
    assert await published(world, "payout.failed") == 1
    world.simulator.act("complete", account)
    [payout] = await batch(world, NEXT_MONDAY)
    assert payout.state is P.TRANSFERRED


async def test_an_answer_that_was_lost_is_looked_up_and_nobody_is_paid_twice(world: World):
    stay = await an_owed_stay(world)
    payouts = await made(world)
    world.simulator.misbehave(Faults(lost=10_000))
    assert await asked(world, payouts) == [PayoutUnanswered()]
    assert await states(world) == [P.PROCESSING]
    world.simulator.misbehave(Faults())
    for _ in range(2):
        assert await asked(world, payouts) == []
    [payout], [paid] = await all_payouts(world), all_there(world)
    assert (payout.state, payout.reference, paid.amount_minor) == (P.TRANSFERRED, paid.id, 85_000)
    assert (await obligation(world, stay)).state is S.IN_PAYOUT
    assert await owes(world) == 0


async def test_a_provider_that_cannot_be_reached_is_waited_for_and_costs_no_attempt(world: World):
    await an_owed_stay(world)
    payouts = await made(world)
    world.simulator.misbehave(Faults(unreachable=10_000))
    [trouble] = await asked(world, payouts)
    assert isinstance(trouble, DependencyUnavailable)
    assert all_there(world) == []
    world.simulator.misbehave(Faults())
    assert await asked(world, payouts) == []
    assert await states(world) == [P.TRANSFERRED]


class Odd:
    """A provider that says what it is told to say of payouts."""

    def __init__(self, world: World, said: Any) -> None:
        self.provider, self.livemode, self.abilities = world.gateway.provider, False, world.gateway.abilities
        self._said = said

    async def pay_out(self, order: Any) -> Any:
        if isinstance(self._said, Exception):
            raise self._said
        return self._said

    async def find_payout(self, order: Any) -> None:
        return None


async def test_a_word_that_nobody_taught_us_decides_nothing(world: World):
    await an_owed_stay(world)
    payouts = await made(world)
    with GATEWAYS.wired(Gateways([Odd(world, UnknownStatus("hovering", (Ref(ObjectType.PAYOUT, "po_odd"),)))])):  # type: ignore[list-item]
        assert await asked(world, payouts) == [PayoutUnanswered()]
    assert await states(world) == [P.PROCESSING]


async def test_a_key_that_the_provider_knows_otherwise_is_no_refusal(world: World):
    """Something was paid under it: to owe it again would pay it twice."""
    stay = await an_owed_stay(world)
    payouts = await made(world)
    with GATEWAYS.wired(Gateways([Odd(world, Refused("idempotency_error"))])):  # type: ignore[list-item]
        assert await asked(world, payouts) == [PayoutUnanswered()]
    assert (await states(world), (await obligation(world, stay)).state) == ([P.PROCESSING], S.IN_PAYOUT)


@pytest.mark.covers("MOR-035")
async def test_an_answer_with_another_amount_is_put_before_a_person(world: World):
    await an_owed_stay(world)
    payouts = await made(world)
    other = TakenPayout("po_other", PayoutStatus.PENDING, 84_999, "EUR", payouts[0].created_at)
    with GATEWAYS.wired(Gateways([Odd(world, other)])):  # type: ignore[list-item]
        assert await asked(world, payouts) == [PayoutMismatch()]
    assert await states(world) == [P.PROCESSING]
    assert await published(world, "payout.unknown") == 1


@pytest.mark.covers("MOR-035")
async def test_what_is_told_twice_happened_once(world: World):
    await an_owed_stay(world)
    [payout] = await batch(world)
    await ends(world, payout)
    assert payout.reference is not None
    before = await counted(world)
    for _ in range(3):
        await told(world, payout.reference)
    assert await counted(world) == before
    assert await states(world) == [P.COMPLETED]


@pytest.mark.covers("MOR-035")
@pytest.mark.parametrize(("deed", "state"), [("arrive", P.COMPLETED), ("fail", P.FAILED)])
async def test_what_is_told_before_our_own_answer_is_written_counts_then(world: World, deed: str, state: PayoutState):
    stay = await an_owed_stay(world)
    payouts = await made(world)
    world.simulator.misbehave(Faults(lost=10_000))
    await asked(world, payouts)
    world.simulator.misbehave(Faults())
    [paid] = all_there(world)
    world.simulator.act(deed, paid.id)
    await told(world, paid.id)
    assert await states(world) == [P.PROCESSING]
    assert await asked(world, payouts) == []
    assert await states(world) == [state]
    assert (await obligation(world, stay)).state is (S.PAID if deed == "arrive" else S.DUE)
    assert await owes(world) == (0 if deed == "arrive" else 85_000)


@pytest.mark.usefixtures("prove")
@pytest.mark.covers("MOR-035")
@pytest.mark.parametrize(("deed", "state"), [("arrive", P.COMPLETED), ("fail", P.FAILED)])
async def test_a_provider_whose_clock_is_behind_ours_is_believed(world: World, deed: str, state: PayoutState):
    """Our own note of what it took is by our clock: what became of it is no older news for that."""
    await an_owed_stay(world)
    [payout] = await batch(world)
    assert payout.reference is not None
    world.simulator.act(deed, payout.reference)
    said = report_of(world, payout.reference)
    late = replace(said, at=payout.created_at - timedelta(minutes=10))
    pending = replace(late, status=PayoutStatus.PENDING, at=payout.created_at + timedelta(minutes=10))
    for report in (late, pending, late):
        await world.database.run(world.scope, lambda tx, report=report: hear(tx, [report]), patient=True)
    assert await states(world) == [state]
    assert await published(world, "payout.unknown") == 0


async def test_a_provider_that_pays_at_once_is_believed(world: World):
    await an_owed_stay(world)
    payouts = await made(world)
    paid = TakenPayout("po_at_once", PayoutStatus.PAID, 85_000, "EUR", payouts[0].created_at)
    with GATEWAYS.wired(Gateways([Odd(world, paid)])):  # type: ignore[list-item]
        assert await asked(world, payouts) == []
    assert await states(world) == [P.COMPLETED]
    assert await published(world, "payout.completed") == await published(world, "payout.obligation_paid") == 1


@pytest.mark.covers("MOR-033", "MOR-035")
async def test_what_arrived_and_is_said_to_have_failed_is_put_before_a_person(world: World):
    await an_owed_stay(world)
    [payout] = await batch(world)
    await ends(world, payout)
    assert payout.reference is not None
    said = there(world, payout.reference)
    late = Report(
        Caller(), Provider.SANDBOX, said.id, PayoutStatus.FAILED, 85_000, "EUR", said.at + timedelta(days=2), "returned"
    )
    await world.database.run(world.scope, lambda tx: hear(tx, [late]))
    assert await states(world) == [P.COMPLETED]
    assert await published(world, "payout.unknown") == 1


async def test_many_owners_are_asked_for_together_and_each_gets_theirs(world: World):
    owners = [uuid7() for _ in range(8)]
    for number, owner in enumerate(owners):
        await an_owed_stay(world, payee=owner, price=10_000 + number * 100)
    payouts = await batch(world)
    assert sorted(each.amount_minor for each in payouts) == sorted(each.amount_minor for each in all_there(world))
    assert await rows_of(world.database, world.scope, "payouts.payout") == 8
    assert [await owes(world, owner) for owner in owners] == [0] * 8
