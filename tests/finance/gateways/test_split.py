"""What is ordered of the provider says whose the money is, and its books show that it went there (FIN-005)."""

import pytest

from admitone.finance.gateways.api import Movement, MovementKind
from admitone.finance.gateways.sandbox.objects import Intent
from tests.finance.gateways.stage import all_movements
from tests.finance.world import World

Kind = MovementKind


def booked(moved: list[Movement], *kinds: MovementKind) -> int:
    return sum(each.amount_minor for each in moved if each.kind in kinds)


@pytest.mark.covers("FIN-005")
async def test_a_sale_orders_the_fee_and_the_destination_and_the_books_show_the_split(world: World):
    begun = await world.begin(world.shop.sells(world.buyer.identity, 5000))
    charge = (await world.open(begun)).id
    payment = begun.payment
    intent = world.simulator.get(charge)
    assert isinstance(intent, Intent)
    assert payment.fee_minor > 0
    assert (intent.amount, intent.application_fee_amount) == (5_000, payment.fee_minor)
    assert intent.destination == payment.account is not None
    assert intent.metadata["orgId"] == str(world.organization)
    assert intent.metadata["payment_id"] == str(payment.id)

    world.simulator.act("pay", charge)
    moved = await all_movements(world.gateway, world.organization)
    assert [(each.kind, each.amount_minor) for each in moved] == [
        (Kind.CHARGE, 5_000),
        (Kind.TRANSFER, 5_000),
        (Kind.APPLICATION_FEE, payment.fee_minor),
    ]
    assert {each.payment for each in moved} == {payment.id}
    assert booked(moved, Kind.TRANSFER) - booked(moved, Kind.APPLICATION_FEE) == 5_000 - payment.fee_minor
