"""Signing in and up: by a code, by a link, by a password.

Promise: an account comes into being when its address is proved, and not before, so nobody can prepare one for somebody
else. Whether an address has an account decides which letter is sent and nothing that a caller could see. Whoever signs
in with a verified address has what its guests bought.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from admitone.foundation.authority.api import Method, Opening, confirm_email, open_sessions
from admitone.foundation.authority.facts import Alarm, SecurityAlert
from admitone.foundation.identity.commands import factors
from admitone.foundation.identity.commands.claiming import claim
from admitone.foundation.identity.facts import IdentityCreated, IdentityVerified
from admitone.foundation.identity.model import (
    ATTEMPTS,
    CODE_LASTS,
    Account,
    Attempt,
    Challenge,
    ChallengeId,
    Finishing,
    IdentityType,
    Lacking,
    PasswordSignIn,
    Prepared,
    Profile,
    Purpose,
    Started,
    Starting,
)
from admitone.foundation.identity.policy import code_digest, comes_back
from admitone.foundation.identity.store import challenges, people
from admitone.foundation.identity.store.people import NewIdentity
from admitone.foundation.mail.api import Letter, Template, post
from admitone.kernel.commands import command
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller

PROVES = frozenset({Purpose.SIGN_IN, Purpose.LINK})


@command()
async def start(tx: PeopleTx, startings: Sequence[Starting]) -> list[Started]:
    """Send a code. Known and unknown addresses get one: with it the one signs in and the other signs up."""
    accounts = await people.find_accounts(tx, {each.prepared.email for each in startings})
    sent = [
        Challenge(
            each.challenge,
            Purpose.SIGN_IN,
            code_digest(each.challenge, each.code),
            accounts[each.prepared.email].identity if each.prepared.email in accounts else None,
            each.prepared,
            ATTEMPTS,
            tx.now,
            tx.now + CODE_LASTS,
        )
        for each in startings
    ]
    await challenges.insert(tx, sent)
    await post(tx.platform, [_letter(each, accounts) for each in startings])
    return [Started(each.id, each.expires_at) for each in sent]


def _letter(each: Starting, accounts: Mapping[str, Account]) -> Letter:
    surprised = each.signs_up and each.prepared.email in accounts
    template = Template.ALREADY_REGISTERED_CODE if surprised else Template.SIGN_IN_CODE
    minutes = int(CODE_LASTS.total_seconds() // 60)
    values: dict[str, str | int] = {"code": each.code, "minutes": minutes}
    return Letter(each.caller, each.prepared.email, template, each.prepared.language, values)


@dataclass
class Proofs:
    """Decides what came back, one after another: the second use of a code in a batch sees the first."""

    codes: Mapping[ChallengeId, Challenge]
    links: Mapping[bytes, Challenge]
    used: set[ChallengeId] = field(default_factory=set)
    missed: Counter[ChallengeId] = field(default_factory=Counter)
    guessed: dict[IdentityId, Caller] = field(default_factory=dict)
    """Whose last attempt is gone, and by whom."""

    @property
    def emails(self) -> set[str]:
        return {each.prepared.email for each in (*self.codes.values(), *self.links.values())}

    def proves(self, each: Finishing, now: datetime) -> Challenge | None:
        challenge = self.codes.get(each.challenge) if each.challenge else self.links.get(each.digests[0])
        if challenge is None or challenge.id in self.used or self.missed[challenge.id] >= challenge.attempts_left:
            return None
        if comes_back(challenge, each.digests, PROVES, now):
            return challenge
        self.miss(challenge, each.caller)
        return None

    def miss(self, challenge: Challenge, caller: Caller) -> None:
        self.missed[challenge.id] += 1
        if self.missed[challenge.id] == challenge.attempts_left and challenge.identity:
            self.guessed[challenge.identity] = caller


@command()
async def finish(tx: PeopleTx, finishings: Sequence[Finishing]) -> list[Attempt]:
    """A code or a link came back: its address is proved. A wrong one is remembered, so it commits too."""
    proofs = Proofs(
        await challenges.lock_codes(tx, [each.challenge for each in finishings if each.challenge]),
        await challenges.lock_links(tx, [each.digests[0] for each in finishings if not each.challenge]),
    )
    accounts = await people.find_accounts(tx, proofs.emails)
    entering = Entering(tx, dict(accounts))
    outcomes: list[Attempt | None] = []
    for each in finishings:
        challenge = proofs.proves(each, tx.now)
        if challenge is None:
            outcomes.append(Attempt(lacking=Lacking.PROOF))
        elif not await entering.second_factor(accounts.get(challenge.prepared.email), each.second_factor):
            if each.second_factor:
                proofs.miss(challenge, each.caller)
            outcomes.append(Attempt(lacking=Lacking.SECOND_FACTOR))
        else:
            proofs.used.add(challenge.id)
            entering.admit(each.caller, challenge.prepared, Method.CODE if each.challenge else Method.LINK)
            outcomes.append(None)
    await challenges.use(tx, sorted(proofs.used))
    await challenges.miss(tx, sorted(proofs.missed.items()))
    for identity, caller in proofs.guessed.items():
        tx.publish(caller, SecurityAlert(identity_id=identity, alarm=Alarm.CODE_GUESSED))
    signed_in = iter(await entering.enter())
    return [next(signed_in) if outcome is None else outcome for outcome in outcomes]


@dataclass
class Entering:
    """Those who proved an address: found or made, verified, and let in."""

    tx: PeopleTx
    accounts: dict[str, Account]
    admitted: list[tuple[Caller, Prepared, Method]] = field(default_factory=list)

    async def second_factor(self, account: Account | None, shown: str | None) -> bool:
        if account is None or not account.has_second_factor:
            return True
        return shown is not None and (await factors.accept(self.tx, [(account.identity, shown)]))[0]

    def admit(self, caller: Caller, prepared: Prepared, method: Method) -> None:
        self.admitted.append((caller, prepared, method))

    async def enter(self) -> list[Attempt]:
        """All at once, in the order in which they came."""
        tx = self.tx
        by_email = {prepared.email: caller for caller, prepared, _ in self.admitted}
        found = {email: self.accounts[email] for email in by_email if email in self.accounts}
        await people.hold(tx, found.values())
        await people.rehash(tx, IdentityType.USER, {email: account.identity for email, account in found.items()})
        new = await self._create()
        verified = await people.verify(
            tx, [self.accounts[email].identity for email in by_email if not self.accounts[email].email_verified_at]
        )
        await confirm_email(tx, [each.uuid for each in verified])
        for email, caller in by_email.items():
            if self.accounts[email].identity in (*verified, *new.values()):
                tx.publish(caller, IdentityVerified(identity_id=self.accounts[email].identity))
        await claim(tx, {email: (self.accounts[email].identity, caller) for email, caller in by_email.items()})
        opened = await open_sessions(
            tx,
            [Opening(self.accounts[prepared.email].identity, method, tx.now) for _, prepared, method in self.admitted],
        )
        return [
            Attempt(own, is_new=prepared.email in new, email=prepared.email)
            for own, (_, prepared, _) in zip(opened, self.admitted, strict=True)
        ]

    async def _create(self) -> dict[str, IdentityId]:
        """Those who have no account yet; of two at once with one address the first one's words count."""
        tx = self.tx
        missing: dict[str, tuple[Caller, Prepared]] = {}
        for caller, prepared, _ in self.admitted:
            if prepared.email not in self.accounts:
                missing.setdefault(prepared.email, (caller, prepared))
        new = {email: IdentityId.new() for email in missing}
        await people.insert_identities(
            tx, [NewIdentity(new[email], IdentityType.USER, email, tx.now, tx.now) for email in missing]
        )
        profiles = {
            new[email]: Profile(email, prepared.display_name, prepared.language)
            for email, (_, prepared) in missing.items()
        }
        await people.put_profiles(tx, profiles)
        hashes = {new[e]: prepared.password_hash for e, (_, prepared) in missing.items() if prepared.password_hash}
        await people.put_passwords(tx, hashes)
        for email, (caller, prepared) in missing.items():
            self.accounts[email] = Account(new[email], tx.now, prepared.password_hash, has_second_factor=False)
            tx.publish(caller, IdentityCreated(identity_id=new[email]))
        return new


@command()
async def find(tx: PeopleTx, emails: Sequence[str]) -> list[Account | None]:
    """Whose address it is, for whoever then compares passwords."""
    accounts = await people.find_accounts(tx, set(emails))
    return [accounts.get(email) for email in emails]


@command()
async def sign_in_with_password(tx: PeopleTx, sign_ins: Sequence[PasswordSignIn]) -> list[Attempt]:
    """The password matched; it must still be the one, and the second factor must be there where there is one."""
    passwords = await people.lock_passwords(tx, [each.identity for each in sign_ins])
    known = await people.find_people(tx, [each.identity for each in sign_ins])
    profiles = await people.list_profiles(tx, [each.identity for each in sign_ins])
    enrolled = await factors.enrolled(tx, [each.identity for each in sign_ins])
    outcomes: list[Attempt | None] = []
    admitted: list[PasswordSignIn] = []
    for each in sign_ins:
        if passwords.get(each.identity) != each.password_hash or each.identity not in profiles:
            outcomes.append(Attempt(lacking=Lacking.PROOF))
        elif each.identity in enrolled and not (
            each.second_factor and (await factors.accept(tx, [(each.identity, each.second_factor)]))[0]
        ):
            outcomes.append(Attempt(lacking=Lacking.SECOND_FACTOR))
        else:
            admitted.append(each)
            outcomes.append(None)
    await people.improve_passwords(tx, {each.identity: each.better_hash for each in admitted if each.better_hash})
    addresses = {profiles[each.identity].email: each.identity for each in admitted}
    await people.rehash(tx, IdentityType.USER, addresses)
    verified = {each.identity: known[each.identity]["email_verified_at"] for each in admitted}
    await claim(
        tx,
        {profiles[each.identity].email: (each.identity, each.caller) for each in admitted if verified[each.identity]},
    )
    opened = await open_sessions(
        tx, [Opening(each.identity, Method.PASSWORD, verified[each.identity]) for each in admitted]
    )
    await _tell_of_new_devices(tx, [each for each in admitted if not each.known_device], profiles)
    signed_in = iter(
        Attempt(own, email=profiles[each.identity].email) for own, each in zip(opened, admitted, strict=True)
    )
    return [next(signed_in) if outcome is None else outcome for outcome in outcomes]


async def _tell_of_new_devices(
    tx: PeopleTx, strangers: Sequence[PasswordSignIn], profiles: Mapping[IdentityId, Profile]
) -> None:
    for each in strangers:
        tx.publish(each.caller, SecurityAlert(identity_id=each.identity, alarm=Alarm.NEW_DEVICE))
    letters = [
        Letter(
            each.caller,
            profiles[each.identity].email,
            Template.NEW_SIGN_IN,
            profiles[each.identity].language,
            {"device": each.agent},
        )
        for each in strangers
    ]
    await post(tx.platform, letters)
