"""What others may ask authority, without changing anything."""

from collections.abc import Iterable
from typing import Final

from admitone.foundation.authority.policy import scopes_of, stop_of
from admitone.foundation.authority.store import reading
from admitone.kernel.db import PlatformTx, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.scope import PlatformScope, Role

READING: Final = PlatformScope("read what authority knows", Role.AUTHORITY)


async def find_stops(tx: PlatformTx, guards: Iterable[str]) -> frozenset[str]:
    """Those of the guards (`event:evt_…`, `organization:org_…`) that are stopped."""
    by_key = {stop_of(guard): guard for guard in guards}
    on = await reading.find_switches(tx, [(PLATFORM_ORGANIZATION.uuid, key) for key in by_key])
    return frozenset(by_key[key] for _, key in on)


async def find_stopped(tx: Tx, guards: Iterable[str]) -> frozenset[str]:
    """The same, for whoever is about to sell, in the organisation's own transaction."""
    by_key = {stop_of(guard): guard for guard in sorted(guards)}
    return frozenset(by_key[key] for key in await reading.find_stopped(tx, [*by_key]))


async def find_scopes(tx: PlatformTx, organization: OrganizationId, identity: IdentityId) -> frozenset[str]:
    """What somebody may there, modules apart. A key is no member, so it has nothing to give away."""
    membership = await reading.find_membership(tx, organization.uuid, identity.uuid)
    return scopes_of(membership) if membership else frozenset()
