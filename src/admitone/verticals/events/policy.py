"""What an organiser may decide, what follows for whoever comes, and what a page shows of it: pure decisions.

Promise: everything ends after it begins (EVT-001); a price of nothing is somebody's decision (FIN-085); who may come
and how they are let in are rules that do not contradict each other, and after the first sale nothing in them is made
harder for anybody (EVT-017). Pages and orders ask the same function what is on sale (EVT-014).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.entitlements.api import default_of, doors_of
from admitone.finance.sources.api import SourceType
from admitone.kernel.errors import Refusal
from admitone.verticals.events.errors import (
    EventIsCancelled,
    EventIsOver,
    OnlyFreeTickets,
    PolicyInvalid,
    PolicyTightens,
    SalesWindowInvalid,
    SessionInUse,
    SessionNotFound,
    SharedPoolNotFound,
    TimesInvalid,
    TooManyParts,
    ZeroPriceNotAllowed,
)
from admitone.verticals.events.model import (
    AccessMode,
    AccessPolicy,
    Event,
    EventStatus,
    IdentityMatch,
    PricingMode,
    Schedule,
    Session,
    SessionId,
    TicketType,
    TicketTypeId,
    TypeStatus,
)
from admitone.verticals.events.sales import Closed, most_of, why_closed, why_type_closed

MOST_SESSIONS: Final = 100
MOST_TYPES: Final = 100
MOST_POOLS: Final = 100
TOKEN_HOURS: Final = 7 * 24
"""How long an invite token lives, if nobody says otherwise (CF-47)."""
FEW: Final = 10
"""From so many down it is said how many are left."""


# -- Who may come, and how they are let in

OPENNESS: Final = (AccessMode.INVITE_ONLY, AccessMode.UNLISTED, AccessMode.PUBLIC)
"""The later, the more people find it, and may buy."""
WIDER_MATCH: Final = {
    IdentityMatch.EMAIL: frozenset({IdentityMatch.EMAIL}),
    IdentityMatch.USERNAME: frozenset({IdentityMatch.USERNAME}),
    IdentityMatch.BOTH: frozenset({IdentityMatch.EMAIL, IdentityMatch.USERNAME}),
}
"""By what one can be invited: whoever was by the one still is when both are. To change one for the other means
something else."""

Order = Callable[[Any, Any], bool]


def _true_stays(before: bool, after: bool) -> bool:
    return after >= before


def _false_stays(before: bool, after: bool) -> bool:
    return after <= before


def _only_up(before: int, after: int) -> bool:
    return after >= before


def _only_more(before: Iterable[str], after: Iterable[str]) -> bool:
    return set(before) <= set(after)


# What is as easy for everybody as it was, or easier. How long new tokens live is not among them: those that were sent
# keep their end (EVT-026), so it may go either way.
EASIER: Final[Mapping[str, Order]] = {
    "mode": lambda before, after: OPENNESS.index(after) >= OPENNESS.index(before),
    "guest_checkout_allowed": _true_stays,
    "login_required": _false_stays,
    "invite_token_allowed": _true_stays,
    "invite_identity_match": lambda before, after: WIDER_MATCH[before] <= WIDER_MATCH[after],
    "requires_entitlement": _false_stays,
    "scanner_required": _false_stays,
    "checkin.methods": _only_more,
    "checkin.allow_reentry": _true_stays,
    "checkin.reentry_minutes": _only_up,
    "checkin.max_entries": _only_up,
    "checkin.undo_minutes": _only_up,
}


def tightens(before: AccessPolicy, after: AccessPolicy) -> list[str]:
    """What would be harder for somebody, or mean something else, than it does; nothing, if all is as easy at least."""
    return [name for name, is_easier in EASIER.items() if not is_easier(_of(before, name), _of(after, name))]


def _of(policy: AccessPolicy, name: str) -> Any:
    block, _, inner = name.rpartition(".")
    return getattr(policy.checkin if block else policy, inner)


def first_policy() -> AccessPolicy:
    """Of an event of which nobody said otherwise (ENT-013)."""
    return AccessPolicy(version=1, checkin=default_of(SourceType.TICKET_ORDER))


def why_not_policy(policy: AccessPolicy) -> Refusal | None:
    """Why these rules cannot be (EVT-011, EVT-015); the columns say the same."""
    if policy.invite_token_allowed and policy.invite_identity_match is IdentityMatch.USERNAME:
        return PolicyInvalid(problem="TOKEN_NEEDS_EMAIL")
    if policy.invite_token_allowed and policy.invite_token_hours is None:
        return PolicyInvalid(problem="TOKEN_NEEDS_END")
    if policy.login_required and (policy.guest_checkout_allowed or policy.mode is not AccessMode.INVITE_ONLY):
        return PolicyInvalid(problem="LOGIN_NEEDS_INVITATION_AND_NO_GUESTS")
    if not policy.checkin.methods:
        return PolicyInvalid(problem="NO_WAY_IN")
    return None


def why_not_policy_now(before: AccessPolicy, after: AccessPolicy, *, is_sold: bool) -> Refusal | None:
    """Why they cannot come after those: once somebody bought, nothing is made harder (EVT-017)."""
    if refusal := why_not_policy(after):
        return refusal
    harder = tightens(before, after) if is_sold else []
    return PolicyTightens(fields=tuple(harder)) if harder else None


class Caution(StrEnum):
    """What is allowed, and may not be meant."""

    REENTRY_ADMITS_ONE = "REENTRY_ADMITS_ONE"
    """Somebody may come again, and only one entry is allowed (CF-60)."""


def cautions_of(policy: AccessPolicy) -> list[Caution]:
    return [Caution.REENTRY_ADMITS_ONE] if policy.checkin.warns else []


# -- When it takes place


def why_not_schedule(schedule: Schedule) -> Refusal | None:
    """Why it cannot take place then (EVT-001); nothing is put right by itself (CF-13)."""
    if schedule.ends_at <= schedule.starts_at:
        return TimesInvalid(problem="ENDS_BEFORE_IT_BEGINS")
    if len(schedule.sessions) > MOST_SESSIONS:
        return TooManyParts(most=MOST_SESSIONS)
    if len({each.id for each in schedule.sessions}) != len(schedule.sessions):
        return TimesInvalid(problem="SESSION_TWICE")
    if any(each.ends_at <= each.starts_at for each in schedule.sessions):
        return TimesInvalid(problem="SESSION_ENDS_BEFORE_IT_BEGINS")
    if any(each.starts_at < schedule.starts_at or each.ends_at > schedule.ends_at for each in schedule.sessions):
        return TimesInvalid(problem="SESSION_OUTSIDE_EVENT")
    return None


def why_not_rescheduled(
    event: Event,
    schedule: Schedule,
    before: Sequence[Session],
    types: Iterable[TicketType],
    fresh: Collection[SessionId],
    now: datetime,
) -> Refusal | None:
    """Why it cannot be put off to then. What was announced is not taken back: a session is left out of a draft only."""
    if refusal := why_closed_to_edits(event) or why_not_schedule(schedule):
        return refusal
    if event.status is EventStatus.PUBLISHED and (refusal := _why_too_late(event, schedule, before, now)):
        return refusal
    known, kept = {each.id for each in before}, {each.id for each in schedule.sessions}
    if strange := next((own for own in kept if own not in known and own not in fresh), None):
        return SessionNotFound(session=str(strange))
    sold = known if event.status is not EventStatus.DRAFT else {own for kind in types for own in kind.sessions}
    if missed := next((own for own in known - kept if own in sold), None):
        return SessionInUse(session=str(missed))
    return None


def _why_too_late(event: Event, schedule: Schedule, before: Sequence[Session], now: datetime) -> Refusal | None:
    """Nothing that was announced is put where nobody can come any more; a session that is over may be put off for as
    long as its event is not. One that stays over is let be: who types all times anew, to the minute and by the clocks
    there, says of it what they can."""
    if event.ends_at <= now:
        return EventIsOver()
    if schedule.ends_at <= now:
        return TimesInvalid(problem="ENDS_IN_THE_PAST")
    were_over = {each.id for each in before if each.ends_at <= now}
    if any(each.ends_at <= now and each.id not in were_over for each in schedule.sessions):
        return TimesInvalid(problem="SESSION_ENDS_IN_THE_PAST")
    return None


def why_closed_to_edits(event: Event) -> Refusal | None:
    return EventIsCancelled() if event.status is EventStatus.CANCELLED else None


def window_of(event: Event, session: Session | None = None) -> tuple[datetime, datetime]:
    """From when until when a right to it is good (ENT-016)."""
    place = session or event
    return doors_of(place.starts_at, place.ends_at)


def closes_at(event: Event, sessions: Iterable[Session]) -> datetime:
    """When the last of its doors closes."""
    return max(window_of(event, each)[1] for each in (None, *sessions))


# -- What is sold for it


def why_not_type(
    event: Event, kind: TicketType, sessions: Collection[SessionId], pools: Collection[UUID]
) -> Refusal | None:
    """Why it cannot be offered so. `pools`: the shared ones of its event."""
    if event.pricing_mode is PricingMode.FREE_ONLY and kind.price_minor:
        return OnlyFreeTickets()
    if not kind.price_minor and not kind.allows_zero:
        return ZeroPriceNotAllowed()
    if kind.sales_from and kind.sales_until and kind.sales_until <= kind.sales_from:
        return SalesWindowInvalid()
    if strange := next((own for own in kind.sessions if own not in sessions), None):
        return SessionNotFound(session=str(strange))
    if missing := next((own for own in kind.shared_pools if own not in pools), None):
        return SharedPoolNotFound(pool=missing.hex)
    return None


def why_not_event(event: Event, types: Iterable[TicketType]) -> Refusal | None:
    """Why it cannot say that of itself, with what is sold for it."""
    prices = (each.price_minor for each in types if each.status is not TypeStatus.ARCHIVED)
    return OnlyFreeTickets() if event.pricing_mode is PricingMode.FREE_ONLY and any(prices) else None


def may_cost_nothing(event: Event, own_word: bool) -> bool:
    """Whether somebody decided that a type of it may (FIN-085)."""
    return own_word or event.allows_zero or event.pricing_mode is PricingMode.FREE_ONLY


def derived_is_free(event: Event, types: Iterable[TicketType]) -> bool:
    """Whether people are told that it costs nothing (FIN-086). It decides nothing."""
    prices = [each.price_minor for each in types if each.status is TypeStatus.ON_SALE]
    return event.pricing_mode is PricingMode.FREE_ONLY or (bool(prices) and max(prices) == 0)


# -- What is on sale


class TypeRules(msgspec.Struct, frozen=True):
    closed: Closed | None
    most_per_order: int
    most_per_buyer: int | None


class SalesRules(msgspec.Struct, frozen=True):
    """On what conditions somebody may buy, here and now."""

    closed: Closed | None
    mode: AccessMode
    invite_required: bool
    guest_checkout_allowed: bool
    login_required: bool
    least_age: int | None
    types: Mapping[TicketTypeId, TypeRules]


def sales_rules(
    event: Event,
    policy: AccessPolicy,
    sessions: Sequence[Session],
    types: Iterable[TicketType],
    now: datetime,
    *,
    is_on: bool,
) -> SalesRules:
    """What a page says and an order obeys, of the policy in force and of nothing else (EVT-014)."""
    closed = why_closed(event, now, is_on=is_on)
    return SalesRules(
        closed=closed,
        mode=policy.mode,
        invite_required=policy.mode is AccessMode.INVITE_ONLY,
        guest_checkout_allowed=policy.guest_checkout_allowed,
        login_required=policy.login_required,
        least_age=event.least_age,
        types={
            each.id: TypeRules(closed or why_type_closed(each, sessions, now), each.most_per_order, most_of(each))
            for each in types
            if each.status is not TypeStatus.ARCHIVED
        },
    )


class Availability(StrEnum):
    AVAILABLE = "AVAILABLE"
    FEW_LEFT = "FEW_LEFT"
    SOLD_OUT = "SOLD_OUT"
    NOT_YET = "NOT_YET"
    OVER = "OVER"


def availability(rules: TypeRules, free: int) -> tuple[Availability, int | None]:
    """In a word, and how many are left if those are few: nobody reads from a page how well an event sells."""
    if rules.closed is not None:
        return Availability.NOT_YET if rules.closed is Closed.NOT_YET else Availability.OVER, None
    if free <= 0:
        return Availability.SOLD_OUT, None
    return (Availability.FEW_LEFT, free) if free <= FEW else (Availability.AVAILABLE, None)


def is_public(event: Event) -> bool:
    """Whether whoever has its link may see it: it was published once, whatever became of it (EVT-002)."""
    return event.published_at is not None


def is_listed(event: Event, policy: AccessPolicy, now: datetime) -> bool:
    """Whether it stands in lists and feeds (EVT-003, EVT-010)."""
    return event.status is EventStatus.PUBLISHED and policy.is_listed and event.ends_at > now
