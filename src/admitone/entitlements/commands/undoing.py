"""Taking back an entry.

Promise (ENT-024): the latest entry of a right can be taken back, once, within the time that its policy gives, for a
reason; the log keeps both. What is good for one use only stays used.
"""

from collections.abc import Sequence
from datetime import timedelta

import msgspec

from admitone.entitlements import policy
from admitone.entitlements.commands.checking_in import tallies_of
from admitone.entitlements.errors import CheckinNotFound, UndoRefused
from admitone.entitlements.facts import CheckinUndone, of_checkin
from admitone.entitlements.model import Checkin, CheckinId, Entitlement, EntitlementId
from admitone.entitlements.port import KINDS
from admitone.entitlements.store import doors
from admitone.entitlements.store import entitlements as store
from admitone.entitlements.store.doors import Entry
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller


class Undo(msgspec.Struct, frozen=True):
    caller: Caller
    checkin: CheckinId
    reason_code: str
    device: str = ""


@command()
async def undo(tx: Tx, undos: Sequence[Undo]) -> list[Checkin | Refusal]:
    """Each, or why not."""
    found = await doors.find_checkins(tx, [each.checkin for each in undos])
    entries = {own: row for own, row in found.items() if row.admitted and row.entitlement_id}
    about = [each for each in undos if each.checkin in entries]
    standing = await store.lock_entitlements(tx, about, lambda each: _whose(entries[each.checkin]))
    stand = await doors.list_standing(tx, standing)
    done: list[tuple[Caller, Checkin]] = []
    outcomes: list[Checkin | Refusal] = []
    for each in undos:
        entry = entries.get(each.checkin)
        if entry is None:
            outcomes.append(CheckinNotFound())
            continue
        own = _whose(entry)
        refused = _why_not(standing[own], stand[own], entry, tx)
        if refused:
            outcomes.append(refused)
            continue
        stand[own] = stand[own][:-1]
        standing[own] = policy.undone(standing[own], [one.at for one in stand[own]])
        row = _row(tx, each, entry)
        done.append((each.caller, row))
        outcomes.append(row)
    rows = [row for _, row in done]
    await doors.write_entries(tx, [standing[own] for own in {_whose(row) for row in rows}])
    await doors.insert_checkins(tx, rows)
    await doors.count(tx, tallies_of(rows))
    await audit.record(tx, [_audited(caller, row) for caller, row in done])
    for caller, row in done:
        tx.publish(caller, of_checkin(CheckinUndone, row, undoes=CheckinId(row.refers_to or row.id)))
    return outcomes


def _whose(row: Checkin) -> EntitlementId:
    assert row.entitlement_id is not None
    return EntitlementId(row.entitlement_id)


def _why_not(entitlement: Entitlement, stand: Sequence[Entry], entry: Checkin, tx: Tx) -> Refusal | None:
    if not stand or stand[-1].checkin != entry.id:
        return UndoRefused(reason="NOT_THE_LATEST")
    if KINDS()[entitlement.kind].single_use:
        return UndoRefused(reason="GOOD_FOR_ONE_USE")
    if tx.now > entry.recorded_at + timedelta(minutes=entitlement.undo_minutes):
        return UndoRefused(reason="TOO_LATE")
    return None


def _row(tx: Tx, undo: Undo, entry: Checkin) -> Checkin:
    return msgspec.structs.replace(
        entry,
        id=uuid7(),
        action="UNDO",
        admitted=False,
        reason_code=undo.reason_code,
        device=undo.device,
        scanner_id=undo.caller.actor.uuid if undo.caller.actor else None,
        at=tx.now,
        recorded_at=tx.now,
        refers_to=entry.id,
        lease_id=None,
        scan_key=None,
        correlation_id=undo.caller.correlation_id,
    )


def _audited(caller: Caller, row: Checkin) -> audit.Entry:
    return audit.Entry(caller, "entitlements.undo", str(_whose(row)), row.reason_code)
