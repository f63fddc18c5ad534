"""What a list says of an event's tickets: one word, and what they cost from.

Promise: it is of what can be had that the price is told; what is sold out costs nobody anything. Prices and words are
those of the event's page (EVT-014).
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from admitone.verticals.events.model import Event, EventId, TicketType
from admitone.verticals.events.policy import Availability

BEST_FIRST: Final = (
    Availability.AVAILABLE,
    Availability.FEW_LEFT,
    Availability.NOT_YET,
    Availability.SOLD_OUT,
    Availability.OVER,
)


class Offer(msgspec.Struct, frozen=True):
    event_id: EventId
    currency: str
    availability: Availability | None
    """Of the best that there is; nothing, if there are no tickets."""
    lowest_minor: int | None
    highest_minor: int | None


def offer_of(event: Event, tickets: Iterable[tuple[TicketType, Availability]]) -> Offer:
    words = list(tickets)
    best = min((word for _, word in words), key=BEST_FIRST.index, default=None)
    # Whoever looks for a price does not care whether ten or a hundred are left.
    like_it = {best, Availability.FEW_LEFT} if best is Availability.AVAILABLE else {best}
    prices = [kind.price_minor for kind, word in words if word in like_it]
    return Offer(event.id, event.currency, best, min(prices, default=None), max(prices, default=None))
