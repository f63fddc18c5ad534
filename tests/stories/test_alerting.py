"""A job dies in a real worker, and somebody is told; an API process watches, too."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import asyncpg
import httpx
import pytest

from admitone.entrypoints.worker import assemble
from admitone.kernel.config import Config
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Job, Kind, Priority, Retry, enqueue
from admitone.kernel.manifest import Module
from admitone.kernel.module import MODULE as KERNEL
from admitone.kernel.scope import Caller
from tests.alerts import TOY_RULE, alerts_about, told_about
from tests.builders import an_organization
from tests.conftest import INTERNAL_SECRET
from tests.jobs import BRISK
from tests.kernel.test_watch import forget
from tests.toy.handlers import Act, Deed
from tests.toy.module import MODULE as TOY
from tests.toy.server import a_toy_server


async def fail(tx: Tx, deeds: Sequence[Delivered[Deed]]) -> None:
    raise RuntimeError("as always")


@pytest.fixture
def config(database_url: str, tmp_path: Path) -> Config:
    return Config.load({"DATABASE_URL": database_url, "ADMITONE_DATA": str(tmp_path)})


async def test_a_critical_job_that_dies_is_told_to_a_human(
    database: Database, superuser: asyncpg.Connection, config: Config, monkeypatch, capsysbinary
):
    monkeypatch.setattr("admitone.kernel.alerts.watch.EVERY_SECONDS", 0.05)
    name = f"test.k{uuid7().hex}"
    doomed = Kind(name, Deed, fail, outside=False, priority=Priority.CRITICAL, retry=Retry(1, 0))
    scope, caller = await an_organization(database), Caller()
    jobs = [Job.of(doomed, Deed(Act.WORK), caller, key="doomed")]
    await database.run(scope, lambda tx: enqueue(tx, jobs))
    workshop = assemble(config, [KERNEL, TOY, Module("test", jobs=(doomed,))], rhythm=BRISK)
    working = asyncio.create_task(workshop.run())
    said: list[dict] = []
    try:
        async with asyncio.timeout(60):
            while len([line for line in said if line["event"] == "alert.nobody_to_tell"]) < 2:
                await asyncio.sleep(0.05)
                out = capsysbinary.readouterr().out.splitlines()
                said += [json.loads(line) for line in out if b"alert." in line and name.encode() in line]
    finally:
        workshop.worker.stop()
        await working
        await forget(superuser, name)
    [critical] = await alerts_about(superuser, f"{name} RETRIES_EXHAUSTED", "jobs.dead_critical")
    [exhausted] = await alerts_about(superuser, name, "jobs.retries_exhausted")
    for row in (critical, exhausted):
        assert row["concerns"] == scope.organization.uuid and row["correlation_id"] == caller.correlation_id
    assert len(await told_about(superuser, name)) == 1
    assert {line["correlationId"] for line in said} == {str(caller.correlation_id)}


@pytest.mark.covers("OPS-006")
async def test_a_worker_with_a_rule_that_has_no_runbook_does_not_start(config: Config):
    workshop = assemble(config, [KERNEL, TOY, Module("test", alerts=(TOY_RULE,))])
    with pytest.raises(TypeError, match=r"toy\.broken: has no runbook planted\.md"):
        await workshop.run()
    await workshop.database.close()


async def test_the_api_watches_too(database_url: str, tmp_path: Path):
    with a_toy_server(database_url, tmp_path, ORYA_CRON_SECRET=INTERNAL_SECRET) as server:
        secret = {"x-orya-internal-secret": INTERNAL_SECRET}
        async with httpx.AsyncClient(base_url=server.url, trust_env=False, headers=secret) as client:
            async with asyncio.timeout(60):
                while b"\nadmitone_database_up 1.0" not in (await client.get("/metrics")).content:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
