"""The live door: who came in, by gate and by session.

Promise: the numbers are sums of the log of doors, counted with it in one transaction, so a figure that is shown can
always be found in the log; what was taken back is taken off. Who is expected is whose right is good now.
"""

from typing import Final

import msgspec

from admitone.entitlements.store import counts
from admitone.entitlements.store.counts import Counted
from admitone.kernel.db import Tx

MOST: Final = 2_000
"""Gates and sessions that are shown of one event."""


class Flow(msgspec.Struct, frozen=True):
    """What came through."""

    admitted: int = 0
    undone: int = 0
    duplicates: int = 0
    denied: int = 0

    @classmethod
    def of(cls, counted: Counted) -> "Flow":
        return cls(counted.admitted, counted.undone, counted.duplicates, counted.denied)

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
    sessions = {each.session: Flow.of(each) for each in counted if each.session is not None}
    return Doors(
        next((Flow.of(each) for each in counted if each.gate is None and each.session is None), Flow()),
        sum(expected.values()),
        tuple((each.gate, Flow.of(each)) for each in counted if each.gate is not None),
        tuple((own, sessions.get(own, Flow()), expected.get(own, 0)) for own in sorted({*sessions, *expected})),
    )
