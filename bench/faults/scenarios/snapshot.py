"""A snapshot that somebody holds while jobs flow: dead rows cannot be removed; when it ends, the flow recovers."""

import asyncio
import time
from statistics import median

from bench.faults import toy
from bench.faults.installation import Installation
from bench.faults.report import Report
from bench.faults.trial import Scale, Trial, a_trial

ROUNDS = 3
RECOVERY_SECONDS = 120
MUST = 0.7


async def snapshot(installation: Installation, seed: int, scale: Scale) -> Report:
    async with a_trial("snapshot", installation, seed) as trial:
        flow = Flow(trial, scale.jobs)
        await flow.rate()  # Once to warm up.
        before = await flow.usual_rate()
        async with trial.world.books() as holder, holder.transaction(isolation="repeatable_read"):
            await holder.execute("SELECT count(*) FROM kernel.job")
            held_until = time.monotonic() + scale.seconds * 3
            during = await flow.rate()
            while time.monotonic() < held_until:
                during = await flow.rate()
        after = await flow.usual_rate()
        recovered_by = time.monotonic() + RECOVERY_SECONDS
        while scale.measures and after < MUST * before and time.monotonic() < recovered_by:
            await asyncio.sleep(1)
            after = await flow.usual_rate()
        figures = {"jobs/s": before, "while held": during / before, "after": after / before}
        missed = {f"the flow recovers to {MUST} of what it was": [str(figures)]}
        slow = scale.measures and after < MUST * before
        return await trial.verdict(["a snapshot was held"], figures=figures, missed=missed if slow else None)


class Flow:
    """Jobs that are enqueued at once and run to the last."""

    def __init__(self, trial: Trial, jobs: int) -> None:
        self._trial = trial
        self._jobs = jobs
        self._rounds = 0

    async def usual_rate(self) -> float:
        return median([await self.rate() for _ in range(ROUNDS)])

    async def rate(self) -> float:
        """How many a second."""
        self._rounds += 1
        async with self._trial.world.books() as books:
            await toy.enqueue(books, self._trial.members, self._jobs, name=f"round-{self._rounds}")
            began = time.monotonic()
            while await books.fetchval("SELECT EXISTS (SELECT FROM kernel.job)"):
                await asyncio.sleep(0.01)
            return self._jobs / (time.monotonic() - began)
