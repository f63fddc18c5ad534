"""The server under load: all that `admitone serve` serves, its own tickets included, with the sandbox of the bench.

usage: python -m bench.serve_tickets PORT [--one-by-one] [--beside]
"""

import os
import sys

from admitone.entrypoints.http import assemble
from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.serve import serve
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.foundation.authority.api import TableAuthority
from admitone.kernel.config import Config
from bench.shop import paid_at_the_sandbox

if __name__ == "__main__":
    config = Config.load(os.environ, [key for module in MODULES for key in module.config])
    wire(config)
    application = assemble(config, MODULES, TableAuthority(), coalesce="--one-by-one" not in sys.argv)
    wire_outside(config, application.outbound)
    with paid_at_the_sandbox():
        serve(application, "127.0.0.1", int(sys.argv[1]), beside="--beside" in sys.argv)
