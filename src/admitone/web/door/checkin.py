"""The doors of an organisation: which event, its list of rights, its sessions, its log.

Promise: everything shown was asked of contracts that look who asks. People are found by name only from the door itself,
where it is written down that somebody looked.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from msgspec.structs import replace

from admitone.entitlements.routes import lists, live, scanners
from admitone.entitlements.routes.lists import LogRequest, RightsRequest
from admitone.entitlements.routes.live import EventRequest
from admitone.kernel.contracts import Audience, Call, Html, PageRequest, Stream
from admitone.kernel.errors import Forbidden
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import EventId
from admitone.web.console.place import Place, enter, show_in
from admitone.web.door import words
from admitone.web.door.event import Door, find_door, list_doors
from admitone.web.form import Form, Typed
from admitone.web.lists import NEWEST_WORDS, OLDEST_WORDS, Listing, ListPage, Source, link
from admitone.web.page import page


class Tab(StrEnum):
    SCANNER = "scanner"
    LIST = "lista"
    SESSIONS = "sessoes"
    LOG = "logs"
    DEVICES = "dispositivos"
    """Later (ORG-030)."""


TAB_WORDS: Final[dict[Tab, str]] = {
    Tab.SCANNER: "Scanner",
    Tab.LIST: "List",
    Tab.SESSIONS: "Sessions",
    Tab.LOG: "Log",
}


RIGHTS: Final = Source(
    lists.rights,
    OLDEST_WORDS,
    (
        *("entitlement_id", "label", "session_id", "status", "source_type", "source_id", "holder_id"),
        *("entries", "max_entries", "duplicates", "consumed_at", "last_entry_at"),
    ),
    name="list",
)
LOG: Final = Source(
    lists.log,
    NEWEST_WORDS,
    (
        *("checkin_id", "at", "result", "reason_code", "entitlement_id", "session_id", "entry", "method", "gate"),
        *("device", "scanner_id", "offline", "recorded_at"),
    ),
    name="log",
)


class DevicesLater(Forbidden):
    """Devices are not managed here yet."""


class CheckinPage(ListPage, kw_only=True):
    organization_id: OrganizationId
    tab: Tab = Tab.SCANNER
    event: EventId | None = None
    search: Typed = ""
    status: Typed = ""
    used: Typed = ""
    result: Typed = ""
    gate: Typed = ""


checkin_page = page(
    "DOOR.CHECKIN",
    "The doors of an organisation.",
    get="/org/{organizationId}/checkin",
    takes=CheckinPage,
    audience=Audience.PERSON,
)


@dataclass(frozen=True)
class Chosen:
    """What the page is about, with the addresses that lead on from it."""

    place: Place
    asked: CheckinPage
    door: Door | None

    def at(self, tab: Tab) -> str:
        return link(self.place.path("checkin"), tab=tab, event=self.door.id if self.door else "")

    @property
    def tabs(self) -> list[tuple[str, str, bool]]:
        return [(self.at(tab), word, tab is self.asked.tab) for tab, word in TAB_WORDS.items()]

    @property
    def live(self) -> str:
        assert self.door is not None
        return f"/api/org/{self.place.id}/checkin/events/{self.door.id}/live"

    def door_path(self, door: Door) -> str:
        return self.place.path("checkin", door.id, "door")


@checkin_page.serves
async def show_checkin(call: Call, asked: CheckinPage) -> Html | Stream:
    place = await enter(call, asked.organization_id)
    if asked.tab is Tab.DEVICES:
        raise DevicesLater
    doors = await list_doors(call, place)
    door = await _chosen(call, place, asked, doors)
    shown = Chosen(place, asked, door)
    if asked.tab is Tab.SCANNER or door is None:
        return _show(call, shown, "door/events.html", doors=doors, may=await _may_let_in(call, place, doors))
    rows = await _rows(call, shown, door)
    if isinstance(rows, Stream):
        return rows
    counts = await call.ask(live.counts, EventRequest(event_id=str(door.id)), organization=place.id)
    template = {Tab.LIST: "door/rights.html", Tab.SESSIONS: "door/sessions.html", Tab.LOG: "door/log.html"}[asked.tab]
    return _show(call, shown, template, doors=doors, counts=counts, **rows)


async def _may_let_in(call: Call, place: Place, doors: list[Door]) -> bool:
    """Or only look; whoever may not even do that is turned away."""
    if not doors:
        return True
    first = EventRequest(event_id=str(doors[0].id))
    try:
        await call.ask(scanners.own_scanner, first, organization=place.id)
    except Forbidden:
        await call.ask(live.counts, first, organization=place.id)
        return False
    return True


async def _chosen(call: Call, place: Place, asked: CheckinPage, doors: list[Door]) -> Door | None:
    """The one that was asked for; where a list needs one, the first."""
    if asked.event is not None:
        return await find_door(call, place, asked.event)
    return await find_door(call, place, doors[0].id) if doors and asked.tab is not Tab.SCANNER else None


async def _rows(call: Call, shown: Chosen, door: Door) -> dict[str, Any] | Stream:
    if shown.asked.tab is Tab.SESSIONS:
        used = await call.ask(scanners.scanners, EventRequest(event_id=str(door.id)), organization=shown.place.id)
        return {"scanners": used.scanners, "labels": {str(each.session_id): each for each in door.sessions}}
    asked, event = replace(shown.asked, event=door.id), str(door.id)
    wanted: PageRequest
    if asked.tab is Tab.LIST:
        which = {"search": asked.search, "status": asked.status, "used": asked.used}
        source, wanted = RIGHTS, RIGHTS.asked(RightsRequest, asked, event_id=event, **which)
    else:
        which = {"result": asked.result, "gate": asked.gate.strip()}
        source, wanted = LOG, LOG.asked(LogRequest, asked, event_id=event, **which)
    found = await source.read(call, asked, wanted, shown.place.id)
    if isinstance(found, Stream):
        return found
    listing = Listing.of(asked, shown.place.path("checkin"), source.orders, found)
    return {"rows": found.items, "listing": listing, "form": Form.of(asked)}


def _show(call: Call, shown: Chosen, template: str, **more: Any) -> Html:
    return show_in(call, shown.place, "checkin", template, shown=shown, told=words, Tab=Tab, **more)


CONTRACTS: Final = (checkin_page,)
