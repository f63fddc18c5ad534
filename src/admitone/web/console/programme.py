"""The events of an organisation to choose from, and the one that a page is about.

Promise: an event that is named is the one, whether it is among those to choose from or not; of none that is named it is
the one that takes place next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from admitone.kernel.contracts import Call, Wire
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import EventId, EventStatus
from admitone.verticals.events.routes import planning, sales
from admitone.verticals.events.routes.answers import EventAnswer, EventLine
from admitone.verticals.events.routes.planning import EventsOrder, EventsRequest
from admitone.verticals.events.routes.wires import EventRequest
from admitone.web.console.place import Place
from admitone.web.form import Typed, filled

MOST_EVENTS: Final = 100


class ExportForm(Wire):
    """What is taken away of an event, and why."""

    organization_id: OrganizationId
    event_id: Typed = ""
    reason_code: Typed = ""


@dataclass(frozen=True)
class Programme:
    events: list[EventLine]
    event: EventAnswer | None
    """None, if there is none at all."""

    @property
    def types(self) -> dict[object, str]:
        """What its tickets are called."""
        return {each.ticket_type_id: each.name for each in self.event.ticket_types} if self.event else {}


async def open_programme(call: Call, place: Place, wanted: EventId | str | None) -> Programme:
    """What there is to choose from, and what was chosen."""
    events = await list_events(call, place)
    chosen = wanted or getattr(await next_event(call, place, events), "event_id", None)
    if chosen is None:
        return Programme(events, None)
    asked = filled(EventRequest, event_id=chosen)
    return Programme(events, await call.ask(planning.show, asked, organization=place.id))


async def list_events(call: Call, place: Place) -> list[EventLine]:
    """The events to choose from, the latest first: of very many, those of long ago are left out."""
    asked = EventsRequest(order=EventsOrder.LATEST, limit=MOST_EVENTS)
    found: list[EventLine] = (await call.ask(planning.mine, asked, organization=place.id)).items
    return found


async def next_event(call: Call, place: Place, events: Sequence[EventLine]) -> EventLine | None:
    """Of these the next that takes place."""
    if not events:
        return None
    known = await call.ask(sales.totals, EventRequest(event_id=events[0].event_id), organization=place.id)
    if len(events) == MOST_EVENTS and events[-1].starts_at > known.at:  # All are ahead: nearer ones may be left out.
        nearest = EventsRequest(status=EventStatus.PUBLISHED, since=known.at, limit=1)
        events = [*events, *(await call.ask(planning.mine, nearest, organization=place.id)).items]
    return next_of(events, known.at)


def next_of(events: Sequence[EventLine], now: datetime) -> EventLine:
    """Of these, the latest first: what takes place next, or did last, and drafts only if there is nothing else."""
    public = [each for each in events if each.status is EventStatus.PUBLISHED] or [*events]
    ahead = [each for each in public if each.ends_at > now]
    return ahead[-1] if ahead else public[0]
