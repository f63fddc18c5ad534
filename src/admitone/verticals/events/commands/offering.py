"""What is sold for an event: ticket types, in the order in which people see them, and the pools they draw from.

Promise: every type has a pool of its own, and shares only pools of its event; how many there are changes through the
stock, never below what is kept and sold. What is offered changes for whoever orders next: what somebody ordered keeps
its price, what it is good for stays as it was sold, and it counts where it was taken from: a pool that a type came to
later would hold more people than it has places.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller
from admitone.selling.stock import api as stock
from admitone.selling.stock.api import Need, Pool, PoolId, PoolPut, UnitsPut
from admitone.verticals.events.errors import (
    EventNotFound,
    EventOvertaken,
    FrozenBySale,
    NotSeated,
    SharedPoolNotFound,
    TicketTypeNotFound,
    TooManyParts,
)
from admitone.verticals.events.facts import TicketTypeChanged
from admitone.verticals.events.model import (
    Event,
    EventId,
    Session,
    SessionId,
    SharedPool,
    TicketType,
    TicketTypeId,
    TypeStatus,
)
from admitone.verticals.events.policy import (
    MOST_POOLS,
    MOST_TYPES,
    may_cost_nothing,
    why_closed_to_edits,
    why_not_type,
)
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import planning as written
from admitone.verticals.events.store.planning import PoolRow


class Terms(msgspec.Struct, frozen=True):
    """On what terms a type is sold."""

    name: str
    price_minor: int
    description: str = ""
    allows_zero: bool = False
    free_per_person: int = 1
    shared_pools: tuple[UUID, ...] = ()
    sales_from: datetime | None = None
    sales_until: datetime | None = None
    most_per_order: int = 10
    most_per_buyer: int | None = None
    status: TypeStatus = TypeStatus.ON_SALE
    sessions: tuple[SessionId, ...] = ()


class Supply(msgspec.Struct, frozen=True):
    """How many there are: so many, or these seats."""

    capacity: int = 0
    seats: tuple[str, ...] | None = None


class Offering(msgspec.Struct, frozen=True):
    """Something new."""

    caller: Caller
    event: EventId
    ticket_type: TicketTypeId
    terms: Terms
    supply: Supply


class Revising(msgspec.Struct, frozen=True):
    """The same on other terms."""

    caller: Caller
    event: EventId
    ticket_type: TicketTypeId
    version: int
    """As it was seen."""
    terms: Terms
    supply: Supply | None = None
    """Left out: as many as there are."""


class Arranging(msgspec.Struct, frozen=True):
    """People see these in this order, and what is not named after them."""

    caller: Caller
    event: EventId
    order: tuple[TicketTypeId, ...]


class Sharing(msgspec.Struct, frozen=True):
    """A pool for several types: new, or so large from now on."""

    caller: Caller
    event: EventId
    pool: PoolId
    label: str
    capacity: int
    is_new: bool


class Ground(msgspec.Struct, frozen=True):
    """Events that are locked, with all that belongs to them."""

    events: Mapping[EventId, Event]
    sessions: Mapping[EventId, tuple[Session, ...]]
    pools: Mapping[EventId, tuple[SharedPool, ...]]
    types: dict[EventId, dict[TicketTypeId, TicketType]]
    """As they stand after what was decided so far."""

    def why_not(self, kind: TicketType) -> Refusal | None:
        own = kind.event_id
        sessions = {each.id for each in self.sessions[own]}
        return why_not_type(self.events[own], kind, sessions, {each.id for each in self.pools[own]})


Asked = Offering | Revising | Arranging


async def _lock(tx: Tx, asked: Sequence[Asked]) -> Ground:
    events = await store.lock_events(tx, asked, lambda each: each.event)
    types = await store.find_types_of_events(tx, events)
    return Ground(
        events,
        await store.find_sessions(tx, events),
        await written.find_shared_pools(tx, events),
        {own: {each.id: each for each in kinds} for own, kinds in types.items()},
    )


@command(keyed_by=lambda offering: offering.event)
async def offer(tx: Tx, offerings: Sequence[Offering]) -> list[TicketType | Refusal]:
    """The last in the order of display."""
    ground = await _lock(tx, offerings)
    outcomes: list[TicketType | Refusal] = []
    for each in offerings:
        kind = _offered(ground, each, tx.now)
        if isinstance(kind, TicketType):
            ground.types[each.event][kind.id] = kind
        outcomes.append(kind)
    fresh = [(each, kind) for each, kind in zip(offerings, outcomes, strict=True) if isinstance(kind, TicketType)]
    supplied = await _supply(tx, [(each, kind, each.supply) for each, kind in fresh])
    assert not any(isinstance(each, Refusal) for each in supplied), "nobody has anything of a pool that is new"
    await written.insert_types(tx, [kind for _, kind in fresh])
    await _tell(tx, [(each.caller, "ticket_type.offered", kind) for each, kind in fresh])
    return outcomes


def _offered(ground: Ground, each: Offering, now: datetime) -> TicketType | Refusal:
    event = ground.events.get(each.event)
    if event is None:
        return EventNotFound()
    if refusal := why_closed_to_edits(event):
        return refusal
    there = ground.types[event.id].values()
    if len(there) >= MOST_TYPES:
        return TooManyParts(most=MOST_TYPES)
    kind = TicketType(
        id=each.ticket_type,
        event_id=event.id,
        pool_id=PoolId.new().uuid,
        seated=each.supply.seats is not None,
        position=max((kind.position for kind in there), default=0) + 1,
        version=1,
        created_at=now,
        changed_at=now,
        **_on_terms(event, each.terms),
    )
    return ground.why_not(kind) or kind


@command(keyed_by=lambda revising: revising.event)
async def revise(tx: Tx, revisings: Sequence[Revising]) -> list[TicketType | Refusal]:
    ground = await _lock(tx, revisings)
    before = {own: kind for kinds in ground.types.values() for own, kind in kinds.items()}
    taken = await _lock_taken(tx, revisings, before)
    outcomes: list[TicketType | Refusal] = []
    # One after the other: whether the stock allows it decides whether the next sees it.
    for each in revisings:
        kind = _revised(ground, each, tx.now, is_taken=each.ticket_type in taken)
        if isinstance(kind, TicketType) and each.supply is not None:
            [supplied] = await _supply(tx, [(each, kind, each.supply)])
            kind = supplied if isinstance(supplied, Refusal) else kind
        if isinstance(kind, TicketType):
            ground.types[each.event][kind.id] = kind
        outcomes.append(kind)
    done = [(each, kind) for each, kind in zip(revisings, outcomes, strict=True) if isinstance(kind, TicketType)]
    last = {kind.id: kind for _, kind in done}
    await written.write_types(tx, before, [last[own] for own in sorted(last)])
    await _tell(tx, [(each.caller, "ticket_type.revised", kind) for each, kind in done])
    return outcomes


async def _lock_taken(
    tx: Tx, revisings: Sequence[Revising], known: Mapping[TicketTypeId, TicketType]
) -> set[TicketTypeId]:
    """Of which somebody has something. Whoever orders locks the same pools: they come before, and are counted, or
    after, and see what is offered by then. What is overdue counts too: it is its buyer's until somebody else has it."""
    kinds = [(each, known[each.ticket_type]) for each in revisings if each.ticket_type in known]
    pools = await stock.lock_pools(tx, [Need(each, PoolId(kind.pool_id)) for each, kind in kinds])
    return {kind.id for _, kind in kinds if (own := pools[PoolId(kind.pool_id)]).held + own.sold}


def _revised(ground: Ground, each: Revising, now: datetime, *, is_taken: bool) -> TicketType | Refusal:
    event = ground.events.get(each.event)
    before = ground.types[each.event].get(each.ticket_type) if event else None
    if event is None or before is None:
        return TicketTypeNotFound() if event else EventNotFound()
    if refusal := why_closed_to_edits(event):
        return refusal
    if each.version != before.version:
        return EventOvertaken(version=before.version)
    if each.supply is not None and before.seated != (each.supply.seats is not None):
        return NotSeated()
    kind = replace(before, version=before.version + 1, changed_at=now, **_on_terms(event, each.terms))
    if (is_taken or event.first_sold_at is not None) and kind.sessions != before.sessions:
        return FrozenBySale(field="sessions")
    if is_taken and {*kind.shared_pools} != {*before.shared_pools}:
        return FrozenBySale(field="shared_pools")
    return ground.why_not(kind) or kind


@command(keyed_by=lambda arranging: arranging.event)
async def arrange(tx: Tx, arrangings: Sequence[Arranging]) -> list[tuple[TicketTypeId, ...] | Refusal]:
    """In which order people see them."""
    ground = await _lock(tx, arrangings)
    before = {own: kind for kinds in ground.types.values() for own, kind in kinds.items()}
    outcomes: list[tuple[TicketTypeId, ...] | Refusal] = []
    for each in arrangings:
        kinds = ground.types.get(each.event)
        if kinds is None or not {*each.order} <= kinds.keys():
            outcomes.append(EventNotFound() if kinds is None else TicketTypeNotFound())
            continue
        rest = sorted(kinds.keys() - {*each.order}, key=lambda own: (kinds[own].position, own))
        order = (*dict.fromkeys(each.order), *rest)
        for position, own in enumerate(order, 1):
            kinds[own] = replace(kinds[own], position=position)
        outcomes.append(order)
    moved = [
        replace(kind, version=kind.version + 1, changed_at=tx.now)
        for kinds in ground.types.values()
        for own, kind in sorted(kinds.items())
        if kind.position != before[own].position
    ]
    await written.write_types(tx, before, moved)
    return outcomes


@command(keyed_by=lambda sharing: sharing.event)
async def share(tx: Tx, sharings: Sequence[Sharing]) -> list[Pool | Refusal]:
    """A pool that types of an event may draw from, beside their own."""
    events = await store.lock_events(tx, sharings, lambda each: each.event)
    known = {own: {each.id for each in pools} for own, pools in (await written.find_shared_pools(tx, events)).items()}
    there = [Need(each, each.pool) for each in sharings if each.pool.uuid in known.get(each.event, ())]
    # All at once and in their order, not as they came: whoever sells out of several of them has some already.
    await stock.lock_pools(tx, there)
    outcomes: list[Pool | Refusal] = []
    for each in sharings:
        if refusal := _why_not_shared(events.get(each.event), known.get(each.event, set()), each):
            outcomes.append(refusal)
            continue
        [put] = await stock.put_pools(tx, [PoolPut(each, each.pool, each.capacity)])
        if isinstance(put, Pool):
            known[each.event].add(each.pool.uuid)
            await written.put_shared_pools(tx, [PoolRow(each.event, each.pool.uuid, each.label, tx.now)])
        outcomes.append(put)
    done = [each for each, outcome in zip(sharings, outcomes, strict=True) if isinstance(outcome, Pool)]
    entries = [audit.Entry(each.caller, "event.shared_pool", str(each.event), after=_supplied(each)) for each in done]
    await audit.record(tx, entries)
    return outcomes


def _supplied(each: Sharing) -> dict[str, object]:
    return {"pool": str(each.pool), "capacity": each.capacity}


def _why_not_shared(event: Event | None, known: set[UUID], each: Sharing) -> Refusal | None:
    if event is None:
        return EventNotFound()
    if each.pool.uuid not in known and not each.is_new:
        return SharedPoolNotFound(pool=str(each.pool))
    return TooManyParts(most=MOST_POOLS) if each.is_new and len(known) >= MOST_POOLS else why_closed_to_edits(event)


def _on_terms(event: Event, terms: Terms) -> dict[str, Any]:
    """As the row has them: that it may cost nothing was decided for it, or for the event (FIN-085)."""
    return msgspec.structs.asdict(terms) | {"allows_zero": may_cost_nothing(event, terms.allows_zero)}


async def _supply(tx: Tx, wanted: Sequence[tuple[Offering | Revising, TicketType, Supply]]) -> list[Pool | Refusal]:
    """Of each as many as it should be; in the order of the wanted."""
    plain = [(n, each) for n, each in enumerate(wanted) if each[2].seats is None]
    seated = [(n, each) for n, each in enumerate(wanted) if each[2].seats is not None]
    pools = [PoolPut(asked, PoolId(kind.pool_id), supply.capacity) for _, (asked, kind, supply) in plain]
    units = [UnitsPut(asked, PoolId(kind.pool_id), supply.seats or ()) for _, (asked, kind, supply) in seated]
    put = [*(await stock.put_pools(tx, pools) if pools else ()), *(await stock.put_units(tx, units) if units else ())]
    by_place = dict(zip([n for n, _ in (*plain, *seated)], put, strict=True))
    return [by_place[n] for n in range(len(wanted))]


async def _tell(tx: Tx, told: Sequence[tuple[Caller, str, TicketType]]) -> None:
    for caller, _, kind in told:
        fact = TicketTypeChanged(ticket_type_id=kind.id, event_id=kind.event_id, type_version=kind.version)
        tx.publish(caller, fact)
    entries = [
        audit.Entry(
            caller,
            action,
            str(kind.id),
            after={"version": kind.version, "price_minor": kind.price_minor, "status": kind.status},
        )
        for caller, action, kind in told
    ]
    await audit.record(tx, entries)
