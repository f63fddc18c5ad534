"""The worker under load: all that `admitone worker` does, its own tickets included, with the sandbox of the bench.

usage: python -m bench.work_tickets
"""

import os

from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.entrypoints.worker import assemble, work
from admitone.kernel.config import Config
from bench.shop import paid_at_the_sandbox

if __name__ == "__main__":
    config = Config.load(os.environ, [key for module in MODULES for key in module.config])
    wire(config)
    workshop = assemble(config, MODULES)
    wire_outside(config, workshop.outbound)
    with paid_at_the_sandbox():
        work(workshop)
