"""Bulk work: one request that touches many rows, a bounded step at a time.

Promise: the effect of a step, the new cursor, the progress and the job of the next step commit together. Whatever is
killed, the work goes on where it was, and nothing is done twice. How far it is can be seen while it runs; it can be
cancelled between two steps; when a step fails for good the work says so, with the reason, and can be resumed there.

    @bulk("crm.recount", of=Recount, total=count_visits)
    async def recount(tx: Tx, step: Step[Recount]) -> Progress:
        rows = await store.list_visits(tx, step.cursor or "", 500)
        ...
        return Progress(cursor=rows[-1].id, done=len(rows), finished=len(rows) < 500)

The kind stands among the jobs of its manifest.

    model        what bulk work, a step and progress are
    running      start, cancel, resume, and what a turn does
    everywhere   the same work in every organisation: the backfills of migrations
    store        the statements
    routes       progress at the edge
"""

from admitone.kernel.bulk.model import Bulk, BulkId, BulkKind, BulkKindUnknown, BulkNotFound, Progress, Status, Step
from admitone.kernel.bulk.running import bulk, cancel, resume, start
from admitone.kernel.bulk.store import find_by_key

__all__ = [
    "Bulk",
    "BulkId",
    "BulkKind",
    "BulkKindUnknown",
    "BulkNotFound",
    "Progress",
    "Status",
    "Step",
    "bulk",
    "cancel",
    "find_by_key",
    "resume",
    "start",
]
