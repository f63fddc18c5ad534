"""Where to look, and as whom: for whoever has just started it.

Promise: one line for each place and each person, aligned; nobody is named who is not there. The door is one where
somebody can be let in now, as long as there is one.
"""

from dataclasses import dataclass

from admitone.entrypoints.demo.houses import CLUB
from admitone.entrypoints.demo.people import BUYER, PLATFORM_ADMIN, PURPOSE
from admitone.entrypoints.demo.programme import EXHIBITION, event_at
from admitone.foundation.identity.api import find_by_email
from admitone.foundation.organizations.api import new_id
from admitone.kernel.db import Database, PeopleTx, Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller, PeopleScope, Scope
from admitone.verticals.events.api import EventId, find_events

OWNER = f"owner@{CLUB}.example"
STEWARD = f"frontdesk@{CLUB}.example"


@dataclass(frozen=True)
class Club:
    """Clube Aurora, where the demonstration is laid out."""

    own: OrganizationId
    on: EventId | None
    """What it shows now; nothing once that is over."""


async def find_club(database: Database) -> Club | None:
    async def look(tx: PeopleTx) -> OrganizationId | None:
        owner = (await find_by_email(tx, [OWNER])).get(OWNER)
        return new_id(Caller(owner), f"demo:{CLUB}") if owner else None

    own = await database.read(PeopleScope(PURPOSE), look)
    return Club(own, await database.read(Scope(own, PURPOSE), _what_is_on, own)) if own else None


async def _what_is_on(tx: Tx, own: OrganizationId) -> EventId | None:
    found = (await find_events(tx, [event_at(own, EXHIBITION)])).values()
    return next((each.id for each in found if each.ends_at > tx.now), None)


def signs_of(address: str, club: Club) -> list[tuple[str, str, str]]:
    """Who somebody is, by which address they sign in, and where they begin."""
    home = f"{address}/org/{club.own}"
    return [
        ("Buyer", BUYER, f"{address}/wallet"),
        ("Steward", STEWARD, f"{home}/checkin/{club.on}/door" if club.on else f"{home}/checkin"),
        ("Organiser", OWNER, home),
        ("Accounts", OWNER, f"{home}/financas?tab=ledger"),
        ("Platform", PLATFORM_ADMIN, f"{address}/ops"),
    ]


def lines_of(signs: list[tuple[str, str, str]]) -> list[str]:
    return [f"  {who:<11}{email:<26}{where}" for who, email, where in signs]
