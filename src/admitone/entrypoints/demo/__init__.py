"""Something to try: two organisations with staff of every role, a festival on sale, an exhibition whose door is open, a
month of sales behind them, and one of those who run the platform.

Promise: on a person's own machine only, where nobody else reaches us; laid out by the same commands as everything else,
so that the books prove; laying it out again changes nothing, and goes on with what was cut off.
"""

from functools import partial

from admitone.entrypoints.demo.ground import Ground
from admitone.entrypoints.demo.houses import CLUB, HALL, MONTH, ORGANIZATIONS, House, open_house
from admitone.entrypoints.demo.month import GUEST, Month, welcome_guest
from admitone.entrypoints.demo.people import (
    BUYER,
    CROWD,
    PASSWORD,
    PLATFORM_ADMIN,
    PURPOSE,
    introduce,
    name_of,
    staff_of,
)
from admitone.entrypoints.demo.programme import MASKED_BALL, PROGRAMME, SHOWS, event_at, put_on
from admitone.entrypoints.demo.signs import Club, find_club, lines_of, signs_of
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.foundation.authority.api import MemberRole, Membership
from admitone.foundation.identity.api import is_anybody
from admitone.foundation.organizations.api import Appointment, appoint
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.scope import Caller, PeopleScope, Scope
from admitone.verticals.events.api import find_events

__all__ = (
    "BUYER",
    "CLUB",
    "HALL",
    "ORGANIZATIONS",
    "PASSWORD",
    "PLATFORM_ADMIN",
    "Club",
    "Ground",
    "find_club",
    "is_wanted",
    "lay_out",
    "lines_of",
    "signs_of",
    "staff_of",
)


async def is_wanted(ground: Ground) -> bool:
    """Where nobody has ever been, and where it was begun and cut off: its people come first, and all at once. Where
    there are people and none of them are its own, never."""
    club = await find_club(ground.database)
    if club is None:
        return not await ground.database.read(PeopleScope(PURPOSE), is_anybody)
    return not await _is_over(ground, club.own)


async def lay_out(ground: Ground) -> list[str]:
    """Whom one can be, by address."""
    everybody = [PLATFORM_ADMIN, BUYER, *(email for house in ORGANIZATIONS for email in staff_of(house))]
    ground.calendar.turn_to(ground.calendar.now() - MONTH)
    people = await introduce(ground.database, {email: name_of(email) for email in everybody})
    owners = [Appointment(Caller(), people[PLATFORM_ADMIN], Membership(MemberRole.OWNER))]
    await ground.database.run(Scope(PLATFORM_ORGANIZATION, PURPOSE), lambda tx: appoint(tx, owners))
    houses = {name: await open_house(ground, name, people) for name in ORGANIZATIONS}
    if not await _is_over(ground, houses[CLUB].own):
        await _begin(ground, houses, people)
    ground.calendar.return_to_now()
    return everybody


async def _is_over(ground: Ground, club: OrganizationId) -> bool:
    """The draft is what comes last."""
    return bool(await ground.database.read(Scope(club, PURPOSE), find_events, [event_at(club, MASKED_BALL)]))


async def _begin(ground: Ground, houses: dict[str, House], people: dict[str, IdentityId]) -> None:
    for house in houses.values():
        shows = [each for each in PROGRAMME if each.published]
        await ground.database.run(house.scope, partial(put_on, house=house, shows=shows))
    if ground.simulator is not None:
        crowd = await introduce(ground.database, CROWD)
        people = {**people, GUEST: await welcome_guest(ground)}
        with GATEWAYS.wired(Gateways([ground.gateway])):
            await Month(ground, houses, people, tuple(crowd.values())).live()
    ground.calendar.return_to_now()
    await ground.database.run(houses[CLUB].scope, lambda tx: put_on(tx, houses[CLUB], [SHOWS[MASKED_BALL]]))
