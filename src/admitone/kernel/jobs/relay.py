"""The relay: each fact in the outbox becomes one job for each of its subscribers.

Promise (PLT-006): a fact whose transaction committed is told to every subscriber at least once, and its permanent key
makes that once. Several relays at work share the outbox without telling anything twice. Jobs and the mark on the
outbox row commit together. A fact that this version does not know is left to one that does: put off, not lost.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from admitone.kernel.db import Database, PlatformTx, Record, Tx
from admitone.kernel.facts import Fact
from admitone.kernel.jobs import store
from admitone.kernel.jobs.enqueueing import enqueue
from admitone.kernel.jobs.model import Job, Subscription
from admitone.kernel.scope import PlatformScope, Role
from admitone.kernel.telemetry import logger

BATCH: Final = 1_000
SCOPE: Final = PlatformScope("relay facts to their subscribers", Role.RELAY)
PUT_OFF: Final = timedelta(seconds=30)


@dataclass(frozen=True)
class Subscriptions:
    """Who hears of what."""

    by_fact: Mapping[str, Sequence[Subscription]]

    @classmethod
    def of(cls, facts: Iterable[type[Fact]], subscriptions: Iterable[Subscription]) -> "Subscriptions":
        by_fact: dict[str, list[Subscription]] = {fact.name: [] for fact in facts}
        for each in subscriptions:
            by_fact.setdefault(each.fact.name, []).append(each)
        return cls(by_fact)

    @property
    def unheard(self) -> frozenset[str]:
        """Facts that are known, and that nobody hears of."""
        return frozenset(fact for fact, subscribers in self.by_fact.items() if not subscribers)

    def knows(self, fact: str | None) -> bool:
        return fact in self.by_fact

    def named(self, subscriber: str) -> Subscription | None:
        every = (each for some in self.by_fact.values() for each in some)
        return next((each for each in every if each.kind.name == subscriber), None)

    def jobs_for(self, row: Record) -> list[Job]:
        return [job_for(each, row, each.key_of(row["event_id"])) for each in self.by_fact[row["type"]]]


def job_for(subscription: Subscription, row: Record, key: str) -> Job:
    kind = subscription.kind
    event: UUID = row["event_id"]
    return Job(
        kind.name,
        kind.lane.name,
        kind.priority,
        row["payload"],
        key,
        row["actor_id"],
        event,
        row["correlation_id"],
        event_id=event,
        organization_id=row["organization_id"],
    )


class Passed(NamedTuple):
    """How many facts were told, and which lanes have something to do."""

    facts: int = 0
    lanes: frozenset[str] = frozenset()


class Relay:
    def __init__(self, database: Database, subscriptions: Subscriptions) -> None:
        self._database = database
        self._subscriptions = subscriptions

    async def pass_on(self) -> Passed:
        """Tell one batch of facts."""
        return await self._database.run(SCOPE, self._pass_on)

    async def _pass_on(self, tx: PlatformTx) -> Passed:
        rows = await store.claim_outbox(tx, BATCH)
        known = [row for row in rows if self._subscriptions.knows(row["type"])]
        unknown = [row for row in rows if not self._subscriptions.knows(row["type"])]
        jobs = [job for row in known for job in self._subscriptions.jobs_for(row)]
        if known:
            await enqueue(tx, jobs)
            await store.mark_published(tx, known)
        if unknown:
            logger().warning("relay.unknown_facts", types=sorted({str(row["type"]) for row in unknown}))
            await store.put_off(tx, unknown, tx.now + PUT_OFF)
        return Passed(len(known), frozenset(job.lane for job in jobs))


# -- Telling again


@dataclass(frozen=True, slots=True)
class Retelling:
    """A range of facts for one subscriber: those that it never heard, or, under a name, all of them again."""

    subscription: Subscription
    since: datetime
    until: datetime
    again: str | None = None

    def key_of(self, event: UUID) -> str:
        key = self.subscription.key_of(event)
        return f"{key}:again:{self.again}" if self.again else key


async def retell(tx: Tx, retelling: Retelling, after: UUID | None) -> tuple[int, UUID | None]:
    """One page of an organisation's facts: how many jobs were new, and where the next page begins, if there is one.

    Keys are permanent, so that a retelling that was cut off is begun anew, and does the rest.
    """
    start = after or first_id(retelling.since)
    fact = retelling.subscription.fact.name
    rows = await store.list_facts_to_replay(tx, start, first_id(retelling.until), fact, BATCH)
    jobs = [job_for(retelling.subscription, row, retelling.key_of(row["event_id"])) for row in rows]
    told = await enqueue(tx, jobs) if jobs else 0
    return told, rows[-1]["event_id"] if len(rows) == BATCH else None


def first_id(instant: datetime) -> UUID:
    """Before every id of that instant, and after every id before it."""
    return UUID(int=int(instant.timestamp() * 1000) << 80)
