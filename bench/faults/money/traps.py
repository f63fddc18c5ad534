"""Processes that live until a trap springs, one life after the other; and what is the same for all who kill them."""

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import httpx
from tests.finance.gateways.stages import SECRET as SANDBOX_SECRET
from tests.toy.process import ToyProcess

LIFE_SECONDS: Final = 75
"""Within which a trap must spring, or is given up: what is done by the minute is done by then."""
READY_SECONDS: Final = 60

JOBS = "SELECT kind, key, attempts, crashes, run_at, worker FROM kernel.job WHERE kind NOT LIKE 'ledger.%' LIMIT 4"
# A job that three workers did not survive is buried, however innocent: whoever kills so often plants poison.
DEAD = "SELECT kind, error FROM kernel.dead_letter WHERE replayed_at IS NULL AND reason <> 'CRASH_LIMIT'"

Points = Mapping[str, Iterable[int]]
"""At which points, by their turns in one life."""


@dataclass(frozen=True)
class Trap:
    process: str
    point: str
    turn: int

    def __str__(self) -> str:
        return f"{self.process}: {self.point}@{self.turn}"


def shuffled(traps: Mapping[str, Points], seed: object) -> list[Trap]:
    """All of them, by the processes that they are set for, in an order that the seed says."""
    every = [Trap(process, point, turn) for process, each in traps.items() for point in each for turn in each[point]]
    random.Random(f"traps {seed}").shuffle(every)
    return every


@dataclass
class Lives:
    sprung: list[Trap] = field(default_factory=list)
    unsprung: list[Trap] = field(default_factory=list)

    async def through(self, process: ToyProcess, traps: Sequence[Trap]) -> None:
        """One life for each trap, then an ordinary one."""
        for trap in traps:
            await self._one(process, trap)
        process.launch()

    async def together(self, processes: Mapping[str, ToyProcess], rounds: Sequence[Sequence[Trap]]) -> None:
        """In each round some of them, each with its trap; the next begins when all are dead. So nobody who has no trap
        does what others were to die of."""
        for traps in rounds:
            await asyncio.gather(*(self._one(processes[trap.process], trap) for trap in traps))

    async def _one(self, process: ToyProcess, trap: Trap) -> None:
        process.launch(ADMITONE_FAILPOINTS=f"{trap.point}=kill@{trap.turn}")
        (self.sprung if await _dies(process) else self.unsprung).append(trap)


async def _dies(process: ToyProcess) -> bool:
    """Of its trap; who steps into none is ended."""
    try:
        async with asyncio.timeout(LIFE_SECONDS):
            while process.lives:
                await asyncio.sleep(0.02)
        assert process.was_killed, process.said.read_text()[-2000:]
        return True
    except TimeoutError:
        process.kill()
        return False


def relaunch(process: ToyProcess, seconds_ahead: int) -> None:
    """An ordinary life, in which it is later."""
    if process.lives:
        process.kill()
    process.launch(MONEY_CLOCK_SECONDS=str(seconds_ahead))


def surroundings_of(sandbox_port: int) -> dict[str, str]:
    return {
        "ADMITONE_SANDBOX_URL": f"http://127.0.0.1:{sandbox_port}",
        "ADMITONE_SANDBOX_SECRET": SANDBOX_SECRET,
        "TRUSTED_PROXIES": "127.0.0.1",  # Everybody pays from an address of their own.
        "SMTP_URL": "smtp://127.0.0.1:1",
    }


async def until_ready(http: httpx.AsyncClient) -> None:
    async with asyncio.timeout(READY_SECONDS):
        while True:
            try:
                if (await http.get("/health/ready")).status_code == 200:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.05)
