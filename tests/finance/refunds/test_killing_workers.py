"""A whole subject is cancelled while one worker after the other is killed, with the provider in a process of its own:
everybody has their money once, and the provider's journal is the ledger. `make bench` does it with ten thousand."""

import asyncio
import sys
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import asyncpg
import msgspec
import pytest
from bench.faults.money.traps import surroundings_of

from admitone.finance.gateways.api import MovementKind
from admitone.finance.gateways.sandbox.journal import Journal
from admitone.finance.gateways.sandbox.objects import MovementRow
from admitone.finance.ledger.api import Account, EntryType, list_transfers_of
from admitone.finance.payments.model import Status
from admitone.finance.refunds.api import CANCELLATION, Piece
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.conftest import Clone
from tests.finance.gateways.stages import a_sandbox_process
from tests.finance.payments.telling import balances
from tests.finance.refunds.test_refunds import a_stormy_evening, applied, ask, planned, the_storm
from tests.finance.world import World, a_world
from tests.toy.process import ToyProcess
from tests.toy.server import free_port

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children die with their parent only here")

ORDERS: Final = 60
DEATHS: Final = ("payments.before_recording=kill@12", "")
"""One dies when the provider has given back what nobody has written down; the other of our hand, half-way."""
DEADLINE_SECONDS: Final = 60
SOONER = "UPDATE kernel.job SET run_at = now() WHERE organization_id = $1 AND worker IS NULL AND run_at > now() + '1 s'"
DONE = "SELECT count(*) FROM refunds.refund WHERE organization_id = $1 AND state = 'SUCCEEDED'"


async def a_cancelled_evening(world: World) -> list[PaymentId]:
    """Of one order a child's ticket goes back besides."""
    evening = await a_stormy_evening(world, ORDERS)
    await ask(world, evening[0], Piece("child", 1))
    await applied(world, await planned(world, CANCELLATION, the_storm()))
    return evening


async def until_dead(worker: ToyProcess, books: asyncpg.Connection, world: World, enough: int) -> int:
    """Of its trap, or by our hand when so many are refunded; how many were by then."""
    own, done = world.organization.uuid, 0
    async with asyncio.timeout(DEADLINE_SECONDS):
        while worker.lives and done < enough:
            await books.execute(SOONER, own)
            done = await books.fetchval(DONE, own)
            await asyncio.sleep(0.05)
    if worker.lives:
        worker.kill()
    assert worker.was_killed, worker.said.read_text()[-2000:]
    return done


def given_back(file: Path, world: World) -> dict[str, int]:
    """By the provider's own journal: every refund, and how much."""
    journal = Journal(file)
    try:
        found = journal.list_movements(str(world.organization), 0, 0, 10_000)
    finally:
        journal.close()
    rows = [msgspec.json.decode(body, type=MovementRow) for _, body in found]
    moved = [row for row in rows if row.kind == MovementKind.REFUND]
    assert len({row.reference for row in moved}) == len(moved), "a refund moved twice"
    return {row.reference: row.amount for row in moved}


@pytest.mark.covers("FIN-070", "FIN-074")
async def test_however_often_the_worker_is_killed_everybody_has_their_money_once(clone: Clone, tmp_path: Path):
    home = tmp_path / "home"
    (home / "sandbox").mkdir(parents=True)
    file = home / "sandbox" / "journal.sqlite"
    async with AsyncExitStack() as stack:
        books = await asyncpg.connect(clone.superuser_url)
        stack.push_async_callback(books.close)
        database = await stack.enter_async_context(Database(clone.url))
        batcher, journal = Batcher(database), Journal(file)
        world = await stack.enter_async_context(a_world(database, batcher, journal=journal))
        evening = await a_cancelled_evening(world)
        await batcher.drain()
        journal.close()  # From now on it is the provider's own.
        async with a_sandbox_process(home, listener=free_port()) as (port, _):
            words = ("worker", "bench.faults.money.lives", "worker")
            worker = ToyProcess(clone.url, home, *words, **surroundings_of(port))
            stack.callback(lambda: worker.kill() if worker.lives else None)
            for death in DEATHS:
                worker.launch(ADMITONE_FAILPOINTS=death)
                enough = ORDERS // 2 if not death else ORDERS + 1
                assert await until_dead(worker, books, world, enough) <= ORDERS, "nothing was left to die of"
            worker.launch()
            assert await until_dead(worker, books, world, ORDERS + 1) == ORDERS + 1
        assert {(await world.payment(each)).status for each in evening} == {Status.REFUNDED}
        there = given_back(file, world)
        assert Counter(there.values()) == {5000: ORDERS - 1, 4000: 1, 1000: 1}
        transfers = await database.read(world.scope, list_transfers_of, evening)
        settled = [each for each in transfers if each.entry_type is EntryType.REFUND_SETTLED]
        assert len(settled) == len(there)
        assert {each.reference: each.amount_minor for each in settled} == there
        assert Account.REF not in await balances(world)
