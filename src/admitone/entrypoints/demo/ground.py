"""Where the demonstration is laid out: our database, and the books of the sandbox that will be asked about it.

Promise: both are at the same instant, and that can be in the past. So what is said to have happened did happen there
and here, one after the other, by the same commands as everything else; nothing is written down that was not done. What
the sandbox would tell of it by webhook is known already, and is told nobody.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Self

from admitone.entrypoints.sandbox import own_journal
from admitone.finance.gateways.port import (
    Faults,
    Journal,
    Keys,
    SandboxGateway,
    Simulator,
    Terms,
    runs_own_sandbox,
    sandbox_keys,
)
from admitone.kernel import telemetry
from admitone.kernel.clock import Clock, utc
from admitone.kernel.config import Config
from admitone.kernel.db import Database

FEES_AT_ONCE: Final = Terms(fees_after=timedelta(0))
UNTOLD: Final = Faults(dropped=10_000)
"""Every webhook is lost: who does it here knows."""


@dataclass(frozen=True)
class Calendar(Clock):
    """A clock that is turned, for whoever asks the database and for whoever asks the sandbox."""

    behind: list[timedelta] = field(default_factory=lambda: [timedelta()])
    """How far, last of all."""

    def at(self, database_time: datetime) -> datetime:
        return utc(database_time) - self.behind[-1]

    def now(self) -> datetime:
        return self.at(datetime.now(UTC))

    def turn_to(self, instant: datetime) -> None:
        """Time goes on from there."""
        self.behind.append(datetime.now(UTC) - instant)

    def return_to_now(self) -> None:
        self.behind.append(timedelta())


@dataclass(frozen=True)
class Ground:
    database: Database
    calendar: Calendar
    simulator: Simulator | None
    """Nothing where payments are not our own game: then nobody takes any."""

    @classmethod
    @asynccontextmanager
    async def of(cls, url: str, config: Config) -> AsyncIterator[Self]:
        """With the books of the sandbox that this installation runs. What is only played is not worth a log."""
        telemetry.configure("warning")
        sandbox = (sandbox_keys(config), own_journal(config)) if runs_own_sandbox(config) else None
        async with cls.at(url, sandbox) as ground:
            yield ground

    @classmethod
    @asynccontextmanager
    async def at(cls, url: str, sandbox: tuple[Keys, Path] | None) -> AsyncIterator[Self]:
        calendar = Calendar()
        simulator = None
        if sandbox:
            keys, journal = sandbox
            simulator = Simulator(keys, Journal(journal), terms=FEES_AT_ONCE, clock=calendar.now, faults=UNTOLD)
        async with Database(url, clock=calendar) as database:
            yield cls(database, calendar, simulator)

    @property
    def gateway(self) -> SandboxGateway:
        assert self.simulator is not None
        return SandboxGateway.in_process(self.simulator)
