"""Every night: is what is counted what there is?

Promise (EVT-009): portions are the truth and counters a reading of them. A pool whose counters say otherwise is seen
within a day and put right from its portions, and somebody hears of it; what cannot be put right by counting, because
more is out than there is or a seat is somebody else's, is only told. Counters and portions are read in one statement,
so what is being sold meanwhile is no fault.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from msgspec.structs import asdict

from admitone.kernel.alerts import ALERTS, Above, Alert, AlertClass, AlertRule, raise_alerts
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Desk, Lane, Schedule, Subscription, errand
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller, Scope
from admitone.selling.stock.facts import StockStrayed
from admitone.selling.stock.model import PoolId
from admitone.selling.stock.policy import Delta
from admitone.selling.stock.store.pools import Need, lock_pools, write_counters
from admitone.selling.stock.store.sweeping import SWEEPING, Place, Standing, list_pools, sum_standings

COMPARING: Final = Lane("stock_comparing", places=1)
PAGE: Final = 500

STRAYED: Final = AlertRule(
    "stock.strayed",
    AlertClass.PAGER,
    Above(0),
    "event operations",
    "stock-strayed",
    "What is counted as kept or sold is not what was kept or sold: more may be sold than there is, or less.",
)


@errand("stock.compare", lane=COMPARING, seconds=14_400)
async def compare(desk: Desk, firing: Delivered[Firing]) -> None:
    """All pools there are, organisation by organisation."""
    after = Place()
    while page := await desk.database.read(SWEEPING, list_pools, after, PAGE):
        for organization, places in groupby(page, lambda each: each.organization):
            scope = Scope(organization, SWEEPING.reason)
            if strayed := await desk.database.read(scope, find_strayed, [each.pool for each in places]):
                await desk.database.run(scope, lambda tx: put_right(tx, strayed, firing.caller), patient=True)
        after = page[-1]


async def find_strayed(tx: Tx, pools: Sequence[PoolId]) -> list[PoolId]:
    return [each.pool for each in await sum_standings(tx, pools) if not (each.is_counted and each.is_seated_right)]


async def put_right(tx: Tx, pools: Sequence[PoolId], caller: Caller) -> None:
    """Looked at once more under the lock; the counters follow the portions where there is room for them."""
    await lock_pools(tx, [Need(each, each) for each in pools])
    strayed = [each for each in await sum_standings(tx, pools) if not (each.is_counted and each.is_seated_right)]
    mended = [each for each in strayed if not each.is_counted and each.kept + each.bought <= each.capacity]
    await write_counters(tx, [Delta(each.pool, each.kept - each.held, each.bought - each.sold) for each in mended])
    for each in strayed:
        tx.publish(caller, _fact(each, each in mended and each.is_seated_right))


def _fact(standing: Standing, put_right: bool) -> StockStrayed:
    seen = asdict(standing)
    del seen["seated"]
    return StockStrayed(pool_id=seen.pop("pool"), put_right=put_right, **seen)


@errand("stock.tell_of_strayed", lane=COMPARING)
async def tell_of_strayed(desk: Desk, told: Delivered[StockStrayed]) -> None:
    fact = told.payload
    detail = (
        f"counted {fact.held} kept and {fact.sold} sold of {fact.capacity}, were {fact.kept} and {fact.bought}; "
        f"{'it was put right' if fact.put_right else 'somebody must look'}"
    )
    entities = {"poolId": str(fact.pool_id)}
    alert = Alert(STRAYED, str(fact.pool_id), detail, told.organization, entities, told.caller)
    await desk.batcher.submit(raise_alerts, ALERTS, alert)


JOBS: Final = (compare, tell_of_strayed)
SUBSCRIPTIONS: Final = (Subscription(StockStrayed, tell_of_strayed),)
SCHEDULES: Final = (Schedule("stock.compare", "20 3 * * *", compare),)
