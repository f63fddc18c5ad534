"""A house in its own colour, in a browser: in the light, in the dark, with scripts and without."""

from collections.abc import AsyncIterator

import httpx
import pytest
from playwright.async_api import Page, expect

from admitone.entrypoints.demo.houses import HALL, ORGANIZATIONS
from admitone.web.accents import address_of
from admitone.web.contrast import DARK, LIGHT, Color, accent_in
from tests.browser.conftest import Visits
from tests.browser.examining import complaints_about
from tests.browser.houses import House, a_house, done, sign_in
from tests.browser.test_signing_in import sign_in as sign_in_with_browser
from tests.desk import Desk

HALLS_OWN = ORGANIZATIONS[HALL][0].accent_color
HARD = ("#ffff00", "#000000", "#ffffff", "#0000ff", "#808080")
SCHEMES = {"light": LIGHT, "dark": DARK}


class Painter:
    """The hall's owner, who changes its colour through the API."""

    def __init__(self, client: httpx.AsyncClient, hall: House) -> None:
        self.hall = hall
        self._client = client

    async def paint(self, color: str | None) -> None:
        path = f"/api/org/{self.hall.organization}"
        seen = done(await self._client.get(path))
        wanted = {"settings": seen["settings"] | {"accentColor": color}, "version": seen["version"]}
        done(await self._client.put(f"{path}/settings", json=wanted))


@pytest.fixture
async def painter(visit: Visits, running: Desk) -> AsyncIterator[Painter]:
    hall = a_house(running, HALL)
    with httpx.Client(base_url=hall.address, timeout=30) as once:
        headers = sign_in(once, f"owner@{HALL}.example")
    async with httpx.AsyncClient(base_url=hall.address, headers=headers, timeout=30) as client:
        painter = Painter(client, hall)
        yield painter
        await painter.paint(HALLS_OWN)


async def color_of(page: Page, button: str) -> Color:
    found = page.get_by_role("main").get_by_role("button", name=button)
    shown: list[str] = await found.evaluate("node => getComputedStyle(node).backgroundColor.match(/\\d+/g)")
    return Color(*map(int, shown))


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_the_hall_sells_in_its_own_colour(visit: Visits, painter: Painter, scheme: str):
    assert HALLS_OWN
    own = accent_in(SCHEMES[scheme], Color.parse(HALLS_OWN)).color
    page = await visit(f"/e/{painter.hall.event}", locale="en-GB", color_scheme=scheme)
    assert await color_of(page, "Get tickets") == own
    await page.goto(painter.hall.tickets(Standing=1))
    assert await color_of(page, "Go on as a guest") == own
    assert [each for each in await complaints_about(page) if "contrast" in each] == []


@pytest.mark.parametrize("color", HARD)
async def test_every_word_can_be_read_whatever_the_colour(visit: Visits, painter: Painter, color: str):
    await painter.paint(color)
    page = await visit("/", locale="en-GB")
    for scheme, tones in SCHEMES.items():
        await page.emulate_media(color_scheme=scheme)
        for path in (f"/o/{painter.hall.organization}", painter.hall.tickets(), f"/e/{painter.hall.event}"):
            await page.goto(path)
            assert await complaints_about(page) == [], (scheme, path)
        assert await color_of(page, "Get tickets") == accent_in(tones, Color.parse(color)).color


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
async def test_an_owner_tries_a_colour_saves_and_clears_it(visit: Visits, painter: Painter, scripts: bool):
    place = f"/org/{painter.hall.organization}/settings"
    page = await visit(place, locale="en-GB", java_script_enabled=scripts)
    await sign_in_with_browser(page, f"owner@{HALL}.example")
    await page.wait_for_url(f"**{place}")
    box = page.get_by_label("Accent colour")
    await expect(page.get_by_label("Choose a colour")).to_be_visible(visible=scripts)
    await box.fill("#1d4f91")
    await page.get_by_role("button", name="Preview").click()
    await page.wait_for_url("**look=yes")
    await expect(page.get_by_text("In the light #1d4f91")).to_be_visible()
    await page.get_by_role("button", name="Save").click()
    await page.wait_for_url(f"**{place}")
    await page.get_by_role("link", name="See your page").click()
    style = page.locator('link[href^="/accents/"]')
    await expect(style).to_have_attribute("href", address_of("#1d4f91"))
    await page.goto(place)
    await box.fill("")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_role("link", name="See your page").click()
    await page.wait_for_url("**/o/*")
    await expect(style).to_have_count(0)


async def test_a_colour_is_chosen_by_eye(visit: Visits, painter: Painter):
    place = f"/org/{painter.hall.organization}/settings"
    page = await visit(place, locale="en-GB")
    await sign_in_with_browser(page, f"owner@{HALL}.example")
    await page.wait_for_url(f"**{place}")
    chooser = page.get_by_label("Choose a colour")
    assert await chooser.input_value() == HALLS_OWN
    await chooser.fill("#123456")
    assert await page.get_by_label("Accent colour").input_value() == "#123456"
    for look in ({"width": 360, "height": 740}, {"width": 1440, "height": 900}):
        await page.set_viewport_size(look)
        assert await complaints_about(page) == []
