"""Codes and links that must come back."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from admitone.foundation.identity.emails import email_hashes
from admitone.foundation.identity.model import Challenge, ChallengeId, Prepared, Purpose
from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import PeopleTx, Record
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, Lock

INSERT_CHALLENGES = Insert(
    "identity.challenge",
    {
        "id": "uuid",
        "purpose": "text",
        "digest": "bytea",
        "identity_id": "uuid",
        "email_hash": "bytea",
        "sealed": "bytea",
        "attempts_left": "smallint",
        "created_at": "timestamptz",
        "expires_at": "timestamptz",
        "key": "text",
    },
    tenant=False,
    on_conflict="(key) WHERE key IS NOT NULL DO NOTHING",
    returning="id",
)

LOCK_CODES = Lock(
    """
    SELECT id, purpose, digest, identity_id, sealed, attempts_left, created_at, expires_at, used_at
      FROM identity.challenge
     WHERE id = ANY($1::uuid[])
     ORDER BY id
    """,
    key="id",
)

LOCK_LINKS = Lock(
    """
    SELECT id, purpose, digest, identity_id, sealed, attempts_left, created_at, expires_at, used_at
      FROM identity.challenge
     WHERE digest = ANY($1::bytea[])
       AND purpose IN ('RESET', 'LINK')
     ORDER BY id
    """,
    key="digest",
)

USE = """
    UPDATE identity.challenge
       SET used_at = $2
     WHERE id = ANY($1::uuid[])
       AND used_at IS NULL
       AND attempts_left > 0
       AND expires_at > $2
"""

MISS = """
    UPDATE identity.challenge AS c
       SET attempts_left = c.attempts_left - LEAST(v.times, c.attempts_left)
      FROM unnest($1::uuid[], $2::smallint[]) AS v(id, times)
     WHERE c.id = v.id
"""

FIND_LINKS = LOCK_LINKS.select

LOCK_SENT = """
    SELECT id
      FROM identity.challenge
     WHERE (identity_id = ANY($1::uuid[]) OR email_hash = ANY($2::bytea[]))
       AND used_at IS NULL
     ORDER BY id
       FOR NO KEY UPDATE
"""

VOID = """
    UPDATE identity.challenge
       SET used_at = $3
     WHERE (identity_id = ANY($1::uuid[]) OR email_hash = ANY($2::bytea[]))
       AND used_at IS NULL
"""


class ChallengeRow(msgspec.Struct, frozen=True):
    id: ChallengeId
    purpose: Purpose
    digest: bytes
    identity_id: IdentityId | None
    email_hash: bytes
    sealed: bytes
    attempts_left: int
    created_at: object
    expires_at: object
    key: str | None


def _place(challenge: ChallengeId) -> Place:
    return Place("identity.challenge", "sealed", None, challenge.uuid)


async def insert(tx: PeopleTx, challenges: Sequence[Challenge]) -> set[ChallengeId]:
    """Those that are new: under a key a challenge is made once."""
    rows = [
        ChallengeRow(
            each.id,
            each.purpose,
            each.digest,
            each.identity,
            email_hashes(each.prepared.email)[0].digest,
            KEYRING().seal(msgspec.json.encode(each.prepared), _place(each.id)),
            each.attempts_left,
            each.created_at,
            each.expires_at,
            each.key,
        )
        for each in challenges
    ]
    return {ChallengeId(row["id"]) for row in await tx.insert_many(INSERT_CHALLENGES, rows)}


async def lock_codes(tx: PeopleTx, challenges: Sequence[ChallengeId]) -> dict[ChallengeId, Challenge]:
    rows = await tx.lock(LOCK_CODES, challenges, lambda each: each.uuid) if challenges else {}
    return {ChallengeId(each): _challenge(row) for each, row in rows.items()}


async def find_links(tx: PeopleTx, digests: Sequence[bytes]) -> dict[bytes, Challenge]:
    """Without a lock, for whoever must first lock other things that were sent."""
    return {row["digest"]: _challenge(row) for row in await tx.fetch(FIND_LINKS, digests)}


async def lock_links(tx: PeopleTx, digests: Sequence[bytes]) -> dict[bytes, Challenge]:
    rows = await tx.lock(LOCK_LINKS, digests, lambda digest: digest) if digests else {}
    return {digest: _challenge(row) for digest, row in rows.items()}


def _challenge(row: Record) -> Challenge:
    own = ChallengeId(row["id"])
    return Challenge(
        own,
        Purpose(row["purpose"]),
        row["digest"],
        IdentityId(row["identity_id"]) if row["identity_id"] else None,
        msgspec.json.decode(KEYRING().open(row["sealed"], _place(own)), type=Prepared),
        row["attempts_left"],
        row["created_at"],
        row["expires_at"],
        row["used_at"],
    )


async def use(tx: PeopleTx, challenges: Sequence[ChallengeId]) -> None:
    await tx.execute_exactly(len(challenges), USE, [each.uuid for each in challenges], tx.now)


async def miss(tx: PeopleTx, misses: Sequence[tuple[ChallengeId, int]]) -> None:
    """A wrong answer costs an attempt, also when it is refused."""
    ids: list[UUID] = [each.uuid for each, _ in misses]
    await tx.execute_exactly(len(misses), MISS, ids, [times for _, times in misses])


async def lock_sent(tx: PeopleTx, people: Mapping[IdentityId, str]) -> None:
    """Whatever was sent to these people or to their addresses and is not used: all at once, before anything of them."""
    if people:
        await tx.fetch(LOCK_SENT, *_sent_to(people))


async def void(tx: PeopleTx, people: Mapping[IdentityId, str]) -> None:
    """What was sent to somebody before is worth nothing any more, nor what was sent to the address of nobody then."""
    if people:
        await tx.execute(VOID, *_sent_to(people), tx.now)


def _sent_to(people: Mapping[IdentityId, str]) -> tuple[list[UUID], list[bytes]]:
    return [each.uuid for each in people], [each.digest for email in people.values() for each in email_hashes(email)]
