"""Identities, their addresses, profiles and passwords, and which guest became which user."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from uuid import UUID

import msgspec

from admitone.foundation.identity.emails import email_hashes
from admitone.foundation.identity.model import Account, IdentityStatus, IdentityType, Profile, Proofs
from admitone.kernel.crypto import KEYRING, Place
from admitone.kernel.db import Overtaken, PeopleTx, Record
from admitone.kernel.ids import IdentityId
from admitone.kernel.statements import Insert, Lock, columns
from admitone.kernel.words import Language

FIND_ACCOUNTS = """
    SELECT v.hash, i.id, i.email_verified_at, p.hash AS password_hash, t.confirmed_at AS second_factor_at
      FROM unnest($1::bytea[]) AS v(hash)
     CROSS JOIN LATERAL (SELECT identity_id FROM identity.email_hash WHERE type = 'USER' AND hash = v.hash
                         OFFSET 0) AS h
     CROSS JOIN LATERAL (SELECT id, email_verified_at FROM identity.identity WHERE id = h.identity_id
                         OFFSET 0) AS i
      LEFT JOIN LATERAL (SELECT hash FROM identity.password WHERE identity_id = h.identity_id OFFSET 0) AS p ON true
      LEFT JOIN LATERAL (SELECT confirmed_at FROM identity.totp WHERE identity_id = h.identity_id OFFSET 0) AS t ON true
"""

FIND_BY_HASHES = """
    SELECT hash, identity_id
      FROM identity.email_hash
     WHERE type = $1
       AND hash = ANY($2::bytea[])
"""

FIND_PEOPLE = """
    SELECT id, type, status, merged_into, email_verified_at, created_at
      FROM identity.identity
     WHERE id = ANY($1::uuid[])
"""

FIND_PROFILES = """
    SELECT identity_id, email_sealed, display_name, language
      FROM identity.profile
     WHERE identity_id = ANY($1::uuid[])
"""

FIND_NAMES = """
    SELECT identity_id, display_name
      FROM identity.profile
     WHERE identity_id = ANY($1::uuid[])
       AND display_name IS NOT NULL
"""

FIND_PROOFS = """
    SELECT i.id, p.identity_id IS NOT NULL AS has_password, t.confirmed_at IS NOT NULL AS has_authenticator
      FROM identity.identity AS i
      LEFT JOIN identity.password AS p ON p.identity_id = i.id
      LEFT JOIN identity.totp AS t ON t.identity_id = i.id
     WHERE i.id = ANY($1::uuid[])
"""

FIND_HASHES = "SELECT identity_id, hash FROM identity.email_hash WHERE identity_id = ANY($1::uuid[])"

FIND_ANYBODY = "SELECT id FROM identity.identity ORDER BY id LIMIT 1"

INSERT_IDENTITIES = Insert(
    "identity.identity",
    {"id": "uuid", "type": "text", "status": "text", "email_verified_at": "timestamptz", "created_at": "timestamptz"},
    tenant=False,
)

INSERT_HASHES = Insert(
    "identity.email_hash",
    {"type": "text", "hash": "bytea", "key_version": "smallint", "identity_id": "uuid"},
    tenant=False,
)

ADD_HASHES = Insert(INSERT_HASHES.table, INSERT_HASHES.columns, tenant=False, on_conflict="(type, hash) DO NOTHING")

REMOVE_HASHES = "DELETE FROM identity.email_hash WHERE identity_id = ANY($1::uuid[])"

PUT_PROFILES = Insert(
    "identity.profile",
    {
        "identity_id": "uuid",
        "email_sealed": "bytea",
        "display_name": "text",
        "language": "text",
        "created_at": "timestamptz",
        "changed_at": "timestamptz",
    },
    tenant=False,
    on_conflict="""(identity_id) DO UPDATE
        SET email_sealed = EXCLUDED.email_sealed, display_name = EXCLUDED.display_name,
            language = EXCLUDED.language, changed_at = EXCLUDED.changed_at""",
)

REMOVE_PROFILES = "DELETE FROM identity.profile WHERE identity_id = ANY($1::uuid[])"

LOCK_PASSWORDS = Lock(
    """
    SELECT identity_id, hash
      FROM identity.password
     WHERE identity_id = ANY($1::uuid[])
     ORDER BY identity_id
    """,
    key="identity_id",
)

PUT_PASSWORDS = Insert(
    "identity.password",
    {"identity_id": "uuid", "hash": "text", "changed_at": "timestamptz"},
    tenant=False,
    on_conflict="(identity_id) DO UPDATE SET hash = EXCLUDED.hash, changed_at = EXCLUDED.changed_at",
)

IMPROVE_PASSWORDS = """
    UPDATE identity.password AS p
       SET hash = v.hash
      FROM unnest($1::uuid[], $2::text[]) AS v(identity_id, hash)
     WHERE p.identity_id = v.identity_id
"""

REMOVE_PASSWORDS = "DELETE FROM identity.password WHERE identity_id = ANY($1::uuid[])"

VERIFY = """
    UPDATE identity.identity
       SET email_verified_at = $2
     WHERE id = ANY($1::uuid[])
       AND type = 'USER'
       AND status = 'ACTIVE'
       AND email_verified_at IS NULL
    RETURNING id
"""

LOCK_IDENTITIES = Lock(
    """
    SELECT id, type, status
      FROM identity.identity
     WHERE id = ANY($1::uuid[])
     ORDER BY id
    """,
    key="id",
)

BURY = """
    UPDATE identity.identity AS i
       SET status = 'TOMBSTONE', merged_into = v.user_id
      FROM unnest($1::uuid[], $2::uuid[]) AS v(guest_id, user_id)
     WHERE i.id = v.guest_id
       AND i.type = 'GUEST_EMAIL'
       AND i.status = 'ACTIVE'
"""

COUNT_MERGES = """
    SELECT user_id, max(batch_version) AS latest
      FROM identity.merge
     WHERE user_id = ANY($1::uuid[])
     GROUP BY user_id
"""

INSERT_MERGES = Insert(
    "identity.merge",
    {"guest_id": "uuid", "user_id": "uuid", "email_hash": "bytea", "batch_version": "integer", "at": "timestamptz"},
    tenant=False,
)

ERASE = """
    UPDATE identity.identity
       SET status = 'ERASED', email_verified_at = NULL
     WHERE id = ANY($1::uuid[])
       AND status = 'ACTIVE'
    RETURNING id
"""


class NewIdentity(msgspec.Struct, frozen=True):
    id: IdentityId
    type: IdentityType
    email: str
    email_verified_at: datetime | None
    created_at: datetime
    status: IdentityStatus = IdentityStatus.ACTIVE


class HashRow(msgspec.Struct, frozen=True):
    type: IdentityType
    hash: bytes
    key_version: int
    identity_id: IdentityId


class ProfileRow(msgspec.Struct, frozen=True):
    identity_id: IdentityId
    email_sealed: bytes
    display_name: str | None
    language: Language
    created_at: datetime
    changed_at: datetime


class PasswordRow(msgspec.Struct, frozen=True):
    identity_id: IdentityId
    hash: str
    changed_at: datetime


class Merge(msgspec.Struct, frozen=True):
    guest_id: IdentityId
    user_id: IdentityId
    email_hash: bytes
    batch_version: int
    at: datetime


def place_of_email(identity: IdentityId) -> Place:
    return Place("identity.profile", "email_sealed", None, identity.uuid)


def _by_hash(emails: Iterable[str]) -> dict[bytes, str]:
    """Which address each hash stands for, under every live key."""
    return {each.digest: email for email in emails for each in email_hashes(email)}


async def find_accounts(tx: PeopleTx, emails: Iterable[str]) -> dict[str, Account]:
    """The users who have these addresses."""
    by_hash = _by_hash(emails)
    rows = await tx.fetch(FIND_ACCOUNTS, list(by_hash))
    return {
        by_hash[row["hash"]]: Account(
            IdentityId(row["id"]), row["email_verified_at"], row["password_hash"], row["second_factor_at"] is not None
        )
        for row in rows
    }


async def lock_with_guests(
    tx: PeopleTx, identities: Iterable[IdentityId], emails: Iterable[str]
) -> dict[IdentityId, Record]:
    """People, and the guests of the addresses, which will be claimed: all at once, so in one order for everybody."""
    guests = await find_by_email(tx, emails, IdentityType.GUEST_EMAIL)
    return await lock_identities(tx, [*identities, *guests.values()])


async def hold(tx: PeopleTx, identities: Iterable[IdentityId], emails: Iterable[str]) -> None:
    """Keep people as they were found until the end: whoever is erased meanwhile is looked for again."""
    users = list(identities)
    locked = await lock_with_guests(tx, users, emails)
    if any(locked[user]["status"] != IdentityStatus.ACTIVE for user in users):
        raise Overtaken("somebody was erased while they signed in")


async def rehash(tx: PeopleTx, kind: IdentityType, found: Mapping[str, IdentityId]) -> None:
    """Register addresses under the keys that came since, so that the older ones can retire."""
    if not found or len(KEYRING().versions) == 1:
        return
    known = {row["hash"] for row in await tx.fetch(FIND_HASHES, [each.uuid for each in found.values()])}
    lacking = {email: who for email, who in found.items() if any(e.digest not in known for e in email_hashes(email))}
    # A guest who is claimed meanwhile has no address any more.
    locked = await lock_identities(tx, list(lacking.values())) if lacking else {}
    rows = [
        HashRow(kind, each.digest, each.version, who)
        for email, who in lacking.items()
        if locked[who]["status"] == IdentityStatus.ACTIVE
        for each in email_hashes(email)
    ]
    if rows:
        await tx.execute(ADD_HASHES.sql, *ADD_HASHES.arguments(sorted(rows, key=attrgetter("hash"))))


async def find_by_email(
    tx: PeopleTx, emails: Iterable[str], kind: IdentityType = IdentityType.USER
) -> dict[str, IdentityId]:
    by_hash = _by_hash(emails)
    rows = await tx.fetch(FIND_BY_HASHES, kind, list(by_hash)) if by_hash else []
    return {by_hash[row["hash"]]: IdentityId(row["identity_id"]) for row in rows}


async def is_anybody(tx: PeopleTx) -> bool:
    """Whether anybody has ever been here."""
    return await tx.find(FIND_ANYBODY) is not None


async def find_people(tx: PeopleTx, identities: Sequence[IdentityId]) -> dict[IdentityId, Record]:
    rows = await tx.fetch(FIND_PEOPLE, [each.uuid for each in identities])
    return {IdentityId(row["id"]): row for row in rows}


async def list_profiles(tx: PeopleTx, identities: Sequence[IdentityId]) -> dict[IdentityId, Profile]:
    rows = await tx.fetch(FIND_PROFILES, [each.uuid for each in identities]) if identities else []
    return {IdentityId(row["identity_id"]): _profile(row) for row in rows}


async def list_proofs(tx: PeopleTx, identities: Sequence[IdentityId]) -> dict[IdentityId, Proofs]:
    rows = await tx.fetch(FIND_PROOFS, [each.uuid for each in identities]) if identities else []
    return {IdentityId(row["id"]): Proofs(row["has_password"], row["has_authenticator"]) for row in rows}


async def list_names(tx: PeopleTx, identities: Sequence[IdentityId]) -> dict[IdentityId, str]:
    """What those are called who said so; no address is opened for it."""
    rows = await tx.fetch(FIND_NAMES, [each.uuid for each in identities]) if identities else []
    return {IdentityId(row["identity_id"]): row["display_name"] for row in rows}


def _profile(row: Record) -> Profile:
    email = KEYRING().open(row["email_sealed"], place_of_email(IdentityId(row["identity_id"]))).decode()
    return Profile(email, row["display_name"], Language(row["language"]))


async def hashes_of(tx: PeopleTx, identity: IdentityId) -> list[bytes]:
    """Of a person's address, as they stand in the registry."""
    return [row["hash"] for row in await tx.fetch(FIND_HASHES, [identity.uuid])]


async def insert_identities(tx: PeopleTx, people: Sequence[NewIdentity]) -> None:
    """Of two who take an address at once the second is stopped by the registry, looks again and finds the first."""
    await tx.insert_exactly(INSERT_IDENTITIES, people)
    await insert_hashes(tx, [(person.id, person.type, person.email) for person in people])


async def insert_hashes(tx: PeopleTx, addresses: Sequence[tuple[IdentityId, IdentityType, str]]) -> None:
    rows = [
        HashRow(kind, each.digest, each.version, identity)
        for identity, kind, email in addresses
        for each in email_hashes(email)
    ]
    await tx.insert_exactly(INSERT_HASHES, sorted(rows, key=attrgetter("hash")))


async def remove_hashes(tx: PeopleTx, identities: Sequence[IdentityId]) -> None:
    await tx.execute(REMOVE_HASHES, [each.uuid for each in identities])


async def put_profiles(tx: PeopleTx, profiles: Mapping[IdentityId, Profile]) -> None:
    rows = [
        ProfileRow(
            identity,
            KEYRING().seal(profile.email.encode(), place_of_email(identity)),
            profile.display_name,
            profile.language,
            tx.now,
            tx.now,
        )
        for identity, profile in profiles.items()
    ]
    await tx.insert_exactly(PUT_PROFILES, rows)


async def lock_passwords(tx: PeopleTx, identities: Sequence[IdentityId]) -> dict[IdentityId, str]:
    rows = await tx.lock(LOCK_PASSWORDS, identities, lambda each: each.uuid)
    return {IdentityId(identity): row["hash"] for identity, row in rows.items()}


async def put_passwords(tx: PeopleTx, hashes: Mapping[IdentityId, str]) -> None:
    rows = [PasswordRow(identity, hashed, tx.now) for identity, hashed in hashes.items()]
    await tx.insert_exactly(PUT_PASSWORDS, rows)


async def remove_passwords(tx: PeopleTx, identities: Sequence[IdentityId]) -> None:
    await tx.execute(REMOVE_PASSWORDS, [each.uuid for each in identities])


async def improve_passwords(tx: PeopleTx, hashes: Mapping[IdentityId, str]) -> None:
    """The same passwords, hashed as we hash today."""
    identities = [each.uuid for each in hashes]
    await tx.execute_exactly(len(hashes), IMPROVE_PASSWORDS, identities, list(hashes.values()))


async def verify(tx: PeopleTx, identities: Sequence[IdentityId]) -> list[IdentityId]:
    """Those whose address was not verified before."""
    if not identities:
        return []
    return [IdentityId(row["id"]) for row in await tx.fetch(VERIFY, [each.uuid for each in identities], tx.now)]


async def lock_identities(tx: PeopleTx, identities: Sequence[IdentityId]) -> dict[IdentityId, Record]:
    rows = await tx.lock(LOCK_IDENTITIES, identities, lambda each: each.uuid) if identities else {}
    return {IdentityId(identity): row for identity, row in rows.items()}


async def latest_merges(tx: PeopleTx, users: Sequence[IdentityId]) -> dict[IdentityId, int]:
    rows = await tx.fetch(COUNT_MERGES, [each.uuid for each in users])
    return {IdentityId(row["user_id"]): row["latest"] for row in rows}


async def bury(tx: PeopleTx, merges: Sequence[Merge]) -> None:
    """The guests become tombstones; their addresses are free for whoever buys as a guest again."""
    await tx.execute_exactly(len(merges), BURY, *columns(merges, "guest_id", "user_id"))
    await tx.insert_exactly(INSERT_MERGES, merges)
    await remove_hashes(tx, [merge.guest_id for merge in merges])
    await tx.execute(REMOVE_PROFILES, [merge.guest_id.uuid for merge in merges])


async def erase(tx: PeopleTx, identities: Sequence[IdentityId]) -> list[IdentityId]:
    """Scrub whatever is personal; the identities themselves stay, and what they own."""
    uuids: list[UUID] = [each.uuid for each in identities]
    erased = [IdentityId(row["id"]) for row in await tx.fetch(ERASE, uuids)]
    for statement in (REMOVE_HASHES, REMOVE_PROFILES, REMOVE_PASSWORDS):
        await tx.execute(statement, uuids)
    return erased
