"""What the tickets of some events cost from, and whether there are any: what a list says beside each of them.

Promise: whatever was never published is left out as if it had never been. It is asked of the events themselves, so a
list that is behind never promises what is gone.
"""

from typing import Annotated, Final

from msgspec import Meta

from admitone.kernel.contracts import Call, Example, Minor, Wire
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Scope
from admitone.verticals.events.model import EventId
from admitone.verticals.events.offers import Offer
from admitone.verticals.events.policy import Availability
from admitone.verticals.events.queries import list_offers
from admitone.verticals.events.routes.public import FOR_A_MOMENT, public
from admitone.verticals.events.routes.wires import SOME_EVENT, SOME_ORGANIZATION


class OffersRequest(Wire):
    organization_id: OrganizationId
    event_id: Annotated[list[EventId], Meta(min_length=1, max_length=100)]
    """Each once, or more often."""


class OfferAnswer(Wire):
    event_id: EventId
    currency: str
    availability: Availability | None
    """Of the best that there is; nothing, if there are no tickets."""
    lowest_minor: Minor | None
    """Of those that can be had; of all, if none can."""
    highest_minor: Minor | None

    @classmethod
    def of(cls, offer: Offer) -> "OfferAnswer":
        return cls(
            event_id=offer.event_id,
            currency=offer.currency,
            availability=offer.availability,
            lowest_minor=offer.lowest_minor,
            highest_minor=offer.highest_minor,
        )


class OffersAnswer(Wire):
    offers: list[OfferAnswer]


of_events = public(
    "OFFERS",
    "What tickets of an organisation's events cost from, and whether there are any.",
    get="/api/organizations/{organizationId}/offers",
    takes=OffersRequest,
    gives=OffersAnswer,
    order_key="eventId",
    cache=FOR_A_MOMENT,
    conditional=True,
    examples=(
        Example(
            "One",
            takes=OffersRequest(organization_id=SOME_ORGANIZATION, event_id=[SOME_EVENT]),
            gives=OffersAnswer(offers=[OfferAnswer.of(Offer(SOME_EVENT, "EUR", Availability.AVAILABLE, 1500, 4500))]),
        ),
    ),
)


@of_events.serves
async def see_offers(call: Call, request: OffersRequest) -> OffersAnswer:
    scope = Scope(request.organization_id, "show what its tickets cost")
    wanted = list(dict.fromkeys(request.event_id))
    return OffersAnswer(offers=[OfferAnswer.of(each) for each in await call.read(list_offers, wanted, scope=scope)])


CONTRACTS: Final = (of_events,)
