"""Killed after every step and told again, a purchase ends as if nothing had happened (FUL-005)."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from admitone.finance.payments.facts import PaymentSucceeded
from admitone.finance.sources.api import PaymentId
from admitone.kernel import failpoints
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.selling.fulfilment.model import LEDGER_STEP, State
from tests.conftest import Clone
from tests.finance.lives import PAY, live
from tests.finance.world import World, a_world
from tests.jobs import until
from tests.selling.fulfilment.booth import Booth, notes_of, operation_of, refunds_of, tell, tickets_of
from tests.selling.fulfilment.test_fulfilling import TWO_LINES, source_of
from tests.toy.process import ToyProcess

STEPS = (LEDGER_STEP, "ISSUE_TICKETS", "APPLY_PROMO_REDEMPTION", "NOTIFY", "given_back", "recorded")
POINTS = (*(f"fulfilment.{step}" for step in STEPS), "commit.before")
TOLD = """
    SELECT type, count(*) AS times FROM kernel.event_log
     WHERE organization_id = $1 AND created_at >= $2 AND type NOT LIKE 'payment.%' GROUP BY type ORDER BY type
"""


OWN = "WHERE organization_id = $1"


class PowerCut(Exception):
    """Whatever was under way is gone; what was committed is not."""


def cut() -> None:
    raise PowerCut


async def state_of(world: World, payment: PaymentId) -> tuple[Any, ...]:
    """All that anybody could see of it, but for ids and instants."""
    operation = await operation_of(world, payment)
    seen = operation and (operation.state, operation.scenario, operation.steps, operation.reason, operation.attempts)
    has_refund = operation is not None and operation.refund_id is not None
    status = (await world.payment(payment)).status
    books = await world.transfers(payment)
    return (
        seen,
        has_refund,
        status,
        books,
        sorted(await tickets_of(world, payment)),
        await notes_of(world, payment),
        await refunds_of(world, payment),
    )


async def now_of(world: World) -> Any:
    async def ask(tx: Tx) -> Any:
        return tx.now

    return await world.database.read(world.scope, ask)


async def told_since(world: World, when: Any) -> dict[str, int]:
    async def ask(tx: Tx) -> dict[str, int]:
        return {row["type"]: row["times"] for row in await tx.fetch(TOLD, when)}

    return await world.database.read(world.scope, ask)


@pytest.mark.covers("FUL-005", "FUL-010")
@pytest.mark.parametrize("delivered", [True, False], ids=["delivered", "undeliverable"])
@pytest.mark.parametrize("point", POINTS)
async def test_killed_after_any_step_it_ends_as_a_clean_run(world: World, booth: Booth, point: str, delivered: bool):
    clean, killed = await live(world, (PAY,), *TWO_LINES), await live(world, (PAY,), *TWO_LINES)
    if not delivered:
        booth.out_of |= {await source_of(world, clean), await source_of(world, killed)}
    began = await now_of(world)
    await tell(world, PaymentSucceeded, clean)
    facts, between = await told_since(world, began), await now_of(world)
    before = await state_of(world, killed)
    for _ in range(2):
        with failpoints.armed(point, cut), pytest.raises(PowerCut):
            await tell(world, PaymentSucceeded, killed)
        assert await state_of(world, killed) == before
    for _ in range(2):
        await tell(world, PaymentSucceeded, killed)
    assert await state_of(world, killed) == await state_of(world, clean)
    assert await told_since(world, between) == facts


# -- A worker that really dies


@pytest.mark.covers("FUL-005")
@pytest.mark.skipif(sys.platform != "linux", reason="children die with their parent only here")
async def test_whatever_kills_the_worker_everybody_has_their_tickets_once(clone: Clone, tmp_path: Path):
    books = await asyncpg.connect(clone.superuser_url)
    async with Database(clone.url) as database:
        batcher = Batcher(database)
        async with a_world(database, batcher) as world:
            payments = [await live(world, (PAY,), *TWO_LINES) for _ in range(5)]
            await batcher.drain()
            worker = ToyProcess(clone.url, tmp_path, "fulfilling", "tests.selling.fulfilment.worker")
            try:
                for death in ("fulfilment.ISSUE_TICKETS=kill", "fulfilment.recorded=kill"):
                    worker.launch(ADMITONE_FAILPOINTS=death)
                    await until_dead(worker)
                    assert await books.fetchval("SELECT count(*) FROM entitlements.entitlement") in (0, 6, 12, 18, 24)
                worker.launch()
                await until(books, f"SELECT count(*) < {len(payments)} FROM fulfilment.operation {OWN}", world.scope)
            finally:
                if worker.lives:
                    worker.kill()
            for each in payments:
                operation = await operation_of(world, each)
                assert operation is not None
                assert operation.state is State.DONE
                assert await tickets_of(world, each) == ["ACTIVE"] * 6
                assert await notes_of(world, each) == ["mail", "promo"]
    await books.close()


async def until_dead(worker: ToyProcess) -> None:
    async with asyncio.timeout(60):
        while worker.lives:  # noqa: ASYNC110  Another process tells nobody.
            await asyncio.sleep(0.05)
    assert worker.was_killed, worker.said.read_text()[-2000:]
