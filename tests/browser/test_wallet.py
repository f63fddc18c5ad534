"""The wallet in a browser: a code that a camera reads, that changes by itself, and that the door takes."""

import io
from uuid import uuid4

import pytest
import zxingcpp
from PIL import Image
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Visits
from tests.browser.evening import Evening, an_evening
from tests.browser.scenes import Eyes
from tests.browser.test_account import sign_up
from tests.desk import Desk

BY_ITSELF_MS = 40_000
"""An open ticket asks every twenty seconds."""


@pytest.fixture(scope="module")
async def tonight(running: Desk) -> Evening:
    return await an_evening(running)


async def read(code: Locator) -> str:
    """As the camera at the door reads it off the screen."""
    picture = Image.open(io.BytesIO(await code.screenshot()))
    [found] = zxingcpp.read_barcodes(picture)
    return str(found.text)


async def somebody_with_a_ticket(page: Page, tonight: Evening) -> str:
    await sign_up(page, f"rui.{uuid4().hex}@example.org", "Rui")
    return await tonight.ticket_of(page)


async def test_a_ticket_shows_the_next_code_by_itself_and_the_door_takes_it(visit: Visits, tonight: Evening):
    page = await visit("/sign-up", phone=True)
    ticket = await somebody_with_a_ticket(page, tonight)
    await page.goto("/wallet")
    await page.get_by_role("link", name="Tonight").click()
    await page.wait_for_url(f"**/wallet/{ticket}")
    code = page.locator(".code-picture")
    first = await read(code)
    assert first.startswith("A1:")
    assert "Next code in 23:" in await page.locator(".until").inner_text()
    assert await page.evaluate("document.documentElement.scrollWidth") == 360

    await tonight.code_ends_soon()
    await expect(page.locator(".readable")).not_to_have_text(first, timeout=BY_ITSELF_MS)
    second = await read(code)
    assert second != first
    verdict = await tonight.scan(second)
    assert verdict["allow"], verdict
    await expect(page.get_by_text("Used", exact=True)).to_be_visible(timeout=BY_ITSELF_MS)
    assert await code.count() == 0, "what is spent shows no code"


async def test_the_large_code_is_black_on_white_also_at_night_and_goes_on_without_a_network(
    visit: Visits, tonight: Evening
):
    page = await visit("/sign-up", phone=True, color_scheme="dark")
    ticket = await somebody_with_a_ticket(page, tonight)
    eyes = await Eyes.on(page)
    await page.goto(f"/wallet/{ticket}")
    await eyes.look()
    await page.get_by_role("link", name="Show it large", exact=True).click()
    await page.wait_for_url("**/code")
    await eyes.look()
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert (await read(page.locator(".code-picture"))).startswith("A1:")
    await page.context.set_offline(True)
    await expect(page.get_by_text("No network. This code is good until")).to_be_visible()
    assert (await read(page.locator(".code-picture"))).startswith("A1:")
    await page.context.set_offline(False)
    await expect(page.get_by_text("No network. This code is good until")).to_be_hidden(timeout=BY_ITSELF_MS)
    visit.troubles[:] = [each for each in visit.troubles if "ERR_INTERNET_DISCONNECTED" not in each]


async def test_without_scripts_the_ticket_is_whole_and_asks_again_by_itself(visit: Visits, tonight: Evening):
    page = await visit("/sign-up", phone=True, java_script_enabled=False)
    ticket = await somebody_with_a_ticket(page, tonight)
    await page.goto(f"/wallet/{ticket}")
    assert (await read(page.locator(".code-picture"))).startswith("A1:")
    assert 'http-equiv="refresh"' in await page.content()
    await expect(page.get_by_text("Coliseu").first).to_be_visible()


async def test_the_wallet_by_keyboard_alone(visit: Visits, tonight: Evening):
    page = await visit("/sign-up")
    await somebody_with_a_ticket(page, tonight)
    await page.goto("/wallet")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")  # Skip to the content.
    seen = []
    for _ in range(3):
        await page.keyboard.press("Tab")
        seen.append(await page.evaluate("document.activeElement.textContent"))
    assert seen == ["To come", "History", "Tonight"]
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/wallet/ent_*")


async def test_a_wallet_that_is_empty_says_what_comes_there(visit: Visits):
    page = await visit("/sign-up", phone=True)
    await sign_up(page, f"eva.{uuid4().hex}@example.org", "Eva")
    await page.goto("/wallet")
    await expect(page.get_by_text("No tickets yet.")).to_be_visible()
    await page.get_by_role("link", name="History").click()
    await page.wait_for_url("**/wallet?tab=history")
    await expect(page.get_by_text("Nothing is over yet.")).to_be_visible()
