"""Looking at an event again, because somebody says that what was in its way is mended.

Promise: whoever asks, and why, stands in the audit trail; it runs once, also when two ask at once; it begins where the
event began, with what was said and whose it is, so that a mended mapping counts.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from admitone.finance.webhooks import store
from admitone.finance.webhooks.errors import NothingToReplay, ReceiptNotFound
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.finance.webhooks.model import PLATFORM, ReceiptId, Received
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Record, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Job, dead, enqueue
from admitone.kernel.scope import Caller, Scope


class Replay(msgspec.Struct, frozen=True):
    caller: Caller
    receipt: ReceiptId
    by: str
    reason: str
    reason_code: str = dead.REPLAY_CODE


class Replayed(msgspec.Struct, frozen=True):
    receipt: ReceiptId


@command()
async def replay(tx: Tx, replays: Sequence[Replay]) -> list[Replayed | Refusal]:
    """In the platform's scope."""
    first = {each.receipt.uuid: each for each in reversed(replays)}
    opened = await store.reopen(tx, list(first))
    known = {row["id"] for row in await store.find_receipts(tx, list(first))}
    await enqueue(tx, [_job(row) for row in opened.values()])
    await audit.record(tx, [_entry(first[own]) for own in opened])
    return [
        Replayed(each.receipt)
        if each.receipt.uuid in opened and first[each.receipt.uuid] is each
        else NothingToReplay()
        if each.receipt.uuid in known
        else ReceiptNotFound()
        for each in replays
    ]


def _job(row: Record) -> Job:
    key = store.key_of(row["source"], row["external_id"], row["round"])
    return Job.of(resolve, Received(ReceiptId(row["id"])), Caller(correlation_id=row["correlation_id"]), key=key)


def _entry(each: Replay) -> audit.Entry:
    after = {"by": each.by, "why": each.reason}
    return audit.Entry(each.caller, "webhooks.replay", str(each.receipt), each.reason_code, after=after)


# -- With the dead letters that it leaves behind

Submit = Callable[[Any, Scope, Any], Awaitable[Any]]
Read = Callable[..., Awaitable[Any]]


async def replay_each(submit: Submit, read: Read, replays: Sequence[Replay]) -> list[Replayed | Refusal]:
    """Each by itself; its outcome or its refusal. What died on the way is put away: it is done another way now."""
    return [await _replay_one(submit, read, each) for each in replays]


async def _replay_one(submit: Submit, read: Read, each: Replay) -> Replayed | Refusal:
    try:
        replayed: Replayed = await submit(replay, PLATFORM, each)
    except Refusal as refusal:
        return refusal
    [row] = await read(PLATFORM, store.find_receipts, [each.receipt.uuid])
    name = store.key_of(row["source"], row["external_id"], 0)
    for letter in await read(dead.SCOPE, dead.list_dead_of_call, row["correlation_id"]):
        if letter["key"].removeprefix("apply:").startswith(name) and letter["replayed_at"] is None:
            away = dead.Replay(each.caller, dead.DeadLetterId(letter["id"]), each.by, each.reason, each.reason_code)
            await submit(
                dead.put_away, Scope(OrganizationId(letter["organization_id"]), "put a dead letter away"), away
            )
    return replayed
