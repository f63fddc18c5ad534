"""Schedules: jobs at instants, said as cron expressions in UTC.

Promise: an instant fires once across all workers, by its permanent key `cron:name:instant`. Instants that passed while
nobody worked are caught up with as the schedule says. A clock that was set back fires nothing twice, and stops nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from itertools import islice, takewhile
from typing import Final

import msgspec
from cronsim import CronSim

from admitone.kernel.db import PlatformTx
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.jobs import store
from admitone.kernel.jobs.enqueueing import enqueue
from admitone.kernel.jobs.model import Job, Kind
from admitone.kernel.scope import Caller

MOST_CAUGHT_UP: Final = 1_000


class CatchUp(Enum):
    """What becomes of instants that passed while nobody worked."""

    LATEST = "only the last of them fires"
    ALL = "each of them fires"


class Firing(msgspec.Struct, frozen=True, rename="camel"):
    """What a scheduled job carries."""

    schedule: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Schedule:
    """A job of the platform at every instant that the cron expression names."""

    name: str
    cron: str
    kind: Kind[Firing]
    catch_up: CatchUp = CatchUp.LATEST

    def __post_init__(self) -> None:
        CronSim(self.cron, datetime(2026, 1, 1))  # noqa: DTZ001  Raises when it cannot be read.
        if self.kind.carries is not Firing:
            raise TypeError(f"schedule {self.name}: {self.kind.name} does not take a Firing")

    def due(self, last: datetime, now: datetime) -> list[datetime]:
        """The instants that are to fire: after the last one, up to now."""
        if self.catch_up is CatchUp.LATEST:
            next_second = now.replace(microsecond=0) + timedelta(seconds=1)  # Backwards, it leaves out where it begins.
            latest = next(CronSim(self.cron, next_second, reverse=True))
            return [latest] if last < latest else []
        instants = takewhile(lambda instant: instant <= now, CronSim(self.cron, last))
        return list(islice(instants, MOST_CAUGHT_UP))  # The rest next time: a clock may have leapt by years.

    def job_at(self, instant: datetime) -> Job:
        key = f"cron:{self.name}:{instant:%Y-%m-%dT%H:%MZ}"
        job = Job.of(self.kind, Firing(self.name, instant), Caller(), key=key)
        return replace(job, organization_id=PLATFORM_ORGANIZATION.uuid)


async def fire(tx: PlatformTx, schedules: Sequence[Schedule]) -> int:
    """Enqueue what is due; how many jobs were new."""
    names = [schedule.name for schedule in schedules]
    last = await store.find_schedules(tx, names)
    if len(last) < len(names):  # New, or another worker is at it: to begin what has begun changes nothing.
        await store.begin_schedules(tx, [name for name in names if name not in last])
    fired = 0
    for schedule in schedules:
        since = last.get(schedule.name)
        if since is None:
            continue
        if since > tx.now + timedelta(minutes=1):  # The clock was set back.
            await store.advance_schedule(tx, schedule.name, tx.now)
        elif due := schedule.due(since, tx.now):
            fired += await enqueue(tx, [schedule.job_at(instant) for instant in due])
            await store.advance_schedule(tx, schedule.name, due[-1])
    return fired
