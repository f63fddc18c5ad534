"""Lists of what is on, over all organisations: written from what is told of events.

Promise: whatever was told, in whichever order and how often, a list ends with the event as it is: each time the event
itself is looked at, and what was seen earlier never covers what was seen later. What was never published is in no list,
and cannot be found by its id. While an organisation has events switched off, no list shows any of it (ORG-013).
"""

from typing import Any, Final
from uuid import UUID

from admitone.foundation.organizations.facts import ModuleSwitched
from admitone.kernel.db import Tx
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import Delivered, Desk, Kind, Lane, Schedule, Subscription, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Scope
from admitone.verticals.events.facts import (
    AccessPolicyChanged,
    EventCancelled,
    EventChanged,
    EventFact,
    EventPublished,
    EventRescheduled,
)
from admitone.verticals.events.model import EventId
from admitone.verticals.events.policy import is_listed, is_public
from admitone.verticals.events.showing import MODULE, is_open
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store.listing import (
    LISTING,
    Entry,
    House,
    find_next_house,
    put_houses,
    put_listings,
    unlist_over,
)

LISTS: Final = Lane("event_lists", places=2)
AT_A_TIME: Final = 1_000
HEARD: Final[tuple[type[EventFact], ...]] = (
    EventPublished,
    EventChanged,
    EventRescheduled,
    EventCancelled,
    AccessPolicyChanged,
)


def _hears(fact: type[EventFact]) -> Kind[Any]:
    async def announce(desk: Desk, told: Delivered[Any]) -> None:
        scope = Scope(told.organization, "look at what is listed")
        entry = await desk.database.read(scope, _entry_of, told.payload.event_id)
        if entry is not None:
            await desk.database.run(LISTING, lambda tx: put_listings(tx, [entry]))

    name = f"events.list_{fact.name.rpartition('.')[2]}"
    return Kind(name, fact, announce, outside=True, lane=LISTS)


async def _entry_of(tx: Tx, own: EventId) -> Entry | None:
    event = (await store.find_events(tx, [own])).get(own)
    if event is None or not is_public(event):
        return None
    return Entry(event, is_listed(event, (await store.find_policies(tx, [own]))[own], tx.now))


@errand("events.list_house", lane=LISTS)
async def open_or_close(desk: Desk, told: Delivered[ModuleSwitched]) -> None:
    if told.payload.module == MODULE:
        await _look_at_house(desk, told.organization)


@errand("events.look_at_houses", lane=LISTS, seconds=3_600)
async def look_at_houses(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """What nobody heard of, because it was older than whoever hears of it, is found all the same."""
    house: OrganizationId | None = OrganizationId(UUID(int=0))
    while house:
        house = await desk.database.read(LISTING, find_next_house, house.uuid)
        if house:
            await _look_at_house(desk, house)


async def _look_at_house(desk: Desk, own: OrganizationId) -> None:
    house = await desk.database.read(Scope(own, "look whether events are on"), _house_of)
    await desk.database.run(LISTING, lambda tx: put_houses(tx, [house]))


async def _house_of(tx: Tx) -> House:
    return House(tx.scope.organization, await is_open(tx), tx.now)


@errand("events.unlist_over", lane=LISTS, seconds=300)
async def unlist(desk: Desk, firing: Delivered[Firing]) -> None:  # noqa: ARG001
    """Lists ask the clock too; this keeps them from reading past all that ever was."""
    while await desk.database.run(LISTING, lambda tx: unlist_over(tx, AT_A_TIME)) == AT_A_TIME:
        pass


SUBSCRIPTIONS: Final = (
    *(Subscription(fact, _hears(fact)) for fact in HEARD),
    Subscription(ModuleSwitched, open_or_close),
)
JOBS: Final = (*(each.kind for each in SUBSCRIPTIONS), look_at_houses, unlist)
SCHEDULES: Final = (
    Schedule("events.look_at_houses", "17 3 * * *", look_at_houses),
    Schedule("events.unlist_over", "7 * * * *", unlist),
)
