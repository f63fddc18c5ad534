"""A guest comes back to their order with its secret; nobody else does."""

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from admitone.entitlements.api import doors_of
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.model import OrderId
from admitone.verticals.events.routes.seeing import find_by_secret
from tests.mails import an_address
from tests.people import a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import a_stage
from tests.verticals.events.test_guest_links import bought, passes_on, proves


async def placed(office: Office, **more: Any) -> dict[str, Any]:
    event, [kind] = await office.on_sale()
    return await office.order(event, (kind, 2), **more)


async def seen(office: Office, order: str, secret: str | None = None, **more: Any) -> httpx.Response:
    headers = {"x-order-secret": secret} if secret else {}
    return await office.stage.site.get(f"/api/orders/{order}", headers=headers, **more)


async def test_a_guest_sees_their_order_with_its_secret(office: Office):
    order = await placed(office, guest=an_address())
    shown = office.stage.fine(await seen(office, order["orderId"], order["orderSecret"]))
    assert (shown["orderId"], shown["state"], shown["tickets"], shown["payment"]) == (
        order["orderId"],
        "OPEN",
        [],
        None,
    )
    assert "orderSecret" not in shown or shown["orderSecret"] is None
    again = await office.stage.site.get(f"/api/orders/{order['orderId']}", params={"orderSecret": order["orderSecret"]})
    assert again.status_code == 200


async def test_whoever_is_signed_in_sees_their_own_and_is_given_no_secret(office: Office):
    order = await placed(office)
    assert order["orderSecret"] is None
    own = await office.stage.site.get(f"/api/orders/{order['orderId']}", headers=office.buyer.headers)
    assert own.status_code == 200
    stranger = await a_person(office.stage.database)
    other = await office.stage.site.get(f"/api/orders/{order['orderId']}", headers=stranger.headers)
    assert (other.status_code, other.json()["errorCode"]) == (404, "ORDER_NOT_FOUND")


async def test_every_other_secret_is_as_good_as_none(office: Office):
    order, another = await placed(office, guest=an_address()), await placed(office, guest=an_address())
    elsewhere = await a_stage(office.stage.site, office.stage.database, office.stage.superuser)
    right: str = order["orderSecret"]
    kind, _, tail = right.split("_")
    wrong = [
        another["orderSecret"],
        f"{kind}_{elsewhere.organization.uuid.hex}_{tail}",
        f"pst_{office.stage.organization.uuid.hex}_{tail}",
        f"{kind}_0_{tail}",
        f"{right[:-1]}{'0' if right[-1] != '0' else '1'}",
        f"{kind}_{OrganizationId.new().uuid.hex}_{'0' * 40}",
        "nothing",
        "x" * 120,
    ]
    nothing = await seen(office, str(OrderId.new()), right)
    expected = {**nothing.json(), "correlationId": None}
    assert nothing.status_code == 404
    for each in wrong:
        answer = await seen(office, order["orderId"], each)
        assert ({**answer.json(), "correlationId": None}, answer.status_code) == (expected, 404), each
    assert (await seen(office, order["orderId"])).status_code == 404


@pytest.mark.covers("EVT-025")
async def test_a_secret_ends_with_the_doors(office: Office):
    order = await placed(office, guest=an_address())
    event = office.stage.fine(await office.stage.site.get(f"/api/events/{order['eventId']}"))
    _, closes = doors_of(datetime.fromisoformat(event["startsAt"]), datetime.fromisoformat(event["endsAt"]))
    shown = OrderId.parse(order["orderId"]), order["orderSecret"]
    assert await office.at(closes - timedelta(microseconds=1), find_by_secret, *shown)
    assert await office.at(closes, find_by_secret, *shown) is None


@pytest.mark.covers("EVT-025")
async def test_an_order_that_was_handed_to_a_user_is_shown_to_them_alone(office: Office):
    user = await a_person(office.stage.database, email=an_address())
    order, *_ = await bought(office, 2, user.email)
    assert (await seen(office, order["orderId"], order["orderSecret"])).status_code == 200
    await proves(office, user)
    refused = await seen(office, order["orderId"], order["orderSecret"])
    assert (refused.status_code, refused.json()["errorCode"]) == (404, "ORDER_NOT_FOUND")
    headers = user.headers | {"x-order-secret": order["orderSecret"]}
    own = await office.stage.site.get(f"/api/orders/{order['orderId']}", headers=headers)
    assert len(office.stage.fine(own)["tickets"]) == 2, "whoever signs in need not put the secret away"


async def test_whoever_signs_up_before_they_pay_goes_on_with_the_secret(office: Office):
    user = await a_person(office.stage.database, email=an_address())
    order = await placed(office, guest=user.email)
    await proves(office, user)
    assert (await seen(office, order["orderId"], order["orderSecret"])).status_code == 200, (
        "nothing was handed over yet"
    )


async def test_a_ticket_that_was_passed_on_is_not_shown_with_its_order(office: Office):
    friend = await a_person(office.stage.database)
    guests, *_ = await bought(office, 2)
    await passes_on(office, guests, friend.identity, 0)
    shown = office.stage.fine(await seen(office, guests["orderId"], guests["orderSecret"]))
    assert len(shown["tickets"]) == 1
    event, [kind] = await office.on_sale()
    own = await office.order(event, (kind, 2))
    await office.pay(own)
    await passes_on(office, own, friend.identity, 1)
    mine = await office.stage.site.get(f"/api/me/orders/{own['orderId']}", headers=office.buyer.headers)
    assert len(office.stage.fine(mine)["tickets"]) == 1


async def test_a_guest_goes_on_with_a_payment_that_they_began(office: Office):
    order = await placed(office, guest=an_address())
    begun = office.stage.fine(await office.checkout(order, guest=True, returnUrl="https://tickets.example/back"))
    shown = office.stage.fine(await seen(office, order["orderId"], order["orderSecret"]))
    assert shown["payment"]["paymentId"] == begun["paymentId"]
    asked = {"paymentId": begun["paymentId"]}
    secret = {"x-status-secret": shown["statusSecret"]}
    way = office.stage.fine(await office.stage.site.get("/api/checkout/way", params=asked, headers=secret))
    assert (way["redirectUrl"], way["clientSecret"]) == (begun["redirectUrl"], begun["clientSecret"])
    assert way["redirectUrl"]
    stranger = await a_person(office.stage.database)
    for headers in ({}, stranger.headers):
        refused = await office.stage.site.get("/api/checkout/way", params=asked, headers=headers)
        assert (refused.status_code, refused.json()["errorCode"]) == (404, "PAYMENT_NOT_FOUND")


async def test_what_is_over_leads_nowhere(office: Office):
    order = await placed(office)
    payment = await office.pay(order)
    way = office.stage.fine(
        await office.stage.site.get(
            "/api/checkout/way", params={"paymentId": str(payment)}, headers=office.buyer.headers
        )
    )
    assert (way["redirectUrl"], way["clientSecret"], way["pix"], way["final"]) == (None, None, None, True)


async def test_a_quote_says_whether_the_fee_comes_on_top(office: Office):
    order = await placed(office)
    body = {
        "organizationId": str(office.stage.organization),
        "sourceType": "TICKET_ORDER",
        "sourceId": order["orderId"],
    }
    quoted = office.stage.fine(
        await office.stage.site.post("/api/payments/quote", json=body, headers=office.buyer.headers)
    )
    on_top = quoted["platformFeeMinor"] if quoted["feeIsAdded"] else 0
    parts = quoted["grossMinor"] - quoted["discountsMinor"] + quoted["taxesMinor"] + on_top
    assert parts == quoted["totalMinor"]
