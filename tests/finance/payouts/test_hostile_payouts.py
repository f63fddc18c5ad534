"""What must not be paid, what must be paid after all, and what is whose meanwhile."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from admitone.finance.payments.api import RefundWanted, begin_refunds
from admitone.finance.payouts.model import ObligationState, Reason
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller
from tests.finance.lives import FEES, PAY, deed, live
from tests.finance.lives import hear as hear_of
from tests.finance.payouts.owing import (
    NEXT_MONDAY,
    Stay,
    a_stay,
    all_there,
    an_owed_stay,
    batch,
    decided,
    disputed,
    does,
    ends,
    happened,
    keeps,
    obligation,
    owed,
    owes,
    refunded,
    released,
    trial,
)
from tests.finance.payouts.test_planning import applied, planned
from tests.finance.world import World
from tests.people import a_platform_admin

A_WEEK_LATER = "2026-03-02T00:00Z"


# -- Before its time


@pytest.mark.covers("MOR-030", "MOR-031")
async def test_nobody_plans_a_payout_before_its_time(world: World):
    """A plan as of a later day would pay today what is held until then."""
    soon = datetime.now(UTC) + timedelta(days=3)
    await an_owed_stay(world, f"{soon:%Y-%m-%dT%H:%M}Z")
    plan, steps = await planned(world, f"{soon + timedelta(days=400):%Y-%m-%dT%H:%M}Z")
    assert steps == []
    await applied(world, plan)
    assert all_there(world) == []


# -- What came back after it was recovered


@pytest.mark.covers("MOR-037")
@pytest.mark.usefixtures("prove")
async def test_what_was_recovered_and_came_back_is_paid_after_all(world: World):
    """The fee of a dispute is kept from the next payout; won, it is the owner's again, and somebody pays it."""
    contested = await an_owed_stay(world)
    [first] = await batch(world)
    await ends(world, first)
    await disputed(world, contested)
    await an_owed_stay(world, "2026-02-20T20:00Z")
    [second] = await batch(world, NEXT_MONDAY)
    assert second.recovered_minor == 1_500
    await ends(world, second)
    await decided(world, contested, "win")
    assert await owes(world) == 1_500
    [third] = await batch(world, A_WEEK_LATER)
    assert third.amount_minor == 1_500
    await ends(world, third)
    assert await owes(world) == 0
    assert "cash_reserve" not in await trial(world)
    assert await batch(world, "2026-03-09T00:00Z") == []


@pytest.mark.covers("MOR-037")
async def test_what_comes_back_while_its_payout_is_on_its_way_is_paid_after_all(world: World):
    debtor = await an_owed_stay(world)
    [first] = await batch(world)
    await ends(world, first)
    await disputed(world, debtor)
    await an_owed_stay(world, "2026-02-20T20:00Z")
    [second] = await batch(world, NEXT_MONDAY)
    await decided(world, debtor, "win")
    await ends(world, second)
    assert await owes(world) == 1_500
    [third] = await batch(world, A_WEEK_LATER)
    await ends(world, third)
    assert await owes(world) == 0


@pytest.mark.covers("MOR-037")
@pytest.mark.usefixtures("prove")
async def test_what_was_recovered_for_what_the_organisation_sold_comes_back_too(world: World):
    ticket = await live(world, (PAY, FEES, deed("dispute")))
    await an_owed_stay(world)
    [first] = await batch(world)
    assert first.recovered_minor == 1_675
    await ends(world, first)
    charge = (await world.payment(ticket)).charge_id
    assert charge is not None
    await decided(world, Stay(ticket, charge), "win")
    [second] = await batch(world, NEXT_MONDAY)
    assert second.amount_minor == 1_500
    await ends(world, second)
    assert await owes(world) == 0
    assert "cash_reserve" not in await trial(world)


@pytest.mark.covers("MOR-045")
@pytest.mark.usefixtures("prove")
async def test_what_came_back_from_a_customer_waits_until_somebody_has_looked(world: World):
    """It was refunded after it was paid, and recovered; the bank sends it back: it may have to go to the customer."""
    stay = await an_owed_stay(world)
    [first] = await batch(world)
    await ends(world, first)
    await refunded(world, stay)
    await happened(world, stay)
    await an_owed_stay(world, "2026-02-20T20:00Z", price=200_000)
    [second] = await batch(world, NEXT_MONDAY)
    assert (second.amount_minor, second.recovered_minor) == (85_000, 85_000)
    await ends(world, second)
    world.simulator.act("return_refund", stay.charge)
    await hear_of(world, stay.payment)
    await happened(world, stay, refund_failed=True)
    assert await owes(world) == 85_000
    assert await batch(world, A_WEEK_LATER) == []
    await released(world, stay, Reason.REFUND_FAILED)
    [third] = await batch(world, A_WEEK_LATER)
    assert third.amount_minor == 85_000
    await disputed(world, stay)
    await happened(world, stay)
    await ends(world, third)
    assert await owes(world) == -1_500
    assert (await obligation(world, stay)).state is ObligationState.PAID


# -- Whose money it is meanwhile


@pytest.mark.covers("MOR-041")
@pytest.mark.usefixtures("prove")
async def test_money_that_is_on_its_way_back_is_not_the_platforms_own(world: World):
    """Half was to go back when the guest cancelled, and has not arrived when the rest is paid out."""
    stay = await a_stay(world)
    await keeps(world, stay, 15_000)
    wanted = RefundWanted(Caller(), stay.payment, uuid7(), 50_000)
    await does(world, begin_refunds, wanted)
    await owed(world, stay, 35_000)
    [payout] = await batch(world)
    await ends(world, payout)
    assert (await trial(world))["cash_reserve"] == 50_000
    await world.clerk.refund(world.organization, stay.payment, wanted.refund, Caller())
    assert "cash_reserve" not in await trial(world)


# -- The way out


@pytest.mark.covers("MOR-045")
async def test_an_administrator_releases_what_a_refund_that_cannot_arrive_froze(
    site: httpx.AsyncClient, world: World, database: Database
):
    """The customer was paid by hand: nothing will ever arrive, and the owner is owed the rest."""
    admin = await a_platform_admin(database)
    stay = await an_owed_stay(world)
    await happened(world, stay, refund_failed=True)
    body = {"organization": str(world.organization), "paymentId": str(stay.payment), "reasonCode": "PAID_BY_HAND"}
    for reason, left in (("DISPUTE", None), ("REFUND_FAILED", [])):
        answer = await site.post("/api/admin/payouts/unfreeze", json=body | {"reason": reason}, headers=admin.headers)
        assert answer.json().get("reasons") == left, answer.text
    assert (await obligation(world, stay)).state is ObligationState.DUE


async def test_a_dispute_that_is_open_is_not_released_by_hand(
    site: httpx.AsyncClient, world: World, database: Database
):
    admin = await a_platform_admin(database)
    stay = await an_owed_stay(world)
    await disputed(world, stay)
    await happened(world, stay)
    body = {"organization": str(world.organization), "paymentId": str(stay.payment), "reasonCode": "I_SAY_SO"}
    answer = await site.post("/api/admin/payouts/unfreeze", json=body | {"reason": "DISPUTE"}, headers=admin.headers)
    assert answer.status_code in (400, 409, 422), answer.text
    assert (await obligation(world, stay)).state is ObligationState.FROZEN
