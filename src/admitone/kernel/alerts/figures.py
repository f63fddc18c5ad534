"""What is measured: jobs, dead letters, the outbox and the logs, from the database; answers and waits, from metrics.

Promise: one look costs the database a few index walks whose length does not depend on how much has piled up. What a
rule should be told of it is decided by `readings_of`, which is pure, and carries the one entity that a human should
look at first: the oldest.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from prometheus_client.metrics import MetricWrapperBase

from admitone.kernel.alerts import rules, store
from admitone.kernel.alerts.model import AlertRule, Level, Sample, Tally
from admitone.kernel.db import PlatformTx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs.model import Priority
from admitone.kernel.scope import PlatformScope, Role
from admitone.kernel.telemetry import Metrics

MEASURING: Final = PlatformScope("measure jobs, dead letters and the outbox", Role.RELAY)
AHEAD: Final = timedelta(days=7)
"""For how long a log must have somewhere to write to."""
NOT_ANSWERS: Final = frozenset({"KERNEL.READY"})
"""Contracts whose 503 is what they were asked for."""


@dataclass(frozen=True, slots=True)
class Depth:
    """Jobs of one kind in one state: ready, running, deferred, retrying, suspect."""

    kind: str
    lane: str
    priority: int
    state: str
    jobs: int
    oldest_at: datetime
    """When the first of them was, or will be, due."""


@dataclass(frozen=True, slots=True)
class Head:
    """The job that is due first in its lane and priority."""

    lane: str
    priority: int
    run_at: datetime
    kind: str
    id: UUID
    organization_id: UUID
    correlation_id: UUID


@dataclass(frozen=True, slots=True)
class Letters:
    """Dead letters of one sort that nobody has replayed, and the oldest of them."""

    kind: str
    priority: int
    reason: str
    died_at: datetime
    id: UUID
    organization_id: UUID
    correlation_id: UUID
    letters: int


@dataclass(frozen=True, slots=True)
class FirstOut:
    """The fact that the relay should tell next."""

    organization_id: UUID
    event_id: UUID
    correlation_id: UUID | None
    type: str | None


@dataclass(frozen=True, slots=True)
class Outbox:
    """Facts that are not told yet; those that were put off are among them."""

    pending: int
    oldest_at: datetime | None
    due_at: datetime | None
    put_off: int
    put_off_at: datetime | None


@dataclass(frozen=True, slots=True)
class Figures:
    """One look, at one instant of the database."""

    at: datetime
    depths: Sequence[Depth]
    heads: Sequence[Head]
    letters: Sequence[Letters]
    outbox: Outbox
    first_out: FirstOut | None
    short_logs: Sequence[str]

    def age(self, since: datetime | None) -> float:
        """In seconds; what lies ahead has none."""
        return max(0.0, (self.at - since).total_seconds()) if since else 0.0


async def measure(tx: PlatformTx) -> Figures:
    heads = await store.find_heads(tx)
    counted = [*await store.count_waiting(tx, heads), *await store.count_suspect(tx), *await store.count_running(tx)]
    outbox = Outbox(**await store.count_outbox(tx))
    first_out = await store.find_first_out(tx) if outbox.pending else None
    return Figures(
        tx.now,
        [Depth(**row) for row in counted],
        [Head(**row) for row in heads],
        [Letters(**row) for row in await store.count_letters(tx)],
        outbox,
        FirstOut(**first_out) if first_out else None,
        await store.find_short_logs(tx, tx.now + AHEAD),
    )


# -- What the rules are told


@dataclass(frozen=True, slots=True)
class Reading:
    """What one look says to one rule about one subject, and what to look at first."""

    rule: AlertRule
    subject: str
    samples: Sequence[Sample]
    detail: str
    entities: Mapping[str, str] = field(default_factory=dict)
    organization: OrganizationId | None = None
    correlation_id: UUID | None = None


def readings_of(figures: Figures) -> list[Reading]:
    return [*_of_letters(figures), *_of_waiting(figures), *_of_outbox(figures), *_of_logs(figures)]


def _of_letters(figures: Figures) -> Iterator[Reading]:
    for each in figures.letters:
        told = (
            f"{each.letters} dead letters of {each.kind} ({each.reason}), the oldest of {each.died_at:%Y-%m-%d %H:%M}Z",
            {"deadLetterId": str(each.id), "jobKind": each.kind},
            OrganizationId(each.organization_id),
            each.correlation_id,
        )
        subject, now = f"{each.kind} {each.reason}", Level(figures.at, each.letters)
        if each.reason == "RETRIES_EXHAUSTED":
            yield Reading(rules.RETRIES_EXHAUSTED, each.kind, [now], *told)
        if each.priority == Priority.CRITICAL:
            yield Reading(rules.DEAD_CRITICAL, subject, [now], *told)
        else:
            # The oldest has lain there since it died, whoever looked meanwhile: a watch that begins anew knows it too.
            yield Reading(rules.DEAD, subject, [Level(min(each.died_at, figures.at), 1), now], *told)


def _of_waiting(figures: Figures) -> Iterator[Reading]:
    for each in figures.heads:
        late = Level(figures.at, figures.age(each.run_at))
        told = (
            f"a job of {each.kind} in lane {each.lane} has been due for {late.value:.0f} s",
            {"jobId": str(each.id), "jobKind": each.kind},
            OrganizationId(each.organization_id),
            each.correlation_id,
        )
        if each.priority == Priority.CRITICAL:
            yield Reading(rules.CRITICAL_DELAY, each.lane, [late], *told)
        yield Reading(rules.NOT_CLAIMED, f"{each.lane} {each.priority}", [late], *told)
    for depth in figures.depths:
        if depth.state == "suspect" and depth.priority == Priority.CRITICAL:
            late = Level(figures.at, figures.age(depth.oldest_at))
            told_of_suspects = f"{depth.jobs} jobs of {depth.kind} that workers were lost with wait for their turn"
            yield Reading(rules.CRITICAL_DELAY, f"{depth.lane} {depth.kind} suspects", [late], told_of_suspects)


def _of_outbox(figures: Figures) -> Iterator[Reading]:
    outbox, first = figures.outbox, figures.first_out
    overdue = figures.age(outbox.due_at)
    yield Reading(
        rules.RELAY_STUCK,
        "outbox",
        [Level(figures.at, overdue)],
        f"{outbox.pending} facts are not told yet, the first has been due for {overdue:.0f} s",
        {"eventId": str(first.event_id), "eventType": first.type or "unknown"} if first else {},
        OrganizationId(first.organization_id) if first else None,
        first.correlation_id if first else None,
    )
    if outbox.put_off and outbox.put_off_at:
        yield Reading(
            rules.UNKNOWN_FACTS,
            "outbox",
            [Level(min(outbox.put_off_at, figures.at), 1), Level(figures.at, outbox.put_off)],
            f"{outbox.put_off} facts of unknown types, the oldest of {outbox.put_off_at:%Y-%m-%d %H:%M}Z",
        )


def _of_logs(figures: Figures) -> Iterator[Reading]:
    for log in figures.short_logs:
        yield Reading(rules.NO_PARTITION, log, [Level(figures.at, 1)], f"{log} ends within {AHEAD.days} days")


# -- What metrics tell


def readings_of_metrics(metrics: Metrics, at: datetime) -> list[Reading]:
    """Of this process alone. If it holds for all together, it holds for one of them at least."""
    return [*_of_answers(metrics, at), *_of_waits(metrics, at)]


def _of_answers(metrics: Metrics, at: datetime) -> Iterator[Reading]:
    answers = [(labels, count) for labels, count in _samples(metrics.requests, "_total")]
    counted = [(labels["status"], count) for labels, count in answers if labels["contract"] not in NOT_ANSWERS]
    bad = sum(count for status, count in counted if status.startswith("5"))
    tally = Tally(at, bad, sum(count for _, count in counted))
    for rule in (rules.ERRORS, rules.MANY_ERRORS):
        yield Reading(rule, "api", [tally], f"{bad:.0f} of {tally.all:.0f} answers since this process began were 5xx")


def _of_waits(metrics: Metrics, at: datetime) -> Iterator[Reading]:
    limit = rules.SLOW.threshold.beyond  # type: ignore[union-attr]
    assert limit is not None
    within = {labels["lane"]: n for labels, n in _samples(metrics.jobs.wait, "_bucket") if float(labels["le"]) == limit}
    for labels, count in _samples(metrics.jobs.wait, "_count"):
        lane = labels["lane"]
        bad = count - within[lane]
        yield Reading(
            rules.SLOW, lane, [Tally(at, bad, count)], f"{bad:.0f} of {count:.0f} claims came {limit:.0f} s late"
        )


def readings_of_paces(metrics: Metrics, paces: Sequence[tuple[str, float, AlertRule]], at: datetime) -> list[Reading]:
    """How many answers of each contract took longer than that, of this process alone."""
    counts = {labels["contract"]: count for labels, count in _samples(metrics.latency, "_count")}
    buckets = {
        (labels["contract"], float(labels["le"])): count for labels, count in _samples(metrics.latency, "_bucket")
    }
    found = []
    for contract, seconds, rule in paces:
        if count := counts.get(contract, 0):
            slow = count - buckets[contract, seconds]
            told = (
                f"{slow:.0f} of {count:.0f} answers of {contract} since this process began took {seconds:g} s or more"
            )
            found.append(Reading(rule, contract, [Tally(at, slow, count)], told))
    return found


def readings_of_uptimes(metrics: Metrics, uptimes: Sequence[tuple[str, AlertRule]], at: datetime) -> list[Reading]:
    """How many answers of each contract were 5xx, of this process alone."""
    answers = [*_samples(metrics.requests, "_total")]
    found = []
    for contract, rule in uptimes:
        counted = [(labels["status"], count) for labels, count in answers if labels["contract"] == contract]
        if counted:
            bad, every = sum(n for status, n in counted if status.startswith("5")), sum(n for _, n in counted)
            told = f"{bad:.0f} of {every:.0f} answers of {contract} since this process began were 5xx"
            found.append(Reading(rule, contract, [Tally(at, bad, every)], told))
    return found


def _samples(metric: MetricWrapperBase, suffix: str) -> Iterator[tuple[Mapping[str, str], float]]:
    for family in metric.collect():
        yield from ((each.labels, each.value) for each in family.samples if each.name.endswith(suffix))
