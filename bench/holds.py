"""Holds on one hot pool: together and one by one, in process (figure 2 without HTTP).

usage: python -m bench.holds [SECONDS]

One organisation, one pool, one item with a limit per buyer, every hold by another buyer; a vertical's own command calls
`stock.keep` for all orders that came together, and nothing else. Figures are printed, and none is asserted: what HTTP
makes of it is another bench's.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from statistics import median

import msgspec

from admitone.kernel.batch import Batcher
from admitone.kernel.commands import command
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Scope
from admitone.selling.stock.api import (
    Claim,
    Hold,
    HoldId,
    Keep,
    PoolId,
    PoolPut,
    Portion,
    SoldOut,
    claim,
    keep,
    put_pools,
)
from bench.figures import Figures
from bench.ground import Ground, a_cluster, a_ground

SECONDS = 3.0
CALLERS = (64, 256)
ENOUGH = 100_000_000
TTL = timedelta(minutes=15)


class Order(msgspec.Struct, frozen=True):
    pools: tuple[PoolId, ...]
    hold: HoldId
    buyer: IdentityId


@command(keyed_by=lambda order: order.pools[0])
async def place(tx: Tx, orders: Sequence[Order]) -> list[Hold | Refusal]:
    return await keep(tx, [_kept(each, tx) for each in orders])


@command()
async def pay(tx: Tx, holds: Sequence[HoldId]) -> list[Hold | Refusal]:
    return await claim(tx, [Claim(each, each) for each in holds])


def _kept(order: Order, tx: Tx) -> Keep:
    portions = tuple(Portion(pool, "standing", 1) for pool in order.pools)
    return Keep(order, order.hold, "ord", order.buyer, portions, tx.now + TTL, {"standing": 4})


def measure(figures: Figures, seconds: float = SECONDS) -> None:
    with a_cluster() as cluster:
        ground = a_ground(cluster, organizations=1, name="bench_holds")
        print("\nHolds on one pool of one organisation, in process")
        asyncio.run(_measure(figures, ground, seconds))


async def _measure(figures: Figures, ground: Ground, seconds: float) -> None:
    scope = Scope(ground.members[0].organization, "bench")
    async with Database(ground.url) as database:
        own, shared, none = PoolId.new(), PoolId.new(), PoolId.new()
        puts = [PoolPut(None, own, ENOUGH), PoolPut(None, shared, ENOUGH), PoolPut(None, none, 0)]
        await database.run(scope, lambda tx: put_pools(tx, puts))
        kept: list[HoldId] = []
        for callers in CALLERS:
            alone = await _rate(Batcher(database, coalesce=False), scope, callers, seconds, _orders(own))
            rates = [await _rate(Batcher(database), scope, callers, seconds, _orders(own, kept=kept)) for _ in range(3)]
            both = await _rate(Batcher(database), scope, callers, seconds, _orders(own, shared))
            refused = await _rate(Batcher(database), scope, callers, seconds, _orders(none))
            together = median(rates)
            figures.note(
                f"{callers} callers: kept {together:,.0f}/s together, {alone:,.0f}/s one by one "
                f"({together / alone:.1f} x); of two pools {both:,.0f}/s; refused {refused:,.0f}/s"
            )
        for callers in CALLERS:
            paid = await _rate(Batcher(database), scope, callers, seconds, lambda: (pay, kept.pop()))
            figures.note(f"{callers} callers: sold {paid:,.0f}/s together")


def _orders(*pools: PoolId, kept: list[HoldId] | None = None) -> Callable[[], tuple[object, object]]:
    def order() -> tuple[object, object]:
        hold = HoldId.new()
        if kept is not None:
            kept.append(hold)
        return place, Order(pools, hold, IdentityId.new())

    return order


async def _rate(
    batcher: Batcher, scope: Scope, callers: int, seconds: float, make: Callable[[], tuple[object, object]]
) -> float:
    done, until = 0, time.perf_counter() + seconds

    async def caller() -> None:
        nonlocal done
        while time.perf_counter() < until:
            command, each = make()
            with suppress(SoldOut):
                await batcher.submit(command, scope, each)  # type: ignore[arg-type]
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(callers)))
    await batcher.drain()
    return done / (time.perf_counter() - began)


if __name__ == "__main__":
    measure(Figures(), float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
