"""Sessions and spent tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec

from admitone.foundation.authority.model import EndReason
from admitone.kernel.db import PeopleTx, Record
from admitone.kernel.statements import Insert, Lock, columns

OPEN_SESSIONS = Insert(
    "authority.session",
    {
        "id": "uuid",
        "identity_id": "uuid",
        "access_digest": "bytea",
        "access_expires_at": "timestamptz",
        "refresh_digest": "bytea",
        "refresh_expires_at": "timestamptz",
        "lasts_until": "timestamptz",
        "method": "text",
        "email_verified_at": "timestamptz",
        "authenticated_at": "timestamptz",
        "created_at": "timestamptz",
        "refreshed_at": "timestamptz",
    },
    tenant=False,
)


LOCK_BY_REFRESH = Lock(
    """
    SELECT id, identity_id, refresh_digest, refresh_expires_at, lasts_until, ended_at
      FROM authority.session
     WHERE refresh_digest = ANY($1::bytea[])
     ORDER BY refresh_digest
    """,
    key="refresh_digest",
)


ROTATE = """
    UPDATE authority.session AS s
       SET access_digest = v.access_digest, access_expires_at = v.access_expires_at,
           refresh_digest = v.refresh_digest, refresh_expires_at = v.refresh_expires_at, refreshed_at = $7
      FROM unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::timestamptz[], $5::bytea[], $6::timestamptz[])
        AS v(id, spent_digest, access_digest, access_expires_at, refresh_digest, refresh_expires_at)
     WHERE s.id = v.id
       AND s.refresh_digest = v.spent_digest
       AND s.ended_at IS NULL
       AND s.refresh_expires_at > $7
"""


SPEND_TOKENS = Insert(
    "authority.spent_token", {"digest": "bytea", "session_id": "uuid", "spent_at": "timestamptz"}, tenant=False
)


FIND_SPENT = """
    SELECT t.digest, t.spent_at, s.id AS session_id, s.identity_id, s.ended_at
      FROM authority.spent_token AS t
     CROSS JOIN LATERAL
           (SELECT id, identity_id, ended_at FROM authority.session WHERE id = t.session_id OFFSET 0) AS s
     WHERE t.digest = ANY($1::bytea[])
"""


END_SESSIONS = """
    UPDATE authority.session
       SET ended_at = $3, end_reason = $2
     WHERE id = ANY($1::uuid[])
       AND ended_at IS NULL
    RETURNING id
"""


END_SESSIONS_OF = """
    UPDATE authority.session
       SET ended_at = $3, end_reason = $2
     WHERE identity_id = ANY($1::uuid[])
       AND ended_at IS NULL
       AND id IS DISTINCT FROM $4
"""


STEP_UP = """
    UPDATE authority.session
       SET stepped_up_at = $2
     WHERE id = ANY($1::uuid[])
       AND ended_at IS NULL
"""


class NewSession(msgspec.Struct, frozen=True):
    id: UUID
    identity_id: UUID
    access_digest: bytes
    access_expires_at: datetime
    refresh_digest: bytes
    refresh_expires_at: datetime
    lasts_until: datetime
    method: str
    email_verified_at: datetime | None
    authenticated_at: datetime | None
    created_at: datetime
    refreshed_at: datetime


class Rotation(msgspec.Struct, frozen=True):
    id: UUID
    spent_digest: bytes
    access_digest: bytes
    access_expires_at: datetime
    refresh_digest: bytes
    refresh_expires_at: datetime


class Spent(msgspec.Struct, frozen=True):
    digest: bytes
    session_id: UUID
    spent_at: datetime


async def insert_sessions(tx: PeopleTx, sessions: Sequence[NewSession]) -> None:
    await tx.insert_exactly(OPEN_SESSIONS, sessions)


class Shown(Protocol):
    """Whatever shows a refresh token."""

    @property
    def digest(self) -> bytes: ...


async def lock_by_refresh(tx: PeopleTx, shown: Sequence[Shown]) -> dict[bytes, Record]:
    return await tx.lock(LOCK_BY_REFRESH, shown, lambda each: each.digest)


async def rotate(tx: PeopleTx, rotations: Sequence[Rotation], spent: Sequence[Spent]) -> None:
    names = ("id", "spent_digest", "access_digest", "access_expires_at", "refresh_digest", "refresh_expires_at")
    await tx.execute_exactly(len(rotations), ROTATE, *columns(rotations, *names), tx.now)
    await tx.insert_exactly(SPEND_TOKENS, spent)


async def find_spent(tx: PeopleTx, digests: Sequence[bytes]) -> dict[bytes, Record]:
    return {row["digest"]: row for row in await tx.fetch(FIND_SPENT, digests)} if digests else {}


async def end_sessions(tx: PeopleTx, sessions: Sequence[UUID], reason: EndReason) -> int:
    return len(await end_each(tx, sessions, reason))


async def end_each(tx: PeopleTx, sessions: Sequence[UUID], reason: EndReason) -> set[UUID]:
    """Those that had not ended before."""
    return {row["id"] for row in await tx.fetch(END_SESSIONS, sessions, reason, tx.now)} if sessions else set()


async def end_sessions_of(
    tx: PeopleTx, identities: Sequence[UUID], reason: EndReason, *, but: UUID | None = None
) -> int:
    return await tx.execute(END_SESSIONS_OF, identities, reason, tx.now, but) if identities else 0


async def step_up(tx: PeopleTx, sessions: Sequence[UUID]) -> int:
    return await tx.execute(STEP_UP, sessions, tx.now)
