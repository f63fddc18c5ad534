"""Claims: what was bought as a guest becomes the user's who proved the address (IDN-004 to IDN-006).

Promise: a guest is claimed once, by the user who has its address verified, and becomes a tombstone that points there;
claiming again finds nothing. Rights are moved by whoever keeps them, when they hear `identity.guest_claimed`; money is
never touched. A guest who buys again is a new guest, and the next claim has the next version.
"""

from collections.abc import Mapping, Sequence

import msgspec

from admitone.foundation.identity.emails import email_hashes
from admitone.foundation.identity.facts import GuestClaimed
from admitone.foundation.identity.model import IdentityStatus, IdentityType, Profile
from admitone.foundation.identity.store import people
from admitone.foundation.identity.store.people import Merge, NewIdentity
from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.db import PeopleTx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language


async def claim(tx: PeopleTx, verified: Mapping[str, tuple[IdentityId, Caller]]) -> list[Merge]:
    """For each verified address, by whom: what its guest has."""
    found = await people.find_by_email(tx, verified, IdentityType.GUEST_EMAIL)
    locked = await people.lock_identities(tx, list(found.values()))
    alive = {
        email: guest
        for email, guest in found.items()
        if guest in locked and locked[guest]["status"] == IdentityStatus.ACTIVE
    }
    if not alive:
        return []
    latest = await people.latest_merges(tx, [verified[email][0] for email in alive])
    merges = []
    for email, guest in alive.items():
        user, caller = verified[email]
        version = latest.get(user, 0) + 1
        merges.append(Merge(guest, user, email_hashes(email)[0].digest, version, tx.now))
        key = f"{email_hashes(email)[0].digest.hex()}:{user}:{version}"
        tx.publish(caller, GuestClaimed(user_id=user, guest_id=guest, batch_version=version), key=key)
    await people.bury(tx, merges)
    await audit.record(tx.platform, [_entry(merge, verified) for merge in merges])
    return merges


def _entry(merge: Merge, verified: Mapping[str, tuple[IdentityId, Caller]]) -> Entry:
    caller = next(caller for user, caller in verified.values() if user == merge.user_id)
    return Entry(
        caller,
        "identity.claim",
        str(merge.guest_id),
        before={"status": "ACTIVE"},
        after={"status": "TOMBSTONE", "mergedInto": str(merge.user_id), "batchVersion": merge.batch_version},
    )


class Guest(msgspec.Struct, frozen=True):
    """Somebody buys without an account, and says which address it goes to."""

    caller: Caller
    email: str


@command()
async def make_guests(tx: PeopleTx, wanted: Sequence[Guest]) -> list[IdentityId | Refusal]:
    """Who each is."""
    found = await guests(tx, [each.email for each in wanted])
    return [found[each.email] for each in wanted]


async def find_guest(tx: PeopleTx, email: str) -> IdentityId | None:
    return (await people.find_by_email(tx, [email], IdentityType.GUEST_EMAIL)).get(email)


async def guests(tx: PeopleTx, emails: Sequence[str]) -> dict[str, IdentityId]:
    """The guest of each normalised address: the one there is, or a new one (IDN-003)."""
    found = await people.find_by_email(tx, emails, IdentityType.GUEST_EMAIL)
    await people.rehash(tx, IdentityType.GUEST_EMAIL, found)
    missing = [email for email in dict.fromkeys(emails) if email not in found]
    new = [NewIdentity(IdentityId.new(), IdentityType.GUEST_EMAIL, email, None, tx.now) for email in missing]
    await people.insert_identities(tx, new)
    # The address itself, sealed: a hash alone could not be written anew when keys change.
    await people.put_profiles(tx, {guest.id: Profile(guest.email, None, Language.ENGLISH) for guest in new})
    return found | {guest.email: guest.id for guest in new}
