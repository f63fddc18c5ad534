"""What somebody is told of fulfilment, and what Prometheus is shown (FUL-018, FUL-019).

Promise: whoever watches pays for what went wrong and not for what went well: of all operations only as many are counted
as decide whether a hundredth of them is too many. That jobs of payments and entitlements wait for more than two minutes
is the kernel's to tell (`jobs.critical_delay`): all of ours are critical. So is each dead letter, at once.
"""

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from admitone.kernel.alerts import Above, AlertClass, AlertRule, Gauged, Level, Reading, Sight, Sighting
from admitone.kernel.alerts.figures import measure
from admitone.kernel.alerts.sights import Labels
from admitone.kernel.db import PlatformTx
from admitone.kernel.ids import OrganizationId
from admitone.selling.fulfilment import store
from admitone.selling.fulfilment.store import Fruitless
from admitone.selling.fulfilment.telling import FIGURES, REVERSED

WINDOW: Final = timedelta(minutes=5)
PERCENT: Final = 1
FEWEST: Final = 100
"""Of fewer purchases a hundredth says nothing, and each that failed pages as a dead letter."""

FAILING: Final = AlertRule(
    "fulfilment.failing",
    AlertClass.PAGER,
    Above(PERCENT),
    "event operations",
    "nothing-handed-over",
    "More than one in a hundred who paid within five minutes has nothing for it.",
)

PAID: Final = Gauged("sale_paid_total", "Purchases that this process dealt with since it began.", ("scenario",))
FAILED: Final = Gauged(
    "fulfillment_failed_total",
    "Purchases that came to nothing in this process since it began, by why: undeliverable, or given up.",
    ("reason",),
)
BACKLOG: Final = Gauged(
    "operations_backlog_total",
    "Purchases that are not over: jobs by their state, and operations that wait for a dispute or for somebody.",
    ("state",),
)


async def look(tx: PlatformTx) -> Sighting:
    fruitless = await store.list_fruitless(tx, tx.now - WINDOW, REVERSED)
    enough = max(FEWEST, len(fruitless) * 100 // PERCENT)
    every = await store.count_since(tx, tx.now - WINDOW, enough) if fruitless else 0
    backlog: Counter[str] = Counter()
    for depth in (await measure(tx)).depths:
        if depth.kind.startswith("fulfilment."):
            backlog[depth.state] += depth.jobs
    for state, operations in (await store.count_unfinished(tx)).items():
        backlog[state] += operations
    counted = {PAID: FIGURES.paid, FAILED: FIGURES.failed, BACKLOG: backlog}
    return Sighting(readings_of(fruitless, every, tx.now), {gauge: _shown(each) for gauge, each in counted.items()})


def _shown(counted: Counter[str]) -> dict[Labels, float]:
    return {(label,): float(count) for label, count in counted.items()}


def readings_of(fruitless: list[Fruitless], every: int, at: datetime) -> list[Reading]:
    """One, with the latest to look at first; none, where there are too few to tell."""
    if not fruitless or every < FEWEST:
        return []
    detail = f"{len(fruitless)} of {every} purchases within five minutes came to nothing"
    latest = fruitless[0]
    return [
        Reading(
            FAILING,
            "fulfilment",
            [Level(at, 100 * len(fruitless) / every)],
            detail,
            {"paymentId": str(latest.payment)},
            OrganizationId(latest.organization),
            latest.correlation_id,
        )
    ]


OPERATIONS: Final = Sight("fulfilment.operations", look, (FAILING,), (PAID, FAILED, BACKLOG))
