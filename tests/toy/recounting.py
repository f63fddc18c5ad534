"""The toy's bulk work: it visits every counter once, a few at a time."""

import msgspec

from admitone.kernel import failpoints
from admitone.kernel.bulk import Progress, Step, bulk
from admitone.kernel.db import Tx
from tests.toy import store
from tests.toy.handlers import QUICK


class Recount(msgspec.Struct, frozen=True):
    at_a_time: int = 2
    stumbles_at: str | None = None
    """A counter that it cannot get past; trying again does not help, and is tried."""


async def how_many(tx: Tx, request: Recount) -> int:
    return await store.count_counters(tx)


@bulk("toy.recount", of=Recount, total=how_many, retry=QUICK, crash_limit=100)
async def recount(tx: Tx, step: Step[Recount]) -> Progress:
    counters = await store.list_counters(tx, step.cursor or "", step.request.at_a_time)
    names = [counter.name for counter in counters]
    if step.request.stumbles_at in names:
        raise RuntimeError(f"stumbled at {step.request.stumbles_at}")
    await store.recount(tx, names)
    failpoints.reach("toy.recounted")
    finished = len(names) < step.request.at_a_time
    return Progress(names[-1] if names else step.cursor, len(names), finished)
