"""An event as search engines read it: JSON-LD of schema.org.

Promise: it says what the page says; and it can stand inside a script element as it is, whatever people wrote: no sign
in it ends the element or begins another.
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
    event: Event, types: Iterable[TicketType], words: Mapping[TicketTypeId, Availability], organizer: str
) -> str:
    """Ready for a script element."""
    place = event.venue
    status = "EventCancelled" if event.status is EventStatus.CANCELLED else "EventScheduled"
    address = {"streetAddress": place.address, "addressLocality": place.city, "addressCountry": place.country}
    told: dict[str, Any] = {
        "@context": SCHEMA,
        "@type": "Event",
        "name": event.title,
        "description": event.description,
        "startDate": _there(event.starts_at, event.time_zone),
        "endDate": _there(event.ends_at, event.time_zone),
        "eventStatus": f"{SCHEMA}/{status}",
        "location": {
            "@type": "Place",
            "name": place.name,
            "address": {"@type": "PostalAddress", **{key: said for key, said in address.items() if said}},
        },
        "organizer": {"@type": "Organization", "name": organizer},
        "offers": [_offer(each, event, words[each.id]) for each in types],
    }
    if event.least_age is not None:
        told["typicalAgeRange"] = f"{event.least_age}-"
    return msgspec.json.encode(told).decode().translate(UNSAFE)


def _offer(kind: TicketType, event: Event, word: Availability) -> dict[str, Any]:
    offer = {
        "@type": "Offer",
        "name": kind.name,
        "price": f"{Money(kind.price_minor, event.currency).decimal():f}",
        "priceCurrency": event.currency,
        "availability": f"{SCHEMA}/{IN_WORDS[word]}",
    }
    if kind.sales_from is not None:
        offer["validFrom"] = _there(kind.sales_from, event.time_zone)
    return offer


def _there(at: datetime, name: str) -> str:
    return local(at, zone(name)).isoformat()
