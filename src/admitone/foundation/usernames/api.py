"""The door: claim names, release them, and say whose they are.

Promise: every username is written here and nowhere else (IDN-033). What an organisation claims or releases is its
own, by its transaction's scope, and the database holds it to that. The claims of one call are decided in their order,
as if each came alone; of many that come at the same time one wins, and the others are told that the name is taken.
A claim comes after its command has locked its own rows (`docs/flows/locking.md`).
"""

from collections.abc import Sequence

from admitone.foundation.usernames import policy, store
from admitone.foundation.usernames.errors import (
    UsernameCooldown,
    UsernameInvalid,
    UsernameNotFound,
    UsernameTaken,
)
from admitone.foundation.usernames.facts import claimed_by, released_by
from admitone.foundation.usernames.model import Claim, Claimed, OwnerType, PersonalClaim, PersonalRelease, Resolved
from admitone.kernel.db import PeopleTx, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller

__all__ = [
    "Claim",
    "Claimed",
    "OwnerType",
    "PersonalClaim",
    "PersonalRelease",
    "Resolved",
    "UsernameCooldown",
    "UsernameInvalid",
    "UsernameNotFound",
    "UsernameTaken",
    "claim_for_organization",
    "claim_for_people",
    "find_names",
    "find_own",
    "release_of_organization",
    "release_of_people",
    "resolve",
]

find_own, find_names = store.find_own, store.find_names


async def claim_for_organization(tx: Tx, claims: Sequence[Claim]) -> list[Claimed | Refusal]:
    """Let the organisation of the transaction go by these names: the last that it gets stays."""
    names = [policy.canonical(claim.text) for claim in claims]
    verdicts = await store.claim_for_organization(tx, [name for name in names if isinstance(name, str)])
    outcomes = policy.answers(names, verdicts, tx.now)
    for claim, outcome in zip(claims, outcomes, strict=True):
        if isinstance(outcome, Claimed) and outcome.is_new:
            tx.publish(claim.caller, claimed_by(tx.scope.organization))
    return outcomes


async def claim_for_people(tx: PeopleTx, claims: Sequence[PersonalClaim]) -> list[Claimed | Refusal]:
    """Let people go by these names; of one person's, the last that they get stays."""
    names = [policy.canonical(claim.text) for claim in claims]
    asked = [(claim.person, name) for claim, name in zip(claims, names, strict=True) if isinstance(name, str)]
    outcomes = policy.answers(names, await store.claim_for_people(tx, asked), tx.now)
    for claim, outcome in zip(claims, outcomes, strict=True):
        if isinstance(outcome, Claimed) and outcome.is_new:
            tx.publish(claim.caller, claimed_by(claim.person))
    return outcomes


async def release_of_organization(tx: Tx, caller: Caller) -> bool:
    """Let the organisation of the transaction go by no name; whether it had one."""
    had_one = await store.release_of_organization(tx)
    if had_one:
        tx.publish(caller, released_by(tx.scope.organization))
    return had_one


async def release_of_people(tx: PeopleTx, releases: Sequence[PersonalRelease]) -> list[bool]:
    """Let people go by no name; for each, whether they had one until then."""
    left = await store.release_of_people(tx, [release.person for release in releases])
    had_one = []
    for release in releases:
        had_one.append(release.person in left)
        if release.person in left:
            left.remove(release.person)
            tx.publish(release.caller, released_by(release.person))
    return had_one


async def resolve(tx: PeopleTx, texts: Sequence[str]) -> list[Resolved | None]:
    """Whose the names are that the texts mean; nothing for a name that nobody has, or could have."""
    names = [policy.normalise(text) for text in texts]
    found = await store.resolve(tx, names)
    return [found.get(name) for name in names]
