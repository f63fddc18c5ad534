"""Paying for an order on its page: once, whatever is sent how often, and the price is shown before."""

import re

from tests.verticals.events.office import Office
from tests.web.buying import FREE, HIDDEN, Buyer, heading, payment_of


async def test_a_guest_pays_and_owns(office: Office):
    event, [kind] = await office.on_sale()
    guest = Buyer(office)
    place = await guest.order(event, (kind, 2))
    begun = await guest.pay(place)
    assert (begun.status_code, begun.headers["location"]) == (303, f"{place}/payment")
    way = await guest.page(f"{place}/payment")
    assert re.search(r'http-equiv="refresh" content="1; url=http', way)
    waiting = await guest.page(place)
    assert heading(waiting) == "Waiting for your payment"
    assert f'data-watch="{place}/mark"' in waiting
    mark = (await guest.look(f"{place}/mark")).json()["mark"]
    assert f'data-mark="{mark}"' in waiting
    await office.settle(await payment_of(office, place))
    assert (await guest.look(f"{place}/mark")).json()["mark"] != mark
    owned = await guest.page(place)
    assert heading(owned) == "You have your tickets"
    assert "2 × Standing" in owned
    assert "calendar.ics" in owned


async def test_a_form_that_is_sent_twice_begins_one_payment(office: Office):
    event, [kind] = await office.on_sale()
    guest = Buyer(office)
    place = await guest.order(event, (kind, 1))
    shown = dict(HIDDEN.findall((await guest.page(place)).partition("/pay")[2]))
    answers = [await guest.send(f"{place}/pay", {"method": "CARD", **shown}) for _ in range(3)]
    assert {answer.headers["location"] for answer in answers} == {f"{place}/payment"}
    another_tab = await guest.send(f"{place}/pay", {"method": "CARD", "idempotencyKey": "another tab"})
    assert another_tab.headers["location"] == place, "somebody pays already, and that is what the page says"
    count = "SELECT count(*) FROM payments.payment WHERE source_id = $1"
    assert await office.stage.superuser.fetchval(count, place.rpartition("/")[2]) == 1


async def test_a_declined_card_loses_nothing(office: Office):
    event, [kind] = await office.on_sale()
    buyer = Buyer(office, office.buyer)
    place = await buyer.order(event, (kind, 1))
    await buyer.pay(place)
    await office.settle(await payment_of(office, place), card="card_declined")
    page = await buyer.page(place)
    assert "The payment was declined. Nothing was charged." in page
    await buyer.pay(place)
    await office.settle(await payment_of(office, place))
    assert heading(await buyer.page(place)) == "You have your tickets"


async def test_whoever_chooses_another_way_closes_the_first(office: Office):
    event, [kind] = await office.on_sale()
    guest = Buyer(office)
    place = await guest.order(event, (kind, 1))
    await guest.pay(place)
    assert (await guest.send(f"{place}/another")).headers["location"] == place
    await office.work()
    page = await guest.page(place)
    assert (heading(page), "The last payment was closed." in page) == ("Pay", True)


async def test_what_costs_nothing_is_had_without_a_card(office: Office):
    event, [kind] = await office.on_sale(FREE)
    buyer = Buyer(office, office.buyer)
    place = await buyer.order(event, (kind, 1))
    assert "Get tickets" in await buyer.page(place)
    assert (await buyer.pay(place)).headers["location"] == place
    await office.work()
    assert heading(await buyer.page(place)) == "You have your tickets"


async def test_pix_is_a_picture_and_a_text(office: Office):
    event, [kind] = await office.on_sale(currency="BRL")
    guest = Buyer(office)
    place = await guest.order(event, (kind, 1))
    assert "with PIX" in await guest.page(place)
    assert (await guest.pay(place, method="PIX")).headers["location"] == place
    page = await guest.page(place)
    assert heading(page) == "Pay with PIX"
    assert "br.gov.bcb.pix" in page
    picture = await guest.look(f"{place}/pix.png")
    assert (picture.headers["content-type"], picture.content[:4]) == ("image/png", b"\x89PNG")
    assert "data:" not in page
    await office.settle(await payment_of(office, place))
    assert heading(await guest.page(place)) == "You have your tickets"


async def test_a_price_that_changed_is_shown_before_it_is_asked(office: Office):
    event, [kind] = await office.on_sale()
    guest = Buyer(office)
    place = await guest.order(event, (kind, 1))
    answer = await guest.pay(place, pricingSnapshotHash="0" * 64)
    assert answer.status_code == 409
    assert "The price is no longer what you were shown." in answer.text
    assert "Pay €25.00 by card" in answer.text
