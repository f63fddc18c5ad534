"""What must hold when all has settled: a name, and a check that lists what is wrong.

Promise: an invariant looks at the database and at what clients were told, and at nothing that the code under test says
about itself. It complains about each thing that is wrong, and stays silent when nothing is.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import asyncpg

from bench.faults.journal import Story
from bench.faults.load import Crowd
from bench.faults.world import World

MOST = 5
"""Complaints of one invariant that are worth reading."""


@dataclass(frozen=True)
class Evidence:
    world: World
    books: asyncpg.Connection
    crowd: Crowd | None = None
    poison: Mapping[str, str] = field(default_factory=dict)
    """The jobs that were meant to die, by key, and the reason they must have."""

    def stories(self) -> dict[str, Story]:
        return self.crowd.journal.stories() if self.crowd else {}

    async def each(self, complaint: str, sql: str, *values: object) -> list[str]:
        """One complaint for each row of the statement."""
        return [complaint.format(**row) for row in await self.books.fetch(sql, *values)]


Check = Callable[[Evidence], Awaitable[list[str]]]


@dataclass(frozen=True)
class Invariant:
    name: str
    check: Check


def invariant(name: str) -> Callable[[Check], Invariant]:
    return lambda check: Invariant(name, check)


async def complaints(evidence: Evidence, invariants: Sequence[Invariant]) -> dict[str, list[str]]:
    """By the name of the invariant that does not hold."""
    broken = {}
    for each in invariants:
        if wrong := await each.check(evidence):
            left = [f"… and {len(wrong) - MOST} more"] if len(wrong) > MOST else []
            broken[each.name] = [*wrong[:MOST], *left]
    return broken
