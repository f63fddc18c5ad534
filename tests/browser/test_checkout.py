"""Buying with a browser: from the choice of tickets to owning them, at the sandbox's own payment page."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import asyncpg
import httpx
import pytest
from playwright.async_api import Page, expect

from admitone.kernel.embedded import find_server
from admitone.kernel.embedded.server import SUPERUSER
from admitone.verticals.events.model import OrderId
from tests.browser.conftest import Visits
from tests.browser.houses import House, a_house, letter_to
from tests.browser.scenes import Eyes
from tests.browser.test_signing_in import sign_in
from tests.desk import Desk
from tests.mails import an_address

OWNED = "You have your tickets"
SLOW_MS = 30_000
"""A worker, a webhook and a busy machine."""


@pytest.fixture
def aurora(running: Desk) -> House:
    return a_house(running, "aurora")


@pytest.fixture
def bravo(running: Desk) -> House:
    return a_house(running, "bravo")


async def says(page: Page, heading: str) -> None:
    await expect(page.get_by_role("heading", level=1)).to_have_text(heading, timeout=SLOW_MS)


async def as_a_guest(page: Page, email: str | None = None) -> str:
    """To the order's page, whose address this is."""
    await page.get_by_label("E-mail").fill(email or an_address())
    await page.get_by_role("button", name="Go on as a guest").click()
    await page.wait_for_url("**/checkout/**")
    return page.url


async def to_the_provider(page: Page) -> None:
    await page.get_by_role("button", name=re.compile("by card")).click()
    await page.wait_for_url("**/charges/**", timeout=SLOW_MS)


async def test_a_guest_chooses_pays_and_is_written_a_link(visit: Visits, aurora: House):
    page, email = await visit(phone=True), an_address()
    eyes = await Eyes.on(page)
    await page.goto(aurora.tickets())
    await eyes.look()
    await page.get_by_role("combobox", name="Standing Quantity").select_option("2")
    await page.get_by_role("button", name="Go on").click()
    await says(page, "Your choice")
    await eyes.look()
    order = await as_a_guest(page, email)
    await eyes.look()
    for part in ("€50.00", "Taxes", "Total", "Sold by Clube Aurora", "Kept for you until"):
        await expect(page.get_by_role("main")).to_contain_text(part)
    async with staying(page):
        await page.get_by_role("button", name=re.compile("by card")).click()
        await says(page, "To the payment page")
        await eyes.look()
    await page.get_by_role("link", name="Go on to the payment page").click()
    await page.get_by_role("button", name="Pay", exact=True).click()
    await page.wait_for_url(order, timeout=SLOW_MS)
    await says(page, OWNED)
    await expect(page.get_by_role("main")).to_contain_text("2 × Standing")
    await eyes.look()

    with httpx.Client(base_url=aurora.address) as client:
        letter = await asyncio.to_thread(letter_to, client, email)
    link = re.search(r"/guest/tickets/[a-z0-9_]+", letter)
    assert link, letter
    await page.goto(link[0])
    await expect(page.get_by_role("img", name=re.compile("Code for the door"))).to_have_count(2)
    drawn = await page.locator("img[data-code]").first.evaluate("image => image.complete && image.naturalWidth > 0")
    assert drawn
    await eyes.look()
    await page.get_by_role("link", name="Show it large").first.click()
    await expect(page.get_by_role("img", name="The code for the door")).to_be_visible()
    await eyes.look()


@asynccontextmanager
async def staying(page: Page) -> AsyncIterator[None]:
    """The page that leads to the provider goes there by itself in a second: meanwhile the provider has nothing to say."""
    await page.route("**/charges/**", lambda route: route.fulfill(status=204))
    yield
    await page.unroute("**/charges/**")


async def test_a_guest_has_free_tickets_in_three_steps(visit: Visits, aurora: House):
    page = await visit(aurora.tickets(Guest_list=1))
    eyes = await Eyes.on(page)
    await as_a_guest(page)
    await eyes.look()
    await page.get_by_role("button", name="Get tickets").click()
    await says(page, OWNED)
    await eyes.look()


async def test_a_declined_card_is_said_and_another_pays(visit: Visits, aurora: House):
    page = await visit(aurora.tickets(Standing=1))
    await page.get_by_role("button", name="I have an account: sign in").click()
    await sign_in(page, "viewer@aurora.example")
    await page.wait_for_url("**/unsent?**")
    eyes = await Eyes.on(page)
    await page.get_by_role("button", name="Keep these tickets for me").click()
    await page.wait_for_url("**/checkout/**")
    order = page.url
    await to_the_provider(page)
    await page.get_by_role("button", name="Pay with a card that is declined").click()
    await page.goto(order)
    await expect(page.get_by_role("alert")).to_contain_text("The payment was declined", timeout=SLOW_MS)
    await eyes.look()
    await to_the_provider(page)
    await page.get_by_role("button", name="Pay", exact=True).click()
    await page.wait_for_url(order, timeout=SLOW_MS)
    await says(page, OWNED)
    await eyes.look()
    await page.get_by_role("link", name="To the order").click()
    await expect(page.get_by_role("main")).to_contain_text("Good")
    await page.get_by_role("link", name="Invoice data").click()
    await expect(page.get_by_role("main")).to_contain_text("€25.00")


async def test_whoever_is_asked_by_their_bank_proves_who_they_are(visit: Visits, aurora: House):
    page = await visit(aurora.tickets(Standing=1), phone=True)
    eyes = await Eyes.on(page)
    order = await as_a_guest(page)
    await to_the_provider(page)
    await page.get_by_role("button", name="Pay with a card that asks (3DS)").click()
    await page.goto(order)
    await expect(page.get_by_role("main")).to_contain_text("Your bank wants to know that it is you.", timeout=SLOW_MS)
    await eyes.look()
    await page.get_by_role("link", name="Go on to the payment page").click()
    await page.get_by_role("button", name="Prove who I am (3DS succeeds)").click()
    await page.wait_for_url(order, timeout=SLOW_MS)
    await says(page, OWNED)


async def test_pix_is_paid_in_another_app_and_the_page_changes_by_itself(visit: Visits, bravo: House):
    page = await visit(bravo.tickets(Standing=1), phone=True, locale="pt-BR")
    eyes = await Eyes.on(page)
    await page.get_by_label("E-mail").fill(an_address())
    await page.get_by_role("button", name="Continuar como convidado").click()
    await expect(page.get_by_role("button", name=re.compile("com PIX"))).to_be_visible()
    await eyes.look()
    await page.get_by_role("button", name=re.compile("com PIX")).click()
    await says(page, "Pagar com PIX")
    drawn = await page.get_by_role("img", name="Código PIX").evaluate(
        "image => image.decode().then(() => image.naturalWidth > 0)"
    )
    assert drawn
    await eyes.look()
    await page.get_by_role("button", name="Copiar").click()
    await expect(page.get_by_role("main")).to_contain_text("Copiado")
    key = await page.get_by_label("PIX copia e cola").input_value()
    charge = re.search(r"pix_[0-9a-f]{24}", key)
    assert charge
    answer = await asyncio.to_thread(httpx.post, f"{bravo.sandbox}/charges/{charge[0]}/pay")
    assert answer.status_code == 303
    await says(page, "Você já tem seus ingressos")
    await eyes.look()


async def test_a_bank_that_takes_its_time_is_waited_for(visit: Visits, aurora: House):
    page = await visit(aurora.tickets(Standing=1), phone=True)
    eyes = await Eyes.on(page)
    order = await as_a_guest(page)
    await to_the_provider(page)
    charge = page.url.partition("?")[0]
    await page.get_by_role("button", name="Pay with a slow card").click()
    await page.goto(order)
    await says(page, "The bank is working on it")
    await eyes.look()
    answer = await asyncio.to_thread(httpx.post, f"{charge}/clear", timeout=30)
    assert answer.status_code == 303, answer.text
    await says(page, OWNED)


async def test_whoever_gives_an_order_up_is_told_so(visit: Visits, aurora: House):
    page = await visit(aurora.tickets(Standing=1))
    await page.get_by_role("button", name="I have an account: sign in").click()
    await sign_in(page, "viewer@aurora.example")
    await page.wait_for_url("**/unsent?**")
    eyes = await Eyes.on(page)
    await page.get_by_role("button", name="Keep these tickets for me").click()
    await page.wait_for_url("**/checkout/**")
    order = page.url
    await page.goto(f"/orders/{order.rpartition('/')[2]}")
    await eyes.look()
    await page.get_by_role("button", name="Give up this order").click()
    await expect(page.get_by_role("main")).to_contain_text("Given up")
    await page.goto(order)
    await says(page, "This order was given up")
    await eyes.look()


async def test_pages_say_the_same_without_scripts(visit: Visits, bravo: House):
    page = await visit(bravo.tickets(Standing=1), java_script_enabled=False)
    await as_a_guest(page)
    await expect(page.get_by_role("main")).to_contain_text("minutes left")
    await page.get_by_role("button", name=re.compile("with PIX")).click()
    await says(page, "Pay with PIX")
    assert 'http-equiv="refresh" content="5"' in await page.content()
    assert await page.get_by_role("button", name="Copy").count() == 0, "nothing is offered that does nothing"


async def test_a_hold_that_runs_out_says_so_and_offers_to_choose_again(visit: Visits, running: Desk, aurora: House):
    page = await visit(aurora.tickets(Standing=3), phone=True)
    eyes = await Eyes.on(page)
    order = await as_a_guest(page)
    await _ends_soon(running, order)
    await page.reload()
    await says(page, "The tickets are not kept for you any more")
    await eyes.look()
    await page.get_by_role("link", name="Choose again").click()
    await says(page, "Your choice")
    await expect(page.get_by_role("main")).to_contain_text("€75.00")


async def _ends_soon(running: Desk, order: str) -> None:
    """In two seconds, so that a page that is looked at sees it happen."""
    server, own = find_server(running.home), OrderId.parse(order.rpartition("/")[2]).uuid
    assert server
    connection = await asyncpg.connect(server.url(SUPERUSER))
    try:
        await connection.execute(
            "UPDATE events.ticket_order SET created_at = created_at - interval '1 hour',"
            " expires_at = now() + interval '3 s' WHERE id = $1",
            own,
        )
    finally:
        await connection.close()


async def test_somebody_buys_with_the_keyboard_alone(visit: Visits, aurora: House):
    page = await visit(aurora.tickets())
    keys = page.keyboard

    async def go_to(name: str) -> None:
        """By the tabulator, until that is where one is."""
        for _ in range(40):
            await keys.press("Tab")
            if name in await page.evaluate(FOCUSED):
                return
        raise AssertionError(f"{name} cannot be reached")

    await go_to("Standing Quantity")
    await keys.press("1")
    await go_to("Go on")
    await keys.press("Enter")
    await says(page, "Your choice")
    await go_to("E-mail")
    await keys.type(an_address())
    await keys.press("Enter")
    await page.wait_for_url("**/checkout/**")
    await go_to("by card")
    await keys.press("Enter")
    await page.wait_for_url("**/charges/**", timeout=SLOW_MS)
    await go_to("Pay")
    assert await page.evaluate(FOCUSED) == "Pay", "the good card, and no other"
    await keys.press("Enter")
    await page.wait_for_url("**/checkout/**", timeout=SLOW_MS)
    await says(page, OWNED)
    await expect(page.get_by_role("main")).to_contain_text("1 × Standing")
    await go_to("Add to calendar")


FOCUSED = """() => {
  const own = document.activeElement;
  const by = (own.getAttribute("aria-labelledby") || "").split(" ").filter(Boolean);
  const said = by.map((id) => document.getElementById(id).textContent).join(" ");
  return said || (own.labels && own.labels[0] ? own.labels[0].textContent : own.textContent);
}"""


INVOICE = {"Name on the invoice": "Ana Conceição & Filhos", "Tax number on the invoice": "PT 501 964 843"}


async def test_a_session_that_ran_out_in_the_middle_loses_nothing(visit: Visits, aurora: House):
    page = await visit(aurora.tickets(Standing=2))
    await page.get_by_text("Details for an invoice").click()
    await _type(page, INVOICE)
    await page.get_by_role("button", name="I have an account: sign in").click()
    assert "Ana" not in page.url
    await sign_in(page, "viewer@aurora.example")
    await page.wait_for_url("**/unsent?**")
    await _stands(page, INVOICE)
    corrected = INVOICE | {"Name on the invoice": "Ana Conceição"}
    await _type(page, corrected)
    await page.context.clear_cookies(name="session")
    await page.get_by_role("button", name="Keep these tickets for me").click()
    await says(page, "Your choice")  # Renewed on the way, and back.
    await _stands(page, corrected)
    assert "typed" not in {each["name"] for each in await page.context.cookies()}, "shown once, then forgotten"
    await page.get_by_role("button", name="Keep these tickets for me").click()
    await page.wait_for_url("**/checkout/**")
    await page.context.clear_cookies()
    await page.get_by_role("button", name=re.compile("by card")).click()
    await says(page, "Sign in")
    await sign_in(page, "viewer@aurora.example")
    await page.wait_for_url("**/unsent?**")
    await expect(page.get_by_role("main")).to_contain_text("€50.00")
    await expect(page.get_by_role("alert")).to_contain_text("Nothing was done yet.")


async def _type(page: Page, fields: dict[str, str]) -> None:
    for label, value in fields.items():
        await page.get_by_label(label).fill(value)


async def _stands(page: Page, fields: dict[str, str]) -> None:
    for label, value in fields.items():
        await expect(page.get_by_label(label)).to_have_value(value)
        await expect(page.get_by_label(label)).to_be_visible()


async def test_a_page_that_slept_renews_the_session_when_it_is_looked_at_again(visit: Visits):
    page = await visit("/sign-in?next=%2Forders")
    await sign_in(page, "viewer@aurora.example")
    await page.wait_for_url("**/orders")
    renewed: list[str] = []
    page.on("request", lambda sent: "/api/auth/refresh" in sent.url and renewed.append(sent.url))
    for minutes, times in ((1, 0), (11, 1), (12, 1), (22, 2)):
        await page.clock.set_fixed_time(datetime.now(UTC) + timedelta(minutes=minutes))
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        await page.wait_for_timeout(500)
        assert len(renewed) == times, f"after {minutes} minutes"
    await page.context.clear_cookies(name="session")
    await page.clock.set_fixed_time(datetime.now(UTC) + timedelta(hours=9))
    async with page.expect_response("**/api/auth/refresh"):
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert "session" in {each["name"] for each in await page.context.cookies()}


async def charges(house: House) -> set[str]:
    """Those that the provider lists."""
    home = await asyncio.to_thread(httpx.get, f"{house.sandbox}/")
    return {*re.findall(r"/charges/(\w+)", home.text)}


async def test_a_double_click_charges_once(visit: Visits, aurora: House):
    page = await visit(aurora.tickets(Standing=1))
    eyes = await Eyes.on(page)
    order = await as_a_guest(page)
    before = await charges(aurora)
    await page.get_by_role("button", name=re.compile("by card")).dblclick()
    await page.wait_for_url("**/charges/**", timeout=SLOW_MS)
    first = page.url
    await page.goto(order)
    await says(page, "Waiting for your payment")
    await eyes.look()
    link = page.get_by_role("link", name="Go on to the payment page")
    assert await link.get_attribute("href") == first
    assert await charges(aurora) - before == {first.rpartition("/")[2]}
    await link.click()
    await page.get_by_role("button", name="Pay", exact=True).click()
    await page.wait_for_url(order, timeout=SLOW_MS)
    await says(page, OWNED)
    await expect(page.get_by_role("main")).to_contain_text("Paid: €25.00")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nothing_is_wider_than_a_phone_and_everything_can_be_touched(visit: Visits, bravo: House, scheme: str):
    page = await visit(bravo.tickets(), phone=True, color_scheme=scheme)
    await _fits(page)
    await page.goto(bravo.tickets(Standing=1))
    await _fits(page)
    await as_a_guest(page)
    await _fits(page)
    await page.get_by_role("button", name=re.compile("with PIX")).click()
    await says(page, "Pay with PIX")
    await _fits(page)


async def _fits(page: Page) -> None:
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    small = await page.evaluate(
        """() => [...document.querySelectorAll("main button, main .button, main select, main input:not([type=hidden])")]
        .map((each) => [each.outerHTML.slice(0, 80), each.getBoundingClientRect().height])
        .filter(([, height]) => height && height < 44)"""
    )
    assert small == []
