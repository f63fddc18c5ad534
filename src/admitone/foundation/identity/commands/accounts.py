"""Accounts: shown, changed, left, erased."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from admitone.foundation.authority.api import EndReason, end_sessions, end_sessions_of
from admitone.foundation.identity.errors import IdentityNotFound
from admitone.foundation.identity.facts import IdentityCreated, IdentityErased
from admitone.foundation.identity.model import IdentityType, Profile, Proofs
from admitone.foundation.identity.store import challenges, factors, people
from admitone.foundation.identity.store.people import NewIdentity
from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.db import PeopleTx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language


class Me(msgspec.Struct, frozen=True):
    identity: IdentityId
    profile: Profile
    is_verified: bool
    proofs: Proofs


class ProfileChange(msgspec.Struct, frozen=True):
    identity: IdentityId
    display_name: str | None
    language: Language | None


class SignOut(msgspec.Struct, frozen=True):
    identity: IdentityId
    session: UUID
    everywhere: bool = False


class Expulsion(msgspec.Struct, frozen=True):
    """Somebody is signed out everywhere, by an operator."""

    caller: Caller
    identity: IdentityId
    reason_code: str


class NewAccount(msgspec.Struct, frozen=True):
    """An account that somebody with the keys of the house makes for somebody else; its address is not proved yet."""

    caller: Caller
    profile: Profile
    password_hash: str | None = None
    is_verified: bool = False


@command()
async def show(tx: PeopleTx, identities: Sequence[IdentityId]) -> list[Me | Refusal]:
    known = await people.find_people(tx, identities)
    profiles = await people.list_profiles(tx, identities)
    proofs = await people.list_proofs(tx, identities)
    return [
        Me(each, profiles[each], known[each]["email_verified_at"] is not None, proofs[each])
        if each in profiles
        else IdentityNotFound()
        for each in identities
    ]


@command()
async def change_profile(tx: PeopleTx, changes: Sequence[ProfileChange]) -> list[Profile | Refusal]:
    await people.lock_identities(tx, [each.identity for each in changes])
    profiles = await people.list_profiles(tx, [each.identity for each in changes])
    outcomes: list[Profile | Refusal] = []
    for each in changes:
        profile = profiles.get(each.identity)
        if profile is None:
            outcomes.append(IdentityNotFound())
            continue
        profiles[each.identity] = Profile(
            profile.email, each.display_name or profile.display_name, each.language or profile.language
        )
        outcomes.append(profiles[each.identity])
    await people.put_profiles(tx, profiles)
    return outcomes


@command()
async def sign_out(tx: PeopleTx, sign_outs: Sequence[SignOut]) -> list[bool]:
    await end_sessions(tx, [each.session for each in sign_outs], EndReason.LOGOUT)
    everywhere = [each.identity.uuid for each in sign_outs if each.everywhere]
    await end_sessions_of(tx, everywhere, EndReason.LOGOUT)
    return [True] * len(sign_outs)


@command()
async def expel(tx: PeopleTx, expulsions: Sequence[Expulsion]) -> list[int]:
    """How many sessions each had."""
    ended = [await end_sessions_of(tx, [each.identity.uuid], EndReason.SUSPENDED) for each in expulsions]
    entries = [
        Entry(each.caller, "identity.sign_out", str(each.identity), each.reason_code, after={"sessions": count})
        for each, count in zip(expulsions, ended, strict=True)
    ]
    await audit.record(tx.platform, entries)
    return ended


@command()
async def create(tx: PeopleTx, accounts: Sequence[NewAccount]) -> list[IdentityId]:
    """Whoever has the address already stays who they are."""
    found = await people.find_by_email(tx, {each.profile.email for each in accounts})
    new: dict[str, NewAccount] = {each.profile.email: each for each in accounts if each.profile.email not in found}
    ids = {email: IdentityId.new() for email in new}
    await people.insert_identities(
        tx,
        [
            NewIdentity(ids[email], IdentityType.USER, email, tx.now if each.is_verified else None, tx.now)
            for email, each in new.items()
        ],
    )
    await people.put_profiles(tx, {ids[email]: each.profile for email, each in new.items()})
    await people.put_passwords(tx, {ids[e]: each.password_hash for e, each in new.items() if each.password_hash})
    for email, each in new.items():
        tx.publish(each.caller, IdentityCreated(identity_id=ids[email]))
    return [(found | ids)[each.profile.email] for each in accounts]


@command()
async def erase(tx: PeopleTx, erasures: Sequence[tuple[Caller, IdentityId]]) -> list[bool]:
    """Scrub the person; what they own and what they paid stay with an id that means nobody any more."""
    identities = [identity for _, identity in erasures]
    # What was sent first, then the people: in the order of whoever comes back with it.
    profiles = await people.list_profiles(tx, identities)
    sent_to = {identity: profile.email for identity, profile in profiles.items()}
    await challenges.lock_sent(tx, sent_to)
    await challenges.void(tx, sent_to)
    await people.lock_identities(tx, identities)
    erased = set(await people.erase(tx, identities))
    await factors.remove(tx, identities)
    await end_sessions_of(tx, [each.uuid for each in identities], EndReason.ERASED)
    for caller, identity in erasures:
        if identity in erased:
            tx.publish(caller, IdentityErased(identity_id=identity))
    await audit.record(
        tx.platform,
        [Entry(caller, "identity.erase", str(identity)) for caller, identity in erasures if identity in erased],
    )
    return [identity in erased for _, identity in erasures]
