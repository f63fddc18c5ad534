"""A real browser on the real thing: `admitone run` with its demonstration, worker and sandbox, and the system's
Chromium. Where there is none, these tests are skipped, and the report counts them.

    async def test_…(visit: Visit):
        page = await visit("/sign-in")                      # a desk
        page = await visit("/sign-in", phone=True)          # 360 pixels wide, with a finger
"""

import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from admitone.kernel.embedded import SUPERUSER, find_server, tool
from tests.desk import Desk, a_desk

FESTIVAL = "Festival Aurora"
CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1440, "height": 900}}
Visit = Callable[..., Awaitable[Page]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in str(item.path) and CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason="no Chromium here (Debian package chromium)"))


@pytest.fixture(scope="session")
def running() -> Iterator[Desk]:
    """All of Admit One, as `make run` starts it."""
    with a_desk() as desk:
        desk.run()
        _wait_until_listed(f"http://127.0.0.1:{desk.port}")
        yield desk


def _wait_until_listed(address: str) -> None:
    """The worker begins with what the demonstration left to tell, the list of events among it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if any(each["title"] == FESTIVAL for each in httpx.get(f"{address}/api/events", timeout=30).json()["items"]):
            return
        time.sleep(0.2)
    raise AssertionError("the festival is not listed")


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        await browser.close()


def forget_limits(desk: Desk) -> None:
    """The same few people sign in and buy again and again, all from one address, as nobody does in an evening."""
    server = find_server(desk.home)
    assert server is not None
    psql = [tool("psql"), "-XAtq", "-d", server.url(SUPERUSER), "-c", "DELETE FROM kernel.limit_counter"]
    subprocess.run(psql, capture_output=True, check=True)


class Visits:
    """Browsers of different people, and what went wrong in them."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.address = address
        self.troubles: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    async def __call__(self, path: str = "/", *, phone: bool = False, **more: Any) -> Page:
        """A page of a browser of its own, that nobody has used before."""
        context = await self._browser.new_context(**{**(PHONE if phone else DESK), "base_url": self.address, **more})
        self._contexts.append(context)
        page = await context.new_page()
        page.on("console", lambda said: said.type == "error" and self.troubles.append(f"{page.url}: {said.text}"))
        page.on("pageerror", lambda error: self.troubles.append(f"{page.url}: {error}"))
        await page.goto(path)
        return page

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()


@pytest.fixture
async def visit(chromium: Browser, running: Desk) -> AsyncIterator[Visits]:
    """Opens pages. Whatever a browser complains about (scripts, the Content-Security-Policy) fails the test, unless the
    test takes it out of `visit.troubles`."""
    forget_limits(running)
    visits = Visits(chromium, f"http://127.0.0.1:{running.port}")
    yield visits
    await visits.close()
    assert not visits.troubles, visits.troubles
