"""The same work in every organisation: how rows are brought up to date between two migrations.

Promise (TEN-T04): organisations are walked in pages, and the work is started in each, one after the other, in a
transaction of its own; a start that is repeated starts nothing. The platform's own row then follows the parts until
all have ended, and shows their progress summed up. It is done when every part is, and failed, with the count, when
one is not; to resume it is to resume the parts that failed. To cancel it is to cancel the parts that are open.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final, TypeVar
from uuid import UUID

import msgspec

from admitone.kernel.bulk import store
from admitone.kernel.bulk.model import Bulk, BulkKind, Status, Turn
from admitone.kernel.bulk.running import cancel, follow_up, mourn, resume, start, write_step
from admitone.kernel.db import Record, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId
from admitone.kernel.jobs import Delivered, Desk, Lane
from admitone.kernel.jobs.model import Finish
from admitone.kernel.scope import Caller, PlatformScope, Role, Scope
from admitone.kernel.states import IllegalMove

Request = TypeVar("Request")

HOME: Final = Scope(PLATFORM_ORGANIZATION, "bulk work for every organisation")
RELAY: Final = PlatformScope("follow bulk work for every organisation", Role.RELAY)
PAGE: Final = 50
FIRST_LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.25, 10.0


class Everywhere(msgspec.Struct, frozen=True):
    """What is to be started in each organisation."""

    kind: str
    request: Any


class Walk(msgspec.Struct, frozen=True):
    """How far the walk is: after which organisation, whether that was the last, how often the parts were looked at."""

    after: UUID = UUID(int=0)
    walked: bool = False
    looks: int = 0


async def start_everywhere(tx: Tx, kind: BulkKind[Request], request: Request, caller: Caller, *, key: str) -> Bulk:
    """In a transaction of the platform's own organisation (`HOME`)."""
    asked = Everywhere(kind.name, kind.write(request))
    return await start(tx, EVERYWHERE, asked, caller, key=f"{kind.name}:{key}")


async def walk(desk: Desk, turn: Delivered[Turn]) -> Finish | None:
    """Start a page of parts, or look at them; what is returned writes down how it stands."""
    parent = await desk.database.read(HOME, store.find, turn.payload.bulk)
    if parent is None:
        return None
    if parent.status is Status.CANCELLED:
        await _each_part(desk, parent, (Status.QUEUED, Status.RUNNING), cancel, turn.caller)
        return None
    if not parent.awaits(turn.payload):
        return None
    if turn.payload.resumed:
        await _each_part(desk, parent, (Status.FAILED,), resume, turn.caller)
    at = msgspec.convert(parent.cursor or {}, Walk)
    if at.walked:
        at = msgspec.structs.replace(at, looks=at.looks + 1)
    else:
        at = await _start_page(desk, parent, at, turn.caller)
    after = summed_up(parent, at, await desk.database.read(RELAY, store.sum_parts, parent.id))

    async def finish(tx: Tx) -> None:
        wait = timedelta(seconds=min(FIRST_LOOK_SECONDS * 1.5 ** min(at.looks, 20), LONGEST_LOOK_SECONDS))
        next_at = tx.now + wait if at.walked else None
        if await write_step(tx, EVERYWHERE, parent, after, turn.caller, next_at=next_at) is Status.CANCELLED:
            # Parts may have been started since: one more turn sees to them.
            await follow_up(tx, EVERYWHERE, Turn(parent.id, parent.steps + 1), turn.caller)

    return finish


def summed_up(parent: Bulk, at: Walk, parts: Mapping[Status, Record]) -> Bulk:
    """How the whole stands, from its parts."""
    count = {status: parts[status]["parts"] if status in parts else 0 for status in Status}
    known = at.walked and all(row["counted"] for row in parts.values())
    after = replace(
        parent,
        cursor=msgspec.to_builtins(at),
        done=sum(row["done"] for row in parts.values()),
        total=sum(row["total"] for row in parts.values()) if known else None,
        status=Status.RUNNING,
        error=None,
    )
    if not at.walked or count[Status.QUEUED] or count[Status.RUNNING]:
        return after
    if count[Status.FAILED] or count[Status.CANCELLED]:
        ended = f"{count[Status.FAILED]} failed, {count[Status.CANCELLED]} were cancelled"
        return replace(after, status=Status.FAILED, error=f"of {sum(count.values())} organisations, {ended}")
    return replace(after, status=Status.DONE)


async def _start_page(desk: Desk, parent: Bulk, at: Walk, caller: Caller) -> Walk:
    asked = EVERYWHERE.read(parent.request)
    kind = BulkKind.named(asked.kind)
    page = await desk.database.read(RELAY, store.list_organizations, at.after, PAGE)

    async def begin(tx: Tx) -> Bulk:
        return await start(tx, kind, kind.read(asked.request), caller, key=str(parent.id), parent=parent.id)

    for organization in page:
        await desk.database.run(Scope(organization, f"start {kind.name}"), begin)
    return Walk(page[-1].uuid if page else at.after, walked=len(page) < PAGE)


async def _each_part(
    desk: Desk, parent: Bulk, statuses: tuple[Status, ...], change: Callable[..., Awaitable[Bulk]], caller: Caller
) -> None:
    """Once each; a part that has moved on by itself is left alone."""
    after = UUID(int=0)
    while parts := await desk.database.read(RELAY, store.list_parts, parent.id, statuses, after, PAGE):
        for part in parts:
            scope = Scope(OrganizationId(part.organization_id), "change a part of bulk work")
            with suppress(IllegalMove):
                await desk.database.run(scope, partial(change, which=part.id, caller=caller, reason=str(parent.id)))
        after = parts[-1].id.uuid


EVERYWHERE: Final = BulkKind(
    "kernel.everywhere",
    Turn,
    walk,
    outside=True,
    lane=Lane("everywhere", places=2),
    mourn=mourn,
    takes=Everywhere,
)
