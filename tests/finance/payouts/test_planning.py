"""The dry run: what is shown is what happens, or nothing does."""

from typing import Any

import pytest

from admitone.finance.ledger.api import Account, EntryType
from admitone.finance.payouts.api import BATCH, BatchRequest
from admitone.finance.payouts.model import PlannedPayout
from admitone.kernel import plans
from admitone.kernel.ids import uuid7
from admitone.kernel.plans import Applied, Draft, Order, Plan, PlanOvertaken
from admitone.kernel.scope import Caller
from tests.builders import rows_of
from tests.finance.payments.telling import counted
from tests.finance.payouts.owing import (
    MONDAY,
    all_payouts,
    all_there,
    an_owed_stay,
    asked,
    at,
    batch,
    decided,
    disputed,
    does,
    ends,
    happened,
    owes,
    refunded,
    trial,
)
from tests.finance.world import World


async def planned(world: World, when: str = MONDAY) -> tuple[Plan, list[PlannedPayout]]:
    plan = await does(world, plans.make, Draft(Caller(), BATCH, BatchRequest(at(when))))
    assert isinstance(plan, Plan)
    return plan, BATCH.read_steps(plan.steps)


async def applied(world: World, plan: Plan) -> Any:
    return await does(world, plans.apply, Order(Caller(world.owner.identity), plan.id, "BATCH_WAS_MISSED"))


async def test_a_plan_shows_every_posting_and_every_call_and_does_nothing(world: World):
    await an_owed_stay(world)
    before = await counted(world)
    _, [step] = await planned(world)
    assert (step.owner, step.gross_minor, step.amount_minor) == (world.organization.uuid, 85_000, 85_000)
    lines = [(each.entry_type, each.debit, each.credit, each.amount_minor) for each in step.postings]
    assert lines == [
        (EntryType.PAYOUT_INITIATED, Account.SETL, Account.TRN, 85_000),
        (EntryType.PAYOUT_PAID, Account.TRN, Account.CASH, 85_000),
    ]
    [call] = step.calls
    assert (call.action, call.reference, call.amount_minor) == ("pay_out", step.destination.account, 85_000)
    assert await counted(world) == before
    assert await rows_of(world.database, world.scope, "payouts.payout") == 0
    assert all_there(world) == []


@pytest.mark.usefixtures("prove")
async def test_what_was_planned_is_what_is_paid_and_posted(world: World):
    debtor = await an_owed_stay(world)
    [first] = await batch(world)
    await ends(world, first)
    await disputed(world, debtor)
    await decided(world, debtor, "lose")
    other = uuid7()
    for owner in (world.organization.uuid, other):
        await an_owed_stay(world, "2026-02-20T20:00Z", price=200_000, payee=owner)
    plan, steps = await planned(world, "2026-02-23T00:00Z")
    assert sorted((each.recovered_minor, each.amount_minor) for each in steps) == [(0, 170_000), (86_500, 83_500)]
    done, again = await applied(world, plan), await applied(world, plan)
    assert isinstance(done, Applied) and (done.steps, done.already, again.already) == (2, False, True)
    payouts = [each for each in await all_payouts(world) if each.id != first.id]
    assert {(each.owner, each.amount_minor) for each in payouts} == {(each.owner, each.amount_minor) for each in steps}
    assert await asked(world, payouts) == []
    for payout in payouts:
        await ends(world, payout)
    ordered = {each.amount_minor for each in all_there(world)} - {85_000}
    assert ordered == {call.amount_minor for each in steps for call in each.calls}
    assert [await owes(world), await owes(world, other)] == [0, 0]
    assert (await trial(world)).get("payouts_in_transit") is None


@pytest.mark.parametrize("change", ["dispute", "refund", "batch", "more", "debt"])
async def test_a_plan_that_the_world_has_overtaken_is_refused_and_does_nothing(world: World, change: str):
    paid = await an_owed_stay(world, "2026-02-07T20:00Z", price=50_000)
    [first] = await batch(world, "2026-02-09T00:00Z")
    await ends(world, first)
    stay = await an_owed_stay(world)
    plan, _ = await planned(world)
    match change:
        case "dispute":
            await disputed(world, stay)
            await happened(world, stay)
        case "refund":
            await refunded(world, stay, 1_000)
            await happened(world, stay)
        case "batch":
            await batch(world)
        case "more":
            await an_owed_stay(world)
        case "debt":
            await disputed(world, paid)
    before = await rows_of(world.database, world.scope, "payouts.payout")
    assert await applied(world, plan) == PlanOvertaken()
    assert await applied(world, plan) == PlanOvertaken()
    assert await rows_of(world.database, world.scope, "payouts.payout") == before


async def test_a_plan_of_nothing_is_empty(world: World):
    _, steps = await planned(world)
    assert steps == []
