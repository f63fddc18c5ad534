"""The toy's worker as a process of its own: `python -m tests.toy.worker`.

What the process reads from its surroundings is what `admitone worker` reads, and: `TOY_LEASE_SECONDS`, because nobody
wants to wait for a lease of production; `TOY_CLOCK_SECONDS`, by which its clock is wrong; `TOY_PLANT`, a bug.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path

from admitone.entrypoints.worker import assemble, work
from admitone.kernel.clock import Clock
from admitone.kernel.config import Config
from admitone.kernel.jobs.worker import Rhythm
from admitone.kernel.module import MODULE as KERNEL
from tests.toy.module import MODULE
from tests.toy.plants import plant
from tests.toy.process import ToyProcess

LEASE_SECONDS = 2.0
NUMBERS = count(1)


class ToyWorker(ToyProcess):
    """One process that runs the toy's jobs and relays its facts."""

    def __init__(self, database_url: str, home: Path) -> None:
        super().__init__(database_url, home, f"toy-worker-{next(NUMBERS)}", "tests.toy.worker")


@contextmanager
def a_toy_worker(database_url: str, home: Path, **environ: str) -> Iterator[ToyWorker]:
    worker = ToyWorker(database_url, home)
    try:
        worker.launch(**environ)
        yield worker
    finally:
        if worker.lives:
            worker.end()


if __name__ == "__main__":
    plant(os.environ.get("TOY_PLANT", ""))
    lease = float(os.environ.get("TOY_LEASE_SECONDS", LEASE_SECONDS))
    rhythm = Rhythm(lease_seconds=lease, poll_seconds=min(0.05, lease / 20), grace_seconds=1)
    workshop = assemble(Config.load(os.environ), [KERNEL, MODULE], rhythm=rhythm)
    # Of this process alone, which no configuration could do: all workers of a database live by its clock.
    workshop.database._clock = Clock(timedelta(seconds=float(os.environ.get("TOY_CLOCK_SECONDS", "0"))))
    work(workshop)
