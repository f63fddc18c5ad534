"""An alert is raised once by all who see it, lasts while anybody does, and is resolved when nobody has for a while."""

# ruff: noqa: F811  Fixtures are imported, and asked for by their names.

import asyncio
import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg

from admitone.kernel.alerts import Watch
from admitone.kernel.alerts.watch import QUIET
from admitone.kernel.db import Database
from admitone.kernel.telemetry import Metrics
from tests.alerts import alerts_about, told_about
from tests.kernel.test_watch import forget, kind, letters, look, turn, waiting  # noqa: F401, a fixture among them
from tests.unwatched import database, database_url, superuser, unwatched  # noqa: F401, fixtures of this module

NOW = datetime.now(UTC)


async def test_two_processes_that_see_the_same_open_one_alert_with_what_to_look_at(
    database: Database, superuser: asyncpg.Connection, kind: str
):
    whose, correlation = await letters(superuser, kind, reason="RETRIES_EXHAUSTED", count=2)
    one = Watch(database, Metrics(), logs_url="https://logs.example.org/?q={correlationId}")
    other = Watch(database, Metrics(), logs_url="https://logs.example.org/?q={correlationId}")
    await asyncio.gather(*(look(watch, 3) for watch in (one, other)))
    [row] = await alerts_about(superuser, kind, "jobs.retries_exhausted")
    assert row["times"] == 6 and row["resolved_at"] is None
    [told] = await told_about(superuser, kind)
    letter = await superuser.fetchval(
        "SELECT id FROM kernel.dead_letter WHERE kind = $1 ORDER BY died_at LIMIT 1", kind
    )
    assert (told["rule"], told["alertClass"]) == ("jobs.retries_exhausted", "PAGER")
    assert told["runbook"] == "docs/runbooks/dlq-growth.md"
    assert told["organization"] == str(whose)
    assert told["entities"]["jobKind"] == kind and UUID(told["entities"]["deadLetterId"])
    assert letter is not None
    assert told["correlationId"] == str(correlation)
    assert told["link"] == f"https://logs.example.org/?q={correlation}"


async def test_an_alert_is_over_when_nobody_has_seen_it_for_a_while_and_not_before(
    database: Database, superuser: asyncpg.Connection, kind: str
):
    await letters(superuser, kind, reason="RETRIES_EXHAUSTED")
    sees, blind = Watch(database, Metrics()), Watch(database, Metrics())
    await look(sees)
    turn(database, QUIET / 2)
    await look(sees)
    await forget(superuser, kind)
    turn(database, QUIET / 2)
    await look(blind, 2)
    [row] = await alerts_about(superuser, kind, "jobs.retries_exhausted")
    assert row["resolved_at"] is None, "seen half a minute ago"

    turn(database, QUIET)
    await look(blind)
    [row] = await alerts_about(superuser, kind, "jobs.retries_exhausted")
    assert row["resolved_at"] is None, "nobody looked for a minute: others get a round to say what they see"
    await look(blind)
    [row] = await alerts_about(superuser, kind, "jobs.retries_exhausted")
    assert row["resolved_at"] is not None
    assert len(await told_about(superuser, kind, "ops.alert_resolved")) == 1

    await letters(superuser, kind, reason="RETRIES_EXHAUSTED")
    await look(blind)
    assert len(await alerts_about(superuser, kind, "jobs.retries_exhausted")) == 2


async def test_an_alert_stays_open_while_one_of_many_sees_it(database: Database, superuser: asyncpg.Connection):
    """Each API process counts its own errors; the healthy one must not resolve what the broken one sees."""
    await superuser.execute("DELETE FROM kernel.alert WHERE rule LIKE 'api.%'")
    broken, healthy = Metrics(), Metrics()
    watches = Watch(database, broken), Watch(database, healthy)
    for watch in watches:
        await look(watch)
    broken.requests.labels("C03", "500", "SERVER_ERROR").inc(4)
    broken.requests.labels("C03", "200", "").inc(96)
    healthy.requests.labels("C03", "200", "").inc(100)
    for _ in range(6):
        for watch in watches:
            await look(watch)
        turn(database, QUIET * 0.9)
    rows = await superuser.fetch("SELECT rule, resolved_at FROM kernel.alert WHERE rule LIKE 'api.%' ORDER BY rule")
    assert [(row["rule"], row["resolved_at"]) for row in rows] == [("api.errors", None), ("api.many_errors", None)]


async def test_a_breach_must_last_as_long_as_its_window(database: Database, superuser: asyncpg.Connection, kind: str):
    subject = f"{kind[-32:]} 1"
    await waiting(superuser, kind, due=timedelta(seconds=301))
    watch = Watch(database, Metrics())
    await look(watch)
    for _ in range(2):
        turn(database, timedelta(seconds=300))
        await look(watch)
    assert await alerts_about(superuser, subject, "jobs.not_claimed") == []
    turn(database, timedelta(seconds=301))
    await look(watch)
    [row] = await alerts_about(superuser, subject, "jobs.not_claimed")
    assert row["class"] == "TICKET"


async def test_without_the_database_the_log_and_the_metric_say_so(capsysbinary):
    """Nothing listens there."""
    instants = iter(NOW + timedelta(seconds=seconds) for seconds in (0, 29, 30))
    metrics = Metrics()
    async with Database("postgresql://admitone@127.0.0.1:1/nothing") as nowhere:
        watch = Watch(nowhere, metrics, clock=lambda: next(instants))
        await look(watch, 2)
        assert b"database.down" not in capsysbinary.readouterr().out
        await look(watch)
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    [down] = [line for line in lines if line["event"] == "alert.not_written"]
    assert (down["rule"], down["level"]) == ("database.down", "error")
    assert down["runbook"] == "docs/runbooks/database-down.md"
    assert metrics.registry.get_sample_value("admitone_database_up") == 0
    assert metrics.registry.get_sample_value("admitone_alerts_seen", {"rule": "database.down", "class": "PAGER"}) == 1


async def test_a_watch_looks_until_it_is_left_and_survives_its_own_bugs(
    database: Database, superuser: asyncpg.Connection, kind: str, monkeypatch, capsysbinary
):
    await letters(superuser, kind, priority=0)
    monkeypatch.setattr("admitone.kernel.alerts.watch.EVERY_SECONDS", 0.01)
    failing = iter([ZeroDivisionError()])

    def clock() -> datetime:
        for bug in failing:
            raise bug
        return NOW

    async with asyncio.timeout(60):
        async with Watch(database, Metrics(), clock=clock):
            while not await alerts_about(superuser, f"{kind} NOT_RETRYABLE", "jobs.dead_critical"):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    assert b"watch.bug" in capsysbinary.readouterr().out
