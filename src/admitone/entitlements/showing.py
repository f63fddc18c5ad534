"""Showing a code to whoever owns the right.

Promise (ENT-009): whoever asks is shown the code that is good now, and told when to ask for the next. An open wallet
asks often, and mostly there is nothing to do but to look.
"""

from datetime import datetime
from typing import Final

import msgspec

from admitone.entitlements.codes import code_of
from admitone.entitlements.commands.renewing import Renewal, renew
from admitone.entitlements.model import Entitlement
from admitone.entitlements.port import KINDS
from admitone.entitlements.queries import find_shown
from admitone.kernel.contracts import Call
from admitone.kernel.scope import Scope

WHY: Final = "show its owner a code"


class Shown(msgspec.Struct, frozen=True):
    payload: str
    """What the QR says."""
    refresh_at: datetime
    """There is another from then on, and both are good until this one ends."""
    valid_until: datetime


async def show(call: Call, right: Entitlement) -> Shown:
    """The code of a right that the caller owns, or has been proved to stand for."""
    scope, overlap = Scope(right.organization, WHY), KINDS()[right.kind].overlap
    token = await call.read(find_shown, right.id, right.owner, scope=scope)
    if token is None:
        token = await call.batch(renew, Renewal(right.id, overlap, right.owner), scope=scope)
    payload = code_of(right.id, token.epoch, token.key_version)
    assert payload is not None, "it was chosen among those whose key is there"
    return Shown(payload, token.valid_until - overlap, token.valid_until)
