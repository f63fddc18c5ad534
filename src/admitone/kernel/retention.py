"""Retention: what is kept for some days only is gone after them.

Promise: `enforce` removes what is overdue from every table whose manifest gives it days, and nothing else: which rows
those are is said by a policy of the table in the database, the only rows that the owner, in whose name they are
deleted, can see. It works in small transactions, waits for nobody, may run twice at once or be killed at any point,
and what it leaves, the next run takes. Logs lose whole partitions, and get new ones well before they need them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Final

import asyncpg

from admitone.kernel.db import Database, PlatformTx
from admitone.kernel.jobs.model import Delivered, Desk, Lane, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.manifest import Installation, Module
from admitone.kernel.migrate import PARTITIONS
from admitone.kernel.scope import PlatformScope, Role
from admitone.kernel.telemetry import logger

ROWS_PER_BATCH: Final = 2_000
"""Some ten milliseconds: who wants one of these rows back (a counter that begins anew) waits longer than that."""
BATCHES_PER_TABLE: Final = 1_000
"""Per run, so that a backlog in one table does not keep the others waiting."""

PURGE = "SELECT purged, reached FROM kernel.purge($1, $2, $3)"
DROP_PARTITION = "SELECT kernel.drop_partition($1) AS name"
ADD_PARTITIONS = "SELECT kernel.add_partitions($1, $2) AS made"

MAINTENANCE: Final = PlatformScope("retention", Role.MAINTENANCE)
BEGINNING: Final = datetime.min.replace(tzinfo=UTC)

log = logger()


@dataclass(frozen=True, slots=True)
class Enforced:
    """What one run did."""

    rows: dict[str, int] = field(default_factory=dict)
    """How many went, by table."""
    partitions: list[str] = field(default_factory=list)
    """Those that were dropped."""
    left: list[str] = field(default_factory=list)
    """Tables in which more may be overdue: there was too much, or somebody held them."""


async def enforce(
    database: Database,
    modules: Iterable[Module],
    *,
    rows_per_batch: int = ROWS_PER_BATCH,
    batches_per_table: int = BATCHES_PER_TABLE,
) -> Enforced:
    """Go over every table that has days, once."""
    enforced = Enforced()
    declared = [(f"{module.name}.{table.name}", table) for module in modules for table in module.tables]
    for name, table in declared:
        if table.retention_days is None:
            continue
        try:
            if table.partitioned:
                await _renew(database, name, enforced)
            else:
                await _purge(database, name, enforced, rows_per_batch, batches_per_table)
        except asyncpg.LockNotAvailableError:
            enforced.left.append(name)
        log.info("retention.enforced", table=name, rows=enforced.rows.get(name, 0), left=name in enforced.left)
    return enforced


async def _purge(database: Database, name: str, enforced: Enforced, rows_per_batch: int, batches: int) -> None:
    since = BEGINNING
    for _ in range(batches):
        purged, reached = await database.run(MAINTENANCE, partial(purge, name=name, most=rows_per_batch, since=since))
        enforced.rows[name] = enforced.rows.get(name, 0) + purged
        if reached is None or purged < rows_per_batch:
            return
        since = reached
    enforced.left.append(name)


async def _renew(database: Database, name: str, enforced: Enforced) -> None:
    await database.run(MAINTENANCE, add_partitions)
    while dropped := await database.run(MAINTENANCE, partial(drop_partition, name=name)):
        enforced.partitions.append(dropped)
        log.info("retention.dropped", table=name, partition=dropped)


async def purge(tx: PlatformTx, name: str, most: int, since: datetime) -> tuple[int, datetime | None]:
    """Delete the oldest overdue rows from there on: how many, and how old the last of them was."""
    [row] = await tx.fetch(PURGE, name, most, since)
    return row["purged"], row["reached"]


async def drop_partition(tx: PlatformTx, name: str) -> str | None:
    """Drop the oldest partition of which all is overdue, if there is one: which."""
    [row] = await tx.fetch(DROP_PARTITION, name)
    dropped: str | None = row["name"]
    return dropped


async def add_partitions(tx: PlatformTx) -> int:
    """Make what partitions are missing around now: how many."""
    back, ahead = PARTITIONS
    [row] = await tx.fetch(ADD_PARTITIONS, tx.now - back, tx.now + ahead)
    made: int = row["made"]
    return made


@errand("kernel.enforce_retention", lane=Lane("maintenance", places=1), seconds=1800)
async def enforce_retention(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """By schedule. What is left after a bounded run, the next one takes."""
    await enforce(desk.database, desk.get(Installation).modules)
