"""Batches: who is paid on which day, how much, and once."""

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.payouts.model import Frequency, ObligationState, PayoutState, Schedule
from admitone.finance.sources.api import SourceType
from admitone.kernel.ids import uuid7
from tests.builders import rows_of
from tests.finance.lives import FEES, PAY, live
from tests.finance.payments.telling import published
from tests.finance.payouts.owing import (
    MONDAY,
    NEXT_MONDAY,
    a_stay,
    all_payouts,
    all_there,
    an_owed_stay,
    batch,
    decided,
    disputed,
    ends,
    made,
    obligation,
    owed,
    owes,
)
from tests.finance.payouts.test_owing import schedule
from tests.finance.world import World

SUNDAY_LATE = "2026-02-15T23:00Z"


@pytest.mark.covers("MOR-030")
async def test_who_left_on_saturday_is_in_mondays_batch_and_who_left_late_on_sunday_is_not(world: World):
    saturday = await an_owed_stay(world, "2026-02-14T20:00Z")
    sunday = await an_owed_stay(world, SUNDAY_LATE)
    [payout] = await batch(world, MONDAY)
    assert (payout.amount_minor, str(payout.period)) == (85_000, "2026-02-16")
    assert (await obligation(world, saturday)).payout == payout.id
    assert (await obligation(world, sunday)).state is ObligationState.DUE
    [payout] = await batch(world, NEXT_MONDAY)
    assert (await obligation(world, sunday)).payout == payout.id


@pytest.mark.covers("MOR-030")
@pytest.mark.parametrize("when", ["2026-02-15T23:59Z", "2026-02-13T12:00Z"])
async def test_before_monday_nobody_is_paid(world: World, when: str):
    await an_owed_stay(world, "2026-02-10T20:00Z")
    assert await batch(world, when) == []


@pytest.mark.covers("MOR-036")
async def test_a_batch_that_is_made_again_makes_nothing(world: World):
    await an_owed_stay(world)
    [payout] = await batch(world)
    assert await batch(world) == []
    await an_owed_stay(world)
    assert await batch(world, "2026-02-18T00:00Z") == []
    assert [each.id for each in await all_payouts(world)] == [payout.id]
    assert [each.amount_minor for each in all_there(world)] == [85_000]


@pytest.mark.covers("MOR-030")
async def test_a_batch_that_was_missed_is_made_later_for_the_same_monday(world: World):
    await an_owed_stay(world)
    await an_owed_stay(world, SUNDAY_LATE)
    [payout] = await batch(world, "2026-02-18T00:00Z")
    assert (payout.amount_minor, str(payout.period)) == (85_000, "2026-02-16")


@pytest.mark.covers("MOR-030", "MOR-036")
async def test_every_owner_and_every_currency_is_paid_apart(world: World):
    landlords = sorted([uuid7(), uuid7()])
    for landlord in landlords:
        await an_owed_stay(world, payee=landlord)
        await an_owed_stay(world, payee=landlord, price=200_000)
    await an_owed_stay(world, payee=landlords[0], currency="BRL")
    payouts = await batch(world)
    paid = sorted((each.owner, each.currency, each.amount_minor) for each in payouts)
    first, second = landlords
    assert paid == [(first, "BRL", 85_000), (first, "EUR", 255_000), (second, "EUR", 255_000)]
    assert await published(world, "payout.created") == await published(world, "payout.transferred") == 3


@pytest.mark.covers("MOR-032")
async def test_a_propertys_day_comes_before_its_owners_and_the_owners_before_the_systems(world: World):
    await schedule(world, "", Schedule(Frequency.WEEKLY, 3))
    await schedule(world, "villa", Schedule(Frequency.MONTHLY, day_of_month=28))
    stays = {key: await an_owed_stay(world, "2026-02-10T12:00Z", property_key=key) for key in ("villa", "flat")}
    other = uuid7()
    stays["another's"] = await an_owed_stay(world, "2026-02-10T12:00Z", property_key="villa", payee=other)
    paid = {}
    for day in range(12, 29):
        for payout in await batch(world, f"2026-02-{day}T00:00Z"):
            paid |= {key: day for key, each in stays.items() if (await obligation(world, each)).payout == payout.id}
    assert paid == {"flat": 12, "another's": 16, "villa": 28}


@pytest.mark.covers("MOR-031")
async def test_what_is_less_than_the_threshold_is_carried_over(world: World):
    await schedule(world, "", Schedule(Frequency.WEEKLY, 0, min_threshold_minor=100_000))
    await an_owed_stay(world)
    assert await batch(world, MONDAY) == []
    await an_owed_stay(world, "2026-02-20T20:00Z")
    [payout] = await batch(world, NEXT_MONDAY)
    assert payout.amount_minor == 170_000


@pytest.mark.covers("MOR-031")
async def test_whoever_is_paid_on_checkout_is_paid_the_next_midnight(world: World):
    await schedule(world, "", Schedule(Frequency.ON_CHECKOUT))
    await an_owed_stay(world, "2026-02-10T12:00Z")
    assert await batch(world, "2026-02-11T00:00Z") == []
    [payout] = await batch(world, "2026-02-12T00:00Z")
    assert str(payout.period) == "2026-02-12"


async def test_what_the_organisation_owes_for_its_own_sales_is_recovered_too(world: World):
    """U-12: the processor's fee of its tickets stands on the same account."""
    await live(world, (PAY, FEES))
    assert await owes(world) == -175
    await an_owed_stay(world)
    [payout] = await batch(world)
    assert (payout.gross_minor, payout.recovered_minor, payout.amount_minor) == (85_000, 175, 84_825)


async def test_what_is_frozen_or_waits_does_not_hide_a_debt(world: World):
    """A debt is recovered from what is paid, and not from what may never be."""
    paid = await an_owed_stay(world)
    [payout] = await batch(world)
    await ends(world, payout)
    await disputed(world, paid)
    await decided(world, paid, "lose")
    await an_owed_stay(world, "2026-02-20T20:00Z", price=200_000)
    waiting = await an_owed_stay(world, "2026-02-22T20:00Z", price=300_000)
    [payout] = await batch(world, NEXT_MONDAY)
    assert (payout.recovered_minor, payout.amount_minor) == (86_500, 83_500)
    assert (await obligation(world, waiting)).state is ObligationState.DUE
    assert await owes(world) == 255_000


@pytest.mark.covers("FIN-006")
async def test_nothing_of_what_the_organisation_sold_itself_is_paid_out(world: World):
    await live(world, (PAY, FEES))
    await live(world, (PAY,), 14_700, type=SourceType.COUPON_CAMPAIGN)
    assert await batch(world) == []
    assert all_there(world) == []


async def test_whom_there_is_nowhere_to_pay_is_told_of_and_paid_later(world: World, superuser: asyncpg.Connection):
    await an_owed_stay(world)
    enable = "UPDATE payments.account SET payouts_enabled = $2 WHERE organization_id = $1"
    await superuser.execute(enable, world.organization.uuid, False)
    assert await batch(world) == []
    assert await published(world, "payout.impossible") == 1
    await superuser.execute(enable, world.organization.uuid, True)
    [payout] = await batch(world)
    assert payout.state is PayoutState.TRANSFERRED


async def test_money_of_a_test_is_not_paid_with_real_money(world: World, superuser: asyncpg.Connection):
    stay = await an_owed_stay(world)
    live_ = "UPDATE payouts.obligation SET livemode = true WHERE id = $1"
    await superuser.execute(live_, (await obligation(world, stay)).id.uuid)
    assert await batch(world) == []


async def test_where_no_provider_pays_out_nobody_is_paid(world: World):
    await an_owed_stay(world)

    class TakesOnly:
        provider, livemode, abilities = world.gateway.provider, False, frozenset[Any]()

    with GATEWAYS.wired(Gateways([TakesOnly()])):  # type: ignore[list-item]
        assert await made(world) == ()
    assert await rows_of(world.database, world.scope, "payouts.payout") == 0


async def test_an_owner_is_paid_what_all_their_properties_brought(world: World):
    owner: UUID = uuid7()
    for key in ("villa", "flat", "barn"):
        stay = await a_stay(world, payee=owner)
        await owed(world, stay, property_key=key)
    [payout] = await batch(world)
    assert (payout.owner, payout.amount_minor) == (owner, 255_000)
