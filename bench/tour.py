"""A tour through the running demonstration: one picture of each page that people see, at a desk and on a phone.

usage: python -m bench.tour [ADDRESS [FOLDER]]     as in http://127.0.0.1:8000, the default, and docs/tour

Promise: it looks, and orders one ticket, which nobody pays and which is given up after a quarter of an hour. A page
that is not there is left out, and said to be. Pictures are small: a palette, at most 800 pixels wide, below 80 KB.
"""

import asyncio
import io
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx
from PIL import Image
from playwright.async_api import Browser, BrowserContext, async_playwright

from admitone.entrypoints.demo import BUYER, CLUB, PASSWORD, PLATFORM_ADMIN
from admitone.entrypoints.demo.programme import EXHIBITION, event_at
from admitone.kernel.ids import OrganizationId

ADDRESS: Final = "http://127.0.0.1:8000"
FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "tour"
OWNER: Final = f"owner@{CLUB}.example"
STEWARD: Final = f"frontdesk@{CLUB}.example"
FLAGS: Final = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
SIZES: Final[dict[str, dict[str, Any]]] = {
    "desk": {"viewport": {"width": 1200, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 780}, "is_mobile": True, "has_touch": True},
}
WIDEST: Final = 800
LARGEST: Final = 80_000
COLOURS: Final = (128, 64, 32, 16)


@dataclass(frozen=True)
class Stop:
    """A page, as somebody sees it."""

    name: str
    path: str
    who: str | None = None


async def main(address: str, folder: Path) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=60) as api:
        stops = await _stops(api)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        for size in SIZES:
            for who in dict.fromkeys(each.who for each in stops):
                async with _visitor(browser, address, size, who) as visitor:
                    for stop in [each for each in stops if each.who == who]:
                        await _look(visitor, stop, folder / f"{stop.name}-{size}.png")
        await browser.close()


async def _stops(api: httpx.AsyncClient) -> list[Stop]:
    """What there is to see, by the ids of this installation."""
    listed = (await api.get("/api/events")).json()["items"]
    festival = next(each for each in listed if each["title"].startswith("Festival"))
    club, event = festival["organizationId"], festival["eventId"]
    on = event_at(OrganizationId.parse(club), EXHIBITION)
    token = await _signed_in(api, BUYER)
    order, right = await _order(api, token, club, event), await _right(api, token)
    return [
        Stop("storefront", "/"),
        Stop("house", f"/o/{club}"),
        Stop("event", f"/e/{event}"),
        Stop("tickets", f"/e/{event}/tickets"),
        Stop("checkout", f"/checkout/{club}/{order}", BUYER),
        Stop("wallet", "/wallet", BUYER),
        Stop("ticket", f"/wallet/{right}", BUYER),
        Stop("door", f"/org/{club}/checkin", STEWARD),
        Stop("scanner", f"/org/{club}/checkin/{on}/door", STEWARD),
        Stop("console", f"/org/{club}", OWNER),
        Stop("events", f"/org/{club}/events", OWNER),
        Stop("ledger", f"/org/{club}/financas?tab=ledger", OWNER),
        Stop("ops", "/ops", PLATFORM_ADMIN),
    ]


async def _signed_in(api: httpx.AsyncClient, email: str) -> dict[str, str]:
    answer = await api.post("/api/auth/login", json={"email": email, "password": PASSWORD})
    return {"authorization": f"Bearer {answer.json()['accessToken']}"}


async def _order(api: httpx.AsyncClient, token: dict[str, str], club: str, event: str) -> str:
    seen = (await api.get(f"/api/events/{event}")).json()
    kind = next(each for each in seen["ticketTypes"] if each["priceMinor"] and each["availability"] == "AVAILABLE")
    lines = [{"ticketTypeId": kind["ticketTypeId"], "quantity": 1}]
    body = {"organizationId": club, "eventId": event, "lines": lines, "idempotencyKey": f"tour-{uuid4()}"}
    order: str = (await api.post("/api/orders", json=body, headers=token)).json()["orderId"]
    return order


async def _right(api: httpx.AsyncClient, token: dict[str, str]) -> str:
    items = (await api.get("/api/me/wallet", headers=token)).json()["items"]
    right: str = next(each for each in items if each["status"] == "ACTIVE")["entitlementId"]
    return right


@asynccontextmanager
async def _visitor(browser: Browser, address: str, size: str, who: str | None) -> AsyncIterator[BrowserContext]:
    """A browser of somebody, who has signed in."""
    context = await browser.new_context(base_url=address, locale="en-GB", **SIZES[size])
    if who:
        page = await context.new_page()
        await page.goto("/sign-in")
        await page.get_by_label("E-mail").fill(who)
        await page.get_by_label("Password", exact=True).fill(PASSWORD)
        await page.get_by_role("main").get_by_role("button", name="Sign in").click()
        await page.wait_for_load_state()
        await page.close()
    yield context
    await context.close()


async def _look(visitor: BrowserContext, stop: Stop, file: Path) -> None:
    page = await visitor.new_page()
    answer = await page.goto(stop.path)
    if answer is None or not answer.ok:
        print(f"{file.name}: {stop.path} is not there ({answer.status if answer else 'no answer'})")
    elif "/sign-in" in page.url:
        print(f"{file.name}: {stop.path} is not shown to {stop.who}, who could not sign in")
    else:
        _keep(file, await page.screenshot())
    await page.close()


def _keep(file: Path, picture: bytes) -> None:
    small = _small(picture)
    file.write_bytes(small)
    print(f"{file.name}: {len(small):,} bytes")


def _small(picture: bytes) -> bytes:
    """With as many colours as fit."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.thumbnail((WIDEST, WIDEST * 3))
    for colours in COLOURS:
        written = io.BytesIO()
        image.quantize(colours, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
        if written.tell() < LARGEST:
            break
    return written.getvalue()


if __name__ == "__main__":
    given = sys.argv[1:]
    to = Path(given[1]) if len(given) > 1 else FOLDER
    to.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(given[0] if given else ADDRESS, to))
