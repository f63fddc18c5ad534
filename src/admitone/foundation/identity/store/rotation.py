"""Addresses as they stand under the keys of different years."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from uuid import UUID

import msgspec

from admitone.foundation.identity.emails import email_hashes
from admitone.foundation.identity.model import IdentityType
from admitone.foundation.identity.store.people import INSERT_HASHES, HashRow, place_of_email
from admitone.kernel.crypto import KEYRING, CannotOpen
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId

LIST_PAGE = """
    SELECT identity_id
      FROM identity.profile
     WHERE identity_id > $1
     ORDER BY identity_id
     LIMIT $2
"""

FIND_SEALED = """
    SELECT p.identity_id, p.email_sealed, i.type,
           ARRAY(SELECT key_version FROM identity.email_hash WHERE identity_id = p.identity_id) AS versions
      FROM identity.profile AS p
      JOIN identity.identity AS i ON i.id = p.identity_id
     WHERE p.identity_id = ANY($1::uuid[])
"""

RESEAL = """
    UPDATE identity.profile AS p
       SET email_sealed = v.sealed
      FROM unnest($1::uuid[], $2::bytea[]) AS v(identity_id, sealed)
     WHERE p.identity_id = v.identity_id
"""

REMOVE_RETIRED = """
    DELETE FROM identity.email_hash
     WHERE identity_id = ANY($1::uuid[])
       AND key_version <> ALL($2::smallint[])
"""


class Standing(msgspec.Struct, frozen=True):
    """One address: under which keys it is sealed and hashed."""

    identity: IdentityId
    kind: IdentityType
    email: str | None
    """Nothing, if the key is gone under which it was sealed."""
    is_sealed_anew: bool
    versions: frozenset[int]


async def list_page(tx: PeopleTx, after: UUID, most: int) -> list[IdentityId]:
    return [IdentityId(row["identity_id"]) for row in await tx.fetch(LIST_PAGE, after, most)]


async def find_standings(tx: PeopleTx, identities: Sequence[IdentityId]) -> list[Standing]:
    rows = await tx.fetch(FIND_SEALED, [each.uuid for each in identities])
    standings = []
    for row in rows:
        identity = IdentityId(row["identity_id"])
        try:
            email = KEYRING().open(row["email_sealed"], place_of_email(identity)).decode()
        except CannotOpen:
            email = None
        is_new = KEYRING().is_current(row["email_sealed"])
        standings.append(Standing(identity, IdentityType(row["type"]), email, is_new, frozenset(row["versions"])))
    return standings


async def reseal(tx: PeopleTx, emails: Mapping[IdentityId, str]) -> None:
    sealed = [KEYRING().seal(email.encode(), place_of_email(identity)) for identity, email in emails.items()]
    await tx.execute_exactly(len(emails), RESEAL, [each.uuid for each in emails], sealed)


async def rehash(tx: PeopleTx, standings: Sequence[Standing]) -> None:
    """Add what a live key lacks, and only then take away what no live key made."""
    rows = [
        HashRow(each.kind, hashed.digest, hashed.version, each.identity)
        for each in standings
        for hashed in email_hashes(each.email or "")
        if hashed.version not in each.versions
    ]
    await tx.insert_exactly(INSERT_HASHES, sorted(rows, key=attrgetter("hash")))
    await tx.execute(REMOVE_RETIRED, [each.identity.uuid for each in standings], KEYRING().versions)
