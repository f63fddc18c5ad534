"""One trial: a world with members and clients, trouble from a seed, and a verdict when all has settled."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.faults import toy
from bench.faults.engine import ANSWERS, JOBS
from bench.faults.installation import Installation
from bench.faults.invariants import Evidence, Invariant, complaints
from bench.faults.journal import Journal
from bench.faults.load import Crowd
from bench.faults.report import Report
from bench.faults.settling import SETTLE_SECONDS, settle
from bench.faults.world import Shape, World, a_world

LASTING: Sequence[Invariant] = (*JOBS, *toy.COUNTERS, *toy.HEARD)
LIVENESS = "all settles within 120 s (20)"


@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    blows: int
    jobs: int
    seconds: float
    """For what takes time rather than turns."""
    measures: bool = True
    """Whether figures must be reached; a test does not depend on the machine."""


SMALL = Scale(blows=6, jobs=300, seconds=1, measures=False)
LARGE = Scale(blows=20, jobs=20_000, seconds=20)


@dataclass
class Trial:
    scenario: str
    seed: int
    world: World
    members: Sequence[toy.Member]
    crowd: Crowd
    settle_seconds: float = SETTLE_SECONDS
    held: bool = False
    """If not, the words of its processes stay where the report says."""

    async def verdict(
        self,
        done: Sequence[object] = (),
        *,
        poison: Mapping[str, str] | None = None,
        figures: Mapping[str, float] | None = None,
        left: Sequence[str] = (),
        missed: Mapping[str, Sequence[str]] | None = None,
    ) -> Report:
        """Let all settle, compare with what clients were told, ask again what is unknown, and compare once more."""
        left = [*left, *await settle(self.world, self.settle_seconds)]
        async with self.world.books() as books:
            evidence = Evidence(self.world, books, self.crowd, poison or {})
            told = self.crowd.journal.tally()
            broken = dict(missed or {}) | await complaints(evidence, [toy.counted_as_told, *(ANSWERS if told else ())])
            left += await settle(self.world, 0 if left else self.settle_seconds)
            broken |= await complaints(evidence, LASTING)
        if left:
            broken[LIVENESS] = left
        self.held = not broken
        told |= {"lives": self.world.lives}
        said = [str(process.said) for process in self.world.processes.values()]
        return Report(self.scenario, self.seed, [str(each) for each in done], told, figures or {}, broken, said)


@asynccontextmanager
async def a_trial(
    scenario: str, installation: Installation, seed: int, shape: Shape | None = None, **said: float
) -> AsyncIterator[Trial]:
    folder = Path(tempfile.mkdtemp(prefix=f"admitone-{scenario}-{seed}-"))
    async with a_world(installation, folder, shape) as world:
        members = await toy.some_members(world)
        journal = Journal(folder / "journal")
        try:
            crowd = Crowd(toy.Increments(members), world.api.url, journal, seed)
            trial = Trial(scenario, seed, world, members, crowd, **said)
            yield trial
        finally:
            journal.close()
    if trial.held:
        shutil.rmtree(folder)
