"""Money that comes when nobody waits for it any more: for tickets after all, or back, and never without a word."""

from datetime import timedelta
from typing import Any

import pytest

from admitone.entitlements.api import Status
from admitone.finance.payments.api import Status as PaymentStatus
from admitone.selling.stock.api import HoldId
from admitone.selling.stock.commands.settling import expire
from admitone.verticals.events.model import OrderState
from tests.people import a_person
from tests.verticals.events.office import Office


async def swept(office: Office, order: dict[str, Any]) -> None:
    """A minute after it was kept for somebody."""
    own = await office.find(order)
    await office.at(own.expires_at + timedelta(minutes=1), expire, [HoldId(own.id.uuid)])


@pytest.mark.covers("FUL-010", "FIN-017")
@pytest.mark.parametrize("is_swept", [True, False], ids=["swept", "not yet swept"])
async def test_what_is_still_there_is_granted_again(office: Office, is_swept: bool):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    if is_swept:
        await swept(office, order)
        assert ((await office.pool(kind)).held, (await office.pool(kind)).free) == (0, 3)
    await office.settle(payment)
    assert (await office.find(order)).state is OrderState.FULFILLED
    assert [each.status for each in await office.rights(order)] == [Status.ACTIVE] * 2
    assert ((await office.pool(kind)).held, (await office.pool(kind)).sold) == (0, 2)


@pytest.mark.covers("FUL-010", "PAY-064")
async def test_what_somebody_else_has_by_then_goes_back_as_money(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    await swept(office, order)
    other = await a_person(office.stage.database)
    taken = await office.order(event, (kind, 2), buyer=other)
    await office.pay(taken, buyer=other)
    await office.settle(payment)
    assert (await office.find(order)).state is OrderState.RETURNED
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert await office.world.net(payment) == 0
    assert (await office.rights(order), await office.tickets(order)) == ([], [])
    assert await office.letters(office.buyer.email) == ["order_returned"]
    assert ((await office.pool(kind)).sold, len(await office.rights(taken))) == (2, 2), "never oversold"


@pytest.mark.covers("PAY-053", "FIN-017")
async def test_money_of_a_payment_that_had_ended_goes_back_and_its_buyer_is_told(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    await swept(office, order)
    await office.settle(payment, "cancel")
    assert (await office.world.payment(payment)).status is PaymentStatus.CANCELLED
    await office.settle(payment, "pay", late=True)
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert (await office.find(order)).state is OrderState.RETURNED
    assert (await office.rights(order), (await office.pool(kind)).free) == ([], 3)
    assert await office.letters(office.buyer.email) == ["order_returned"]
