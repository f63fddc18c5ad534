"""Single tickets go back: these, once, when their money did, and no others."""

import asyncio
from typing import Any

import httpx
import pytest

from admitone.entitlements.api import Revocation, Status
from admitone.finance.payments.api import Status as PaymentStatus
from admitone.verticals.events.model import Ticket, TicketStatus
from tests.people import a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import KEYS, soon

A, R = TicketStatus.ACTIVE, TicketStatus.REFUNDED


async def give_back(office: Office, order: dict[str, Any], *tickets: Ticket, **more: Any) -> httpx.Response:
    body = {
        "tickets": [str(each.id) for each in tickets],
        "reasonCode": "SERIOUS_FAILURE",
        "idempotencyKey": f"back-{next(KEYS)}",
        **more,
    }
    person = body.pop("person", office.stage.owner)
    path = f"/api/org/{office.stage.organization}/orders/{order['orderId']}/refund"
    return await office.stage.site.post(path, json=body, headers=person.headers)


async def standing(office: Office, order: dict[str, Any]) -> list[TicketStatus]:
    return [each.status for each in await office.tickets(order)]


@pytest.mark.covers("OPS-041", "FIN-072", "EVT-046", "ENT-007")
async def test_partial_refund_revokes_only_the_right_entitlements(office: Office):
    event, [kind, other] = await office.on_sale({}, {"name": "Seated", "priceMinor": 4000})
    order = await office.order(event, (kind, 3), (other, 1))
    payment = await office.pay(order)
    tickets = [each for each in await office.tickets(order) if str(each.ticket_type) == kind["ticketTypeId"]]
    refund = office.stage.fine(await give_back(office, order, tickets[0]))
    assert (refund["amountMinor"], refund["state"]) == (2500, "PENDING")
    assert {*await standing(office, order)} == {A}, "it may yet fail"
    await office.work()
    gone = {each.id: each.status for each in await office.tickets(order)}
    assert [own for own, status in gone.items() if status is R] == [tickets[0].id]
    rights = await office.rights(order)
    assert [(each.line_key, each.piece) for each in rights if each.status is Status.REVOKED] == [
        (kind["ticketTypeId"], tickets[0].emission_index)
    ]
    assert {each.revoked_for for each in rights} == {None, Revocation.REFUND}
    assert ((await office.pool(kind)).sold, (await office.pool(other)).sold) == (2, 1), "it is on sale again"
    assert (await office.world.payment(payment)).status is PaymentStatus.PARTIAL_REFUND


@pytest.mark.covers("FIN-072")
async def test_a_ticket_goes_back_once_whoever_asks_how_often(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 3))
    payment = await office.pay(order)
    tickets = await office.tickets(order)
    answers = await asyncio.gather(*(give_back(office, order, tickets[1]) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    assert {each.json()["errorCode"] for each in answers if each.status_code == 409} == {"REFUND_PIECE_GONE"}
    await office.work()
    assert (await give_back(office, order, tickets[1])).json()["errorCode"] == "TICKET_NOT_ACTIVE"
    assert await standing(office, order) == [A, R, A]
    [last] = [await give_back(office, order, tickets[0], tickets[2], tickets[0], idempotencyKey="rest")]
    assert last.json()["amountMinor"] == 5000
    await office.work()
    again = await give_back(office, order, tickets[0], tickets[2], tickets[0], idempotencyKey="rest")
    assert again.json()["refundId"] == last.json()["refundId"]
    taken = await give_back(office, order, tickets[0], idempotencyKey="rest")
    assert taken.status_code == 409
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert (await office.pool(kind)).sold == 0


async def test_what_goes_back_without_a_name_is_none_of_those_that_were_named(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 3))
    payment = await office.pay(order)
    tickets = await office.tickets(order)
    pieces = [{"key": kind["ticketTypeId"], "quantity": 1}]
    path = f"/api/org/{office.stage.organization}/payments/{payment}/refund"
    body = {"pieces": pieces, "reasonCode": "SERIOUS_FAILURE", "idempotencyKey": "unnamed"}
    await give_back(office, order, tickets[2])
    office.stage.fine(await office.stage.site.post(path, json=body, headers=office.stage.owner.headers))
    await office.work()
    assert (await standing(office, order)).count(R) == 2
    assert (await standing(office, order))[2] is R


async def test_with_a_ticket_go_all_its_sessions(office: Office):
    sessions = [
        {"label": day, "startsAt": soon(hours=hour), "endsAt": soon(hours=hour + 2)}
        for day, hour in (("Friday", 0), ("Saturday", 3))
    ]
    event, [kind] = await office.on_sale(schedule={"sessions": sessions})
    order = await office.order(event, (kind, 2))
    await office.pay(order)
    office.stage.fine(await give_back(office, order, (await office.tickets(order))[0]))
    await office.work()
    gone = [each for each in await office.rights(order) if each.status is Status.REVOKED]
    assert [each.piece for each in gone] == [0, 0]
    assert await standing(office, order) == [R, A]


@pytest.mark.covers("FIN-071")
async def test_who_may_give_back_what_and_why(office: Office):
    event, [kind] = await office.on_sale()
    order, other = await office.order(event, (kind, 1)), await office.order(event, (kind, 1))
    await office.pay(order)
    [ticket] = await office.tickets(order)
    refused = await give_back(office, order, ticket, reasonCode="NO_SHOW")
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "REFUND_REASON_NOT_ALLOWED")
    stranger = await a_person(office.stage.database)
    assert (await give_back(office, order, ticket, person=stranger)).status_code in (403, 404)
    assert (await give_back(office, other, ticket)).json()["errorCode"] == "TICKET_NOT_FOUND"
    assert await standing(office, order) == [A]
    assert (await office.pool(kind)).sold == 1
