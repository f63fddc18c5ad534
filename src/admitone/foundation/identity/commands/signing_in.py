"""Signing in and up: by a code, by a link, by a password.

Promise: an account comes into being when its address is proved, and not before, so nobody can prepare one for somebody
else: where an operator made one, whoever proves the address first has it alone. Whether an address has an account
decides which letter is sent and nothing that a caller could see. Whoever signs in with a verified address has what its
guests bought. Whoever signs in on a device that we do not know is told of it (IDN-018).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from admitone.foundation.authority.api import EndReason, Method, Opening, end_sessions_of, open_sessions
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
    Device,
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
from admitone.foundation.identity.policy import code_digest, comes_back, is_known_device
from admitone.foundation.identity.store import apple, challenges, people
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

    def _sent(self, each: Finishing) -> Challenge | None:
        return self.codes.get(each.challenge) if each.challenge else self.links.get(each.digests[0])

    def proved(self, finishings: Sequence[Finishing], now: datetime) -> set[str]:
        """The addresses that some of them prove, if nothing else is lacking."""
        sent = ((each, self._sent(each)) for each in finishings)
        return {own.prepared.email for each, own in sent if own and comes_back(own, each.digests, PROVES, now)}

    def proves(self, each: Finishing, now: datetime) -> Challenge | None:
        challenge = self._sent(each)
        if challenge is None or challenge.id in self.used or self.missed[challenge.id] >= challenge.attempts_left:
            return None
        if comes_back(challenge, each.digests, PROVES, now):
            return challenge
        self.missed[challenge.id] += 1
        if self.missed[challenge.id] == challenge.attempts_left and challenge.identity:
            self.guessed[challenge.identity] = each.caller
        return None


@command()
async def finish(tx: PeopleTx, finishings: Sequence[Finishing]) -> list[Attempt]:
    """A code or a link came back: its address is proved. A wrong one is remembered, so it commits too."""
    proofs = Proofs(
        await challenges.lock_codes(tx, [each.challenge for each in finishings if each.challenge]),
        await challenges.lock_links(tx, [each.digests[0] for each in finishings if not each.challenge]),
    )
    accounts = await people.find_accounts(tx, proofs.emails)
    proved = proofs.proved(finishings, tx.now)
    found = {email: accounts[email] for email in proved if email in accounts}
    await people.hold(tx, [each.identity for each in found.values()], proved)
    await people.lock_passwords(tx, [each.identity for each in found.values() if not each.email_verified_at])
    entering = Entering(tx, dict(accounts))
    outcomes: list[Attempt | None] = []
    for each in finishings:
        challenge = proofs.proves(each, tx.now)
        if challenge is None:
            outcomes.append(Attempt(lacking=Lacking.PROOF))
        elif not await entering.second_factor(accounts.get(challenge.prepared.email), each):
            if each.second_factor:
                proofs.missed[challenge.id] += 1  # Who guesses those is told of where they are counted.
            outcomes.append(Attempt(lacking=Lacking.SECOND_FACTOR))
        else:
            proofs.used.add(challenge.id)
            method = Method.CODE if each.challenge else Method.LINK
            entering.admit(Admitted(each.caller, challenge.prepared, method, each.device))
            outcomes.append(None)
    await challenges.use(tx, sorted(proofs.used))
    await challenges.miss(tx, sorted(proofs.missed.items()))
    for identity, caller in proofs.guessed.items():
        tx.publish(caller, SecurityAlert(identity_id=identity, alarm=Alarm.CODE_GUESSED))
    signed_in = iter(await entering.enter())
    return [next(signed_in) if outcome is None else outcome for outcome in outcomes]


class Admitted(msgspec.Struct, frozen=True):
    """Somebody who proved an address."""

    caller: Caller
    prepared: Prepared
    method: Method
    device: Device

    @property
    def email(self) -> str:
        return self.prepared.email


@dataclass
class Entering:
    """Those who proved an address: found or made, verified, and let in. Whoever was found is held by the caller."""

    tx: PeopleTx
    accounts: dict[str, Account]
    admitted: list[Admitted] = field(default_factory=list)

    async def second_factor(self, account: Account | None, each: Finishing) -> bool:
        if account is None or not account.has_second_factor:
            return True
        shown = each.second_factor
        return shown is not None and (await factors.accept(self.tx, [(each.caller, account.identity, shown)]))[0]

    def admit(self, each: Admitted) -> None:
        self.admitted.append(each)

    async def enter(self) -> list[Attempt]:
        """All at once, in the order in which they came."""
        tx = self.tx
        by_email = {each.email: each.caller for each in self.admitted}
        found = {email: self.accounts[email].identity for email in by_email if email in self.accounts}
        await people.rehash(tx, IdentityType.USER, found)
        new = await self._create()
        verified = await people.verify(
            tx, [self.accounts[email].identity for email in by_email if not self.accounts[email].email_verified_at]
        )
        await self._take_over(set(verified))
        for email, caller in by_email.items():
            if self.accounts[email].identity in (*verified, *new.values()):
                tx.publish(caller, IdentityVerified(identity_id=self.accounts[email].identity))
        await claim(tx, {email: (self.accounts[email].identity, caller) for email, caller in by_email.items()})
        opened = await open_sessions(
            tx, [Opening(self.accounts[each.email].identity, each.method, tx.now) for each in self.admitted]
        )
        known = [each for each in self.admitted if each.email not in new]
        await tell_of_new_devices(tx, [(each.caller, found[each.email], each.device) for each in known])
        return [
            Attempt(own, is_new=each.email in new, email=each.email)
            for own, each in zip(opened, self.admitted, strict=True)
        ]

    async def _take_over(self, verified: Collection[IdentityId]) -> None:
        """Whoever was there before the address was proved need not be whoever proved it: what they set goes."""
        chosen = {
            self.accounts[each.email].identity: each.prepared.password_hash
            for each in reversed(self.admitted)
            if each.prepared.password_hash and self.accounts[each.email].identity in verified
        }
        await people.remove_passwords(self.tx, [each for each in verified if each not in chosen])
        await people.put_passwords(self.tx, chosen)
        await apple.unlink(self.tx, list(verified))
        await end_sessions_of(self.tx, [each.uuid for each in verified], EndReason.BY_OWNER)

    async def _create(self) -> dict[str, IdentityId]:
        """Those who have no account yet; of two at once with one address the first one's words count."""
        tx = self.tx
        missing: dict[str, tuple[Caller, Prepared]] = {}
        for each in self.admitted:
            if each.email not in self.accounts:
                missing.setdefault(each.email, (each.caller, each.prepared))
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
    identities = [each.identity for each in sign_ins]
    profiles = await people.list_profiles(tx, identities)
    await people.hold(tx, profiles, {each.email for each in profiles.values()})
    passwords = await people.lock_passwords(tx, identities)
    known = await people.find_people(tx, identities)
    enrolled = await factors.enrolled(tx, identities)
    outcomes: list[Attempt | None] = []
    admitted: list[PasswordSignIn] = []
    for each in sign_ins:
        if passwords.get(each.identity) != each.password_hash or each.identity not in profiles:
            outcomes.append(Attempt(lacking=Lacking.PROOF))
        elif each.identity in enrolled and not (
            each.second_factor and (await factors.accept(tx, [(each.caller, each.identity, each.second_factor)]))[0]
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
    await tell_of_new_devices(tx, [(each.caller, each.identity, each.device) for each in admitted])
    signed_in = iter(
        Attempt(own, email=profiles[each.identity].email) for own, each in zip(opened, admitted, strict=True)
    )
    return [next(signed_in) if outcome is None else outcome for outcome in outcomes]


async def tell_of_new_devices(tx: PeopleTx, sign_ins: Sequence[tuple[Caller, IdentityId, Device]]) -> None:
    """To whom it may be news that they signed in."""
    profiles = await people.list_profiles(tx, [identity for _, identity, _ in sign_ins])
    letters = []
    for caller, identity, device in sign_ins:
        profile = profiles[identity]
        if not is_known_device(device.cookie, profile.email):
            tx.publish(caller, SecurityAlert(identity_id=identity, alarm=Alarm.NEW_DEVICE))
            values: dict[str, str | int] = {"device": device.agent}
            letters.append(Letter(caller, profile.email, Template.NEW_SIGN_IN, profile.language, values))
    await post(tx.platform, letters)
