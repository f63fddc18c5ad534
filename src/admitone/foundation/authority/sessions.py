"""Sessions: opened by whoever proved who they are, rotated by their refresh token, ended for good.

Promise: tokens leave this module once, as text, and stand in the database as digests. A refresh token is good for one
rotation; whoever shows a spent one is either a thief or was robbed by one, so the session ends for both. Only two pages
of one person that renew at the same moment are neither: the slower one is refused, and nothing ends.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from admitone.foundation.authority.errors import InvalidSession, JustRenewed
from admitone.foundation.authority.facts import Alarm, SecurityAlert
from admitone.foundation.authority.model import (
    ACCESS_LASTS,
    AT_THE_SAME_MOMENT,
    REFRESH_LASTS,
    SESSION_LASTS,
    EndReason,
    Method,
    SessionId,
)
from admitone.foundation.authority.store import sessions as store
from admitone.foundation.authority.store.sessions import NewSession, Rotation, Spent
from admitone.kernel.crypto import NewSecret, digest_of, new_secret
from admitone.kernel.db import PeopleTx, Record
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller


class Opening(msgspec.Struct, frozen=True):
    """A person who proved who they are."""

    identity: IdentityId
    method: Method
    email_verified_at: datetime | None


class Opened(msgspec.Struct, frozen=True):
    """What goes to its holder, once."""

    session: SessionId
    identity: IdentityId
    access_token: str
    access_expires_at: datetime
    refresh_token: str
    refresh_expires_at: datetime


class Refresh(msgspec.Struct, frozen=True):
    caller: Caller
    token: str

    @property
    def digest(self) -> bytes:
        return digest_of(self.token)


async def open_sessions(tx: PeopleTx, openings: Sequence[Opening]) -> list[Opened]:
    opened = []
    rows = []
    for opening in openings:
        access, refresh = new_secret("access", None), new_secret("refresh", None)
        session = SessionId.new()
        until = tx.now + SESSION_LASTS
        row = NewSession(
            session.uuid,
            opening.identity.uuid,
            access.digest,
            tx.now + ACCESS_LASTS,
            refresh.digest,
            tx.now + REFRESH_LASTS,
            until,
            opening.method,
            opening.email_verified_at,
            # A link may have lain in a mailbox for days: whoever follows it has not just proved who they are.
            None if opening.method is Method.LINK else tx.now,
            tx.now,
            tx.now,
        )
        rows.append(row)
        opened.append(_opened(session, opening.identity, access, refresh, row))
    await store.insert_sessions(tx, rows)
    return opened


async def rotate(tx: PeopleTx, refreshes: Sequence[Refresh]) -> list[Opened | Refusal]:
    """New tokens for old ones. Of two who show the same token the second has shown a spent one."""
    digests = [each.digest for each in refreshes]
    locked = await store.lock_by_refresh(tx, refreshes)
    spent = await store.find_spent(tx, [digest for digest in digests if digest not in locked])
    rotations: dict[bytes, tuple[Rotation, Opened]] = {}
    outcomes: list[Opened | Refusal] = []
    reused: list[tuple[Refresh, Record]] = []
    for each, digest in zip(refreshes, digests, strict=True):
        row, before = locked.get(digest), spent.get(digest)
        if digest in rotations or (before and _is_at_the_same_moment(before, tx.now)):
            outcomes.append(JustRenewed())
        elif row is None:
            outcomes.append(InvalidSession())
            reused += [(each, before)] if before else []
        elif row["ended_at"] or row["refresh_expires_at"] <= tx.now:
            outcomes.append(InvalidSession())
        else:
            rotations[digest] = _rotation(row, tx.now)
            outcomes.append(rotations[digest][1])
    now_spent = [Spent(digest, rotation.id, tx.now) for digest, (rotation, _) in sorted(rotations.items())]
    await store.rotate(tx, [rotation for rotation, _ in rotations.values()], now_spent)
    await _end_reused(tx, reused)
    return outcomes


def _is_at_the_same_moment(spent: Record, now: datetime) -> bool:
    return spent["ended_at"] is None and now - spent["spent_at"] <= AT_THE_SAME_MOMENT


async def _end_reused(tx: PeopleTx, reused: Sequence[tuple[Refresh, Record]]) -> None:
    """One that is shown again and again raises one alert."""
    ended = await store.end_each(tx, [row["session_id"] for _, row in reused], EndReason.TOKEN_REUSED)
    for each, row in reused:
        if row["session_id"] in ended:
            ended.remove(row["session_id"])
            tx.publish(
                each.caller,
                SecurityAlert(
                    identity_id=IdentityId(row["identity_id"]),
                    alarm=Alarm.TOKEN_REUSED,
                    session_id=SessionId(row["session_id"]),
                ),
            )


def _rotation(row: Record, now: datetime) -> tuple[Rotation, Opened]:
    access, refresh = new_secret("access", None), new_secret("refresh", None)
    # Never longer than the session itself lasts.
    rotation = Rotation(
        row["id"],
        row["refresh_digest"],
        access.digest,
        min(now + ACCESS_LASTS, row["lasts_until"]),
        refresh.digest,
        min(now + REFRESH_LASTS, row["lasts_until"]),
    )
    return rotation, _opened(SessionId(row["id"]), IdentityId(row["identity_id"]), access, refresh, rotation)


def _opened(
    session: SessionId, identity: IdentityId, access: NewSecret, refresh: NewSecret, row: NewSession | Rotation
) -> Opened:
    return Opened(session, identity, access.text, row.access_expires_at, refresh.text, row.refresh_expires_at)
