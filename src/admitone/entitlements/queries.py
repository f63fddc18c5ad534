"""What is asked of rights without changing them."""

from admitone.entitlements.model import EntitlementId, Status, Token
from admitone.entitlements.policy import code_to_show, seen_as
from admitone.entitlements.port import KINDS
from admitone.entitlements.store.entitlements import find_entitlements
from admitone.entitlements.store.tokens import list_live
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId


async def find_shown(tx: Tx, own: EntitlementId, owner: IdentityId) -> Token | None:
    """The code that its owner is shown; none, if there is no such right, or it is time for the next (`renew`)."""
    entitlement = (await find_entitlements(tx, [own])).get(own)
    if entitlement is None or entitlement.owner != owner or seen_as(entitlement, tx.now) is not Status.ACTIVE:
        return None
    tokens = (await list_live(tx, [own], tx.now))[own]
    return code_to_show(tokens, KEYRING().versions, KINDS()[entitlement.kind].overlap, tx.now)
