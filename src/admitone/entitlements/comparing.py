"""Every night: does each right stand where its payment says?

Promise (ENT-007): what does not is seen within a day, put right as if it had just been told, and somebody hears of it.
What was told a moment ago and is still under way is no fault: what is found is looked at once more a while later, and
only what has not come right by itself counts.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import Final

import msgspec

from admitone.entitlements.alerts import STRAYED
from admitone.entitlements.commands.following import find_strayed, follow
from admitone.entitlements.facts import RightsStrayed
from admitone.entitlements.store.sweeping import SWEEPING, Paid, list_paid
from admitone.finance.sources.api import PaymentId
from admitone.kernel.alerts import ALERTS, Alert, raise_alerts
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Desk, Job, Lane, Priority, Schedule, Subscription, enqueue, errand, handler
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Scope

COMPARING: Final = Lane("comparing", places=1)
PAGE: Final = 500
SETTLES: Final = timedelta(minutes=15)
"""Whatever is told of money is heard long before."""


class Doubtful(msgspec.Struct, frozen=True):
    """A payment whose rights stood elsewhere than it says."""

    payment_id: PaymentId


@errand("entitlements.compare", lane=COMPARING, seconds=14_400)
async def compare(desk: Desk, firing: Delivered[Firing]) -> None:
    """All payments that rights were granted for, organisation by organisation."""
    after = Paid()
    while page := await desk.database.read(SWEEPING, list_paid, after, PAGE):
        for organization, paid in groupby(page, lambda each: each.organization):
            scope = Scope(organization, SWEEPING.reason)
            if strayed := await desk.database.read(scope, find_strayed, [each.payment for each in paid]):
                await desk.database.run(scope, partial(_look_again, found=[*strayed], firing=firing))
        after = page[-1]


async def _look_again(tx: Tx, found: Sequence[PaymentId], firing: Delivered[Firing]) -> None:
    key, when = f"entitlements.put_right:{firing.key}", tx.now + SETTLES
    await enqueue(
        tx, [Job.of(put_right, Doubtful(own), firing.caller, key=f"{key}:{own}", run_at=when) for own in found]
    )


@handler("entitlements.put_right", priority=Priority.CRITICAL)
async def put_right(tx: Tx, doubts: Sequence[Delivered[Doubtful]]) -> None:
    callers = {each.payload.payment_id: each.caller for each in doubts}
    strayed = await find_strayed(tx, callers)
    await follow(tx, {own: callers[own] for own in strayed})
    for payment, rights in strayed.items():
        tx.publish(callers[payment], RightsStrayed(payment_id=payment, entitlements=tuple(rights)))


@errand("entitlements.tell_of_strayed", lane=COMPARING)
async def tell_of_strayed(desk: Desk, told: Delivered[RightsStrayed]) -> None:
    fact = told.payload
    detail = f"{len(fact.entitlements)} rights stood elsewhere than their payment says; they were put right"
    entities = {"paymentId": str(fact.payment_id)}
    alert = Alert(STRAYED, str(fact.payment_id), detail, told.organization, entities, told.caller)
    await desk.batcher.submit(raise_alerts, ALERTS, alert)


JOBS: Final = (compare, put_right, tell_of_strayed)
SUBSCRIPTIONS: Final = (Subscription(RightsStrayed, tell_of_strayed),)
SCHEDULES: Final = (Schedule("entitlements.compare", "40 3 * * *", compare),)
