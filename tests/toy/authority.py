"""The toy's credentials, permissions and gates, as the kernel's authority port asks for them."""

from collections.abc import Sequence
from uuid import UUID

from admitone.kernel.authority import Ask, Audience, FeatureDisabled, Granted, PermissionDenied
from admitone.kernel.crypto import digest_of
from admitone.kernel.db import PlatformTx, Record
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.kernel.ids import IdentityId, OrganizationId
from tests.toy import store


class ToyAuthority:
    async def resolve(self, tx: PlatformTx, asks: Sequence[Ask]) -> list[Granted | Refusal]:
        digests = {ask.credential: digest_of(ask.credential) for ask in asks if ask.credential}
        found = await store.find_credentials(tx, list(digests.values()))
        gates = await store.find_gates(tx, sorted({ask.gate for ask in asks if ask.gate}))
        return [decide(ask, found.get(digests.get(ask.credential or "", b"")), gates) for ask in asks]


def decide(ask: Ask, credential: Record | None, open_gates: set[str]) -> Granted | Refusal:
    """The first reason to refuse, in the order a caller should hear it."""
    if ask.credential and credential is None:
        return Unauthenticated()
    if ask.audience not in (Audience.PUBLIC, Audience.INTERNAL) and credential is None:
        return Unauthenticated()
    if ask.gate and ask.gate not in open_gates:
        return FeatureDisabled()
    if ask.permission and not (credential and allows(ask, credential)):
        return PermissionDenied(permission=ask.permission).to(person(credential))
    return Granted(person(credential), ask.organization)


def allows(ask: Ask, credential: Record) -> bool:
    at_home = ask.organization == OrganizationId(UUID(bytes=credential["organization_id"].bytes))
    return at_home and ask.permission in credential["permissions"]


def person(credential: Record | None) -> IdentityId | None:
    return IdentityId(credential["identity_id"]) if credential else None


class NobodyKnown:
    """The authority of an installation without people: everybody may see what is public, nobody is anybody."""

    async def resolve(self, tx: PlatformTx, asks: Sequence[Ask]) -> list[Granted | Refusal]:
        return [decide(ask, None, set()) for ask in asks]
