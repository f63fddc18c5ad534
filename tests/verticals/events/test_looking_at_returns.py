"""What would go back is shown before, to the cent, and nothing is done by looking."""

from typing import Any

import httpx
import pytest

from admitone.verticals.events.model import Ticket, TicketStatus
from tests.people import Person, a_person, an_organization_of
from tests.verticals.events.office import Office
from tests.verticals.events.test_returning import give_back


async def look(office: Office, order: dict[str, Any], *tickets: Ticket, person: Person | None = None) -> httpx.Response:
    asked = [("reasonCode", "SERIOUS_FAILURE"), *(("tickets", str(each.id)) for each in tickets)]
    path = f"/api/org/{office.stage.organization}/orders/{order['orderId']}/refund"
    return await office.stage.site.get(path, params=asked, headers=(person or office.stage.owner).headers)


@pytest.mark.covers("FIN-072")
async def test_what_is_shown_is_what_goes_back(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 3))
    await office.pay(order)
    tickets = await office.tickets(order)
    shown = office.stage.fine(await look(office, order, tickets[0]))
    whole = office.stage.fine(await look(office, order))
    assert (shown["amountMinor"], whole["amountMinor"]) == (2500, 7500)
    assert shown["postings"], "whoever gives back sees from where"
    assert {each.status for each in await office.tickets(order)} == {TicketStatus.ACTIVE}
    done = office.stage.fine(await give_back(office, order, tickets[0]))
    assert (done["amountMinor"], done["feeMinor"]) == (shown["amountMinor"], shown["feeMinor"])
    await office.work()
    gone = await look(office, order, tickets[0])
    assert (gone.status_code, gone.json()["errorCode"]) == (409, "TICKET_NOT_ACTIVE")
    assert office.stage.fine(await look(office, order))["amountMinor"] == 5000


async def test_only_whoever_may_give_back_may_look(office: Office):
    event, [kind] = await office.on_sale()
    order, unpaid = await office.order(event, (kind, 1)), await office.order(event, (kind, 1))
    await office.pay(order)
    stranger = await a_person(office.stage.database)
    assert (await look(office, order, person=stranger)).status_code in (403, 404)
    refused = await look(office, unpaid)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "NOT_REFUNDABLE")
    elsewhere = await an_organization_of(office.stage.database, stranger)
    path = f"/api/org/{elsewhere}/orders/{order['orderId']}"
    for end in ("", "/refund?reasonCode=SERIOUS_FAILURE"):
        answer = await office.stage.site.get(f"{path}{end}", headers=stranger.headers)
        assert (answer.status_code, answer.json()["errorCode"]) == (404, "ORDER_NOT_FOUND")


async def test_an_order_is_found_by_its_id_and_a_refund_by_its_own(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await office.pay(order)
    home = f"/api/org/{office.stage.organization}"
    headers = office.stage.owner.headers
    found = office.stage.fine(await office.stage.site.get(f"{home}/orders/{order['orderId']}", headers=headers))
    assert (found["eventId"], len(found["ticketList"])) == (event["eventId"], 2)
    refund = office.stage.fine(await give_back(office, order, (await office.tickets(order))[0]))
    one = await office.stage.site.get(f"{home}/finance/refunds/{refund['refundId']}", headers=headers)
    assert office.stage.fine(one) == refund
    listed = await office.stage.site.get(f"{home}/payments/{payment}/refunds", headers=headers)
    assert office.stage.fine(listed) == [refund]
    stranger = await a_person(office.stage.database)
    elsewhere = await an_organization_of(office.stage.database, stranger)
    path = f"/api/org/{elsewhere}/finance/refunds/{refund['refundId']}"
    assert (await office.stage.site.get(path, headers=stranger.headers)).status_code == 404


async def test_a_transfer_is_shown_as_it_was_posted(office: Office):
    event, [kind] = await office.on_sale()
    payment = await office.pay(await office.order(event, (kind, 1)))
    ledger = f"/api/org/{office.stage.organization}/finance/ledger"
    headers = office.stage.owner.headers
    asked = {"account": "org_payable", "currency": "EUR"}
    lines = office.stage.fine(await office.stage.site.get(f"{ledger}/statement", params=asked, headers=headers))
    gross = next(each for each in lines["items"] if each["entryType"] == "GROSS")
    posted = office.stage.fine(await office.stage.site.get(f"{ledger}/transfers/{gross['transfer']}", headers=headers))
    assert (posted["creditAccount"], posted["amountMinor"]) == ("org_payable", gross["creditMinor"])
    assert posted["payment"] == str(payment)
    stranger = await a_person(office.stage.database)
    elsewhere = await an_organization_of(office.stage.database, stranger)
    path = f"/api/org/{elsewhere}/finance/ledger/transfers/{gross['transfer']}"
    assert (await office.stage.site.get(path, headers=stranger.headers)).json()["errorCode"] == "TRANSFER_NOT_FOUND"
