"""The API, the workers and PostgreSQL killed, paused, cut off and frozen at random under load (F1 to F3, F6, F7)."""

from bench.faults.installation import Installation
from bench.faults.nemesis import Deed, Nemesis, Threat
from bench.faults.report import Report
from bench.faults.trial import Scale, a_trial
from bench.faults.world import API, DATABASE_SERVER, Shape

WORKERS = ("worker-1", "worker-2")
LEASE_SECONDS = 1.0
THREATS = (
    Threat(Deed.KILL, (API,), (0.0, 0.5)),
    Threat(Deed.KILL, WORKERS, (0.0, 1.0)),
    Threat(Deed.KILL, (DATABASE_SERVER,)),
    Threat(Deed.PAUSE, (API,), (0.2, 2.0)),
    Threat(Deed.PAUSE, WORKERS, (1.2 * LEASE_SECONDS, 3 * LEASE_SECONDS)),
    Threat(Deed.PAUSE, (DATABASE_SERVER,), (0.2, 1.5)),
    Threat(Deed.CUT, (API, *WORKERS)),
    Threat(Deed.PART, (API, *WORKERS), (0.2, 2.0)),
    Threat(Deed.CUT_BEFORE_COMMIT, (API, *WORKERS)),
    Threat(Deed.CUT_AFTER_COMMIT, (API, *WORKERS)),
    Threat(Deed.RETELL, (DATABASE_SERVER,)),
)


async def kills(installation: Installation, seed: int, scale: Scale) -> Report:
    shape = Shape(workers=len(WORKERS), lease_seconds=LEASE_SECONDS, wired=True)
    async with a_trial("kills", installation, seed, shape) as trial:
        nemesis = Nemesis(seed, THREATS, gap_seconds=(0.2, 1.0))
        async with trial.crowd.at_work():
            await trial.crowd.until_done(20)
            await nemesis.rage(trial.world, blows=scale.blows)
            await trial.crowd.until_done(20)
        return await trial.verdict(nemesis.struck)
