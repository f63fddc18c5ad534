"""What the toy does when it hears of something, and jobs that behave as badly as jobs can."""

import asyncio
import os
import signal
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Desk, Lane, Priority, Retry, errand, handler
from admitone.kernel.jobs.model import Finish
from tests.toy import store
from tests.toy.errors import CounterNotOpen
from tests.toy.facts import CounterIncremented
from tests.toy.model import Heard

STREET = Lane("street", places=4)
QUICK = Retry(executions=3, base_seconds=0.01)
LINGER_SECONDS = 0.05


@handler("toy.hear", priority=Priority.NOTICE)
async def hear(tx: Tx, told: Sequence[Delivered[CounterIncremented]]) -> None:
    """One row for each time it is told: told twice, it would show."""
    await store.insert_heard(tx, [Heard(each.key, each.payload.amount) for each in told])


class Act(StrEnum):
    WORK = "work"
    FAIL = "fail"
    REFUSE = "refuse"
    KILL = "kill"
    """The worker, as if the power went."""
    LINGER = "linger"
    """Long enough to be caught in the middle."""


class Deed(msgspec.Struct, frozen=True):
    act: Act
    number: int = 0


@handler("toy.perform", retry=QUICK)
async def perform(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
    """Leaves a row for each, and then does what it was told."""
    await store.insert_heard(tx, [Heard(each.key, each.payload.number) for each in deeds])
    for each in deeds:
        await act(each.payload)


@errand("toy.run", lane=STREET, retry=QUICK)
async def run_errand(desk: Desk, deed: Delivered[Deed]) -> Finish:
    await act(deed.payload)
    return lambda tx: store.insert_heard(tx, [Heard(deed.key, deed.payload.number)])


async def act(deed: Deed) -> None:
    match deed.act:
        case Act.FAIL:
            raise RuntimeError(f"deed {deed.number} fails, as somebody@example.org wanted")
        case Act.REFUSE:
            raise CounterNotOpen(status="CLOSED")
        case Act.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        case Act.LINGER:
            await asyncio.sleep(LINGER_SECONDS)
