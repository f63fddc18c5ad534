"""A job that kills its worker, among innocent ones: it is found out and buried, and all others have their effect."""

from bench.faults import toy
from bench.faults.installation import Installation
from bench.faults.report import Report
from bench.faults.trial import Scale, a_trial
from bench.faults.world import Shape


async def poison(installation: Installation, seed: int, scale: Scale) -> Report:
    async with a_trial("poison", installation, seed, Shape(workers=2, lease_seconds=0.5)) as trial:
        # In one transaction, so that they are claimed together.
        async with trial.world.books() as books, books.transaction():
            deadly = await toy.enqueue(books, trial.members, 1, name="deadly", act="kill")
            failing = await toy.enqueue(books, trial.members, 3, name="failing", act="fail")
            refused = await toy.enqueue(books, trial.members, 2, name="refused", act="refuse")
            await toy.enqueue(books, trial.members, scale.jobs // 2, name="innocent", lingering=40)
        expected = dict.fromkeys(deadly, "CRASH_LIMIT")
        expected |= dict.fromkeys(failing, "RETRIES_EXHAUSTED")
        expected |= dict.fromkeys(refused, "NOT_RETRYABLE")
        return await trial.verdict(["a job that kills its worker"], poison=expected)
