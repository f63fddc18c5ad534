"""The API and the worker killed or cut at every named failpoint, at its first to fifth passing (F1)."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench.faults import toy
from bench.faults.installation import Installation
from bench.faults.report import Report
from bench.faults.settling import settle
from bench.faults.trial import Scale, Trial, a_trial
from bench.faults.world import API, Shape

WORKER = "worker-1"
# Nothing is cut before COMMIT: the wire does that, and there the driver says so. An error of nobody's is a bug.
POINTS = {
    API: ("commit.before=kill", "commit.after=kill", "commit.after=cut"),
    WORKER: (
        *("commit.before=kill", "commit.after=kill", "commit.after=cut"),
        *("job.claimed=kill", "job.claimed=cut", "job.before_end=kill", "job.before_end=cut"),
    ),
}
TURNS = 5
COMMITS = 10
"""A worker that begins commits more often than it does anything else."""
JOBS = 6
SETTLE_SECONDS = 20


@dataclass(frozen=True)
class Trap:
    process: str
    point: str
    turn: int

    def __str__(self) -> str:
        return f"{self.process}: {self.point}@{self.turn}"


TRAPS = [
    Trap(process, point, turn)
    for process, points in POINTS.items()
    for point in points
    for turn in range(1, (COMMITS if point.startswith("commit") else TURNS) + 1)
]


async def points(installation: Installation, seed: int, scale: Scale) -> Report:
    """As many traps as the scale allows, in an order that the seed says; a large one has room for all."""
    traps = random.Random(f"points {seed}").sample(TRAPS, min(len(TRAPS), 4 * scale.blows))
    return await spring(installation, seed, traps)


async def spring(installation: Installation, seed: int, traps: Sequence[Trap]) -> Report:
    async with a_trial("points", installation, seed, Shape(lease_seconds=0.5)) as trial:
        left: list[str] = []
        for number, trap in enumerate(traps):
            await _spring(trial, trap, number)
            if left := await settle(trial.world, SETTLE_SECONDS):
                left.append(f"after {trap}")
                break
        for process in trial.world.processes.values():  # A trap that nobody stepped into must not spring later.
            await trial.world.by_hand(process.end)
        return await trial.verdict(traps, left=left)


async def _spring(trial: Trial, trap: Trap, number: int) -> None:
    """A life with the trap, which finds work to do when it begins; the lives after it are ordinary."""
    world = trial.world
    world.down.add(trap.process)
    await world.by_hand(world.processes[trap.process].end)
    async with world.books() as books:
        await toy.enqueue(books, trial.members, JOBS, name=f"trap-{number}")
    if trap.process == WORKER:
        async with trial.crowd.at_work():
            await trial.crowd.until_done(JOBS)
    await world.launch(trap.process, ADMITONE_FAILPOINTS=f"{trap.point}@{trap.turn}")
    world.down.discard(trap.process)
    if trap.process == API:
        await world.wait_until_up()
        async with trial.crowd.at_work():
            await asyncio.sleep(0.3)
