"""Every hour: is what the stock counts as sold what people have?

Promise (PLT-030, EVT-009, CF-58): of each ticket type, the pieces that a payment which reached SUCCEEDED gave a right
to and that were not taken back, whichever source paid for them, are what its own pool counts as sold. Ticket states are
not asked. What is on hold for a dispute counts: its place is not sold again. What differs is looked at once more when
whatever was under way has arrived; then the stock counts its own portions again, which puts a counter right that had
strayed, and tells of it. What differs still is not put right by anybody but people: the stock decides what is sold, and
somebody hears of it.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

import msgspec

from admitone.entitlements import api as entitlements
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Status
from admitone.finance.sources.api import PaymentId
from admitone.kernel.alerts import ALERTS, Above, Alert, AlertClass, AlertRule, raise_alerts
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Desk, Job, Lane, Schedule, Subscription, enqueue, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.telemetry import logger
from admitone.selling.stock import api as stock
from admitone.selling.stock.api import PoolId
from admitone.verticals.events.facts import SoldQuantityDiffers
from admitone.verticals.events.model import EventId, TicketType
from admitone.verticals.events.store import events
from admitone.verticals.events.store.reports import FIRST, RECONCILING, Published, list_published

COUNTING: Final = Lane("sold_quantities", places=1)
PAGE: Final = 500
AT_ONCE: Final = 5_000
SETTLES: Final = timedelta(minutes=15)
"""Whatever is told of rights is heard long before."""
LOOKED_AT: Final = timedelta(days=30)
"""After an event: refunds come late."""
COUNTED: Final = payments.PAID | {Status.DISPUTED, Status.REFUNDED}
"""What reached SUCCEEDED. Of what went back, only what cost nothing has rights that stand."""

DIFFERS: Final = AlertRule(
    "ticketing.sold_differs",
    AlertClass.TICKET,
    Above(0),
    "event operations",
    "sold-differs",
    "A ticket type has more or fewer sold by its stock than people have paid for: places are lost, or sold twice.",
)


class Difference(msgspec.Struct, frozen=True):
    kind: TicketType
    counted: int
    """What people have."""
    sold: int
    """What the stock says."""


async def find_differences(tx: Tx, event: EventId) -> list[Difference]:
    types = (await events.find_types_of_events(tx, [event]))[event]
    pools = await stock.find_pools(tx, {PoolId(each.pool_id) for each in types})
    counted = await count_sold(tx, event)
    sold: Mapping[UUID, int] = {own.uuid: pool.sold for own, pool in pools.items()}
    every = [Difference(each, counted[str(each.id)], sold.get(each.pool_id, 0)) for each in types]
    return [each for each in every if each.counted != each.sold]


async def count_sold(tx: Tx, event: EventId) -> Counter[str]:
    """By ticket type: what was paid for and was not taken back."""
    pieces = await entitlements.sum_pieces(tx, str(event))
    paid = sorted({each.payment for each in pieces})
    statuses: dict[PaymentId, Status] = {}
    for start in range(0, len(paid), AT_ONCE):
        statuses |= await payments.find_statuses(tx, paid[start : start + AT_ONCE])
    counted: Counter[str] = Counter()
    for each in pieces:
        if statuses.get(each.payment) in COUNTED:
            counted[each.line_key] += each.pieces
    return counted


class Doubtful(msgspec.Struct, frozen=True):
    """An event whose stock said otherwise."""

    event_id: EventId


@errand("ticketing.reconcile_sold_quantities", lane=COUNTING, seconds=3_000)
async def reconcile(desk: Desk, firing: Delivered[Firing]) -> None:
    """Every event that was published and is not over for long; one that cannot be counted keeps no other waiting."""
    after, failed = (firing.payload.at - LOOKED_AT, FIRST), list[Exception]()
    while page := await desk.database.read(RECONCILING, list_published, after, PAGE):
        for each in page:
            try:
                await _compare(desk, each, firing)
            except Exception as error:  # noqa: BLE001
                logger().exception("ticketing.not_counted", orgId=str(each.organization), eventId=str(each.event))
                failed.append(error)
        after = page[-1].place
    if failed:
        raise ExceptionGroup(f"{len(failed)} events could not be counted", failed)


async def _compare(desk: Desk, each: Published, firing: Delivered[Firing]) -> None:
    scope = Scope(each.organization, RECONCILING.reason)
    if await desk.database.read(scope, find_differences, each.event):
        await desk.database.run(scope, partial(_look_again, event=each.event, firing=firing))


async def _look_again(tx: Tx, event: EventId, firing: Delivered[Firing]) -> None:
    key = f"ticketing.recount:{firing.key}:{event}"
    await enqueue(tx, [Job.of(recount, Doubtful(event), firing.caller, key=key, run_at=tx.now + SETTLES)])


@errand("ticketing.recount", lane=COUNTING)
async def recount(desk: Desk, told: Delivered[Doubtful]) -> None:
    scope = Scope(told.organization, RECONCILING.reason)
    work = partial(put_right, event=told.payload.event_id, caller=told.caller)
    await desk.database.run(scope, work, patient=True)


async def put_right(tx: Tx, event: EventId, caller: Caller) -> None:
    """What counting again puts right; of the rest, somebody is told."""
    if not (found := await find_differences(tx, event)):
        return
    # Held from here on: nothing is sold or comes back between the counting and what is told of it.
    await stock.recount(tx, [PoolId(each.kind.pool_id) for each in found], caller)
    for each in await find_differences(tx, event):
        tx.publish(
            caller,
            SoldQuantityDiffers(ticket_type_id=each.kind.id, event_id=event, counted=each.counted, sold=each.sold),
        )


@errand("ticketing.tell_of_difference", lane=COUNTING)
async def tell_of_difference(desk: Desk, told: Delivered[SoldQuantityDiffers]) -> None:
    fact = told.payload
    detail = f"its stock counts {fact.sold} as sold, people have {fact.counted}"
    entities = {"eventId": str(fact.event_id), "ticketTypeId": str(fact.ticket_type_id)}
    alert = Alert(DIFFERS, str(fact.ticket_type_id), detail, told.organization, entities, told.caller)
    await desk.batcher.submit(raise_alerts, ALERTS, alert)


JOBS: Final = (reconcile, recount, tell_of_difference)
SUBSCRIPTIONS: Final = (Subscription(SoldQuantityDiffers, tell_of_difference),)
SCHEDULES: Final = (Schedule("ticketing.reconcile_sold_quantities", "47 * * * *", reconcile),)
