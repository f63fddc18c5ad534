"""Processor time: what a piece of work costs all processes that take part, whoever else uses the machine.

A rate says as much of the machine as of us; processor time says what we need, and a noisy machine changes it little.
"""

import os
import resource
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from bench.ground import Ground

POSTGRESQL, SERVER, WORKER, LOAD = "PostgreSQL", "server", "worker", "load"
TICKS: Final = os.sysconf("SC_CLK_TCK")
PARTS: Final = {b"bench.serve": SERVER, b"bench.work": WORKER}
Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Spent:
    """Seconds of processor time, by who spent them."""

    seconds: Counter[str]

    def each(self, count: float) -> "Spent":
        return Spent(Counter({part: seconds / count for part, seconds in self.seconds.items()}))

    @property
    def total_ms(self) -> float:
        return sum(self.seconds.values()) * 1000

    def __str__(self) -> str:
        parts = ", ".join(f"{part} {seconds * 1000:.2f}" for part, seconds in self.seconds.most_common() if seconds)
        return f"{self.total_ms:.2f} ms ({parts})"


def spending(ground: Ground, work: Callable[[], Measured]) -> tuple[Measured, Spent]:
    """What was measured, and what it took of the database, of what we started and of what ended meanwhile."""
    before = _spent(ground.cluster.server.pid)
    measured = work()
    after = _spent(ground.cluster.server.pid)
    return measured, Spent(Counter({part: after[part] - before[part] for part in after}))


def _spent(postmaster: int) -> Counter[str]:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = Counter({LOAD: children.ru_utime + children.ru_stime})
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and (process := _look_at(path)):
            spent[process.part(postmaster)] += process.seconds
    del spent[""]
    return spent


@dataclass(frozen=True)
class Process:
    id: int
    parent: int
    command: bytes
    seconds: float
    """Of itself and of those of its children that ended."""

    def part(self, postmaster: int) -> str:
        if postmaster in (self.id, self.parent):
            return POSTGRESQL
        ours = self.parent == os.getpid()
        return next((part for word, part in PARTS.items() if ours and word in self.command), "")


def _look_at(path: Path) -> Process | None:
    try:
        fields = (path / "stat").read_text().rpartition(")")[2].split()
        command = (path / "cmdline").read_bytes()
    except OSError:  # It has gone.
        return None
    return Process(int(path.name), int(fields[1]), command, sum(map(int, fields[11:15])) / TICKS)
