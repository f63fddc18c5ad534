"""The authority read: the kernel's port, answered from our tables.

Promise: one statement resolves the credentials and memberships of all who arrived together, a second one the switches
that some of them need; nothing is remembered.
"""

from collections.abc import Sequence
from uuid import UUID

from admitone.foundation.authority import policy
from admitone.foundation.authority.store import reading
from admitone.kernel.authority import Ask, Audience, Granted
from admitone.kernel.crypto import digest_of
from admitone.kernel.db import PlatformTx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION


class TableAuthority:
    """Implements `kernel.authority.Authority`."""

    async def resolve(self, tx: PlatformTx, asks: Sequence[Ask]) -> Sequence[Granted | Refusal]:
        pairs = [_pair(ask) for ask in asks]
        known = await reading.resolve(tx, [*{pair for pair in pairs if pair}])
        on = await reading.find_switches(tx, {each for ask in asks for each in policy.switches_of(ask)})
        return [
            policy.decide(ask, known.get(pair) if pair else None, on, tx.now)
            for ask, pair in zip(asks, pairs, strict=True)
        ]


def _pair(ask: Ask) -> tuple[bytes, UUID | None] | None:
    """Which credential, and where it must count."""
    if ask.credential is None:
        return None
    where = PLATFORM_ORGANIZATION if ask.audience is Audience.ADMIN else ask.organization
    return digest_of(ask.credential), where.uuid if where else None
