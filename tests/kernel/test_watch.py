"""What is measured, shown, raised while it lasts, and resolved when nobody sees it any more."""

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
import httpx
import pytest

from admitone.kernel.alerts import Watch, rules
from admitone.kernel.alerts.figures import MEASURING, NOT_ANSWERS, Figures, measure, readings_of, readings_of_metrics
from admitone.kernel.alerts.policy import breached
from admitone.kernel.alerts.store import COUNT_LETTERS, COUNT_OUTBOX, COUNT_WAITING, FIND_HEADS, MOST
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, PlatformTx
from admitone.kernel.driver import session_of
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.scope import Role
from admitone.kernel.telemetry import Metrics, render
from tests.builders import an_organization
from tests.conftest import INTERNAL_SECRET

NOW = datetime.now(UTC)


def a_kind() -> str:
    """A kind of job, and a lane, that no other test has."""
    return f"test.k{uuid7().hex}"


async def waiting(
    superuser: asyncpg.Connection,
    kind: str,
    *,
    due: timedelta = timedelta(),
    priority: int = 1,
    jobs: int = 1,
    worker: UUID | None = None,
    attempts: int = 0,
    crashes: int = 0,
) -> None:
    """Jobs in a lane of their own, that have been due for so long."""
    await superuser.execute(
        "INSERT INTO kernel.job (id, organization_id, kind, lane, priority, run_at, worker, attempts, crashes, key,"
        " payload, causation_id, correlation_id, created_at) SELECT gen_random_uuid(), $1, $2, $3, $4, now() - $5::interval,"
        " $6, $7, $8, n::text, '{}', gen_random_uuid(), gen_random_uuid(), now() FROM generate_series(1, $9) AS n",
        *(uuid7(), kind, kind[-32:], priority, due, worker, attempts, crashes, jobs),
    )


async def letters(
    superuser: asyncpg.Connection,
    kind: str,
    *,
    reason: str = "NOT_RETRYABLE",
    priority: int = 1,
    age: timedelta = timedelta(),
    count: int = 1,
) -> tuple[OrganizationId, UUID]:
    """Dead letters; whose they are, and their correlation."""
    whose, correlation = OrganizationId.new(), uuid7()
    await superuser.execute(
        "INSERT INTO kernel.dead_letter (id, organization_id, kind, lane, priority, attempts, crashes, key, payload,"
        " causation_id, correlation_id, created_at, died_at, reason, error) SELECT gen_random_uuid(), $1, $2, 'test',"
        " $3, 1, 0, n::text, '{}', gen_random_uuid(), $4, now() - $5::interval, now() - $5::interval, $6, 'broken'"
        " FROM generate_series(1, $7) AS n",
        *(whose.uuid, kind, priority, correlation, age, reason, count),
    )
    return whose, correlation


async def forget(superuser: asyncpg.Connection, kind: str) -> None:
    await superuser.execute("DELETE FROM kernel.job WHERE kind = $1", kind)
    await superuser.execute("DELETE FROM kernel.dead_letter WHERE kind = $1", kind)


@pytest.fixture
async def kind(superuser: asyncpg.Connection) -> AsyncIterator[str]:
    name = a_kind()
    yield name
    await forget(superuser, name)


@pytest.fixture
async def travelling(database_url: str) -> AsyncIterator[Database]:
    """A database whose clock a test may turn."""
    async with Database(database_url) as database:
        yield database


def turn(database: Database, by: timedelta) -> None:
    database._clock = database._clock.later(by)


async def figures_of(database: Database) -> Figures:
    return await database.read(MEASURING, measure)


def breaches(figures: Figures, kind: str) -> set[str]:
    """The rules that what was seen breaches at once."""
    return {
        reading.rule.name
        for reading in readings_of(figures)
        if (kind in reading.subject or kind[-32:] in reading.subject)
        and breached(reading.rule.threshold, reading.samples)
    }


async def look(watch: Watch, times: int = 1) -> None:
    for _ in range(times):
        await watch.look(uuid7())


# -- Measuring


async def test_jobs_are_counted_by_kind_lane_and_state(
    database: Database, superuser: asyncpg.Connection, kind: str, http: httpx.AsyncClient
):
    await waiting(superuser, kind, due=timedelta(seconds=30), jobs=3)
    await waiting(superuser, kind, due=-timedelta(hours=1), jobs=4)
    await waiting(superuser, kind, due=-timedelta(seconds=20), attempts=1, jobs=2)
    await waiting(superuser, kind, worker=uuid7(), jobs=5)
    await waiting(superuser, kind, crashes=1)
    await letters(superuser, kind, reason="CRASH_LIMIT", count=6)
    metrics = Metrics()
    await look(Watch(database, metrics))
    expected = {"ready": 3, "deferred": 4, "retrying": 2, "running": 5, "suspect": 1}
    lane = kind[-32:]
    for state, jobs in expected.items():
        assert metrics.registry.get_sample_value(
            "admitone_job_depth", {"kind": kind, "lane": lane, "state": state}
        ) == float(jobs)
    oldest = metrics.registry.get_sample_value("admitone_job_oldest_seconds", {"kind": kind, "lane": lane})
    assert oldest is not None and oldest >= 30
    assert metrics.registry.get_sample_value("admitone_dead_letters", {"kind": kind, "reason": "CRASH_LIMIT"}) == 6
    assert metrics.registry.get_sample_value("admitone_database_up") == 1

    assert (await http.get("/api/internal/jobs")).status_code == 403
    answer = (await http.get("/api/internal/jobs", headers={"x-orya-internal-secret": INTERNAL_SECRET})).json()
    shown = {each["state"]: each["jobs"] for each in answer["queues"] if each["kind"] == kind}
    assert shown == expected
    assert [each["letters"] for each in answer["deadLetters"] if each["kind"] == kind] == [6]


async def test_what_is_gone_is_no_longer_shown(database: Database, superuser: asyncpg.Connection, kind: str):
    await waiting(superuser, kind)
    metrics = Metrics()
    watch = Watch(database, metrics)
    await look(watch)
    assert kind.encode() in render(metrics.registry)
    await forget(superuser, kind)
    await look(watch)
    assert kind.encode() not in render(metrics.registry)


async def test_a_look_is_cheap_however_much_has_piled_up(
    database: Database, superuser: asyncpg.Connection, database_url: str, kind: str
):
    """By the rows that the plans touch, not by the clock."""
    await waiting(superuser, kind, due=-timedelta(days=1), jobs=200_000)
    await letters(superuser, kind, count=20_000)
    await superuser.execute("ANALYZE kernel.job; ANALYZE kernel.dead_letter")
    figures = await figures_of(database)
    assert [each.jobs for each in figures.depths if each.kind == kind] == [MOST]
    assert [each.letters for each in figures.letters if each.kind == kind] == [MOST]
    relay = await asyncpg.connect(database_url, server_settings=session_of(Role.RELAY))
    try:
        queues: Sequence[asyncpg.Record] = await relay.fetch(FIND_HEADS)
        lanes, priorities = [row["lane"] for row in queues], [row["priority"] for row in queues]
        assert await rows_touched(relay, FIND_HEADS) <= 4 * len(queues) + 4
        assert await rows_touched(relay, COUNT_WAITING, lanes, priorities, figures.at, MOST) <= 4 * MOST
        assert await rows_touched(relay, COUNT_LETTERS, MOST) <= 4 * MOST
        assert await rows_touched(relay, COUNT_OUTBOX, figures.at, MOST) <= 4 * MOST
    finally:
        await relay.close()


async def rows_touched(session: asyncpg.Connection, sql: str, *values: object) -> int:
    """By the scans of the statement, as it really ran."""
    [[plan]] = await session.fetch(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", *values)

    def scanned(node: dict) -> int:
        own = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) if "Relation Name" in node else 0
        return own * node["Actual Loops"] + sum(scanned(inner) for inner in node.get("Plans", ()))

    return int(scanned(json.loads(plan)[0]["Plan"]))


# -- What breaches a rule

BREACHES = [
    ("letters", {"priority": 0}, {"jobs.dead_critical"}),
    ("letters", {"priority": 1}, set()),
    ("letters", {"priority": 1, "age": timedelta(seconds=500)}, set()),
    ("letters", {"priority": 1, "age": timedelta(seconds=600)}, {"jobs.dead"}),
    ("letters", {"reason": "RETRIES_EXHAUSTED"}, {"jobs.retries_exhausted"}),
    ("letters", {"reason": "RETRIES_EXHAUSTED", "priority": 0}, {"jobs.retries_exhausted", "jobs.dead_critical"}),
    ("waiting", {"priority": 0, "due": timedelta(seconds=20)}, set()),
    ("waiting", {"priority": 0, "due": timedelta(seconds=121)}, {"jobs.critical_delay"}),
    ("waiting", {"priority": 0, "due": timedelta(seconds=121), "crashes": 1}, {"jobs.critical_delay"}),
    ("waiting", {"priority": 0, "due": -timedelta(hours=1)}, set()),
    ("waiting", {"priority": 0, "due": timedelta(seconds=121), "worker": uuid7()}, set()),
    ("waiting", {"priority": 1, "due": timedelta(seconds=121)}, set()),
]


@pytest.mark.parametrize(("what", "said", "expected"), BREACHES)
async def test_what_stands_in_the_database_breaches_its_rule(
    database: Database, superuser: asyncpg.Connection, kind: str, what: str, said: dict, expected: set[str]
):
    await {"letters": letters, "waiting": waiting}[what](superuser, kind, **said)
    assert breaches(await figures_of(database), kind) == expected


async def test_a_letter_that_was_replayed_is_none(database: Database, superuser: asyncpg.Connection, kind: str):
    await letters(superuser, kind, priority=0)
    await superuser.execute(
        "UPDATE kernel.dead_letter SET replayed_at = now(), replayed_by = 'a test', replay_reason = 'it'"
        " WHERE kind = $1",
        kind,
    )
    assert breaches(await figures_of(database), kind) == set()


async def test_facts_that_wait_too_long_and_facts_that_nobody_knows(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    told = superuser.transaction()
    await told.start()  # Nobody else's outbox is touched: it is all taken back.
    began = await superuser.fetchval("SELECT now()")
    await superuser.execute("UPDATE kernel.outbox SET published_at = now() WHERE published_at IS NULL")

    async def seen(attempts: int, created: int, due: int) -> dict[str, bool]:
        await superuser.execute("DELETE FROM kernel.outbox WHERE organization_id = $1", scope.organization.uuid)
        await superuser.execute(
            "INSERT INTO kernel.outbox (organization_id, event_id, created_at, attempts, next_attempt_at)"
            " VALUES ($1, $2, now() - make_interval(secs => $3), $4, now() - make_interval(secs => $5))",
            *(scope.organization.uuid, uuid7(), created, attempts, due),
        )
        figures = await measure(PlatformTx(superuser, (), began, scope=MEASURING))
        assert figures.outbox.pending == 1 and figures.age(figures.outbox.oldest_at) == created
        return {
            reading.rule.name: breached(reading.rule.threshold, reading.samples)
            for reading in readings_of(figures)
            if reading.subject == "outbox"
        }

    try:
        assert await seen(0, 120, 120) == {"relay.stuck": False}
        assert await seen(0, 121, 121) == {"relay.stuck": True}
        assert await seen(3, 599, -60) == {"relay.stuck": False, "relay.unknown_facts": False}
        assert await seen(3, 600, -60) == {"relay.stuck": False, "relay.unknown_facts": True}
    finally:
        await told.rollback()


async def test_a_log_that_ends_within_a_week_is_seen(travelling: Database):
    assert (await figures_of(travelling)).short_logs == []
    travelling._clock = Clock(timedelta(days=400))
    figures = await figures_of(travelling)
    assert "kernel.event_log" in figures.short_logs
    assert ("logs.no_partition", "kernel.event_log") in {
        (reading.rule.name, reading.subject)
        for reading in readings_of(figures)
        if breached(reading.rule.threshold, reading.samples)
    }


def test_answers_and_waits_are_read_from_the_metrics_of_the_process():
    metrics = Metrics()

    def read(rule) -> list[tuple[str, float, float]]:
        readings = [each for each in readings_of_metrics(metrics, NOW) if each.rule is rule]
        return [(each.subject, each.samples[0].bad, each.samples[0].all) for each in readings]

    assert read(rules.ERRORS) == [("api", 0, 0)] and read(rules.SLOW) == []
    for contract, status, count in [("C03", "200", 96), ("C03", "409", 2), ("C04", "500", 1), ("C04", "503", 1)]:
        metrics.requests.labels(contract, status, "").inc(count)
    for probe in NOT_ANSWERS:
        metrics.requests.labels(probe, "503", "NOT_READY").inc(50)
    assert read(rules.ERRORS) == read(rules.MANY_ERRORS) == [("api", 2, 100)]
    for seconds in (0.01, 299, 300, 300.001, 901):
        metrics.jobs.waited("work", seconds, "org")
    assert read(rules.SLOW) == [("work", 2, 5)]
