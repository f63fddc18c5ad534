"""Step-up: somebody who is signed in proves once more that it is them (ORG-024).

Promise: whoever has an authenticator shows a code of it, and nothing less will do; others show their password or a code
that was sent to their address. What is proved counts for one session, for as long as the authority says.
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from admitone.foundation.authority import api as authority
from admitone.foundation.authority.api import Method
from admitone.foundation.identity.commands import factors
from admitone.foundation.identity.commands.answers import Answers
from admitone.foundation.identity.errors import IdentityNotFound
from admitone.foundation.identity.model import (
    ATTEMPTS,
    CODE_LASTS,
    Challenge,
    ChallengeId,
    Lacking,
    Prepared,
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


class StepUpCode(msgspec.Struct, frozen=True):
    """Send a code to somebody's own address."""

    caller: Caller
    identity: IdentityId
    challenge: ChallengeId
    code: str


class StepUp(msgspec.Struct, frozen=True):
    """What somebody shows in one session. A password matched this hash a moment ago."""

    caller: Caller
    identity: IdentityId
    session: UUID
    password_hash: str | None = None
    second_factor: str | None = None
    challenge: ChallengeId | None = None
    digests: tuple[bytes, ...] = ()


class Proved(msgspec.Struct, frozen=True):
    """What came of it. A wrong answer costs something, so it commits, and is no refusal."""

    lacking: Lacking | None = None


@command()
async def stored_password(tx: PeopleTx, identities: Sequence[IdentityId]) -> list[str | None]:
    """What a password is compared with, outside of any transaction."""
    stored = await people.lock_passwords(tx, identities)
    return [stored.get(each) for each in identities]


@command()
async def send_code(tx: PeopleTx, codes: Sequence[StepUpCode]) -> list[Started | Refusal]:
    profiles = await people.list_profiles(tx, [each.identity for each in codes])
    sent: dict[ChallengeId, Challenge] = {}
    letters = []
    for each in codes:
        profile = profiles.get(each.identity)
        if profile is None:
            continue
        sent[each.challenge] = Challenge(
            each.challenge,
            Purpose.STEP_UP,
            code_digest(each.challenge, each.code),
            each.identity,
            Prepared(profile.email, profile.language),
            ATTEMPTS,
            tx.now,
            tx.now + CODE_LASTS,
        )
        values: dict[str, str | int] = {"code": each.code, "minutes": int(CODE_LASTS.total_seconds() // 60)}
        letters.append(Letter(each.caller, profile.email, Template.STEP_UP_CODE, profile.language, values))
    await challenges.insert(tx, list(sent.values()))
    await post(tx.platform, letters)
    return [
        Started(each.challenge, sent[each.challenge].expires_at) if each.challenge in sent else IdentityNotFound()
        for each in codes
    ]


@command()
async def step_up(tx: PeopleTx, attempts: Sequence[StepUp]) -> list[Proved]:
    answers = await Answers.to(tx, Purpose.STEP_UP, attempts)
    passwords = await people.lock_passwords(tx, [each.identity for each in attempts])
    enrolled = await factors.enrolled(tx, [each.identity for each in attempts])
    proved: list[tuple[StepUp, Method | None]] = []
    outcomes = []
    for each in attempts:
        if each.identity in enrolled:
            shown = each.second_factor is not None
            right = shown and (await factors.accept(tx, [(each.caller, each.identity, each.second_factor or "")]))[0]
            method, lacking = None, Lacking.PROOF if shown else Lacking.SECOND_FACTOR
        elif each.password_hash is not None:
            right = passwords.get(each.identity) == each.password_hash
            method, lacking = Method.PASSWORD, Lacking.PROOF
        else:
            challenge = answers.right(each)
            if challenge:
                answers.use(challenge)
            right, method, lacking = challenge is not None, Method.CODE, Lacking.PROOF
        outcomes.append(Proved() if right else Proved(lacking))
        if right:
            proved.append((each, method))
    await answers.settle()
    await authority.step_up(tx, [each.session for each, _ in proved])
    await audit.record(
        tx.platform,
        [
            Entry(each.caller, "identity.step_up", str(each.identity), after={"by": method or "SECOND_FACTOR"})
            for each, method in proved
        ],
    )
    return outcomes
