"""Apple: linked to an account, signed in with, unlinked.

Promise: an Apple identity leads to the account that its owner linked it to while signed in there, or that came into
being with it, and to no other: an e-mail address in a token never opens an account that exists, because whoever has
that address at Apple need not be whoever has it here. So a stranger's address gets the same answer as none at all.

Apple's name for somebody is kept as a keyed hash and nothing else. When keys change it is written anew at the next
sign-in; whoever does not come while both keys live links it again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from admitone.foundation.authority.api import Method, Opening, open_sessions
from admitone.foundation.authority.facts import Alarm, SecurityAlert
from admitone.foundation.identity.apple import AppleToken
from admitone.foundation.identity.commands import factors
from admitone.foundation.identity.commands.claiming import claim
from admitone.foundation.identity.commands.signing_in import Admitted, Entering, tell_of_new_devices
from admitone.foundation.identity.errors import AlreadyLinked, AppleIdentityInvalid, IdentityNotFound
from admitone.foundation.identity.model import Attempt, Device, IdentityStatus, Lacking, Prepared
from admitone.foundation.identity.store import apple, people
from admitone.foundation.identity.store.apple import Found
from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.db import PeopleTx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language


class AppleLink(msgspec.Struct, frozen=True):
    caller: Caller
    identity: IdentityId
    token: AppleToken
    reason_code: str


class AppleUnlink(msgspec.Struct, frozen=True):
    caller: Caller
    identity: IdentityId
    reason_code: str


class AppleSignIn(msgspec.Struct, frozen=True):
    caller: Caller
    token: AppleToken
    language: Language
    second_factor: str | None = None
    device: Device = Device()


@command()
async def link(tx: PeopleTx, links: Sequence[AppleLink]) -> list[bool | Refusal]:
    """To link what is linked already to the same account changes nothing."""
    people_there = await people.lock_identities(tx, [each.identity for each in links])
    owners = {subject: found.identity for subject, found in (await apple.find(tx, _subjects(links))).items()}
    linked = await apple.find_linked(tx, list(people_there))
    new: dict[str, AppleLink] = {}
    outcomes: list[bool | Refusal] = []
    for each in links:
        row = people_there.get(each.identity)
        if not each.token.is_current(tx.now):
            outcomes.append(AppleIdentityInvalid())
        elif row is None or row["status"] != IdentityStatus.ACTIVE:
            outcomes.append(IdentityNotFound())
        elif owners.get(each.token.subject) == each.identity:
            outcomes.append(True)
        elif each.token.subject in owners or each.identity in linked:
            outcomes.append(AlreadyLinked())
        else:
            owners[each.token.subject] = each.identity
            linked.add(each.identity)
            new[each.token.subject] = each
            outcomes.append(True)
    await apple.link(tx, {subject: each.identity for subject, each in new.items()})
    for each in new.values():
        tx.publish(each.caller, SecurityAlert(identity_id=each.identity, alarm=Alarm.APPLE_LINKED))
    await _record(tx, "identity.link_apple", list(new.values()), linked=True)
    return outcomes


@command()
async def unlink(tx: PeopleTx, unlinks: Sequence[AppleUnlink]) -> list[bool]:
    """Whether there was a link. Everybody can still sign in with a code to their address."""
    await people.lock_identities(tx, [each.identity for each in unlinks])
    gone = await apple.unlink(tx, [each.identity for each in unlinks])
    await _record(tx, "identity.unlink_apple", [each for each in unlinks if each.identity in gone], linked=False)
    return [each.identity in gone for each in unlinks]


async def _record(tx: PeopleTx, action: str, changes: Sequence[AppleLink | AppleUnlink], *, linked: bool) -> None:
    entries = [
        Entry(
            each.caller,
            action,
            str(each.identity),
            each.reason_code,
            before={"apple": not linked},
            after={"apple": linked},
        )
        for each in changes
    ]
    await audit.record(tx.platform, entries)


@command()
async def sign_in(tx: PeopleTx, sign_ins: Sequence[AppleSignIn]) -> list[Attempt]:
    """Whoever is known comes in; whoever is not gets an account, if Apple verified an address that nobody has here."""
    subjects = _subjects(sign_ins)
    first = await apple.find(tx, subjects)
    profiles = await people.list_profiles(tx, [each.identity for each in first.values()])
    emails = {*(each.email for each in profiles.values()), *(each.token.email for each in sign_ins if each.token.email)}
    locked = await people.lock_with_guests(tx, [each.identity for each in first.values()], emails)
    found = await apple.find(tx, subjects)  # Again: until the lock was ours it could be unlinked.
    strange = {each.token.email for each in sign_ins if each.token.email and each.token.subject not in found}
    door = Door(
        {subject: each.identity for subject, each in found.items()},
        {who for who, row in locked.items() if row["status"] == IdentityStatus.ACTIVE},
        await factors.enrolled(tx, [each.identity for each in first.values()]),
        set(await people.find_accounts(tx, strange)),
    )
    lacking = [await door.lacks(tx, each) for each in sign_ins]
    admitted = [each for each, lacks in zip(sign_ins, lacking, strict=True) if lacks is None]
    known = iter(await _welcome(tx, [each for each in admitted if each.token.subject in found], found))
    new = iter(await _create(tx, [each for each in admitted if each.token.subject not in found]))
    return [
        Attempt(lacking=lacks) if lacks else next(known if each.token.subject in found else new)
        for each, lacks in zip(sign_ins, lacking, strict=True)
    ]


@dataclass
class Door:
    """Decides one after another: the second to come with an address in a batch sees the first."""

    owners: Mapping[str, IdentityId]
    active: Collection[IdentityId]
    enrolled: Collection[IdentityId]
    taken: Collection[str]
    """Addresses that an account has."""
    newcomers: dict[str, str] = field(default_factory=dict)
    """Who takes which address now."""

    async def lacks(self, tx: PeopleTx, each: AppleSignIn) -> Lacking | None:
        if not each.token.is_current(tx.now):
            return Lacking.PROOF
        owner, email = self.owners.get(each.token.subject), each.token.email
        if owner is None:
            if email is None or email in self.taken:
                return Lacking.ACCOUNT
            return (
                None if self.newcomers.setdefault(email, each.token.subject) == each.token.subject else Lacking.ACCOUNT
            )
        if owner not in self.active:
            return Lacking.ACCOUNT
        if owner in self.enrolled:
            shown = each.second_factor is not None
            accepted = shown and (await factors.accept(tx, [(each.caller, owner, each.second_factor or "")]))[0]
            return None if accepted else Lacking.SECOND_FACTOR
        return None


async def _welcome(tx: PeopleTx, known: Sequence[AppleSignIn], found: Mapping[str, Found]) -> list[Attempt]:
    owners = [found[each.token.subject].identity for each in known]
    verified = {who: row["email_verified_at"] for who, row in (await people.find_people(tx, owners)).items()}
    profiles = await people.list_profiles(tx, owners)
    stale = {each.token.subject: found[each.token.subject] for each in known}
    await apple.insert(tx, [(each, one.identity) for one in stale.values() for each in one.missing])
    callers = {who: each.caller for who, each in zip(owners, known, strict=True) if verified[who]}
    await claim(tx, {profiles[who].email: (who, caller) for who, caller in callers.items()})
    opened = await open_sessions(tx, [Opening(who, Method.APPLE, verified[who]) for who in owners])
    await tell_of_new_devices(tx, [(each.caller, who, each.device) for each, who in zip(known, owners, strict=True)])
    return [Attempt(own, email=profiles[who].email) for own, who in zip(opened, owners, strict=True)]


async def _create(tx: PeopleTx, newcomers: Sequence[AppleSignIn]) -> list[Attempt]:
    entering = Entering(tx, {})
    for each in newcomers:
        assert each.token.email is not None
        prepared = Prepared(each.token.email, each.language)
        entering.admit(Admitted(each.caller, prepared, Method.APPLE, each.device))
    attempts = await entering.enter() if newcomers else []
    made = zip(newcomers, attempts, strict=True)
    await apple.link(tx, {each.token.subject: attempt.opened.identity for each, attempt in made if attempt.opened})
    return attempts


def _subjects(asked: Sequence[AppleLink | AppleSignIn]) -> set[str]:
    return {each.token.subject for each in asked}
