"""An event is cancelled: everybody has their money back, nobody has a right any more, and every buyer is written.

Promise (FIN-070): all that was paid for it goes back, once, by the cancellation that has the event's own id; what money
takes goes when it arrived, and what no money takes at once. Each buyer who had tickets is written once. Each of the
three is bulk work that goes on wherever it is killed. Whoever's payment succeeds after the event was cancelled is found
by issuing, which looks at the event and returns the money; whoever's had succeeded before is in the list, which is read
later. What cost nothing may still be being issued by one who looked before: it is looked for once more, later.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid5

import msgspec

from admitone.entitlements import api as entitlements
from admitone.entitlements.api import Entitlement, Revocation, Revoking, Status, Wanted
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment
from admitone.finance.pricing.api import Tampered
from admitone.finance.refunds import api as refunds
from admitone.finance.refunds.api import Cancellation, CancellationId, Reason
from admitone.kernel.bulk import Progress, Step, bulk, start
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Job, Priority, Subscription, enqueue, handler
from admitone.kernel.scope import Caller
from admitone.verticals.events.facts import EventCancelled
from admitone.verticals.events.model import Event, EventId, Order, OrderId, OrderState, Ticket
from admitone.verticals.events.queries import find_plan
from admitone.verticals.events.receipts import CalledOff, tell_called_off
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import orders
from admitone.verticals.events.store import tickets as ticket_store
from admitone.verticals.events.tracking import GONE

AT_A_TIME: Final = 200
STRAGGLING: Final = timedelta(minutes=2)
"""Longer than any transaction of ours is left open."""
BEGINNING: Final = UUID(int=0)


class Ending(msgspec.Struct, frozen=True):
    event_id: EventId


def cancellation_of(event: EventId) -> CancellationId:
    """The same whenever it is asked: an event is cancelled once."""
    return CancellationId(uuid5(event.uuid, "cancelled"))


def _refunds_of(event: Event) -> Cancellation:
    return Cancellation(
        cancellation_id=cancellation_of(event.id), subject=event.subject, reason=Reason.CANCELLED_BY_SELLER
    )


class Preview(msgspec.Struct, frozen=True):
    """What cancelling an event would do now."""

    event: Event
    tickets: int
    """That were sold, or given, and would be good no more."""
    kept: int
    """Which somebody is about to pay: what is paid later goes back at once."""
    refunds: refunds.Survey


async def preview(tx: Tx, own: EventId) -> Preview | None:
    """Nothing is done."""
    plan = await find_plan(tx, own)
    if plan is None:
        return None
    pools = [plan.pools[each.pool_id] for each in plan.types if each.pool_id in plan.pools]
    sold, held = sum(each.sold for each in pools), sum(each.held for each in pools)
    return Preview(plan.event, sold, held, await refunds.survey(tx, _refunds_of(plan.event)))


@handler("events.call_off", priority=Priority.CRITICAL)
async def call_off(tx: Tx, told: Sequence[Delivered[EventCancelled]]) -> None:
    for each in told:
        if not each.payload.was_published:  # Nothing was ever sold.
            continue
        own = each.payload.event_id
        event = (await store.find_events(tx, [own]))[own]
        await refunds.call_off(tx, _refunds_of(event), each.caller)
        await _end(tx, own, each.caller, str(own))
        rest = Job.of(
            call_off_rest, Ending(own), each.caller, key=f"events.call_off_rest:{own}", run_at=tx.now + STRAGGLING
        )
        await enqueue(tx, [rest])


@handler("events.call_off_rest")
async def call_off_rest(tx: Tx, jobs: Sequence[Delivered[Ending]]) -> None:
    for each in jobs:
        await _end(tx, each.payload.event_id, each.caller, f"{each.payload.event_id}:rest")


async def _end(tx: Tx, own: EventId, caller: Caller, key: str) -> None:
    await start(tx, end_rights, Ending(own), caller, key=key)
    await start(tx, tell_buyers, Ending(own), caller, key=key)


@bulk("events.end_rights", of=Ending)
async def end_rights(tx: Tx, step: Step[Ending]) -> Progress:
    """Those that no money takes: what cost nothing, and what was never sold (ENT-007)."""
    after = UUID(step.cursor) if step.cursor else BEGINNING
    wanted = Wanted(str(step.request.event_id))
    page: Sequence[Entitlement] = await entitlements.list_rights(tx, wanted, after, AT_A_TIME)
    standing = [each for each in page if each.status is not Status.REVOKED]
    paid = await payments.find_payments(tx, {each.payment_id for each in standing if each.payment_id})
    priced = {own: _priced(each) for own, each in paid.items()}
    free = [each for each in standing if each.payment_id is None or priced[each.payment_id].get(each.line_key) == 0]
    await entitlements.revoke(tx, [Revoking(step.caller, each.id, Revocation.CANCELLATION) for each in free])
    cursor = str(page[-1].id.uuid) if page else step.cursor
    return Progress(cursor, len(page), finished=len(page) < AT_A_TIME)


def _priced(payment: Payment) -> dict[str, int]:
    """What each line cost."""
    try:
        return {each.key: each.total for each in payment.price.line_items}
    except Tampered:  # Sales tell somebody. What its money does not take, people do.
        return {}


@bulk("events.tell_buyers", of=Ending)
async def tell_buyers(tx: Tx, step: Step[Ending]) -> Progress:
    """A letter for each order that had tickets; an order that is paid later is returned, and told so."""
    own = step.request.event_id
    after = UUID(step.cursor) if step.cursor else BEGINNING
    page = await orders.list_of_event(tx, own, after, AT_A_TIME)
    event = (await store.find_events(tx, [own]))[own]
    tickets: dict[OrderId, list[Ticket]] = {each.id: [] for each in page}
    for ticket in await ticket_store.find_of_orders(tx, tickets):
        tickets[ticket.order_id].append(ticket)
    had = [each for each in page if _had_any(each, tickets[each.id], event)]
    await enqueue(
        tx,
        [
            Job.of(
                tell_called_off,
                CalledOff(each.id, own, each.buyer),
                step.caller,
                key=f"{tell_called_off.name}:{each.id}",
            )
            for each in had
        ],
    )
    cursor = str(page[-1].id.uuid) if page else step.cursor
    return Progress(cursor, len(page), finished=len(page) < AT_A_TIME)


def _had_any(order: Order, tickets: Sequence[Ticket], event: Event) -> bool:
    """When the event was cancelled. What its cancellation took since is told of all the same."""
    assert event.cancelled_at is not None
    return order.state is OrderState.FULFILLED and any(
        each.status not in GONE.values() or each.changed_at >= event.cancelled_at for each in tickets
    )


SUBSCRIPTIONS: Final = (Subscription(EventCancelled, call_off),)
JOBS: Final = (call_off, call_off_rest, end_rights, tell_buyers)
