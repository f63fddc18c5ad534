"""The API and the worker killed at every commit and every call out while people pay; the provider lives on.

Promise: each life has one trap, and the next begins when it has sprung; clients repeat under the same key until they
are answered, pay, and go on. Then two ordinary lives in which the time of everything is over; and then the books.

    commit.before, commit.after      around every COMMIT, by its turn in the process
    outbound.before, outbound.after  around every call to the provider
    payments.before_asking           the intent is committed, the provider knows nothing
    payments.before_recording        the provider has answered, nothing of it is written
    job.claimed, job.before_end      a job is held; its work is done, its end is not written
    webhooks.before_hand_on          whose event it is was found out, its job is not written
    webhooks.before_settling         the payment is written, the receipt is open
    webhooks.before_cursor           events were listed and kept, where to go on is not
"""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Final

import asyncpg
import httpx
from tests.finance.gateways.stages import HTTP_KEYS, a_client, a_sandbox_process
from tests.people import Person, a_person, an_organization_of
from tests.toy.process import ToyProcess
from tests.toy.server import free_port

from admitone.finance.gateways.api import Account, AccountOrder, Provider
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.payments.commands.accounts import keep_accounts
from admitone.finance.payments.model import AccountTold
from admitone.finance.refunds.api import RefundId
from admitone.kernel.batch import Batcher
from admitone.kernel.breaker import Breakers
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.outbound import Outbound
from admitone.kernel.scope import Scope
from admitone.kernel.telemetry import Metrics
from bench.faults.money.books import MOST, PAYMENTS, Books, complaints
from bench.faults.money.game import STATES, Verdict
from bench.faults.money.lives import a_source
from bench.faults.money.traps import DEAD, JOBS, Lives, Trap, relaunch, shuffled, surroundings_of, until_ready

API, WORKER = "api", "worker"
CLIENTS: Final = 3
REFUNDED: Final = 0.3
"""Of what was paid."""
PAUSE_SECONDS: Final = 0.1
SETTLE_SECONDS: Final = 300
HOURS_LATER: Final = (7_200, 9_000)
MOST_REPEATS: Final = 9

TRAPS: Final = {
    API: {
        **{point: range(1, 11) for point in ("commit.before", "commit.after")},
        **{point: range(1, 4) for point in ("outbound.before", "outbound.after")},
        **{point: range(1, 4) for point in ("payments.before_asking", "payments.before_recording")},
    },
    WORKER: {
        **{point: range(1, 13) for point in ("commit.before", "commit.after")},
        **{point: range(1, 4) for point in ("outbound.before", "outbound.after", "job.claimed", "job.before_end")},
        **{point: range(1, 4) for point in ("webhooks.before_hand_on", "webhooks.before_settling")},
        **{point: range(1, 2) for point in ("webhooks.before_cursor", "payments.before_recording")},
    },
}

LEFT = """
    SELECT (SELECT count(*) FROM kernel.job WHERE kind LIKE ANY ('{payments.%,webhooks.%,refunds.%}'))
           + (SELECT count(*) FROM kernel.outbox WHERE published_at IS NULL)
           + (SELECT count(*) FROM payments.gateway_intent WHERE state = 'OPEN')
           + (SELECT count(*) FROM payments.payment
               WHERE status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED')
                  OR (captured_minor > 0 AND processor_fees_status = 'PENDING'))
"""


def every_trap(seed: int) -> list[Trap]:
    return shuffled(TRAPS, seed)


@dataclass
class Shop:
    """An organisation that sells, its buyer, and the processes around them."""

    organization: OrganizationId
    owner: Person
    buyer: Person
    api: ToyProcess
    worker: ToyProcess
    port: int
    provider: httpx.AsyncClient
    chance: random.Random
    lives: Lives = field(default_factory=Lives)
    wrong: list[str] = field(default_factory=list)
    answered: dict[str, str] = field(default_factory=dict)
    """Which payment each key was answered with."""
    paid: int = 0
    given_back: set[str] = field(default_factory=set)
    """The refunds that were ordered, and answered."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def begin_again(self, seconds_ahead: int) -> None:
        """Ordinary lives, in which it is later."""
        for process in (self.api, self.worker):
            relaunch(process, seconds_ahead)

    # -- Buyers

    async def sell(self, client: int, over: asyncio.Event) -> None:
        """One buyer after another, until it is over."""
        async with httpx.AsyncClient(base_url=self.url, timeout=10) as http:
            for number in count(client, CLIENTS):
                if over.is_set():
                    return
                await self._buy(http, number)
                await asyncio.sleep(PAUSE_SECONDS)

    async def _buy(self, http: httpx.AsyncClient, number: int) -> None:
        source = a_source(self.chance.choice([1, 2500, 99_999]), "EUR", self.buyer.identity, number)
        body = {
            "organizationId": str(self.organization),
            "sourceType": source.type.value,
            "sourceId": source.id,
            "idempotencyKey": f"key-{number}",
        }
        headers = {**self.buyer.headers, "x-forwarded-for": f"100.64.{number // 250}.{number % 250 + 1}"}
        for _ in range(MOST_REPEATS):
            answer = await self._post(http, "/api/payments/intent", body, headers)
            if answer is not None and answer.status_code == 200:
                await self._go_on(http, number, answer.json(), headers)
                return
            if answer is not None and answer.status_code not in (429, 503):
                self.wrong.append(f"key-{number}: {answer.status_code} {answer.text[:300]}")
                return

    async def _post(
        self, http: httpx.AsyncClient, path: str, body: object, headers: dict[str, str]
    ) -> httpx.Response | None:
        """The answer, if there was one; else whoever asks again finds the API alive."""
        try:
            return await http.post(path, json=body, headers=headers)
        except httpx.TransportError:
            await until_ready(http)
            return None

    async def _go_on(self, http: httpx.AsyncClient, number: int, told: dict[str, str], headers: dict[str, str]) -> None:
        """Pay, and look once more; or give up."""
        self.answered[f"key-{number}"] = told["paymentId"]
        charge = told["redirectUrl"].rpartition("/")[2]
        if self.chance.random() < 0.8:
            await self.provider.post(f"/v1/test_helpers/{charge}/pay", json={})
            self.paid += 1
            if self.chance.random() < REFUNDED:
                await self._give_back(http, told["paymentId"])
        else:
            await self._post(http, "/api/checkout/cancel", {"paymentId": told["paymentId"]}, headers)

    async def _give_back(self, http: httpx.AsyncClient, payment: str) -> None:
        """As soon as we know that it was paid, and under the same id until it is answered."""
        own = str(RefundId.new())
        path = f"/api/org/{self.organization}/payments/{payment}/refund"
        for _ in range(MOST_REPEATS):
            body = {"reasonCode": "TECHNICAL_PROBLEM", "refundId": own, "idempotencyKey": own}
            answer = await self._post(http, path, body, self.owner.headers)
            if answer is not None and answer.status_code == 200:
                self.given_back.add(own)
                return
            if answer is not None and answer.status_code == 409:
                await asyncio.sleep(2 * PAUSE_SECONDS)
            elif answer is not None and answer.status_code not in (429, 503):
                self.wrong.append(f"{own}: {answer.status_code} {answer.text[:300]}")
                return


async def spring(database_url: str, superuser_url: str, home: Path, traps: Sequence[Trap], *, seed: int = 1) -> Verdict:
    """Spring them all, each in its order, the API's beside the worker's."""
    async with a_shop(database_url, home, seed) as shop:
        over = asyncio.Event()
        buyers = [asyncio.create_task(shop.sell(client, over)) for client in range(CLIENTS)]
        await asyncio.gather(
            *(
                shop.lives.through(process, [trap for trap in traps if trap.process == name])
                for name, process in ((API, shop.api), (WORKER, shop.worker))
            )
        )
        async with httpx.AsyncClient(base_url=shop.url) as http:
            await until_ready(http)
        over.set()
        await asyncio.gather(*buyers)
        books = await asyncpg.connect(superuser_url)
        try:
            left = [await _settle(shop, books, ahead) for ahead in HOURS_LATER][-1]
            broken = await complaints(Books(home / "sandbox" / "journal.sqlite", books, shop.organization))
            dead = [str(dict(row)) for row in await books.fetch(DEAD)]
            figures, others = await _figures(shop, books), await _answered_otherwise(shop, books)
        finally:
            await books.close()
    found = {
        "all settles": left,
        "nothing is buried": dead,
        "every answer is one that the contract allows": shop.wrong,
        "the same key answers the same payment": others,
        "every trap springs": [str(trap) for trap in shop.lives.unsprung],
    }
    broken |= {name: rows[:MOST] for name, rows in found.items() if rows}
    return Verdict(seed, len(traps), figures, broken)


async def _answered_otherwise(shop: Shop, books: asyncpg.Connection) -> list[str]:
    rows = await books.fetch(PAYMENTS, shop.organization.uuid)
    kept = {row["idempotency_key"]: f"pay_{row['id'].hex}" for row in rows}
    return [f"{key}: {own}, and {kept.get(key)}" for key, own in shop.answered.items() if kept.get(key) != own]


async def _settle(shop: Shop, books: asyncpg.Connection, seconds_ahead: int) -> list[str]:
    """What is left when it had its time."""
    await shop.begin_again(seconds_ahead)
    left = 0
    try:
        async with asyncio.timeout(SETTLE_SECONDS):
            while left := await books.fetchval(LEFT):
                await asyncio.sleep(0.1)
    except TimeoutError:
        jobs = [str(dict(row)) for row in await books.fetch(JOBS)]
        return [f"{left} jobs, facts, intents and payments; see {shop.api.said} and {shop.worker.said}", *jobs]
    return []


async def _figures(shop: Shop, books: asyncpg.Connection) -> dict[str, int]:
    states = {row["status"].lower(): row["count"] for row in await books.fetch(STATES, shop.organization.uuid)}
    return {
        "traps that sprang": len(shop.lives.sprung),
        "keys answered": len(shop.answered),
        "paid at the provider": shop.paid,
        "given back": len(shop.given_back),
        **{f"  {name}": number for name, number in sorted(states.items())},
    }


@asynccontextmanager
async def a_shop(database_url: str, home: Path, seed: int) -> AsyncIterator[Shop]:
    """The provider runs when the block begins; the API and the worker have yet to live."""
    api_port = free_port()
    async with AsyncExitStack() as stack:
        port, _ = await stack.enter_async_context(a_sandbox_process(home, "--fees-after", "0", listener=api_port))
        client = await stack.enter_async_context(a_client(port))
        database = await stack.enter_async_context(Database(database_url))
        owner, buyer = await a_person(database), await a_person(database)
        organization = await an_organization_of(database, owner)
        await _open_account(database, organization, owner, client)
        surroundings = surroundings_of(port)
        words = ("bench.faults.money.lives", API, str(api_port))
        api = ToyProcess(database_url, home, "api", *words, **surroundings)
        worker = ToyProcess(database_url, home, "worker", "bench.faults.money.lives", WORKER, **surroundings)
        for process in (api, worker):
            stack.callback(lambda each=process: each.kill() if each.lives else None)
        yield Shop(organization, owner, buyer, api, worker, api_port, client, random.Random(f"killing {seed}"))


async def _open_account(
    database: Database, organization: OrganizationId, owner: Person, client: httpx.AsyncClient
) -> None:
    batcher = Batcher(database)
    async with Outbound(Breakers(batcher, Metrics()), Metrics()) as outbound:
        gateway = SandboxGateway.over_http(HTTP_KEYS, str(client.base_url), outbound)
        account = await gateway.open_account(AccountOrder(owner.caller, uuid7(), organization, "PT", None))
        assert isinstance(account, Account)
        await client.post(f"/v1/test_helpers/{account.id}/complete", json={})
        complete = await gateway.find_account(owner.caller, account.id)
        assert isinstance(complete, Account)
        told = AccountTold(owner.caller, Provider.SANDBOX, complete, datetime.now(UTC))
        await database.run(Scope(organization, "open"), lambda tx: keep_accounts(tx, [told]))
    await batcher.drain()
