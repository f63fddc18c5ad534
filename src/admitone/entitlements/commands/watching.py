"""Scanners that are shown too much that is refused (SAF-016).

Promise: of one device at one event, from its thirtieth scan within ten minutes on, a tenth refused is told once in ten
minutes, and a fifth closes it, and no other. Whoever opens it again begins anew: what it was shown before is forgiven.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from admitone.entitlements import policy
from admitone.entitlements.facts import CheckinAnomaly, ScannerOpened
from admitone.entitlements.model import Scan, Tally
from admitone.entitlements.policy import Alarm
from admitone.entitlements.store import scanners
from admitone.entitlements.store.scanners import Remembered, Scanner, Shown
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller


async def watch(tx: Tx, scans: Sequence[Scan], tallies: Sequence[Tally], known: Mapping[Scanner, Remembered]) -> None:
    """What these add to the counts, before they are counted; looked at only where something was refused."""
    fresh: dict[Scanner, Shown] = {}
    for each in tallies:
        own = (each.event_id, each.device)
        fresh[own] = fresh.get(own, Shown()) + Shown.of(each)
    doubtful = {own for own, shown in fresh.items() if shown.refused and own[1]}
    before = await scanners.sum_recent(tx, {own: since(tx.now, known.get(own)) for own in doubtful})
    callers = {each.place.scanner: each.caller for each in scans}
    for own in sorted(doubtful):
        shown = before.get(own, Shown()) + fresh[own]
        if alarm := policy.alarm(shown.scans, shown.refused):
            await _sound(tx, callers[own], own, shown, alarm)


def since(now: datetime, known: Remembered | None) -> datetime:
    """From when on a scanner is judged."""
    began = now - policy.WATCHED
    return max(began, known.opened_at) if known and known.opened_at else began


async def _sound(tx: Tx, caller: Caller, scanner: Scanner, shown: Shown, alarm: Alarm) -> None:
    # Asked of the row, and not of what the counts were a moment ago: of two at once, neither would see the step.
    is_new = (
        await scanners.close(tx, scanner)
        if alarm is Alarm.CLOSE
        else await scanners.warn(tx, scanner, tx.now - policy.WATCHED)
    )
    if not is_new:
        return
    event, device = scanner
    tx.publish(
        caller,
        CheckinAnomaly(
            event_id=event,
            device=device,
            scans=shown.scans,
            refused=shown.refused,
            reason_code=alarm.value,
            closes_scanner=alarm is Alarm.CLOSE,
        ),
    )


class Opening(msgspec.Struct, frozen=True):
    """Somebody answers for a scanner that was closed."""

    caller: Caller
    event_id: str
    device: str
    reason_code: str


@command()
async def open_scanners(tx: Tx, openings: Sequence[Opening]) -> list[bool | Refusal]:
    """Whether each was closed until then; what is open stays open."""
    opened: list[bool | Refusal] = []
    for each in openings:
        was_closed = await scanners.reopen(tx, (each.event_id, each.device))
        opened.append(was_closed)
        if was_closed:
            subject = f"{each.event_id}:{each.device}"
            await audit.record(tx, [audit.Entry(each.caller, "entitlements.open_scanner", subject, each.reason_code)])
            tx.publish(
                each.caller,
                ScannerOpened(event_id=each.event_id, device=each.device, reason_code=each.reason_code),
            )
    return opened
