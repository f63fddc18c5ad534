"""Every page that somebody can come to by links, looked at on a telephone and at a desk, in the light and in the dark.

Whoever adds a page that no link leads to says here which test looks at it; whoever adds another has it looked at. The
same walk is made through an organisation all of whose words are an attack, and too long for a line: nothing of it runs,
and no page grows wider than a telephone.
"""

import importlib
import inspect
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import asyncpg
import httpx
import pytest
from playwright.async_api import Page

from admitone.entrypoints.demo import PASSWORD
from admitone.entrypoints.modules import MODULES
from admitone.kernel.contracts import Contract, Writes
from admitone.kernel.contracts.refusals import MethodNotAllowed, RouteNotFound
from admitone.kernel.contracts.routing import Router
from admitone.kernel.embedded import SUPERUSER, find_server
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from tests.browser.budget import Scale
from tests.browser.conftest import FESTIVAL, Visits
from tests.browser.examining import complaints_about
from tests.browser.scenes import examined
from tests.browser.test_signing_in import sign_in
from tests.desk import Desk, until

PAGES = {
    each.id: each
    for module in MODULES
    for each in module.contracts
    if each.writes is Writes.PAGE and each.method == "GET" and each.owner in ("web", "proof")
}
ROUTER = Router(PAGES.values())
STRANGER = (
    "/",
    "/sign-in",
    "/sign-up",
    "/sign-in/code",
    "/forgotten",
    "/auth/link",
    "/auth/reset",
    "/invitations/accept",
    "/unsent?lost=yes",
)
BY_A_SECRET = {
    "WEB.ACCOUNT.CODE": "the number of a code that was sent",
    "WEB.ACCOUNT.EMAIL.CODE": "the number of a code that was sent",
    "WEB.ACCOUNT.FORGOTTEN.SENT": "what a form leads to",
}
BY_A_DEED = {
    "WEB.PAY.GUEST": "test_checkout.test_a_guest_chooses_pays_and_is_written_a_link",
    "WEB.PAY.GUEST.CODE": "test_checkout.test_a_guest_chooses_pays_and_is_written_a_link",
    "WEB.PAY.ORDER": "test_checkout.test_a_guest_chooses_pays_and_is_written_a_link",
    "WEB.PAY.PAYMENT": "test_checkout.test_a_guest_chooses_pays_and_is_written_a_link",
    "WEB.WALLET.CODE": "test_wallet.test_the_large_code_is_black_on_white_also_at_night_and_goes_on_without_a_network",
    "WEB.DOOR.OPEN": "test_door.test_a_scanner_that_closed_itself_is_opened_again_from_its_own_message",
    "WEB.ORG.POOL": "test_office.test_a_shared_pool_is_looked_at",
    "WEB.ORG.FINANCE.DISPUTE": "test_office.test_a_dispute_is_looked_at",
    "WEB.ORG.REFUND": "test_office.test_one_ticket_is_given_back_with_a_dry_run_and_a_fresh_proof",
    "WEB.OPS.LETTER": "test_office.test_a_dead_letter_is_run_again",
}
"""The test that comes there, and looks at it."""
OFF = {"WEB.ORG.SERVICES", "WEB.ORG.FOLLOWERS", "WEB.ORG.ANALYTICS"}
"""Addresses of what is not built yet, which show a refusal or lead elsewhere, and nothing of their own."""


@pytest.mark.parametrize("name", sorted(set(BY_A_DEED.values())))
def test_what_no_link_leads_to_is_looked_at_by_the_test_that_comes_there(name: str):
    module, _, function = name.partition(".")
    test = getattr(importlib.import_module(f"tests.browser.{module}"), function, None)
    assert test is not None, f"there is no {name}"
    assert "eyes.look()" in inspect.getsource(test), f"{name} comes there and does not look"


def moved() -> set[str]:
    """Old addresses, which lead to new ones."""
    return {each.id for each in PAGES.values() if each.path.startswith("/organizacao")}


def contract_at(path: str) -> Contract | None:
    try:
        return ROUTER.find("GET", path.partition("?")[0].partition("#")[0])[0]
    except (RouteNotFound, MethodNotAllowed):
        return None


def tab_of(path: str) -> str:
    """Tabs are pages of their own."""
    return dict(parse_qsl(urlsplit(path).query)).get("tab", "")


def of_the_festival(address: str) -> dict[str, tuple[str, ...]]:
    """Where a form leads, or a script, instead of a link."""
    items = httpx.get(f"{address}/api/events", timeout=30).json()["items"]
    festival = next(each for each in items if each["title"] == FESTIVAL)
    event, console = festival["eventId"], f"/org/{festival['organizationId']}"
    door = f"{console}/checkin/{event}"
    return {
        "a stranger": (f"/e/{event}/tickets",),
        "an organiser": (f"{console}/events/{event}", f"{door}/people", f"{door}/confirm"),
    }


class Walk:
    """Somebody who follows every link that leads to a page not seen before."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.seen: dict[tuple[str, str], str] = {}

    async def through(self, starts: Iterable[str]) -> AsyncIterator[str]:
        """Each page once, by the contract that shows it."""
        ahead = list(starts)
        while ahead:
            path = ahead.pop(0)
            contract = contract_at(path)
            if contract is None or contract.id in moved() or (contract.id, tab_of(path)) in self.seen:
                continue
            self.seen[contract.id, tab_of(path)] = path
            answer = await self.page.goto(path)
            assert answer is not None
            assert answer.status == 200, f"{path} answered {answer.status}"
            yield path
            ahead += await self._links()

    async def _links(self) -> list[str]:
        links: list[str] = await self.page.eval_on_selector_all("a[href]", "all => all.map(each => each.href)")
        return [link.removeprefix(self.base) for link in links if link.startswith(self.base)]


LANGUAGES = {"a stranger": "en", "a buyer": "pt-BR", "an organiser": "pt-PT", "the platform": "en"}
PEOPLE = {
    "a stranger": (None, STRANGER),
    "a buyer": ("buyer@admitone.example", ("/wallet", "/wallet?tab=history", "/orders", "/account", "/step-up")),
    "an organiser": ("owner@aurora.example", ("/org",)),
    "the platform": ("admin@admitone.example", ("/ops", "/proof", "/ops/runbooks/jobs.dead")),
}


@pytest.mark.covers("SRC-020")
async def test_every_page_is_sound_and_small(visit: Visits):
    wrong: list[str] = []
    seen: set[str] = set()
    for who in PEOPLE:
        async for name, path, page, scale in somebody_walks(visit, who):
            seen.add(name)
            wrong += [f"{path} {complaint}" for complaint in (*await scale.complaints(), *await examined(page))]
    assert wrong == []
    missing = sorted(set(PAGES) - seen - set(BY_A_SECRET) - set(BY_A_DEED) - OFF - moved())
    assert not missing, missing


async def somebody_walks(visit: Visits, who: str) -> AsyncIterator[tuple[str, str, Page, Scale]]:
    email, starts = PEOPLE[who]
    page = await visit("/sign-in?next=%2Faccount" if email else "/", locale="en-GB")
    if email:
        await sign_in(page, email)
        await page.wait_for_url("**/account")
    await page.context.add_cookies([{"name": "language", "value": LANGUAGES[who], "url": visit.address}])
    walk, scale = Walk(page, visit.address), await Scale.under(page)
    async for path in walk.through((*starts, *of_the_festival(visit.address).get(who, ()))):
        contract = contract_at(path)
        assert contract is not None
        yield contract.id, path, page, scale


# -- The same with words that attack

EVIL = "\"><script>window.hurt=1</script><img src=x onerror=window.hurt=2>'{{7*7}}" + "W" * 40


A_DEAD_LETTER = """
    INSERT INTO kernel.dead_letter (id, organization_id, kind, lane, priority, attempts, crashes, key, payload,
                                    causation_id, correlation_id, created_at, died_at, reason, error)
    VALUES ($1, $2, 'kernel.enforce_retention', 'work', 5, 3, 0, $3, '{}', $1, $1, now(), now(), 'RETRIES_EXHAUSTED',
            $4)
"""


@dataclass(frozen=True)
class Attacked:
    """Where the words of the attack stand, by who sees them there."""

    home: str
    addresses: dict[str, tuple[str, ...]]


class Attack:
    """An organisation, its event, a buyer, a scan and a dead letter, all of whose words are an attack."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._owner = self._token("owner@aurora.example")
        self._buyer = self._token("buyer@admitone.example")

    def lay_out(self, letter: str) -> Attacked:
        owner = self._owner
        found = {"displayName": EVIL[:100], "idempotencyKey": "attack", "modules": ["EVENTOS", "FINANCEIRO", "CRM"]}
        own = self._do("POST", "/api/organizations", owner, found)["id"]
        self._present(own)
        event, pool, kinds = self._put_on(own)
        self._do("PATCH", "/api/auth/me", self._buyer, {"displayName": EVIL[:100]})
        order = self._buy(own, event, kinds)
        self._scan(own, event)
        self._do(
            "POST",
            "/api/admin/outbox/replay",
            self._platform(),
            {"ids": [letter], "reason": EVIL, "reasonCode": "ATTACK"},
        )
        gate, console = quote(EVIL[:64]), f"/org/{own}"
        chosen = "&".join(f"ticketTypeId={each}&quantity=1" for each in kinds)
        addresses = {
            "a stranger": (f"/o/{own}", f"/e/{event}", f"/e/{event}/tickets", f"/e/{event}/tickets?{chosen}"),
            "a buyer": (f"/checkout/{own}/{order}", f"/orders/{order}", f"/orders/{order}/invoice"),
            "an organiser": (
                f"{console}/perfil",
                f"{console}/orders/{order}",
                f"{console}/orders/{order}/invoice",
                f"{console}/events/{event}",
                f"{console}/events/{event}/pools/{pool}",
                *(f"{console}/events/{event}/types/{kind}" for kind in kinds),
                *(f"{console}/checkin?event={event}&tab={tab}" for tab in ("logs", "sessoes")),
                f"{console}/checkin/{event}/door?gate={gate}",
                f"{console}/checkin/{event}/people?gate={gate}",
            ),
            "the platform": (f"/ops/dead-letters/{letter}", "/ops/dead-letters"),
        }
        return Attacked(console, addresses)

    def _present(self, own: str) -> None:
        """Its profile; a website and a telephone take no words."""
        faq = [{"question": EVIL[:160], "answer": EVIL}]
        layout = {"tagline": EVIL[:140], "about": EVIL, "faq": faq, "address": EVIL[:160]}
        self._do("PUT", f"/api/org/{own}/profile", self._owner, {"layout": layout, "version": 0})

    def _put_on(self, own: str) -> tuple[str, str, list[str]]:
        """The event, its shared pool, and what is on sale: places, and seats with labels."""
        venue = {"name": EVIL[:100], "address": EVIL[:100], "city": EVIL[:60], "country": "PT"}
        begins, ends = "2027-05-01T20:00:00Z", "2027-05-01T23:00:00Z"
        draft = {
            "about": {"title": EVIL[:100], "description": EVIL, "venue": venue},
            "schedule": {"startsAt": begins, "endsAt": ends, "timeZone": "Europe/Lisbon"},
            "currency": "EUR",
            "idempotencyKey": "attack",
        }
        event = self._do("POST", f"/api/org/{own}/events", self._owner, draft)["eventId"]
        base = f"/api/org/{own}/events/{event}"
        shared = {"label": EVIL[:100], "capacity": 40, "idempotencyKey": "attack-pool"}
        pool = self._do("POST", f"{base}/pools", self._owner, shared)["sharedPools"][0]["pool"]["poolId"]
        seats = [f"{number}{EVIL}"[:64] for number in range(3)]
        for name, supply in (("places", {"capacity": 50}), ("seats", {"seats": seats})):
            kind = {"name": f"{name}{EVIL}"[:80], "description": EVIL, "priceMinor": 0, "allowZeroPrice": True}
            offered = {**kind, "supply": supply, "sharedPools": [pool], "idempotencyKey": f"attack-{name}"}
            self._do("POST", f"{base}/ticket-types", self._owner, offered)
        shown = self._do("GET", base, self._owner)
        self._do("POST", f"{base}/publish", self._owner, {"version": shown["version"]})
        return event, pool, [each["ticketTypeId"] for each in shown["ticketTypes"]]

    def _buy(self, own: str, event: str, kinds: list[str]) -> str:
        lines = [{"ticketTypeId": kind, "quantity": 1} for kind in kinds]
        wanted = {"organizationId": own, "eventId": event, "idempotencyKey": "attack", "lines": lines}
        bought = self._do("POST", "/api/orders/buy", self._buyer, {**wanted, "billing": {"name": EVIL}})
        order = bought["order"]["orderId"]
        until(lambda: len(self._do("GET", f"/api/me/orders/{order}", self._buyer)["tickets"]) == len(kinds))
        return order

    def _scan(self, own: str, event: str) -> None:
        scan = {"qrPayload": "A1:AAAA", "eventId": event, "idempotencyKey": "attack-scan", "gate": EVIL[:64]}
        self._do("POST", "/api/internal/checkin/consume", self._owner, scan, **{"x-orya-org-id": own})

    def _platform(self) -> str:
        return self._token("admin@admitone.example")

    def _token(self, email: str) -> str:
        answer = self._client.post("/api/auth/login", json={"email": email, "password": PASSWORD})
        return answer.json()["accessToken"]

    def _do(
        self, method: str, path: str, token: str, body: dict[str, object] | None = None, **headers: str
    ) -> dict[str, Any]:
        known = {"authorization": f"Bearer {token}", **headers}
        answer = self._client.request(method, path, json=body, headers=known)
        assert answer.is_success, f"{path}: {answer.text}"
        return answer.json() if answer.content else {}


@pytest.fixture(scope="module")
async def dead(running: Desk) -> str:
    """One of two letters that died of words that attack; the other stays in the list."""
    server = find_server(running.home)
    assert server is not None
    letters = [uuid7(), uuid7()]
    connection = await asyncpg.connect(server.url(SUPERUSER))
    try:
        for own in letters:
            await connection.execute(A_DEAD_LETTER, own, PLATFORM_ORGANIZATION.uuid, f"attack:{own}", EVIL)
    finally:
        await connection.close()
    return f"dead_{letters[0].hex}"


@pytest.fixture(scope="module")
def attacked(running: Desk, dead: str) -> Iterator[Attacked]:
    with httpx.Client(base_url=f"http://127.0.0.1:{running.port}", timeout=30) as client:
        yield Attack(client).lay_out(dead)


@pytest.mark.parametrize("who", PEOPLE)
async def test_words_that_attack_are_words_on_every_page(visit: Visits, attacked: Attacked, who: str):
    email, starts = PEOPLE[who]
    page = await visit("/sign-in?next=%2Faccount" if email else "/", locale="en-GB")
    if email:
        await sign_in(page, email)
        await page.wait_for_url("**/account")
    await page.set_viewport_size({"width": 360, "height": 740})
    hurt: list[str] = []
    told: set[str] = set()
    wide: list[str] = []
    aimed_at = attacked.addresses[who]
    async for path in _all_of(page, visit.address, aimed_at, (*starts, *_home(attacked, who))):
        if await page.evaluate("window.hurt !== undefined || document.querySelector('img[src=x]') !== null"):
            hurt.append(path)
        if "window.hurt=1" in await page.content():
            told.add(path)
        wide += [f"{path} {each}" for each in await complaints_about(page) if "wider than the screen" in each]
    assert hurt == []
    assert wide == []
    assert [path for path in aimed_at if path not in told] == [], "nobody was shown the words at all"


def _home(attacked: Attacked, who: str) -> tuple[str, ...]:
    return (attacked.home,) if who == "an organiser" else ()


async def _all_of(page: Page, base: str, aimed_at: Iterable[str], starts: Iterable[str]) -> AsyncIterator[str]:
    """What the attack is aimed at, each of them, and then whatever links lead to."""
    for path in aimed_at:
        answer = await page.goto(path)
        assert answer is not None
        assert answer.status == 200, f"{path} answered {answer.status}"
        yield path
    async for path in Walk(page, base).through(starts):
        yield path
