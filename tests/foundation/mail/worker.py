"""A worker that carries letters, as a process of its own that can be killed: `python -m tests.foundation.mail.worker`."""

import os

import tests.toy.wiring  # noqa: F401  What every process needs.
from admitone.entrypoints.worker import assemble, work
from admitone.foundation.mail.handlers import deliver_at_leisure
from admitone.foundation.mail.settings import KEYS
from admitone.kernel.config import Config
from admitone.kernel.jobs.worker import Rhythm
from admitone.kernel.manifest import Module
from admitone.kernel.module import MODULE as KERNEL

if __name__ == "__main__":
    rhythm = Rhythm(lease_seconds=1, poll_seconds=0.02, grace_seconds=1)
    work(assemble(Config.load(os.environ, KEYS), [KERNEL, Module("mail", jobs=(deliver_at_leisure,))], rhythm=rhythm))
