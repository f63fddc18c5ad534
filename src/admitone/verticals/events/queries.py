"""What is asked about events: all of one, for its organiser and for whoever looks at its page."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.pricing.api import find_to_pay
from admitone.finance.sources.api import SourceType
from admitone.foundation.organizations.api import Settings, get_organization
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.money import Money
from admitone.kernel.scope import Scope
from admitone.selling.stock.api import Pool, PoolId, find_pools
from admitone.verticals.events.errors import EventNotFound
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
from admitone.verticals.events.offers import Offer, offer_of
from admitone.verticals.events.policy import SalesRules, availability, is_listed, is_public, sales_rules
from admitone.verticals.events.showing import is_open
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
        return _free(kind, self.pools)


def _free(kind: TicketType, pools: Mapping[UUID, Pool]) -> int:
    """How many can be had: of all that it draws from the least."""
    return min((pools[own].free if own in pools else 0) for own in kind.pools)


async def find_plan(tx: Tx, own: EventId) -> Plan | None:
    events = await store.find_events(tx, [own])
    return (await _planned(tx, events, await find_shared_pools(tx, [own])))[own] if events else None


async def _planned(
    tx: Tx, events: Mapping[EventId, Event], shared: Mapping[EventId, tuple[SharedPool, ...]]
) -> dict[EventId, Plan]:
    types = await store.find_types_of_events(tx, events)
    drawn = {PoolId(each) for kinds in types.values() for kind in kinds for each in kind.pools}
    pools = await find_pools(tx, drawn | {PoolId(each.id) for some in shared.values() for each in some})
    by_number = {each.uuid: pool for each, pool in pools.items()}
    policies, sessions = await store.find_policies(tx, events), await store.find_sessions(tx, events)
    return {
        own: Plan(event, policies[own], sessions[own], types[own], shared.get(own, ()), by_number)
        for own, event in events.items()
    }


# -- For everybody


class PublicPage(msgspec.Struct, frozen=True):
    """What whoever has its link may know of an event."""

    plan: Plan
    types: tuple[TicketType, ...]
    rules: SalesRules
    organizer: Settings
    to_pay: Mapping[Money, Money]
    """By the price of a type, what one of it costs whoever buys it: with the fee, where that comes on top."""
    now: datetime


class Host(msgspec.Struct, frozen=True):
    """Whoever puts it on."""

    organizer: Settings
    is_on: bool
    """Whether they have events switched on."""


class Look(msgspec.Struct, frozen=True):
    """Somebody opens an event's page."""

    event: EventId
    linked: tuple[TicketTypeId, ...] = ()
    """Hidden types that they have the links of."""


@command(only_reads=True)
async def look_at(tx: Tx, looks: Sequence[Look]) -> list[PublicPage | Refusal]:
    """What each of them may see, of events of one organisation. Nothing of what was never published."""
    found = await store.find_events(tx, {each.event for each in looks})
    events = {own: each for own, each in found.items() if is_public(each)}
    if not events:
        return [EventNotFound() for _ in looks]
    plans = await _planned(tx, events, {})  # Which of its pools are shared is the organiser's business.
    prices = {Money(kind.price_minor, plan.event.currency) for plan in plans.values() for kind in plan.types}
    to_pay = await find_to_pay(tx, SourceType.TICKET_ORDER, prices)
    host = Host((await get_organization(tx)).settings, await is_open(tx))
    return [
        _public(plans[each.event], each.linked, host, to_pay, tx.now) if each.event in plans else EventNotFound()
        for each in looks
    ]


def _public(
    plan: Plan, linked: Collection[TicketTypeId], host: Host, to_pay: Mapping[Money, Money], now: datetime
) -> PublicPage:
    types = tuple(
        each
        for each in plan.types
        if each.status is TypeStatus.ON_SALE or (each.status is TypeStatus.HIDDEN and each.id in linked)
    )
    rules = sales_rules(plan.event, plan.policy, plan.sessions, types, now, is_on=host.is_on)
    return PublicPage(plan, types, rules, host.organizer, to_pay, now)


async def list_offers(tx: Tx, ids: Sequence[EventId]) -> list[Offer]:
    """Of those that were published; nobody learns of anything else whether it exists."""
    events = {own: each for own, each in (await store.find_events(tx, ids)).items() if is_public(each)}
    policies = await store.find_policies(tx, events)
    types = {
        own: [each for each in kinds if each.status is TypeStatus.ON_SALE]
        for own, kinds in (await store.find_types_of_events(tx, events)).items()
    }
    sessions = await store.find_named_sessions(tx, [kind for kinds in types.values() for kind in kinds])
    drawn = {PoolId(own) for kinds in types.values() for kind in kinds for own in kind.pools}
    pools = {own.uuid: pool for own, pool in (await find_pools(tx, drawn)).items()}
    is_on = await is_open(tx)
    offers = []
    for own, event in events.items():
        rules = sales_rules(event, policies[own], sessions.get(own, ()), types[own], tx.now, is_on=is_on)
        words = [(kind, availability(rules.types[kind.id], _free(kind, pools))[0]) for kind in types[own]]
        offers.append(offer_of(event, words))
    return offers


async def is_anything_on(tx: Tx) -> bool:
    """Whether lists show anything of this organisation's: what its profile has to publish."""
    return bool(await list_of_organization(tx, Wanted((EARLIEST, FIRST), LATEST, limit=1)))


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
