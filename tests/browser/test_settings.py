"""The settings of a house that was just founded, in a browser: the link of its letter, and every section looked at."""

import asyncio
import re
from uuid import uuid4

import httpx
from playwright.async_api import expect

from tests.browser.conftest import Visits
from tests.browser.examining import complaints_about
from tests.browser.houses import done, letter_to, sign_in
from tests.browser.test_signing_in import OWNER
from tests.browser.test_signing_in import sign_in as sign_in_with_browser
from tests.desk import Desk

LINK = re.compile(r"/org/\S+?/settings\?tab=official-email#[A-Za-z0-9_-]+")
SECTIONS = ("", "?tab=organisation", "?tab=official-email", "?tab=payments")


def found(address: str) -> tuple[str, str]:
    """Its settings, and the link of the letter that went to its official address."""
    official = f"{uuid4().hex}@house.example"
    with httpx.Client(base_url=address, timeout=30) as client:
        headers = sign_in(client, OWNER)
        wanted = {"displayName": "The new house", "modules": ["EVENTOS", "FINANCEIRO"], "idempotencyKey": uuid4().hex}
        own = done(client.post("/api/organizations", json=wanted, headers=headers))["id"]
        named = {"email": official, "reasonCode": "TO_TAKE_PAYMENTS"}
        done(client.put(f"/api/org/{own}/official-email", json=named, headers=headers))
        [link, *_] = LINK.findall(letter_to(client, official).replace("&amp;", "&"))
    return f"/org/{own}/settings", link


async def test_who_signs_in_on_the_way_still_has_the_link_of_the_letter(visit: Visits, running: Desk):
    place, link = await asyncio.to_thread(found, f"http://127.0.0.1:{running.port}")
    assert link.startswith(place)
    page = await visit(link, locale="en-GB")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Official e-mail")
    assert await complaints_about(page) == []
    assert "#" not in page.url, "no history has it"
    await page.get_by_role("main").get_by_role("link", name="Sign in").click()
    await sign_in_with_browser(page)
    await page.wait_for_url(f"**{place}?tab=official-email")
    await expect(page.locator(".from-link")).to_be_hidden()
    for section in SECTIONS:
        await page.goto(f"{place}{section}")
        for scheme, width in (("light", 360), ("dark", 1280)):
            await page.set_viewport_size({"width": width, "height": 800})
            await page.emulate_media(color_scheme=scheme)
            assert await complaints_about(page) == [], (section, scheme, width)
    await page.goto(f"{place}?tab=official-email")
    await page.get_by_role("button", name="Confirm the address").click()
    await expect(page.get_by_role("main").get_by_text("Confirmed", exact=True)).to_be_visible()
