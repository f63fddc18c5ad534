"""Whoever writes it, a line of log says to which call and to which organisation it belongs (OPS-005)."""

# ruff: noqa: F811  Fixtures are imported, and asked for by their names.

import json
from pathlib import Path

import asyncpg
import httpx
import pytest

from admitone.kernel.alerts import Watch
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Job, enqueue
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics
from tests.builders import a_credential, an_organization
from tests.jobs import a_worker, duties, until_idle
from tests.kernel.test_watch import forget, letters
from tests.toy.handlers import Act, Deed, perform, run_errand
from tests.toy.routes import INCREMENT
from tests.toy.server import a_toy_server
from tests.unwatched import database, database_url, superuser, unwatched  # noqa: F401, fixtures of this module


def lines_in(written: bytes) -> list[dict]:
    return [json.loads(line) for line in written.splitlines() if line]


@pytest.mark.covers("OPS-005")
async def test_every_line_of_the_api_says_which_call_and_which_organisation(
    database: Database, superuser: asyncpg.Connection, database_url: str, tmp_path: Path
):
    scope = await an_organization(database)
    key = await a_credential(superuser, scope, INCREMENT)
    calls = {str(uuid7()): body for body in ({"counter": "visits", "amount": 1}, {"counter": "none", "amount": 1}, {})}
    with a_toy_server(database_url, tmp_path) as server:
        async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
            for correlation, body in calls.items():
                headers = {
                    "authorization": f"Bearer {key.text}",
                    "x-correlation-id": correlation,
                    "x-orya-org-id": str(scope.organization),
                }
                await client.post("/api/toy/increments", json={**body, "idempotencyKey": correlation}, headers=headers)
    lines = lines_in(server.said.read_bytes())
    assert all({"correlationId", "orgId", "level", "event", "at"} <= line.keys() for line in lines)
    served = {line["correlationId"]: line for line in lines if line.get("contract") == "TOY.01"}
    assert served.keys() == calls.keys()
    assert {line["orgId"] for line in served.values()} <= {str(scope.organization), None}
    assert [line["orgId"] for line in served.values() if line["status"] == 200] == [str(scope.organization)]


@pytest.mark.covers("OPS-005")
@pytest.mark.parametrize("kind", [perform, run_errand])
async def test_every_line_of_a_job_says_which_call_and_which_organisation(
    database: Database, superuser: asyncpg.Connection, capsysbinary, kind
):
    scope, caller = await an_organization(database), Caller()
    jobs = [Job.of(kind, Deed(Act.FAIL), caller, key="bad")]
    await database.run(scope, lambda tx: enqueue(tx, jobs))
    async with a_worker(database, duties(kind)):
        await until_idle(superuser, scope)
    lines = lines_in(capsysbinary.readouterr().out)
    assert all({"correlationId", "orgId", "level", "event", "at"} <= line.keys() for line in lines)
    about = [line for line in lines if line["event"] == "job.failed" and line["orgId"] == str(scope.organization)]
    assert len(about) == kind.retry.executions
    assert {(line["correlationId"], line["jobId"]) for line in about} == {(str(caller.correlation_id), str(jobs[0].id))}


@pytest.mark.covers("OPS-005")
async def test_an_alert_is_logged_with_the_call_and_the_organisation_that_it_is_about(
    database: Database, superuser: asyncpg.Connection, capsysbinary
):
    kind = f"test.k{uuid7().hex}"
    whose, correlation = await letters(superuser, kind, priority=0)
    try:
        await Watch(database, Metrics()).look(uuid7())
    finally:
        await forget(superuser, kind)
    [line] = [line for line in lines_in(capsysbinary.readouterr().out) if line.get("about") == f"{kind} NOT_RETRYABLE"]
    assert (line["correlationId"], line["orgId"], line["event"]) == (str(correlation), str(whose), "alert.opened")
    assert line["deadLetterId"] and line["runbook"] == "docs/runbooks/dlq-growth.md" and line["level"] == "error"
