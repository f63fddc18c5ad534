"""Second factors: secrets of authenticators, and codes for the day that one is lost."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from admitone.foundation.identity.store import apple
from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import PeopleTx, Record
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, Lock

LOCK_TOTP = Lock(
    """
    SELECT identity_id, secret_sealed, pending_sealed, pending_at, confirmed_at, last_step, missed
      FROM identity.totp
     WHERE identity_id = ANY($1::uuid[])
     ORDER BY identity_id
    """,
    key="identity_id",
)

PUT_PENDING = Insert(
    "identity.totp",
    {"identity_id": "uuid", "pending_sealed": "bytea", "pending_at": "timestamptz", "created_at": "timestamptz"},
    tenant=False,
    on_conflict="""(identity_id) DO UPDATE
        SET pending_sealed = EXCLUDED.pending_sealed, pending_at = EXCLUDED.pending_at""",
)

CONFIRM = """
    UPDATE identity.totp AS t
       SET secret_sealed = v.sealed, last_step = v.step, confirmed_at = $4, pending_sealed = NULL, pending_at = NULL
      FROM unnest($1::uuid[], $2::bytea[], $3::bigint[]) AS v(identity_id, sealed, step)
     WHERE t.identity_id = v.identity_id
       AND t.pending_sealed IS NOT NULL
"""

RESEAL = """
    UPDATE identity.totp AS t
       SET secret_sealed = v.secret, pending_sealed = v.pending
      FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS v(identity_id, secret, pending)
     WHERE t.identity_id = v.identity_id
"""

STEP_ON = """
    UPDATE identity.totp AS t
       SET last_step = v.step, missed = v.missed
      FROM unnest($1::uuid[], $2::bigint[], $3::smallint[]) AS v(identity_id, step, missed)
     WHERE t.identity_id = v.identity_id
       AND t.last_step <= v.step
"""

INSERT_RECOVERY_CODES = Insert(
    "identity.recovery_code", {"identity_id": "uuid", "digest": "bytea", "created_at": "timestamptz"}, tenant=False
)

USE_RECOVERY_CODE = """
    UPDATE identity.recovery_code
       SET used_at = $3
     WHERE identity_id = $1
       AND digest = $2
       AND used_at IS NULL
"""

REMOVE_TOTP = "DELETE FROM identity.totp WHERE identity_id = ANY($1::uuid[])"
REMOVE_RECOVERY_CODES = "DELETE FROM identity.recovery_code WHERE identity_id = ANY($1::uuid[])"


class PendingRow(msgspec.Struct, frozen=True):
    identity_id: IdentityId
    pending_sealed: bytes
    pending_at: datetime
    created_at: datetime


class RecoveryCode(msgspec.Struct, frozen=True):
    identity_id: IdentityId
    digest: bytes
    created_at: datetime


class Confirmed(msgspec.Struct, frozen=True):
    """A secret whose owner showed a code of it, and which step's that was."""

    identity: IdentityId
    secret: str
    step: int
    recovery_digests: tuple[bytes, ...]


def _place(identity: IdentityId, column: str = "secret_sealed") -> Place:
    return Place("identity.totp", column, None, identity.uuid)


def _opened(row: Record, column: str) -> str:
    return KEYRING().open(row[column], _place(IdentityId(row["identity_id"]), column)).decode()


async def lock_totp(tx: PeopleTx, identities: Sequence[IdentityId]) -> dict[IdentityId, Record]:
    rows = await tx.lock(LOCK_TOTP, identities, lambda each: each.uuid) if identities else {}
    return {IdentityId(identity): row for identity, row in rows.items()}


def secret_of(row: Record) -> str:
    return _opened(row, "secret_sealed")


def pending_of(row: Record) -> str:
    return _opened(row, "pending_sealed")


async def put_pending(tx: PeopleTx, secrets: Mapping[IdentityId, str]) -> None:
    """Beside the one that counts, if there is one."""
    rows = [
        PendingRow(
            identity, KEYRING().seal(secret.encode(), _place(identity, "pending_sealed")), tx.now, created_at=tx.now
        )
        for identity, secret in secrets.items()
    ]
    await tx.insert_exactly(PUT_PENDING, rows)


async def confirm(tx: PeopleTx, confirmed: Sequence[Confirmed]) -> None:
    """The new secrets count, and with them codes of their own."""
    identities = [each.identity.uuid for each in confirmed]
    sealed = [KEYRING().seal(each.secret.encode(), _place(each.identity)) for each in confirmed]
    await tx.execute_exactly(len(confirmed), CONFIRM, identities, sealed, [each.step for each in confirmed], tx.now)
    await tx.execute(REMOVE_RECOVERY_CODES, identities)
    codes = [RecoveryCode(each.identity, digest, tx.now) for each in confirmed for digest in each.recovery_digests]
    await tx.insert_exactly(INSERT_RECOVERY_CODES, codes)


async def step_on(tx: PeopleTx, steps: Sequence[tuple[IdentityId, int, int]]) -> None:
    """A code is worth one use: the next one must be of a later step. Beside it, how many were wrong in a row."""
    identities, reached = [identity.uuid for identity, _, _ in steps], [step for _, step, _ in steps]
    await tx.execute_exactly(len(steps), STEP_ON, identities, reached, [missed for _, _, missed in steps])


async def use_recovery_code(tx: PeopleTx, identity: IdentityId, digest: bytes) -> bool:
    return await tx.execute(USE_RECOVERY_CODE, identity.uuid, digest, tx.now) == 1


async def remove_totp(tx: PeopleTx, identities: Sequence[IdentityId]) -> None:
    for statement in (REMOVE_TOTP, REMOVE_RECOVERY_CODES):
        await tx.execute(statement, [each.uuid for each in identities])


async def remove(tx: PeopleTx, identities: Sequence[IdentityId]) -> None:
    """Whatever else somebody proved themselves by."""
    await remove_totp(tx, identities)
    await apple.unlink(tx, identities)


async def reseal(tx: PeopleTx, rows: Sequence[Record]) -> int:
    """Under the newest key what is under an older one, of rows that the caller has locked; how many there were."""
    ring = KEYRING()
    old = [row for row in rows if any(not ring.is_current(row[each]) for each in SEALED if row[each])]
    again = {each: [_resealed(row, each) for row in old] for each in SEALED}
    await tx.execute_exactly(len(old), RESEAL, [row["identity_id"] for row in old], *again.values())
    return len(old)


SEALED = ("secret_sealed", "pending_sealed")


def _resealed(row: Record, column: str) -> bytes | None:
    if row[column] is None:
        return None
    return KEYRING().seal(_opened(row, column).encode(), _place(IdentityId(row["identity_id"]), column))
