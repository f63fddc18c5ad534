"""Keys of programs and devices: made with scopes that their maker has, and revoked.

Promise: the secret leaves once, to whoever made the key, and stands in the database as a digest. An answer that is
kept under an idempotency key holds it sealed, so that whoever repeats the request gets the same key, and whoever reads
the database gets none. A revoked key is dead on the next call.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from admitone.foundation.authority.errors import ExpiryOutOfRange, ServiceKeyNotFound
from admitone.foundation.authority.model import KeyPurpose, ServiceKeyId
from admitone.foundation.authority.policy import why_no_key
from admitone.foundation.authority.store import keys as store
from admitone.foundation.authority.store.keys import NewKey
from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.crypto import KEYRING, Place, new_secret
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller

KINDS = {KeyPurpose.API: "key", KeyPurpose.SCANNER: "scan"}
"""What the secrets of a purpose begin with."""


class Create(msgspec.Struct, frozen=True):
    caller: Caller
    purpose: KeyPurpose
    label: str
    scopes: tuple[str, ...]
    held: frozenset[str]
    """The scopes of the maker."""
    expires_at: datetime | None
    reason_code: str


class Created(msgspec.Struct, frozen=True):
    id: ServiceKeyId
    created_at: datetime
    sealed: bytes
    """The secret: `secret_of` opens it."""


class Revoke(msgspec.Struct, frozen=True):
    caller: Caller
    purpose: KeyPurpose
    key: ServiceKeyId


@command()
async def create(tx: Tx, wanted: Sequence[Create]) -> list[Created | Refusal]:
    rows, entries = [], []
    outcomes: list[Created | Refusal] = []
    for each in wanted:
        refusal = why_no_key(each.purpose, each.scopes, each.held)
        if refusal is None and each.expires_at and each.expires_at <= tx.now:
            refusal = ExpiryOutOfRange()
        if refusal:
            outcomes.append(refusal.to(each.caller.actor))
            continue
        organization, key = tx.scope.organization, ServiceKeyId.new()
        secret = new_secret(KINDS[each.purpose], organization)
        rows.append(
            NewKey(
                key, secret.digest, each.purpose, each.label, each.scopes, each.caller.actor, tx.now, each.expires_at
            )
        )
        after = {"purpose": each.purpose, "scopes": each.scopes, "expiresAt": each.expires_at}
        entries.append(Entry(each.caller, "create_service_key", str(key), each.reason_code, after=after))
        outcomes.append(Created(key, tx.now, KEYRING().seal(secret.text.encode(), _place(organization, key))))
    await store.insert_keys(tx, rows)
    await audit.record(tx, entries)
    return outcomes


def secret_of(created: Created, organization: OrganizationId) -> str:
    """The text that its holder gets; `CannotOpen` when it outlived the keys of the installation."""
    return KEYRING().open(created.sealed, _place(organization, created.id)).decode()


def _place(organization: OrganizationId, key: ServiceKeyId) -> Place:
    return Place("kernel.idempotency_key", "answer", organization.uuid, key.uuid)


@command()
async def revoke(tx: Tx, revocations: Sequence[Revoke]) -> list[bool | Refusal]:
    """Whether each was still good; to revoke what is revoked changes nothing."""
    known = await store.lock_keys(tx, revocations)
    entries: dict[ServiceKeyId, Entry] = {}
    outcomes: list[bool | Refusal] = []
    for each in revocations:
        purpose, revoked_at = known.get(each.key.uuid, (None, None))
        if purpose is not each.purpose:
            outcomes.append(ServiceKeyNotFound())
            continue
        still_good = revoked_at is None and each.key not in entries
        if still_good:
            entries[each.key] = Entry(each.caller, "revoke_service_key", str(each.key))
        outcomes.append(still_good)
    await store.revoke_keys(tx, [key.uuid for key in entries])
    await audit.record(tx, list(entries.values()))
    return outcomes
