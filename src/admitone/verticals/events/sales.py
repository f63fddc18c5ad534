"""Who may buy what, here and now, and for how long it is kept for them: pure decisions.

Promise (EVT-014): the page that shows what is on sale and the order that buys it ask the same functions.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from admitone.finance.payments.api import GRACE
from admitone.kernel.errors import Refusal
from admitone.verticals.events.errors import (
    AgeNotConfirmed,
    EventNotOnSale,
    InviteNeeded,
    SignInToOrder,
    TicketTypeNotFound,
    TicketTypeNotOnSale,
    TooManyTickets,
)
from admitone.verticals.events.model import (
    AccessMode,
    AccessPolicy,
    Event,
    EventStatus,
    Order,
    Session,
    TicketType,
    TicketTypeId,
    TypeStatus,
)

LONGEST_KEPT: Final = timedelta(minutes=95)
"""An order, from when it was placed, however often somebody begins to pay: the longest that an event gives, and a card
payment that was begun in its last minute. A CHECK says the same."""
SECOND_TRY: Final = timedelta(minutes=2)
"""For whoever gave up one way to pay, or whose cards were refused, to choose another."""

TYPE_OVER: Final = "TYPE_OVER"


class Closed(StrEnum):
    """Why something is not sold now."""

    CANCELLED = "CANCELLED"
    OVER = "OVER"
    OFF = "OFF"
    """Its organisation has events switched off (ORG-013)."""
    NOT_YET = "NOT_YET"


def why_closed(event: Event, now: datetime, *, is_on: bool = True) -> Closed | None:
    """Why nothing is sold for an event now (EVT-004)."""
    if event.status is not EventStatus.PUBLISHED:
        return Closed.CANCELLED
    if event.ends_at <= now:
        return Closed.OVER
    return None if is_on else Closed.OFF


def why_type_closed(kind: TicketType, sessions: Sequence[Session], now: datetime) -> Closed | None:
    """Of an event that is on sale, with these sessions."""
    if is_over(kind, sessions, now):
        return Closed.OVER
    if kind.sales_from is not None and now < kind.sales_from:
        return Closed.NOT_YET
    return Closed.OVER if kind.sales_until is not None and kind.sales_until <= now else None


def is_over(kind: TicketType, sessions: Sequence[Session], now: datetime) -> bool:
    """Whether all sessions that it names are over. What names none is over with its event."""
    ends = [each.ends_at for each in sessions if each.id in kind.sessions] if kind.sessions else []
    return bool(ends) and max(ends) <= now


def why_ended(
    order: Order,
    event: Event,
    types: Mapping[TicketTypeId, TicketType],
    sessions: Sequence[Session],
    now: datetime,
) -> str | None:
    """Why what was ordered is not paid for any more, and money that comes for it goes back: an order is handed over
    whole or not at all."""
    if closed := why_closed(event, now):
        return f"EVENT_{closed}"
    return TYPE_OVER if any(is_over(types[line.ticket_type], sessions, now) for line in order.lines) else None


def most_of(kind: TicketType) -> int | None:
    """How many of a type one person may have; of what costs nothing, so many as somebody decided (FIN-082)."""
    free = kind.free_per_person if kind.price_minor == 0 else None
    return min((most for most in (kind.most_per_buyer, free) if most is not None), default=None)


def why_not(
    event: Event,
    policy: AccessPolicy,
    sessions: Sequence[Session],
    wants: Sequence[tuple[TicketType, int]],
    now: datetime,
    *,
    is_on: bool,
    is_guest: bool,
    is_invited: bool,
    age_confirmed: bool,
) -> Refusal | None:
    """Why this may not be ordered by somebody like that, of an event that they may see."""
    if closed := why_closed(event, now, is_on=is_on):
        return EventNotOnSale(reason=closed.value)
    if policy.mode is AccessMode.INVITE_ONLY and not is_invited:
        return InviteNeeded()
    if is_guest and not policy.guest_checkout_allowed:
        return SignInToOrder()
    if event.least_age is not None and not age_confirmed:
        return AgeNotConfirmed(least_age=event.least_age)
    refusals = (_why_not_type(kind, sessions, quantity, now) for kind, quantity in wants)
    return next((each for each in refusals if each), None)


def _why_not_type(kind: TicketType, sessions: Sequence[Session], quantity: int, now: datetime) -> Refusal | None:
    if kind.status is TypeStatus.ARCHIVED:
        return TicketTypeNotFound()
    if closed := why_type_closed(kind, sessions, now):
        return TicketTypeNotOnSale(ticket_type=str(kind.id), reason=closed.value)
    if quantity > kind.most_per_order:
        return TooManyTickets(ticket_type=str(kind.id), most=kind.most_per_order)
    return None


# -- For how long


def kept_until(event: Event, placed_at: datetime) -> datetime:
    """Of an order that nobody pays."""
    return placed_at + timedelta(minutes=event.hold_minutes)


def payable_until(order: Order, event: Event, now: datetime) -> datetime:
    """Of an order that somebody begins to pay now: as long again as the event gives them, and never longer than
    anything is kept."""
    return min(kept_until(event, now) + GRACE, order.created_at + LONGEST_KEPT)


def unpaid_until(order: Order, event: Event, now: datetime) -> datetime:
    """Of an order whose payment came to nothing: what it had without one, or long enough for a second try."""
    return min(order.expires_at, max(kept_until(event, order.created_at), now + SECOND_TRY))
