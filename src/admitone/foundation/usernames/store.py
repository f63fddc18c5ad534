"""The registry's statements: calls of the functions that alone may touch it."""

from collections.abc import Sequence

from admitone.foundation.usernames.model import Outcome, Owner, OwnerType, Resolved, Verdict
from admitone.kernel.db import PlatformTx, Record, Tx

CLAIM_FOR_ORGANIZATION = """
    SELECT outcome, until FROM usernames.claim_for_organization($1, $2, $3) ORDER BY place
"""

RELEASE_OF_ORGANIZATION = "SELECT owner FROM usernames.release_of_organization($1, $2) AS owner"

FIND_OWN = "SELECT name FROM usernames.names_of('ORGANIZATION', ARRAY[$1::uuid])"

RESOLVE = "SELECT name, owner_type, owner_id FROM usernames.resolve($1, $2)"

FORGET = "SELECT usernames.forget($1, $2) AS forgotten"


async def claim_for_organization(tx: Tx, names: Sequence[str]) -> list[Verdict]:
    return _verdicts(await tx.fetch(CLAIM_FOR_ORGANIZATION, names, tx.now))


async def release_of_organization(tx: Tx) -> bool:
    """Whether there was a name to release."""
    return bool(await tx.fetch(RELEASE_OF_ORGANIZATION, tx.now))


async def find_own(tx: Tx) -> str | None:
    row = await tx.find(FIND_OWN)
    return None if row is None else row["name"]


async def resolve(tx: PlatformTx, names: Sequence[str]) -> dict[str, Resolved]:
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
