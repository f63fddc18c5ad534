"""A worker for the toy's bulk work as a process of its own, so that it can be killed: `python -m tests.toy.backfiller`."""

import os
from itertools import count

from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.worker import assemble, work
from admitone.kernel import failpoints
from admitone.kernel.config import Config
from admitone.kernel.jobs.worker import Rhythm
from tests.toy.module import MODULE

BRIEF = Rhythm(lease_seconds=1, poll_seconds=0.02)
"""What a dead one held is free again after a second."""

STEPS_BEFORE_DEATH = 3
"""Of two organisations whose steps follow each other, one has committed a step by then."""


def on_the_way() -> None:
    """Arm the death once so many steps were written: a quiet worker commits and claims too, and how often is chance."""
    if next(steps) == STEPS_BEFORE_DEATH:
        failpoints.arm(os.environ["DEATH"])


if __name__ == "__main__":
    steps = count(1)
    with failpoints.armed("toy.recounted", on_the_way):
        work(assemble(Config.load(os.environ), [*MODULES, MODULE], rhythm=BRIEF))
