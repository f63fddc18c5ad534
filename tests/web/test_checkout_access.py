"""Whose the pages of an order are, and who may send their forms."""

import re

import pytest

from admitone.foundation.identity.routes.wire import SESSION_COOKIE
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.model import OrderId
from tests.mails import an_address
from tests.people import a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import a_stage
from tests.web.buying import Buyer, chosen, form_of


async def test_a_guest_s_order_opens_in_the_browser_that_placed_it_and_nowhere_else(office: Office):
    event, [kind] = await office.on_sale()
    guest = Buyer(office)
    placed = await guest.send(chosen(event), form_of((kind, 1)) | {"asGuest": "yes", "guestEmail": an_address()})
    place, [cookie] = placed.headers["location"], placed.headers.get_list("set-cookie")
    assert all(part in cookie for part in (f"Path={place}", "HttpOnly", "Secure", "SameSite=Lax"))
    page = await guest.page(place)
    assert guest.cookies["order"] not in page
    assert all(part in page for part in ("€25.00", "Taxes", "service fee", "Total", "Sold by", "Pay €25.00 by card"))

    outside = await Buyer(office).look(place)
    assert (outside.status_code, outside.headers["location"][:14]) == (303, "/sign-in?next=")
    stranger = Buyer(office, await a_person(office.stage.database))
    _, _, organization, order = place.split("/")
    elsewhere = await a_stage(office.stage.site, office.stage.database, office.stage.superuser)
    wrong = Buyer(office)
    wrong.cookies["order"] = guest.cookies["order"][:-4] + "0000"
    for buyer, path in (
        (stranger, place),
        (wrong, place),
        (guest, f"/checkout/{elsewhere.organization}/{order}"),
        (guest, f"/checkout/{OrganizationId.new()}/{order}"),
        (guest, f"/checkout/{organization}/{OrderId.new()}"),
    ):
        for end in ("", "/payment", "/mark", "/pix.png"):
            assert (await buyer.look(path + end)).status_code == 404, path + end
        for end, form in (("/pay", {"method": "CARD", "idempotencyKey": "some key of mine"}), ("/another", None)):
            assert (await buyer.send(path + end, form)).status_code == 404, path + end


async def test_only_our_own_pages_send_our_forms(office: Office):
    event, [kind] = await office.on_sale()
    guest, person = Buyer(office), Buyer(office, office.buyer)
    place, own = await guest.order(event, (kind, 1)), await person.order(event, (kind, 1))
    forms = [
        (guest, chosen(event), form_of((kind, 1))),
        (guest, f"{place}/pay", {"method": "CARD"}),
        (guest, f"{place}/another", None),
        (person, f"/orders/{own.rpartition('/')[2]}/give-up", None),
    ]
    person.cookies[SESSION_COOKIE], person.person = office.buyer.access_token, None  # As a browser sends it.
    for buyer, path, form in forms:
        for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
            assert (await buyer.send(path, form, **headers)).status_code == 403, path


@pytest.mark.parametrize("evil", ["https://evil.example", "//evil.example", "/\\evil.example"])
async def test_nobody_is_sent_to_another_site(office: Office, evil: str):
    event, [kind] = await office.on_sale()
    buyer = Buyer(office)
    typed = form_of((kind, 1)) | {"asGuest": "yes", "guestEmail": an_address(), "next": evil, "inviteToken": evil}
    for form in (typed, typed | {"then": "sign-in"}):
        location = (await buyer.send(chosen(event), form)).headers["location"]
        assert re.match(r"/(checkout/org_|sign-in\?next=%2Funsent%3FcameFrom%3D%252Fe%252F)", location)
    paid = await buyer.pay(await buyer.order(event, (kind, 1)), returnUrl=evil, next=evil)
    assert paid.headers["location"].startswith("/checkout/org_")
