"""A box office on a port of its own, in which nothing happens by itself: a browser looks at it for as long as it likes.

The application, the database and the browser are the real ones. The provider does what the test lets it do, and the
worker works when it is told to, so that every moment between two steps can be looked at.

    page = await counter.ordered(phone=True)            a guest, on the page of their order
    await counter.begins(page)                          to pay
    await counter.befalls(page, "pay", card="slow")     at the provider, and we have heard of it
    counter.provider.misbehave(Faults(lost=10_000))     from now on
    await counter.office.work()                         whatever follows from it is done
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx
from granian.constants import HTTPModes, Interfaces
from granian.server.embed import Server
from playwright.async_api import Page

from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.payments.asking import Clerk
from admitone.finance.payments.model import FactKind
from admitone.finance.sources.api import PaymentId
from admitone.foundation.identity.routes.wire import SESSION_COOKIE
from admitone.kernel.contracts import Edge
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller
from admitone.verticals.events.model import OrderId
from tests.browser.conftest import Visits
from tests.desk import free_port
from tests.mails import an_address
from tests.people import Person
from tests.verticals.events.office import Office

Event, Kind = dict[str, Any], dict[str, Any]
ORDER_ENDS = """
    UPDATE events.ticket_order
       SET created_at = created_at - interval '1 hour', expires_at = now() + make_interval(secs => $2)
     WHERE id = $1
"""
HOLD_ENDS = "UPDATE stock.portion SET expires_at = now() + make_interval(secs => $2) WHERE hold_id = $1"
PAYMENT_ENDS = """
    UPDATE payments.payment
       SET created_at = created_at - interval '1 hour', expires_at = now() + make_interval(secs => $2)
     WHERE id = $1
"""


@dataclass
class Counter:
    office: Office
    visits: Visits

    @property
    def provider(self) -> Simulator:
        return self.office.world.simulator

    async def forgives(self, *messages: str) -> None:
        """The browser tells of every call that was refused or did not come through; of anything else it complains."""
        await self.visits.close()
        troubles = self.visits.troubles
        troubles[:] = [each for each in troubles if not any(message in each for message in messages)]

    # -- What a buyer does

    async def chosen(self, event: Event, kind: Kind, *, person: Person | None = None, **more: Any) -> Page:
        """Somebody who is about to order one: a guest, unless it is said who."""
        page = await self.visits("/legal/terms", **more)
        if person:
            session = {"name": SESSION_COOKIE, "value": person.access_token, "url": self.visits.address}
            await page.context.add_cookies([session])
        await page.goto(f"/e/{event['eventId']}/tickets?ticketTypeId={kind['ticketTypeId']}&quantity=1")
        return page

    async def ordered(self, *, currency: str = "EUR", **more: Any) -> Page:
        event, [kind] = await self.office.on_sale(currency=currency)
        return await self.orders(await self.chosen(event, kind, **more))

    async def orders(self, page: Page) -> Page:
        """From the choice to the order's page."""
        if await page.get_by_label("E-mail").count():
            await page.get_by_label("E-mail").fill(an_address())
        await page.locator("main form[method=post] button").first.click()
        await page.wait_for_url("**/checkout/**")
        return page

    async def begins(self, page: Page, method: str = "CARD") -> None:
        """To pay; the way to the provider's page is not taken."""
        order = page.url
        await page.locator(f"button[name=method][value={method}]").click()
        await page.wait_for_url(f"{order}/payment" if method == "CARD" else order)
        await page.goto(order)

    # -- What happens elsewhere

    async def befalls(self, page: Page, deed: str, **options: Any) -> None:
        """At the provider, and we have heard of it; nobody has done anything about it yet."""
        payment = await self._payment(page)
        self.provider.act(deed, (await self.office.world.payment(payment)).charge_id, **options)
        await self._clerk.ask(self._organization, payment, Caller())

    async def is_asked_again(self, page: Page) -> None:
        """The provider, as the sweep asks it about what it has not answered."""
        await self._clerk.complete(self._organization, await self._payment(page), Caller())

    async def is_closed(self, page: Page) -> None:
        """The payment, as the sweep closes what is past its time."""
        await self._clerk.close(self._organization, await self._payment(page), FactKind.EXPIRED, Caller())

    @property
    def _clerk(self) -> Clerk:
        return self.office.world.clerk

    @property
    def _organization(self) -> OrganizationId:
        return self.office.stage.organization

    async def _payment(self, page: Page) -> PaymentId:
        found = await self.office.stage.superuser.fetchval(
            "SELECT id FROM payments.payment WHERE source_id = $1 ORDER BY created_at DESC LIMIT 1", order_of(page)
        )
        return PaymentId(found)

    # -- Time

    async def ends_in(self, page: Page, seconds: int) -> None:
        """What is kept for an order: as if it had been placed an hour ago."""
        own = OrderId.parse(order_of(page)).uuid
        for late in (ORDER_ENDS, HOLD_ENDS):
            await self.office.stage.superuser.execute(late, own, seconds)

    async def payment_ends_in(self, page: Page, seconds: int) -> None:
        """As if it had been begun an hour ago."""
        own = (await self._payment(page)).uuid
        await self.office.stage.superuser.execute(PAYMENT_ENDS, own, seconds)


def order_of(page: Page) -> str:
    return page.url.rpartition("/")[2]


@asynccontextmanager
async def served(edge: Edge) -> AsyncIterator[str]:
    """As `admitone serve` serves it, in this process; its address."""
    port = free_port()
    server = Server(
        edge,
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        websockets=False,
        log_enabled=False,
    )
    serving, address = asyncio.create_task(server.serve()), f"http://127.0.0.1:{port}"
    await _until_it_answers(address)
    try:
        yield address
    finally:
        server.stop()
        await serving


async def _until_it_answers(address: str) -> None:
    async with httpx.AsyncClient() as client, asyncio.timeout(30):
        while True:
            with suppress(httpx.TransportError):
                await client.get(f"{address}/health/live")
                return
            await asyncio.sleep(0.02)
