"""The registry's statements: calls of the functions that alone may touch it."""

from collections.abc import Sequence

from admitone.foundation.usernames.model import Outcome, Owner, OwnerType, Resolved, Verdict
from admitone.kernel.db import PeopleTx, PlatformTx, Record, Tx
from admitone.kernel.ids import IdentityId

CLAIM_FOR_ORGANIZATION = """
    SELECT outcome, until FROM usernames.claim_for_organization($1, $2, $3) ORDER BY place
"""

CLAIM_FOR_PEOPLE = "SELECT outcome, until FROM usernames.claim_for_people($1, $2, $3) ORDER BY place"

RELEASE_OF_ORGANIZATION = "SELECT owner FROM usernames.release_of_organization($1, $2) AS owner"

RELEASE_OF_PEOPLE = "SELECT owner FROM usernames.release_of_people($1, $2) AS owner"

FIND_OWN = "SELECT name FROM usernames.names_of('ORGANIZATION', ARRAY[$1::uuid])"

FIND_NAMES = "SELECT owner_id, name FROM usernames.names_of($1, $2)"

RESOLVE = "SELECT name, owner_type, owner_id FROM usernames.resolve($1, $2)"

FORGET = "SELECT usernames.forget($1, $2) AS forgotten"


async def claim_for_organization(tx: Tx, names: Sequence[str]) -> list[Verdict]:
    return _verdicts(await tx.fetch(CLAIM_FOR_ORGANIZATION, names, tx.now))


async def claim_for_people(tx: PeopleTx, claims: Sequence[tuple[IdentityId, str]]) -> list[Verdict]:
    people, names = [person.uuid for person, _ in claims], [name for _, name in claims]
    return _verdicts(await tx.fetch(CLAIM_FOR_PEOPLE, people, names, tx.now))


async def release_of_organization(tx: Tx) -> bool:
    """Whether there was a name to release."""
    return bool(await tx.fetch(RELEASE_OF_ORGANIZATION, tx.now))


async def release_of_people(tx: PeopleTx, people: Sequence[IdentityId]) -> set[IdentityId]:
    """Those who had a name to release."""
    rows = await tx.fetch(RELEASE_OF_PEOPLE, [person.uuid for person in people], tx.now)
    return {IdentityId(row["owner"]) for row in rows}


async def find_own(tx: Tx) -> str | None:
    """The name that the organisation of the transaction goes by."""
    row = await tx.find(FIND_OWN)
    return None if row is None else row["name"]


async def find_names(tx: PeopleTx, people: Sequence[IdentityId]) -> dict[IdentityId, str]:
    """The names that people go by; those who have none are not in the answer."""
    rows = await tx.fetch(FIND_NAMES, OwnerType.USER, [person.uuid for person in people])
    return {IdentityId(row["owner_id"]): row["name"] for row in rows}


async def resolve(tx: PeopleTx, names: Sequence[str]) -> dict[str, Resolved]:
    rows = await tx.fetch(RESOLVE, names, tx.now)
    return {row["name"]: Resolved(row["name"], _owner(row)) for row in rows}


async def forget(tx: PlatformTx, most: int) -> int:
    row = await tx.find(FORGET, most, tx.now)
    assert row is not None
    return int(row["forgotten"])


def _verdicts(rows: Sequence[Record]) -> list[Verdict]:
    return [Verdict(Outcome(row["outcome"]), row["until"]) for row in rows]


def _owner(row: Record) -> Owner | None:
    return None if row["owner_id"] is None else OwnerType(row["owner_type"]).owner(row["owner_id"])
