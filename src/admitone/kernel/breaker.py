"""Circuit breakers: who keeps failing is left alone for a while, by all processes together (FUN-044..046).

Promise: five failures within a minute open the breaker of a dependency; it rejects for 30 s, then lets one call through
as a probe; the probe's success closes it, its failure opens it for twice as long, up to 300 s. A probe that never comes
back is given up. What a call learns that was let through before the breaker opened is old news and changes nothing.

`Breaker` decides, as a value; the rows are shared in PostgreSQL; calls that come together are coalesced. While all is
well a call costs one shared read, and its success costs nothing.

    STRIPE = Dependency("stripe")

    admission = await breakers.admit(STRIPE)     # raises DependencyUnavailable
    ...
    await breakers.report(admission, healthy=False)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil
from uuid import UUID, uuid4

import msgspec

from admitone.kernel.batch import Batcher
from admitone.kernel.commands import command
from admitone.kernel.db import PlatformTx, Record
from admitone.kernel.errors import Unavailable
from admitone.kernel.scope import PlatformScope, Role
from admitone.kernel.telemetry import Metrics, logger

BUSY_SECONDS = 5
"""When to come back while somebody else probes: soon, because a probe takes as long as one call."""


class DependencyUnavailable(Unavailable):
    """Something that we depend on is out of order; nothing was sent there, try again later."""

    code = "DEPENDENCY_UNAVAILABLE"
    dependency: str


class State(StrEnum):
    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


@dataclass(frozen=True, slots=True)
class Dependency:
    """Somebody whom we call, and how much failing we put up with."""

    name: str
    failures: int = 5
    within_seconds: int = 60
    open_seconds: int = 30
    longest_open_seconds: int = 300
    probe_seconds: int = 60
    """When a probe that has not come back is given up; no call may take longer."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """One breaker at one moment. Every event gives the breaker after it."""

    state: State = State.CLOSED
    failures: tuple[datetime, ...] = ()
    """Those that still count, in order."""
    openings: int = 0
    """In a row, since it was last closed."""
    until: datetime | None = None
    """OPEN: rejects until then. HALF_OPEN: the probe is given up then."""
    probe: UUID | None = None

    def may_probe(self, now: datetime) -> bool:
        return self.until is not None and now >= self.until

    def rejects(self, dependency: Dependency, now: datetime) -> DependencyUnavailable | None:
        """`None` if a call may go: it is closed, or somebody may probe."""
        if self.until is None or self.may_probe(now):
            return None
        left = ceil((self.until - now).total_seconds())
        if self.state is State.HALF_OPEN:
            left = min(left, BUSY_SECONDS)
        return DependencyUnavailable(dependency=dependency.name, retry_after_seconds=left)

    def probed(self, dependency: Dependency, now: datetime, probe: UUID) -> "Breaker":
        """One call is let through to see how things are."""
        until = now + timedelta(seconds=dependency.probe_seconds)
        return replace(self, state=State.HALF_OPEN, until=until, probe=probe)

    def failed(self, dependency: Dependency, now: datetime, probe: UUID | None) -> "Breaker":
        if self.state is not State.CLOSED:
            return self._opened(dependency, now) if self._awaits(probe) else self
        # Transactions may commit in another order than they began, so `now` may be before what we know.
        oldest = max((*self.failures, now)) - timedelta(seconds=dependency.within_seconds)
        failures = tuple(sorted(at for at in (*self.failures, now) if at >= oldest))
        if len(failures) >= dependency.failures:
            return self._opened(dependency, now)
        return replace(self, failures=failures)

    def succeeded(self, probe: UUID | None) -> "Breaker":
        """Only a probe closes. Failures are forgotten by time, not by luck: five within a minute are five."""
        return Breaker() if self._awaits(probe) else self

    def _awaits(self, probe: UUID | None) -> bool:
        return probe is not None and probe == self.probe

    def _opened(self, dependency: Dependency, now: datetime) -> "Breaker":
        seconds = min(dependency.open_seconds * 2**self.openings, dependency.longest_open_seconds)
        return Breaker(State.OPEN, openings=self.openings + 1, until=now + timedelta(seconds=seconds))


class Admission(msgspec.Struct, frozen=True):
    """A call may go, for all to see if it is a probe."""

    dependency: Dependency
    probe: UUID | None = None


class Report(msgspec.Struct, frozen=True):
    """How an admitted call went."""

    admission: Admission
    healthy: bool


FIND_BREAKERS = """
    SELECT dependency, state, failures, openings, until, probe
      FROM kernel.breaker
     WHERE dependency = ANY($1::text[])
"""
LOCK_FREE_BREAKERS = f"""
    {FIND_BREAKERS}
     ORDER BY dependency
       FOR NO KEY UPDATE SKIP LOCKED
"""
LOCK_BREAKERS = f"""
    {FIND_BREAKERS}
     ORDER BY dependency
       FOR NO KEY UPDATE
"""
CREATE_BREAKERS = """
    INSERT INTO kernel.breaker (dependency, state, failures, openings)
    SELECT name, 'CLOSED', '{}', 0
      FROM unnest($1::text[]) AS v(name)
     ORDER BY name
        ON CONFLICT (dependency) DO NOTHING
"""
CHANGE_BREAKER = """
    UPDATE kernel.breaker
       SET state = $2, failures = $3, openings = $4, until = $5, probe = $6
     WHERE dependency = $1
"""


@command()
async def admit(tx: PlatformTx, dependencies: Sequence[Dependency]) -> list[Admission | DependencyUnavailable]:
    """Let calls through where the breaker is closed, and one where it is time to probe."""
    known = _breakers(await tx.fetch(FIND_BREAKERS, _names(dependencies)))
    due = [name for name, breaker in known.items() if breaker.may_probe(tx.now)]
    # Whoever holds the row is probing or reporting right now: nobody waits for that, they come back.
    ours = _breakers(await tx.fetch(LOCK_FREE_BREAKERS, due)) if due else {}
    answers: list[Admission | DependencyUnavailable] = []
    for dependency in dependencies:
        name = dependency.name
        breaker = ours.get(name) or known.get(name) or Breaker()
        if (refusal := breaker.rejects(dependency, tx.now)) is not None:
            answers.append(refusal)
        elif not breaker.may_probe(tx.now):
            answers.append(Admission(dependency))
        elif name in ours:
            probe = uuid4()
            ours[name] = breaker.probed(dependency, tx.now, probe)
            await _change(tx, name, ours[name])
            answers.append(Admission(dependency, probe))
        else:
            answers.append(DependencyUnavailable(dependency=name, retry_after_seconds=BUSY_SECONDS))
    return answers


@command()
async def report(tx: PlatformTx, reports: Sequence[Report]) -> list[State | None]:
    """Tell the breakers how calls went, in order. Gives the new state to the report that changed it."""
    names = _names(report.admission.dependency for report in reports)
    before = _breakers(await tx.fetch(LOCK_BREAKERS, names))
    if missing := [name for name in names if name not in before]:
        await tx.execute(CREATE_BREAKERS, missing)
        before |= _breakers(await tx.fetch(LOCK_BREAKERS, missing))
    after = dict(before)
    changed: list[State | None] = []
    for each in reports:
        dependency, probe = each.admission.dependency, each.admission.probe
        old = after[dependency.name]
        new = old.succeeded(probe) if each.healthy else old.failed(dependency, tx.now, probe)
        after[dependency.name] = new
        changed.append(new.state if new.state is not old.state else None)
    for name in names:
        if after[name] != before[name]:
            await _change(tx, name, after[name])
    return changed


def _names(dependencies: Iterable[Dependency]) -> list[str]:
    return sorted({dependency.name for dependency in dependencies})


def _breakers(rows: Iterable[Record]) -> dict[str, Breaker]:
    return {
        row["dependency"]: Breaker(
            State(row["state"]), tuple(row["failures"]), row["openings"], row["until"], row["probe"]
        )
        for row in rows
    }


async def _change(tx: PlatformTx, name: str, breaker: Breaker) -> None:
    await tx.execute_exactly(
        1,
        CHANGE_BREAKER,
        name,
        breaker.state.value,
        list(breaker.failures),
        breaker.openings,
        breaker.until,
        breaker.probe,
    )


class Breakers:
    """The breakers of one process, which are those of all processes."""

    _SCOPE = PlatformScope("share the state of those we depend on", Role.AUTHORITY)

    def __init__(self, batcher: Batcher, metrics: Metrics) -> None:
        self._batcher = batcher
        self._metrics = metrics.calls_out

    async def admit(self, dependency: Dependency) -> Admission:
        """Ask before every call. Whoever is admitted reports."""
        try:
            admission = (await self._batcher.submit(admit, self._SCOPE, dependency)).outcome
        except DependencyUnavailable:
            self._metrics.breaker_is(dependency.name, State.OPEN)
            raise
        assert isinstance(admission, Admission)
        if admission.probe:
            self._changed(dependency, State.HALF_OPEN)
        else:
            self._metrics.breaker_is(dependency.name, State.CLOSED)
        return admission

    async def report(self, admission: Admission, *, healthy: bool) -> None:
        if healthy and admission.probe is None:
            return  # It would change nothing, whatever the state.
        changed = (await self._batcher.submit(report, self._SCOPE, Report(admission, healthy))).outcome
        if changed is not None:
            self._changed(admission.dependency, changed)

    def _changed(self, dependency: Dependency, state: State) -> None:
        log = logger().warning if state is State.OPEN else logger().info
        log("breaker.changed", dependency=dependency.name, state=state)
        self._metrics.breaker_is(dependency.name, state)
        self._metrics.breaker_changes.labels(dependency.name, state).inc()
