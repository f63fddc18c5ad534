"""Bugs that are planted on purpose, and the invariant that must notice each of them (F17).

Promise: a harness that stays green over a planted bug is worth nothing; here it must turn red. Two plants change
nothing, because what they take away is protected twice; that is shown as well.
"""

from dataclasses import dataclass

from bench.faults import engine, toy
from bench.faults.installation import Installation
from bench.faults.nemesis import Deed, Nemesis, Threat
from bench.faults.report import Report
from bench.faults.trial import LIVENESS, Scale, a_trial
from bench.faults.world import DATABASE_SERVER, Shape

WORKERS = ("worker-1", "worker-2")
LEASE_SECONDS = 0.5
KILL = Threat(Deed.KILL, WORKERS[:1], (0.0, 0.2))
PAUSE = Threat(Deed.PAUSE, WORKERS, (3 * LEASE_SECONDS, 4 * LEASE_SECONDS))
RETELL = Threat(Deed.RETELL, (DATABASE_SERVER,))


@dataclass(frozen=True)
class Plant:
    name: str
    noticed_by: str | None
    """The invariant; or nobody, where there is a second protection."""
    threats: tuple[Threat, ...] = (RETELL,)
    workers: int = len(WORKERS)
    """One, where all work must be in the hands of the one who is killed."""
    blows: int = 3
    deeds: int = 0
    """Jobs that linger, of which somebody is always in the middle."""
    settle_seconds: float = 60


PLANTS = (
    Plant("acknowledge_without_commit", toy.counted_as_told.name, settle_seconds=3),
    Plant("forget_answers", engine.same_key_same_answer.name),
    Plant("put_facts_off_for_ever", engine.facts_are_published.name, settle_seconds=3),
    Plant("end_before_work", toy.heard_once.name, (KILL,), workers=1, deeds=240),
    Plant("end_whatever_happened", toy.heard_once.name, (PAUSE,), deeds=240, blows=8),
    Plant("publish_without_jobs", toy.heard_once.name),
    Plant("no_inbox", engine.every_job_ended.name),
    Plant("neither_keys_nor_inbox", toy.heard_once.name),
    Plant("orphans_stay", LIVENESS, (KILL,), workers=1, deeds=240, settle_seconds=5),
    Plant("end_without_fence", None, (PAUSE,), deeds=240, blows=8),
    Plant("keys_that_do_not_last", None),
)


async def plants(installation: Installation, seed: int, scale: Scale) -> Report:  # noqa: ARG001  Each is small.
    """All of them, one after another: broken is what nobody noticed, or somebody noticed without a cause."""
    wrong = {}
    for plant in PLANTS:
        report = await planted(installation, seed, plant)
        if plant.noticed_by not in report.broken if plant.noticed_by else report.broken:
            wrong[f"{plant.name} is noticed by: {plant.noticed_by}"] = [*report.broken, *map(str, report.done)]
    return Report("plants", seed, [plant.name for plant in PLANTS], broken=wrong)


async def planted(installation: Installation, seed: int, plant: Plant) -> Report:
    """A little of everything under the bug; the report is to be broken."""
    shape = Shape(workers=plant.workers, lease_seconds=LEASE_SECONDS, plant=plant.name)
    async with a_trial("plants", installation, seed, shape, settle_seconds=plant.settle_seconds) as trial:
        nemesis = Nemesis(seed, plant.threats, gap_seconds=(0.3, 0.6))
        async with trial.world.books() as books, trial.crowd.at_work():
            await trial.crowd.until_done(60)
            await toy.enqueue(books, trial.members, plant.deeds, lingering=1)
            await nemesis.rage(trial.world, blows=plant.blows)
        report = await trial.verdict(nemesis.struck)
        trial.held = True  # Nobody wants to read the words of a planted bug.
        return report
