"""Questions that many ask at once: one read for all of them, of what is so now, and in nobody's way."""

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest

from admitone.kernel.batch import BATCH_LIMIT, READING_FLIGHTS, Batcher
from admitone.kernel.commands import Command, command
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from tests.builders import an_increment, an_organization, value_of
from tests.kernel.test_batch import Log
from tests.toy import commands
from tests.toy.errors import CounterNotFound

FIND_VALUES = "SELECT name, value FROM toy.counter WHERE organization_id = $1 AND name = ANY($2::text[])"


@command(only_reads=True)
async def look(tx: Tx, names: Sequence[str]) -> list[int | Refusal]:
    values = {row["name"]: row["value"] for row in await tx.fetch(FIND_VALUES, sorted(set(names)))}
    return [values.get(name, CounterNotFound()) for name in names]


async def test_those_who_look_together_share_one_read_and_each_gets_their_own(database: Database):
    log = Log()
    batcher = Batcher(database, observed=log)
    scope = await an_organization(database, "visits", "sales")
    await batcher.submit(commands.increment, scope, an_increment("sales", 7))
    names = ["visits", "sales", "nowhere"] * 100
    answers = await asyncio.gather(*(batcher.submit(look, scope, name) for name in names), return_exceptions=True)
    assert [getattr(each, "outcome", each) for each in answers] == [0, 7, CounterNotFound()] * 100
    assert [size for name, size in log.flights if name == look.name] == [BATCH_LIMIT, 300 - BATCH_LIMIT]


async def test_whoever_only_looks_can_write_nothing(batcher: Batcher, database: Database):
    scope = await an_organization(database)
    writing = Command(commands.increment, name="toy.look_and_write", only_reads=True)
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        await batcher.submit(writing, scope, an_increment())
    assert await value_of(database, scope) == 0


async def test_whoever_looks_sees_what_was_committed_before_they_asked(batcher: Batcher, database: Database):
    """Also while others are being answered from what was so before."""
    scope = await an_organization(database)
    looked, go_on = asyncio.Event(), asyncio.Event()

    async def look_slowly(tx: Tx, names: Sequence[str]) -> list[int | Refusal]:
        values = await look(tx, names)
        looked.set()
        await go_on.wait()
        return list(values)

    slow = Command(look_slowly, name="toy.look_slowly", only_reads=True)
    first = asyncio.create_task(batcher.submit(slow, scope, "visits"))
    await looked.wait()
    await batcher.submit(commands.increment, scope, an_increment())
    second = asyncio.create_task(batcher.submit(slow, scope, "visits"))
    await asyncio.sleep(0.05)
    go_on.set()
    assert ((await first).outcome, (await second).outcome) == (0, 1)


async def test_however_many_look_whoever_writes_finds_a_place(batcher: Batcher, database: Database):
    go_on = asyncio.Event()

    async def look_for_long(_tx: Tx, names: Sequence[str]) -> list[str | Refusal]:
        await go_on.wait()
        return list(names)

    long = Command(look_for_long, name="toy.look_for_long", only_reads=True)
    places = [await an_organization(database) for _ in range(3 * READING_FLIGHTS)]
    looking = [asyncio.create_task(batcher.submit(long, each, "visits")) for each in places]
    await asyncio.sleep(0.05)
    try:
        async with asyncio.timeout(2):
            await batcher.submit(commands.increment, places[0], an_increment())
    finally:
        go_on.set()
    assert len(await asyncio.gather(*looking)) == len(places)
