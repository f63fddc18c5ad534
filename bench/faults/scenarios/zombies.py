"""Many jobs, two workers, killed and paused past their lease: as many effects as jobs, and zombies change nothing."""

from bench.faults import toy
from bench.faults.installation import Installation
from bench.faults.nemesis import Deed, Nemesis, Threat
from bench.faults.report import Report
from bench.faults.trial import Scale, a_trial
from bench.faults.world import Shape

WORKERS = ("worker-1", "worker-2")
LEASE_SECONDS = 1.0
LINGERING_IN_ALL = 80
"""Jobs that take their time, so that there is always somebody in the middle of one."""
THREATS = (
    Threat(Deed.KILL, WORKERS, (0.0, 0.5)),
    Threat(Deed.PAUSE, WORKERS, (1.3 * LEASE_SECONDS, 3 * LEASE_SECONDS)),
)


async def zombies(installation: Installation, seed: int, scale: Scale) -> Report:
    shape = Shape(workers=len(WORKERS), lease_seconds=LEASE_SECONDS)
    async with a_trial("zombies", installation, seed, shape) as trial:
        nemesis = Nemesis(seed, THREATS, gap_seconds=(0.1, 0.8))
        async with trial.world.books() as books:
            await toy.enqueue(books, trial.members, scale.jobs, lingering=scale.jobs // LINGERING_IN_ALL)
        await nemesis.rage(trial.world, blows=scale.blows)
        return await trial.verdict(nemesis.struck, figures={"jobs": scale.jobs})
