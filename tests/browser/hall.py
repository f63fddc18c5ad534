"""A hall whose doors are open: an evening that is on now, guests with tickets to it, and staff.

hall = await a_hall(address, evening="Noite na porta")
ticket, *others = await hall.tickets_of("viewer@bravo.example", 10)
"""

import asyncio
import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from typing import Any

import httpx

from admitone.entrypoints.demo import PASSWORD

OWNER, STEWARD, VIEWER = "admin@aurora.example", "frontdesk@aurora.example", "viewer@aurora.example"
NUMBERS = count(int(time.time()))
ADDRESSES = cycle(range(1, 255))


@dataclass
class Ticket:
    entitlement: str
    code: str


@dataclass
class Hall:
    address: str
    organization: str = ""
    event: str = ""
    kind: str = ""
    sessions: dict[str, str] = field(default_factory=dict)
    """Their ids, by what they are called."""
    _tokens: dict[str, str] = field(default_factory=dict)

    @property
    def door(self) -> str:
        return f"/org/{self.organization}/checkin/{self.event}/door"

    async def cookies_of(self, who: str) -> list[Any]:
        """For a browser in which they signed in, without the form: whoever signs in from one address too often waits."""
        async with self._client() as client:
            form = {"email": who, "password": PASSWORD, "next": "/"}
            entered = await client.post("/sign-in", data=form, headers={"sec-fetch-site": "same-origin"})
            assert entered.status_code == 303, entered.text
            return [{"name": each.name, "value": each.value or "", "url": self.address} for each in client.cookies.jar]

    def _client(self) -> httpx.AsyncClient:
        """From an address of its own, for the same reason."""
        transport = httpx.AsyncHTTPTransport(local_address=f"127.{next(ADDRESSES)}.{random.randrange(1, 255)}.7")
        return httpx.AsyncClient(base_url=self.address, timeout=30, transport=transport)

    async def ask(self, who: str, way: str, path: str, body: Any = None, **more: str) -> Any:
        async with self._client() as client:
            if who not in self._tokens:
                signed_in = await client.post("/api/auth/login", json={"email": who, "password": PASSWORD})
                self._tokens[who] = signed_in.json()["accessToken"]
            headers = {"authorization": f"Bearer {self._tokens[who]}", **more}
            answer = await client.request(way, path, json=body, headers=headers)
            assert answer.is_success, answer.text
            return answer.json() if answer.content else None

    async def tickets_of(self, guest: str, quantity: int) -> list[Ticket]:
        """Tickets that cost nothing, with the codes that their wallet shows; in one order, as orders are limited."""
        lines = [{"ticketTypeId": self.kind, "quantity": quantity}]
        wanted = {"organizationId": self.organization, "eventId": self.event, "lines": lines}
        bought = await self.ask(guest, "POST", "/api/orders/buy", {**wanted, "idempotencyKey": f"door-{next(NUMBERS)}"})
        assert bought["refusal"] is None, bought["refusal"]
        rights = await self._handed_over(guest, bought["order"]["orderId"], quantity)
        shown = [await self.ask(guest, "GET", f"/api/me/entitlements/{own}/code") for own in rights]
        return [Ticket(own, code["payload"]) for own, code in zip(rights, shown, strict=True)]

    async def _handed_over(self, guest: str, order: str, quantity: int) -> list[str]:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            seen = await self.ask(guest, "GET", f"/api/me/orders/{order}")
            rights = [str(right["entitlementId"]) for ticket in seen["tickets"] for right in ticket["rights"]]
            if len(rights) == quantity:
                return rights
            await asyncio.sleep(0.2)
        raise AssertionError("the tickets were not handed over in time")

    async def log(self) -> list[dict[str, Any]]:
        """What the server wrote down, the newest first."""
        path = f"/api/org/{self.organization}/checkin/events/{self.event}/log"
        return (await self.ask(OWNER, "GET", path))["items"]

    async def results(self, ticket: Ticket) -> list[str]:
        return [each["result"] for each in await self.log() if each["entitlementId"] == ticket.entitlement]


async def a_hall(address: str, evening: str = "Noite na porta", sessions: tuple[str, ...] = ()) -> Hall:
    hall = Hall(address)
    organizations = (await hall.ask(OWNER, "GET", "/api/organizations"))["items"]
    hall.organization = organizations[0]["id"]
    begins = datetime.now(UTC) + timedelta(hours=1)
    times = {"startsAt": begins.isoformat(), "endsAt": (begins + timedelta(hours=4)).isoformat()}
    draft = {
        "about": {"title": evening},
        "schedule": {
            **times,
            "timeZone": "Europe/Lisbon",
            "sessions": [{"label": label, **times} for label in sessions],
        },
        "currency": "EUR",
        "accessPolicy": {"checkin": {"methods": ["QR_TICKET", "MANUAL"]}},
        "idempotencyKey": f"evening-{next(NUMBERS)}",
    }
    events = f"/api/org/{hall.organization}/events"
    made = await hall.ask(OWNER, "POST", events, draft)
    hall.event = made["eventId"]
    hall.sessions = {each["label"]: each["sessionId"] for each in made["sessions"]}
    first = list(hall.sessions.values())[:1]
    guest_list = {
        "name": "Guest list",
        "sessions": first,
        "priceMinor": 0,
        "allowZeroPrice": True,
        "freePerPerson": 50,
        "supply": {"capacity": 200},
        "idempotencyKey": f"list-{next(NUMBERS)}",
    }
    offered = await hall.ask(OWNER, "POST", f"{events}/{hall.event}/ticket-types", guest_list)
    hall.kind = offered["ticketTypes"][0]["ticketTypeId"]
    seen = await hall.ask(OWNER, "GET", f"{events}/{hall.event}")
    await hall.ask(OWNER, "POST", f"{events}/{hall.event}/publish", {"version": seen["version"]})
    return hall
