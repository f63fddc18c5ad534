"""Tickets are ordered, paid and there; or not, and then everybody knows why."""

import asyncio

import pytest

from admitone.entitlements.api import Status
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.sources.api import PaymentId
from admitone.verticals.events.model import OrderState, TicketStatus
from tests.verticals.events.office import Office


@pytest.mark.covers("FUL-001", "FUL-002", "FUL-010", "EVT-009")
async def test_what_is_paid_is_there_once(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 3))
    assert (order["state"], order["amountMinor"], len(await office.rights(order))) == ("OPEN", 7500, 0)
    assert ((await office.pool(kind)).held, (await office.pool(kind)).sold) == (3, 0)
    payment = await office.pay(order)
    tickets, rights = await office.tickets(order), await office.rights(order)
    assert [each.emission_index for each in tickets] == [0, 1, 2]
    assert {each.status for each in tickets} == {TicketStatus.ACTIVE}
    assert [(each.status, each.payment_id, each.owner) for each in rights] == [
        (Status.ACTIVE, payment, office.buyer.identity)
    ] * 3
    assert ((await office.pool(kind)).held, (await office.pool(kind)).sold) == (0, 3)
    assert (await office.find(order)).state is OrderState.FULFILLED


@pytest.mark.covers("FUL-011", "FIN-081")
async def test_what_is_free_is_there_without_a_provider(office: Office):
    event, [kind] = await office.on_sale({"name": "Guest list", "priceMinor": 0, "allowZeroPrice": True})
    order = await office.order(event, (kind, 1))
    await office.begin(order)
    await office.work()
    assert [each.status for each in await office.rights(order)] == [Status.ACTIVE]


@pytest.mark.covers("EVT-009")
async def test_of_ten_places_ten_are_kept_for_those_who_came_first(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 10}})
    answers = await asyncio.gather(*(office.ask(event, (kind, 1), guest=f"g{n}@example.org") for n in range(25)))
    said = [answer.status_code for answer in answers]
    assert (said.count(200), said.count(409)) == (10, 15)
    assert {answer.json()["errorCode"] for answer in answers if answer.status_code == 409} == {"SOLD_OUT"}
    assert (await office.pool(kind)).free == 0


async def test_a_key_places_one_order(office: Office):
    event, [kind] = await office.on_sale()
    answers = await asyncio.gather(*(office.ask(event, (kind, 2), idempotencyKey="one") for _ in range(10)))
    assert len({answer.json()["orderId"] for answer in answers}) == 1
    assert (await office.pool(kind)).held == 2
    other = await office.ask(event, (kind, 1), idempotencyKey="one")
    assert (other.status_code, other.json()["errorCode"]) == (409, "IDEMPOTENCY_KEY_REUSED")


async def test_tickets_are_bought_in_one_step(office: Office):
    event, [kind] = await office.on_sale()
    body = {"idempotencyKey": "all at once"}
    [first, again] = [await office.buy(event, (kind, 2), **body) for _ in range(2)]
    assert first["order"]["orderId"] == again["order"]["orderId"]
    assert first["checkout"]["paymentId"] == again["checkout"]["paymentId"], "a key begins one payment"
    await office.settle(PaymentId.parse(first["checkout"]["paymentId"]))
    assert len(await office.rights(first["order"])) == 2


async def test_what_cannot_be_paid_is_kept_and_said(office: Office):
    event, [kind] = await office.on_sale()
    with GATEWAYS.wired(Gateways([])):
        bought = await office.buy(event, (kind, 2))
    assert (bought["checkout"], bought["refusal"]["errorCode"]) == (None, "CONFIG_STRIPE_KEY_MISSING")
    await office.pay(bought["order"])
    assert len(await office.tickets(bought["order"])) == 2


async def test_what_is_free_is_had_in_one_step(office: Office):
    event, [kind] = await office.on_sale({"name": "Guest list", "priceMinor": 0, "allowZeroPrice": True})
    bought = await office.buy(event, (kind, 1))
    await office.work()
    assert bought["checkout"]["freeCheckout"]
    assert len(await office.rights(bought["order"])) == 1
    second = await office.ask(event, (kind, 1))
    assert second.json()["errorCode"] == "BUYER_LIMIT", "one for each person, if nobody says otherwise"
