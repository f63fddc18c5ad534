"""Giving up an order: before anybody pays for it, and never while a bank may pay or has."""

from typing import Any

import httpx
import pytest

from admitone.finance.gateways.api import Unknown
from admitone.finance.payments.api import Status
from admitone.finance.sources.api import PaymentId
from admitone.verticals.events.model import OrderState
from tests.finance.payments.saying import saying
from tests.verticals.events.office import Office

STAND = "UPDATE payments.payment SET status = $2, manual_reason = $3, applied = $4 WHERE id = $1"


async def gives_up(office: Office, order: dict[str, Any]) -> httpx.Response:
    path = f"/api/me/orders/{order['orderId']}/cancel"
    return await office.stage.site.post(path, headers=office.buyer.headers)


async def begun(office: Office, quantity: int = 2) -> tuple[dict[str, Any], dict[str, Any], PaymentId]:
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, quantity))
    return order, kind, await office.begin(order)


async def befalls(office: Office, payment: PaymentId, deed: str = "pay", **options: Any) -> None:
    """At the provider, and we know; nobody has done anything about it yet."""
    office.world.simulator.act(deed, (await office.world.payment(payment)).charge_id, **options)
    await office.world.clerk.ask(office.stage.organization, payment, office.buyer.caller)


async def is_refused(office: Office, order: dict[str, Any], kind: dict[str, Any], status: Status) -> None:
    """And stands as it did, with what is kept for it."""
    answer = await gives_up(office, order)
    told = answer.json()
    assert (answer.status_code, told["errorCode"], told.get("status")) == (409, "ORDER_BEING_PAID", status)
    assert ((await office.find(order)).state, (await office.pool(kind)).held) == (OrderState.OPEN, 2)


async def test_while_the_bank_decides_nothing_is_given_up(office: Office):
    order, kind, payment = await begun(office)
    await befalls(office, payment, card="slow")
    await is_refused(office, order, kind, Status.PROCESSING)
    await office.settle(payment, "clear")
    assert (await office.find(order)).state is OrderState.FULFILLED


async def test_what_is_paid_and_not_yet_handed_over_is_not_given_up(office: Office):
    order, kind, payment = await begun(office)
    await befalls(office, payment)
    await is_refused(office, order, kind, Status.SUCCEEDED)
    await office.work()
    assert ((await office.find(order)).state, len(await office.tickets(order))) == (OrderState.FULFILLED, 2)


async def test_what_was_paid_this_instant_is_not_given_up_although_nobody_told_us(office: Office):
    order, kind, payment = await begun(office)
    office.world.simulator.act("pay", (await office.world.payment(payment)).charge_id)
    await is_refused(office, order, kind, Status.SUCCEEDED)


@pytest.mark.parametrize("deed", [None, "card_declined"], ids=["waits", "was declined"])
async def test_a_payment_that_waits_for_its_buyer_is_closed_first(office: Office, deed: str | None):
    order, kind, payment = await begun(office)
    if deed:
        await befalls(office, payment, card=deed)
    assert office.stage.fine(await gives_up(office, order))["state"] == "CANCELLED"
    assert (await office.world.payment(payment)).status is Status.CANCELLED
    assert (await office.pool(kind)).free == 3
    assert office.stage.fine(await gives_up(office, order))["state"] == "CANCELLED", "twice is once"


UNDER_WAY = [
    (Status.NEEDS_MANUAL, "AMOUNT_MISMATCH", False),
    (Status.DISPUTED, None, True),
    (Status.CHARGEBACK_LOST, "LATE", False),
    (Status.PARTIAL_REFUND, None, True),
]


@pytest.mark.parametrize(("status", "reason", "applied"), UNDER_WAY)
async def test_money_that_came_is_seen_to_first(office: Office, status: Status, reason: str | None, applied: bool):
    order, kind, payment = await begun(office)
    await office.stage.superuser.execute(STAND, payment.uuid, status.value, reason, applied)
    await is_refused(office, order, kind, status)


async def test_what_came_to_nothing_or_went_back_keeps_nobody_from_giving_up(office: Office):
    order, kind, payment = await begun(office)
    await office.stage.superuser.execute(STAND, payment.uuid, "REFUNDED", "LATE", False)
    assert office.stage.fine(await gives_up(office, order))["state"] == "CANCELLED"
    assert (await office.pool(kind)).free == 3


async def test_a_list_of_orders_says_how_their_payments_stand(office: Office):
    order, _, payment = await begun(office)
    await befalls(office, payment, card="slow")
    page = office.stage.fine(await office.stage.site.get("/api/me/orders", headers=office.buyer.headers))
    [item] = page["items"]
    assert (item["orderId"], item["isExpired"]) == (order["orderId"], False)
    assert (item["payment"]["paymentId"], item["payment"]["status"]) == (str(payment), "PROCESSING")


async def test_what_came_is_said_with_its_reason_and_in_its_own_currency_only(office: Office):
    order, _, payment = await begun(office)
    path, headers = f"/api/me/orders/{order['orderId']}", office.buyer.headers
    await befalls(office, payment, amount=3000)
    told = office.stage.fine(await office.stage.site.get(path, headers=headers))["payment"]
    assert (told["status"], told["manualReason"], told["capturedMinor"]) == ("NEEDS_MANUAL", "AMOUNT_MISMATCH", 3000)
    await office.stage.superuser.execute(STAND, payment.uuid, "NEEDS_MANUAL", "CURRENCY_MISMATCH", False)
    told = office.stage.fine(await office.stage.site.get(path, headers=headers))["payment"]
    assert (told["manualReason"], told["capturedMinor"]) == ("CURRENCY_MISMATCH", None)


async def test_while_the_provider_does_not_answer_nobody_knows_and_nothing_is_given_up(office: Office):
    order, kind, payment = await begun(office)
    with saying(office.world, cancel_charge=Unknown("lost")):
        answer = await gives_up(office, order)
    assert (answer.status_code, answer.json()["errorCode"]) == (503, "OUTCOME_UNKNOWN")
    assert ((await office.find(order)).state, (await office.pool(kind)).held) == (OrderState.OPEN, 2)
    assert (await office.world.payment(payment)).status is Status.PENDING
