"""The worker under load: all that `admitone worker` does, with the sandbox of the bench.

usage: python -m bench.work_checkout
"""

import os

from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.entrypoints.worker import assemble, work
from admitone.kernel.config import Config
from bench.shop import open_for_business

if __name__ == "__main__":
    config = Config.load(os.environ, [key for module in MODULES for key in module.config])
    wire(config)
    workshop = assemble(config, MODULES)
    wire_outside(config, workshop.outbound)
    with open_for_business():
        work(workshop)
