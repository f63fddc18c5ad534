"""Runs, and how far an organisation was compared."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.reconciliation.model import RUN, Both, Finishing, OpenIssues, Run, RunId, RunState
from admitone.kernel.db import Record, Tx
from admitone.kernel.scope import Caller

LONGEST_REASON: Final = 200

INSERT_QUEUED = """
    INSERT INTO reconciliation.run (organization_id, id, state, since, correlation_id, created_at)
    VALUES ($1, $2, 'QUEUED', $3, $4, $5)
"""


# A worker that takes up a run again finds its row.
BEGIN_RUN = """
    INSERT INTO reconciliation.run AS r (organization_id, id, state, since, correlation_id, created_at, started_at)
    VALUES ($1, $2, 'RUNNING', $3, $4, $5, $5)
        ON CONFLICT (organization_id, id) DO UPDATE
       SET state = 'RUNNING', since = excluded.since, started_at = excluded.started_at, finished_at = NULL,
           reason = NULL
     WHERE r.state = ANY($6::text[])
"""


ABANDON = """
    UPDATE reconciliation.run AS r
       SET state = 'ABANDONED', finished_at = $2
     WHERE r.organization_id = $1
       AND r.state = 'RUNNING'
       AND r.started_at < $3
"""


FINISH = """
    UPDATE reconciliation.run AS r
       SET state = $3, since = $4, until = $5, counts = $6::jsonb, sums = $7::jsonb, open_issues = $8::jsonb,
           reason = $9, finished_at = $10
     WHERE r.organization_id = $1
       AND r.id = $2
       AND r.state = ANY($11::text[])
"""


LIST_RUNS = """
    SELECT id, state, since, until, counts, sums, open_issues, reason, created_at, started_at, finished_at
      FROM reconciliation.run
     WHERE organization_id = $1
       AND id < $2
     ORDER BY id DESC
     LIMIT $3
"""


FIND_RUN = """
    SELECT id, state, since, until, counts, sums, open_issues, reason, created_at, started_at, finished_at
      FROM reconciliation.run
     WHERE organization_id = $1
       AND id = $2
"""


PUT_STANDING = """
    INSERT INTO reconciliation.standing (organization_id, known_since)
    VALUES ($1, $2)
        ON CONFLICT (organization_id) DO NOTHING
"""


LOCK_STANDING = """
    SELECT s.compared_until
      FROM reconciliation.standing AS s
     WHERE s.organization_id = $1
       FOR NO KEY UPDATE
"""


# Only whoever began where the last one ended, or before, leaves no gap.
ADVANCE_STANDING = """
    UPDATE reconciliation.standing AS s
       SET compared_until = GREATEST($2, s.compared_until)
     WHERE s.organization_id = $1
       AND ($3::timestamptz IS NULL OR $3 <= s.compared_until)
"""


async def insert_queued(tx: Tx, run: RunId, since: datetime | None, caller: Caller) -> None:
    await tx.execute_exactly(1, INSERT_QUEUED, run.uuid, since, caller.correlation_id, tx.now)


async def lock_standing(tx: Tx) -> datetime | None:
    """Up to when everything was compared. Whoever else writes down what was found waits."""
    await tx.execute(PUT_STANDING, tx.now)
    row = await tx.find(LOCK_STANDING)
    assert row is not None
    compared_until: datetime | None = row["compared_until"]
    return compared_until


async def begin(tx: Tx, run: RunId, since: datetime | None, caller: Caller, patience: timedelta) -> bool:
    """False if it has ended before."""
    await tx.execute(ABANDON, tx.now, tx.now - patience)
    leaving = list(RUN.leaving(RunState.RUNNING))
    return await tx.execute(BEGIN_RUN, run.uuid, since, caller.correlation_id, tx.now, leaving) == 1


async def finish(tx: Tx, finishing: Finishing, open_issues: list[OpenIssues]) -> None:
    state = RunState.UNTOLD if finishing.untold else RunState.DONE
    await tx.execute_exactly(
        1,
        FINISH,
        finishing.run.uuid,
        state.value,
        finishing.since,
        finishing.until,
        msgspec.to_builtins(finishing.counts),
        msgspec.to_builtins(finishing.sums),
        msgspec.to_builtins(open_issues),
        finishing.untold[:LONGEST_REASON] if finishing.untold else None,
        tx.now,
        list(RUN.leaving(state)),
    )
    if state is RunState.DONE:
        await tx.execute(ADVANCE_STANDING, finishing.until, finishing.since)


async def list_runs(tx: Tx, before: UUID, limit: int) -> list[Run]:
    """The newest first."""
    return [_run(row) for row in await tx.fetch(LIST_RUNS, before, limit)]


async def find_run(tx: Tx, run: RunId) -> Run | None:
    row = await tx.find(FIND_RUN, run.uuid)
    return _run(row) if row else None


def _run(row: Record) -> Run:
    return Run(
        RunId(row["id"]),
        RunState(row["state"]),
        row["since"],
        row["until"],
        row["counts"],
        msgspec.convert(row["sums"], dict[str, Both]),
        msgspec.convert(row["open_issues"], tuple[OpenIssues, ...]),
        row["reason"],
        row["created_at"],
        row["started_at"],
        row["finished_at"],
    )
