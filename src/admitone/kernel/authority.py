"""Authority: who is calling, for which organisation, and may they? One coalesced read for all who arrived together.

Promise: credentials, permissions, gates and limits of a call are resolved by one read that is never cached, so a
revoked key is dead at once; what cannot be resolved is refused. The tables behind it belong to a package above
(`Authority` is its port); the limits are counted here. They speak before the credential does: a caller who guesses
too often learns nothing more.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from admitone.kernel import limits
from admitone.kernel.batch import Batcher
from admitone.kernel.commands import Command
from admitone.kernel.db import PlatformTx
from admitone.kernel.errors import Forbidden, Refusal, Unauthenticated
from admitone.kernel.ids import IdentityId, OrganizationId
from admitone.kernel.limits import Hit, Limit, Per, by_address
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
    """Limits whose subject stands in the request itself."""

    @property
    def trivial(self) -> bool:
        """Whether anybody may go on, unseen."""
        return self.audience is Audience.PUBLIC and not (self.credential or self.gate or self.limits or self.hits)


class Granted(msgspec.Struct, frozen=True):
    """Who it is, and for which organisation it may go on."""

    identity: IdentityId | None = None
    organization: OrganizationId | None = None


class Authority(Protocol):
    """The port: answers every ask from its tables, in the order of the asks, in a fixed number of statements."""

    async def resolve(self, tx: PlatformTx, asks: Sequence[Ask]) -> Sequence[Granted | Refusal]: ...


class NobodyKnown:
    """The authority of an installation without people: everybody may see what is public, nobody is anybody."""

    async def resolve(self, tx: PlatformTx, asks: Sequence[Ask]) -> Sequence[Granted | Refusal]:  # noqa: ARG002
        return [_as_stranger(ask) for ask in asks]


def _as_stranger(ask: Ask) -> Granted | Refusal:
    if ask.credential or ask.audience not in (Audience.PUBLIC, Audience.INTERNAL):
        return Unauthenticated()
    return FeatureDisabled() if ask.gate else Granted()


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

    async def within(self, hit: Hit) -> bool:
        """Count one hit outside a call's own limits; whether it is within."""
        return (await self._batcher.submit(self._count, self._SCOPE, hit)).outcome

    async def _resolve_many(self, tx: PlatformTx, asks: Sequence[Ask]) -> Sequence[Granted | Refusal]:
        granted = await self._authority.resolve(tx, asks)
        hits = [_hits(ask, grant) for ask, grant in zip(asks, granted, strict=True)]
        verdicts = iter(await limits.count(tx, [hit for some in hits for hit in some]))
        answers: list[Granted | Refusal] = []
        for grant, some in zip(granted, hits, strict=True):
            throttled = [verdict for verdict in (next(verdicts) for _ in some) if verdict]
            answers.append(throttled[0] if throttled else grant)
        return answers


async def _count_many(tx: PlatformTx, hits: Sequence[Hit]) -> Sequence[bool]:
    return [verdict is None for verdict in await limits.count(tx, hits)]


def _hits(ask: Ask, grant: Granted | Refusal) -> list[Hit]:
    """What to count: the subjects we know of. An unknown credential still has an address."""
    address = by_address(ask.caller.address)
    subjects = _known(ask, grant) if isinstance(grant, Granted) else {}
    # Whoever is refused, or leaves his subject out, is counted by his address: a stranger cannot use up what belongs to
    # a member, and saying less lifts no limit.
    own = [Hit(limit, subjects.get(limit.per, address)) for limit in ask.limits]
    return [*own, *ask.hits]


def _known(ask: Ask, grant: Granted) -> dict[Per, str]:
    """What we ourselves know about the caller. A device is one of its organisation, or of its person."""
    subjects = {}
    if grant.identity:
        subjects[Per.IDENTITY] = f"{Per.IDENTITY}:{grant.identity}"
    if grant.organization:
        subjects[Per.ORGANIZATION] = f"{Per.ORGANIZATION}:{grant.organization}"
    if ask.caller.device:
        owner = grant.organization or grant.identity or by_address(ask.caller.address)
        subjects[Per.DEVICE] = f"{Per.DEVICE}:{owner}:{ask.caller.device}"
    return subjects
