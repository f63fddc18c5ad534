"""What a job is, who does it, and how often it is tried.

Promise: a kind says everything about its jobs: what they carry, which lane and priority they go by, how they are
retried and after how many lost workers they are given up. There are two sorts of kinds. A *handler* works inside one
transaction for many jobs of one organisation at a time, like a command, and its effect, the inbox rows and the end of
the jobs commit together. An *errand* calls the outside world, or looks where a handler may not: one job, no
transaction open; what it returns is run in the transaction that ends the job. An errand with a `group` takes up to so
many jobs of one organisation, says which of them failed, and ends the others in one transaction.

    @handler("crm.count_visit", priority=Priority.NOTICE)
    async def count_visit(tx: Tx, visits: Sequence[Delivered[TicketConsumed]]) -> None: ...

    @errand("ops.page", lane=PAGER, retry=NOTIFICATIONS)
    async def page(desk: Desk, alert: Delivered[AlertRaised]) -> Finish | None: ...

    @errand("mail.deliver", lane=MAIL, group=8)
    async def deliver(desk: Desk, posted: Sequence[Delivered[Posted]]) -> Round: ...
"""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any, Final, Generic, TypeVar, get_args, get_type_hints
from uuid import UUID

import msgspec

from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, PlatformTx, Tx
from admitone.kernel.facts import Fact
from admitone.kernel.ids import Id, OrganizationId, from_text, to_text, uuid7
from admitone.kernel.scope import Caller

Payload = TypeVar("Payload")
Service = TypeVar("Service")
Finish = Callable[[Tx], Awaitable[None]]

NAME: Final = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")


class JobId(Id, prefix="job"):
    """One job."""


class EventId(Id, prefix="evt"):
    """One fact in the event log."""


class Priority(IntEnum):
    """Who goes first within a lane. Nobody is starved: see `worker`."""

    CRITICAL = 0
    """Payments and entitlements."""
    NORMAL = 1
    NOTICE = 2
    """Notifications."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Work that shares places in a worker. What may hang has a lane of its own, so that it starves nobody."""

    name: str
    places: int
    """How many groups of jobs run at once in one worker; of most errands a group is one job."""
    gives_way: bool = False
    """While handlers of this worker are at work it begins little: what nobody waits for is done when there is time."""


WORK: Final = Lane("work", places=10)
"""The lane of all handlers."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a job is executed in all, and how long it waits in between (FUN-030, FUN-031)."""

    executions: int
    base_seconds: float
    jitter: bool = True
    most_seconds: float = 30

    def delay(self, retry: int, chance: Callable[[], float] = random.random) -> float:
        """Before which retry, counted from 0; the jitter comes after the cap."""
        seconds = min(self.base_seconds * 2.0**retry, self.most_seconds)
        return seconds * (0.5 + chance()) if self.jitter else seconds


# The matrix of FUN-032 to FUN-035. Queued work counts executions (U-41).
WEBHOOKS: Final = Retry(executions=5, base_seconds=2)
HOST_CALLS: Final = Retry(executions=3, base_seconds=1)
REFUNDS: Final = Retry(executions=3, base_seconds=5, jitter=False)
NOTIFICATIONS: Final = Retry(executions=3, base_seconds=2)
ORDINARY: Final = Retry(executions=5, base_seconds=1)
# Synchronous calls count the executions after the first (FUN-036, FUN-037).
READS: Final = Retry(executions=2, base_seconds=0, jitter=False)
WRITES: Final = Retry(executions=1, base_seconds=0, jitter=False)


@dataclass(frozen=True, slots=True)
class Delivered(Generic[Payload]):
    """One job as its handler sees it."""

    id: UUID
    organization: OrganizationId
    payload: Payload
    caller: Caller
    """On whose behalf; what the handler publishes for this caller was caused by the fact, or by this job."""
    key: str
    event_id: UUID | None
    attempt: int
    """Which execution this is, from 1."""
    created_at: datetime


@dataclass(frozen=True)
class Desk:
    """What an errand works with. No transaction is open while it runs."""

    database: Database
    batcher: Batcher
    services: Mapping[type, Any] = field(default_factory=dict)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the worker is told to stop: whoever stays for a while goes then."""

    def get(self, kind: type[Service]) -> Service:
        """What the entry point gave to errands: the HTTP client, the mailer."""
        given: Service = self.services[kind]
        return given


@dataclass(frozen=True, slots=True)
class Round:
    """What became of a group of errands."""

    finish: Callable[[Tx, Sequence[Delivered[Any]]], Awaitable[None]] | None = None
    """Run in the transaction that ends those that did not fail; if it raises, again with fewer of them."""
    failed: Mapping[UUID, BaseException] = field(default_factory=dict)
    """By their jobs; each is tried again, or not, as if it had been alone."""


@dataclass(frozen=True, eq=False)
class Kind(Generic[Payload]):
    """One kind of job."""

    name: str
    carries: type[Payload]
    work: Callable[..., Awaitable[Any]]
    outside: bool
    group: int = 1
    """How many errands go together at most; handlers take as many as there are."""
    lane: Lane = WORK
    priority: Priority = Priority.NORMAL
    retry: Retry = ORDINARY
    crash_limit: int = 3
    seconds: float = 60
    """Within which an execution must end."""
    mourn: Callable[[PlatformTx, Any], Awaitable[None]] | None = None
    """Told of a job of this kind that died (an `execution.Failure`), in the transaction that buries it."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise TypeError(f"a kind of job is called package.verb in lower case, not {self.name!r}")
        if self.outside == (self.lane is WORK):
            raise TypeError(f"{self.name}: handlers share the lane {WORK.name!r}, errands have lanes of their own")

    def encode(self, payload: Payload) -> str:
        return msgspec.json.encode(payload, enc_hook=to_text).decode()

    def decode(self, payload: str) -> Payload:
        return msgspec.json.decode(payload, type=self.carries, dec_hook=from_text)


def handler(name: str, **said: Any) -> Callable[[Callable[..., Awaitable[None]]], Kind[Any]]:
    """Declare a kind whose work is `(tx, deliveries)`, in one transaction for many."""
    return lambda work: Kind(name, _carried(work), work, outside=False, **said)


def errand(
    name: str, *, lane: Lane, **said: Any
) -> Callable[[Callable[..., Awaitable[Finish | Round | None]]], Kind[Any]]:
    """Declare a kind whose work is `(desk, delivered)`, outside of any transaction, one at a time; with a `group`
    it is `(desk, deliveries)`, and gives a `Round`."""
    return lambda work: Kind(name, _carried(work), work, outside=True, lane=lane, **said)


def _carried(work: Callable[..., Any]) -> Any:
    """The payload's type, from `Sequence[Delivered[Payload]]` or `Delivered[Payload]`."""
    hints = get_type_hints(work)
    hints.pop("return", None)
    [*_, taken] = hints.values()
    [inner] = get_args(taken)
    return get_args(inner)[0] if get_args(inner) else inner


@dataclass(frozen=True, slots=True)
class Subscription:
    """A kind that wants to hear of a fact. The subscriber is called as the kind is."""

    fact: type[Fact]
    kind: Kind[Any]

    def __post_init__(self) -> None:
        if self.kind.carries is not self.fact:
            raise TypeError(f"{self.kind.name} takes {self.kind.carries}, and is subscribed to {self.fact}")

    def key_of(self, event: UUID) -> str:
        """Permanent: a fact is told to a subscriber once."""
        return f"{self.kind.name}:{event}"


@dataclass(frozen=True, slots=True)
class Job:
    """A job to enqueue. Its key is permanent: what was enqueued under it once is never enqueued again."""

    kind: str
    lane: str
    priority: int
    payload: str
    key: str
    actor_id: Any
    causation_id: UUID
    correlation_id: UUID
    run_at: datetime | None = None
    event_id: UUID | None = None
    organization_id: UUID | None = None
    """Left out: the organisation of the transaction that enqueues."""
    id: UUID = field(default_factory=uuid7)
    created_at: datetime | None = None

    @classmethod
    def of(
        cls, kind: Kind[Payload], payload: Payload, caller: Caller, *, key: str, run_at: datetime | None = None
    ) -> "Job":
        """`run_at`: not before that instant."""
        return cls(
            kind.name,
            kind.lane.name,
            kind.priority,
            kind.encode(payload),
            key,
            caller.actor,
            caller.causation_id or caller.correlation_id,
            caller.correlation_id,
            run_at,
        )


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job in a worker's hands."""

    id: UUID
    organization_id: UUID
    kind: str
    attempts: int
    crashes: int
    key: str
    payload: str
    event_id: UUID | None
    actor_id: UUID | None
    causation_id: UUID
    correlation_id: UUID
    run_at: datetime
    created_at: datetime
    worker: UUID
    """Under which name the worker claimed it: the fence."""

    @property
    def group(self) -> Hashable:
        """Who shares a transaction: what failed before with its like, and a suspect with nobody."""
        return (self.kind, self.organization_id, self.attempts > 0, self.crashes and self.id)


def groups_of(jobs: Sequence[Claimed], most: Callable[[Claimed], int]) -> list[list[Claimed]]:
    """Jobs that can go in one transaction together: of one kind and one organisation, `most` of them at a time."""
    by_group: dict[Hashable, list[Claimed]] = {}
    for job in jobs:
        by_group.setdefault(job.group, []).append(job)
    return [
        group[at : at + size]
        for group in by_group.values()
        for size in [most(group[0])]
        for at in range(0, len(group), size)
    ]
