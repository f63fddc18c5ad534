"""The door in a real browser where the network, or the server, does not answer."""

from typing import Any

import pytest
from playwright.async_api import Browser, Dialog, Error, Page, Route, expect

from admitone.entitlements.codes import digest_of
from tests.browser.budget import Scale
from tests.browser.conftest import Visits
from tests.browser.gateway import Mood, a_gateway
from tests.browser.hall import OWNER, STEWARD, Hall, Ticket, a_hall
from tests.browser.steward import CUT, NEVER_MADE, expected, keep_a_list, ready, stand_at, told, type_code
from tests.desk import Desk

GUESTS = ("trainer@bravo.example", "viewer@bravo.example")


@pytest.fixture(scope="module")
async def hall(running: Desk) -> Hall:
    return await a_hall(f"http://127.0.0.1:{running.port}", "Noite sem rede")


@pytest.fixture(scope="module")
async def tickets(hall: Hall) -> list[Ticket]:
    """For all of these tests, each takes what it needs: whoever orders for nothing orders seldom."""
    return [each for guest in GUESTS for each in await hall.tickets_of(guest, 10)]


@pytest.fixture(scope="module")
async def badge(hall: Hall) -> list[Any]:
    """Who stands at the door, signed in once."""
    return await hall.cookies_of(STEWARD)


@pytest.mark.covers("ENT-030")
async def test_without_a_network_a_used_ticket_says_when_and_where(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    ticket = tickets.pop()
    elsewhere = {"qrPayload": ticket.code, "eventId": hall.event, "gate": "South", "idempotencyKey": "before-the-list"}
    await hall.ask(OWNER, "POST", "/api/internal/checkin/consume", elsewhere, **{"x-orya-org-id": hall.organization})
    page = await stand_at(visit, hall, badge)
    await keep_a_list(page)
    await page.context.set_offline(True)
    await type_code(page, ticket.code)
    said = await told(page, "twice")
    assert "Came in at" in said
    assert "South" in said
    await expected(visit, CUT)


@pytest.mark.covers("ENT-030", "ENT-031")
async def test_the_network_is_cut_and_nobody_is_lost_or_counted_twice(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    before, ticket = tickets.pop(), tickets.pop()
    await keep_a_list(page)
    await type_code(page, before.code)
    await told(page, "good")
    await page.context.set_offline(True)
    await expect(page.locator("#network")).to_have_text("No network: list of 0 min ago, 29 min left")
    await type_code(page, ticket.code)
    assert "Admitted" in await told(page, "good")
    for used in (ticket, before):
        await type_code(page, used.code)
        assert "Already used" in await told(page, "twice")
    await type_code(page, NEVER_MADE)
    assert "This code is not on the list." in await told(page, "bad")
    # The page itself is there, and remembers.
    await page.reload()
    await ready(page)
    await type_code(page, ticket.code)
    assert "Already used" in await told(page, "twice")
    assert await hall.results(ticket) == []
    await page.context.set_offline(False)
    await expect(page.locator("#queue")).to_have_text("Everything was sent.", timeout=20_000)
    assert await hall.results(ticket) == ["admitted"]
    await expect(page.locator("#network")).to_have_text("List 0 min old, 29 min without a network")
    await type_code(page, ticket.code)
    assert "Already used" in await told(page, "twice")
    await expected(visit, CUT)


STOPPED = """
(minutes) => new Promise((stopped, failed) => {
  const asked = indexedDB.open("door");
  asked.onerror = failed;
  asked.onsuccess = () => {
    asked.result.transaction("leases").objectStore("leases").getAll().onsuccess = ({ target: { result: [lease] } }) => {
      const at = lease.listedAt - lease.offset + minutes * 60_000 + 1000;
      const since = performance.now();
      Date.now = () => at;
      performance.now = () => since;
      asked.result.close();
      stopped();
    };
  };
})
"""


async def stop_the_clock(page: Page, after_minutes: int) -> None:
    """So long after the list was made, and a second; however slow the machine is that looks."""
    await page.evaluate(STOPPED, after_minutes)


async def box_of(page: Page, selector: str) -> Any:
    box = await page.locator(selector).bounding_box()
    assert box is not None, f"{selector} is not shown"
    return box


@pytest.mark.covers("ENT-030")
async def test_how_old_the_list_is_and_how_long_it_lasts_is_always_there_to_read(
    visit: Visits, hall: Hall, badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    line = page.locator("#network")
    assert await line.is_hidden(), "nobody keeps a list"
    await keep_a_list(page)
    scale = await Scale.under(page)
    await page.goto(hall.door)
    await ready(page)
    await expect(line).to_have_text("List 0 min old, 29 min without a network")
    assert [each for each in await scale.complaints() if "shift" in each] == []
    await stop_the_clock(page, after_minutes=3)
    await type_code(page, NEVER_MADE)
    await told(page, "bad")
    await expect(line).to_have_text("List 3 min old, 26 min without a network")
    for offline in (False, True):
        await page.context.set_offline(offline)
        await expect(line).to_contain_text("No network: list" if offline else "List 3 min old")
        own, stage, tools = [await box_of(page, each) for each in ("#network", ".stage", ".thumb")]
        assert (own["x"], own["width"]) == (0, 360)
        assert own["height"] < 40, "one line"
        assert own["y"] + own["height"] <= stage["y"]
        assert stage["y"] + stage["height"] <= tools["y"]
        for name in ("Code", "Name", "Offline"):
            await page.get_by_role("button", name=name, exact=True).click()
            panel = await box_of(page, ".panel.open")
            assert own["y"] + own["height"] <= panel["y"], f"the panel {name} covers it"
    await expected(visit, CUT)


@pytest.mark.covers("ENT-031")
async def test_what_went_wrong_meanwhile_is_shown_when_the_network_is_back(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket = tickets.pop()
    await keep_a_list(page)
    await page.context.set_offline(True)
    await type_code(page, ticket.code)
    await told(page, "good")
    elsewhere = {"qrPayload": ticket.code, "eventId": hall.event, "idempotencyKey": f"south-{ticket.entitlement}"}
    await hall.ask(OWNER, "POST", "/api/internal/checkin/consume", elsewhere, **{"x-orya-org-id": hall.organization})
    await page.context.set_offline(False)
    await expect(page.locator("#incidents")).to_contain_text("Somebody had come in on it before.", timeout=20_000)
    assert await hall.results(ticket) == ["duplicate", "admitted"]
    await expected(visit, CUT)


@pytest.mark.covers("ENT-030")
async def test_a_list_that_is_too_old_lets_nobody_in(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket = tickets.pop()
    await keep_a_list(page)
    await page.context.set_offline(True)
    half_an_hour = "(() => { const now = Date.now.bind(Date); Date.now = () => now() + 31 * 60000; })()"
    await page.evaluate(half_an_hour)
    await type_code(page, ticket.code)
    assert "the list is too old" in await told(page, "bad")
    # Nor does turning the clock back help.
    await page.evaluate("(() => { const now = Date.now.bind(Date); Date.now = () => now() - 62 * 60000; })()")
    await type_code(page, ticket.code)
    assert "Refused" in await told(page, "bad")
    assert await hall.results(ticket) == []
    tickets.append(ticket)
    await expected(visit, CUT)


async def test_without_a_list_and_a_network_nobody_is_checked(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    await page.context.set_offline(True)
    await type_code(page, tickets[-1].code)
    assert "no list on this device" in await told(page, "bad")
    await expected(visit, CUT)


@pytest.mark.covers("ENT-030")
async def test_a_list_that_is_refused_to_a_device_lets_nobody_in(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    await keep_a_list(page)
    closed = {"errorCode": "SCANNER_CLOSED", "message": "Closed.", "retryable": False}
    await page.route("**/codes*", lambda route: route.fulfill(status=403, json=closed))
    async with page.expect_response("**/codes*"):
        await page.evaluate("dispatchEvent(new Event('online'))")
    await page.wait_for_timeout(300)
    await page.context.set_offline(True)
    await type_code(page, tickets[-1].code)
    assert "the list is too old" in await told(page, "bad")
    assert await hall.results(tickets[-1]) == []
    await expected(visit, "403", "ERR_INTERNET_DISCONNECTED")


# -- No answer


async def test_half_an_answer_is_none_and_is_asked_for_again_under_the_same_key(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket = tickets.pop()

    async def cut_off(route: Route) -> None:
        await route.fetch()
        await route.fulfill(status=200, content_type="application/json", body='{"allow":')

    await page.route("**/checkin/consume", cut_off)
    await type_code(page, ticket.code)
    assert "no list on this device" in await told(page, "bad")
    await page.unroute("**/checkin/consume")
    await type_code(page, ticket.code)
    assert "Admitted" in await told(page, "good")
    assert await hall.results(ticket) == ["admitted"]


@pytest.mark.covers("ENT-022")
async def test_an_outcome_that_nobody_knows_is_asked_for_again_under_the_same_key(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket = tickets.pop()
    unknown = {"errorCode": "OUTCOME_UNKNOWN", "message": "We cannot tell yet.", "retryable": True}

    async def done_and_unknown(route: Route) -> None:
        await route.fetch()
        await route.fulfill(status=503, json=unknown)

    await page.route("**/checkin/consume", done_and_unknown)
    await type_code(page, ticket.code)
    assert "no list on this device" in await told(page, "bad")
    await page.unroute("**/checkin/consume")
    await type_code(page, ticket.code)
    assert "Admitted" in await told(page, "good")
    assert await hall.results(ticket) == ["admitted"]
    await expected(visit, "503")


@pytest.mark.covers("ENT-030", "ENT-031")
async def test_an_entry_whose_answer_was_lost_is_one_entry_and_no_incident(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket = tickets.pop()
    await keep_a_list(page)

    async def lost(route: Route) -> None:
        await route.fetch()
        await route.abort()

    await page.route("**/checkin/consume", lost)
    await type_code(page, ticket.code)
    assert "Admitted" in await told(page, "good")
    await page.unroute("**/checkin/consume")
    # Who shows the same code next is not let in by the answer that was lost.
    await type_code(page, ticket.code)
    assert "Already used" in await told(page, "twice")
    await page.get_by_role("button", name="Offline").click()
    await expect(page.locator("#queue")).to_have_text("Everything was sent.")
    await expect(page.locator("#incidents")).to_have_text("1 sent, 0 to look at.")
    assert await hall.results(ticket) == ["duplicate", "admitted"]
    await expected(visit, "ERR_FAILED")


# -- Several doors, several pages


@pytest.mark.covers("ENT-031")
async def test_what_was_let_in_at_one_door_is_sent_from_any_other(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    first, second = tickets.pop(), tickets.pop()
    other = await a_hall(hall.address, "Noite ao lado")
    for ticket, elsewhere in ((first, other.door), (second, f"/org/{hall.organization}/checkin")):
        await page.goto(hall.door)
        await ready(page)
        await keep_a_list(page)
        await page.context.set_offline(True)
        await type_code(page, ticket.code)
        await told(page, "good")
        await page.goto("about:blank")
        await page.context.set_offline(False)
        async with page.expect_response("**/sync") as synced:
            await page.goto(elsewhere)
        assert len((await (await synced.value).json())["recorded"]) == 1
        assert await hall.results(ticket) == ["admitted"]
    await expected(visit, CUT)


@pytest.mark.covers("ENT-030")
async def test_two_pages_of_one_telephone_let_in_once(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket, later = tickets.pop(), tickets.pop()
    await keep_a_list(page)
    twin = await page.context.new_page()
    await twin.goto(hall.door)
    await ready(twin)
    await page.context.set_offline(True)
    await type_code(page, ticket.code)
    assert "Admitted" in await told(page, "good")
    await type_code(twin, ticket.code)
    assert "Already used" in await told(twin, "twice")
    # Nor by a list that the one fetched and the other has not seen.
    await page.context.set_offline(False)
    await type_code(page, later.code)
    await told(page, "good")
    async with page.expect_response("**/codes*"):
        await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(page.locator("#queue")).to_have_text("Everything was sent.", timeout=20_000)
    await page.context.set_offline(True)
    await type_code(twin, later.code)
    assert "Already used" in await told(twin, "twice")
    assert sorted(await hall.results(ticket)) == ["admitted"]
    await expected(visit, CUT)


@pytest.mark.covers("ENT-031")
async def test_the_server_is_told_of_an_entry_before_it_is_asked_about_its_ticket(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket = tickets.pop()
    await keep_a_list(page)
    await page.route("**/api/**", lambda route: route.abort())
    await type_code(page, ticket.code)
    await told(page, "good")
    await page.unroute("**/api/**")
    # The network is back, and the browser did not say so.
    await type_code(page, ticket.code)
    assert "Already used" in await told(page, "twice")
    assert await hall.results(ticket) == ["duplicate", "admitted"]
    await expected(visit, "ERR_FAILED")


# -- What the telephone keeps


@pytest.mark.covers("ENT-030")
async def test_the_installed_door_starts_without_a_network(visit: Visits, hall: Hall, badge: list[Any]):
    page = await stand_at(visit, hall, badge)
    await keep_a_list(page)
    manifest = await page.locator("link[rel=manifest]").get_attribute("href")
    assert manifest is not None
    starts_at = (await (await page.request.get(manifest)).json())["start_url"]
    await page.goto("about:blank")
    await page.context.set_offline(True)
    # With one door on the device it is that one.
    await page.goto(starts_at)
    await ready(page)
    assert page.url.endswith(hall.door)
    await page.context.set_offline(False)
    other = await a_hall(hall.address, "Noite <ao> lado")
    await page.goto(other.door)
    await ready(page)
    await keep_a_list(page)
    await page.context.set_offline(True)
    await page.get_by_role("link", name="Back").click()
    await page.get_by_role("link", name="Noite <ao> lado").click()
    await ready(page)
    assert page.url.endswith(other.door)
    await expected(visit, CUT)


@pytest.mark.covers("ENT-030")
@pytest.mark.parametrize("mood", [Mood.DOWN, Mood.HANGING], ids=["down", "hanging"])
async def test_a_kept_door_opens_while_the_house_does_not_answer(
    chromium: Browser, running: Desk, hall: Hall, tickets: list[Ticket], badge: list[Any], mood: Mood
):
    async with a_gateway(running.port) as gateway:
        visit = Visits(chromium, gateway.address)
        page = await stand_at(visit, hall, [{**each, "url": gateway.address} for each in badge])
        await keep_a_list(page)
        gateway.mood = mood
        await page.goto(hall.door, timeout=15_000)
        await ready(page)
        await type_code(page, tickets.pop().code)
        assert "Admitted" in await told(page, "good")
        await expect(page.locator("#network")).to_have_text("No network: list of 0 min ago, 29 min left")
        await visit.close()


@pytest.mark.covers("ENT-030")
async def test_whoever_signs_out_leaves_no_door_open(visit: Visits, hall: Hall, tickets: list[Ticket]):
    page = await stand_at(visit, hall, await hall.cookies_of(STEWARD))
    ticket = tickets.pop()
    device = await page.evaluate("localStorage.getItem('device')")
    await keep_a_list(page)
    await page.context.set_offline(True)
    await type_code(page, ticket.code)
    await told(page, "good")
    await page.goto("about:blank")
    await page.context.set_offline(False)
    await page.route("**/sync", lambda route: route.abort())
    warnings: list[str] = []

    async def answer(dialog: Dialog) -> None:
        warnings.append(dialog.message)
        await (dialog.accept() if len(warnings) > 1 else dialog.dismiss())

    page.on("dialog", answer)
    await page.goto("/account")
    leave = page.get_by_role("button", name="Sign out here")
    async with page.expect_event("dialog"):
        await leave.click()
    assert warnings == ["1 were let in on this device and are not sent yet. Sign out all the same?"]
    assert page.url.endswith("/account")
    await leave.click()
    await page.wait_for_url("**/")
    leases = f"/api/org/{hall.organization}/checkin/events/{hall.event}/leases"
    given = (await hall.ask(OWNER, "GET", leases))["leases"]
    assert [bool(each["revokedAt"]) for each in given if each["deviceId"] == device] == [True]
    await page.context.set_offline(True)
    with pytest.raises(Error, match="net::ERR_"):
        await page.goto(hall.door)
    await page.context.set_offline(False)
    # What was let in is not lost: whoever signs in next sends it.
    await page.unroute("**/sync")
    await page.context.add_cookies(await hall.cookies_of(STEWARD))
    async with page.expect_response("**/sync"):
        await page.goto(hall.door)
    assert await hall.results(ticket) == ["admitted"]
    await expected(visit, CUT, "ERR_FAILED")


AS_IT_WAS = """
async (digest) => {
  const told = (asked) => new Promise((done, failed) => { asked.onsuccess = () => done(asked.result); asked.onerror = failed; });
  const now = await told(indexedDB.open("door"));
  const [lease] = await told(now.transaction("leases").objectStore("leases").getAll());
  const [list] = await told(now.transaction("lists").objectStore("lists").getAll());
  now.close();
  await told(indexedDB.deleteDatabase("door"));
  const asked = indexedDB.open("door", 1);
  asked.onupgradeneeded = () => {
    asked.result.createObjectStore("lists", { keyPath: "event" });
    asked.result.createObjectStore("entries", { keyPath: "key" }).createIndex("event", "event");
  };
  const before = await told(asked);
  const { organization, ...rest } = lease;
  const { leaseId } = lease.lease;
  const writing = before.transaction(["lists", "entries"], "readwrite");
  writing.objectStore("lists").put({ ...list, ...rest, used: new Map() });
  await told(writing.objectStore("entries").put({ key: "of-before", event: lease.event, lease: leaseId, digest, at: new Date().toISOString(), label: "x" }));
  globalThis.before = before;
}
"""
"""The store of a telephone that has had our pages since before it changed, with an entry that was never sent."""


@pytest.mark.covers("ENT-031")
async def test_a_telephone_from_before_the_store_changed_loses_nothing(
    visit: Visits, hall: Hall, tickets: list[Ticket], badge: list[Any]
):
    page = await stand_at(visit, hall, badge)
    ticket = tickets.pop()
    await keep_a_list(page)
    await page.goto("/legal/terms")
    await page.evaluate(AS_IT_WAS, digest_of(ticket.code).hex())
    page, old = await page.context.new_page(), page
    await page.route("**/sync", lambda route: route.abort())
    await page.goto(hall.door)
    await ready(page)
    # While a page from before is open nobody knows, and nobody says that they do.
    await expect(page.locator("#queue")).to_contain_text("cannot be read")
    await page.goto(f"/org/{hall.organization}/checkin")
    await expect(page.locator("[data-unsent]")).to_contain_text("cannot be read")
    await old.close()
    await page.goto(hall.door)
    await ready(page)
    await expect(page.locator("#queue")).to_contain_text("1 to be sent")
    await page.unroute("**/sync")
    await type_code(page, ticket.code)
    assert "Already used" in await told(page, "twice")
    assert await hall.results(ticket) == ["duplicate", "admitted"]
    await expect(page.locator("#network")).to_have_text("List 0 min old, 29 min without a network")
    await expected(visit, "ERR_FAILED")
