"""An event as search engines read it: JSON-LD of schema.org.

Promise: it says what the page says, of prices what one piece costs whoever buys it, and nothing of what nobody said;
and it can stand inside a script element as it is, whatever people wrote: no sign in it ends the element or begins
another.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from admitone.kernel.clock import local, zone
from admitone.kernel.money import Money
from admitone.verticals.events.model import Event, EventStatus, TicketType, TicketTypeId
from admitone.verticals.events.policy import Availability

SCHEMA: Final = "https://schema.org"
IN_WORDS: Final = {
    Availability.AVAILABLE: "InStock",
    Availability.FEW_LEFT: "LimitedAvailability",
    Availability.SOLD_OUT: "SoldOut",
    Availability.NOT_YET: "PreOrder",
    Availability.OVER: "Discontinued",
}
# Harmless as they stand in JSON, and not in a page or in a script.
UNSAFE: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def structured_data(
    event: Event,
    types: Iterable[TicketType],
    words: Mapping[TicketTypeId, Availability],
    organizer: str,
    to_pay: Mapping[Money, Money],
) -> str:
    """Ready for a script element."""
    place = event.venue
    status = "EventCancelled" if event.status is EventStatus.CANCELLED else "EventScheduled"
    address = _thing(
        "PostalAddress", streetAddress=place.address, addressLocality=place.city, addressCountry=place.country
    )
    told = _thing(
        "Event",
        name=event.title,
        description=event.description,
        startDate=_there(event.starts_at, event.time_zone),
        endDate=_there(event.ends_at, event.time_zone),
        eventStatus=f"{SCHEMA}/{status}",
        location=_thing("Place", name=place.name, address=address),
        organizer=_thing("Organization", name=organizer),
        offers=[_offer(each, event, words[each.id], to_pay) for each in types],
        typicalAgeRange=f"{event.least_age}-" if event.least_age else "",
    )
    return msgspec.json.encode({"@context": SCHEMA, **told}).decode().translate(UNSAFE)


def _offer(kind: TicketType, event: Event, word: Availability, to_pay: Mapping[Money, Money]) -> dict[str, Any]:
    price = to_pay.get(Money(kind.price_minor, event.currency))
    return _thing(
        "Offer",
        name=kind.name,
        price=f"{price.decimal():f}" if price else "",
        priceCurrency=event.currency if price else "",
        availability=f"{SCHEMA}/{IN_WORDS[word]}",
        validFrom=_there(kind.sales_from, event.time_zone) if kind.sales_from else "",
    )


def _thing(kind: str, **parts: Any) -> dict[str, Any]:
    """With what is said of it; where nothing is said there is no such thing."""
    said = {name: part for name, part in parts.items() if part}
    return {"@type": kind, **said} if said else {}


def _there(at: datetime, name: str) -> str:
    return local(at, zone(name)).isoformat()
