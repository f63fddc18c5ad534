"""Starting, stepping, cancelling and resuming bulk work.

Promise: work is started once under its key. A step reads no lock before it writes, so that whoever cancels need not
wait for it: the step that is under way still counts, and no other follows. Work learns that its turn was buried from
the very transaction that buries it, so the status never lies and nobody has to go looking.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from admitone.kernel import audit
from admitone.kernel.bulk import store
from admitone.kernel.bulk.model import BULK, Bulk, BulkId, BulkKind, BulkNotFound, Progress, Status, Step, Turn
from admitone.kernel.db import Overtaken, PlatformTx, Tx
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.ids import OrganizationId, from_text, uuid7
from admitone.kernel.jobs import Delivered, Job, Priority, enqueue
from admitone.kernel.scope import Caller

Request = TypeVar("Request")
Chunk = Callable[[Tx, Step[Request]], Awaitable[Progress]]
Count = Callable[[Tx, Request], Awaitable[int]]


def bulk(
    name: str, *, of: type[Request], total: Count[Request] | None = None, **said: Any
) -> Callable[[Chunk[Request]], BulkKind[Request]]:
    """Declare bulk work: the function makes one step. `total` is asked first, where it can be known."""

    def declare(chunk: Chunk[Request]) -> BulkKind[Request]:
        async def work(tx: Tx, turns: Sequence[Delivered[Turn]]) -> None:
            for each in turns:
                await _take_turn(tx, kind, chunk, total, each)

        kept: dict[str, Any] = {"priority": Priority.NOTICE, "mourn": mourn, **said}
        kind = BulkKind(name, Turn, work, outside=False, takes=of, **kept)
        return kind

    return declare


async def start(
    tx: Tx, kind: BulkKind[Request], request: Request, caller: Caller, *, key: str, parent: BulkId | None = None
) -> Bulk:
    """Once under this key: who repeats it is shown what the first one started."""
    fresh = Bulk(
        organization_id=tx.scope.organization.uuid,
        id=BulkId.new(),
        kind=kind.name,
        key=key,
        request=kind.write(request),
        cursor=None,
        steps=0,
        done=0,
        total=None,
        status=BULK.initial,
        parent_id=parent,
        requested_by=caller.actor,
        correlation_id=caller.correlation_id,
        started_at=tx.now,
        updated_at=tx.now,
        finished_at=None,
        error=None,
    )
    if not await store.insert(tx, fresh):
        found = await store.find_by_key(tx, kind.name, key)
        if found is None:
            raise Overtaken  # It was removed for its age this instant.
        if found.request != fresh.request:
            raise KeyReused
        return found
    await follow_up(tx, kind, Turn(fresh.id, 0), caller)
    await audit.record(tx, [audit.Entry(caller, "kernel.bulk.start", str(fresh.id), after={"kind": kind.name})])
    return fresh


async def cancel(tx: Tx, which: BulkId, caller: Caller, reason: str) -> Bulk:
    """No step follows the one that may be under way. Cancelled twice is cancelled."""
    moved = await store.cancel(tx, which)
    found = await _get(tx, which)
    if moved:
        await audit.record(tx, [audit.Entry(caller, "kernel.bulk.cancel", str(which), reason)])
    elif found.status is not Status.CANCELLED:
        BULK.check(found.status, Status.CANCELLED)
    return found


async def resume(tx: Tx, which: BulkId, caller: Caller, reason: str) -> Bulk:
    """Work that failed goes on from its cursor."""
    moved = await store.resume(tx, which)
    found = await _get(tx, which)
    if not moved:
        BULK.check(found.status, Status.QUEUED)
    await follow_up(tx, BulkKind.named(found.kind), Turn(which, found.steps, resumed=True), caller)
    await audit.record(tx, [audit.Entry(caller, "kernel.bulk.resume", str(which), reason)])
    return found


async def write_step(
    tx: Tx, kind: BulkKind[Any], before: Bulk, after: Bulk, caller: Caller, *, next_at: datetime | None = None
) -> Status:
    """Write down what a step did, and let the next one follow if there is one."""
    status = await store.advance(tx, before, after)
    if status is None:
        raise Overtaken  # Another turn made this very step: run again, and see it.
    if status.is_open:
        await follow_up(tx, kind, Turn(before.id, before.steps + 1), caller, next_at)
    return status


async def follow_up(tx: Tx, kind: BulkKind[Any], turn: Turn, caller: Caller, run_at: datetime | None = None) -> None:
    # Work is resumed as often as it fails, each time by one transaction only: that turn is unlike any other.
    key = f"{turn.bulk}:{turn.step}" + (f":{uuid7()}" if turn.resumed else "")
    await enqueue(tx, [Job.of(kind, turn, caller, key=key, run_at=run_at)])


async def mourn(tx: PlatformTx, failure: Any) -> None:
    """A turn was buried: its work has failed."""
    with suppress(msgspec.MsgspecError):  # A turn that cannot be read does not say whose it is.
        turn = msgspec.json.decode(failure.job.payload, type=Turn, dec_hook=from_text)
        await store.fail(tx, turn, f"{failure.reason}: {failure.error}")


async def _take_turn(
    tx: Tx, kind: BulkKind[Request], chunk: Chunk[Request], total: Count[Request] | None, turn: Delivered[Turn]
) -> None:
    found = await store.find(tx, turn.payload.bulk)
    if found is None or not found.awaits(turn.payload):
        return
    request = kind.read(found.request)
    if total and found.steps == 0:
        counted = replace(found, status=Status.RUNNING, total=await total(tx, request), error=None)
        await write_step(tx, kind, found, counted, turn.caller)
        return
    organization = OrganizationId(found.organization_id)
    progress = await chunk(tx, Step(found.id, organization, request, found.cursor, found.done, turn.caller))
    await write_step(tx, kind, found, after_step(found, progress), turn.caller)


def after_step(before: Bulk, progress: Progress) -> Bulk:
    """How it stands after a step. One that neither does nor moves anything would be made for ever."""
    if not progress.finished and not progress.done and progress.cursor == before.cursor:
        raise AssertionError(f"{before.kind} stands still at {before.cursor!r}")
    status = Status.DONE if progress.finished else Status.RUNNING
    return replace(before, cursor=progress.cursor, done=before.done + progress.done, status=status, error=None)


async def _get(tx: Tx, which: BulkId) -> Bulk:
    found = await store.find(tx, which)
    if found is None:
        raise BulkNotFound
    return found
