"""At the desk with a browser: from a figure to its posting, a ticket given back, somebody invited, a letter replayed."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import httpx
import pytest
from playwright.async_api import Page, expect

from admitone.entrypoints.demo import PASSWORD, PLATFORM_ADMIN
from admitone.kernel.embedded import SUPERUSER, find_server
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from tests.browser.conftest import Visits
from tests.browser.scenes import Eyes
from tests.browser.test_signing_in import OWNER, sign_in
from tests.desk import Desk, until

BUYER = "viewer@aurora.example"
SLOWLY = 60_000
TOKEN = re.compile(r"[a-z]+_[0-9a-f]{32}_[0-9a-f]{40}")
FORGET = """
    UPDATE authority.session
       SET authenticated_at = authenticated_at - interval '1 hour', stepped_up_at = NULL
     WHERE authenticated_at IS NOT NULL
"""
A_DEAD_LETTER = """
    INSERT INTO kernel.dead_letter (id, organization_id, kind, lane, priority, attempts, crashes, key, payload,
                                    causation_id, correlation_id, created_at, died_at, reason, error)
    VALUES ($1, $2, 'kernel.enforce_retention', 'work', 5, 3, 0, $3, '{}', $1, $1, now(), now(), 'RETRIES_EXHAUSTED',
            'TimeoutError: the host did not answer')
"""


@cache
def headers_of(port: int, email: str) -> dict[str, str]:
    """Signed in once: who does so again and again is held up."""
    answer = httpx.post(
        f"http://127.0.0.1:{port}/api/auth/login", json={"email": email, "password": PASSWORD}, timeout=60
    )
    assert answer.status_code == 200, answer.text
    return {"authorization": f"Bearer {answer.json()['accessToken']}"}


class House:
    """Clube Aurora as its API shows it, for what a test needs before it looks at pages."""

    def __init__(self, running: Desk) -> None:
        self.desk = running
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{running.port}", timeout=60)
        places = self.ask(OWNER, "GET", "/api/organizations")["items"]
        self.organization = next(each["id"] for each in places if each["displayName"] == "Clube Aurora")
        self.home = f"/org/{self.organization}"

    def ask(self, email: str, method: str, path: str, **body: Any) -> Any:
        answer = self.client.request(method, path, json=body or None, headers=headers_of(self.desk.port, email))
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def sell(self, tickets: int) -> dict[str, Any]:
        """An order that is paid at the sandbox."""
        return self.charge(tickets)[0]

    def charge(self, tickets: int) -> tuple[dict[str, Any], str]:
        """And where the sandbox shows what was paid."""
        if self.ask(OWNER, "GET", f"/api{self.home}/finance/onboarding")["status"] != "COMPLETE":
            pytest.skip("the demonstration takes no payments")
        event, kind = self._on_sale(tickets)
        wanted = {
            "organizationId": self.organization,
            "eventId": event,
            "idempotencyKey": uuid4().hex,
            "ageConfirmed": True,
        }
        lines = [{"ticketTypeId": kind, "quantity": tickets}]
        bought = self.ask(BUYER, "POST", "/api/orders/buy", **wanted, lines=lines)
        there = urlsplit(bought["checkout"]["redirectUrl"])
        page = f"{there.scheme}://{there.netloc}{there.path}"
        httpx.post(f"{page}/pay", data={"return_url": ""}, timeout=60)
        return bought["order"], page

    def _on_sale(self, tickets: int) -> tuple[str, str]:
        events = self.ask(OWNER, "GET", f"/api{self.home}/events?status=PUBLISHED")["items"]
        for each in (event for event in events if datetime.fromisoformat(event["startsAt"]) > datetime.now(UTC)):
            shown = self.ask(OWNER, "GET", f"/api{self.home}/events/{each['eventId']}")
            for kind in shown["ticketTypes"]:
                left = kind["pool"]["capacity"] - kind["pool"]["held"] - kind["pool"]["sold"]
                if kind["status"] == "ON_SALE" and kind["priceMinor"] and left >= tickets:
                    return each["eventId"], kind["ticketTypeId"]
        raise AssertionError("nothing is on sale")


@pytest.fixture
async def house(running: Desk) -> AsyncIterator[House]:
    house = await asyncio.to_thread(House, running)
    yield house
    house.client.close()


@pytest.fixture
async def sold(house: House) -> dict[str, Any]:
    order = await asyncio.to_thread(house.sell, 2)
    path = f"/api{house.home}/orders/{order['orderId']}"
    await asyncio.to_thread(until, lambda: len(house.ask(OWNER, "GET", path)["ticketList"]) == 2)
    return order


async def arrive(visit: Visits, path: str, email: str = OWNER, **how: Any) -> Page:
    page = await visit(path, locale="en-GB", **how)
    await sign_in(page, email)
    await page.wait_for_url(lambda address: urlsplit(address).path == urlsplit(path).path, timeout=SLOWLY)
    return page


@pytest.mark.covers("ORG-032")
async def test_a_figure_is_opened_until_one_stands_at_its_posting_and_at_the_order(
    visit: Visits, house: House, sold: dict[str, Any]
):
    page = await arrive(visit, f"{house.home}/financas")
    owed = page.locator(".figures > div").filter(has_text="Owed to you")
    figure = await owed.get_by_role("link").inner_text()
    await owed.get_by_role("link").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Owed to you")
    await expect(page.locator(".figures")).to_contain_text(figure)
    await page.locator("tbody tr").filter(has_text="Sale").first.get_by_role("link").first.click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("Posting")
    await page.locator("a[href*='/financas/payments/']").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Payment")
    await page.locator("a[href*='/orders/']").first.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Order")


@pytest.mark.covers("FIN-071", "ORG-024")
async def test_one_ticket_is_given_back_with_a_dry_run_and_a_fresh_proof(
    visit: Visits, house: House, sold: dict[str, Any], running: Desk
):
    page = await arrive(visit, f"{house.home}/orders/{sold['orderId']}", phone=True)
    eyes = await Eyes.on(page)
    await page.get_by_role("link", name="Give money back").click()
    await expect(page.get_by_role("button", name="Show what would go back")).to_be_visible()
    await eyes.look()
    await page.get_by_role("checkbox").first.check()
    await page.get_by_label("Reason").select_option("SERIOUS_FAILURE")
    await page.get_by_role("button", name="Show what would go back").click()
    await expect(page.get_by_text("Nothing has been done yet.")).to_be_visible()
    await eyes.look()
    await _forget_the_proof(running)
    await page.get_by_role("button", name="Give back").click()
    await page.wait_for_url("**/step-up?**", timeout=SLOWLY)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Go on").click()
    await expect(page.get_by_text("Nothing has been done yet.")).to_be_visible(timeout=SLOWLY)
    await page.get_by_role("button", name="Give back").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Refund", timeout=SLOWLY)
    await expect(page.get_by_text("The money is back with the buyer")).to_be_visible(timeout=SLOWLY)
    await eyes.look()
    await page.goto(f"{house.home}/orders/{sold['orderId']}")
    await expect(page.locator("tbody").get_by_text("Refunded", exact=True).first).to_be_visible()


async def _forget_the_proof(running: Desk) -> None:
    """As if they had signed in an hour ago."""
    server = find_server(running.home)
    assert server
    connection = await asyncpg.connect(server.url(SUPERUSER))
    try:
        await connection.execute(FORGET)
    finally:
        await connection.close()


async def test_a_dispute_is_looked_at(visit: Visits, house: House):
    _, charge = await asyncio.to_thread(house.charge, 1)
    disputes = f"{house.home}/financas?tab=refunds_disputes"
    answer = await asyncio.to_thread(httpx.post, f"{charge}/dispute", timeout=60)
    assert answer.status_code == 303, answer.text
    path = f"/api{house.home}/finance/disputes"
    await asyncio.to_thread(until, lambda: house.ask(OWNER, "GET", path)["items"])
    page = await arrive(visit, disputes)
    eyes = await Eyes.on(page)
    await page.reload()
    await eyes.look()
    await page.locator("a[href*='/financas/disputes/']").first.click()
    await page.wait_for_url("**/financas/disputes/**")
    await eyes.look()


async def test_a_shared_pool_is_looked_at(visit: Visits, house: House):
    schedule = {"startsAt": "2030-05-01T20:00:00Z", "endsAt": "2030-05-01T23:00:00Z", "timeZone": "Europe/Lisbon"}
    draft = {"about": {"title": "Two halls"}, "schedule": schedule, "currency": "EUR", "idempotencyKey": uuid4().hex}
    event = await asyncio.to_thread(house.ask, OWNER, "POST", f"/api{house.home}/events", **draft)
    own = f"{house.home}/events/{event['eventId']}"
    hall = {"label": "The hall", "capacity": 500, "idempotencyKey": uuid4().hex}
    shared = await asyncio.to_thread(house.ask, OWNER, "POST", f"/api{own}/pools", **hall)
    page = await arrive(visit, own)
    eyes = await Eyes.on(page)
    await page.goto(f"{own}/pools/{shared['sharedPools'][0]['pool']['poolId']}")
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await eyes.look()


async def test_somebody_is_invited_and_joins(visit: Visits, house: House):
    guest = "coach@bravo.example"
    page = await arrive(visit, f"{house.home}/team")
    await page.get_by_label("E-mail").fill(guest)
    await page.get_by_label("Role", exact=True).select_option("VIEWER")
    await page.get_by_role("button", name="Invite").click()
    await expect(page.locator("#invitations ~ .scrolls")).to_contain_text(guest)
    await asyncio.to_thread(until, lambda: guest in house.client.get("/dev/mailbox").text)
    listed = (await asyncio.to_thread(house.client.get, "/dev/mailbox")).text
    row = listed[listed.rindex("<tr", 0, listed.index(guest)) :]
    [letter, *_] = re.findall(r"/dev/mailbox/[^\"']+", row)
    token = TOKEN.search((await asyncio.to_thread(house.client.get, letter)).text)
    assert token
    theirs = await visit("/sign-in", locale="en-GB")
    await sign_in(theirs, guest)
    await theirs.wait_for_url(lambda address: "sign-in" not in address, timeout=SLOWLY)
    await theirs.goto(f"/invitations/accept#{token[0]}")
    await theirs.get_by_role("main").get_by_role("button").first.click()
    await theirs.wait_for_url(f"**{house.home}", timeout=SLOWLY)


@pytest.mark.covers("ORG-031")
async def test_a_dead_letter_is_run_again(visit: Visits, running: Desk):
    server, own = find_server(running.home), uuid7()
    assert server
    connection = await asyncpg.connect(server.url(SUPERUSER))
    try:
        await connection.execute(A_DEAD_LETTER, own, PLATFORM_ORGANIZATION.uuid, f"browser:{own}")
    finally:
        await connection.close()
    page = await arrive(visit, f"/ops/dead-letters/dead_{own.hex}", PLATFORM_ADMIN)
    eyes = await Eyes.on(page)
    await page.reload()
    await expect(page.get_by_text("TimeoutError").first).to_be_visible()
    await eyes.look()
    await _forget_the_proof(running)
    await _run_again(page)
    await page.wait_for_url("**/step-up?**", timeout=SLOWLY)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Go on").click()
    await page.wait_for_url("**/unsent?**", timeout=SLOWLY)
    await expect(page.get_by_text("Nothing was done yet.")).to_be_visible()
    await expect(page.get_by_label("Why")).to_have_value("the host is back")
    await page.get_by_role("button", name="Run it again").click()
    await expect(page.get_by_text("It runs again.")).to_be_visible()
    await page.goto(f"/ops/dead-letters/dead_{own.hex}")
    await expect(page.get_by_text("the host is back")).to_be_visible()
    await eyes.look()


async def _run_again(page: Page) -> None:
    await page.get_by_label("Reason").fill("HOST_IS_BACK")
    await page.get_by_label("Why").fill("the host is back")
    await page.get_by_role("button", name="Run it again").click()
