"""The server under load: all that `admitone serve` serves, as a process of its own.

usage: python -m bench.serve_people PORT [--one-by-one]
"""

import os
import sys

from admitone.entrypoints.http import assemble
from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.serve import serve
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.foundation.authority.api import TableAuthority
from admitone.kernel.config import Config

if __name__ == "__main__":
    config = Config.load(os.environ, [key for module in MODULES for key in module.config])
    wire(config)
    application = assemble(config, MODULES, TableAuthority(), coalesce="--one-by-one" not in sys.argv)
    wire_outside(config, application.outbound)
    serve(application, "127.0.0.1", int(sys.argv[1]))
