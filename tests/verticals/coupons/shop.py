"""A merchant with campaigns, people who want coupons, and a provider whose webhooks really arrive.

campaign = await shop.running(redemption_limit=5)     made, paid at the sandbox, told at /webhooks/payment, activated
token = await shop.token(campaign)                    of somebody new
answer = await shop.validate(token)                   by the owner, from an address of its own
"""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import asyncpg
import httpx

from admitone.entrypoints.duties import duties_of
from admitone.entrypoints.modules import MODULES
from admitone.finance.disputes.port import EVIDENCE
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.keys import Keys
from admitone.finance.gateways.sandbox.simulator import Delivery, Simulator
from admitone.finance.ledger import api as ledger
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.finance.sources.port import SHOPS
from admitone.foundation.mail.handlers import deliver, deliver_at_leisure
from admitone.foundation.mail.module import MODULE as MAIL
from admitone.kernel.batch import Batcher
from admitone.kernel.contracts.edge import Edge
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller, Scope
from admitone.selling.fulfilment.port import RECIPES
from admitone.verticals.coupons.api import BOOK, CampaignShop, CampaignWitness
from admitone.verticals.coupons.model import Campaign, CampaignId
from admitone.verticals.coupons.store import campaigns as store
from tests.finance.world import SECRET, World
from tests.jobs import a_worker, until
from tests.people import CLIENTS, Person, a_person, an_organization_of

KEYS = count()
DUTIES = duties_of(
    [
        replace(each, schedules=(), jobs=tuple(job for job in each.jobs if job not in (deliver, deliver_at_leisure)))
        if each is MAIL
        else replace(each, schedules=())
        for each in MODULES
    ]
)
"""All but to carry letters and to do something by the clock: tests say when it is time."""
UNDONE = """
    SELECT (SELECT count(*) FROM kernel.outbox WHERE organization_id = $1 AND published_at IS NULL)
         + (SELECT count(*) FROM kernel.job
             WHERE (organization_id = $1 OR kind LIKE 'webhooks.%') AND kind NOT LIKE 'mail.deliver%'
               AND run_at < now() + interval '10 seconds')
"""


def a_campaign_body(**more: Any) -> dict[str, Any]:
    """What is posted to /campaigns."""
    return {
        "name": "Two for one",
        "days": 15,
        "redemptionLimit": 100,
        "currency": "EUR",
        "idempotencyKey": f"campaign-{next(KEYS)}",
        **more,
    }


@dataclass
class Shop:
    site: httpx.AsyncClient
    edge: Edge
    database: Database
    superuser: asyncpg.Connection
    world: World
    owner: Person
    organization: OrganizationId

    @property
    def scope(self) -> Scope:
        return Scope(self.organization, "test")

    def from_elsewhere(self) -> httpx.AsyncClient:
        """A client with an address of its own."""
        number = next(CLIENTS)
        transport = httpx.ASGITransport(self.edge, client=(f"100.64.{number // 250}.{number % 250 + 1}", 4711))
        return httpx.AsyncClient(transport=transport, base_url="http://admitone.test")

    def headers(self, person: Person | None = None, organization: OrganizationId | None = None) -> dict[str, str]:
        return (person or self.owner).headers | {"x-orya-org-id": str(organization or self.organization)}

    # -- Campaigns

    async def ask(self, person: Person | None = None, **more: Any) -> httpx.Response:
        async with self.from_elsewhere() as client:
            return await client.post("/campaigns", json=a_campaign_body(**more), headers=self.headers(person))

    async def made(self, **more: Any) -> dict[str, Any]:
        answer = await self.ask(**more)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def charge(self, made: dict[str, Any]) -> str:
        charge = (await self.world.payment(PaymentId.parse(made["checkout"]["paymentId"]))).charge_id
        assert charge is not None
        return charge

    async def deliveries(self) -> list[Delivery]:
        due = [*self.world.simulator.due_deliveries()]
        self.world.simulator.delivered(*due)
        return due

    async def deliver(self, deliveries: list[Delivery], path: str | None = "/webhooks/payment") -> list[httpx.Response]:
        async with self.from_elsewhere() as client:
            return [
                await client.post(path or each.path, content=each.body, headers=dict(each.headers))
                for each in deliveries
            ]

    async def happens(
        self, made: dict[str, Any], deed: str = "pay", *, works: bool = True, **options: Any
    ) -> list[httpx.Response]:
        """Something happens at the provider, which tells us, and whatever follows is done."""
        self.world.simulator.act(deed, await self.charge(made), **options)
        answers = await self.deliver(await self.deliveries())
        if works:
            await self.work()
        else:
            await self.asked(made, works=False)
        return answers

    async def asked(self, made: dict[str, Any], *, works: bool = True) -> None:
        """The provider is asked how its payment stands."""
        for payment in await self.payments(made):
            await self.world.clerk.ask(self.organization, payment, Caller())
        if works:
            await self.work()

    async def work(self) -> None:
        async with a_worker(self.database, DUTIES):
            await until(self.superuser, UNDONE, self.scope)

    async def running(self, **more: Any) -> dict[str, Any]:
        made = await self.made(**more)
        await self.happens(made)
        assert (await self.find(made)).state == "ACTIVE"
        return made

    async def find(self, made: dict[str, Any]) -> Campaign:
        own = CampaignId.parse(made["campaignId"])
        return (await self.database.read(self.scope, store.find_campaigns, [own]))[own]

    async def books(self, made: dict[str, Any]) -> dict[str, int]:
        """What stands on the accounts for its payments, without what the processor took."""
        paid = await self.payments(made)
        found = await self.database.read(self.scope, ledger.accounts_of, paid)
        sums: dict[str, int] = {}
        for accounts in found.values():
            for account, minor in accounts.items():
                sums[account.name] = sums.get(account.name, 0) + minor
        return {name: minor for name, minor in sums.items() if minor}

    async def payments(self, made: dict[str, Any]) -> list[PaymentId]:
        rows = await self.superuser.fetch(
            "SELECT id FROM payments.payment WHERE organization_id = $1 AND source_id = $2",
            self.organization.uuid,
            made["campaignId"],
        )
        return [PaymentId(row["id"]) for row in rows]

    # -- Tokens

    async def wants(self, made: dict[str, Any], person: Person | None = None, **headers: str) -> httpx.Response:
        who = person or await a_person(self.database)
        body = {"organizationId": str(self.organization), "campaignId": made["campaignId"]}
        return await self.site.post("/tokens", json=body, headers=who.headers | headers)

    async def token(self, made: dict[str, Any], person: Person | None = None) -> str:
        answer = await self.wants(made, person)
        assert answer.status_code == 201, answer.text
        token: str = answer.json()["token"]
        return token

    async def validate(
        self,
        token: str,
        person: Person | None = None,
        organization: OrganizationId | None = None,
        client: httpx.AsyncClient | None = None,
        **more: Any,
    ) -> httpx.Response:
        headers = self.headers(person, organization)
        if client is not None:
            return await client.post("/validate", json={"token": token, **more}, headers=headers)
        async with self.from_elsewhere() as own:
            return await own.post("/validate", json={"token": token, **more}, headers=headers)

    async def row(self, made: dict[str, Any]) -> dict[str, Any]:
        """The latest token of a campaign, as it is kept."""
        row = await self.superuser.fetchrow(
            "SELECT * FROM coupons.token WHERE campaign_id = $1 ORDER BY id DESC LIMIT 1", self.uuid(made)
        )
        assert row is not None
        return dict(row)

    def uuid(self, made: dict[str, Any]) -> UUID:
        return CampaignId.parse(made["campaignId"]).uuid

    # -- Time

    async def at(self, instant: datetime, work: Any, *inputs: Any) -> Any:
        """What comes of it at that instant."""

        async def then(tx: Tx) -> Any:
            tx.now = instant
            return await work(tx, *inputs)

        return await self.database.run(self.scope, then, patient=True)

    async def age(self, made: dict[str, Any], by: timedelta) -> None:
        """As if the campaign had been activated so much earlier."""
        await self.superuser.execute(
            "UPDATE coupons.campaign SET activated_at = activated_at - $2::interval, ends_at = ends_at - $2::interval, due_at = due_at - $2::interval"
            " WHERE id = $1",
            self.uuid(made),
            by,
        )

    async def age_tokens(self, made: dict[str, Any], by: timedelta) -> None:
        await self.superuser.execute(
            "UPDATE coupons.token SET created_at = created_at - $2::interval, expires_at = expires_at - $2::interval,"
            " redeemed_at = redeemed_at - $2::interval WHERE campaign_id = $1",
            self.uuid(made),
            by,
        )


@asynccontextmanager
async def a_coupon_shop(
    site: httpx.AsyncClient, edge: Edge, database: Database, superuser: asyncpg.Connection, batcher: Batcher
) -> AsyncIterator[Shop]:
    simulator = Simulator(Keys.of(SECRET))
    gateway = SandboxGateway.in_process(simulator)
    owner = await a_person(database)
    organization = await an_organization_of(database, owner)
    with ExitStack() as wired:
        wired.enter_context(SHOPS.wired({SourceType.COUPON_CAMPAIGN: CampaignShop()}))
        wired.enter_context(RECIPES.wired({SourceType.COUPON_CAMPAIGN: BOOK}))
        wired.enter_context(EVIDENCE.wired({SourceType.COUPON_CAMPAIGN: CampaignWitness()}))
        wired.enter_context(GATEWAYS.wired(Gateways([gateway])))
        sells: Any = None
        world = World(database, batcher, simulator, gateway, sells, organization, owner, owner)
        yield Shop(site, edge, database, superuser, world, owner, organization)
