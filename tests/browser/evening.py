"""An evening of the running Admit One: put on by the owner of the club, over the API, with tickets for nothing.

tonight = await an_evening(running)
ticket = await tonight.ticket_of(page)          whoever is signed in there has one a moment later
"""

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
from playwright.async_api import Page

from admitone.entrypoints.demo import PASSWORD
from admitone.kernel.embedded import SUPERUSER, find_server
from tests.desk import Desk

OWNER = "owner@aurora.example"
CODE = re.compile(r"\b\d{6}\b")
PATIENCE_SECONDS = 40


@dataclass(frozen=True)
class Evening:
    desk: Desk
    headers: dict[str, str]
    organization: str
    event: str
    ticket_type: str

    async def ticket_of(self, page: Page) -> str:
        """Bought by whoever is signed in on this page; its id when the worker has issued it."""
        line = {"ticketTypeId": self.ticket_type, "quantity": 1}
        wanted = {"organizationId": self.organization, "eventId": self.event, "lines": [line]}
        bought = await page.request.post(
            "/api/orders/buy", data=wanted | {"idempotencyKey": str(uuid4())}, headers=ours(page)
        )
        assert bought.ok, await bought.text()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                held = (await (await page.request.get("/api/me/wallet")).json())["items"]
                if held:
                    return str(held[0]["entitlementId"])
                await asyncio.sleep(0.2)

    async def scan(self, payload: str) -> dict[str, Any]:
        """At the door, by the owner."""
        said = {"qrPayload": payload, "eventId": self.event, "idempotencyKey": f"scan-{uuid4()}"}
        headers = self.headers | {"x-orya-org-id": self.organization}
        async with httpx.AsyncClient(base_url=address_of(self.desk), headers=headers) as client:
            verdict: dict[str, Any] = (await client.post("/api/internal/checkin/consume", json=said)).json()
        return verdict

    async def code_ends_soon(self) -> None:
        """As if the codes of this evening had been made almost a day ago."""
        server = find_server(self.desk.home)
        assert server
        connection = await asyncpg.connect(server.url(SUPERUSER))
        try:
            await connection.execute(
                "UPDATE entitlements.token SET valid_until = now() + interval '20 minutes' FROM entitlements.entitlement AS e"
                " WHERE e.id = token.entitlement_id AND e.event_id = $1",
                self.event,
            )
        finally:
            await connection.close()


async def an_evening(desk: Desk) -> Evening:
    begins = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    async with httpx.AsyncClient(base_url=address_of(desk), timeout=30) as client:
        tokens = fine(await client.post("/api/auth/login", json={"email": OWNER, "password": PASSWORD}))
        client.headers["authorization"] = f"Bearer {tokens['accessToken']}"
        places = fine(await client.get("/api/organizations"))["items"]
        place = next(each for each in places if each["displayName"] == "Clube Aurora")
        path = f"/api/org/{place['id']}/events"
        schedule = {
            "startsAt": begins.isoformat(),
            "endsAt": (begins + timedelta(hours=4)).isoformat(),
            "timeZone": "Europe/Lisbon",
        }
        about = {"title": "Tonight", "venue": {"name": "Coliseu", "city": "Porto", "country": "PT"}}
        draft = {"currency": "EUR", "idempotencyKey": str(uuid4()), "about": about, "schedule": schedule}
        event = fine(await client.post(path, json=draft))["eventId"]
        terms = {"name": "Guest list", "priceMinor": 0, "allowZeroPrice": True, "supply": {"capacity": 100}}
        offered = fine(await client.post(f"{path}/{event}/ticket-types", json=terms | {"idempotencyKey": str(uuid4())}))
        fine(await client.post(f"{path}/{event}/publish"))
        kind = offered["ticketTypes"][0]["ticketTypeId"]
        return Evening(desk, {"authorization": client.headers["authorization"]}, place["id"], event, kind)


def fine(answer: httpx.Response) -> dict[str, Any]:
    assert answer.is_success, answer.text
    told: dict[str, Any] = answer.json()
    return told


def address_of(desk: Desk) -> str:
    return f"http://127.0.0.1:{desk.port}"


def ours(page: Page) -> dict[str, str]:
    """As a page of ours sends something."""
    return {"origin": page.url.partition("/")[0] + "//" + page.url.split("/")[2]}


async def letter_to(page: Page, email: str) -> str:
    """The last letter to this address, as /dev/mailbox shows it."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            listed = await (await page.request.get("/dev/mailbox")).text()
            rows = [row for row in re.split(r"<(?:tr|li)\b", listed) if email in row]
            if rows and (found := re.search(r'href="(/dev/mailbox/[^"]+)"', rows[0])):
                return await (await page.request.get(found[1])).text()
            await asyncio.sleep(0.2)


async def code_to(page: Page, email: str) -> str:
    found = CODE.search(await letter_to(page, email))
    assert found
    return found[0]
