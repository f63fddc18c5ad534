"""What is not paid for now: disputes, refunds that did not arrive, and people who say so."""

import asyncpg
import pytest

from admitone.finance.payments.api import PaymentNotFound
from admitone.finance.payouts.api import FreezeOrder, Frozen, Reason, freeze
from admitone.finance.payouts.errors import NothingFrozen
from admitone.finance.payouts.model import ObligationState, PayoutState
from admitone.finance.payouts.store import obligations as store
from admitone.finance.sources.api import PaymentId
from admitone.kernel.scope import Caller
from tests.finance.lives import FEES, PAY, deed, hear, live
from tests.finance.payments.telling import published
from tests.finance.payouts.owing import (
    MONDAY,
    NEXT_MONDAY,
    Stay,
    a_stay,
    all_payouts,
    all_there,
    an_owed_stay,
    asked,
    batch,
    decided,
    disputed,
    does,
    ends,
    frozen,
    happened,
    made,
    obligation,
    owed,
    owes,
    refunded,
    released,
    states,
)
from tests.finance.world import World
from tests.foundation.organizations.clubs import trail_of

S, P = ObligationState, PayoutState


@pytest.mark.covers("MOR-034")
async def test_what_is_disputed_leaves_the_batch_and_is_paid_with_the_next_when_it_is_won(world: World):
    calm, contested = await an_owed_stay(world), await an_owed_stay(world)
    await disputed(world, contested)
    await happened(world, contested)
    [payout] = await batch(world, MONDAY)
    assert (payout.gross_minor, (await obligation(world, calm)).payout) == (85_000, payout.id)
    assert (await obligation(world, contested)).state is S.FROZEN
    await decided(world, contested, "win")
    assert await batch(world, MONDAY) == []
    [payout] = await batch(world, NEXT_MONDAY)
    assert (await obligation(world, contested)).payout == payout.id
    assert (
        await published(world, "payout.obligation_frozen") == await published(world, "payout.obligation_released") == 1
    )


@pytest.mark.covers("MOR-034")
async def test_what_is_disputed_before_anybody_was_asked_leaves_its_payout(world: World):
    calm, contested = await an_owed_stay(world), await an_owed_stay(world)
    [payout] = await made(world)
    await disputed(world, contested)
    await happened(world, contested)
    [payout] = await all_payouts(world)
    assert (payout.gross_minor, payout.state) == (85_000, P.PAYOUT_PENDING)
    assert await asked(world, [payout]) == []
    [there] = all_there(world)
    assert there.amount_minor == 85_000
    assert [(await obligation(world, each)).state for each in (calm, contested)] == [S.IN_PAYOUT, S.FROZEN]


@pytest.mark.covers("MOR-034")
async def test_a_dispute_of_which_nobody_has_told_us_yet_is_seen_before_the_provider_is_asked(world: World):
    calm, contested = await an_owed_stay(world), await an_owed_stay(world)
    payouts = await made(world)
    await disputed(world, contested)
    assert await asked(world, payouts) == []
    [there] = all_there(world)
    assert there.amount_minor == 85_000
    assert (await obligation(world, contested)).state is S.FROZEN
    assert (await obligation(world, calm)).state is S.IN_PAYOUT


@pytest.mark.covers("MOR-034", "MOR-033")
async def test_a_payout_of_which_everything_is_disputed_is_withdrawn(world: World):
    contested = await an_owed_stay(world)
    payouts = await made(world)
    await disputed(world, contested)
    assert await asked(world, payouts) == []
    assert await states(world) == [P.FROZEN]
    assert all_there(world) == []
    assert await published(world, "payout.withdrawn") == 1
    await decided(world, contested, "win")
    [payout] = await batch(world, NEXT_MONDAY)
    assert payout.amount_minor == 85_000
    assert (await obligation(world, contested)).payout == payout.id


async def test_what_was_asked_for_is_paid_and_recovered_if_it_is_lost(world: World):
    contested = await an_owed_stay(world)
    [payout] = await batch(world)
    await disputed(world, contested)
    await happened(world, contested)
    assert (await obligation(world, contested)).state is S.IN_PAYOUT
    await ends(world, payout)
    assert (await obligation(world, contested)).state is S.PAID
    await decided(world, contested, "lose")
    assert await owes(world) == -86_500


@pytest.mark.covers("MOR-034")
async def test_what_came_back_while_it_is_disputed_waits(world: World):
    contested = await an_owed_stay(world)
    [payout] = await batch(world)
    await disputed(world, contested)
    await happened(world, contested)
    await ends(world, payout, "fail")
    assert (await obligation(world, contested)).state is S.FROZEN
    assert await batch(world, NEXT_MONDAY) == []


@pytest.mark.covers("MOR-045")
async def test_what_a_refund_of_did_not_arrive_waits_until_it_does(world: World):
    stay = await an_owed_stay(world)
    await happened(world, stay, refund_failed=True)
    assert await batch(world) == []
    await happened(world, stay)
    assert (await obligation(world, stay)).state is S.FROZEN
    await happened(world, stay, refund_failed=False)
    [payout] = await batch(world)
    assert payout.amount_minor == 85_000


@pytest.mark.covers("MOR-045")
async def test_whoever_looked_releases_it(world: World):
    stay = await an_owed_stay(world)
    await happened(world, stay, refund_failed=True)
    assert await released(world, stay) == NothingFrozen()
    assert await released(world, stay, Reason.REFUND_FAILED) == Frozen(stay.payment, (), new=True)
    assert len(await batch(world)) == 1


async def test_a_refund_of_what_is_owed_takes_it_out_of_what_is_paid(world: World):
    stay = await an_owed_stay(world)
    [payout] = await made(world)
    await refunded(world, stay, 40_000)
    await happened(world, stay)
    [reduced] = await all_payouts(world)
    assert (reduced.id, reduced.amount_minor) == (payout.id, 51_000)
    assert await asked(world, [payout]) == []
    assert [each.amount_minor for each in all_there(world)] == [51_000]


async def test_what_was_lost_since_the_batch_was_made_is_recovered_from_it(world: World):
    """Also if it was paid long ago: nobody is paid more than they are owed at that moment."""
    paid = await an_owed_stay(world)
    [first] = await batch(world)
    await ends(world, first)
    await an_owed_stay(world, "2026-02-20T20:00Z", price=200_000)
    [payout] = await made(world, NEXT_MONDAY)
    assert payout.amount_minor == 170_000
    await disputed(world, paid)
    await decided(world, paid, "lose")
    assert await asked(world, [payout]) == []
    assert all_there(world)[0].amount_minor == 170_000 - 86_500
    [now, _] = await all_payouts(world)
    assert (now.gross_minor, now.recovered_minor) == (170_000, 86_500)
    await ends(world, now)
    assert await owes(world) == 0


async def test_a_payout_that_a_debt_has_eaten_is_withdrawn(world: World):
    paid = await an_owed_stay(world, price=200_000)
    [first] = await batch(world)
    await ends(world, first)
    small = await an_owed_stay(world, "2026-02-20T20:00Z")
    payouts = await made(world, NEXT_MONDAY)
    await disputed(world, paid)
    await decided(world, paid, "lose")
    assert await asked(world, payouts) == []
    assert (await states(world))[0] is P.FROZEN
    assert len(all_there(world)) == 1
    assert (await obligation(world, small)).state is S.DUE


async def test_somebody_freezes_and_releases_by_hand_and_the_trail_says_why(
    world: World, superuser: asyncpg.Connection
):
    stay = await an_owed_stay(world)
    assert await frozen(world, stay) == Frozen(stay.payment, (Reason.OPERATOR,), new=True)
    assert await frozen(world, stay) == Frozen(stay.payment, (Reason.OPERATOR,), new=False)
    assert await batch(world) == []
    assert await released(world, stay) == Frozen(stay.payment, (), new=True)
    assert await released(world, stay) == NothingFrozen()
    assert len(await batch(world)) == 1
    for action, why in (("payouts.freeze", "FRAUD_SUSPECTED"), ("payouts.release", "NO_FRAUD_FOUND")):
        [entry] = await trail_of(superuser, world.organization, action)
        assert (entry["subject"], entry["reason_code"]) == (str(stay.payment), why)


async def test_two_reasons_are_two_and_each_must_end(world: World):
    stay = await an_owed_stay(world)
    await frozen(world, stay)
    await disputed(world, stay)
    await happened(world, stay)
    assert await released(world, stay) == Frozen(stay.payment, (Reason.DISPUTE,), new=True)
    assert await batch(world) == []
    await decided(world, stay, "win")
    assert len(await batch(world)) == 1


async def test_what_is_frozen_before_it_is_over_is_frozen_then(world: World):
    stay = await a_stay(world)
    await frozen(world, stay)
    await owed(world, stay)
    assert (await obligation(world, stay)).state is S.FROZEN
    await released(world, stay)
    assert (await obligation(world, stay)).state is S.DUE


async def test_a_payment_that_is_not_there_is_not_frozen(world: World):
    order = FreezeOrder(Caller(), PaymentId.new(), Reason.OPERATOR, "FRAUD_SUSPECTED")
    assert await does(world, freeze, order) == PaymentNotFound()


# -- Where the organisation is merchant of record


async def blocked(world: World) -> bool:
    return await world.database.read(world.scope, store.find_block) is not None


@pytest.mark.covers("FIN-091", "FIN-006")
async def test_a_dispute_of_what_the_organisation_sold_blocks_what_we_show_and_nothing_else(world: World):
    stay = await an_owed_stay(world)
    tickets = [Stay(await live(world, (PAY, FEES, deed("dispute"))), "") for _ in range(2)]
    for ticket in tickets:
        await happened(world, ticket)
    assert await blocked(world)
    assert await published(world, "risk.flagged") == 1
    [payout] = await batch(world)
    assert (await obligation(world, stay)).payout == payout.id
    for ticket, deed_, left in zip(tickets, ("win", "lose"), (True, False), strict=True):
        charge = (await world.payment(ticket.payment)).charge_id
        assert charge is not None
        world.simulator.act(deed_, charge)
        await hear(world, ticket.payment)
        await happened(world, ticket)
        assert await blocked(world) is left
    assert await published(world, "risk.cleared") == 1


async def test_a_refund_that_failed_of_what_the_organisation_sold_blocks_nothing(world: World):
    ticket = Stay(await live(world, (PAY, FEES)), "")
    await happened(world, ticket, refund_failed=True)
    assert not await blocked(world)
