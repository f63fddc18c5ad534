"""Commissions of stays: held at confirmation, and no more of it goes back than was held."""

from typing import Any

import pytest

from admitone.finance.payments.api import Commission, Recorded, hold_commissions, keep_commissions
from admitone.finance.payments.errors import CommissionTooMuch, PaymentNotFound
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.kernel.scope import Caller
from tests.finance.payments.telling import a_paid_sale, ask, balances
from tests.finance.world import World

STAY = {"type": SourceType.STAY_RESERVATION}


def a_commission(payment: PaymentId, amount: int, cause: str = "confirmed") -> Commission:
    return Commission(Caller(), payment, amount, cause)


async def does(world: World, command: Any, commission: Commission) -> Any:
    [outcome] = await world.database.run(world.scope, lambda tx: command(tx, [commission]))
    return outcome


@pytest.mark.covers("FIN-036")
async def test_a_stay_that_was_never_confirmed_goes_back_whole(world: World):
    """S3."""
    payment, charge = await a_paid_sale(world, 100_000, **STAY)
    world.simulator.act("refund", charge)
    await ask(world, payment)
    assert await world.net(payment) == 0
    assert await balances(world) == {}


@pytest.mark.covers("FIN-036")
async def test_a_commission_is_held_once_and_goes_back_with_the_money(world: World):
    """S4, after S5's tier kept a part."""
    payment, charge = await a_paid_sale(world, 100_000, **STAY)
    for _ in range(2):
        assert isinstance(await does(world, hold_commissions, a_commission(payment, 15_000)), Recorded)
    assert await balances(world) == {
        "cash_reserve": 100_000, "customer_deposits": 85_000, "commissions_payable": 15_000
    }  # fmt: skip
    assert isinstance(await does(world, keep_commissions, a_commission(payment, 5_000, "tier")), Recorded)
    world.simulator.act("refund", charge, amount=50_000)
    await ask(world, payment)
    assert await balances(world) == {"cash_reserve": 50_000, "customer_deposits": 40_000, "commissions_payable": 10_000}


async def test_no_more_is_held_or_kept_than_there_is(world: World):
    payment, charge = await a_paid_sale(world, 100_000, **STAY)
    world.simulator.act("refund", charge, amount=90_000)
    await ask(world, payment)
    assert await does(world, hold_commissions, a_commission(payment, 10_001)) == CommissionTooMuch()
    assert isinstance(await does(world, hold_commissions, a_commission(payment, 10_000)), Recorded)
    assert await does(world, keep_commissions, a_commission(payment, 10_001)) == CommissionTooMuch()
    sale, _ = await a_paid_sale(world)
    assert await does(world, hold_commissions, a_commission(sale, 1)) == CommissionTooMuch()
    assert await does(world, hold_commissions, a_commission(PaymentId.new(), 1)) == PaymentNotFound()
