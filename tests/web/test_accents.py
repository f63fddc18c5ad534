"""Pages in the colour of the organisation that sells there, over HTTP."""

import re
from typing import Any

import httpx
import pytest

from admitone.web.accents import address_of
from tests.people import a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import Stage
from tests.verticals.events.test_guest_links import bought
from tests.web.buying import Buyer, chosen

ACCENT = "#8a1c4a"
LINKED = re.compile(r'<link rel="stylesheet" href="(/a[^"]+)">')


async def paint(stage: Stage, color: str | None) -> None:
    path = f"/api/org/{stage.organization}"
    seen: dict[str, Any] = (await stage.site.get(path, headers=stage.owner.headers)).json()
    wanted = {"settings": seen["settings"] | {"accentColor": color}, "version": seen["version"]}
    answer = await stage.site.put(f"{path}/settings", json=wanted, headers=stage.owner.headers)
    assert answer.status_code == 200, answer.text


def styles_of(page: str) -> list[str]:
    return LINKED.findall(page)


# -- The style


async def test_the_style_of_a_colour_is_kept_for_a_year(site: httpx.AsyncClient):
    answer = await site.get(address_of(ACCENT))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.text == (
        ":root { --accent: #8a1c4a; --on-accent: #ffffff; }\n"
        "@media (prefers-color-scheme: dark) { :root { --accent: #b6728e; --on-accent: #12141a; } }\n"
    )


def test_colours_have_addresses_of_their_own():
    assert address_of(ACCENT) == address_of(ACCENT)
    assert len({address_of(f"#0000{number:02x}") for number in range(256)}) == 256


@pytest.mark.parametrize(
    "name",
    [
        "red.css",
        "red;}body{.css",
        "abc.css",
        "8A1C4A.css",
        "8a1c4a",
        "8a1c4a.js",
        "8a1c4a.css.css",
        "%238a1c4a.css",
        "8a1c4a%0a.css",
        "%D9%A8a1c4a.css",
        "..%2fframe.css",
    ],
)
async def test_what_is_no_colour_has_no_style(site: httpx.AsyncClient, name: str):
    answer = await site.get(f"/accents/0/{name}")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")


@pytest.mark.parametrize("name", ["a" * 5000, "8a1c4%00"])
async def test_a_name_that_is_too_long_or_no_text_is_refused(site: httpx.AsyncClient, name: str):
    assert (await site.get(f"/accents/0/{name}.css")).status_code == 422


# -- The pages


async def test_the_pages_of_a_house_have_its_colour_after_ours(stage: Stage, site: httpx.AsyncClient):
    event = await stage.published(types=[{}])
    pages = [f"/o/{stage.organization}", f"/e/{event['eventId']}", f"/e/{event['eventId']}/tickets"]
    pages.append(chosen(event, (event["ticketTypes"][0], 1)))
    for path in pages:
        assert not any("/accents/" in each for each in styles_of((await site.get(path)).text))
    await paint(stage, ACCENT)
    for path in pages:
        frame, accent, *_ = styles_of((await site.get(path)).text)
        assert frame.endswith("/frame.css")
        assert accent == address_of(ACCENT)


async def test_a_page_that_somebody_has_is_sent_again_in_another_colour(stage: Stage, site: httpx.AsyncClient):
    event = await stage.published(types=[{}])
    path = f"/e/{event['eventId']}"
    known = {"if-none-match": (await site.get(path)).headers["etag"]}
    assert (await site.get(path, headers=known)).status_code == 304
    await paint(stage, ACCENT)
    again = await site.get(path, headers=known)
    assert again.status_code == 200
    assert address_of(ACCENT) in again.text
    await paint(stage, None)
    assert (await site.get(path, headers=known)).status_code == 304


async def test_an_order_is_paid_and_seen_in_the_colour_of_who_sells(office: Office):
    await paint(office.stage, ACCENT)
    event, [kind] = await office.on_sale({})
    buyer = Buyer(office, await a_person(office.stage.database))
    place = await buyer.order(event, (kind, 1))
    assert address_of(ACCENT) in styles_of(await buyer.page(place))
    led = await buyer.pay(place)
    assert led.headers["location"] == f"{place}/payment"
    own = f"/orders/{place.rpartition('/')[2]}"
    for path in (f"{place}/payment", place, own):
        assert address_of(ACCENT) in styles_of(await buyer.page(path))


async def test_a_guest_has_their_tickets_in_the_colour_of_who_sold_them(office: Office):
    await paint(office.stage, ACCENT)
    _, _, token = await bought(office)
    assert address_of(ACCENT) in styles_of(await Buyer(office).page(f"/guest/tickets/{token}"))


@pytest.mark.parametrize("path", ["/", "/sign-in", "/legal/terms"])
async def test_our_own_pages_have_our_own_colour(stage: Stage, site: httpx.AsyncClient, path: str):
    await paint(stage, ACCENT)
    assert "/accents/" not in (await site.get(path)).text
