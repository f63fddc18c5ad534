"""Passwords: forgotten, found again, changed.

Promise: asking for a new password does the same for every address, known or not; only the letter differs. Setting one
ends every session that there was, except the one in which it was changed, and voids whatever else was sent.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from admitone.foundation.authority.api import EndReason, end_sessions_of
from admitone.foundation.authority.facts import Alarm, SecurityAlert
from admitone.foundation.identity.commands.claiming import claim
from admitone.foundation.identity.errors import InvalidCredentials, ResetLinkFailed
from admitone.foundation.identity.facts import IdentityVerified
from admitone.foundation.identity.model import (
    LINK_LASTS,
    Account,
    Challenge,
    ChallengeId,
    NewPassword,
    Prepared,
    Purpose,
)
from admitone.foundation.identity.policy import comes_back
from admitone.foundation.identity.store import apple, challenges, people
from admitone.foundation.mail.api import Letter, Template, post
from admitone.kernel import audit
from admitone.kernel.audit import Entry
from admitone.kernel.commands import command
from admitone.kernel.crypto import NewSecret, digest_of
from admitone.kernel.db import PeopleTx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller

RESETS = frozenset({Purpose.RESET})


class Forgotten(msgspec.Struct, frozen=True):
    """Somebody says that they forgot the password of this address."""

    caller: Caller
    prepared: Prepared
    challenge: ChallengeId
    secret: NewSecret


class Reset(msgspec.Struct, frozen=True):
    """A link that came back, with a new password."""

    caller: Caller
    token: str
    password_hash: str


@command()
async def forget(tx: PeopleTx, forgotten: Sequence[Forgotten]) -> list[bool]:
    accounts = await people.find_accounts(tx, {each.prepared.email for each in forgotten})
    sent = []
    letters = []
    for each in forgotten:
        account = accounts.get(each.prepared.email)
        sent.append(
            Challenge(
                each.challenge,
                Purpose.RESET,
                each.secret.digest,
                account.identity if account else None,
                each.prepared,
                1,
                tx.now,
                tx.now + LINK_LASTS,
            )
        )
        letters.append(_letter(each, known=account is not None))
    await challenges.insert(tx, sent)
    await post(tx.platform, letters)
    return [True] * len(forgotten)


def _letter(each: Forgotten, *, known: bool) -> Letter:
    to, language = each.prepared.email, each.prepared.language
    if not known:
        return Letter(each.caller, to, Template.PASSWORD_RESET_UNKNOWN, language)
    minutes = int(LINK_LASTS.total_seconds() // 60)
    # Behind the #: what stands there is sent to no server and stands in no log.
    values: dict[str, str | int] = {"link": f"/auth/reset#{each.secret.text}", "minutes": minutes}
    return Letter(each.caller, to, Template.PASSWORD_RESET, language, values)


@command()
async def reset(tx: PeopleTx, resets: Sequence[Reset]) -> list[bool | Refusal]:
    """Whoever has the link has the address, so it is verified, too, if the account still has it."""
    digests = [digest_of(each.token) for each in resets]
    shown = await challenges.find_links(tx, digests)
    accounts = await people.find_accounts(tx, {each.prepared.email for each in shown.values()})
    await challenges.lock_sent(tx, {account.identity: email for email, account in accounts.items()})
    found = await challenges.lock_links(tx, digests)
    outcomes: list[bool | Refusal] = []
    used: dict[str, tuple[Challenge, Reset]] = {}
    for each, digest in zip(resets, digests, strict=True):
        challenge = found.get(digest)
        if challenge and _resets(challenge, digest, accounts, tx.now) and challenge.prepared.email not in used:
            used[challenge.prepared.email] = (challenge, each)
            outcomes.append(True)
        else:
            outcomes.append(ResetLinkFailed())
    await people.hold(tx, [accounts[email].identity for email in used], used)
    await challenges.use(tx, [challenge.id for challenge, _ in used.values()])
    set_by = {accounts[email].identity: each for email, (_, each) in used.items()}
    await people.lock_passwords(tx, list(set_by))
    verified = await people.verify(tx, list(set_by))
    await apple.unlink(tx, verified)  # Linked by somebody who had not proved the address.
    for identity in verified:
        tx.publish(set_by[identity].caller, IdentityVerified(identity_id=identity))
    await claim(tx, {email: (accounts[email].identity, each.caller) for email, (_, each) in used.items()})
    await _put(tx, {identity: (each.caller, each.password_hash) for identity, each in set_by.items()})
    return outcomes


def _resets(challenge: Challenge, digest: bytes, accounts: Mapping[str, Account], now: datetime) -> bool:
    account = accounts.get(challenge.prepared.email)
    is_theirs = account is not None and account.identity == challenge.identity
    return comes_back(challenge, (digest,), RESETS, now) and is_theirs


@command()
async def change(tx: PeopleTx, changes: Sequence[NewPassword]) -> list[bool | Refusal]:
    """By somebody who is signed in and knew the former one a moment ago."""
    identities = [each.identity for each in changes]
    profiles = await people.list_profiles(tx, identities)
    await challenges.lock_sent(tx, {identity: profile.email for identity, profile in profiles.items()})
    await people.lock_identities(tx, identities)
    stored = await people.lock_passwords(tx, identities)
    outcomes: list[bool | Refusal] = []
    changed: dict[IdentityId, NewPassword] = {}
    for each in changes:
        if each.identity in changed or stored.get(each.identity) != each.former_hash:
            outcomes.append(InvalidCredentials())
        else:
            changed[each.identity] = each
            outcomes.append(True)
    for each in changed.values():
        await end_sessions_of(tx, [each.identity.uuid], EndReason.PASSWORD_CHANGED, but=each.but)
    await _put(tx, {each.identity: (each.caller, each.password_hash) for each in changed.values()}, ends=False)
    return outcomes


async def _put(tx: PeopleTx, new: dict[IdentityId, tuple[Caller, str]], *, ends: bool = True) -> None:
    if not new:
        return
    identities = list(new)
    await people.put_passwords(tx, {identity: hashed for identity, (_, hashed) in new.items()})
    if ends:
        await end_sessions_of(tx, [each.uuid for each in identities], EndReason.PASSWORD_CHANGED)
    profiles = await people.list_profiles(tx, identities)
    await challenges.void(tx, {identity: profile.email for identity, profile in profiles.items()})
    for identity, (caller, _) in new.items():
        tx.publish(caller, SecurityAlert(identity_id=identity, alarm=Alarm.PASSWORD_CHANGED))
    await audit.record(
        tx.platform, [Entry(caller, "identity.set_password", str(identity)) for identity, (caller, _) in new.items()]
    )
    await post(
        tx.platform,
        [
            Letter(new[identity][0], profile.email, Template.PASSWORD_CHANGED, profile.language)
            for identity, profile in profiles.items()
        ],
    )
