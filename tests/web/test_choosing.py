"""Choosing tickets, over HTTP: the choice lives in the address, and what was typed is not lost on the way."""

import html
import re
import secrets

import httpx
import pytest

from tests.mails import an_address
from tests.verticals.events.office import Office
from tests.web.buying import FREE, Buyer, chosen, form_of, heading


async def test_the_choice_lives_in_the_address(office: Office):
    event, [kind, free] = await office.on_sale({"name": "Standing"}, FREE)
    buyer = Buyer(office)
    assert heading(await buyer.page(chosen(event))) == "Choose your tickets"
    page = await buyer.page(chosen(event, (kind, 2), (free, 0)))
    assert heading(page) == "Your choice"
    assert "€50.00" in page
    assert f'name="quantity" value="2"' in page  # noqa: F541
    nobody_knows = await buyer.page(f"{chosen(event, (kind, 2))}&quantity=3")
    assert heading(nobody_knows) == "Choose your tickets"
    assert "Choose at least one ticket." in await buyer.page(chosen(event, (kind, 0)))


async def test_what_organisers_write_is_shown_as_text(office: Office):
    evil = "<script>alert(1)</script>"
    event, [kind] = await office.on_sale({"name": evil}, about={"title": f"Night {evil}"})
    buyer = Buyer(office)
    place = await buyer.order(event, (kind, 1))
    for path in (chosen(event), chosen(event, (kind, 1)), place, f"{place}?promoCode=%22%3E{evil}"):
        page = await buyer.page(path)
        assert evil not in page
        assert "&lt;script&gt;" in page


async def test_whoever_must_sign_in_comes_back_to_their_choice(office: Office):
    event, [kind] = await office.on_sale()
    buyer = Buyer(office)
    asked = await buyer.send(chosen(event), form_of((kind, 2)) | {"then": "sign-in"})
    assert (asked.status_code, asked.headers["location"][:14]) == (303, "/sign-in?next=")
    expired = await buyer.send(chosen(event), form_of((kind, 2)))  # The form of somebody whose session ran out.
    assert (expired.status_code, expired.headers["location"]) == (303, asked.headers["location"])
    buyer.cookies["signed-in"] = "yes"
    renewed = await buyer.look(chosen(event, (kind, 2)))
    assert back_from(renewed) == chosen(event, (kind, 2)), "a session that only has to be renewed"


TYPED = {"billingName": "Ana Conceição & Filhos", "taxNumber": "PT 501 964 843", "guestEmail": "ana.silva@example.org"}


@pytest.mark.parametrize("detour", [{"then": "sign-in"}, {}], ids=["signs in", "the session ran out"])
async def test_what_was_typed_is_there_again_after_signing_in_and_in_no_address(office: Office, detour: dict[str, str]):
    event, [kind] = await office.on_sale()
    buyer, path = Buyer(office), chosen(event, (kind, 2))
    typed = TYPED if detour else {**TYPED, "guestEmail": ""}
    left = await buyer.send(path, form_of((kind, 2)) | typed | detour)
    [cookie] = left.headers.get_list("set-cookie")
    alone = "Path=/unsent;"
    assert all(part in cookie for part in ("typed=", alone, "HttpOnly", "Secure", "SameSite=Lax", "Max-Age=600"))
    assert not any(part in left.headers["location"] + cookie for part in ("Ana", "501", "example"))

    buyer.cookies["signed-in"] = "yes"
    waiting = await buyer.look(back_from(left))
    assert "set-cookie" not in waiting.headers, "it waits until the session is renewed"
    assert back_from(waiting) == back_from(left)
    buyer.person = office.buyer
    shown = await buyer.look(back_from(left))
    assert "Nothing was done yet." in shown.text
    assert 'value="Ana Conceição &amp; Filhos"' in shown.text
    assert 'value="PT 501 964 843"' in shown.text
    assert "<details open>" in shown.text
    [cleared] = shown.headers.get_list("set-cookie")
    assert cleared.startswith("typed=;")
    assert (alone in cleared, "Max-Age=0" in cleared) == (True, True)


async def test_a_guest_who_does_not_sign_in_after_all_finds_their_address_again(office: Office):
    event, [kind] = await office.on_sale()
    buyer, path = Buyer(office), chosen(event, (kind, 1))
    left = await buyer.send(path, form_of((kind, 1)) | TYPED | {"then": "sign-in"})
    [way] = re.findall(r'<a href="([^"]+)">Go on without signing in', await buyer.page(left.headers["location"]))
    shown = await buyer.look(html.unescape(way))
    assert 'value="ana.silva@example.org"' in shown.text
    assert 'name="then" value="sign-in" formnovalidate' in shown.text, "and may sign in all the same"


@pytest.mark.parametrize("value", ["", "nonsense", "e30", "W10", "eyJiaWxsaW5nTmFtZSI6MX0", "_" * 3_600])
async def test_what_we_did_not_write_is_nothing_that_was_typed(office: Office, value: str):
    event, [kind] = await office.on_sale()
    buyer = Buyer(office, office.buyer)
    buyer.cookies["typed"] = value
    back = chosen(event, (kind, 1))
    answer = await buyer.look(f"/unsent?{httpx.QueryParams(cameFrom=back)}")
    assert (answer.status_code, answer.headers["location"]) == (303, back)


async def test_nothing_is_kept_that_a_browser_would_not_keep(office: Office):
    event, [kind] = await office.on_sale()
    buyer = Buyer(office)
    by_chance = secrets.token_hex(2_000)  # Which nothing packs.
    typed = {"billingName": by_chance, "taxNumber": by_chance[::-1], "then": "sign-in"}
    left = await buyer.send(chosen(event, (kind, 1)), form_of((kind, 1)) | typed)
    assert (left.status_code, left.headers.get_list("set-cookie")) == (303, [])
    assert "could not be kept" in await buyer.page(back_from(left))


def back_from(answer: httpx.Response) -> str:
    """Where somebody goes on who has signed in."""
    return httpx.QueryParams(answer.headers["location"].partition("?")[2])["next"]


async def test_what_was_typed_is_kept_when_something_is_wrong(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 1}}, about={"leastAge": 18})
    buyer = Buyer(office)
    typed = {"asGuest": "yes", "guestEmail": "ana@example.org", "billingName": 'Ana "A" Silva'}
    too_young = await buyer.send(chosen(event), form_of((kind, 1)) | typed)
    assert too_young.status_code == 422
    assert "you have not said that you have reached it" in too_young.text
    assert 'value="ana@example.org"' in too_young.text
    assert "Ana &#34;A&#34; Silva" in too_young.text
    nowhere = await buyer.send(chosen(event), form_of((kind, 1)) | {"asGuest": "yes", "ageConfirmed": "true"})
    assert (nowhere.status_code, "Say where the tickets go." in nowhere.text) == (422, True)
    await Buyer(office).order(event, (kind, 1), ageConfirmed="true")
    gone = await buyer.send(chosen(event), form_of((kind, 1)) | typed | {"ageConfirmed": "true"})
    assert gone.status_code == 409
    assert 'role="alert"' in gone.text


async def test_numbered_seats_are_chosen_or_the_best_are_had(office: Office):
    seats = {"seats": [f"A{n}" for n in range(1, 5)]}
    event, [kind] = await office.on_sale({"name": "Stalls", "supply": seats})
    buyer = Buyer(office)
    page = await buyer.page(chosen(event, (kind, 2)))
    values = re.findall(r'name="seat" value="([^"]+)"', page)
    assert len(values) == 4
    place = await buyer.order(event, (kind, 2), seat=values[2:])
    assert heading(await buyer.page(place)) == "Pay"
    left = re.findall(r'name="seat" value="([^"]+)"', await buyer.page(chosen(event, (kind, 2))))
    assert left == values[:2]
    taken = await Buyer(office).send(
        chosen(event), form_of((kind, 1)) | {"asGuest": "yes", "guestEmail": an_address(), "seat": values[3]}
    )
    assert taken.status_code == 409
    assert f'value="{values[3]}" checked' not in taken.text
