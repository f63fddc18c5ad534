"""The toy's planner: closes the counters that have come too far."""

from collections.abc import Sequence

import msgspec

from admitone.kernel.db import Tx
from admitone.kernel.plans import Planner
from admitone.kernel.scope import Caller
from tests.toy import store


class CloseAbove(msgspec.Struct, frozen=True):
    value: int


class Closing(msgspec.Struct, frozen=True):
    counter: str
    value: int
    """As it was seen: whoever counts on overtakes the plan."""


async def survey(tx: Tx, request: CloseAbove, limit: int) -> list[Closing]:
    return [Closing(*seen) for seen in await store.list_above(tx, request.value, limit)]


async def carry_out(tx: Tx, steps: Sequence[Closing], caller: Caller) -> None:
    await store.close_as_seen(tx, [(step.counter, step.value) for step in steps])


close_above = Planner("toy.close_above", CloseAbove, Closing, survey, carry_out, most=5)
