"""The toy's worker under load, as a process: `python -m bench.work`."""

import os
from collections.abc import Sequence

from tests.toy.handlers import Deed, perform
from tests.toy.module import MODULE

from admitone.entrypoints.worker import assemble, work
from admitone.kernel.config import Config
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, handler
from admitone.kernel.manifest import Module
from admitone.kernel.module import MODULE as KERNEL


@handler("toy.try")
async def attempt(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
    """As `toy.perform`, retried as ordinary jobs are."""
    await perform.work(tx, deeds)


if __name__ == "__main__":
    work(assemble(Config.load(os.environ), [KERNEL, MODULE, Module("bench", jobs=(attempt,))]))
