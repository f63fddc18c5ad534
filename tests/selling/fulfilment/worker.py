"""A worker that fulfils, as a process of its own that can be killed: `python -m tests.selling.fulfilment.worker`."""

import os

import tests.toy.wiring  # noqa: F401  What every process needs.
from admitone.entrypoints.worker import assemble, work
from admitone.finance.payments.module import MODULE as PAYMENTS
from admitone.finance.refunds.module import MODULE as REFUNDS
from admitone.finance.sources.api import SourceType
from admitone.kernel.config import Config
from admitone.kernel.jobs.worker import Rhythm
from admitone.kernel.manifest import Module
from admitone.kernel.module import MODULE as KERNEL
from admitone.selling.fulfilment.module import MODULE as FULFILMENT
from admitone.selling.fulfilment.port import RECIPES
from tests.selling.fulfilment.booth import Booth

DUTIES = Module(
    "fulfilment",
    jobs=FULFILMENT.jobs,
    subscriptions=FULFILMENT.subscriptions,
    facts=(*PAYMENTS.facts, *REFUNDS.facts),
)
"""Ours alone, and every fact that we might hear of."""

if __name__ == "__main__":
    rhythm = Rhythm(lease_seconds=1, poll_seconds=0.02, grace_seconds=1)
    with RECIPES.wired({SourceType.TICKET_ORDER: Booth().book}):
        work(assemble(Config.load(os.environ), [KERNEL, DUTIES], rhythm=rhythm))
