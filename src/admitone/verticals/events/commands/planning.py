"""Planning an event: it is drafted, described, scheduled, published, cancelled.

Promise: what an organiser decides is decided under the lock of the event's row, by what the event is then; who looked
at something older is told so. A published event never becomes a draft again, and a cancelled one is closed for good
(EVT-002). What follows from it elsewhere hears of it by a fact, and everything stands in the trail.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

import msgspec

from admitone.entitlements import api as entitlements
from admitone.entitlements.api import Status, Wanted
from admitone.finance.payments import api as payments
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller
from admitone.verticals.events.errors import EventIsOver, EventNotFound, EventOvertaken
from admitone.verticals.events.facts import (
    AccessPolicyChanged,
    EventCancelled,
    EventChanged,
    EventCreated,
    EventFact,
    EventPublished,
    EventRescheduled,
)
from admitone.verticals.events.model import (
    EVENT,
    About,
    AccessPolicy,
    Event,
    EventId,
    EventStatus,
    Schedule,
    SessionId,
    TicketType,
)
from admitone.verticals.events.policy import (
    why_closed_to_edits,
    why_not_event,
    why_not_policy,
    why_not_policy_now,
    why_not_rescheduled,
    why_not_schedule,
)
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import planning as written
from admitone.verticals.events.store.planning import PolicyRow

BEGINNING: Final = UUID(int=0)
ISSUED: Final = tuple(each for each in Status if each is not Status.PENDING)
"""A place that is kept is no right yet (ENT-018)."""


class Draft(msgspec.Struct, frozen=True):
    """There shall be an event."""

    caller: Caller
    event: EventId
    about: About
    schedule: Schedule
    currency: str
    policy: AccessPolicy


class Describing(msgspec.Struct, frozen=True):
    caller: Caller
    event: EventId
    version: int
    """As it was seen."""
    about: About


class Rescheduling(msgspec.Struct, frozen=True):
    """It, and its sessions, take place then: all of them are named."""

    caller: Caller
    event: EventId
    version: int
    schedule: Schedule
    fresh: frozenset[SessionId] = frozenset()
    """Which of the sessions are new."""


class Publishing(msgspec.Struct, frozen=True):
    caller: Caller
    event: EventId


class Cancelling(msgspec.Struct, frozen=True):
    caller: Caller
    event: EventId
    reason_code: str


class PolicyChange(msgspec.Struct, frozen=True):
    """Other rules: these, as the next version."""

    caller: Caller
    event: EventId
    policy: AccessPolicy
    """Its version is the one that was seen."""


class Move(msgspec.Struct, frozen=True):
    """An event before and after, what is told of it and what the trail says."""

    caller: Caller
    before: Event
    after: Event
    fact: type[EventFact]
    more: Mapping[str, Any] = {}
    reason_code: str | None = None


class _About(Protocol):
    @property
    def caller(self) -> Caller: ...
    @property
    def event(self) -> EventId: ...


Asked = TypeVar("Asked", bound=_About)
Decide = Callable[[Asked, Event], Move | Refusal | None]
"""What becomes of it, why not, or nothing, if it is so already."""


@command()
async def draft(tx: Tx, drafts: Sequence[Draft]) -> list[Event | Refusal]:
    outcomes = [_drafted(tx, each) for each in drafts]
    fresh = [(each, event) for each, event in zip(drafts, outcomes, strict=True) if isinstance(event, Event)]
    await written.insert_events(tx, [event for _, event in fresh])
    rows = [PolicyRow(event.id, each.policy, tx.now, each.caller.actor) for each, event in fresh]
    await written.insert_policies(tx, rows)
    for each, event in fresh:
        await written.put_sessions(tx, event.id, each.schedule.sessions, ())
        tx.publish(each.caller, EventCreated(event_id=event.id, event_version=event.version))
    await audit.record(tx, [audit.Entry(each.caller, EventCreated.name, str(each.event)) for each, _ in fresh])
    return outcomes


def _drafted(tx: Tx, each: Draft) -> Event | Refusal:
    if refusal := why_not_schedule(each.schedule) or why_not_policy(each.policy):
        return refusal
    return Event(
        organization=tx.scope.organization,
        id=each.event,
        status=EVENT.initial,
        starts_at=each.schedule.starts_at,
        ends_at=each.schedule.ends_at,
        time_zone=each.schedule.time_zone,
        currency=each.currency,
        policy_version=each.policy.version,
        first_sold_at=None,
        published_at=None,
        cancelled_at=None,
        version=1,
        created_at=tx.now,
        changed_at=tx.now,
        **msgspec.structs.asdict(each.about),
    )


@command(keyed_by=lambda describing: describing.event)
async def describe(tx: Tx, describings: Sequence[Describing]) -> list[Event | Refusal]:
    """What it says of itself. Its currency is for ever."""
    locked = await store.lock_events(tx, describings, lambda each: each.event)
    types = await store.find_types_of_events(tx, locked)

    def decide(each: Describing, event: Event) -> Move | Refusal | None:
        if refusal := why_closed_to_edits(event) or _overtaken(each.version, event):
            return refusal
        after = msgspec.structs.replace(event, **msgspec.structs.asdict(each.about))
        refusal = why_not_event(after, types[event.id])
        return refusal or Move(each.caller, event, after, EventChanged)

    return await _change(tx, locked, describings, decide)


@command(keyed_by=lambda rescheduling: rescheduling.event)
async def reschedule(tx: Tx, reschedulings: Sequence[Rescheduling]) -> list[Event | Refusal]:
    """When it takes place, with all its sessions. Rights that were given follow (`following`)."""
    locked = await store.lock_events(tx, reschedulings, lambda each: each.event)
    sessions = await store.find_sessions(tx, locked)
    types: Mapping[EventId, Sequence[TicketType]] = await store.find_types_of_events(tx, locked)

    def decide(each: Rescheduling, event: Event) -> Move | Refusal | None:
        refusal = _overtaken(each.version, event) or why_not_rescheduled(
            event, each.schedule, sessions[event.id], types[event.id], each.fresh, tx.now
        )
        if refusal:
            return refusal
        times = {name: getattr(each.schedule, name) for name in ("starts_at", "ends_at", "time_zone")}
        sessions[event.id] = each.schedule.sessions
        return Move(each.caller, event, msgspec.structs.replace(event, **times), EventRescheduled)

    before = dict(sessions)
    outcomes = await _change(tx, locked, reschedulings, decide)
    for event, now in sessions.items():
        if now is not before[event]:
            gone = {each.id for each in before[event]} - {each.id for each in now}
            await written.put_sessions(tx, event, now, gone)
    return outcomes


@command(keyed_by=lambda publishing: publishing.event)
async def publish(tx: Tx, publishings: Sequence[Publishing]) -> list[Event | Refusal]:
    """For good. Twice is once."""

    def decide(each: Publishing, event: Event) -> Move | Refusal | None:
        if event.status is EventStatus.PUBLISHED:
            return None
        if refusal := why_closed_to_edits(event):
            return refusal
        if event.ends_at <= tx.now:
            return EventIsOver()
        after = msgspec.structs.replace(event, status=EventStatus.PUBLISHED, published_at=tx.now)
        return Move(each.caller, event, after, EventPublished)

    return await _change(tx, await store.lock_events(tx, publishings, lambda each: each.event), publishings, decide)


@command(keyed_by=lambda cancelling: cancelling.event)
async def cancel(tx: Tx, cancellings: Sequence[Cancelling]) -> list[Event | Refusal]:
    """It does not take place. Twice is once."""

    def decide(each: Cancelling, event: Event) -> Move | Refusal | None:
        if event.status is EventStatus.CANCELLED:
            return None
        after = msgspec.structs.replace(event, status=EventStatus.CANCELLED, cancelled_at=tx.now)
        more = {"was_published": event.published_at is not None, "reason_code": each.reason_code}
        return Move(each.caller, event, after, EventCancelled, more, each.reason_code)

    return await _change(tx, await store.lock_events(tx, cancellings, lambda each: each.event), cancellings, decide)


@command(keyed_by=lambda change: change.event)
async def change_policy(tx: Tx, changes: Sequence[PolicyChange]) -> list[Event | Refusal]:
    """The next version, decided under the lock that the first sale takes too: whichever comes first, nobody who bought
    is held to rules that were made harder afterwards (EVT-017). Whoever has paid has bought, handed over or not, and so
    has who paid nothing; whoever was given a right has one. Those who pay lock no event: they are held up by name."""
    locked = await store.lock_events(tx, changes, lambda each: each.event)
    policies = await store.find_policies(tx, locked)
    await payments.hold_subjects(tx, [each.subject for each in locked.values() if each.first_sold_at is None])
    sold = await _find_sold(tx, locked.values())
    rows: list[PolicyRow] = []

    def decide(each: PolicyChange, event: Event) -> Move | Refusal | None:
        before = policies[event.id]
        refusal = (
            why_closed_to_edits(event)
            or (EventOvertaken(version=before.version) if each.policy.version != before.version else None)
            or why_not_policy_now(before, each.policy, is_sold=event.id in sold)
        )
        if refusal or each.policy == before:
            return refusal
        after = msgspec.structs.replace(each.policy, version=before.version + 1)
        policies[event.id] = after
        rows.append(PolicyRow(event.id, after, tx.now, each.caller.actor))
        more = {"policy_version": after.version}
        changed = msgspec.structs.replace(event, policy_version=after.version)
        return Move(each.caller, event, changed, AccessPolicyChanged, more)

    outcomes = await _change(tx, locked, changes, decide)
    await written.insert_policies(tx, rows)
    return outcomes


async def _find_sold(tx: Tx, events: Collection[Event]) -> set[EventId]:
    """Those of which anybody bought, paid for or was given anything."""
    paid = await payments.find_paid(tx, [each.subject for each in events])
    known = {each.id for each in events if each.first_sold_at is not None or each.subject in paid}
    return known | {each.id for each in events if each.id not in known and await _has_rights(tx, each.id)}


async def _has_rights(tx: Tx, event: EventId) -> bool:
    for status in ISSUED:
        if await entitlements.list_rights(tx, Wanted(str(event), status), BEGINNING, 1):
            return True
    return False


def _overtaken(seen: int, event: Event) -> Refusal | None:
    return EventOvertaken(version=event.version) if seen != event.version else None


async def _change(
    tx: Tx, locked: Mapping[EventId, Event], asked: Sequence[Asked], decide: Decide[Asked]
) -> list[Event | Refusal]:
    """Decide one after the other, then write."""
    standing, moves = dict(locked), list[Move]()
    outcomes: list[Event | Refusal] = []
    for each in asked:
        event = standing.get(each.event)
        said = decide(each, event) if event else EventNotFound()
        if isinstance(said, Move):
            after = msgspec.structs.replace(said.after, version=said.before.version + 1, changed_at=tx.now)
            standing[each.event] = after
            moves.append(msgspec.structs.replace(said, after=after))
        outcomes.append(said if isinstance(said, Refusal) else standing[each.event])
    changed = {move.after.id for move in moves}
    await written.write_events(tx, locked, [standing[own] for own in sorted(changed)])
    for move in moves:
        told = move.fact(event_id=move.after.id, event_version=move.after.version, **move.more)
        tx.publish(move.caller, told)
    await audit.record(tx, [_entry(move) for move in moves])
    return outcomes


def _entry(move: Move) -> audit.Entry:
    """Which columns changed; what they say is for the row to tell."""
    before, after = msgspec.structs.asdict(move.before), msgspec.structs.asdict(move.after)
    changed = [name for name in before if before[name] != after[name] and name not in ("version", "changed_at")]
    return audit.Entry(
        move.caller,
        move.fact.name,
        str(move.after.id),
        move.reason_code,
        before={"version": move.before.version, "status": move.before.status},
        after={"version": move.after.version, "status": move.after.status, "changed": changed, **move.more},
    )
