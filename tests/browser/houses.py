"""The houses of the demonstration, as somebody who buys there needs them: what they sell, and that they take payments.

house = a_house(running, "aurora")          Clube Aurora, in euros; "bravo" is Sala Bravo, in reais
page = await visit(house.tickets(Standing=2))
"""

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import httpx

from admitone.entrypoints.demo import PASSWORD
from tests.desk import Desk, answers, until

EVENING = "Noite de Verão"
CURRENCIES = {"aurora": "EUR", "bravo": "BRL"}
ON_SALE = ({"name": "Standing", "priceMinor": 2500}, {"name": "Guest list", "priceMinor": 0, "allowZeroPrice": True})


@dataclass(frozen=True)
class House:
    address: str
    sandbox: str
    organization: str
    event: str
    types: dict[str, str]

    def tickets(self, **wanted: int) -> str:
        """Where they are chosen; `Guest_list` is what cannot be written as a name."""
        pairs = [f"ticketTypeId={self.types[name.replace('_', ' ')]}&quantity={n}" for name, n in wanted.items()]
        return f"/e/{self.event}/tickets" + (f"?{'&'.join(pairs)}" if pairs else "")


def a_house(desk: Desk, name: str) -> House:
    return _house(f"http://127.0.0.1:{desk.port}", f"http://127.0.0.1:{desk.port + 1}", name)


@cache
def _house(address: str, sandbox: str, name: str) -> House:
    until(lambda: answers(f"{sandbox}/health"))
    with httpx.Client(base_url=address, timeout=30) as client:
        client.headers.update(sign_in(client, f"owner@{name}.example"))
        places = done(client.get("/api/organizations"))["items"]
        own = next(each["id"] for each in places if name.title() in each["displayName"])
        event = _put_on(client, own, CURRENCIES[name])
    types = {each["name"]: each["ticketTypeId"] for each in event["ticketTypes"]}
    return House(address, sandbox, own, event["eventId"], types)


def _put_on(client: httpx.Client, organization: str, currency: str) -> dict[str, Any]:
    """An evening of its own, so that nobody else's purchases matter."""
    path, key = f"/api/org/{organization}/events", str(time.time_ns())
    begins = datetime.now(UTC) + timedelta(days=20)
    schedule = {"startsAt": begins.isoformat(), "endsAt": (begins + timedelta(hours=4)).isoformat()}
    draft = {"about": {"title": EVENING}, "schedule": {**schedule, "timeZone": "Europe/Lisbon"}, "currency": currency}
    event = done(client.post(path, json={**draft, "idempotencyKey": key}))
    for kind in ON_SALE:
        offered = {**kind, "supply": {"capacity": 300}, "idempotencyKey": f"{key}-{kind['name']}"}
        event = done(client.post(f"{path}/{event['eventId']}/ticket-types", json=offered))
    shown = done(client.get(f"{path}/{event['eventId']}"))
    done(client.post(f"{path}/{event['eventId']}/publish", json={"version": shown["version"]}))
    return shown


def sign_in(client: httpx.Client, email: str) -> dict[str, str]:
    answer = client.post("/api/auth/login", json={"email": email, "password": PASSWORD})
    return {"authorization": f"Bearer {done(answer)['accessToken']}"}


def done(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def letter_to(client: httpx.Client, to: str) -> str:
    """The text of the newest letter to this address, as soon as there is one."""
    until(lambda: to in client.get("/dev/mailbox").text)
    listed = client.get("/dev/mailbox").text
    row = listed[listed.rindex("<tr", 0, listed.index(to)) if "<tr" in listed else 0 :]
    link = re.search(r"/dev/mailbox/[^\"']+", row)
    assert link, listed
    return client.get(link[0]).text
