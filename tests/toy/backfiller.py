"""A worker for the toy's bulk work as a process of its own, so that it can be killed: `python -m tests.toy.backfiller`."""

import os

from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.worker import assemble, work
from admitone.kernel.config import Config
from admitone.kernel.jobs.worker import Rhythm
from tests.toy.module import MODULE

BRIEF = Rhythm(lease_seconds=1, poll_seconds=0.02)
"""What a dead one held is free again after a second."""

if __name__ == "__main__":
    work(assemble(Config.load(os.environ), [*MODULES, MODULE], rhythm=BRIEF))
