"""Somebody confirms that they were there: a booking needs no code (ENT-013).

Promise: only the owner, only of a booking whose policy lets in by hand; everything else is decided, kept and told as at
any door.
"""

from collections.abc import Sequence

import msgspec

from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.errors import EntitlementNotFound, PresenceNotConfirmable
from admitone.entitlements.model import Entitlement, EntitlementId, Place, Scan, Verdict
from admitone.entitlements.policy import may_confirm
from admitone.entitlements.store import entitlements as store
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller


class Attendance(msgspec.Struct, frozen=True):
    caller: Caller
    entitlement: EntitlementId
    owner: IdentityId


@command()
async def attend(tx: Tx, attendances: Sequence[Attendance]) -> list[Verdict | Refusal]:
    """As the door says, or why nobody asked it."""
    standing = await store.lock_entitlements(tx, attendances, lambda each: each.entitlement)
    refusals = [_why_not(standing.get(each.entitlement), each.owner) for each in attendances]
    asking = [each for each, refused in zip(attendances, refusals, strict=True) if refused is None]
    verdicts = iter(await consume(tx, [_scan(each, standing[each.entitlement]) for each in asking]) if asking else ())
    return [refused or next(verdicts) for refused in refusals]


def _why_not(entitlement: Entitlement | None, owner: IdentityId) -> Refusal | None:
    if entitlement is None or entitlement.owner != owner:
        return EntitlementNotFound()
    return None if may_confirm(entitlement) else PresenceNotConfirmable()


def _scan(attendance: Attendance, entitlement: Entitlement) -> Scan:
    place = Place(entitlement.event_id or "", entitlement.session_id)
    return Scan(attendance.caller, place, entitlement=entitlement.id)
