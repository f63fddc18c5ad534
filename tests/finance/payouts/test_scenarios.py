"""The money scenarios of the unification that are about what is owed and paid, through our own commands and a
provider's journal, each with its trial balance; and in each, the journal says what the ledger says."""

import pytest

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Event, Posting
from admitone.finance.payouts.model import ObligationState, PayoutState
from admitone.finance.sources.api import Flow
from admitone.finance.sources.port import Tax, TaxBearer
from admitone.kernel.scope import Caller
from tests.finance.ledger.scenarios import SCENARIOS
from tests.finance.payouts.owing import (
    MONDAY,
    NEXT_MONDAY,
    Stay,
    a_stay,
    an_owed_stay,
    batch,
    decided,
    disputed,
    ends,
    happened,
    keeps,
    obligation,
    owed,
    owes,
    refunded,
    trial,
)
from tests.finance.world import World


async def assert_as_written(world: World, name: str, stay: Stay) -> None:
    scenario = SCENARIOS[name]
    assert await trial(world) == {account: minor for account, minor in scenario.stands.items() if minor}
    assert await world.net(stay.payment) == scenario.net


@pytest.mark.usefixtures("prove")
class TestScenarios:
    @pytest.mark.covers("MOR-012", "MOR-030", "MOR-033")
    async def test_what_is_over_is_paid_and_the_commission_is_ours(self, world: World):
        stay = await an_owed_stay(world)
        [payout] = await batch(world, MONDAY)
        assert (payout.state, payout.amount_minor) == (PayoutState.TRANSFERRED, 85_000)
        await ends(world, payout)
        await assert_as_written(world, "S1 stay paid out", stay)
        assert await owes(world) == 0

    @pytest.mark.covers("MOR-015")
    async def test_what_is_withheld_for_an_authority_is_not_the_owners(self, world: World):
        """S2. What is remitted goes by a bank, and no command of ours orders it."""
        iof = Tax("IOF", "BR", 38, TaxBearer.OWNER)
        stay = await a_stay(world, taxes=(iof,))
        await owed(world, stay, 84_620)
        [payout] = await batch(world)
        await ends(world, payout)
        remitted = Posting(Caller(), Event.TAX_REMITTED, Flow.STAY, "EUR", {"tax": 380}, "remitted", stay.payment)
        await world.database.run(world.scope, lambda tx: ledger.post(tx, [remitted]))
        await assert_as_written(world, "S2 tax withheld", stay)

    @pytest.mark.covers("MOR-037", "MOR-041")
    async def test_what_is_kept_of_a_cancelled_stay_is_paid_too(self, world: World):
        stay = await a_stay(world)
        await keeps(world, stay, 15_000)
        await refunded(world, stay, 50_000)
        await owed(world, stay, 35_000)
        await assert_as_written(world, "S5 half refunded", stay)
        [payout] = await batch(world)
        assert payout.amount_minor == 35_000
        await ends(world, payout)
        assert await owes(world) == 0

    @pytest.mark.covers("MOR-037")
    async def test_a_guest_who_never_came_is_owed_for(self, world: World):
        await assert_as_written(world, "S7 no-show", await an_owed_stay(world))

    @pytest.mark.covers("MOR-034", "MOR-044")
    async def test_what_is_lost_after_it_was_paid_is_netted_from_the_next_batches(self, world: World):
        stay = await an_owed_stay(world)
        [payout] = await batch(world)
        await ends(world, payout)
        await disputed(world, stay)
        await decided(world, stay, "lose")
        await assert_as_written(world, "S9 lost after payout", stay)
        assert await owes(world) == -86_500
        await an_owed_stay(world, "2026-02-20T20:00Z")
        assert await batch(world, NEXT_MONDAY) == []
        await an_owed_stay(world, "2026-02-20T20:00Z")
        [payout] = await batch(world, NEXT_MONDAY)
        assert (payout.gross_minor, payout.recovered_minor, payout.amount_minor) == (170_000, 86_500, 83_500)
        await ends(world, payout)
        assert await owes(world) == 0
        assert "cash_reserve" not in await trial(world)

    @pytest.mark.covers("MOR-033")
    async def test_a_payout_that_comes_back_is_owed_again_and_paid_with_the_next(self, world: World):
        stay = await an_owed_stay(world)
        [payout] = await batch(world)
        await ends(world, payout, "fail")
        await assert_as_written(world, "S11 payout failed", stay)
        assert (await obligation(world, stay)).state is ObligationState.DUE
        assert await batch(world, MONDAY) == []
        [again] = await batch(world, NEXT_MONDAY)
        await ends(world, again)
        await assert_as_written(world, "S1 stay paid out", stay)

    @pytest.mark.covers("MOR-034", "MOR-044")
    async def test_what_is_lost_before_it_was_paid_leaves_nothing_of_it(self, world: World):
        """S8, also if it was over by then: in the end it makes no difference."""
        stay = await an_owed_stay(world)
        await disputed(world, stay)
        await happened(world, stay)
        await decided(world, stay, "lose")
        await assert_as_written(world, "S8 lost before payout", stay)
        assert (await obligation(world, stay)).state is ObligationState.REVERSED
        assert await batch(world) == []

    @pytest.mark.covers("MOR-034")
    async def test_what_was_disputed_before_it_was_over_comes_out_the_same(self, world: World):
        """S8 again, and S10: money comes back to where it was taken from."""
        lost, won = await a_stay(world), await a_stay(world)
        for stay in (lost, won):
            await disputed(world, stay)
            await owed(world, stay)
        assert (await obligation(world, won)).state is ObligationState.FROZEN
        await decided(world, lost, "lose")
        await decided(world, won, "win")
        assert await trial(world) == {
            "cash_reserve": 100_000, "gateway_fee_expense": 5_860, "org_payable": -83_500,
            "commission_revenue": -15_000, "merchant_account": -7_360,
        }  # fmt: skip

    async def test_what_is_refunded_after_it_was_over_is_paid_by_so_much_less(self, world: World):
        stay = await an_owed_stay(world)
        await refunded(world, stay, 40_000)
        await happened(world, stay)
        assert (await obligation(world, stay)).amount_minor == 51_000
        [payout] = await batch(world)
        await ends(world, payout)
        assert await trial(world) == {
            "gateway_fee_expense": 2_930, "merchant_account": 6_070, "org_settlements": 51_000,
            "org_payable": -51_000, "commission_revenue": -9_000,
        }  # fmt: skip
