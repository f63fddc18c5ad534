"""Builders for bulk work."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from admitone.kernel.bulk import Bulk, BulkId, Status, start, store
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Scope
from tests.builders import a_caller, an_organization
from tests.jobs import DEADLINE_SECONDS
from tests.toy.recounting import Recount, recount

NAMES = ("a", "b", "c", "d", "e")


async def some_bulk(database: Database, scope: Scope, key: str = "k", **request: Any) -> Bulk:
    """Committed bulk work over the organisation's counters."""
    return await database.run(scope, lambda tx: start(tx, recount, Recount(**request), a_caller(), key=key))


def a_bulk(**said: Any) -> Bulk:
    """Bulk work that stands in no table."""
    now = datetime.now(UTC)
    usual = Bulk(
        organization_id=uuid7(),
        id=BulkId.new(),
        kind="toy.recount",
        key="k",
        request={},
        cursor=None,
        steps=1,
        done=0,
        total=None,
        status=Status.RUNNING,
        parent_id=None,
        requested_by=None,
        correlation_id=uuid7(),
        started_at=now,
        updated_at=now,
        finished_at=None,
        error=None,
    )
    return replace(usual, **said)


async def counted(database: Database, *names: str) -> Scope:
    return await an_organization(database, *(names or NAMES))


async def how_it_stands(database: Database, scope: Scope, which: BulkId) -> Bulk:
    found = await database.read(scope, store.find, which)
    assert found is not None
    return found


async def until_it(database: Database, scope: Scope, which: BulkId, so: Callable[[Bulk], bool]) -> Bulk:
    """Wait for what must come; how it stands then."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not so(found := await how_it_stands(database, scope, which)):  # noqa: ASYNC110  A worker tells nobody.
            await asyncio.sleep(0.02)
        return found


async def until_over(database: Database, scope: Scope, which: BulkId) -> Bulk:
    return await until_it(database, scope, which, lambda bulk: not bulk.status.is_open)


async def visits(database: Database, scope: Scope) -> dict[str, int]:
    """How often each counter was visited."""

    async def query(tx: Tx) -> dict[str, int]:
        rows = await tx.fetch("SELECT name, recounts FROM toy.counter WHERE organization_id = $1 ORDER BY name")
        return {row["name"]: row["recounts"] for row in rows}

    return await database.read(scope, query)
