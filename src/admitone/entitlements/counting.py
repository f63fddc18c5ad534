"""The live door: who came in, by gate and by session.

Promise: the numbers are sums of the log of doors, counted with it in one transaction, so a figure that is shown can
always be found in the log; what was taken back is taken off. Who is expected is whose right is good now.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from admitone.entitlements.store import counts
from admitone.entitlements.store.counts import Counted
from admitone.kernel.db import Tx

MOST: Final = 2_000
"""Pairs of gates and sessions that one event may have."""


class Flow(msgspec.Struct, frozen=True):
    """What came through."""

    admitted: int = 0
    undone: int = 0
    duplicates: int = 0
    denied: int = 0

    @classmethod
    def of(cls, counted: Iterable[Counted]) -> "Flow":
        every = [*counted]
        return cls(
            sum(each.admitted for each in every),
            sum(each.undone for each in every),
            sum(each.duplicates for each in every),
            sum(each.denied for each in every),
        )

    @property
    def inside(self) -> int:
        return self.admitted - self.undone

    @property
    def scans(self) -> int:
        return self.admitted + self.duplicates + self.denied


class Doors(msgspec.Struct, frozen=True):
    """Of one event, as they stand; without an instant, so that the same is the same."""

    flow: Flow
    expected: int
    gates: tuple[tuple[str, Flow], ...]
    sessions: tuple[tuple[str, Flow, int], ...]
    """With who is expected."""


# Apart, because those who follow them ask for each as often as it is cheap.
async def count_gates(tx: Tx, event: str) -> list[Counted]:
    return await counts.sum_by_gate(tx, event, MOST)


async def count_expected(tx: Tx, event: str) -> dict[str, int]:
    return await counts.count_expected(tx, event, MOST)


async def count_doors(tx: Tx, event: str) -> Doors:
    return doors_of(await count_gates(tx, event), await count_expected(tx, event))


def doors_of(counted: list[Counted], expected: dict[str, int]) -> Doors:
    gates = sorted({each.gate for each in counted})
    sessions = sorted({each.session for each in counted} | {*expected})
    return Doors(
        Flow.of(counted),
        sum(expected.values()),
        tuple((gate, Flow.of(each for each in counted if each.gate == gate)) for gate in gates),
        tuple(
            (session, Flow.of(each for each in counted if each.session == session), expected.get(session, 0))
            for session in sessions
        ),
    )
