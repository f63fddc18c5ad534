"""Apple's names for people, as keyed hashes: one row for each key that was live when it was written."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final

import msgspec

from admitone.kernel.crypto import KEYRING, Versioned
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert

PURPOSE: Final = "identity.apple"

FIND = """
    SELECT subject_hash, identity_id
      FROM identity.apple
     WHERE subject_hash = ANY($1::bytea[])
"""

FIND_LINKED = """
    SELECT identity_id
      FROM identity.apple
     WHERE identity_id = ANY($1::uuid[])
       AND key_version = ANY($2::smallint[])
"""

LINK = Insert(
    "identity.apple",
    {"subject_hash": "bytea", "key_version": "smallint", "identity_id": "uuid", "linked_at": "timestamptz"},
    tenant=False,
)

REMOVE_RETIRED = """
    DELETE FROM identity.apple
     WHERE identity_id = ANY($1::uuid[])
       AND key_version <> ALL($2::smallint[])
"""

UNLINK = "DELETE FROM identity.apple WHERE identity_id = ANY($1::uuid[]) RETURNING identity_id"


class Row(msgspec.Struct, frozen=True):
    subject_hash: bytes
    key_version: int
    identity_id: IdentityId
    linked_at: datetime


class Found(msgspec.Struct, frozen=True):
    """Whose subject it is, and the hashes under live keys that are not stored yet."""

    identity: IdentityId
    missing: tuple[Versioned, ...]


def subject_hashes(subject: str) -> tuple[Versioned, ...]:
    return KEYRING().all_hmacs(subject, PURPOSE)


async def find(tx: PeopleTx, subjects: Iterable[str]) -> dict[str, Found]:
    hashes = {subject: subject_hashes(subject) for subject in subjects}
    asked = [each.digest for some in hashes.values() for each in some]
    rows = await tx.fetch(FIND, asked) if asked else []
    owners = {row["subject_hash"]: IdentityId(row["identity_id"]) for row in rows}
    found = {}
    for subject, some in hashes.items():
        owner = next((owners[each.digest] for each in some if each.digest in owners), None)
        if owner:
            found[subject] = Found(owner, tuple(each for each in some if each.digest not in owners))
    return found


async def find_linked(tx: PeopleTx, identities: Sequence[IdentityId]) -> set[IdentityId]:
    """Who has a link that can still be found."""
    rows = await tx.fetch(FIND_LINKED, [each.uuid for each in identities], KEYRING().versions)
    return {IdentityId(row["identity_id"]) for row in rows}


async def link(tx: PeopleTx, links: Mapping[str, IdentityId]) -> None:
    """Under every live key. A link that only a retired key could find gives way."""
    await tx.execute(REMOVE_RETIRED, [each.uuid for each in links.values()], KEYRING().versions)
    await insert(tx, [(each, identity) for subject, identity in links.items() for each in subject_hashes(subject)])


async def insert(tx: PeopleTx, hashes: Sequence[tuple[Versioned, IdentityId]]) -> None:
    rows = [Row(each.digest, each.version, identity, tx.now) for each, identity in hashes]
    await tx.insert_exactly(LINK, sorted(rows, key=attrgetter("subject_hash")))


async def unlink(tx: PeopleTx, identities: Sequence[IdentityId]) -> set[IdentityId]:
    """Those who had a link."""
    return {IdentityId(row["identity_id"]) for row in await tx.fetch(UNLINK, [each.uuid for each in identities])}
