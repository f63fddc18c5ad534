"""The toy's worker as a process: `python -m bench.work`."""

import os

from tests.toy.module import MODULE

from admitone.entrypoints.worker import assemble, work
from admitone.kernel.config import Config

if __name__ == "__main__":
    work(assemble(Config.load(os.environ), [MODULE]))
