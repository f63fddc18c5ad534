"""Refunds: everything that was paid for one subject goes back, by one worker, at the sandbox on a file.

usage: python -m bench.refunds [ORDERS]

Then once more with fewer orders and a worker that is killed on its way: another begins again, what was done is not done
again, and the rest is. That takes as long as a lease takes to run out, and is no rate.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import asyncpg

from admitone.finance.gateways.api import Method
from admitone.finance.gateways.port import GATEWAYS, Gateways
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.finance.payments.asking import Case, Clerk
from admitone.finance.payments.commands.checkouts import Begun, begin
from admitone.finance.payments.model import Checkout
from admitone.finance.pricing.port import PROMOTIONS, NoPromotions
from admitone.finance.refunds.api import CANCELLATION, Cancellation, CancellationId, Reason
from admitone.finance.sources.api import Source, SourceType
from admitone.finance.sources.port import SHOPS
from admitone.kernel.batch import Batcher
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.kernel.db import Database
from admitone.kernel.embedded import SUPERUSER
from admitone.kernel.ids import IdentityId
from admitone.kernel.jobs import Desk
from admitone.kernel.plans import Draft, Order, apply, make
from admitone.kernel.scope import Caller, Scope
from bench.calibration import calibrate
from bench.checkout import Fair, a_fair
from bench.figures import Figures
from bench.ground import Ground, a_cluster, a_ground
from bench.identity import KEY
from bench.server import ROOT
from bench.shop import ComputedShop, a_simulator

ORDERS: Final = 10_000
AT_ONCE: Final = 256
MUST: Final = 200
SUBJECT: Final = "event:bench"
PATIENCE_SECONDS: Final = 600

SOMEBODY = "SELECT id FROM identity.identity LIMIT 1"
STATES = "SELECT state, count(*) AS refunds FROM refunds.refund GROUP BY state"
LEFT_TO_DO = """
    SELECT EXISTS (SELECT FROM kernel.job)
        OR EXISTS (SELECT FROM kernel.outbox WHERE published_at IS NULL) AS left_to_do
"""
WRONG = """
    SELECT count(*) AS wrong
      FROM payments.payment AS p
      LEFT JOIN (SELECT payment_id, sum(amount_minor) AS settled, count(*) AS times
                   FROM ledger.transfer
                  WHERE entry_type = 'REFUND_SETTLED'
                  GROUP BY payment_id) AS t ON t.payment_id = p.id
     WHERE p.applied
       AND (p.status <> 'REFUNDED' OR t.settled IS DISTINCT FROM p.amount_minor OR t.times <> 1)
"""


def measure(figures: Figures, orders: int = ORDERS) -> None:
    with a_cluster() as cluster, tempfile.TemporaryDirectory() as folder:
        ground = a_ground(cluster, organizations=1, name="bench_refunds")
        calibration = calibrate(ground)
        print(f"\nRefunding what {orders:,} people paid for one subject. {calibration}")
        fair = a_fair(ground, Path(folder))
        rate = asyncio.run(_refund(figures, ground, fair, orders, killed=False))
        figures.must("orders refunded", rate, MUST * min(1.0, calibration.s), "/s")
        ground = a_ground(cluster, organizations=1, name="bench_killed")
        asyncio.run(_refund(figures, ground, a_fair(ground, Path(folder)), orders // 5, killed=True))


async def _refund(figures: Figures, ground: Ground, fair: Fair, orders: int, *, killed: bool) -> float:
    await _sell(ground, fair, orders)
    await _tell_all(ground, fair)
    rate, wrong = await _give_back(ground, fair, orders, killed=killed)
    how = "with a worker killed" if killed else "undisturbed"
    figures.note(f"{orders:,} orders {how}: {rate:.0f}/s")
    figures.must_not_exceed(f"payments that did not go back exactly once, {how}", wrong, 0, "payments")
    return rate


async def _sell(ground: Ground, fair: Fair, orders: int) -> None:
    """Paid, each with its fee told."""
    own, simulator = ground.members[0].organization, a_simulator(Path(fair.journal))
    [row] = await _ask(ground, SOMEBODY)
    buyer = IdentityId(row["id"])
    with (
        KEYRING.wired(KeyRing({1: KEY})),
        SHOPS.wired(dict.fromkeys(SourceType, ComputedShop())),
        PROMOTIONS.wired(NoPromotions()),
        GATEWAYS.wired(Gateways([SandboxGateway.in_process(simulator)])),
    ):
        async with Database(ground.url) as database:
            batcher = Batcher(database)
            clerk, scope = Clerk.at(Desk(database, batcher)), Scope(own, "bench")
            for first in range(0, orders, AT_ONCE):
                numbers = range(first, min(first + AT_ONCE, orders))
                await asyncio.gather(*(_buy(clerk, batcher, scope, simulator, buyer, number) for number in numbers))
            await batcher.drain()
    simulator.journal.close()


async def _tell_all(ground: Ground, fair: Fair) -> None:
    """Everybody has heard of the sales: what they cost is not what refunds cost."""
    with _a_worker(ground, fair):
        while any(row["left_to_do"] for row in await _ask(ground, LEFT_TO_DO)):
            await asyncio.sleep(0.25)


async def _buy(
    clerk: Clerk, batcher: Batcher, scope: Scope, simulator: Simulator, buyer: IdentityId, number: int
) -> None:
    source = Source(SourceType.TICKET_ORDER, f"refunded-{number}")
    checkout = Checkout(Caller(buyer), source, Method.CARD, f"key-{number}", None)
    begun: Begun = (await batcher.submit(begin, scope, checkout)).outcome
    assert begun.intent is not None
    _, charge = await clerk.open(Case(begun.payment, (begun.intent,)), Caller(buyer))
    simulator.act("pay", charge.id)
    simulator.act("tell_fees", charge.id)
    await clerk.ask(scope.organization, begun.payment.id, Caller(buyer))


async def _give_back(ground: Ground, fair: Fair, orders: int, *, killed: bool) -> tuple[float, int]:
    """Orders a second, from the decision to the last of them, and how many did not go back exactly once."""
    scope = Scope(ground.members[0].organization, "bench")
    wanted = Cancellation(cancellation_id=CancellationId.new(), subject=SUBJECT, reason=Reason.CANCELLED_BY_SELLER)
    async with Database(ground.url) as database:
        batcher = Batcher(database)
        began = time.perf_counter()
        plan = (await batcher.submit(make, scope, Draft(Caller(), CANCELLATION, wanted))).outcome
        shown = time.perf_counter() - began
        await batcher.submit(apply, scope, Order(Caller(), plan.id, "STORM"))
        decided = time.perf_counter() - began
        print(f"       shown in {shown:.1f} s, decided in {decided - shown:.1f} s", flush=True)
        if killed:
            with _a_worker(ground, fair) as worker:
                await _until(ground, orders // 3)
                worker.kill()
        with _a_worker(ground, fair):
            await _until(ground, orders)
        took = time.perf_counter() - began
        await batcher.drain()
    [row] = await _ask(ground, WRONG)
    return orders / took, int(row["wrong"])


async def _until(ground: Ground, settled: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        states = {row["state"]: row["refunds"] for row in await _ask(ground, STATES)}
        if states.get("SUCCEEDED", 0) >= settled:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"not everything went back: {states}")
        await asyncio.sleep(0.25)


@contextmanager
def _a_worker(ground: Ground, fair: Fair) -> Iterator[subprocess.Popen[bytes]]:
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        environment = {**os.environ, "DATABASE_URL": ground.url, "ADMITONE_DATA": folder, **fair.surroundings}
        command = [sys.executable, "-m", "bench.work_refunds"]
        worker = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            yield worker
        finally:
            if worker.poll() is None:
                worker.terminate()
            worker.wait(20)


async def _ask(ground: Ground, sql: str) -> list[Any]:
    connection = await asyncpg.connect(ground.cluster.url(SUPERUSER, ground.database))
    try:
        return list(await connection.fetch(sql))
    finally:
        await connection.close()


if __name__ == "__main__":
    measure(Figures(), *map(int, sys.argv[1:]))
