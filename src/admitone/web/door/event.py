"""The event whose door it is, and those that one may choose from.

Promise: an event of another organisation is not found. Whoever works at doors and sees no drafts sees what is public.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from admitone.kernel.contracts import Call
from admitone.kernel.errors import Forbidden, NotFound
from admitone.verticals.events.api import EventId
from admitone.verticals.events.routes import planning, public
from admitone.verticals.events.routes.answers import EventAnswer
from admitone.verticals.events.routes.planning import EventsRequest
from admitone.verticals.events.routes.public import OrganizationListRequest, PageOfEventRequest
from admitone.verticals.events.routes.wires import EventRequest, SessionWire
from admitone.web.console.place import Place
from admitone.web.form import filled

LOOKED_BACK: Final = timedelta(days=30)
"""A run of a theatre is still on after weeks."""
DOORS_CLOSE: Final = timedelta(hours=12)
MOST_EVENTS: Final = 100


class DoorNotFound(NotFound):
    """This organisation has no such event."""


@dataclass(frozen=True)
class Door:
    """An event as its door sees it."""

    id: EventId
    title: str
    starts_at: datetime
    ends_at: datetime
    time_zone: str
    sessions: tuple[SessionWire, ...] = ()
    undo_minutes: int = 10
    by_hand: bool = True


async def list_doors(call: Call, place: Place) -> list[Door]:
    """What is on or comes, the first one first."""
    now = datetime.now(UTC)
    lines = await _lines(call, place, now - LOOKED_BACK)
    return [each for each in lines if each.ends_at + DOORS_CLOSE > now]


async def _lines(call: Call, place: Place, since: datetime) -> list[Door]:
    try:
        wanted = filled(EventsRequest, status="PUBLISHED", since=since, limit=MOST_EVENTS)
        found = await call.ask(planning.mine, wanted, organization=place.id)
    except Forbidden:
        found = await call.ask(
            public.of_organization, OrganizationListRequest(organization_id=place.id, limit=MOST_EVENTS)
        )
    return [Door(each.event_id, each.title, each.starts_at, each.ends_at, each.time_zone) for each in found.items]


async def find_door(call: Call, place: Place, event: EventId) -> Door:
    try:
        return _planned(await call.ask(planning.show, EventRequest(event_id=event), organization=place.id))
    except Forbidden:
        page = await call.ask(public.one, PageOfEventRequest(event_id=event))
    if page.organizer.organization_id != place.id:
        raise DoorNotFound
    return Door(page.event_id, page.title, page.starts_at, page.ends_at, page.time_zone, tuple(page.sessions))


def _planned(event: EventAnswer) -> Door:
    checkin = event.access_policy.checkin
    return Door(
        event.event_id,
        event.title,
        event.starts_at,
        event.ends_at,
        event.time_zone,
        tuple(event.sessions),
        checkin.undo_window_minutes,
        "MANUAL" in checkin.methods,
    )
