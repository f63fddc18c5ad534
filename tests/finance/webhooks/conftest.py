"""A door, a provider that knocks, and what was kept of it."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.port import GATEWAYS, Gateways
from tests.finance.webhooks.provider import ScriptedGateway, as_sent

DOOR = "/api/stripe/webhook"


@pytest.fixture
def gateway() -> Iterator[ScriptedGateway]:
    gateway = ScriptedGateway()
    with GATEWAYS.wired(Gateways([gateway])):
        yield gateway


@pytest.fixture(autouse=True)
async def nothing_left_to_do(superuser: asyncpg.Connection) -> AsyncIterator[None]:
    """The platform's jobs are everybody's: what one test leaves, the next one's worker would go through."""
    yield
    await superuser.execute("DELETE FROM kernel.job WHERE kind LIKE 'webhooks.%'")


@pytest.fixture(autouse=True)
async def from_the_beginning(superuser: asyncpg.Connection) -> AsyncIterator[None]:
    """Each test has a provider of its own, which is not asked from where another's list ended."""
    await superuser.execute("DELETE FROM webhooks.cursor")
    yield
    await superuser.execute("DELETE FROM webhooks.cursor")


@dataclass(frozen=True)
class Door:
    site: httpx.AsyncClient
    gateway: ScriptedGateway

    async def knock(self, event: dict[str, Any], path: str = DOOR, source: str = "sandbox") -> httpx.Response:
        body = as_sent(event)
        return await self.site.post(path, content=body, headers=self.gateway.sign(body, source))


@pytest.fixture
def door(site: httpx.AsyncClient, gateway: ScriptedGateway) -> Door:
    return Door(site, gateway)


@dataclass(frozen=True)
class Kept:
    """What the database has of one event."""

    receipts: list[asyncpg.Record]
    payloads: int
    jobs: list[asyncpg.Record]
    keys: list[str]
    facts: int


async def kept_of(superuser: asyncpg.Connection, event: dict[str, Any]) -> Kept:
    receipts = await superuser.fetch("SELECT * FROM webhooks.receipt WHERE external_id = $1", event["id"])
    ids = [row["id"] for row in receipts]
    return Kept(
        receipts,
        await superuser.fetchval("SELECT count(*) FROM webhooks.payload WHERE receipt_id = ANY($1)", ids),
        await superuser.fetch(
            "SELECT * FROM kernel.job WHERE payload->>'receipt' = ANY($1)", [f"whr_{i.hex}" for i in ids]
        ),
        [r[0] for r in await superuser.fetch("SELECT key FROM kernel.job_key WHERE key LIKE '%' || $1", event["id"])],
        await superuser.fetchval(
            "SELECT count(*) FROM kernel.event_log WHERE type = 'webhook.received' AND payload->>'eventId' = $1",
            event["id"],
        ),
    )
