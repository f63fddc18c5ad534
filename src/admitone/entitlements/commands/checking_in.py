"""The door: `Checkin.consume` (C03).

Promise: a right lets in as often as its policy says and never once more, whoever scans it at the same time (INV-I09);
every scan is kept, also what was refused, with what was known then; the same key gives the same answer (CF-12). What
the door is told, the log and the count of the minute commit together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from admitone.entitlements import policy
from admitone.entitlements.commands.watching import watch
from admitone.entitlements.errors import ScannerClosed
from admitone.entitlements.facts import CheckinConsumed, CheckinDenied, CheckinDuplicate, of_checkin
from admitone.entitlements.model import (
    CHECKIN_DUPLICATE,
    DUPLICATES,
    Checkin,
    CheckinId,
    Duplicate,
    Entitlement,
    EntitlementId,
    Reason,
    Scan,
    Tally,
    Token,
    Verdict,
)
from admitone.entitlements.port import KINDS
from admitone.entitlements.store import doors
from admitone.entitlements.store import entitlements as store
from admitone.entitlements.store import tokens as token_store
from admitone.entitlements.store.doors import Entry
from admitone.entitlements.store.scanners import Remembered, find_scanners
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller


@command()
async def consume(tx: Tx, scans: Sequence[Scan]) -> list[Verdict | Refusal]:
    """Let in, or say why not."""
    known = await find_scanners(tx, {each.place.scanner for each in scans})
    refused = [_why_not_ask(each, known.get(each.place.scanner)) for each in scans]
    open_scans = [each for each, refusal in zip(scans, refused, strict=True) if refusal is None]
    door = await _look(tx, open_scans)
    decided = [door.decide(tx, each) for each in open_scans]
    await door.write(tx)
    rows = [row for row, _ in decided]
    await doors.insert_checkins(tx, rows)
    tallies = tallies_of(rows)
    await watch(tx, open_scans, tallies, known)
    await doors.count(tx, tallies)
    await audit.record(tx, [audited(scan.caller, row) for scan, row in zip(open_scans, rows, strict=True)])
    for scan, (row, verdict) in zip(open_scans, decided, strict=True):
        tell(tx, scan, row, verdict)
    said = iter(verdict for _, verdict in decided)
    return [refusal or next(said) for refusal in refused]


def _why_not_ask(scan: Scan, known: Remembered | None) -> Refusal | None:
    return ScannerClosed() if known and known.closed_at else scan.paused


async def _look(tx: Tx, scans: Sequence[Scan]) -> "Door":
    """The rights that are shown, held until the end, and the codes that show them."""
    tokens = await token_store.find_by_digests(tx, {each.digest for each in scans if each.digest is not None})
    door = Door(tokens)
    shown = [each for each in scans if door.own(each) is not None]
    door.before = await store.lock_entitlements(tx, shown, lambda each: door.own(each) or EntitlementId.new())
    # Where a code leads never changes. Whether it is good may have changed while we waited for its right.
    door.tokens = await token_store.find_by_digests(tx, door.tokens)
    door.standing = dict(door.before)
    used = [own for own, each in door.before.items() if each.entries]
    door.latest = await doors.find_latest(tx, used)
    return door


@dataclass
class Door:
    """What is decided at once: one scan after the other, each knowing those before it."""

    tokens: dict[bytes, Token]
    before: Mapping[EntitlementId, Entitlement] = field(default_factory=dict)
    standing: dict[EntitlementId, Entitlement] = field(default_factory=dict)
    latest: dict[EntitlementId, Entry] = field(default_factory=dict)
    redeemed: set[bytes] = field(default_factory=set)

    def own(self, scan: Scan) -> EntitlementId | None:
        """Which right is shown, or named."""
        token = self.token(scan)
        return token.entitlement if token else scan.entitlement

    def token(self, scan: Scan) -> Token | None:
        return self.tokens.get(scan.digest) if scan.digest is not None else None

    def decide(self, tx: Tx, scan: Scan) -> tuple[Checkin, Verdict]:
        own, token = self.own(scan), self.token(scan)
        entitlement = self.standing.get(own) if own else None
        kind = KINDS().get(entitlement.kind) if entitlement else None
        reason = policy.why_not(entitlement, kind, token, scan.place, scan.way, tx.now)
        checkin, repeats = CheckinId.new(), None
        if entitlement is not None and reason is None:
            entitlement = self._admit(entitlement, scan, checkin, token, tx)
        elif entitlement is not None and reason in DUPLICATES:
            repeats = self.latest.get(entitlement.id)
            entitlement = msgspec.structs.replace(entitlement, duplicates=entitlement.duplicates + 1)
            self.standing[entitlement.id] = entitlement
        row = _row(tx, scan, checkin, entitlement, token, reason, repeats)
        return row, _verdict(tx, checkin, entitlement, reason, repeats)

    def _admit(self, before: Entitlement, scan: Scan, checkin: CheckinId, token: Token | None, tx: Tx) -> Entitlement:
        after = self.standing[before.id] = policy.entered(before, tx.now)
        self.latest[before.id] = Entry(checkin.uuid, tx.now, scan.place.gate)
        if token is not None and KINDS()[before.kind].single_use:
            self.tokens[token.digest] = msgspec.structs.replace(token, redeemed_at=tx.now)
            self.redeemed.add(token.digest)
        return after

    async def write(self, tx: Tx) -> None:
        await doors.write_entries(tx, [each for own, each in self.standing.items() if each != self.before[own]])
        await token_store.redeem(tx, self.redeemed)


def _row(
    tx: Tx,
    scan: Scan,
    checkin: CheckinId,
    entitlement: Entitlement | None,
    token: Token | None,
    reason: Reason | None,
    repeats: Entry | None,
) -> Checkin:
    # Of what is for another event, nothing is said here.
    session = entitlement.session_id if entitlement and reason is not Reason.WRONG_EVENT else None
    return Checkin(
        id=checkin.uuid,
        entitlement_id=entitlement.id.uuid if entitlement else None,
        event_id=scan.place.event_id or None,
        session_id=scan.place.session_id or session,
        source_type=entitlement.source.type if entitlement else None,
        action="ENTRY",
        admitted=reason is None,
        reason_code=CHECKIN_DUPLICATE if reason in DUPLICATES else reason,
        entry=entitlement.entered if entitlement and reason is None else None,
        method=scan.way,
        gate=scan.place.gate,
        device=scan.place.device,
        scanner_id=scan.caller.actor.uuid if scan.caller.actor else None,
        at=tx.now,
        recorded_at=tx.now,
        policy_version=entitlement.policy_version if entitlement else None,
        epoch=token.epoch if token else None,
        refers_to=repeats.checkin if repeats else None,
        lease_id=None,
        scan_key=scan.key,
        correlation_id=scan.caller.correlation_id,
    )


def _verdict(
    tx: Tx, checkin: CheckinId, entitlement: Entitlement | None, reason: Reason | None, repeats: Entry | None
) -> Verdict:
    """What the door may know: of what is not for this event, nothing."""
    if entitlement is None or reason is Reason.WRONG_EVENT:
        return Verdict(allow=False, checkin=checkin, at=tx.now, reason=reason)
    is_again = reason in DUPLICATES and entitlement.consumed_at is not None
    return Verdict(
        allow=reason is None,
        checkin=checkin,
        at=tx.now,
        reason=reason,
        entitlement=entitlement.id,
        label=entitlement.label,
        policy_version=entitlement.policy_version,
        entry=entitlement.entered if reason is None else None,
        duplicate=Duplicate(entitlement.consumed_at, entitlement.duplicates, repeats.gate if repeats else None)
        if is_again and entitlement.consumed_at
        else None,
    )


def tallies_of(rows: Iterable[Checkin]) -> list[Tally]:
    """What these add to the counts of their minutes."""
    sums: dict[tuple[str, ...], dict[str, int]] = {}
    places: dict[tuple[str, ...], Tally] = {}
    for row in rows:
        if row.event_id is None:
            continue
        place = Tally(row.event_id, row.device, row.at.replace(second=0, microsecond=0), row.gate, row.session_id or "")
        key = (place.event_id, place.device, place.minute.isoformat(), place.gate, place.session_id)
        counts = sums.setdefault(key, dict.fromkeys(("admitted", "undone", "duplicate", "denied"), 0))
        counts[row.counted_as] += 1
        places[key] = place
    return [msgspec.structs.replace(place, **sums[key]) for key, place in sorted(places.items())]


def audited(caller: Caller, row: Checkin) -> audit.Entry:
    subject = str(EntitlementId(row.entitlement_id)) if row.entitlement_id else str(CheckinId(row.id))
    after = {"admitted": row.admitted, "checkinId": str(CheckinId(row.id)), "method": row.method.value}
    return audit.Entry(caller, "entitlements.consume", subject, row.reason_code, after=after)


def tell(tx: Tx, scan: Scan, row: Checkin, verdict: Verdict) -> None:
    if row.admitted:
        fact = of_checkin(CheckinConsumed, row, entry=row.entry)
    elif verdict.duplicate:
        fact = of_checkin(CheckinDuplicate, row, count=verdict.duplicate.count)
    else:
        fact = of_checkin(CheckinDenied, row)
    tx.publish(scan.caller, fact)
