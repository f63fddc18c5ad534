"""The statements of bulk work.

An organisation's work moves in its own transactions. The relay's role finds work by its id, sums up the parts of work
for every organisation, and writes down that a turn was buried.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from admitone.kernel.bulk.model import BULK, Bulk, BulkId, Status, Turn
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId

INSERT = """
    INSERT INTO kernel.bulk (organization_id, id, kind, key, request, status, parent_id, requested_by, correlation_id,
                             started_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
        ON CONFLICT (organization_id, kind, key) DO NOTHING
"""
FIND = """
    SELECT organization_id, id, kind, key, request, cursor, steps, done, total, status, parent_id, requested_by,
           correlation_id, started_at, updated_at, finished_at, error
      FROM kernel.bulk
     WHERE organization_id = $1
       AND id = $2
"""
FIND_BY_KEY = """
    SELECT organization_id, id, kind, key, request, cursor, steps, done, total, status, parent_id, requested_by,
           correlation_id, started_at, updated_at, finished_at, error
      FROM kernel.bulk
     WHERE organization_id = $1
       AND kind = $2
       AND key = $3
"""
# Who cancelled it while the step was made is not contradicted: the step counts, and it was the last.
ADVANCE = """
    UPDATE kernel.bulk
       SET cursor = $4, steps = steps + 1, done = $5, total = $6, updated_at = $7,
           status = CASE status WHEN 'CANCELLED' THEN status ELSE $8 END,
           finished_at = CASE WHEN status = 'CANCELLED' THEN finished_at WHEN $8 IN ('DONE', 'FAILED') THEN $7 END,
           error = CASE WHEN status <> 'CANCELLED' THEN $9 END
     WHERE organization_id = $1
       AND id = $2
       AND steps = $3
       AND status <> 'DONE'
    RETURNING status
"""
CANCEL = """
    UPDATE kernel.bulk
       SET status = 'CANCELLED', updated_at = $3, finished_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND status = ANY($4::text[])
"""
RESUME = """
    UPDATE kernel.bulk
       SET status = 'QUEUED', error = NULL, updated_at = $3, finished_at = NULL
     WHERE organization_id = $1
       AND id = $2
       AND status = ANY($4::text[])
"""


async def insert(tx: Tx, bulk: Bulk) -> bool:
    """False if its key was taken."""
    parent = bulk.parent_id and bulk.parent_id.uuid
    by = bulk.requested_by and bulk.requested_by.uuid
    values = (bulk.id.uuid, bulk.kind, bulk.key, bulk.request, bulk.status, parent, by, bulk.correlation_id, tx.now)
    return await tx.execute(INSERT, *values) == 1


async def find(tx: Tx, which: BulkId) -> Bulk | None:
    row = await tx.find(FIND, which.uuid)
    return _bulk(row) if row else None


async def find_by_key(tx: Tx, kind: str, key: str) -> Bulk | None:
    row = await tx.find(FIND_BY_KEY, kind, key)
    return _bulk(row) if row else None


async def advance(tx: Tx, before: Bulk, after: Bulk) -> Status | None:
    """Write down a step, unless another wrote it first; what the status is now."""
    values = (after.cursor, after.done, after.total, tx.now, after.status, after.error)
    row = await tx.find(ADVANCE, before.id.uuid, before.steps, *values)
    return Status(row["status"]) if row else None


async def cancel(tx: Tx, which: BulkId) -> bool:
    return await tx.execute(CANCEL, which.uuid, tx.now, BULK.leaving(Status.CANCELLED)) == 1


async def resume(tx: Tx, which: BulkId) -> bool:
    return await tx.execute(RESUME, which.uuid, tx.now, BULK.leaving(Status.QUEUED)) == 1


# -- Across organisations

FIND_ANYWHERE = """
    SELECT organization_id, id, kind, key, request, cursor, steps, done, total, status, parent_id, requested_by,
           correlation_id, started_at, updated_at, finished_at, error
      FROM kernel.bulk
     WHERE id = $1
"""
LIST_LATEST = """
    SELECT organization_id, id, kind, key, request, cursor, steps, done, total, status, parent_id, requested_by,
           correlation_id, started_at, updated_at, finished_at, error
      FROM kernel.bulk
     WHERE parent_id IS NULL
     ORDER BY id DESC
     LIMIT $1
"""
FAIL = """
    UPDATE kernel.bulk
       SET status = 'FAILED', error = $3, updated_at = $4, finished_at = $4
     WHERE id = $1
       AND steps = $2
       AND status = ANY($5::text[])
"""
LIST_ORGANIZATIONS = """
    SELECT id
      FROM kernel.tenant
     WHERE id > $1
       AND id <> $2
     ORDER BY id
     LIMIT $3
"""
LIST_PARTS = """
    SELECT organization_id, id, kind, key, request, cursor, steps, done, total, status, parent_id, requested_by,
           correlation_id, started_at, updated_at, finished_at, error
      FROM kernel.bulk
     WHERE parent_id = $1
       AND status = ANY($2::text[])
       AND id > $3
     ORDER BY id
     LIMIT $4
"""
SUM_PARTS = """
    SELECT status, count(*) AS parts, COALESCE(sum(done), 0)::bigint AS done, sum(total)::bigint AS total,
           count(total) = count(*) AS counted
      FROM kernel.bulk
     WHERE parent_id = $1
     GROUP BY status
"""


async def find_anywhere(tx: PlatformTx, which: BulkId) -> Bulk | None:
    row = await tx.find(FIND_ANYWHERE, which.uuid)
    return _bulk(row) if row else None


async def list_latest(tx: PlatformTx, most: int) -> list[Bulk]:
    """The newest first; the parts of work for every organisation are left out."""
    return [_bulk(row) for row in await tx.fetch(LIST_LATEST, most)]


async def fail(tx: PlatformTx, turn: Turn, error: str) -> None:
    await tx.execute(FAIL, turn.bulk.uuid, turn.step, error, tx.now, BULK.leaving(Status.FAILED))


async def list_organizations(tx: PlatformTx, after: UUID, most: int) -> list[OrganizationId]:
    """All but the platform's own, in an order to which later ones are added at the end."""
    rows = await tx.fetch(LIST_ORGANIZATIONS, after, PLATFORM_ORGANIZATION.uuid, most)
    return [OrganizationId(row["id"]) for row in rows]


async def list_parts(
    tx: PlatformTx, parent: BulkId, statuses: tuple[Status, ...], after: UUID, most: int
) -> list[Bulk]:
    return [_bulk(row) for row in await tx.fetch(LIST_PARTS, parent.uuid, statuses, after, most)]


async def sum_parts(tx: PlatformTx, parent: BulkId) -> Mapping[Status, Record]:
    return {Status(row["status"]): row for row in await tx.fetch(SUM_PARTS, parent.uuid)}


def _bulk(row: Record) -> Bulk:
    known: dict[str, Any] = dict(row)
    known |= {
        "id": BulkId(row["id"]),
        "status": Status(row["status"]),
        "parent_id": BulkId(row["parent_id"]) if row["parent_id"] else None,
        "requested_by": IdentityId(row["requested_by"]) if row["requested_by"] else None,
    }
    return Bulk(**known)
