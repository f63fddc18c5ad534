"""The worker under load, with nothing to do but what it is told: no schedule looks at the provider besides.

usage: python -m bench.work_refunds
"""

import os
from dataclasses import replace

from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.entrypoints.worker import assemble, work
from admitone.kernel.config import Config
from bench.shop import open_for_business

if __name__ == "__main__":
    config = Config.load(os.environ, [key for module in MODULES for key in module.config])
    wire(config)
    workshop = assemble(config, [replace(module, schedules=()) for module in MODULES])
    wire_outside(config, workshop.outbound)
    with open_for_business():
        work(workshop)
