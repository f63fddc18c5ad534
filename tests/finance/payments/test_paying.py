"""From a price to captured money in the ledger."""

import pytest

from admitone.finance.payments.model import Status
from tests.finance.world import World


@pytest.mark.covers("FIN-052")
async def test_a_captured_payment_is_paid_and_in_the_books(world: World):
    order = world.shop.sells(world.buyer.identity, 5000)
    payment, charge = await world.opened(order)
    world.simulator.act("pay", charge)

    await world.clerk.ask(world.organization, payment, world.buyer.caller)

    paid = await world.payment(payment)
    assert paid.status is Status.SUCCEEDED
    assert paid.applied
    assert [entry for entry, *_ in await world.transfers(payment)] == ["GROSS", "PLATFORM_FEE", "TRANSFER_TO_ORG"]
    assert await world.net(payment) == 5000 - paid.fee_minor
