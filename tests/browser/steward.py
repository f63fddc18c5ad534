"""A steward in front of the scanner: what they do with it, and what it tells them.

page = await stand_at(visit, hall, badge)
await type_code(page, ticket.code)
assert "Admitted" in await told(page, "good")
"""

from typing import Any, Final

from playwright.async_api import Page, expect

from tests.browser.conftest import Visits
from tests.browser.hall import Hall

ENGLISH: Final = {"locale": "en-GB"}
NEVER_MADE: Final = "A1:" + "A" * 32
CUT: Final = "net::ERR_INTERNET_DISCONNECTED"


async def stand_at(visit: Visits, hall: Hall, badge: list[Any], **more: Any) -> Page:
    """In front of the scanner, with a telephone whose camera shows nothing."""
    page = await visit("/sign-in", phone=True, **ENGLISH, **more)
    await page.context.add_cookies(badge)
    await page.goto(hall.door)
    await ready(page)
    return page


async def expected(visit: Visits, *messages: str) -> None:
    """The browser tells of every call that did not come through, until it is closed; of anything else it complains."""
    await visit.close()
    visit.troubles[:] = [each for each in visit.troubles if not any(message in each for message in messages)]


async def ready(page: Page) -> None:
    await page.wait_for_selector("#door[data-ready]", state="attached")


async def type_code(page: Page, code: str, gate: str = "") -> None:
    await page.get_by_role("button", name="Code").click()
    await page.get_by_label("Code").fill(code)
    if gate:
        await page.get_by_label("Gate").fill(gate)
    await page.get_by_role("button", name="Check the code").click()


async def told(page: Page, kind: str) -> str:
    """What fills the screen; then the camera again."""
    verdict = page.locator(f"#verdict.{kind}")
    await verdict.wait_for(state="visible")
    said = await verdict.inner_text()
    await verdict.wait_for(state="hidden")
    return said


async def keep_a_list(page: Page) -> None:
    await page.get_by_role("button", name="Offline").click()
    await page.get_by_role("button", name="Keep a list on this device").click()
    await expect(page.locator("#lease")).to_contain_text("The list is on this device")
    await expect(page.locator("#exposure")).to_contain_text("could come in twice")
    await page.wait_for_function("navigator.serviceWorker.ready.then(() => caches.has('door'))")
    await page.wait_for_function("caches.match(location.pathname).then(Boolean)")
    await page.keyboard.press("Escape")
