"""The server under load: all that `admitone serve` serves, with the sandbox of the bench as its provider.

usage: python -m bench.serve_webhooks PORT
"""

import os
import sys

from admitone.entrypoints.http import assemble
from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.serve import serve
from admitone.entrypoints.wiring import wire, wire_outside
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.foundation.authority.api import TableAuthority
from admitone.kernel.config import Config
from bench.webhooks import SANDBOX

if __name__ == "__main__":
    config = Config.load(os.environ, [key for module in MODULES for key in module.config])
    wire(config)
    application = assemble(config, MODULES, TableAuthority())
    wire_outside(config, application.outbound)
    with GATEWAYS.wired(Gateways([SandboxGateway.in_process(Simulator(SANDBOX))])):
        serve(application, "127.0.0.1", int(sys.argv[1]))
