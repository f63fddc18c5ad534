"""Keys of programs and devices."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

import msgspec

from admitone.foundation.authority.model import KeyPurpose, ServiceKeyId
from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, Lock

INSERT_KEYS = Insert(
    "authority.service_key",
    {
        "id": "uuid",
        "digest": "bytea",
        "purpose": "text",
        "label": "text",
        "scopes": "text[]",
        "created_by": "uuid",
        "created_at": "timestamptz",
        "expires_at": "timestamptz",
    },
)


LOCK_KEYS = Lock(
    """
    SELECT id, purpose, revoked_at
      FROM authority.service_key
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
     ORDER BY id
    """,
    key="id",
)


REVOKE_KEYS = """
    UPDATE authority.service_key
       SET revoked_at = $3
     WHERE organization_id = $1
       AND id = ANY($2::uuid[])
       AND revoked_at IS NULL
"""


LIST_KEYS = """
    SELECT id, label, scopes, created_by, created_at, expires_at, revoked_at
      FROM authority.service_key
     WHERE organization_id = $1
       AND id > $2
       AND purpose = $3
     ORDER BY id
     LIMIT $4
"""


class NewKey(msgspec.Struct, frozen=True):
    id: ServiceKeyId
    digest: bytes
    purpose: KeyPurpose
    label: str
    scopes: tuple[str, ...]
    created_by: IdentityId | None
    created_at: datetime
    expires_at: datetime | None


class KeptKey(msgspec.Struct, frozen=True):
    """A key as its organisation may see it: not the secret, nor its digest."""

    id: ServiceKeyId
    label: str
    scopes: tuple[str, ...]
    created_by: IdentityId | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class OfKey(Protocol):
    """Whatever is about one key."""

    @property
    def key(self) -> ServiceKeyId: ...


async def insert_keys(tx: Tx, keys: Sequence[NewKey]) -> None:
    await tx.insert_exactly(INSERT_KEYS, keys)


async def lock_keys(tx: Tx, inputs: Sequence[OfKey]) -> dict[UUID, tuple[KeyPurpose, datetime | None]]:
    """Of each that exists its purpose, and when it was revoked."""
    rows = await tx.lock(LOCK_KEYS, inputs, lambda each: each.key.uuid)
    return {key: (KeyPurpose(row["purpose"]), row["revoked_at"]) for key, row in rows.items()}


async def revoke_keys(tx: Tx, keys: Sequence[UUID]) -> None:
    await tx.execute_exactly(len(keys), REVOKE_KEYS, keys, tx.now)


async def list_keys(tx: Tx, purpose: KeyPurpose, after: UUID, limit: int) -> list[KeptKey]:
    rows = await tx.fetch(LIST_KEYS, after, purpose, limit)
    return [
        KeptKey(
            ServiceKeyId(row["id"]),
            row["label"],
            tuple(row["scopes"]),
            IdentityId(row["created_by"]) if row["created_by"] else None,
            row["created_at"],
            row["expires_at"],
            row["revoked_at"],
        )
        for row in rows
    ]
