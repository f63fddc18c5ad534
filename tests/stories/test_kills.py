"""Whatever dies, nothing that was acknowledged is lost and nothing is counted twice.

Real processes on a database of their own that is durable as in production: fsync on, the API killed or stopped, the
postmaster killed. Clients write down what they were told before they send more, and afterwards the books must agree
with every word of it. `ADMITONE_SOAK_ROUNDS=50` runs more rounds, `ADMITONE_SOAK_SEED` chooses the first of them; the
seed of a failure stands in the name of its test.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.kernel import failpoints
from admitone.kernel.db import Database, Tx
from admitone.kernel.embedded import SUPERUSER, Cluster, Server, find_server, tool
from admitone.kernel.errors import OutcomeUnknown
from admitone.kernel.migrate import migrate
from admitone.kernel.scope import Scope
from tests.builders import a_credential, an_increment, an_organization, value_of
from tests.conftest import TOY_SCHEMA, run_as_superuser
from tests.toy import commands
from tests.toy.routes import INCREMENT
from tests.toy.server import ToyServer, a_toy_server

FIRST_SEED = int(os.environ.get("ADMITONE_SOAK_SEED", "1"))
ROUNDS = int(os.environ.get("ADMITONE_SOAK_ROUNDS", "1"))
CLIENTS = 8
COUNTERS = ("north", "south")
ENVELOPE = {"errorCode", "message", "retryable", "correlationId"}

pytestmark = [
    pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + ROUNDS)),
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]


# -- What is sent, and what is told


@dataclass(frozen=True)
class Order:
    """One increment. No two orders of a round have the same amount, so a row tells which order made it."""

    key: str
    counter: str
    amount: int


class Fate(StrEnum):
    DONE = "done"
    NOT_DONE = "not done"
    UNKNOWN = "unknown"


TIMES_COUNTED = {Fate.DONE: {1}, Fate.NOT_DONE: {0}, Fate.UNKNOWN: {0, 1}}


@dataclass(frozen=True)
class Told:
    order: Order
    fate: Fate
    answer: dict[str, Any] = field(default_factory=dict)


class Journal:
    """What clients were told, on disk before they send more."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.done = 0

    def close(self) -> None:
        os.close(self._handle)

    def note(self, told: Told) -> None:
        os.write(self._handle, json.dumps(asdict(told)).encode() + b"\n")
        os.fsync(self._handle)
        self.done += told.fate is Fate.DONE

    def verdicts(self) -> dict[Order, Told]:
        """One per order, which may have been sent to several servers: one yes is a yes, and all yeses are the same."""
        heard = defaultdict(list)
        for line in self._file.read_text().splitlines():
            entry = json.loads(line)
            told = Told(Order(**entry["order"]), Fate(entry["fate"]), entry["answer"])
            heard[told.order].append(told)
        return {order: _verdict(some) for order, some in heard.items()}


def _verdict(some: list[Told]) -> Told:
    yeses = [told for told in some if told.fate is Fate.DONE]
    assert all(told.answer == yeses[0].answer for told in yeses), f"two answers under one key: {yeses}"
    return next((told for fate in Fate for told in some if told.fate is fate and fate is not Fate.NOT_DONE), some[0])


# -- The ground: a durable cluster, an organisation, clients


@dataclass(frozen=True)
class Ground:
    cluster: Cluster

    @property
    def home(self) -> Path:
        return self.cluster.home

    @property
    def url(self) -> str:
        return self.cluster.url()

    @asynccontextmanager
    async def superuser(self) -> AsyncIterator[asyncpg.Connection]:
        connection = await asyncpg.connect(self.cluster.url(SUPERUSER))
        try:
            yield connection
        finally:
            await connection.close()


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    home = Path(tempfile.mkdtemp(prefix="admitone-kills-"))
    home.chmod(0o711)
    cluster = Cluster(home, {"shared_buffers": "32MB"}, tell=lambda text: None)
    assert cluster.settings.get("fsync", "on") == "on"
    try:
        cluster.start()
        url = cluster.url(SUPERUSER)
        asyncio.run(migrate(url))
        asyncio.run(run_as_superuser(url, f"SET ROLE admitone_owner; {TOY_SCHEMA.read_text()}"))
        yield Ground(cluster)
    finally:
        cluster.remove()


@pytest.fixture(autouse=True)
def patience(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever keeps a server that dies often waits longer each time; here it dies on purpose."""
    monkeypatch.setattr("admitone.kernel.embedded.keeper._SETTLED_SECONDS", 0.0)


@pytest.fixture(scope="module")
def api(ground: Ground) -> Iterator[ToyServer]:
    """A server that nobody kills."""
    with a_toy_server(ground.url, ground.home) as server:
        yield server


class Crowd:
    """Clients of one organisation that increment its counters, each one thing at a time."""

    def __init__(self, ground: Ground, scope: Scope, credential: str, journal: Journal, chance: random.Random) -> None:
        self.ground = ground
        self.scope = scope
        self.journal = journal
        self.chance = chance
        self._authorization = f"Bearer {credential}"
        self._numbers = count(1)

    def an_order(self) -> Order:
        number = next(self._numbers)
        return Order(f"key-{number}", self.chance.choice(COUNTERS), number)

    async def send(self, http: httpx.AsyncClient, server: ToyServer, order: Order) -> Told:
        told = await self._ask(http, server, order)
        self.journal.note(told)
        return told

    async def _ask(self, http: httpx.AsyncClient, server: ToyServer, order: Order) -> Told:
        body = {"counter": order.counter, "amount": order.amount, "idempotencyKey": order.key}
        headers = {
            "authorization": self._authorization,
            "x-orya-org-id": str(self.scope.organization),
            "x-device-id": f"device-{order.amount}",
        }
        try:
            response = await http.post(f"{server.url}/api/toy/increments", json=body, headers=headers)
        except httpx.ConnectError:
            return Told(order, Fate.NOT_DONE)
        except httpx.TransportError:
            return Told(order, Fate.UNKNOWN)
        if response.status_code == 200:
            return Told(order, Fate.DONE, response.json())
        envelope = response.json()
        is_not_now = response.status_code == 503 and envelope.keys() >= ENVELOPE and envelope["retryable"]
        assert is_not_now, f"{response.text}\n{server.words_about(envelope['correlationId'])}"
        return Told(order, Fate.UNKNOWN if envelope["errorCode"] == "OUTCOME_UNKNOWN" else Fate.NOT_DONE)

    @asynccontextmanager
    async def at_work(self, *servers: ToyServer) -> AsyncIterator[None]:
        """Load from the start to the end of the block; every order goes to all the servers at once."""
        over = asyncio.Event()

        async def work(patience: float) -> None:
            async with httpx.AsyncClient(timeout=patience) as http:
                while not over.is_set():
                    order = self.an_order()
                    told = await asyncio.gather(*(self.send(http, server, order) for server in servers))
                    if any(each.fate is not Fate.DONE for each in told):
                        await asyncio.sleep(0.02)

        # Half of the clients do not wait for long, and leave without an answer.
        workers = [asyncio.create_task(work(1 if number % 2 else 20)) for number in range(CLIENTS)]
        try:
            yield
        finally:
            over.set()
            await asyncio.gather(*workers)

    async def until_done(self, more: int, seconds: float = 30) -> None:
        """Until so many more were acknowledged."""
        wanted = self.journal.done + more
        await until(lambda: self.journal.done >= wanted, seconds)

    async def settle(self, server: ToyServer) -> dict[Order, Told]:
        """Compare the books with what clients were told, then ask again what is unknown and compare once more."""
        verdicts = self.journal.verdicts()
        times = await self._times_counted()
        wrong = [(told, n) for o, told in verdicts.items() if (n := times[o.amount]) not in TIMES_COUNTED[told.fate]]
        assert not wrong, f"counted another number of times than told: {wrong}"

        async with httpx.AsyncClient(timeout=20) as http:
            unknown = [order for order, told in verdicts.items() if told.fate is Fate.UNKNOWN]
            known = [order for order, told in verdicts.items() if told.fate is Fate.DONE]
            for order in [*unknown, *self.chance.sample(known, min(10, len(known)))]:
                for _ in range(2):
                    assert (await self.send(http, server, order)).fate is Fate.DONE
        verdicts = self.journal.verdicts()
        await self._balance([told for told in verdicts.values() if told.fate is Fate.DONE])
        return verdicts

    async def _times_counted(self) -> Counter[int]:
        async with self.ground.superuser() as books:
            rows = await books.fetch(
                "SELECT amount FROM toy.increment WHERE organization_id = $1", self.scope.organization.uuid
            )
        return Counter(row["amount"] for row in rows)

    async def _balance(self, done: list[Told]) -> None:
        """Each done order counted once, nothing else counted, and all answers fit one order of events."""
        assert await self._times_counted() == Counter(told.order.amount for told in done)
        async with self.ground.superuser() as books:
            counters = await books.fetch(
                "SELECT name, value FROM toy.counter WHERE organization_id = $1", self.scope.organization.uuid
            )
            keys = await books.fetchval(
                "SELECT count(*) FROM kernel.idempotency_key WHERE organization_id = $1", self.scope.organization.uuid
            )
        assert keys == len(done)
        for name, value in counters:
            so_far = 0
            for told in sorted((t for t in done if t.order.counter == name), key=lambda told: told.answer["value"]):
                so_far += told.order.amount
                assert told.answer["value"] == so_far, f"{told} does not follow from the ones before it"
            assert so_far == value


@pytest.fixture
async def crowd(ground: Ground, seed: int, tmp_path: Path) -> AsyncIterator[Crowd]:
    async with Database(ground.url) as database, ground.superuser() as superuser:
        scope = await an_organization(database, *COUNTERS)
        credential = await a_credential(superuser, scope, INCREMENT)
    journal = Journal(tmp_path / "journal")
    yield Crowd(ground, scope, credential.text, journal, random.Random(seed))
    journal.close()


def crash(ground: Ground) -> Server:
    """Kill -9 of the postmaster, under a keeper that starts it again. Returns when it is back."""
    former = ground.cluster.server.pid
    os.kill(former, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while (server := find_server(ground.home)) is None or server.pid == former:
        assert time.monotonic() < deadline, "the database did not come back in time"
        time.sleep(0.02)
    return server


def give_numbers(ground: Ground, numbers: int) -> None:
    """So many transactions that commit."""
    asked = [tool("psql"), "-XqAt", "-d", ground.cluster.url(SUPERUSER)]
    subprocess.run(
        [*asked, *["-c", "SELECT pg_current_xact_id()"] * numbers, "-c", ""], check=True, capture_output=True
    )


async def until(happened: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)


# -- What goes wrong


@pytest.mark.covers("INV-I06")
@pytest.mark.parametrize("point", ["commit.before", "commit.after"])
async def test_an_api_that_dies_at_a_commit_neither_loses_nor_repeats(
    ground: Ground, crowd: Crowd, point: str, seed: int
) -> None:
    turn = crowd.chance.randint(5, 60)
    with a_toy_server(ground.url, ground.home, ADMITONE_FAILPOINTS=f"{point}=kill@{turn}") as doomed:
        async with crowd.at_work(doomed):
            await until(lambda: not doomed.lives)
        fates = Counter(told.fate for told in crowd.journal.verdicts().values())
        assert fates[Fate.UNKNOWN], "nobody noticed, so nothing was proven"
        doomed.start()
        await crowd.settle(doomed)


@pytest.mark.covers("INV-I06")
async def test_a_lost_answer_to_commit_is_found_out_and_nobody_notices(ground: Ground, crowd: Crowd, seed: int) -> None:
    turn = crowd.chance.randint(5, 60)
    with a_toy_server(ground.url, ground.home, ADMITONE_FAILPOINTS=f"commit.after=cut@{turn}") as api:
        async with crowd.at_work(api):
            await crowd.until_done(200)
        verdicts = await crowd.settle(api)
    assert {told.fate for told in verdicts.values()} == {Fate.DONE}


@pytest.mark.covers("INV-I06", "INV-I09")
async def test_the_api_outlives_the_database_and_recovers_by_itself(
    ground: Ground, api: ToyServer, crowd: Crowd, seed: int
) -> None:
    async with crowd.at_work(api):
        await crowd.until_done(crowd.chance.randint(20, 100))
        await asyncio.to_thread(crash, ground)
        await crowd.until_done(50)
    await crowd.settle(api)


@pytest.mark.covers("INV-I06")
@pytest.mark.parametrize("numbers_given_again", [0, 20])
async def test_a_commit_that_died_with_the_server_is_not_taken_for_a_later_one(
    ground: Ground, numbers_given_again: int, seed: int
) -> None:
    """What a crash erased never had a number: the next transactions get it, and commit under it."""
    async with Database(ground.url) as database:
        scope = await an_organization(database)
        crashed: list[Server] = []

        def die_once() -> None:
            if not crashed:
                crashed.append(crash(ground))
                give_numbers(ground, numbers_given_again)

        with failpoints.armed("commit.before", die_once):
            try:
                await database.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
            except OutcomeUnknown:
                assert await value_of(database, scope) in (0, 1)
            else:
                assert await value_of(database, scope) == 1, "acknowledged and lost"


async def test_a_connection_that_dies_under_a_transaction_is_replaced(ground: Ground, seed: int) -> None:
    async with Database(ground.url) as database, ground.superuser() as superuser:
        scope = await an_organization(database)
        deaths = ["one"]

        async def work(tx: Tx) -> None:
            await commands.increment(tx, [an_increment()])
            if deaths:
                deaths.pop()
                [[pid]] = await tx.fetch("SELECT pg_backend_pid() WHERE $1::uuid IS NOT NULL")
                await superuser.execute("SELECT pg_terminate_backend($1, 1000)", pid)
                await asyncio.sleep(0.1)  # Long enough for the driver to hear of it by itself.
                await commands.increment(tx, [an_increment()])

        await database.run(scope, work)
        assert await value_of(database, scope) == 1


@pytest.mark.covers("INV-I06")
async def test_an_api_that_is_stopped_for_a_while_goes_on(api: ToyServer, crowd: Crowd, seed: int) -> None:
    async with crowd.at_work(api):
        await crowd.until_done(crowd.chance.randint(20, 100))
        api.send(signal.SIGSTOP)
        await asyncio.sleep(2)
        api.send(signal.SIGCONT)
        await crowd.until_done(50)
    verdicts = await crowd.settle(api)
    assert Fate.NOT_DONE not in {told.fate for told in verdicts.values()}


@pytest.mark.covers("INV-I06", "CON-004")
async def test_the_same_keys_at_two_servers_at_once_count_once(
    ground: Ground, api: ToyServer, crowd: Crowd, seed: int
) -> None:
    with a_toy_server(ground.url, ground.home) as other:
        async with crowd.at_work(api, other):
            await crowd.until_done(300)
        verdicts = await crowd.settle(other)
    assert {told.fate for told in verdicts.values()} == {Fate.DONE}
