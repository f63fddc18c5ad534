"""What becomes due: once, all of it, and not before its time."""

from datetime import timedelta

import pytest

from admitone.finance.payments.errors import NotHeld, NotWhatIsHeld
from admitone.finance.payouts.api import Owed, owe
from admitone.finance.payouts.errors import OwedOtherwise
from admitone.finance.payouts.model import Frequency, KnownSchedule, ObligationState, Schedule
from admitone.finance.payouts.store import owners as owner_store
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.kernel.db import Tx
from tests.builders import rows_of
from tests.finance.lives import FEES, PAY, deed, live
from tests.finance.payouts.owing import (
    SATURDAY,
    Stay,
    a_stay,
    an_owed_stay,
    an_owing,
    at,
    disputed,
    does,
    obligation,
    owed,
    owes,
    refunded,
    trial,
)
from tests.finance.world import World


async def schedule(world: World, property_key: str, said: Schedule) -> None:
    async def put(tx: Tx) -> None:
        own = world.organization.uuid
        await owner_store.lock_owners(tx, [own])
        await owner_store.put_schedule(tx, KnownSchedule(own, property_key, said, 1))

    await world.database.run(world.scope, put)


@pytest.mark.covers("MOR-012", "MOR-030")
async def test_what_is_over_is_owed_and_may_be_paid_a_day_later(world: World):
    stay = await a_stay(world)
    outcome = await owed(world, stay, property_key="villa:1")
    assert outcome.new and outcome.eligible_at == at(SATURDAY) + timedelta(hours=24)
    due = await obligation(world, stay)
    assert (due.state, due.amount_minor, due.property_key) == (ObligationState.DUE, 85_000, "villa:1")
    assert due.owner == world.organization.uuid
    stands = await trial(world)
    assert (stands["org_payable"], stands["commission_revenue"]) == (-85_000, -15_000)
    assert "customer_deposits" not in stands and "commissions_payable" not in stands


async def test_it_is_owed_once_however_often_it_is_said(world: World):
    stay = await a_stay(world)
    first = await owed(world, stay)
    again = await owed(world, stay)
    assert (again.obligation, again.eligible_at, again.new) == (first.obligation, first.eligible_at, False)
    both = await world.database.run(world.scope, lambda tx: owe(tx, [an_owing(stay, 85_000)] * 2))
    assert [each.obligation for each in both if isinstance(each, Owed)] == [first.obligation] * 2
    assert await rows_of(world.database, world.scope, "payouts.obligation") == 1
    assert await owes(world) == 85_000


async def test_two_in_one_breath_are_one(world: World):
    stay = await a_stay(world)
    outcomes = await world.database.run(world.scope, lambda tx: owe(tx, [an_owing(stay, 85_000)] * 2))
    assert {each.obligation for each in outcomes if isinstance(each, Owed)} == {(await obligation(world, stay)).id}
    assert await owes(world) == 85_000


async def test_what_is_said_otherwise_the_second_time_is_refused(world: World):
    stay = await a_stay(world)
    await owed(world, stay, property_key="villa:1")
    other_day = an_owing(stay, 85_000, "2026-02-13T20:00Z", property_key="villa:1")
    assert await does(world, owe, other_day) == OwedOtherwise()
    other_place = an_owing(stay, 85_000, property_key="villa:2")
    assert await does(world, owe, other_place) == OwedOtherwise()
    other_amount = an_owing(stay, 80_000, property_key="villa:1")
    assert await does(world, owe, other_amount) == NotWhatIsHeld(due_minor=85_000, currency="EUR")


@pytest.mark.covers("MOR-037")
async def test_only_what_is_held_becomes_due_and_all_of_it(world: World):
    """So that nothing is stranded (U-04)."""
    stay = await a_stay(world)
    refusal = NotWhatIsHeld(due_minor=85_000, currency="EUR")
    for amount in (84_999, 85_001, 100_000, 0):
        assert await does(world, owe, an_owing(stay, amount)) == refusal
    assert await rows_of(world.database, world.scope, "payouts.obligation") == 0
    await refunded(world, stay, 20_000)
    assert await does(world, owe, an_owing(stay, 85_000)) == NotWhatIsHeld(due_minor=68_000, currency="EUR")
    await owed(world, stay, 68_000)


async def test_where_nothing_is_left_for_the_owner_only_the_commission_is_earned(world: World):
    stay = await a_stay(world, 10_000, 10_000)
    assert (await owed(world, stay, 0)).obligation is None
    assert (await owed(world, stay, 0)).new is False
    assert await rows_of(world.database, world.scope, "payouts.obligation") == 0
    assert (await trial(world))["commission_revenue"] == -10_000


@pytest.mark.covers("FIN-006")
async def test_what_the_organisation_sells_itself_is_never_owed_by_us(world: World):
    ticket = Stay(await live(world, (PAY, FEES)), "")
    campaign = Stay(await live(world, (PAY,), 14_700, type=SourceType.COUPON_CAMPAIGN), "")
    for each in (ticket, campaign):
        assert await does(world, owe, an_owing(each, 4700)) == NotHeld()
    assert await rows_of(world.database, world.scope, "payouts.obligation") == 0


async def test_what_nobody_paid_or_everybody_got_back_is_not_owed(world: World):
    unknown = await does(world, owe, an_owing(Stay(PaymentId.new(), ""), 1))
    assert unknown.code == "PAYMENT_NOT_FOUND"
    opened = await world.opened(world.shop.sells(world.buyer.identity, 100, type=SourceType.STAY_RESERVATION))
    assert await does(world, owe, an_owing(Stay(*opened), 100)) == NotHeld()
    refunded_ = await live(world, (PAY, deed("refund")), 5_000, type=SourceType.STAY_RESERVATION)
    assert await does(world, owe, an_owing(Stay(refunded_, ""), 0)) == NotHeld()


@pytest.mark.covers("MOR-031", "MOR-032")
async def test_what_is_held_longer_waits_as_its_property_its_owner_or_the_caller_says(world: World):
    await schedule(world, "", Schedule(Frequency.WEEKLY, 0, hold_days=3))
    await schedule(world, "villa", Schedule(Frequency.WEEKLY, 0, hold_days=7))
    waits = []
    for more in ({"property_key": "villa"}, {"property_key": "flat"}, {"property_key": "villa", "hold_days": 0}):
        outcome = await owed(world, await a_stay(world), **more)
        waits.append((outcome.eligible_at - at(SATURDAY)).days)
    assert waits == [8, 4, 1]


async def test_what_became_due_keeps_its_days_when_the_schedule_changes(world: World):
    stay = await an_owed_stay(world)
    await schedule(world, "", Schedule(Frequency.WEEKLY, 0, hold_days=30))
    assert (await owed(world, stay)).eligible_at == at(SATURDAY) + timedelta(days=1)


@pytest.mark.covers("MOR-034")
async def test_what_is_disputed_when_it_is_over_is_owed_and_frozen(world: World):
    stay = await a_stay(world)
    await disputed(world, stay)
    await owed(world, stay)
    assert (await obligation(world, stay)).state is ObligationState.FROZEN


async def test_the_payee_of_the_payment_is_the_owner(world: World):
    landlord = world.buyer.identity.uuid
    stay = await a_stay(world, payee=landlord)
    await owed(world, stay)
    assert (await obligation(world, stay)).owner == landlord
    assert (await owes(world, landlord), await owes(world)) == (85_000, 0)
