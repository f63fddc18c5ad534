"""What breaks, when, and for how long: all of it from a seed.

Promise: the same seed plans the same blows in the same order. A blow that meets somebody who is down already does
nothing. When `rage` returns, whatever was hurt has been let go.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from tests.proxy import Cut

from bench.faults.world import World


class Deed(StrEnum):
    KILL = "kill -9"
    PAUSE = "pause"
    CUT = "cut its connections"
    PART = "keep from the database"
    CUT_BEFORE_COMMIT = "cut before its COMMIT"
    CUT_AFTER_COMMIT = "cut after its COMMIT"
    RETELL = "lose the relay's marks"
    """As after a restored backup: facts that were told look untold."""


@dataclass(frozen=True)
class Threat:
    """A deed that may fall on one of these, for a time between two numbers of seconds."""

    deed: Deed
    victims: Sequence[str]
    seconds: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Blow:
    after_seconds: float
    """Since the blow before it."""
    deed: Deed
    victim: str
    seconds: float

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"+{self.after_seconds:.2f} s {self.deed} {self.victim}{lasting}"


RETELL = """
    UPDATE kernel.outbox
       SET published_at = NULL
     WHERE event_id IN (SELECT event_id FROM kernel.outbox WHERE published_at IS NOT NULL
                         ORDER BY event_id DESC LIMIT 20)
"""


@dataclass
class Nemesis:
    """Blows without end; whoever holds it says how many, or how long."""

    seed: int
    threats: Sequence[Threat]
    gap_seconds: tuple[float, float]
    struck: list[Blow] = field(default_factory=list)

    def blows(self) -> Iterator[Blow]:
        chance = random.Random(f"nemesis {self.seed}")
        while True:
            threat = chance.choice(self.threats)
            yield Blow(
                chance.uniform(*self.gap_seconds),
                threat.deed,
                chance.choice(threat.victims),
                chance.uniform(*threat.seconds),
            )

    async def rage(self, world: World, *, blows: int | None = None, seconds: float | None = None) -> None:
        """Blows overlap: who is paused for long may meet a database that is killed."""
        async with asyncio.TaskGroup() as pains:
            try:
                async with asyncio.timeout(seconds):
                    for blow in islice(self.blows(), blows):
                        await asyncio.sleep(blow.after_seconds)
                        pains.create_task(self._strike(world, blow))
            except TimeoutError:
                pass

    async def _strike(self, world: World, blow: Blow) -> None:
        if blow.victim in world.down or not world.victims[blow.victim].lives:
            return
        self.struck.append(blow)
        world.down.add(blow.victim)
        try:
            await self._hurt(world, blow)
        finally:
            world.down.discard(blow.victim)

    async def _hurt(self, world: World, blow: Blow) -> None:
        victim = world.victims[blow.victim]
        match blow.deed:
            case Deed.KILL:
                victim.kill()
                await asyncio.sleep(blow.seconds)
            case Deed.PAUSE:
                victim.pause()
                await asyncio.sleep(blow.seconds)
                victim.resume()
            case Deed.CUT:
                world.wires[blow.victim].sever()
            case Deed.PART:
                wire = world.wires[blow.victim]
                wire.refuse = True
                wire.sever()
                await asyncio.sleep(blow.seconds)
                wire.refuse = False
            case Deed.CUT_BEFORE_COMMIT:
                world.wires[blow.victim].cut = Cut.BEFORE_COMMIT
            case Deed.CUT_AFTER_COMMIT:
                world.wires[blow.victim].cut = Cut.AFTER_COMMIT
            case Deed.RETELL:
                async with world.books() as books:
                    await books.execute(RETELL)
