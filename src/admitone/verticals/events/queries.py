"""What is asked about events: all of one, for its organiser and for whoever looks at its page."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.foundation.organizations.api import get_organization
from admitone.kernel.db import Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.scope import Scope
from admitone.selling.stock.api import Pool, PoolId, find_pools
from admitone.verticals.events.model import (
    AccessPolicy,
    Event,
    EventId,
    Session,
    SharedPool,
    TicketType,
    TicketTypeId,
    TypeStatus,
)
from admitone.verticals.events.policy import SalesRules, is_listed, is_public, sales_rules
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store.listing import Wanted, list_of_organization
from admitone.verticals.events.store.planning import find_shared_pools

EVERYWHERE: Final = Scope(PLATFORM_ORGANIZATION, "show what is on, whoever's it is")
EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)
FIRST: Final = UUID(int=0)
MOST_IN_FEED: Final = 500


class Plan(msgspec.Struct, frozen=True):
    """An event with all that belongs to it."""

    event: Event
    policy: AccessPolicy
    sessions: tuple[Session, ...]
    types: tuple[TicketType, ...]
    shared: tuple[SharedPool, ...]
    pools: Mapping[UUID, Pool]

    def free(self, kind: TicketType) -> int:
        """How many can be had: of all that it draws from the least."""
        return min((self.pools[own].free if own in self.pools else 0) for own in kind.pools)


async def find_plan(tx: Tx, own: EventId) -> Plan | None:
    event = (await store.find_events(tx, [own])).get(own)
    if event is None:
        return None
    types = (await store.find_types_of_events(tx, [own]))[own]
    shared = (await find_shared_pools(tx, [own]))[own]
    pools = await find_pools(tx, {PoolId(each) for kind in types for each in kind.pools} | _ids(shared))
    return Plan(
        event,
        (await store.find_policies(tx, [own]))[own],
        (await store.find_sessions(tx, [own]))[own],
        types,
        shared,
        {each.uuid: pool for each, pool in pools.items()},
    )


def _ids(shared: Sequence[SharedPool]) -> set[PoolId]:
    return {PoolId(each.id) for each in shared}


# -- For everybody


class PublicPage(msgspec.Struct, frozen=True):
    """What whoever has its link may know of an event."""

    plan: Plan
    types: tuple[TicketType, ...]
    rules: SalesRules
    organizer: str
    now: datetime


async def find_public(tx: Tx, own: EventId, linked: TicketTypeId | None) -> PublicPage | None:
    """Nothing of what was never published. `linked`: a hidden type that somebody has the link of."""
    plan = await find_plan(tx, own)
    if plan is None or not is_public(plan.event):
        return None
    types = tuple(
        each
        for each in plan.types
        if each.status is TypeStatus.ON_SALE or (each.status is TypeStatus.HIDDEN and each.id == linked)
    )
    rules = sales_rules(plan.event, plan.policy, types, tx.now)
    return PublicPage(plan, types, rules, (await get_organization(tx)).settings.display_name, tx.now)


async def find_in_calendar(tx: Tx, own: EventId) -> tuple[Event, tuple[Session, ...]] | None:
    """Also one that is cancelled: whoever has it in their calendar should see so."""
    event = (await store.find_events(tx, [own])).get(own)
    if event is None or not is_public(event):
        return None
    return event, (await store.find_sessions(tx, [own]))[own]


async def list_in_calendar(tx: Tx) -> list[tuple[Event, tuple[Session, ...]]]:
    """What an organisation has on, as its own rows say."""
    lines = await list_of_organization(tx, Wanted((EARLIEST, FIRST), LATEST, MOST_IN_FEED))
    ids = [each.event_id for each in lines]
    events, policies = await store.find_events(tx, ids), await store.find_policies(tx, ids)
    shown = [events[own] for own in ids if own in events and is_listed(events[own], policies[own], tx.now)]
    sessions = await store.find_sessions(tx, [each.id for each in shown])
    return [(each, sessions[each.id]) for each in shown]
