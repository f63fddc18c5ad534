"""A box office: a stage whose tickets are ordered over HTTP and paid at the sandbox, with a worker who sees to the rest.

office = …                                     the fixture
event, [kind] = await office.on_sale(capacity=50)
order = await office.order(event, (kind, 2))
await office.pay(order)                        and its tickets are there
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx

from admitone.entitlements.api import Entitlement, list_of_sources
from admitone.entrypoints.duties import duties_of
from admitone.entrypoints.modules import MODULES
from admitone.finance.disputes.port import EVIDENCE
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.finance.sources.port import SHOPS
from admitone.foundation.mail.handlers import deliver, deliver_at_leisure
from admitone.foundation.mail.module import MODULE as MAIL
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.selling.fulfilment.port import RECIPES
from admitone.selling.stock import api as stock
from admitone.verticals.events.api import BOOK, TicketShop, TicketWitness
from admitone.verticals.events.model import Order, OrderId, Ticket
from admitone.verticals.events.store import orders
from admitone.verticals.events.store import tickets as ticket_store
from tests.finance.world import SECRET, World, connect
from tests.foundation.organizations.clubs import mailed
from tests.jobs import a_worker, until
from tests.people import Person, a_person
from tests.verticals.events.stage import KEYS, Stage

DUTIES = duties_of(
    [
        replace(each, jobs=tuple(job for job in each.jobs if job is not deliver and job is not deliver_at_leisure))
        if each is MAIL
        else each
        for each in MODULES
    ]
)
"""All but to carry letters: there is nobody here to take them."""
UNDONE = """
    SELECT (SELECT count(*) FROM kernel.outbox WHERE organization_id = $1 AND published_at IS NULL)
         + (SELECT count(*) FROM kernel.job
             WHERE organization_id = $1 AND kind NOT LIKE 'mail.deliver%' AND run_at < now() + interval '10 seconds')
"""
"""In one look: what one job ends with is another's beginning."""
Wanted = tuple[dict[str, Any], int]
PUT_OFF = """
    SELECT (SELECT count(*) FROM kernel.job WHERE organization_id = $1 AND kind NOT LIKE 'mail.deliver%')
         + (SELECT count(*) FROM kernel.outbox WHERE organization_id = $1 AND published_at IS NULL)
"""
SOONER = "UPDATE kernel.job SET run_at = now() WHERE organization_id = $1 AND worker IS NULL AND run_at > now()"


LEFT_BY_OTHERS = (
    "DELETE FROM kernel.job WHERE organization_id <> ALL($1)",
    "UPDATE kernel.outbox SET published_at = now() WHERE organization_id <> ALL($1) AND published_at IS NULL",
)
"""What tests before left undone, and what a worker of ours would go through first."""


@dataclass
class Office:
    stage: Stage
    world: World = field(repr=False)
    """With all that its provider remembers, which nobody wants to read where a test failed."""

    @property
    def buyer(self) -> Person:
        return self.world.buyer

    async def on_sale(self, *types: dict[str, Any], **more: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """An event with these types, or one of a hundred places at 25 euros."""
        event = await self.stage.published([*types] or [{}], **more)
        return event, event["ticketTypes"]

    async def ask(
        self,
        event: dict[str, Any],
        *wanted: Wanted,
        buyer: Person | None = None,
        guest: str | None = None,
        path: str = "",
        **more: Any,
    ) -> httpx.Response:
        lines = [{"ticketTypeId": kind["ticketTypeId"], "quantity": quantity} for kind, quantity in wanted]
        body = {
            "organizationId": str(self.stage.organization),
            "eventId": event["eventId"],
            "lines": lines,
            "idempotencyKey": str(uuid4()) if guest else f"order-{next(KEYS)}",
            **({"guestEmail": guest} if guest else {}),
            **more,
        }
        headers = {} if guest else (buyer or self.buyer).headers
        return await self.stage.site.post(f"/api/orders{path}", json=body, headers=headers)

    async def order(self, event: dict[str, Any], *wanted: Wanted, **more: Any) -> dict[str, Any]:
        return self.stage.fine(await self.ask(event, *wanted, **more))

    async def buy(self, event: dict[str, Any], *wanted: Wanted, **more: Any) -> dict[str, Any]:
        """Order and begin to pay in one step."""
        return self.stage.fine(await self.ask(event, *wanted, path="/buy", **more))

    async def checkout(
        self, order: dict[str, Any], buyer: Person | None = None, *, guest: bool = False, **more: Any
    ) -> Any:
        body = {
            "organizationId": str(self.stage.organization),
            "sourceType": "TICKET_ORDER",
            "sourceId": order["orderId"],
            "idempotencyKey": f"pay-{next(KEYS)}",
            **more,
        }
        headers = {} if guest else (buyer or self.buyer).headers
        return await self.stage.site.post("/api/payments/intent", json=body, headers=headers)

    async def begin(self, order: dict[str, Any], **more: Any) -> PaymentId:
        answer = self.stage.fine(await self.checkout(order, **more))
        return PaymentId.parse(answer["paymentId"])

    async def settle(self, payment: PaymentId, deed: str = "pay", **options: Any) -> None:
        """Something happens at the provider, we hear of it, and whatever follows is done."""
        charge = (await self.world.payment(payment)).charge_id
        self.world.simulator.act(deed, charge, **options)
        await self.world.clerk.ask(self.stage.organization, payment, self.buyer.caller)
        await self.work()

    async def work(self, *, hurry: bool = False) -> None:
        async with self.working(hurry=hurry):
            pass

    @asynccontextmanager
    async def working(self, *, waits: bool = True, hurry: bool = False) -> AsyncIterator[None]:
        """While it lasts and until nothing is left to do; in a hurry nothing is put off either."""
        async with a_worker(self.stage.database, DUTIES):
            yield
            while hurry and await self.stage.superuser.fetchval(PUT_OFF, self.stage.organization.uuid):
                await self.stage.superuser.execute(SOONER, self.stage.organization.uuid)
                await asyncio.sleep(0.05)
            if waits:
                await until(self.stage.superuser, UNDONE, self.stage.scope)

    async def pay(self, order: dict[str, Any], **more: Any) -> PaymentId:
        payment = await self.begin(order, **more)
        await self.settle(payment)
        return payment

    # -- What there is then

    async def letters(self, to: str) -> list[str]:
        """The templates of all that somebody was written, in their order."""
        posted = await mailed(self.stage.superuser, self.stage.organization)
        return [each.template for each in posted if each.to == to]

    async def find(self, order: dict[str, Any]) -> Order:
        own = OrderId.parse(order["orderId"])
        return (await self.stage.database.read(self.stage.scope, orders.find_orders, [own]))[own]

    async def tickets(self, order: dict[str, Any]) -> list[Ticket]:
        own = OrderId.parse(order["orderId"])
        return await self.stage.database.read(self.stage.scope, ticket_store.find_of_orders, [own])

    async def rights(self, order: dict[str, Any]) -> list[Entitlement]:
        source = Source(SourceType.TICKET_ORDER, order["orderId"])
        return await self.stage.database.read(self.stage.scope, list_of_sources, source.type, [source.id])

    async def pool(self, kind: dict[str, Any]) -> stock.Pool:
        own = stock.PoolId.parse(kind["pool"]["poolId"])
        found = await self.stage.database.read(self.stage.scope, stock.find_pools, [own])
        return found[own]

    async def at(self, instant: datetime, work: Any, *inputs: Any) -> Any:
        """What comes of it at that instant."""

        async def then(tx: Tx) -> Any:
            tx.now = instant
            return await work(tx, *inputs)

        return await self.stage.database.run(self.stage.scope, then, patient=True)


@asynccontextmanager
async def an_office(stage: Stage, batcher: Batcher, **settings: Any) -> AsyncIterator[Office]:
    ours = [stage.organization.uuid, PLATFORM_ORGANIZATION.uuid]
    for statement in LEFT_BY_OTHERS:
        await stage.superuser.execute(statement, ours)
    simulator = Simulator(Keys.of(SECRET), **settings)
    gateway = SandboxGateway.in_process(simulator)
    await connect(stage.database, simulator, gateway, stage.organization)
    buyer = await a_person(stage.database)
    with ExitStack() as wired:
        wired.enter_context(SHOPS.wired({SourceType.TICKET_ORDER: TicketShop()}))
        wired.enter_context(RECIPES.wired({SourceType.TICKET_ORDER: BOOK}))
        wired.enter_context(EVIDENCE.wired({SourceType.TICKET_ORDER: TicketWitness()}))
        wired.enter_context(GATEWAYS.wired(Gateways([gateway])))
        shop: Any = None  # It sells what is on the stage.
        world = World(stage.database, batcher, simulator, gateway, shop, stage.organization, stage.owner, buyer)
        yield Office(stage, world)
