"""Running what was claimed.

Promise: a group of jobs has its effect, its inbox rows and its end in one transaction, or none of it. A group that
raises is run again in parts, and parts that raise one by one, in one transaction with a savepoint for each, so that
the others lose nothing by the one that fails. Who lost the lease meanwhile changes nothing. What failed is tried
again, deferred or buried as `policy` says; until that is written, the job is not forgotten. Errands that go in a group
say which of them failed; the others end as the jobs of a handler do, and nothing outside is asked again for that.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from admitone.kernel import failpoints
from admitone.kernel.commands import Command
from admitone.kernel.db import Busy, PlatformTx, Tx
from admitone.kernel.errors import Unavailable
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.jobs import policy, store
from admitone.kernel.jobs.model import Claimed, Delivered, Desk, Finish, Kind, Round
from admitone.kernel.jobs.policy import Again, Bury, Reason
from admitone.kernel.scope import Caller, PlatformScope, Role, Scope
from admitone.kernel.telemetry import Metrics, bound, logger

Failures = dict[UUID, BaseException]
Pair = tuple[Claimed, Delivered[Any]]

SCOPE: Final = PlatformScope("keep what became of jobs", Role.RELAY)
LATER_SECONDS: Final = 0.5
PARTS: Final = 8
"""Of a group that failed: where one job is bad, most others still go together."""


class Contested(Exception):
    """One of the jobs is no longer ours, or had its effect before: look before going on."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One execution that failed, and what follows."""

    job: Claimed
    outcome: Again | Bury
    error: str

    @property
    def spent(self) -> int:
        crashed = isinstance(self.outcome, Bury) and self.outcome.reason is Reason.CRASH_LIMIT
        return int(not crashed and (isinstance(self.outcome, Bury) or self.outcome.spends))

    @property
    def number(self) -> int:
        return self.job.attempts + 1

    @property
    def run_at(self) -> datetime:
        assert isinstance(self.outcome, Again)
        return self.outcome.run_at

    @property
    def reason(self) -> Reason:
        assert isinstance(self.outcome, Bury)
        return self.outcome.reason


@dataclass(frozen=True, slots=True)
class Ending:
    """An errand that was run, and what is left to write."""

    job: Claimed
    finish: Finish | None

    @property
    def together(self) -> Hashable:
        """Who ends with others: those of one kind, held under one name, with nothing of their own left to write."""
        return self.job.id if self.finish else (self.job.kind, self.job.worker)


async def _end_errands(tx: Tx, endings: Sequence[Ending]) -> Sequence[None]:
    """Errands run alone, and many end together."""
    for each in endings:
        if each.finish is not None:
            await each.finish(tx)
    await _end(tx, [each.job for each in endings])
    return [None] * len(endings)


end_errands: Final[Command[Tx, Ending, None]] = Command(
    _end_errands, name="kernel.end_errands", keyed_by=attrgetter("together")
)


class Execution:
    """Runs groups of jobs to whatever end they have."""

    def __init__(self, desk: Desk, kinds: Mapping[str, Kind[Any]], metrics: Metrics) -> None:
        self._desk = desk
        self._kinds = kinds
        self._metrics = metrics
        self._doubtful: set[str] = set()
        """Kinds of which the last group failed: their next ones go in parts at once."""
        self._keep: Command[PlatformTx, Sequence[tuple[Claimed, BaseException]], int] = Command(
            self._keep_failures, name="kernel.keep_failures"
        )

    async def run(self, jobs: Sequence[Claimed]) -> None:
        """All of one kind and one organisation."""
        kind = self._kinds[jobs[0].kind]
        began = time.monotonic()
        with self._told_of(jobs):
            readable, failed = self._read(kind, jobs)
            if readable:
                failed |= await self._way_of(kind)(kind, readable)
            await self.settle([(job, failed[job.id]) for job in jobs if job.id in failed])
        self._metrics.jobs.executed(kind.name, len(jobs) - len(failed), len(failed), time.monotonic() - began)

    def _way_of(self, kind: Kind[Any]) -> Callable[[Kind[Any], Sequence[Pair]], Awaitable[Failures]]:
        if not kind.outside:
            return self._handle
        return self._errands if kind.group > 1 else self._errand

    async def settle(self, failed: Sequence[tuple[Claimed, BaseException]]) -> None:
        """Write down what failed, however long the database is away: until then, the jobs are in our hands."""
        if failed:
            logger().warning("job.failed", jobs=len(failed), error=policy.words_for(failed[0][1]))
        while failed:
            try:
                await self._desk.batcher.submit(self._keep, SCOPE, failed)
                return
            except Unavailable:
                await asyncio.sleep(LATER_SECONDS)
            except Exception:
                if len(failed) == 1:
                    raise
                for each in failed:
                    await self.settle([each])
                return

    # -- Handlers

    async def _handle(self, kind: Kind[Any], jobs: Sequence[Pair]) -> Failures:
        if len(jobs) > 1 and kind.name in self._doubtful:
            return await self._each(kind, jobs)
        try:
            await self._in_time(kind, jobs, self._together)
        except Contested:
            return await self._look_before(kind, jobs)
        except Exception as error:  # noqa: BLE001  Whatever it is, it happened to the job.
            if len(jobs) == 1 or policy.is_not_its_fault(error):
                return {job.id: error for job, _ in jobs}
            self._doubtful.add(kind.name)
            return await self._each(kind, jobs)
        return {}

    async def _together(self, tx: Tx, kind: Kind[Any], jobs: Sequence[Pair]) -> None:
        await _work(tx, kind, jobs)
        failpoints.reach("job.before_end")
        await _end(tx, [job for job, _ in jobs])

    async def _each(self, kind: Kind[Any], jobs: Sequence[Pair]) -> Failures:
        """In parts and then one by one, each behind a savepoint: those that work commit together. What somebody else
        holds goes afterwards, each with a transaction of its own to wait in."""
        try:
            tried: Failures = await self._in_time(kind, jobs, self._in_parts)
        except Contested:
            return await self._look_before(kind, jobs)
        except Exception as error:  # noqa: BLE001  See above.
            if policy.is_not_its_fault(error):
                return {job.id: error for job, _ in jobs}
            return await self._look_before(kind, jobs)  # It shows only at the end whose fault it is: each goes alone.
        failed = {own: error for own, error in tried.items() if not isinstance(error, Busy)}
        if not failed:
            self._doubtful.discard(kind.name)
        return failed | await self._look_before(kind, [pair for pair in jobs if pair[0].id in tried.keys() - failed])

    async def _in_parts(self, tx: Tx, kind: Kind[Any], jobs: Sequence[Pair]) -> Failures:
        size = max(1, len(jobs) // PARTS)
        failed: Failures = {}
        doubtful = jobs
        while doubtful:
            parts = [doubtful[at : at + size] for at in range(0, len(doubtful), size)]
            errors = await tx.each([partial(_work, tx, kind, part) for part in parts])
            bad = [(part, error) for part, error in zip(parts, errors, strict=True) if error]
            failed |= {part[0][0].id: error for part, error in bad if len(part) == 1}
            doubtful = [pair for part, _ in bad if len(part) > 1 for pair in part]
            size = 1
        await _end(tx, [job for job, _ in jobs if job.id not in failed])
        return failed

    async def _look_before(self, kind: Kind[Any], jobs: Sequence[Pair]) -> Failures:
        """Only what is still ours and has had no effect yet, each in a transaction of its own: this is rare."""
        failed: Failures = {}
        for pair in jobs:
            try:
                await self._in_time(kind, [pair], self._if_still_to_do)
            except Contested:  # Lost between the look and the end.
                await self._let_go(*pair)
            except Exception as error:  # noqa: BLE001  See above.
                failed[pair[0].id] = error
        return failed

    async def _if_still_to_do(self, tx: Tx, kind: Kind[Any], jobs: Sequence[Pair]) -> None:
        [(job, delivered)] = jobs
        if not await store.find_held(tx, job.worker, [job]):
            logger().info("job.lost")
        elif await store.find_done(tx, [job]):
            await store.drop_done(tx, job.worker, [job])
        else:
            await kind.work(tx, [delivered])
            await _end(tx, [job])

    async def _in_time(self, kind: Kind[Any], jobs: Sequence[Pair], work: Callable[..., Any]) -> Any:
        scope = Scope(jobs[0][1].organization, f"job {kind.name}")
        async with asyncio.timeout(kind.seconds):
            return await self._desk.database.run(scope, lambda tx: work(tx, kind, jobs), patient=True)

    # -- Errands

    async def _errand(self, kind: Kind[Any], jobs: Sequence[Pair]) -> Failures:
        [(job, delivered)] = jobs
        try:
            async with asyncio.timeout(kind.seconds):
                finish: Finish | None = await kind.work(self._desk, delivered)
                failpoints.reach("job.before_end")
                scope = Scope(delivered.organization, f"end {kind.name}")
                await self._desk.batcher.submit(end_errands, scope, Ending(job, finish))
        except Contested:
            await self._let_go(job, delivered)
        except Exception as error:  # noqa: BLE001  See above.
            return {job.id: error}
        return {}

    async def _errands(self, kind: Kind[Any], jobs: Sequence[Pair]) -> Failures:
        try:
            async with asyncio.timeout(kind.seconds):
                went: Round = await kind.work(self._desk, [delivered for _, delivered in jobs])
        except Exception as error:  # noqa: BLE001  See above. Of whom it is the fault shows when each goes alone.
            return {job.id: error for job, _ in jobs}
        done = [pair for pair in jobs if pair[0].id not in went.failed]
        closing = replace(kind, work=went.finish or _nothing)
        return {**went.failed, **(await self._handle(closing, done) if done else {})}

    async def _let_go(self, job: Claimed, delivered: Delivered[Any]) -> None:
        """It ran elsewhere, or had its effect under the same key before; its end is all that is left to do."""

        async def drop(tx: Tx) -> None:
            if await store.find_done(tx, [job]):
                await store.drop_done(tx, job.worker, [job])

        logger().info("job.lost")
        await self._desk.database.run(Scope(delivered.organization, "let a job go"), drop)

    # -- What failed

    async def _keep_failures(
        self, tx: PlatformTx, failed: Sequence[Sequence[tuple[Claimed, BaseException]]]
    ) -> Sequence[int]:
        """Of each group, how many were still ours."""
        groups = [[self._follows(job, error, tx.now) for job, error in group] for group in failed]
        failures = [failure for group in groups for failure in group]
        ours = await store.run_again(tx, [each for each in failures if isinstance(each.outcome, Again)])
        ours |= await store.bury(tx, [each for each in failures if isinstance(each.outcome, Bury)])
        kept = [each for each in failures if each.job.id in ours]
        await store.record_attempts(tx, [each for each in kept if each.spent])
        for each in kept:
            if isinstance(each.outcome, Bury):
                self._metrics.jobs.buried(each.job.kind, each.reason)
        await self._mourn(tx, [each for each in kept if isinstance(each.outcome, Bury)])
        return [sum(each.job.id in ours for each in group) for group in groups]

    async def _mourn(self, tx: PlatformTx, dead: Sequence[Failure]) -> None:
        """Who is told of a death cannot prevent it."""
        told = [(each, mourn) for each in dead if (mourn := self._kinds[each.job.kind].mourn)]
        for error in await tx.each([partial(mourn, tx, each) for each, mourn in told]):
            if error:
                logger().error("job.not_mourned", exc_info=error)

    def _follows(self, job: Claimed, error: BaseException, now: datetime) -> Failure:
        kind = self._kinds[job.kind]
        outcome = policy.after_failure(kind, job, error, now)
        return Failure(job, outcome, policy.words_for(error))

    # -- Reading, telling, counting

    def _read(self, kind: Kind[Any], jobs: Sequence[Claimed]) -> tuple[list[Pair], Failures]:
        readable: list[Pair] = []
        failed: Failures = {}
        for job in jobs:
            try:
                if job.crashes >= kind.crash_limit:
                    raise policy.LostTooOften(job.crashes)
                readable.append((job, _delivered(kind, job)))
            except Exception as error:  # noqa: BLE001  A payload of another version may break anything.
                failed[job.id] = error
        return readable, failed

    def _told_of(self, jobs: Sequence[Claimed]) -> AbstractContextManager[None]:
        first = jobs[0]
        ids = {"orgId": str(OrganizationId(first.organization_id)), "job": first.kind}
        if len(jobs) == 1:
            ids |= {"correlationId": str(first.correlation_id), "jobId": str(first.id)}
        return bound(**ids)


async def _nothing(tx: Tx, deliveries: Sequence[Delivered[Any]]) -> None:
    """Is left to write."""


async def _work(tx: Tx, kind: Kind[Any], jobs: Sequence[Pair]) -> None:
    await kind.work(tx, [delivered for _, delivered in jobs])


async def _end(tx: Tx, jobs: Sequence[Claimed]) -> None:
    if jobs and not await store.end(tx, jobs[0].worker, jobs):
        raise Contested


def _delivered(kind: Kind[Any], job: Claimed) -> Delivered[Any]:
    caller = Caller(
        actor=IdentityId(job.actor_id) if job.actor_id else None,
        correlation_id=job.correlation_id,
        causation_id=job.event_id or job.id,
    )
    payload = kind.decode(job.payload)
    organization = OrganizationId(job.organization_id)
    return Delivered(job.id, organization, payload, caller, job.key, job.event_id, job.attempts + 1, job.created_at)
