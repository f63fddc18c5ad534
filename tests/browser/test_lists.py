"""A list in a browser: sorted with the keyboard alone at a desk, on a telephone by its form, and taken away."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Visits
from tests.browser.scenes import Eyes
from tests.browser.test_office import House, arrive, house

__all__ = ("house",)


async def tab_to(page: Page, wanted: Locator) -> None:
    """As somebody without a mouse comes there."""
    for _ in range(80):
        await page.keyboard.press("Tab")
        if await wanted.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError("it is never reached")


async def events_of(page: Page) -> list[str]:
    return await page.locator("tbody th a").all_inner_texts()


@pytest.mark.covers("ORG-030")
async def test_a_list_is_sorted_and_narrowed_with_the_keyboard_alone(visit: Visits, house: House):
    page = await arrive(visit, f"{house.home}/events")
    latest = await events_of(page)
    begins = page.get_by_role("columnheader", name="Begins")
    await expect(begins).to_have_attribute("aria-sort", "descending")
    await tab_to(page, begins.get_by_role("link"))
    await page.keyboard.press("Enter")
    await expect(begins).to_have_attribute("aria-sort", "ascending")
    assert await events_of(page) == latest[::-1]
    assert "order=SOONEST" in page.url, "it can be sent to somebody"
    await tab_to(page, page.get_by_label("Title, venue or city"))
    await page.keyboard.type("festival")
    await page.keyboard.press("Enter")
    await page.wait_for_url(lambda address: "text=festival" in address)
    assert "order=SOONEST" in page.url, "what is looked for is listed in the same order"
    assert await events_of(page) == [each for each in latest[::-1] if "festival" in each.lower()]
    await expect(begins).to_have_attribute("aria-sort", "ascending")


async def test_on_a_telephone_the_form_has_the_order_and_nothing_unseen_takes_the_focus(visit: Visits, house: House):
    page = await arrive(visit, f"{house.home}/events", phone=True)
    latest = await events_of(page)
    head = page.locator("a.sorts")
    await expect(head).to_be_hidden()
    await page.get_by_label("Order of the list").select_option("SOONEST")
    await page.get_by_role("button", name="Search").click()
    await page.wait_for_url(lambda address: "order=SOONEST" in address)
    assert await events_of(page) == latest[::-1]
    await head.focus()
    assert not await head.evaluate("each => each === document.activeElement")


async def test_a_table_is_taken_away_from_the_page_that_shows_its_list(visit: Visits, house: House):
    page = await arrive(visit, f"{house.home}/events")
    async with page.expect_download() as coming:
        await page.get_by_role("link", name="Export this list as CSV").click()
    taken: Any = await coming.value
    assert taken.suggested_filename == "events.csv"


LISTS = (
    "/orders?order=OLDEST",
    "/attendees?order=NEWEST",
    "/events?order=SOONEST",
    "/team?order=ROLE",
    "/financas?tab=ledger",
    "/financas?tab=payouts&order=OLDEST",
    "/financas?tab=refunds_disputes",
    "/financas/accounts/org_payable?currency=EUR&order=OLDEST",
    "/checkin?tab=lista&order=NEWEST",
    "/checkin?tab=logs&order=OLDEST",
)


async def test_lists_are_read_on_a_telephone_and_at_a_desk_in_the_light_and_in_the_dark(visit: Visits, house: House):
    page = await arrive(visit, f"{house.home}/orders")
    eyes = await Eyes.on(page)
    for path in LISTS:
        await page.goto(f"{house.home}{path}")
        await eyes.look()
