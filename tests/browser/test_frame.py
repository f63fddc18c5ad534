"""What every page does around its content, in a browser: a session that lasts while somebody works, and whole amounts."""

import re

from playwright.async_api import Page, expect

from tests.browser.conftest import Visits
from tests.browser.test_console import at, the_console

RENEWING = "**/api/auth/refresh"


async def renewals_of(page: Page) -> list[str]:
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url) if request.url.endswith("/auth/refresh") else None)
    return seen


async def test_a_session_is_renewed_by_its_age_however_many_pages_are_opened(visit: Visits):
    page = await the_console(visit)
    await page.wait_for_function("localStorage.getItem('renewed-at')")
    seen = await renewals_of(page)
    for place in ("Events", "Orders", "Team"):
        await page.evaluate("localStorage.setItem('renewed-at', String(Date.now() - 9.5 * 60 * 1000))")
        async with page.expect_response(RENEWING) as renewed:
            await at(page, place)
        assert (await renewed.value).ok
    assert len(seen) == 3
    await at(page, "Events")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Events")
    assert len(seen) == 3, "what is fresh is left alone"


async def test_a_form_that_is_sent_late_renews_the_session_first(visit: Visits):
    page = await the_console(visit)
    await at(page, "Events")
    await page.get_by_role("link", name="Create an event").click()
    await page.get_by_label("Begins").fill("2031-07-12T21:30")
    await page.get_by_label("Ends").fill("2031-07-13T02:00")
    await page.get_by_label("Title").fill("After a long call")
    await page.get_by_label("City").fill("Porto")
    await page.evaluate("localStorage.setItem('renewed-at', String(Date.now() - 20 * 60 * 1000))")
    await page.context.clear_cookies(name="session")
    await page.get_by_role("button", name="Save the draft").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("After a long call")
    assert re.search(r"/events/event_", page.url)


async def test_a_form_that_could_not_be_taken_is_there_again(visit: Visits):
    page = await the_console(visit)
    await at(page, "Events")
    await page.get_by_role("link", name="Create an event").click()
    await page.get_by_label("Title").fill("Typed for an hour")
    await page.get_by_label("City").fill("Porto")
    await page.get_by_label("Begins").fill("2031-07-12T21:30")
    await page.get_by_label("Ends").fill("2031-07-13T02:00")
    await page.context.clear_cookies(name="session")
    await page.get_by_role("button", name="Save the draft").click()
    await expect(page.get_by_role("alert")).to_contain_text("Nothing was done yet.")
    assert "/unsent" in page.url
    assert await page.get_by_label("Title").input_value() == "Typed for an hour"
    await page.get_by_role("button", name="Save the draft").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Typed for an hour")


IN_PIECES = """() => [...document.querySelectorAll("table.stacks .amount")].filter((cell) => {
  const range = document.createRange();
  const texts = [...cell.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  return texts.some((text) => {
    range.selectNodeContents(text);
    return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
  });
}).map((cell) => cell.innerText)"""


async def test_an_amount_stays_in_one_piece_on_a_small_phone(visit: Visits):
    page = await the_console(visit, phone=True)
    await at(page, "Orders")
    await page.locator("main table a[href*='/orders/ord']").first.click()
    await page.evaluate(
        "document.querySelectorAll('table.stacks [data-is]').forEach((cell) => { cell.dataset.is = cell.dataset.is.repeat(4); })"
    )
    assert await page.locator("table.stacks .amount").count() > 1
    assert await page.evaluate(IN_PIECES) == []
