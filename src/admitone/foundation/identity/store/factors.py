"""Second factors: secrets of authenticators, and codes for the day that one is lost."""

from collections.abc import Sequence

from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import PeopleTx, Record
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Lock

LOCK_TOTP = Lock(
    """
    SELECT identity_id, secret_sealed, confirmed_at, last_step
      FROM identity.totp
     WHERE identity_id = ANY($1::uuid[])
     ORDER BY identity_id
    """,
    key="identity_id",
)

STEP_ON = """
    UPDATE identity.totp AS t
       SET last_step = v.step
      FROM unnest($1::uuid[], $2::bigint[]) AS v(identity_id, step)
     WHERE t.identity_id = v.identity_id
       AND t.last_step < v.step
"""

USE_RECOVERY_CODE = """
    UPDATE identity.recovery_code
       SET used_at = $3
     WHERE identity_id = $1
       AND digest = $2
       AND used_at IS NULL
"""

REMOVE_TOTP = "DELETE FROM identity.totp WHERE identity_id = ANY($1::uuid[])"
REMOVE_RECOVERY_CODES = "DELETE FROM identity.recovery_code WHERE identity_id = ANY($1::uuid[])"
REMOVE_APPLE = "DELETE FROM identity.apple WHERE identity_id = ANY($1::uuid[])"


def place_of_secret(identity: IdentityId) -> Place:
    return Place("identity.totp", "secret_sealed", None, identity.uuid)


async def lock_totp(tx: PeopleTx, identities: Sequence[IdentityId]) -> dict[IdentityId, Record]:
    rows = await tx.lock(LOCK_TOTP, identities, lambda each: each.uuid) if identities else {}
    return {IdentityId(identity): row for identity, row in rows.items()}


def secret_of(row: Record) -> str:
    return KEYRING().open(row["secret_sealed"], place_of_secret(IdentityId(row["identity_id"]))).decode()


async def step_on(tx: PeopleTx, steps: Sequence[tuple[IdentityId, int]]) -> None:
    """A code is worth one use: the next one must be of a later step."""
    await tx.execute_exactly(len(steps), STEP_ON, [identity.uuid for identity, _ in steps], [step for _, step in steps])


async def use_recovery_code(tx: PeopleTx, identity: IdentityId, digest: bytes) -> bool:
    return await tx.execute(USE_RECOVERY_CODE, identity.uuid, digest, tx.now) == 1


async def remove(tx: PeopleTx, identities: Sequence[IdentityId]) -> None:
    """Whatever else somebody proved themselves by."""
    for statement in (REMOVE_TOTP, REMOVE_RECOVERY_CODES, REMOVE_APPLE):
        await tx.execute(statement, [each.uuid for each in identities])
