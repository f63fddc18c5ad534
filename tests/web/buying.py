"""Somebody who buys over HTTP, as a browser does it, and what is looked at afterwards.

buyer = Buyer(office)                          a guest; Buyer(office, person) is signed in
place = await buyer.order(event, (kind, 2))    where their order is
await buyer.pay(place)
"""

import re
from typing import Any

import httpx

from admitone.finance.sources.api import PaymentId
from admitone.verticals.events.model import OrderId
from tests.mails import an_address
from tests.people import Person
from tests.verticals.events.office import Office

OURS = {"sec-fetch-site": "same-origin"}
FREE = {"name": "Guest list", "priceMinor": 0, "allowZeroPrice": True}
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
Event, Kind = dict[str, Any], dict[str, Any]


class Buyer:
    """Somebody with a browser: their cookies, and perhaps a session."""

    def __init__(self, office: Office, person: Person | None = None) -> None:
        self.office = office
        self.person = person
        self.cookies: dict[str, str] = {}

    @property
    def headers(self) -> dict[str, str]:
        cookies = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        return (cookies if self.cookies else {}) | (self.person.headers if self.person else {})

    async def look(self, path: str) -> httpx.Response:
        return await self.office.stage.site.get(path, headers=self.headers)

    async def page(self, path: str) -> str:
        answer = await self.look(path)
        assert answer.status_code == 200, (answer.status_code, answer.headers.get("location"), answer.text[:500])
        return answer.text

    async def send(self, path: str, form: dict[str, Any] | None = None, **headers: str) -> httpx.Response:
        answer = await self.office.stage.site.post(
            path, data=form or {}, headers=self.headers | (headers or OURS) | ({} if form else {"content-length": "0"})
        )
        for cookie in answer.headers.get_list("set-cookie"):
            name, _, rest = cookie.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        return answer

    async def order(self, event: Event, *wanted: tuple[Kind, int], **typed: Any) -> str:
        """Where the order is that they placed."""
        answer = await self.send(chosen(event, *wanted), form_of(*wanted) | self._known_by() | typed)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def _known_by(self) -> dict[str, Any]:
        return {} if self.person else {"asGuest": "yes", "guestEmail": an_address()}

    async def pay(self, place: str, **typed: Any) -> httpx.Response:
        shown = dict(HIDDEN.findall((await self.page(place)).partition("/pay")[2]))
        return await self.send(f"{place}/pay", {"method": "CARD", **shown, **typed})


def chosen(event: Event, *wanted: tuple[Kind, int]) -> str:
    pairs = "&".join(f"ticketTypeId={kind['ticketTypeId']}&quantity={n}" for kind, n in wanted)
    return f"/e/{event['eventId']}/tickets" + (f"?{pairs}" if pairs else "")


def form_of(*wanted: tuple[Kind, int]) -> dict[str, Any]:
    return {
        "ticketTypeId": [kind["ticketTypeId"] for kind, _ in wanted],
        "quantity": [str(n) for _, n in wanted],
        "idempotencyKey": f"web:{OrderId.new()}",
    }


async def payment_of(office: Office, place: str) -> PaymentId:
    found = await office.stage.superuser.fetchval(
        "SELECT id FROM payments.payment WHERE source_id = $1 ORDER BY created_at DESC LIMIT 1",
        place.rpartition("/")[2],
    )
    return PaymentId(found)


def heading(page: str) -> str:
    [found] = re.findall(r"<h1[^>]*>([^<]*)</h1>", page)
    return str(found)


async def befalls(office: Office, payment: PaymentId, deed: str = "pay", **options: Any) -> None:
    """At the provider, and we know; nobody has done anything about it yet."""
    office.world.simulator.act(deed, (await office.world.payment(payment)).charge_id, **options)
    await office.world.clerk.ask(office.stage.organization, payment, office.buyer.caller)


async def runs_out(office: Office, place: str) -> None:
    own = OrderId.parse(place.rpartition("/")[2]).uuid
    await office.stage.superuser.execute(
        "UPDATE events.ticket_order SET created_at = created_at - interval '1 hour', expires_at = now() - interval '1 s'"
        " WHERE id = $1",
        own,
    )
