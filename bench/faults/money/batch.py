"""A weekly batch over many owners, with two workers that both keep the schedules and are both killed at every point.

Promise: each life has one trap, and the next begins when it has sprung; the other worker and the provider live on. What
the provider took arrives, or comes back. Then ordinary lives: an hour later, when whatever was given up is seen to, and
on the next Monday, when what came back or was held is paid; and then the books.

    payouts.before_taking            payouts are written, what they are for is not theirs yet
    payouts.before_asking            they are marked as being asked for, the provider knows nothing
    payouts.before_recording         the provider has answered, nothing of it is written
    commit.*, outbound.*, job.*, webhooks.*   as in `killing`
"""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Final

import asyncpg
import httpx
from tests.finance.gateways.stages import a_client, a_sandbox_process
from tests.finance.world import a_world
from tests.toy.process import ToyProcess
from tests.toy.server import free_port

from admitone.finance.gateways.sandbox.journal import Journal
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from bench.faults.money.game import Verdict
from bench.faults.money.owners import RETURNED, TERMS, Owner, some_owners
from bench.faults.money.payout_books import PAYOUTS, PayoutBooks, complaints
from bench.faults.money.traps import DEAD, JOBS, Lives, Points, Trap, relaunch, shuffled, surroundings_of, until_ready

WORKERS: Final = ("first", "second")
AN_HOUR: Final = timedelta(hours=1)
A_WEEK: Final = timedelta(days=7)
SETTLE_SECONDS: Final = 300
MAKING: Final = {"payouts.before_taking": range(1, 2)}
PAYING: Final = {
    "payouts.before_asking": range(1, 3),
    "payouts.before_recording": range(1, 6),
    "outbound.before": range(1, 3),
    "outbound.after": range(1, 3),
}
"""Where there is something to make or to pay: these come first, and there are no more of them than jobs survive."""
ANYWHERE: Final = {
    **{point: range(1, 13) for point in ("commit.before", "commit.after")},
    **{point: range(1, 5) for point in ("job.claimed", "job.before_end")},
}

BEGIN = "INSERT INTO kernel.schedule (name, last_at) VALUES ('payouts.daily', $1)"
FIRINGS = "SELECT count(*) FROM kernel.job_key WHERE key LIKE 'cron:payouts.daily:%'"
LEFT = """
    SELECT (SELECT count(*) FROM kernel.schedule WHERE name = $1 AND last_at < $2)
           + (SELECT count(*) FROM kernel.job WHERE kind LIKE ANY ('{payouts.%,webhooks.%}'))
           + (SELECT count(*) FROM kernel.outbox WHERE published_at IS NULL)
           + (SELECT count(*) FROM payouts.payout WHERE state NOT IN ('completed', 'failed', 'frozen'))
"""


def rounds_of(*traps: Points, seed: int = 1) -> list[list[Trap]]:
    """For both workers all of them, each in an order of its own, those that are named first before the others."""
    rounds: list[list[Trap]] = []
    for points in traps:
        both = [shuffled({name: points}, f"{seed} {name}") for name in WORKERS]
        rounds += [[*each] for each in zip(*both, strict=True)]
    return rounds


def every_round(seed: int) -> list[list[Trap]]:
    return rounds_of(MAKING, PAYING, ANYWHERE, seed=seed)


def last_monday(now: datetime) -> datetime:
    return datetime.combine(now.date() - timedelta(days=now.weekday()), time(), UTC)


@dataclass
class Payday:
    """The owners, whoever pays them, and the bank."""

    monday: datetime
    owners: Sequence[Owner]
    file: Path
    api: ToyProcess
    workers: Sequence[ToyProcess]
    port: int
    provider: httpx.AsyncClient
    superuser_url: str
    books: asyncpg.Connection
    chance: random.Random
    lives: Lives = field(default_factory=Lives)
    arrived: int = 0
    returned: int = 0

    async def bank(self, over: asyncio.Event) -> None:
        """What the provider took arrives after a while; what goes to some owners on the first Monday comes back."""
        unlucky = {(each.id, self.monday.date()) for each in self.owners if each.fate == RETURNED}
        books = await asyncpg.connect(self.superuser_url)
        try:
            while not over.is_set():
                fresh = [each for each in self._own().paid() if each.status == "pending"]
                rows = await books.fetch(PAYOUTS) if fresh else []
                ours = {row["id"]: (row["payee_id"], row["period"]) for row in rows}
                for each in fresh:
                    comes_back = ours.get(each.key) in unlucky
                    deed = "fail" if comes_back else "arrive"
                    answer = await self.provider.post(f"/v1/test_helpers/{each.reference}/{deed}", json={})
                    assert answer.status_code == 200, answer.text
                    self.returned += comes_back
                    self.arrived += not comes_back
                await asyncio.sleep(self.chance.choice((0.05, 0.3)))
        finally:
            await books.close()

    def _own(self) -> PayoutBooks:
        return PayoutBooks(self.file, self.books, self.owners)

    async def settle(self, ahead: timedelta, schedule: str, since: datetime) -> list[str]:
        """Ordinary lives, in which it is later; what is left when that schedule had its turn and all of it its time."""
        for process in self.workers:
            relaunch(process, int(ahead.total_seconds()))
        left = 0
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                while left := await self.books.fetchval(LEFT, schedule, since):
                    await asyncio.sleep(0.1)
        except TimeoutError:
            jobs = [str(dict(row)) for row in await self.books.fetch(JOBS)]
            return [f"{left} jobs, facts and payouts; see {[str(each.said) for each in self.workers]}", *jobs]
        return []

    async def broken(self) -> dict[str, list[str]]:
        # Whoever was set up in this process has an address that is sealed under its keys, and not under a worker's.
        dead = [str(dict(row)) for row in await self.books.fetch(DEAD) if not row["kind"].startswith("identity.")]
        found = {
            "nothing is buried": dead,
            "every trap springs": [str(trap) for trap in self.lives.unsprung],
        }
        return await complaints(self._own()) | {name: rows for name, rows in found.items() if rows}

    async def figures(self) -> dict[str, int]:
        return {
            "traps that sprang": len(self.lives.sprung),
            "owners": len(self.owners),
            "payouts that arrived": self.arrived,
            "payouts that came back": self.returned,
            "midnights that were fired": await self.books.fetchval(FIRINGS),
        }


async def pay_under_fire(
    database_url: str,
    superuser_url: str,
    home: Path,
    rounds: Sequence[Sequence[Trap]],
    *,
    organizations: int = 40,
    each: int = 12,
    seed: int = 1,
) -> Verdict:
    """Spring them all, in each round one of each worker."""
    now = datetime.now(UTC)
    monday = last_monday(now)
    async with a_payday(database_url, superuser_url, home, monday, organizations, each, seed) as payday:
        over = asyncio.Event()
        bank = asyncio.create_task(payday.bank(over))
        await payday.lives.together(dict(zip(WORKERS, payday.workers, strict=True)), rounds)
        left = await payday.settle(AN_HOUR, "payouts.complete", now + AN_HOUR / 2)
        next_monday = monday + A_WEEK
        left += await payday.settle(next_monday + AN_HOUR - now, "payouts.daily", next_monday)
        over.set()
        await bank
        broken = await payday.broken() | ({"all settles": left} if left else {})
        return Verdict(seed, sum(map(len, rounds)), await payday.figures(), broken)


@asynccontextmanager
async def a_payday(
    database_url: str, superuser_url: str, home: Path, monday: datetime, organizations: int, each: int, seed: int
) -> AsyncIterator[Payday]:
    """The provider and the API run when the block begins; the workers have yet to live."""
    file = home / "sandbox" / "journal.sqlite"
    owners = await _owners(database_url, file, monday, organizations, each, seed)
    api_port = free_port()
    async with AsyncExitStack() as stack:
        books = await asyncpg.connect(superuser_url)
        stack.push_async_callback(books.close)
        await books.execute(BEGIN, monday - A_WEEK)
        port, _ = await stack.enter_async_context(a_sandbox_process(home, listener=api_port))
        client = await stack.enter_async_context(a_client(port))
        surroundings, module = surroundings_of(port), "bench.faults.money.lives"
        api = ToyProcess(database_url, home, "api", module, "api", str(api_port), **surroundings)
        workers = [ToyProcess(database_url, home, name, module, "worker", **surroundings) for name in WORKERS]
        for process in (api, *workers):
            stack.callback(lambda each=process: each.kill() if each.lives else None)
        api.launch()
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{api_port}") as http:
            await until_ready(http)
        chance = random.Random(f"payday {seed}")
        yield Payday(monday, owners, file, api, workers, api_port, client, superuser_url, books, chance)


async def _owners(
    database_url: str, file: Path, monday: datetime, organizations: int, each: int, seed: int
) -> list[Owner]:
    """In this process, on the provider's own file, before anybody else opens it."""
    file.parent.mkdir()
    journal = Journal(file)
    try:
        async with Database(database_url) as database:
            batcher = Batcher(database)
            async with a_world(database, batcher, journal=journal, terms=TERMS) as world:
                owners = await some_owners(world, monday, organizations=organizations, each=each, seed=seed)
                while due := world.simulator.due_deliveries():
                    world.simulator.delivered(*due)
            await batcher.drain()
    finally:
        journal.close()
    return owners
