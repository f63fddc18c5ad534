"""Looking for something to go to, with a browser: on a phone and at a desk, in any language."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import httpx
import pytest
from playwright.async_api import Page

from admitone.entrypoints.demo import PASSWORD
from tests.browser.conftest import Visits
from tests.browser.evening import PATIENCE_SECONDS
from tests.browser.test_signing_in import OWNER
from tests.desk import Desk

KEYS = count()
EVIL = "</script><script>window.hacked=1</script><img src=/x onerror=window.hacked=2>"
SMALLEST_TARGET = 44
SETTLED = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"


class House:
    """The demonstration's club, as its owner sees it through the API."""

    def __init__(self, client: httpx.AsyncClient, organization: str) -> None:
        self.organization = organization
        self._client = client

    async def put_on(self, title: str, *types: dict[str, Any], publish: bool = True, **more: Any) -> str:
        begins = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(days=20)
        about = {
            "title": title,
            "venue": {"name": "Coliseu", "city": "Porto", "country": "PT"},
            **more.pop("about", {}),
        }
        schedule = {"startsAt": begins, "endsAt": begins + timedelta(hours=4), "timeZone": "Europe/Lisbon"}
        draft = {"currency": "EUR", "about": about, "schedule": {name: str(at) for name, at in schedule.items()}}
        event = await self._post("", {**draft, **more})
        for each in types:
            usual = {"name": "Standing", "priceMinor": 2500, "supply": {"capacity": 100}}
            await self._post(f"/{event['eventId']}/ticket-types", {**usual, **each})
        if publish:
            await self._post(f"/{event['eventId']}/publish", {})
            await self._is_there(f"/api/events/{event['eventId']}")
        return str(event["eventId"])

    async def _is_there(self, path: str) -> None:
        """A worker tells everybody of it."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (await self._client.get(path)).is_success:  # noqa: ASYNC110  Another process tells nobody.
                await asyncio.sleep(0.1)

    async def is_listed(self, event: str) -> None:
        """A worker brings it into lists."""
        for _ in range(100):
            listed = await self._client.get(f"/api/organizations/{self.organization}/events?limit=100")
            if event in listed.text:
                return
            await asyncio.sleep(0.1)
        raise AssertionError("it did not come into the lists")

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        keyed = {"idempotencyKey": f"browser-{next(KEYS)}", **body}
        answer = await self._client.post(f"/api/org/{self.organization}/events{path}", json=keyed)
        assert answer.is_success, answer.text
        told: dict[str, Any] = answer.json()
        return told


@pytest.fixture(scope="session")
async def house(running: Desk) -> AsyncIterator[House]:
    """Whoever signs in too often is asked to wait, so once is enough for all of them."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{running.port}", timeout=30) as client:
        signed_in = await client.post("/api/auth/login", json={"email": OWNER, "password": PASSWORD})
        client.headers["authorization"] = f"Bearer {signed_in.json()['accessToken']}"
        places = (await client.get("/api/organizations")).json()["items"]
        yield House(client, next(each["id"] for each in places if each["displayName"] == "Clube Aurora"))


async def fits(page: Page) -> bool:
    """Nothing sticks out to the side."""
    return bool(await page.evaluate(SETTLED))


async def too_small(page: Page) -> list[str]:
    """What a finger misses; links inside a sentence are as high as the sentence."""
    return await page.evaluate(
        """least => [...document.querySelectorAll("main button, main select, main input, main .button, header a")]
            .filter(each => each.offsetParent && each.type !== "hidden" && each.getBoundingClientRect().height < least)
            .map(each => each.outerHTML.slice(0, 80))""",
        SMALLEST_TARGET,
    )


@pytest.mark.parametrize("phone", [True, False], ids=["360", "1440"])
async def test_somebody_finds_an_event_and_takes_tickets_to_the_till(visit: Visits, house: House, phone: bool):
    title = f"Concert for {'phones' if phone else 'desks'}"
    event = await house.put_on(title, {}, {"name": "VIP", "priceMinor": 9000, "supply": {"capacity": 4}})
    await house.is_listed(event)
    page = await visit("/", phone=phone, locale="en-GB")
    await page.get_by_label("City").fill("Porto")
    await page.get_by_role("main").get_by_role("button", name="Search").click()
    await page.wait_for_url("**/?city=Porto*")
    assert await fits(page)
    assert await too_small(page) == []
    await page.get_by_role("link", name=title).click()
    assert await page.get_by_role("heading", level=1).inner_text() == title
    assert await fits(page)
    assert await too_small(page) == []
    await page.get_by_label("Quantity VIP").select_option("2")
    await page.get_by_role("button", name="Get tickets").click()
    await page.wait_for_url(f"**/e/{event}/tickets?*")
    query = page.url.partition("?")[2].split("&")
    assert [each.partition("=")[0] for each in query] == ["ticketTypeId", "quantity", "ticketTypeId", "quantity"]
    assert [each.partition("=")[2] for each in query[1::2]] == ["0", "2"]
    visit.troubles.clear()  # What comes next is told elsewhere.


async def test_it_works_by_keyboard_alone(visit: Visits, house: House):
    event = await house.put_on("By keyboard", {})
    page = await visit(f"/e/{event}")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.className") == "skip"
    await page.get_by_label("Quantity").focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "Get tickets"


async def test_the_language_changes_where_one_is(visit: Visits, house: House):
    event = await house.put_on("Fado", {})
    page = await visit(f"/e/{event}", locale="en-GB")
    assert await page.get_by_role("button", name="Get tickets").is_visible()
    await page.get_by_role("button", name="Português", exact=True).click()
    assert page.url.endswith(f"/e/{event}")
    assert await page.get_by_role("button", name="Obter bilhetes").is_visible()
    await page.get_by_role("button", name="Português (Brasil)").click()
    assert await page.get_by_role("button", name="Pegar ingressos").is_visible()
    await page.goto("/")
    assert await page.locator("html").get_attribute("lang") == "pt-BR"


async def test_what_people_wrote_runs_nowhere(visit: Visits, house: House):
    about = {"description": EVIL, "venue": {"name": EVIL, "address": EVIL, "city": "Evil"}}
    event = await house.put_on(EVIL, {"name": EVIL, "description": EVIL}, about=about)
    await house.is_listed(event)
    for path in (f"/e/{event}", "/?city=Evil", f"/o/{house.organization}"):
        page = await visit(path, phone=True)
        await page.wait_for_load_state("networkidle")
        assert EVIL in await page.get_by_role("main").inner_text()
        assert await page.evaluate("window.hacked") is None
        assert await page.locator("img").count() == 0
        assert await fits(page)


@pytest.mark.covers("EVT-002", "EVT-010")
async def test_drafts_are_not_there_and_what_is_unlisted_is_in_no_list(visit: Visits, house: House):
    draft = await house.put_on("A secret draft", {}, publish=False)
    unlisted = await house.put_on("Known to few", {}, accessPolicy={"mode": "UNLISTED"})
    listed = await house.put_on("Known to all", {})
    await house.is_listed(listed)
    page = await visit(f"/e/{draft}")
    assert "A secret draft" not in await page.content()
    assert await page.get_by_role("heading", level=1).inner_text() == "There is no such event."
    visit.troubles.clear()  # The browser tells of every answer that is not 2xx.
    await page.goto(f"/o/{house.organization}")
    shown = await page.get_by_role("main").inner_text()
    assert "Known to all" in shown
    assert "Known to few" not in shown
    await page.goto(f"/e/{unlisted}")
    assert await page.get_by_role("heading", level=1).inner_text() == "Known to few"


@pytest.mark.covers("PRV-031")
@pytest.mark.parametrize("phone", [True, False], ids=["360", "1440"])
async def test_the_small_print_is_one_step_away_from_anywhere(visit: Visits, phone: bool):
    page = await visit("/", phone=phone, locale="en-GB")
    for name in ("Terms", "Privacy", "Refunds", "Who we are"):
        await page.get_by_role("contentinfo").get_by_role("link", name=name).click()
        assert await page.get_by_role("heading", level=1).inner_text() == name
        assert await fits(page)
