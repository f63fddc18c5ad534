"""Who an identity is today: a tombstone stands for the user that it was merged into (IDN-005)."""

from collections.abc import Sequence

from admitone.foundation.identity.store import people
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId


async def resolve(tx: PeopleTx, identities: Sequence[IdentityId]) -> dict[IdentityId, IdentityId]:
    """Each that exists, and who it is now. A user is never merged, so one step leads there."""
    known = await people.find_people(tx, identities)
    return {each: IdentityId(row["merged_into"]) if row["merged_into"] else each for each, row in known.items()}
