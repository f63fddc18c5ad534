"""Bans: a subject is closed until an instant, because a person said so, for a reason that has a code.

Promise: a ban and its entry in the audit trail commit together, and so does lifting it. It holds everywhere from the
next call on, because nobody remembers the answer to "is he banned?": `kernel.limits` reads it with every count. A
subject is one of `by_address`, `by_identity`, `by_device`, `by_organization`, and stands here as a digest.

    await batcher.submit(bans.ban, bans.SCOPE, Ban(caller, by_address("203.0.113.9"), "FRAUD_CARD_TESTING", ends_at))
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.db import Record, Tx
from admitone.kernel.errors import Invalid, NotFound, Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.limits import key_of_ban
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.statements import Insert, Lock

SCOPE: Final = Scope(PLATFORM_ORGANIZATION, "bans")
"""The only one that may: a ban holds for everybody, so no organisation lays one."""


Told = dict[str, Any]
"""A ban as the audit trail tells it."""


class BanIsOver(Invalid):
    """A ban that ended before it began would ban nobody."""

    code = "BAN_IS_OVER"


class NotBanned(NotFound):
    """There is no ban to lift."""

    code = "NOT_BANNED"


class Ban(msgspec.Struct, frozen=True):
    """Close a subject until then, whatever was said about it before."""

    caller: Caller
    subject: str
    reason_code: str
    ends_at: datetime

    def __post_init__(self) -> None:
        _need_a_person(self.caller)

    @property
    def key(self) -> bytes:
        return key_of_ban(self.subject)


class Lift(msgspec.Struct, frozen=True):
    """Open a subject again."""

    caller: Caller
    subject: str
    reason_code: str

    def __post_init__(self) -> None:
        _need_a_person(self.caller)

    @property
    def key(self) -> bytes:
        return key_of_ban(self.subject)


LOCK_BANS = Lock(
    """
    SELECT key, reason_code, ends_at
      FROM kernel.ban
     WHERE organization_id = $1 AND key = ANY($2::bytea[])
     ORDER BY key
    """,
    key="key",
)

LAY = Insert(
    "kernel.ban",
    {"key": "bytea", "reason_code": "text", "created_at": "timestamptz", "ends_at": "timestamptz"},
    on_conflict="(key) DO UPDATE SET reason_code = EXCLUDED.reason_code, created_at = EXCLUDED.created_at,"
    " ends_at = EXCLUDED.ends_at",
)

LIFT = "DELETE FROM kernel.ban WHERE organization_id = $1 AND key = ANY($2::bytea[])"


class Standing(msgspec.Struct, frozen=True):
    """A ban as it is written."""

    key: bytes
    reason_code: str
    created_at: datetime
    ends_at: datetime


@command()
async def ban(tx: Tx, bans: Sequence[Ban]) -> list[datetime | Refusal]:
    """Until when each subject is closed now."""
    told = _told(await tx.lock(LOCK_BANS, bans, _key))
    standing: dict[bytes, Standing] = {}
    entries = []
    for each in bans:
        if each.ends_at <= tx.now:
            continue
        standing[each.key] = Standing(each.key, each.reason_code, tx.now, each.ends_at)
        after = {"reasonCode": each.reason_code, "endsAt": each.ends_at}
        entries.append(_entry("ban", each, told.get(each.key), after))
        told[each.key] = after
    await tx.insert_exactly(LAY, [standing[key] for key in sorted(standing)])
    await audit.record(tx, entries)
    return [each.ends_at if each.ends_at > tx.now else BanIsOver() for each in bans]


@command()
async def lift(tx: Tx, lifts: Sequence[Lift]) -> list[bool | Refusal]:
    """Whether each subject is open again; of two who lift one ban, one does."""
    told = _told(await tx.lock(LOCK_BANS, lifts, _key))
    await tx.execute_exactly(len(told), LIFT, list(told))
    befores = [told.pop(each.key, None) for each in lifts]
    lifted = [(each, before) for each, before in zip(lifts, befores, strict=True) if before]
    await audit.record(tx, [_entry("lift_ban", each, before) for each, before in lifted])
    return [True if before else NotBanned() for before in befores]


def _need_a_person(caller: Caller) -> None:
    if caller.actor is None:
        raise TypeError("a ban is laid and lifted by a person")


def _key(each: Ban | Lift) -> bytes:
    return each.key


def _told(rows: dict[bytes, Record]) -> dict[bytes, Told]:
    return {key: {"reasonCode": row["reason_code"], "endsAt": row["ends_at"]} for key, row in rows.items()}


def _entry(action: str, each: Ban | Lift, before: Told | None, after: Told | None = None) -> Entry:
    return Entry(each.caller, action, f"subject:{each.key.hex()}", each.reason_code, before, after)
