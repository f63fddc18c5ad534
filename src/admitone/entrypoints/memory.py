"""The memory of a process that runs for long.

Promise: what was loaded before is never looked at again by the garbage collector, and what comes is looked at seldom:
requests and jobs leave few cycles behind. Measured: 7 % of a server's time. In a profile of a sale, whose worker was
not spared yet, a tenth of the time in Python went to the collector.
"""

import gc


def spare_the_garbage_collector() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
