"""Where one stands in the console: which organisation or branch, as what, and which places there are.

Promise: what a page of the console shows is what the contracts say that it asks; this only finds out how the place is
called, and what to offer there. An organisation in which somebody is nothing is not found.
"""

from dataclasses import dataclass
from typing import Any, Final

from admitone.foundation.authority.api import covers
from admitone.foundation.organizations.routes import organizations
from admitone.foundation.organizations.routes.organizations import PlaceAnswer
from admitone.kernel.contracts import Call, Html, PageRequest
from admitone.kernel.errors import NotFound
from admitone.kernel.ids import OrganizationId
from admitone.web.page import show

MOST_PLACES: Final = 100
"""At a time."""
WORDS: Final[dict[str, str]] = {
    "": "Overview",
    "events": "Events",
    "orders": "Orders",
    "attendees": "Attendees",
    "financas": "Finance",
    "checkin": "Check-in",
    "team": "Team",
    "perfil": "Profile",
    "settings": "Settings",
}
"""The places of an organisation, by the last part of their address."""
NEEDED: Final[dict[str, str]] = {
    "events": "EVENTS_R",
    "orders": "EVENTS_R",
    "attendees": "EVENTS_R",
    "financas": "FINANCE_LEDGER_R",
    "checkin": "CHECKIN_R",
    "team": "TEAM_R",
    "perfil": "SETTINGS_R",
    "settings": "SETTINGS_R",
}
"""What one must be allowed to, so that a place is offered."""


def may(here: PlaceAnswer, permission: str) -> bool:
    """Whether to offer something that needs this. Whoever does it all the same is asked again by the contract."""
    return covers(here.scopes, permission)


class PlaceNotFound(NotFound):
    """There is no such organisation, or you are not in it."""


@dataclass(frozen=True)
class Place:
    """An organisation as one of its own people sees it."""

    here: PlaceAnswer

    @property
    def id(self) -> OrganizationId:
        return self.here.id

    @property
    def is_branch(self) -> bool:
        return self.here.group != self.here.id

    @property
    def zone(self) -> str:
        """By which its clocks are read, whoever looks."""
        return self.here.time_zone

    def may(self, permission: str) -> bool:
        return may(self.here, permission)

    def path(self, *parts: object) -> str:
        return "/".join(("/org", str(self.id), *map(str, parts))).rstrip("/")


async def enter(call: Call, organization: OrganizationId) -> Place:
    """The place, for somebody who is something there, however many they have."""
    cursor: str | None = None
    while True:
        found = await call.ask(organizations.mine, PageRequest(cursor=cursor, limit=MOST_PLACES))
        for each in found.items:
            if each.id == organization:
                return Place(each)
        if found.next_cursor is None:
            raise PlaceNotFound
        cursor = found.next_cursor


def show_in(call: Call, place: Place, tab: str, template: str, *, status: int = 200, **shown: Any) -> Html:
    """A page of the console, with its places on the left and the organisation on top."""
    offered = [name for name in WORDS if name not in NEEDED or place.may(NEEDED[name])]
    tabs = [(name, WORDS[name], place.path(name)) for name in offered]
    return show(call, template, status=status, place=place, tab=tab, tabs=tabs, **shown)
