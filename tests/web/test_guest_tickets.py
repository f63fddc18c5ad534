"""The tickets of a guest, behind the link of their mail."""

import re

import pytest

from tests.verticals.events.office import Office
from tests.verticals.events.test_guest_links import bought
from tests.web.buying import Buyer, heading


@pytest.mark.covers("EVT-025")
async def test_a_guest_s_link_shows_their_tickets_and_tells_nobody(office: Office):
    order, _, token = await bought(office, 2)
    guest = Buyer(office)
    page = await guest.page(f"/guest/tickets/{token}")
    pictures = re.findall(r'<img src="([^"]+)"', page)
    assert len(pictures) == 2
    picture = await guest.look(pictures[0])
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/svg+xml")
    assert '<meta name="referrer" content="no-referrer">' in page
    links = re.findall(r'href="([^"]+)"', page)
    assert all(link.startswith(("/", "#")) for link in links)
    own = [link for link in links if token in link]
    assert own and all(link.startswith(f"/guest/tickets/{token}/") for link in own), "only to what has it already"
    assert order["event"]["eventId"] in page
    nothing = await guest.look(f"/guest/tickets/{token[:-4]}0000")
    assert nothing.status_code == 404
    assert heading(nothing.text) == "This link leads to no tickets"
    assert 'content="no-referrer"' in nothing.text
    assert (await guest.look("/guest/tickets/nothing")).status_code == 404


@pytest.mark.covers("EVT-025", "ENT-009")
async def test_a_guest_can_read_the_letters_of_a_code_to_the_door(office: Office):
    _, payment, token = await bought(office)
    guest = Buyer(office)
    [large] = re.findall(rf'href="(/guest/tickets/{token}/\w+)"', await guest.page(f"/guest/tickets/{token}"))
    page = await guest.page(large)
    told = (await guest.look(f"/api{large}/code")).json()
    assert f"<code>{told['payload']}</code>" in page
    assert '<meta name="referrer" content="no-referrer">' in page
    await office.settle(payment, "refund")
    gone = await guest.look(large)
    assert (gone.status_code, gone.headers["location"]) == (303, f"/guest/tickets/{token}")
