"""A market in one process: the API behind its real edge, a provider with a file of its own, and a clock for both.

Promise: nothing of ours is replaced. Calls to the provider go the way that its faults say; what it tells comes by
`hear`, the one place where webhooks enter.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from tests.finance.world import World, a_world
from tests.jobs import BRISK, a_worker
from tests.people import Person, a_person

from admitone.entrypoints.duties import duties_of
from admitone.entrypoints.http import Application, assemble
from admitone.entrypoints.modules import MODULES
from admitone.finance.gateways import signature
from admitone.finance.gateways.sandbox.charges import Terms
from admitone.finance.gateways.sandbox.faults import Faults, Forgery
from admitone.finance.gateways.sandbox.journal import Journal
from admitone.finance.gateways.sandbox.keys import source_of
from admitone.finance.gateways.sandbox.simulator import Delivery
from admitone.finance.payments import errands
from admitone.finance.payments.module import MODULE as PAYMENTS
from admitone.finance.webhooks.module import MODULE as WEBHOOKS
from admitone.foundation.authority.api import TableAuthority
from admitone.kernel.clock import Clock
from admitone.kernel.config import Config
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk, Kind
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller

WEBHOOKS_AT_ONCE = 200
SWEEPS = (errands.complete_intents, errands.expire, errands.fetch_fees)
ERRANDS = Module(
    "money_under_faults",
    jobs=tuple(kind for module in (PAYMENTS, WEBHOOKS) for kind in module.jobs),
    subscriptions=PAYMENTS.subscriptions,
    facts=tuple(fact for module in MODULES for fact in module.facts),
)
"""What follows from facts and webhooks; what is done at a time is called by name, because time is moved here."""


@dataclass
class Market:
    application: Application
    world: World
    file: Path
    buyers: list[Person]
    shift: timedelta = timedelta()
    troubles: list[str] = field(default_factory=list)
    """What nobody may ever see, and somebody saw."""

    @property
    def now(self) -> datetime:
        return datetime.now(UTC) + self.shift

    def misbehave(self, faults: Faults | None) -> None:
        self.world.simulator.misbehave(faults or Faults())

    def later(self, by: timedelta) -> None:
        """Time passes, here and at the provider. Nobody who holds a lease may be at work."""
        self.shift += by
        self.application.database._clock = Clock(self.shift)

    def client(self, number: int) -> httpx.AsyncClient:
        """From an address of their own."""
        address = f"100.{64 + (number >> 16) % 64}.{(number >> 8) % 256}.{number % 256}"
        transport = httpx.ASGITransport(self.application.edge, client=(address, 4711))
        return httpx.AsyncClient(transport=transport, base_url="http://admitone.test")

    async def post(self, http: httpx.AsyncClient, path: str, body: dict[str, Any], buyer: Person) -> httpx.Response:
        response = await http.post(path, json=body, headers=buyer.headers)
        is_known = response.status_code < 500 or response.status_code == 503
        if not is_known or ("errorCode" not in response.json() and response.status_code >= 400):
            self.troubles.append(f"{path} {body.get('idempotencyKey')}: {response.status_code} {response.text[:300]}")
        return response

    # -- What the provider tells

    async def hear(self) -> int:
        """Every webhook that is due, many at once; how many came."""
        due = self.world.simulator.due_deliveries(WEBHOOKS_AT_ONCE)
        async with self.client(0) as http:
            taken = await asyncio.gather(*(self._deliver(http, delivery) for delivery in due))
        self.world.simulator.delivered(*(each for each, was_taken in zip(due, taken, strict=True) if was_taken))
        return len(due)

    async def _deliver(self, http: httpx.AsyncClient, delivery: Delivery) -> bool:
        """Whether it was taken; a forgery never may be."""
        answer = await http.post(delivery.path, content=delivery.body, headers=self._signed(delivery))
        expected = (200, 503) if delivery.forgery is Forgery.NONE else (400,)
        if answer.status_code not in expected:
            self.troubles.append(f"{delivery.path} {delivery.forgery}: {answer.status_code} {answer.text[:300]}")
        return answer.status_code == 200

    def _signed(self, delivery: Delivery) -> dict[str, str]:
        """As of now: signatures are judged by the clock of the process, which nobody moves."""
        headers = dict(delivery.headers)
        if delivery.forgery is Forgery.NONE:
            secret = self.world.simulator.keys.signing(source_of(delivery.path))
            headers[signature.HEADER] = signature.sign(delivery.body, secret, datetime.now(UTC))
        return headers

    # -- What is done by itself

    @property
    def desk(self) -> Desk:
        return Desk(self.application.database, self.application.batcher)

    async def sweep(self, *kinds: Kind[Firing]) -> None:
        for kind in kinds or SWEEPS:
            firing = Firing(kind.name, self.now)
            await kind.work(
                self.desk,
                Delivered(uuid7(), PLATFORM_ORGANIZATION, firing, Caller(), f"{kind.name}:now", None, 1, self.now),
            )

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """While what follows from facts is done as well."""
        async with a_worker(self.application.database, duties_of([ERRANDS]), BRISK):
            yield


@asynccontextmanager
async def a_market(database_url: str, home: Path, seed: int, buyers: int = 8) -> AsyncIterator[Market]:
    """An organisation that sells, people who want to buy, and a provider that behaves for now."""
    config = Config.load({"DATABASE_URL": database_url, "ADMITONE_DATA": str(home)})
    application = assemble(config, MODULES, TableAuthority(), strict=True)
    await application.start()
    file = home / "sandbox.sqlite"
    journal = Journal(file)
    moved: list[Market] = []

    def clock() -> datetime:
        return moved[0].now if moved else datetime.now(UTC)

    try:
        terms = Terms(fees_after=timedelta(seconds=1))
        async with a_world(
            application.database, application.batcher, journal=journal, seed=seed, terms=terms, clock=clock
        ) as world:
            people = [await a_person(application.database) for _ in range(buyers)]
            moved.append(Market(application, world, file, people))
            yield moved[0]
    finally:
        journal.close()
        await application.close()
