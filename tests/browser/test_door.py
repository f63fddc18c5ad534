"""The door in a real browser: the camera, the verdicts, names, undo, and a network that is cut."""

import asyncio
import io
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import segno
from PIL import Image
from playwright.async_api import Browser, Page, Route, async_playwright, expect

from tests.browser.conftest import CHROMIUM, FLAGS, Visits
from tests.browser.hall import OWNER, STEWARD, Hall, Ticket, a_hall
from tests.browser.scenes import Eyes
from tests.browser.steward import CUT, ENGLISH, NEVER_MADE, expected, keep_a_list, ready, stand_at, told, type_code
from tests.desk import Desk

GUESTS, OTHER_GUEST = ("trainer@bravo.example", "owner@bravo.example"), "viewer@bravo.example"
FESTIVAL_GUEST, LATE_GUEST = "promoter@bravo.example", "staff@bravo.example"
TURNED_AWAY = "the server responded with a status of 403"


@pytest.fixture(scope="module")
async def hall(running: Desk) -> Hall:
    return await a_hall(f"http://127.0.0.1:{running.port}")


@pytest.fixture(scope="module")
async def tickets(hall: Hall) -> list[Ticket]:
    """For all of these tests, each takes what it needs: whoever orders for nothing orders seldom."""
    return [each for guest in GUESTS for each in await hall.tickets_of(guest, 10)]


@pytest.fixture(scope="module")
async def badge(hall: Hall) -> list[Any]:
    """Who stands at the door, signed in once."""
    return await hall.cookies_of(STEWARD)


@pytest.mark.covers("ENT-021")
async def test_a_typed_code_lets_in_once_and_a_duplicate_says_when_and_where(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket = tickets.pop()
    inside = page.locator("[data-count=inside]")
    before = int(await inside.inner_text())
    await type_code(page, ticket.code.lower().removeprefix("a1:"), gate="North")
    assert "Admitted" in await told(page, "good")
    await expect(inside).to_have_text(str(before + 1))
    await type_code(page, ticket.code)
    said = await told(page, "twice")
    assert "Already used" in said
    assert "Came in at" in said
    assert "North" in said
    await type_code(page, NEVER_MADE)
    assert "This code is not known here." in await told(page, "bad")
    assert await hall.results(ticket) == ["duplicate", "admitted"]


@pytest.mark.covers("ENT-024")
async def test_the_last_entry_is_taken_back_with_a_thumb(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket = tickets.pop()
    undo = page.get_by_role("button", name="Undo")
    assert await undo.is_disabled()
    await type_code(page, ticket.code)
    await told(page, "good")
    box = await undo.bounding_box()
    assert box is not None
    assert box["y"] > 740 * 0.85
    assert box["height"] >= 44
    await undo.click()
    await page.get_by_role("button", name="It was the wrong person").click()
    await expect(page.locator("#undo-said")).to_have_text("Taken back.")
    assert await undo.is_disabled()
    assert await hall.results(ticket) == ["undone", "admitted"]
    await page.keyboard.press("Escape")
    await type_code(page, ticket.code)
    assert "Admitted" in await told(page, "good")


@pytest.mark.covers("ENT-017")
async def test_somebody_without_a_telephone_is_found_by_name(visit: Visits, hall: Hall, badge: list[Any]):
    [ticket] = await hall.tickets_of(OTHER_GUEST, 1)
    page = await stand_at(visit, hall, badge)
    await page.get_by_role("button", name="Name").click()
    await page.get_by_label("Name or e-mail").fill("viewer")
    await page.get_by_role("button", name="Search").click()
    await page.get_by_role("button", name="Let in: Viewer of Bravo").click()
    assert "Admitted" in await told(page, "good")
    assert await hall.results(ticket) == ["admitted"]


async def test_whoever_is_quicker_than_the_network_is_answered_at_the_door_too(
    visit: Visits, hall: Hall, badge: list[Any]
):
    page = await stand_at(visit, hall, badge)

    async def late(route: Route) -> None:
        await asyncio.sleep(1)
        await route.continue_()

    await page.route("**/door-people.js", late)
    await page.get_by_role("button", name="Name").click()
    await page.get_by_label("Name or e-mail").fill("nobody of that name")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("#found")).to_have_text("Nobody was found.")
    assert page.url.endswith("/door")


async def test_without_a_script_the_form_says_the_same(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await visit("/sign-in", phone=True, java_script_enabled=False, **ENGLISH)
    await page.context.add_cookies(badge)
    await page.goto(hall.door)
    await page.get_by_label("Code").fill(tickets.pop().code)
    await page.get_by_role("button", name="Check the code").click()
    assert await page.get_by_role("heading", level=1).inner_text() == "Admitted"
    await page.get_by_role("link", name="Next person").click()
    assert page.url.endswith("/door")


# -- The camera


def a_film_of(code: str, path: Path) -> Path:
    """What the camera sees: one frame, again and again."""
    drawn = io.BytesIO()
    segno.make_qr(code, error="m").save(drawn, kind="png", scale=9, border=4)
    shown = Image.open(drawn).convert("RGB")
    frame = Image.new("RGB", (640, 480), (90, 90, 90))
    frame.paste(shown, ((640 - shown.width) // 2, (480 - shown.height) // 2))
    frame.save(path, "JPEG", quality=85)
    return path


@pytest.fixture
async def filming(tmp_path: Path) -> AsyncIterator[Any]:
    """A browser whose camera is a film."""
    async with async_playwright() as playwright:

        async def film(code: str) -> Browser:
            seen = a_film_of(code, tmp_path / "seen.mjpeg")
            camera = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")
            flags = [*FLAGS, *camera, f"--use-file-for-fake-video-capture={seen}"]
            return await playwright.chromium.launch(executable_path=CHROMIUM, args=flags)

        yield film


A_DETECTOR = """
globalThis.looks = 0;
globalThis.BarcodeDetector = class {
  static async getSupportedFormats() { return ["qr_code"]; }
  async detect() { looks += 1; return globalThis.sees ? [{ rawValue: sees }] : []; }
};
"""
"""As Android has it, and not every Chromium: it sees what the test holds in front of it."""


async def looked(page: Page, times: int = 5) -> None:
    """The camera was read so often from now on."""
    since = await page.evaluate("looks")
    await page.wait_for_function("(enough) => looks >= enough", arg=since + times)


@pytest.mark.covers("ENT-020")
async def test_a_code_in_front_of_the_camera_lets_in_once_by_the_server(
    filming: Any, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    ticket = tickets.pop()
    browser: Browser = await filming(ticket.code)
    visit = Visits(browser, hall.address)
    page = await visit("/sign-in", phone=True, permissions=["camera"], **ENGLISH)
    await page.context.add_cookies(badge)
    frames: list[str] = []
    page.on("response", lambda came: frames.append(came.url) if came.url.endswith("/frames") else None)
    await page.context.add_init_script("delete globalThis.BarcodeDetector")
    await page.goto(hall.door)
    assert "Admitted" in await told(page, "good")
    # It is still held there, and it is not scanned again.
    before = len(frames)
    while len(frames) < before + 3:
        await page.wait_for_event("response", lambda came: came.url.endswith("/frames"))
    assert await page.locator("#verdict").is_hidden()
    assert await hall.results(ticket) == ["admitted"]
    await browser.close()
    assert not visit.troubles, visit.troubles


@pytest.mark.covers("ENT-020", "ENT-030")
async def test_a_telephone_that_reads_codes_itself_scans_with_and_without_a_network(
    filming: Any, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    browser: Browser = await filming(NEVER_MADE)
    visit = Visits(browser, hall.address)
    page = await visit("/sign-in", phone=True, permissions=["camera"], **ENGLISH)
    await page.context.add_cookies(badge)
    await page.context.add_init_script(A_DETECTOR)
    frames: list[str] = []
    page.on("request", lambda sent: frames.append(sent.url) if sent.url.endswith("/frames") else None)
    await page.goto(hall.door)
    await ready(page)
    await keep_a_list(page)
    first, second = tickets.pop(), tickets.pop()
    for ticket, offline in ((first, False), (second, True)):
        await page.context.set_offline(offline)
        await page.evaluate("(code) => { globalThis.sees = code; }", ticket.code)
        assert "Admitted" in await told(page, "good")
        # It is still held there, and it is not scanned again.
        await looked(page)
        assert await page.locator("#verdict").is_hidden()
    assert not frames
    await page.context.set_offline(False)
    await expect(page.locator("#queue")).to_have_text("Everything was sent.", timeout=20_000)
    assert [await hall.results(each) for each in (first, second)] == [["admitted"], ["admitted"]]
    await expected(visit, CUT)
    await browser.close()


async def test_a_camera_that_ends_is_opened_again_or_said_to_be_gone(filming: Any, hall: Hall, badge: list[Any]):
    browser: Browser = await filming(NEVER_MADE)
    visit = Visits(browser, hall.address)
    page = await visit("/sign-in", phone=True, permissions=["camera"], **ENGLISH)
    await page.context.add_cookies(badge)
    await page.context.add_init_script(A_DETECTOR)
    await page.goto(hall.door)
    note = page.locator("#note")
    await expect(note).to_have_text("Hold the code in front of the camera.")
    await page.evaluate(
        "() => { globalThis.told = 0;"
        " new MutationObserver((all) => { told += all.length; }).observe(document.getElementById('note'),"
        " { childList: true, characterData: true, subtree: true }); }"
    )
    stop = "document.getElementById('video').srcObject.getTracks().forEach((each) => each.stop())"
    await page.evaluate(stop)
    await page.wait_for_function(
        "() => document.getElementById('video').srcObject.getTracks()[0].readyState === 'live'"
    )
    await looked(page)
    # What is the same as before is not said again.
    assert await page.evaluate("told") == 0
    refuse = "() => Promise.reject(new DOMException('taken', 'NotAllowedError'))"
    await page.evaluate(
        f"() => {{ globalThis.asked = navigator.mediaDevices.getUserMedia; navigator.mediaDevices.getUserMedia = {refuse}; }}"
    )
    await page.evaluate(stop)
    await expect(note).to_contain_text("The camera cannot be used.")
    await page.evaluate("() => { navigator.mediaDevices.getUserMedia = asked; }")
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await expect(note).to_have_text("Hold the code in front of the camera.")
    await browser.close()
    assert not visit.troubles, visit.troubles


# -- Counts


async def test_counts_that_stopped_say_so_and_go_on(visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]):
    page = await visit("/sign-in", phone=True, **ENGLISH)
    await page.context.add_cookies(badge)
    # The stream is turned away, for which no browser comes again; nor is anybody else answered for a while.
    await page.route("**/live", lambda route: route.fulfill(status=401, json={}))
    await page.route("**/counts", lambda route: route.fulfill(status=503, json={}))
    await page.goto(hall.door)
    await ready(page)
    inside, old = page.locator("[data-count=inside]"), page.locator("[data-counts-of]")
    before = int(await inside.inner_text())
    await expect(old).to_contain_text("Counts of", timeout=20_000)
    for name in ("live", "counts"):
        await page.unroute(f"**/{name}")
    await type_code(page, tickets.pop().code)
    await told(page, "good")
    await expect(inside).to_have_text(str(before + 1), timeout=20_000)
    await expect(old).to_be_hidden()
    await expected(visit, "401", "503")


# -- A door for one session


@pytest.fixture(scope="module")
async def festival(running: Desk) -> Hall:
    return await a_hall(f"http://127.0.0.1:{running.port}", "Dois dias", ("Friday", "Saturday"))


async def guard(page: Page, session: str) -> None:
    await page.get_by_role("button", name="Code").click()
    await page.get_by_label("Session").select_option(session)
    await page.keyboard.press("Escape")


@pytest.mark.covers("ENT-021", "ENT-030")
async def test_a_door_for_one_session_refuses_another_with_and_without_a_network(
    visit: Visits, festival: Hall, badge: list[Any]
):
    first, second = await festival.tickets_of(FESTIVAL_GUEST, 2)
    page = await stand_at(visit, festival, badge)
    await guard(page, festival.sessions["Saturday"])
    await type_code(page, first.code)
    assert "This ticket is for another session." in await told(page, "bad")
    await page.get_by_role("button", name="Name").click()
    await page.get_by_label("Name or e-mail").fill("promoter")
    await page.get_by_role("button", name="Search").click()
    await page.get_by_role("button", name="Let in: Promoter of Bravo").first.click()
    assert "This ticket is for another session." in await told(page, "bad")
    # It stays where it was put.
    await page.reload()
    await ready(page)
    await expect(page.locator("h1")).to_have_text("Saturday · Dois dias")
    await guard(page, "")
    await expect(page.locator("h1")).to_have_text("Dois dias")
    await keep_a_list(page)
    await page.context.set_offline(True)
    await guard(page, festival.sessions["Saturday"])
    await type_code(page, first.code)
    assert "This ticket is for another session." in await told(page, "bad")
    await guard(page, festival.sessions["Friday"])
    await type_code(page, first.code)
    assert "Admitted" in await told(page, "good")
    await page.context.set_offline(False)
    await expect(page.locator("#queue")).to_have_text("Everything was sent.", timeout=20_000)
    assert "admitted" in await festival.results(first)
    # By then the list is that of Friday.
    leases = f"/api/org/{festival.organization}/checkin/events/{festival.event}/leases"
    given = (await festival.ask(OWNER, "GET", leases))["leases"]
    live = [each["sessionId"] for each in given if not each["revokedAt"]]
    assert live == [festival.sessions["Friday"]]
    await type_code(page, second.code)
    assert "Admitted" in await told(page, "good")
    await expected(visit, CUT)


# -- A door that stopped itself


async def device_of(page: Page) -> str:
    device: str = await page.evaluate("localStorage.getItem('device')")
    return device


class Hand:
    """Whoever holds that device, without the screen: a steward scans as fast as somebody reads."""

    def __init__(self, hall: Hall, device: str) -> None:
        self._hall = hall
        self._more = {"x-orya-org-id": hall.organization, "x-device-id": device}
        self._keys = count()

    async def scan(self, code: str) -> Any:
        body = {"qrPayload": code, "eventId": self._hall.event, "idempotencyKey": f"hand-{next(self._keys)}"}
        return await self._hall.ask(STEWARD, "POST", "/api/internal/checkin/consume", body, **self._more)

    async def scan_and_take_back(self, code: str) -> None:
        checkin = (await self.scan(code))["checkinId"]
        body = {"reasonCode": "SCANNED_BY_MISTAKE", "idempotencyKey": f"hand-{next(self._keys)}"}
        path = f"/api/org/{self._hall.organization}/checkin/{checkin}/undo"
        await self._hall.ask(STEWARD, "POST", path, body, **self._more)


@pytest.mark.covers("ENT-034")
async def test_a_door_that_stopped_itself_asks_who_holds_it(visit: Visits, hall: Hall, badge: list[Any]):
    page = await stand_at(visit, hall, badge)
    hand = Hand(hall, await device_of(page))
    for _ in range(10):
        await hand.scan(NEVER_MADE)
    await type_code(page, NEVER_MADE)
    await expect(page.locator("#verdict")).to_contain_text("Confirm who holds this scanner.")
    eyes = await Eyes.on(page)
    await page.get_by_role("link", name="Go on").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Confirm who holds this scanner")
    await eyes.look()
    await page.get_by_role("button", name="It is me").click()
    await ready(page)
    assert page.url.endswith("/door")
    await expected(visit, TURNED_AWAY)


@pytest.mark.covers("SAF-016")
async def test_a_scanner_that_closed_itself_is_opened_again_from_its_own_message(
    visit: Visits, hall: Hall, badge: list[Any]
):
    [ticket] = await hall.tickets_of(LATE_GUEST, 1)
    page = await stand_at(visit, hall, badge)
    hand = Hand(hall, await device_of(page))
    for _ in range(6):
        for _ in range(4):
            await hand.scan_and_take_back(ticket.code)
        await hand.scan(NEVER_MADE)
    await type_code(page, ticket.code)
    await expect(page.locator("#verdict")).to_contain_text("This scanner is closed for this event.")
    eyes = await Eyes.on(page)
    await page.get_by_role("link", name="Go on").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Open this scanner again")
    await eyes.look()
    await page.get_by_label("Reason").select_option("WRONG_DOOR")
    await page.get_by_role("button", name="Open again").click()
    await ready(page)
    await type_code(page, ticket.code)
    assert "Admitted" in await told(page, "good")
    await expected(visit, TURNED_AWAY)


# -- One after the other


async def test_a_standing_message_goes_by_keyboard_and_a_code_typed_meanwhile_is_next(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    first, second = tickets.pop(), tickets.pop()
    before = int(await page.locator("[data-count=inside]").inner_text())
    refused = {"errorCode": "FORBIDDEN", "message": "Not here.", "retryable": False}
    await page.route("**/checkin/consume", lambda route: route.fulfill(status=403, json=refused))
    verdict, on = page.locator("#verdict"), page.get_by_role("button", name="Next person")
    for key in ("Enter", "Escape"):
        await type_code(page, NEVER_MADE)
        await expect(verdict).to_contain_text("You may not let people in here.")
        await expect(on).to_be_focused()
        await page.keyboard.press(key)
        await expect(verdict).to_be_hidden()
    await type_code(page, NEVER_MADE)
    await expect(verdict).to_contain_text("You may not let people in here.")
    await page.unroute("**/checkin/consume")
    # It stands before the form, and not before the keys.
    for ticket in (first, second):
        await page.get_by_role("button", name="Code").click()
        await page.get_by_label("Code").fill(ticket.code)
        await page.keyboard.press("Enter")
    await expect(verdict).to_contain_text("You may not let people in here.")
    await page.keyboard.press("Escape")
    await expect(page.locator("[data-count=inside]")).to_have_text(str(before + 2))
    assert [await hall.results(each) for each in (first, second)] == [["admitted"], ["admitted"]]
    await expected(visit, TURNED_AWAY)


# -- How it looks


@pytest.mark.parametrize("path", ["/checkin", "/checkin?tab=lista", "/checkin?tab=sessoes", "/checkin?tab=logs"])
async def test_nothing_sticks_out_of_a_narrow_screen(visit: Visits, hall: Hall, badge: list[Any], path: str):
    page = await visit("/sign-in", phone=True, **ENGLISH)
    await page.context.add_cookies(badge)
    await page.goto(f"/org/{hall.organization}{path}")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    assert await page.locator("h1").count() == 1


async def test_the_scanner_is_small_and_fits(visit: Visits, hall: Hall, badge: list[Any]):
    sizes: list[int] = []
    page = await visit("/sign-in", phone=True, **ENGLISH)
    await page.context.add_cookies(badge)

    async def weigh(answer: Any) -> None:
        if "/api/" not in answer.url:
            sizes.append(int((await answer.all_headers()).get("content-length", "0")))

    page.on("response", weigh)
    await page.goto(hall.door)
    await ready(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    assert sum(sizes) < 50_000
