"""An organiser at work, in a browser: from a draft to an event that everybody sees, and to its cancellation."""

import asyncio
import re
from itertools import pairwise

import asyncpg
import httpx
from playwright.async_api import Page, expect

from admitone.entrypoints.demo import PASSWORD
from admitone.kernel.embedded import SUPERUSER, Cluster
from tests.browser.conftest import Visits
from tests.browser.test_signing_in import sign_in
from tests.desk import Desk


async def the_console(visit: Visits, email: str = "owner@aurora.example", **more: object) -> Page:
    page = await visit("/org", locale="en-GB", **more)
    await sign_in(page, email)
    await page.wait_for_url("**/org")
    await page.get_by_role("link", name=re.compile("Clube Aurora|Sala Bravo")).click()
    return page


async def at(page: Page, place: str) -> None:
    await page.get_by_role("navigation", name="Places").get_by_role("link", name=place).click()


async def draft(page: Page, title: str) -> None:
    await at(page, "Events")
    await page.get_by_role("link", name="Create an event").click()
    await page.get_by_label("Begins").fill("2031-07-12T21:30")
    await page.get_by_label("Ends").fill("2031-07-13T02:00")
    await page.get_by_label("Title").fill(title)
    await page.get_by_label("City").fill("Porto")
    await page.get_by_role("button", name="Save the draft").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(title)


async def add_type(page: Page, name: str, price: str, capacity: str, *, free: bool = False) -> None:
    await page.get_by_role("link", name="Add a ticket type").click()
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Price in EUR").fill(price)
    await page.get_by_label("Capacity").fill(capacity)
    if free:
        await page.get_by_label("It may cost nothing").check()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("link", name=name)).to_be_visible()


async def no_sideways(page: Page) -> None:
    assert await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), page.url


async def an_hour_passes(running: Desk) -> None:
    """Since everybody proved that it is them."""
    connection = await asyncpg.connect(Cluster(running.home).url(user=SUPERUSER))
    await connection.execute(
        """UPDATE authority.session
              SET authenticated_at = authenticated_at - interval '1 hour',
                  stepped_up_at = stepped_up_at - interval '1 hour'"""
    )
    await connection.close()


async def test_an_organiser_makes_an_event_sells_it_and_calls_it_off(visit: Visits, running: Desk):
    page = await the_console(visit)
    await draft(page, "Noite Longa")
    await add_type(page, "Standing", "25,00", "200")
    await add_type(page, "Friends", "0", "20", free=True)
    await page.get_by_role("button", name="Move Friends up").click()
    names = page.locator("tbody th a")
    await expect(names.first).to_have_text("Friends")
    await page.get_by_role("button", name="Publish").click()
    await expect(page.locator(".head .state")).to_have_text("Published")
    event = page.url.rpartition("/")[2]

    async def is_public() -> bool:
        async with httpx.AsyncClient(base_url=visit.address) as everybody:
            answer = await everybody.get(f"/api/events/{event}")
            return answer.status_code == 200 and len(answer.json()["ticketTypes"]) == 2

    async with asyncio.timeout(60):
        while not await is_public():  # noqa: ASYNC110  Another process tells nobody.
            await asyncio.sleep(0.2)
    await an_hour_passes(running)
    await page.goto(f"{page.url}/cancel")
    assert "Nothing has been done yet." in await page.get_by_role("main").inner_text()
    await page.get_by_label("Reason").select_option("WEATHER")
    await page.get_by_label("I have seen what will be done.").check()
    await page.get_by_role("button", name="Cancel the event and give the money back").click()
    await page.wait_for_url("**/step-up?next=*")
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Go on").click()
    await page.wait_for_url("**/unsent?*")
    await expect(page.get_by_label("Reason")).to_have_value("WEATHER")
    await page.get_by_label("I have seen what will be done.").check()
    await page.get_by_role("button", name="Cancel the event and give the money back").click()
    await expect(page.get_by_role("main").get_by_text("This event is cancelled.")).to_be_visible()
    await no_sideways(page)


async def test_charts_have_a_title_and_a_table(visit: Visits):
    page = await the_console(visit)
    for chart in await page.locator("figure.chart").all():
        assert await chart.get_by_role("heading").inner_text()
        if await chart.locator("svg").count():
            assert await chart.get_by_role("img").get_attribute("aria-labelledby")
            await chart.locator("summary").click()
            await expect(chart.get_by_role("table")).to_be_visible()
    await expect(page.locator("figure.chart")).to_have_count(3)


async def test_the_console_is_run_with_a_finger(visit: Visits):
    page = await the_console(visit, phone=True)
    await no_sideways(page)
    await draft(page, "Um título muito comprido para um telemóvel de trezentos e sessenta pontos")
    await no_sideways(page)
    await add_type(page, "Standing", "12.50", "10")
    await no_sideways(page)
    own = page.url
    for part in ("", "/edit", "/schedule", "/access", "/cancel", "/types/new", "/pools/new"):
        await page.goto(own + part)
        await no_sideways(page)
        small = await page.evaluate(
            """() => [...document.querySelectorAll("main button, main .button, main select, main input:not([type=hidden])")]
                .filter(each => { const box = each.getBoundingClientRect();
                                  const least = /checkbox|radio/.test(each.type) ? 24 : 43.5;
                                  return box.height && box.height < least; })
                .map(each => each.outerHTML)"""
        )
        assert small == []


async def test_the_console_is_run_with_the_keyboard_alone(visit: Visits):
    page = await the_console(visit)
    await at(page, "Events")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.className") == "skip"
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/events/new")
    await page.get_by_label("Title").focus()
    await page.keyboard.type("Sem rato")
    for label, keys in (("Begins", "2031-07-12T21:30"), ("Ends", "2031-07-13T02:00")):
        await page.get_by_label(label).fill(keys)
    await page.get_by_role("button", name="Save the draft").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Sem rato")


async def test_every_control_has_a_label_and_headings_are_in_order(visit: Visits):
    page = await the_console(visit)
    home = page.url
    await at(page, "Events")
    await page.locator("tbody a").first.click()
    own = page.url
    paths = [home, f"{home}/events", f"{home}/events/new", own]
    paths += [f"{own}/{part}" for part in ("edit", "schedule", "access", "types/new", "pools/new")]
    for path in paths:
        await page.goto(path)
        nameless = await page.evaluate(
            """() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea")]
                .filter(each => !each.labels.length && !each.ariaLabel).map(each => each.outerHTML)"""
        )
        assert nameless == []
        levels = await page.evaluate(
            """() => [...document.querySelectorAll("h1, h2, h3")].map(each => Number(each.tagName[1]))"""
        )
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
