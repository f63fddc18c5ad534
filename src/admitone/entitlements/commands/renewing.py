"""The next code of a right.

Promise (ENT-009): a code that is about to end has a successor, whose digest is stored before anybody is shown it; the
one before stays good until its own end, so that nobody who stands at a door is shut out by the change. Only what is
ACTIVE, and not over, has a next code. Nothing else of the right changes: no line of its trail, no fact, no version.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec

from admitone.entitlements.codes import new_token
from admitone.entitlements.errors import EntitlementNotActive, EntitlementNotFound
from admitone.entitlements.model import Entitlement, EntitlementId, Status, Token
from admitone.entitlements.policy import code_to_show, seen_as
from admitone.entitlements.port import KINDS
from admitone.entitlements.store import entitlements as store
from admitone.entitlements.store import tokens as token_store
from admitone.kernel.commands import command
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId

AHEAD: Final = timedelta(hours=2)
"""As long as a device may use the list of codes that it fetched: what is stored so long before is on every list."""


class Renewal(msgspec.Struct, frozen=True):
    entitlement: EntitlementId
    spare: timedelta
    """It has a next code if none is good for longer than this."""
    owner: IdentityId | None = None
    """Whoever asks to see it; left out, nobody is going to."""


@command()
async def renew(tx: Tx, renewals: Sequence[Renewal]) -> list[Token | Refusal]:
    """Of each the code to show, a new one if it is time for one."""
    standing = await store.lock_entitlements(tx, renewals, lambda each: each.entitlement)
    tokens = await token_store.list_live(tx, standing, tx.now)
    fresh: dict[EntitlementId, Token] = {}
    outcomes: list[Token | Refusal] = []
    for each in renewals:
        entitlement = standing.get(each.entitlement)
        refused = _why_not(entitlement, each.owner, tx)
        if refused or entitlement is None:
            outcomes.append(refused or EntitlementNotFound())
            continue
        shown = code_to_show(tokens[entitlement.id], KEYRING().versions, each.spare, tx.now)
        if shown is None and entitlement.id not in fresh:
            next_epoch, kind = entitlement.epoch + 1, KINDS()[entitlement.kind]
            fresh[entitlement.id] = new_token(entitlement.id, next_epoch, kind, tx.now)
        outcomes.append(shown or fresh[entitlement.id])
    await store.write_epochs(tx, [*fresh.values()])
    await token_store.insert_tokens(tx, [*fresh.values()])
    return outcomes


def _why_not(entitlement: Entitlement | None, owner: IdentityId | None, tx: Tx) -> Refusal | None:
    if entitlement is None or owner not in (None, entitlement.owner):
        return EntitlementNotFound()
    status = seen_as(entitlement, tx.now)
    return None if status is Status.ACTIVE else EntitlementNotActive(status=status.value)
