"""The worker: a process that relays facts, fires schedules and runs jobs.

Promise: a job is run by one worker at a time, as far as anybody can tell from its effects. The lease of all jobs of a
worker is one row that it keeps touching; whoever is not seen for a lease is struck off, and its jobs run elsewhere.
Jobs that a worker was lost with are suspects: they run alone, one at a time in a lane, so that a job that kills its
worker is found out and hurts nobody else. A graceful stop gives back what was not begun and ends what was.

Higher priorities are claimed first, but an eighth of every claim is open to each of the lower ones, so that none is
starved. Lanes do not wait for each other. One look-out sees in which of them something is due, and whether there are
facts to pass on, and wakes those; who is not at work does not ask.
"""

import asyncio
import os
import socket
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from admitone.kernel import failpoints
from admitone.kernel.db import PlatformTx
from admitone.kernel.errors import Unavailable
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import leases, store
from admitone.kernel.jobs.execution import Execution
from admitone.kernel.jobs.model import WORK, Claimed, Desk, Kind, Lane, groups_of
from admitone.kernel.jobs.relay import Relay, Subscriptions
from admitone.kernel.jobs.schedules import Schedule, fire
from admitone.kernel.scope import PlatformScope, Role
from admitone.kernel.telemetry import Metrics, logger

SCOPE: Final = PlatformScope("claim jobs and keep the lease", Role.RELAY)
CLAIM: Final = 768
GROUP: Final = 256
ANCIENT: Final = datetime.min.replace(tzinfo=UTC)
LOOK_AT_ALL_SECONDS: Final = 1.0
SELDOM_SECONDS: Final = 30.0
"""How often a lane that does nothing, or the relay, looks by itself: the look-out sees for all of them."""
MOMENT_SECONDS: Final = 0.05
"""What comes within it is done together: to claim or to pass on one costs as much as to do so for many."""

GIVE_WAY_SECONDS: Final = 2.0
GIVING_WAY: Final = 256
"""How many a lane that gives way begins then, at most; of one organisation half of them."""


@dataclass(frozen=True)
class Rhythm:
    """How often a worker looks, and how long it may not be seen."""

    lease_seconds: float = 15
    poll_seconds: float = 0.1
    schedule_seconds: float = 1
    grace_seconds: float = 10


@dataclass(frozen=True)
class Duties:
    """What a worker does, from all manifests."""

    kinds: Sequence[Kind[Any]]
    subscriptions: Subscriptions
    schedules: Sequence[Schedule] = ()

    @property
    def lanes(self) -> list[Lane]:
        return list({kind.lane.name: kind.lane for kind in self.kinds}.values())


@dataclass
class Head:
    """Where the queue of one lane and priority begins, as far as we know; everything is looked at once in a while."""

    since: datetime = ANCIENT
    looked: float = 0.0

    def place(self) -> datetime:
        now = time.monotonic()
        if now - self.looked > LOOK_AT_ALL_SECONDS:
            self.looked, self.since = now, ANCIENT
        return self.since

    def moved(self, claimed: Sequence[Claimed]) -> None:
        if claimed:
            self.since = max(self.since, min(job.run_at for job in claimed))


@dataclass
class Hands:
    """What is being run in one lane."""

    lane: Lane
    heads: defaultdict[int, Head] = field(default_factory=lambda: defaultdict(Head))
    running: dict[asyncio.Task[None], Sequence[Claimed]] = field(default_factory=dict)
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    """Rung when there may be something to do before the next look."""
    suspect: asyncio.Task[None] | None = None
    suspects_looked: float = 0.0
    in_doubt: bool = False
    """We may hold jobs that we do not know of: a claim was committed, and we never heard of it."""

    @property
    def known(self) -> list[UUID]:
        return [job.id for jobs in self.running.values() for job in jobs]

    @property
    def free(self) -> int:
        return self.lane.places - len(self.running)

    def pause(self) -> float:
        """Until it looks by itself."""
        return LOOK_AT_ALL_SECONDS if self.running or self.in_doubt else SELDOM_SECONDS

    def looks_for_suspects(self) -> bool:
        """Once in a while, and one at a time: there are none unless a worker was lost."""
        if self.suspect is not None or time.monotonic() - self.suspects_looked < LOOK_AT_ALL_SECONDS:
            return False
        self.suspects_looked = time.monotonic()
        return True


class Worker:
    def __init__(self, desk: Desk, duties: Duties, metrics: Metrics, rhythm: Rhythm | None = None) -> None:
        self._desk = desk
        self._duties = duties
        self._rhythm = rhythm or Rhythm()
        self._metrics = metrics
        self._relay = Relay(desk.database, duties.subscriptions)
        self._kinds = {kind.name: kind for kind in duties.kinds}
        self._execution = Execution(desk, self._kinds, metrics)
        self._hands = [Hands(lane) for lane in duties.lanes]
        self._kinds_by_priority = {lane.name: _by_priority(duties.kinds, lane) for lane in duties.lanes}
        self._facts_bell = asyncio.Event()
        self._suspects_looked = 0.0
        self._stopping = asyncio.Event()
        self._last_seen: datetime | None = None
        self._judges_from = 0.0
        self._told_to_stop: asyncio.Task[bool]
        self.id = uuid7()

    async def run(self) -> None:
        """Until `stop` is called."""
        await self.until_reachable(self._sign_on)
        self._told_to_stop = asyncio.create_task(self._stopping.wait())
        # Until the very end: what is still running when we are told to stop is ours as long as we are seen.
        beating = asyncio.create_task(self._keep_beating())
        poll = self._rhythm.poll_seconds
        loops = [
            self._repeat(self._pass_on, lambda: SELDOM_SECONDS, self._facts_bell),
            self._repeat(self._look_out, lambda: poll, self._stopping),
            *(self._repeat(partial(self._serve, hands), hands.pause, hands.bell) for hands in self._hands),
        ]
        if self._duties.schedules:
            loops.append(self._repeat(self._fire, lambda: self._rhythm.schedule_seconds, self._stopping))
        await asyncio.gather(*loops)
        await self._let_finish()
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        await self._sign_off()

    def stop(self) -> None:
        self._stopping.set()
        self._desk.closing.set()
        self._facts_bell.set()
        self._ring(hands.lane.name for hands in self._hands)

    def _ring(self, lanes: Iterable[str]) -> None:
        wanted = set(lanes)
        for hands in self._hands:
            if hands.lane.name in wanted:
                hands.bell.set()

    # -- The lease

    async def _sign_on(self) -> None:
        """Under a new name, which is ours once it is written."""
        name, worker = f"{socket.gethostname()}:{os.getpid()}", uuid7()
        await self._run(lambda tx: leases.register(tx, worker, name, self._duties.kinds))
        self.id = worker
        logger().info("worker.began", worker=str(worker))

    async def _keep_beating(self) -> None:
        pause, seen_at = self._rhythm.lease_seconds / 4, time.monotonic()
        while True:
            try:
                async with asyncio.timeout(pause):
                    await self._beat()
                # After an outage everybody was not seen: each gets a lease to come back before anybody is judged.
                if time.monotonic() - seen_at > self._rhythm.lease_seconds:
                    self._judges_from = time.monotonic() + self._rhythm.lease_seconds
                seen_at = time.monotonic()
                if seen_at >= self._judges_from:
                    await self._run(self._look_after)
                await asyncio.sleep(pause)
            except (Unavailable, TimeoutError):
                logger().warning("worker.database_away")
                await asyncio.sleep(self._rhythm.poll_seconds)
            except Exception:  # noqa: BLE001  A heart that stops because of a bug would lose every job.
                logger().exception("worker.bug")
                await asyncio.sleep(self._rhythm.poll_seconds)

    async def _beat(self) -> None:
        if not await self._run(lambda tx: leases.beat(tx, self.id)):
            # Somebody thought that we were dead, and our jobs run elsewhere; whatever we still hold of them is fenced.
            logger().warning("worker.struck_off", worker=str(self.id))
            await self._sign_on()

    async def _look_after(self, tx: PlatformTx) -> None:
        """Free what lost workers held, and pull back what a wrong clock put off."""
        freed = await leases.free_orphans(tx, timedelta(seconds=self._rhythm.lease_seconds))
        if freed:
            logger().warning("worker.freed_orphans", jobs=freed)
        # Also when we begin: the clock may have been set back while nobody worked.
        if self._last_seen is None or tx.now < self._last_seen - timedelta(seconds=1):
            jobs, facts = await leases.pull_back(tx)
            if jobs or facts:
                logger().warning("worker.clock_set_back", jobs=jobs, facts=facts)
        self._last_seen = tx.now

    async def _let_finish(self) -> None:
        tasks = [task for hands in self._hands for task in hands.running]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=self._rhythm.grace_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _sign_off(self) -> None:
        try:
            # Failures that are being written hold their jobs.
            await self._desk.batcher.drain(self._rhythm.grace_seconds)
            await self._desk.database.run(SCOPE, self._give_back, patient=True)
        except Exception:  # noqa: BLE001  Whatever hinders it, the lease will run out.
            logger().exception("worker.could_not_sign_off", worker=str(self.id))

    async def _give_back(self, tx: PlatformTx) -> None:
        await store.release_all(tx, self.id)
        await leases.resign(tx, self.id)

    # -- Facts and schedules

    async def _pass_on(self) -> bool:
        passed = await self._relay.pass_on()
        if passed.facts:
            self._metrics.jobs.relayed(passed.facts)
            self._ring(passed.lanes)
            await asyncio.sleep(MOMENT_SECONDS)
        return passed.facts > 0

    async def _fire(self) -> bool:
        if await self._run(lambda tx: fire(tx, self._duties.schedules)):
            self._ring(schedule.kind.lane.name for schedule in self._duties.schedules)
        return False

    # -- Lanes

    async def _look_out(self) -> bool:
        """Wake those who have something to do; whoever is at work looks for more by itself."""
        await self._desk.database.read(SCOPE, self._look)
        return False

    async def _look(self, tx: PlatformTx) -> None:
        idle = [hands for hands in self._hands if not hands.running]
        heads = [
            (hands.lane.name, priority, hands.heads[priority].place())
            for hands in idle
            for priority, _ in self._kinds_by_priority[hands.lane.name]
        ]
        self._ring(await store.list_due_lanes(tx, heads))
        if await store.has_due_facts(tx):
            self._facts_bell.set()
        if time.monotonic() - self._suspects_looked >= LOOK_AT_ALL_SECONDS:
            self._suspects_looked = time.monotonic()
            self._ring(await store.list_suspect_lanes(tx, [hands.lane.name for hands in idle]))

    async def _serve(self, hands: Hands) -> bool:
        """Claim what can be started, and start it; whether there may be more."""
        await self._wait_for_place(hands)
        if hands.running:
            await asyncio.sleep(MOMENT_SECONDS)
        gave_way = hands.lane.gives_way and await self._give_way()
        if self._stopping.is_set():
            return False
        most = CLAIM if hands.lane is WORK else hands.free * self._largest_group(hands.lane)
        most = min(most, GIVING_WAY) if gave_way else most
        try:
            if hands.in_doubt:
                hands.in_doubt = False
                await self._run(lambda tx: store.release_forgotten(tx, self.id, hands.lane.name, hands.known))
            claimed = await self._run(lambda tx: self._claim(tx, hands, most))
            failpoints.reach("job.claimed")
        except Exception:
            hands.in_doubt = True
            raise
        for group in groups_of(claimed, partial(self._together, hands, len(claimed))):
            await self._wait_for_place(hands)
            if self._stopping.is_set():  # What was not begun is given back when we sign off.
                break
            self._start(hands, group)
        return bool(claimed)

    async def _give_way(self) -> bool:
        """To handlers, if any are at work, but not for ever."""
        if not any(hands.running for hands in self._hands if hands.lane is WORK):
            return False
        await self._pause(GIVE_WAY_SECONDS, self._stopping)
        return True

    def _largest_group(self, lane: Lane) -> int:
        return max(kind.group for kind in self._duties.kinds if kind.lane.name == lane.name)

    def _together(self, hands: Hands, claimed: int, job: Claimed) -> int:
        """How many of its like go with a job. An errand that failed before goes alone: the others may have failed by
        it. Where somebody waits, nobody goes behind another while there are places."""
        kind = self._kinds[job.kind]
        if not kind.outside:
            return GROUP
        if job.attempts:
            return 1
        return kind.group if hands.lane.gives_way else min(kind.group, -(-claimed // max(1, hands.free)))

    async def _claim(self, tx: PlatformTx, hands: Hands, most: int) -> list[Claimed]:
        lane = hands.lane.name
        claimed: list[Claimed] = []
        for priority, kinds in self._kinds_by_priority[lane]:
            room = max(most - len(claimed), -(-most // 8))
            head = hands.heads[priority]
            fresh = await store.claim(tx, self.id, lane, priority, kinds, head.place(), room)
            head.moved(fresh)
            claimed += fresh
        if hands.looks_for_suspects():
            every = [kind.name for kind in self._duties.kinds if kind.lane.name == lane]
            claimed += await store.claim_suspect(tx, self.id, lane, every)
        for job in claimed:
            self._metrics.jobs.waited(lane, (tx.now - job.run_at).total_seconds(), job.organization_id)
        return claimed

    async def _wait_for_place(self, hands: Hands) -> None:
        while not hands.free > 0 and not self._stopping.is_set():
            await asyncio.wait({*hands.running, self._told_to_stop}, return_when=asyncio.FIRST_COMPLETED)

    def _start(self, hands: Hands, group: Sequence[Claimed]) -> None:
        task = asyncio.create_task(self._execution.run(group))
        hands.running[task] = group
        if group[0].crashes:
            hands.suspect = task
        task.add_done_callback(lambda done: self._ended(hands, done))

    def _ended(self, hands: Hands, task: asyncio.Task[None]) -> None:
        hands.running.pop(task)
        if hands.suspect is task:
            hands.suspect, hands.suspects_looked = None, 0.0
            hands.bell.set()
        if not task.cancelled() and (bug := task.exception()):
            hands.in_doubt = True
            logger().error("worker.bug", exc_info=bug)

    # -- Going on whatever happens

    async def _run(self, work: Callable[[PlatformTx], Awaitable[Any]]) -> Any:
        return await self._desk.database.run(SCOPE, work)

    async def _repeat(
        self, work: Callable[[], Awaitable[bool]], pause: Callable[[], float], bell: asyncio.Event
    ) -> None:
        """Again and again until told to stop; at once, where there was something to do or the bell rings."""
        while not self._stopping.is_set():
            more = False
            try:
                more = await work()
            except Unavailable:
                logger().warning("worker.database_away")
            except Exception:  # noqa: BLE001  A loop that ends would leave work undone, silently.
                logger().exception("worker.bug")
            if not more:
                await self._pause(pause(), bell)

    async def _pause(self, seconds: float, bell: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(seconds):
                await bell.wait()
        except TimeoutError:
            pass
        if bell is not self._stopping:
            bell.clear()

    async def until_reachable(self, work: Callable[[], Awaitable[None]]) -> None:
        while not self._stopping.is_set():
            try:
                await work()
            except Unavailable:
                await asyncio.sleep(self._rhythm.poll_seconds)
            else:
                return


def _by_priority(kinds: Iterable[Kind[Any]], lane: Lane) -> list[tuple[int, list[str]]]:
    """The names of a lane's kinds, the most urgent first."""
    by_priority: dict[int, list[str]] = {}
    for kind in kinds:
        if kind.lane.name == lane.name:
            by_priority.setdefault(kind.priority, []).append(kind.name)
    return sorted(by_priority.items())
