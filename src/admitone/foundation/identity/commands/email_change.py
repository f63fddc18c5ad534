"""Another address: asked for, proved, and then the only one.

Promise: an address becomes somebody's when they have proved it, and never while another account has it: of two who take
one at once one wins. Until then whoever asks learns nothing about it: for an address that is taken everything happens
as for one that is free, except that its owner gets another letter, and that no code would do. Whoever was signed in
elsewhere is not any more, and the former address is told.
"""

import secrets
from collections.abc import Mapping, Sequence
from enum import StrEnum
from uuid import UUID

import msgspec

from admitone.foundation.authority.api import EndReason, end_sessions_of
from admitone.foundation.authority.facts import Alarm, SecurityAlert
from admitone.foundation.identity.commands.answers import Answers
from admitone.foundation.identity.commands.claiming import claim
from admitone.foundation.identity.errors import IdentityNotFound
from admitone.foundation.identity.model import (
    ATTEMPTS,
    CODE_LASTS,
    Challenge,
    ChallengeId,
    IdentityStatus,
    IdentityType,
    Prepared,
    Profile,
    Purpose,
    Started,
)
from admitone.foundation.identity.policy import code_digest
from admitone.foundation.identity.store import challenges, people
from admitone.foundation.mail.api import Letter, Template, post
from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.db import PeopleTx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller


class EmailWish(msgspec.Struct, frozen=True):
    """Somebody wants another address."""

    caller: Caller
    identity: IdentityId
    email: str
    challenge: ChallengeId
    code: str
    reason_code: str


class EmailProof(msgspec.Struct, frozen=True):
    """The code came back from there."""

    caller: Caller
    identity: IdentityId
    session: UUID
    """The one that goes on."""
    challenge: ChallengeId
    digests: tuple[bytes, ...]


class Outcome(StrEnum):
    """A wrong code costs something, so it commits, and is no refusal."""

    CHANGED = "CHANGED"
    WRONG = "WRONG"
    TAKEN = "TAKEN"


@command()
async def start(tx: PeopleTx, wishes: Sequence[EmailWish]) -> list[Started | Refusal]:
    owners = await people.find_by_email(tx, {each.email for each in wishes})
    profiles = await people.list_profiles(tx, [*(each.identity for each in wishes), *owners.values()])
    known = [each for each in wishes if each.identity in profiles]
    sent = [_challenge(tx, each, profiles[each.identity], taken=each.email in owners) for each in known]
    await challenges.insert(tx, sent)
    await post(tx.platform, [_letter(each, owners, profiles) for each in known])
    entries = [Entry(each.caller, "identity.ask_email_change", str(each.identity), each.reason_code) for each in known]
    await audit.record(tx.platform, entries)
    expires_at = tx.now + CODE_LASTS
    return [Started(each.challenge, expires_at) if each.identity in profiles else IdentityNotFound() for each in wishes]


def _challenge(tx: PeopleTx, each: EmailWish, profile: Profile, *, taken: bool) -> Challenge:
    return Challenge(
        each.challenge,
        Purpose.CHANGE_EMAIL,
        secrets.token_bytes(32) if taken else code_digest(each.challenge, each.code),
        each.identity,
        Prepared(each.email, profile.language),
        ATTEMPTS,
        tx.now,
        tx.now + CODE_LASTS,
    )


def _letter(each: EmailWish, owners: Mapping[str, IdentityId], profiles: Mapping[IdentityId, Profile]) -> Letter:
    if owner := owners.get(each.email):
        language = profiles[owner].language if owner in profiles else profiles[each.identity].language
        return Letter(each.caller, each.email, Template.CHANGE_EMAIL_TAKEN, language)
    values: dict[str, str | int] = {"code": each.code, "minutes": int(CODE_LASTS.total_seconds() // 60)}
    return Letter(each.caller, each.email, Template.CHANGE_EMAIL_CODE, profiles[each.identity].language, values)


@command()
async def confirm(tx: PeopleTx, proofs: Sequence[EmailProof]) -> list[Outcome]:
    former = await people.list_profiles(tx, [each.identity for each in proofs])
    await challenges.lock_sent(tx, {identity: profile.email for identity, profile in former.items()})
    answers = await Answers.to(tx, Purpose.CHANGE_EMAIL, proofs)
    proved: dict[ChallengeId, tuple[EmailProof, str]] = {}
    for each in proofs:
        if challenge := answers.right(each):
            answers.use(challenge)
            proved[challenge.id] = (each, challenge.prepared.email)
    await answers.settle()
    locked = await people.lock_with_guests(
        tx, [each.identity for each, _ in proved.values()], [email for _, email in proved.values()]
    )
    taken = set(await people.find_by_email(tx, [email for _, email in proved.values()]))
    changes: dict[IdentityId, tuple[EmailProof, str]] = {}
    outcomes = []
    for each in proofs:
        own, email = proved.get(each.challenge, (None, ""))
        if own is not each or locked[each.identity]["status"] != IdentityStatus.ACTIVE or each.identity in changes:
            outcomes.append(Outcome.WRONG)
        elif email in taken:
            outcomes.append(Outcome.TAKEN)
        else:
            taken.add(email)
            changes[each.identity] = (each, email)
            outcomes.append(Outcome.CHANGED)
    if changes:
        await _change(tx, changes)
    return outcomes


async def _change(tx: PeopleTx, changes: Mapping[IdentityId, tuple[EmailProof, str]]) -> None:
    identities = list(changes)
    former = await people.list_profiles(tx, identities)
    await people.remove_hashes(tx, identities)
    await people.insert_hashes(tx, [(who, IdentityType.USER, email) for who, (_, email) in changes.items()])
    await people.put_profiles(
        tx, {who: msgspec.structs.replace(former[who], email=email) for who, (_, email) in changes.items()}
    )
    for who, (each, _) in changes.items():
        await end_sessions_of(tx, [who.uuid], EndReason.EMAIL_CHANGED, but=each.session)
        tx.publish(each.caller, SecurityAlert(identity_id=who, alarm=Alarm.EMAIL_CHANGED))
    # What was sent to the former address proves nothing about the new one.
    await challenges.void(tx, {identity: profile.email for identity, profile in former.items()})
    await claim(tx, {email: (who, each.caller) for who, (each, email) in changes.items()})
    callers = {who: each.caller for who, (each, _) in changes.items()}
    await audit.record(tx.platform, [Entry(callers[who], "identity.change_email", str(who)) for who in identities])
    await post(
        tx.platform,
        [
            Letter(callers[who], profile.email, Template.EMAIL_CHANGED, profile.language)
            for who, profile in former.items()
        ],
    )
