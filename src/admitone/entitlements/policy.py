"""Who is let in, and what becomes of a right: pure decisions.

Promise (ENT-001, ENT-014): the door decides by the right, its copy of the policy and the clock, in one fixed order;
nothing is asked of whatever the right came from. What a right stands at follows from what is known of its money and
from why it is held, whatever came first; why it is held is remembered whatever it stands at.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec

from admitone.entitlements.kinds import TokenKind
from admitone.entitlements.model import (
    CheckinPolicy,
    Entitlement,
    EntitlementId,
    Hold,
    Incident,
    Lease,
    Method,
    Place,
    Reason,
    Revocation,
    Status,
    Token,
    TokenState,
    Way,
    codes_of,
)
from admitone.finance.payments.api import Payment
from admitone.finance.payments.api import Status as PaymentStatus
from admitone.finance.refunds.api import Gone, GoneBack
from admitone.finance.sources.api import SourceType
from admitone.kernel.clock import after, before

METHOD_OF: Final = {
    SourceType.TICKET_ORDER: Method.QR_TICKET,
    SourceType.BOOKING: Method.QR_BOOKING,
    SourceType.PADEL_REGISTRATION: Method.QR_REGISTRATION,
    SourceType.STORE_ORDER: Method.QR_TICKET,
    SourceType.STAY_RESERVATION: Method.QR_BOOKING,
    SourceType.COUPON_CAMPAIGN: Method.QR_TICKET,
}
"""By what a code of it lets in."""
NO_HOLD: Final[frozenset[Hold]] = frozenset()
WATCHED: Final = timedelta(minutes=10)
FEWEST_SCANS: Final = 30
WARN_PERCENT: Final = 10
CLOSE_PERCENT: Final = 20
SKEW: Final = timedelta(minutes=2)
"""How far the clock of a device may be off."""
OPEN_AROUND: Final = 6
"""Hours."""


def doors_of(starts_at: datetime, ends_at: datetime) -> tuple[datetime, datetime]:
    """From when until when the doors of an event are open, if nobody says otherwise (ENT-016): elapsed hours, whatever
    the clocks on its wall do that night."""
    return before(starts_at, OPEN_AROUND), after(ends_at, OPEN_AROUND)


def default_of(source: SourceType, *, controlled: bool = True) -> CheckinPolicy:
    """How people are let in to what is sold so, if nobody says otherwise (ENT-013). Where entry is not controlled, and
    for a service that is booked, staff mark who came."""
    method = METHOD_OF[source]
    is_by_code = controlled and method is not Method.QR_BOOKING
    return CheckinPolicy((method if is_by_code else Method.MANUAL,))


def why_not(
    entitlement: Entitlement | None,
    kind: TokenKind | None,
    token: Token | None,
    place: Place,
    way: Way,
    now: datetime,
) -> Reason | None:
    """Why somebody may not come in here and now, if they may not. Whom a code is for follows from its kind (U-54)."""
    if entitlement is None or kind is None:
        return Reason.INVALID_TOKEN
    if kind.audience is not place.audience:
        return Reason.WRONG_EVENT
    if elsewhere := _why_not_here(entitlement, place):
        return elsewhere
    if entitlement.status is not Status.ACTIVE:
        return Reason.ENTITLEMENT_NOT_ACTIVE
    if now < entitlement.valid_from:
        return Reason.NOT_YET_VALID
    if now > entitlement.valid_until:
        return Reason.NO_LONGER_VALID
    return _why_not_so(entitlement, way) or _why_not_again(entitlement, now) or _why_not_by(token, now)


def _why_not_here(entitlement: Entitlement, place: Place) -> Reason | None:
    if (entitlement.event_id or "") != place.event_id:
        return Reason.WRONG_EVENT
    if place.session_id is not None and entitlement.session_id not in (None, place.session_id):
        return Reason.WRONG_SESSION
    return None


def _why_not_so(entitlement: Entitlement, way: Way) -> Reason | None:
    method = Method.MANUAL if way is Way.MANUAL else METHOD_OF[entitlement.source.type]
    return None if method in entitlement.methods else Reason.METHOD_NOT_ALLOWED


def _why_not_again(entitlement: Entitlement, now: datetime) -> Reason | None:
    if not entitlement.entries:
        return None
    if entitlement.entries >= entitlement.max_entries:
        return Reason.ALREADY_CONSUMED if entitlement.max_entries == 1 else Reason.MAX_ENTRIES_REACHED
    assert entitlement.last_entry_at is not None
    is_in_time = now <= entitlement.last_entry_at + timedelta(minutes=entitlement.reentry_minutes)
    return None if is_in_time else Reason.REENTRY_WINDOW_PASSED


def _why_not_by(token: Token | None, now: datetime) -> Reason | None:
    """Of a code that is good for one use, that it was used counts before that it is old (U-54)."""
    if token is None:
        return None
    match token.state(now):
        case TokenState.LIVE:
            return None
        case TokenState.REDEEMED:
            return Reason.ALREADY_CONSUMED
        case _:
            return Reason.TOKEN_EXPIRED


def entered(entitlement: Entitlement, at: datetime) -> Entitlement:
    """After one more entry; it may be one of before the others, of which we hear late."""
    return msgspec.structs.replace(
        entitlement,
        entries=entitlement.entries + 1,
        entered=entitlement.entered + 1,
        consumed_at=min(entitlement.consumed_at or at, at),
        last_entry_at=max(entitlement.last_entry_at or at, at),
    )


def relaxed(entitlement: Entitlement, policy: CheckinPolicy) -> Entitlement:
    """By the later policy where it allows more, by what it was granted under where that did (ENT-015)."""
    return msgspec.structs.replace(
        entitlement,
        methods=entitlement.methods | frozenset(policy.methods),
        max_entries=max(entitlement.max_entries, policy.entries),
        reentry_minutes=max(entitlement.reentry_minutes, policy.reentry_minutes),
        undo_minutes=max(entitlement.undo_minutes, policy.undo_minutes),
    )


def undone(entitlement: Entitlement, standing: Collection[datetime]) -> Entitlement:
    """After one entry less; `standing` are the instants of those that stand."""
    return msgspec.structs.replace(
        entitlement,
        entries=len(standing),
        consumed_at=min(standing, default=None),
        last_entry_at=max(standing, default=None),
    )


def status_of(entitlement: Entitlement, now: datetime) -> Status:
    """Where a right stands that was given and that nobody took back: by its time, and by what it is held for."""
    if now > entitlement.valid_until:
        return Status.EXPIRED
    return Status.SUSPENDED if entitlement.held_for else Status.ACTIVE


def seen_as(entitlement: Entitlement, now: datetime) -> Status:
    """Where its owner sees it stand: what is over is over, also before anybody has come by to write that down."""
    is_open = entitlement.status in (Status.PENDING, Status.ACTIVE, Status.SUSPENDED)
    return Status.EXPIRED if is_open and now > entitlement.valid_until else entitlement.status


def may_confirm(entitlement: Entitlement) -> bool:
    """Whether its owner may say that they were there (ENT-013)."""
    return entitlement.source.type is SourceType.BOOKING and Method.MANUAL in entitlement.methods


def code_to_show(tokens: Sequence[Token], keys: Collection[int], spare: timedelta, now: datetime) -> Token | None:
    """The oldest code that is good for longer than `spare`, and of which we still have the key: a code is shown until
    it is about to end, and then the next one. None: it is time to make the next one."""
    live = (each for each in codes_of(tokens, now) if each.key_version in keys)
    return next((each for each in live if each.valid_until - spare > now), None)


class Alarm(StrEnum):
    """What follows when a scanner is shown too much that is refused (SAF-016)."""

    WARN = "RISK_CHECKIN_ANOMALY"
    CLOSE = "RISK_CHECKIN_ANOMALY_BLOCK"


def alarm(scans: int, refused: int) -> Alarm | None:
    if scans < FEWEST_SCANS:
        return None
    if refused * 100 >= scans * CLOSE_PERCENT:
        return Alarm.CLOSE
    return Alarm.WARN if refused * 100 >= scans * WARN_PERCENT else None


def taken_by_money(
    rights: Sequence[Entitlement], payment: Payment, back: GoneBack
) -> dict[EntitlementId, frozenset[Hold] | Revocation]:
    """What became of the money takes the right, or holds it for so much: the truth matrix (ENT-007). That it is on its
    way back changes nothing before it arrived (unification (c)). Where it is known of all of the money which pieces it
    came back for, those go and no others (OPS-041): what cost nothing stays until somebody names it, too."""
    match payment.status:
        case PaymentStatus.REFUNDED if back.accounted_minor < payment.captured_minor:
            return {each.id: Revocation.REFUND for each in rights}
        case PaymentStatus.CHARGEBACK_LOST:
            return {each.id: Revocation.CHARGEBACK for each in rights}
        case PaymentStatus.FAILED | PaymentStatus.CANCELLED | PaymentStatus.EXPIRED:
            # A place may still be kept for whoever tries again; nothing else was ever given.
            return {each.id: NO_HOLD if each.status is Status.PENDING else Revocation.CANCELLATION for each in rights}
    disputed = frozenset({Hold.DISPUTE} if payment.status is PaymentStatus.DISPUTED else ())
    taken: dict[EntitlementId, frozenset[Hold] | Revocation] = {each.id: disputed for each in rights}
    for line, pieces in _pieces(rights).items():
        gone = pieces if back.whole_gone else _gone(pieces, back.gone.get(line, Gone()))
        taken |= {each.id: Revocation.REFUND for piece in gone for each in piece}
    return taken


def _gone(pieces: Sequence[Sequence[Entitlement]], gone: Gone) -> list[Sequence[Entitlement]]:
    """Those that were named, and of the others as many as were counted; where none has a number, all are counted."""
    named = [each for each in pieces if each[0].piece in gone.pieces]
    others = [each for each in pieces if each[0].piece not in gone.pieces]
    is_numbered = any(each[0].piece is not None for each in pieces)
    return [*named, *others[: gone.quantity - (len(gone.pieces) if is_numbered else 0)]]


def _pieces(rights: Sequence[Entitlement]) -> dict[str, list[list[Entitlement]]]:
    """The pieces of each line, each with all that it gives, in the order in which they go back."""
    lines: dict[str, dict[object, list[Entitlement]]] = {}
    for each in rights:
        own = each.id if each.piece is None else each.piece
        lines.setdefault(each.line_key, {}).setdefault(own, []).append(each)
    return {line: sorted(pieces.values(), key=_goes_first) for line, pieces in lines.items()}


def _goes_first(piece: Sequence[Entitlement]) -> tuple[bool, bool, int]:
    """Which of a line go back when only their number is known: those that are gone already; then those that nobody
    used, the last first."""
    is_gone = all(each.status is Status.REVOKED for each in piece)
    is_used = any(each.entries for each in piece)
    return (not is_gone, is_used, -max(each.id.uuid.int for each in piece))


def incident_of(
    entitlement: Entitlement | None, token: Token | None, lease: Lease, at: datetime, entries_before: int, now: datetime
) -> Incident | None:
    """What is wrong with an entry that a device let in by itself, if anything is: by the rules of the door, as they
    were at that instant."""
    if entitlement is None or token is None or _why_not_here(entitlement, lease.place):
        return Incident.NOT_ON_LIST
    if _why_not_so(entitlement, Way.QR):
        return Incident.NOT_ON_LIST
    if not entitlement.offline_allowed:
        return Incident.OFFLINE_NOT_ALLOWED
    # Whatever ends a right or passes it on ends its codes: they know since when, also if it is good again by now.
    is_called_back = token.revoked_at is not None and token.revoked_at <= at
    if is_called_back or (entitlement.status is not Status.ACTIVE and entitlement.changed_at <= at):
        return Incident.NOT_ACTIVE
    if _why_not_again(entitlement, min(at, now)):
        return Incident.DUPLICATE
    return _past_lease(lease, at, now) or _past_window(entitlement, token, at) or _past_count(lease, entries_before)


def _past_lease(lease: Lease, at: datetime, now: datetime) -> Incident | None:
    if at > now + SKEW:
        return Incident.CLOCK_AHEAD
    if lease.revoked_at is not None and at > lease.revoked_at:
        return Incident.LEASE_REVOKED
    return None if lease.issued_at - SKEW <= at <= lease.good_until else Incident.OUT_OF_LEASE


def _past_window(entitlement: Entitlement, token: Token, at: datetime) -> Incident | None:
    is_open = entitlement.valid_from <= at <= entitlement.valid_until
    return None if is_open and at < token.valid_until else Incident.NOT_VALID


def _past_count(lease: Lease, entries_before: int) -> Incident | None:
    return Incident.OVER_LEASE if entries_before >= lease.entries_allowed else None
