"""Rights, and the links to them, follow their event: to another time, and to rules that let in by more.

Promise: what was sold is good when its event takes place, and by every way in that its policy has since allowed;
nobody's right becomes less (ENT-015), and what was over by its former time comes back. Each step looks at the event as
it is, under its lock, so that of two changes the later one counts, whichever is carried out last. What was being
granted meanwhile is looked for once more, later.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import msgspec

from admitone.entitlements import api as entitlements
from admitone.entitlements.api import Entitlement, Relaxing, Rescheduling, Status, Wanted
from admitone.finance.sources.api import SourceType
from admitone.kernel.bulk import Progress, Step, bulk, start
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Job, Kind, Subscription, enqueue, handler
from admitone.verticals.events.facts import AccessPolicyChanged, EventFact, EventRescheduled
from admitone.verticals.events.model import EventId, EventStatus, OrderId
from admitone.verticals.events.policy import closes_at, window_of
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import guest_links

AT_A_TIME: Final = 200
"""In one transaction: doors wait for none of them for long."""
STRAGGLING: Final = timedelta(minutes=2)
"""Longer than any transaction of ours is left open."""
HEARD: Final[tuple[type[EventFact], ...]] = (EventRescheduled, AccessPolicyChanged)
BEGINNING: Final = UUID(int=0)


class Follow(msgspec.Struct, frozen=True):
    """Bring the rights of this event up to it, as it is after so many changes or later."""

    event_id: EventId
    event_version: int


@bulk("events.follow", of=Follow)
async def follow(tx: Tx, step: Step[Follow]) -> Progress:
    own = step.request.event_id
    event = (await store.lock_events(tx, [own], lambda each: each)).get(own)
    if event is None or event.status is EventStatus.CANCELLED:
        return Progress(step.cursor, 0, finished=True)
    policy = (await store.find_policies(tx, [own]))[own]
    sessions = {str(each.id): each for each in (await store.find_sessions(tx, [own]))[own]}
    after = UUID(step.cursor) if step.cursor else BEGINNING
    rights: Sequence[Entitlement] = await entitlements.list_rights(tx, Wanted(str(own)), after, AT_A_TIME)
    standing = [each for each in rights if each.status is not Status.REVOKED]
    windows = {each.id: window_of(event, sessions.get(each.session_id or "")) for each in standing}
    late = [each.id for each in standing if (each.valid_from, each.valid_until) != windows[each.id]]
    await entitlements.reschedule(tx, [Rescheduling(step.caller, each, *windows[each]) for each in late])
    # Afterwards: what came back by it is let in by the rules in force, too.
    wider = [Relaxing(step.caller, each.id, policy.checkin, policy.version) for each in standing]
    await entitlements.relax(tx, wider)
    orders = {OrderId.parse(each.source.id) for each in rights if each.source.type is SourceType.TICKET_ORDER}
    await guest_links.put_off_links(tx, orders, closes_at(event, sessions.values()))
    cursor = str(rights[-1].id.uuid) if rights else step.cursor
    return Progress(cursor, len(rights), finished=len(rights) < AT_A_TIME)


@handler("events.follow_rest")
async def follow_rest(tx: Tx, jobs: Sequence[Delivered[Follow]]) -> None:
    for each in jobs:
        await start(tx, follow, each.payload, each.caller, key=f"{_key(each.payload)}:rest")


def _hears(fact: type[EventFact]) -> Kind[Any]:
    async def hear(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
        for each in told:
            wanted = Follow(each.payload.event_id, each.payload.event_version)
            await start(tx, follow, wanted, each.caller, key=_key(wanted))
            rest = Job.of(
                follow_rest, wanted, each.caller, key=f"events.follow_rest:{_key(wanted)}", run_at=tx.now + STRAGGLING
            )
            await enqueue(tx, [rest])

    return Kind(f"events.follow_{fact.name.rpartition('.')[2]}", fact, hear, outside=False)


def _key(wanted: Follow) -> str:
    return f"{wanted.event_id}:{wanted.event_version}"


SUBSCRIPTIONS: Final = tuple(Subscription(fact, _hears(fact)) for fact in HEARD)
JOBS: Final = (*(each.kind for each in SUBSCRIPTIONS), follow, follow_rest)
