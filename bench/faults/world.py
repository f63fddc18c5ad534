"""One database and the processes on it: the API, workers, the postmaster, and the wires in between.

Promise: everybody can be killed, paused and cut off by name, and whoever is dead and not held down is started again,
as a supervisor would. Nothing outlives the world.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import asyncpg
from tests.proxy import Wire, a_wire
from tests.toy.process import ToyProcess
from tests.toy.server import ToyServer
from tests.toy.worker import ToyWorker

from admitone.kernel.embedded import SUPERUSER, Cluster, Server
from admitone.kernel.embedded.server import data_folder, find_server, living
from bench.faults.installation import Installation

READY_SECONDS = 60
API, DATABASE_SERVER = "api", "database"


class Victim(Protocol):
    """Whoever can be hurt."""

    @property
    def lives(self) -> bool: ...
    def kill(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...


class Postmaster:
    """The database's processes. Its keeper starts it again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._paused: list[int] = []

    @property
    def lives(self) -> bool:
        return find_server(self._cluster.home) is not None

    def kill(self) -> None:
        if server := find_server(self._cluster.home):
            with suppress(ProcessLookupError):
                os.kill(server.pid, signal.SIGKILL)

    def pause(self) -> None:
        self._paused = living(data_folder(self._cluster.home))
        self._send(signal.SIGSTOP)

    def resume(self) -> None:
        self._send(signal.SIGCONT)
        self._paused = []

    def _send(self, order: signal.Signals) -> None:
        for pid in self._paused:
            with suppress(ProcessLookupError):
                os.kill(pid, order)


@dataclass(frozen=True)
class Shape:
    """What a world is made of."""

    workers: int = 1
    lease_seconds: float = 1.0
    wired: bool = False
    """Whether there are wires that can be cut, at the price of a slower database."""
    plant: str = ""
    """A bug, planted in every process."""


@dataclass
class World:
    installation: Installation
    shape: Shape
    database: str
    folder: Path
    wires: dict[str, Wire] = field(default_factory=dict)
    processes: dict[str, ToyProcess] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    """Who is not to be started again for now."""
    lives: int = 0
    """How many processes were started in all."""
    _hand: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    @property
    def api(self) -> ToyServer:
        server = self.processes[API]
        assert isinstance(server, ToyServer)
        return server

    @property
    def workers(self) -> dict[str, ToyProcess]:
        return {name: process for name, process in self.processes.items() if name != API}

    @property
    def victims(self) -> dict[str, Victim]:
        return {**self.processes, DATABASE_SERVER: Postmaster(self.installation.cluster)}

    def url(self, user: str = "admitone") -> str:
        """Also while the server is away: its socket stays where it is."""
        folder = data_folder(self.installation.home).parent / "socket"
        return Server(0, folder).url(user, self.database)

    @asynccontextmanager
    async def books(self) -> AsyncIterator[asyncpg.Connection]:
        """As the one who sees everything; waits for a server that is coming back."""
        async with asyncio.timeout(READY_SECONDS):
            while True:
                try:
                    connection = await asyncpg.connect(self.url(SUPERUSER), timeout=5)
                    break
                except (OSError, asyncpg.PostgresError):
                    await asyncio.sleep(0.1)
        try:
            yield connection
        finally:
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await connection.close(timeout=5)

    async def launch(self, name: str, **environ: str) -> None:
        """Begin a life with these surroundings; the next one is ordinary again."""
        given = {"TOY_LEASE_SECONDS": str(self.shape.lease_seconds), "TOY_PLANT": self.shape.plant, **environ}
        self.lives += 1
        await self.by_hand(lambda: self.processes[name].launch(**given))

    async def by_hand(self, work: Callable[[], Any]) -> Any:
        """In the one thread that lives as long as the world: children die with the thread that made them."""
        return await asyncio.get_running_loop().run_in_executor(self._hand, work)

    async def is_up(self) -> bool:
        """Everybody lives, and the API says that it is ready."""
        return all(victim.lives for victim in self.victims.values()) and await asyncio.to_thread(self.api.is_ready)

    async def wait_until_up(self) -> None:
        async with asyncio.timeout(READY_SECONDS):
            while not await self.is_up():
                await asyncio.sleep(0.05)

    async def keep(self) -> None:
        """Start again whoever is dead and not held down."""
        while True:
            for name, process in self.processes.items():
                if name not in self.down and not process.lives:
                    await self.launch(name)
            await asyncio.sleep(0.05)

    def end(self) -> None:
        for process in self.processes.values():
            if process.lives:
                process.kill()
        self._hand.shutdown()


@asynccontextmanager
async def a_world(installation: Installation, folder: Path, shape: Shape | None = None) -> AsyncIterator[World]:
    """Everybody is up when the block begins."""
    shape = shape or Shape()
    world = World(installation, shape, await installation.clone(), folder)
    async with AsyncExitStack() as stack:
        stack.callback(world.end)
        for name in (API, *(f"worker-{number}" for number in range(1, shape.workers + 1))):
            url = world.url()
            if shape.wired:
                world.wires[name], url = await stack.enter_async_context(a_wire(url))
            world.processes[name] = ToyServer(url, folder) if name == API else ToyWorker(url, folder)
        keeping = asyncio.create_task(world.keep())
        stack.push_async_callback(_cancel, keeping)
        await world.wait_until_up()
        yield world


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
