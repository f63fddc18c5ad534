"""What owners see of their rights, without anything changing."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.entitlements.model import Entitlement, EntitlementId, Status, Token
from admitone.entitlements.policy import code_to_show, seen_as
from admitone.entitlements.port import KINDS
from admitone.entitlements.store import wallets
from admitone.entitlements.store.entitlements import find_entitlements
from admitone.entitlements.store.tokens import list_live
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import IdentityTx, Tx
from admitone.kernel.ids import IdentityId

Place = tuple[datetime, UUID]
"""In a section: by the end of its time."""


class Section(StrEnum):
    """Of a wallet, split by the end of what one may do (EVT-005)."""

    ACTIVE = "ACTIVE"
    HISTORY = "HISTORY"


BEGINNING: Final[dict[Section, Place]] = {
    Section.ACTIVE: (datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0)),
    Section.HISTORY: (datetime(9000, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1)),
}


async def list_wallet(tx: IdentityTx, section: Section, after: Place | None, limit: int) -> list[Entitlement]:
    """As their owner sees them: what is to come by its end, what was from the latest on."""
    rows = wallets.list_coming if section is Section.ACTIVE else wallets.list_past
    return [_seen(each, tx.now) for each in await rows(tx, after or BEGINNING[section], limit)]


async def find_own(tx: IdentityTx, own: EntitlementId) -> Entitlement | None:
    found = await wallets.find_own(tx, own)
    return _seen(found, tx.now) if found else None


async def find_shown(tx: Tx, own: EntitlementId, owner: IdentityId) -> Token | None:
    """The code that its owner is shown; none, if there is no such right, or it is time for the next (`renew`)."""
    entitlement = (await find_entitlements(tx, [own])).get(own)
    if entitlement is None or entitlement.owner != owner or seen_as(entitlement, tx.now) is not Status.ACTIVE:
        return None
    # Whoever passes it on meanwhile is not shown what was made for the next owner.
    tokens = [each for each in (await list_live(tx, [own], tx.now))[own] if each.epoch <= entitlement.epoch]
    return code_to_show(tokens, KEYRING().versions, KINDS()[entitlement.kind].overlap, tx.now)


def _seen(entitlement: Entitlement, now: datetime) -> Entitlement:
    return msgspec.structs.replace(entitlement, status=seen_as(entitlement, now))
