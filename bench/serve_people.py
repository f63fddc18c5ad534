"""The server under load: all that `admitone serve` serves, as a process of its own.

usage: python -m bench.serve_people PORT
"""

import os
import sys

from admitone.entrypoints.http import build
from admitone.entrypoints.modules import MODULES
from admitone.entrypoints.serve import serve
from admitone.kernel.config import Config

if __name__ == "__main__":
    serve(
        build(Config.load(os.environ, [key for module in MODULES for key in module.config])),
        "127.0.0.1",
        int(sys.argv[1]),
    )
