"""Authority: who is calling, for which organisation, and may they? One coalesced read for all who arrived together.

Promise: credentials, permissions, gates and limits of a call are resolved by one read that is never cached, so a
revoked key is dead at once; what cannot be resolved is refused. The tables behind it belong to a package above
(`Authority` is its port); limits and bans are weighed here, in one statement. They speak before the credential does: a
caller who guesses too often learns nothing more. Whoever is not asked (what is public, uncounted and ungated) is not
weighed either: a ban closes doors, not the shop window.
"""

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol
from uuid import UUID

import msgspec

from admitone.kernel import limits
from admitone.kernel.batch import Batcher
from admitone.kernel.commands import Command
from admitone.kernel.db import PlatformTx
from admitone.kernel.errors import Forbidden, Refusal, Throttled
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.limits import Hit, Limit, Per, by_address, by_device, by_identity, by_organization
from admitone.kernel.scope import Caller, PlatformScope, Role


class Audience(StrEnum):
    """For whom a contract is."""

    PUBLIC = "public"
    PERSON = "person"
    ORGANIZATION = "organization"
    ADMIN = "admin"
    INTERNAL = "internal"


class PermissionDenied(Forbidden):
    """You do not have the permission that this needs."""

    code = "PERMISSION_DENIED"
    audited = True
    permission: str


class FeatureDisabled(Forbidden):
    """This feature is switched off."""

    code = "FEATURE_DISABLED"


class Stopped(Forbidden):
    """This is stopped for now."""

    code = "STOPPED"


class EmailNotConfirmed(Forbidden):
    """Confirm your e-mail address first."""

    code = "EMAIL_NOT_CONFIRMED"
    next_step = "Ask for a code at /api/auth/send-otp and confirm it."


class SubjectBanned(Forbidden):
    """This is closed to you for now."""

    code = "SUBJECT_BANNED"


class Ask(msgspec.Struct, frozen=True):
    """What one call needs to know before it may go on."""

    audience: Audience
    credential: str | None
    organization: OrganizationId | None
    permission: str | None
    gate: str | None
    caller: Caller
    limits: tuple[Limit, ...] = ()
    hits: tuple[Hit, ...] = ()
    """Limits whose subject, or the rest of it, stands in the request itself."""
    stoppable: bool = False
    """Whether it is new business, which a kill switch stops: the platform's, the organisation's, the person's."""
    guards: tuple[str, ...] = ()
    """What else in the request has a switch of its own."""
    verified_only: bool = False
    step_up: bool = False

    @property
    def trivial(self) -> bool:
        """Whether anybody may go on, unseen."""
        asks_nothing = not (self.credential or self.gate or self.limits or self.hits or self.stoppable)
        return self.audience is Audience.PUBLIC and asks_nothing


class Granted(msgspec.Struct, frozen=True):
    """Who it is, and for which organisation it may go on."""

    identity: IdentityId | None = None
    """The person; or the program or device that acts in its own name."""
    organization: OrganizationId | None = None
    credential: UUID | None = None
    """By which session or key it was known."""
    device: str | None = None
    """A device that proved which one it is; others only say so."""


class Authority(Protocol):
    """The port: answers every ask from its tables, in the order of the asks, in a fixed number of statements."""

    async def resolve(self, tx: PlatformTx, asks: Sequence[Ask]) -> Sequence[Granted | Refusal]: ...


class AuthorityReader:
    """Asks the authority, for all callers that arrived together at once."""

    _SCOPE = PlatformScope("resolve authority of arriving calls", Role.AUTHORITY)

    def __init__(self, batcher: Batcher, authority: Authority) -> None:
        self._batcher = batcher
        self._authority = authority
        self._resolve: Command[PlatformTx, Ask, Granted] = Command(self._resolve_many, name="kernel.resolve_authority")
        self._count: Command[PlatformTx, Hit, bool] = Command(_count_many, name="kernel.count_hits")

    async def ask(self, ask: Ask) -> Granted:
        if ask.trivial:
            return Granted()
        return (await self._batcher.submit(self._resolve, self._SCOPE, ask)).outcome

    async def count(self, *hits: Hit) -> None:
        """Count hits outside a contract's own limits; of those that are exceeded the one that lasts is raised."""
        submitted = (self._batcher.submit(self._count, self._SCOPE, hit) for hit in hits)
        counted = await asyncio.gather(*submitted, return_exceptions=True)
        for failure in counted:
            if isinstance(failure, BaseException) and not isinstance(failure, Throttled):
                raise failure
        if throttled := [each for each in counted if isinstance(each, Throttled)]:
            raise _longest(throttled)

    async def _resolve_many(self, tx: PlatformTx, asks: Sequence[Ask]) -> Sequence[Granted | Refusal]:
        granted = await self._authority.resolve(tx, asks)
        subjects = [Subjects.of(ask, grant) for ask, grant in zip(asks, granted, strict=True)]
        hits = [_hits(ask, known) for ask, known in zip(asks, subjects, strict=True)]
        everybody = {each for some in subjects for each in some.known}
        counted, banned = await limits.weigh(tx, [hit for some in hits for hit in some], everybody)
        verdicts = iter(counted)
        answers: list[Granted | Refusal] = []
        for grant, known, some in zip(granted, subjects, hits, strict=True):
            throttled = [verdict for verdict in (next(verdicts) for _ in some) if verdict]
            if banned and not banned.isdisjoint(known.known):
                answers.append(SubjectBanned())
            else:
                answers.append(_longest(throttled) if throttled else grant)
        return answers


def _longest(throttled: Sequence[Throttled]) -> Throttled:
    """Of several limits the one that lasts: to come back before it ends would be in vain."""
    return max(throttled, key=lambda verdict: verdict.retry_after_seconds)


async def _count_many(tx: PlatformTx, hits: Sequence[Hit]) -> Sequence[bool | Refusal]:
    return [verdict or True for verdict in await limits.count(tx, hits)]


class Subjects(msgspec.Struct, frozen=True):
    """What we ourselves know about a caller, each under the name of its `Per`."""

    address: str
    identity: str | None = None
    organization: str | None = None
    device: str | None = None

    @classmethod
    def of(cls, ask: Ask, grant: Granted | Refusal) -> "Subjects":
        """Of one who is refused we know the address: anything else is a claim."""
        address = by_address(ask.caller.address)
        if isinstance(grant, Refusal):
            return cls(address)
        device = grant.device or ask.caller.device
        return cls(
            address,
            by_identity(grant.identity) if grant.identity else None,
            by_organization(grant.organization) if grant.organization else None,
            by_device(grant.organization or grant.identity or address, device) if device else None,
        )

    def counted(self, per: Per) -> str:
        """Whoever is refused, or leaves his subject out, is counted by his address: a stranger cannot use up what
        belongs to a member, and saying less lifts no limit."""
        known: str | None = getattr(self, per)
        return known or self.address

    @property
    def known(self) -> tuple[str, ...]:
        every = (self.address, self.identity, self.organization, self.device)
        return tuple(each for each in every if each)


def _hits(ask: Ask, subjects: Subjects) -> list[Hit]:
    """What to count."""
    own = [Hit(limit, subjects.counted(limit.per)) for limit in ask.limits]
    return own + [_completed(hit, subjects) for hit in ask.hits]


def _completed(hit: Hit, subjects: Subjects) -> Hit:
    if hit.limit.per is Per.REQUEST:
        return hit
    return Hit(hit.limit, f"{subjects.counted(Per.IDENTITY)}\0{hit.subject}")
