"""Many at once on one counter: never above its ceiling, whoever comes first, in however many processes."""

import asyncio
import random

import pytest

from admitone.kernel.batch import Answered, Batcher
from admitone.kernel.db import POOL_SIZES, Busy, Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.idempotency import Keyed
from admitone.kernel.scope import Role, Scope
from tests.builders import an_increment, an_organization, at_the_same_time, rows_of, value_of
from tests.toy import commands
from tests.toy.errors import CounterFull
from tests.toy.model import Counted, Increment

GATES = 20
CEILING = 200


@pytest.fixture
async def many_connections(database_url: str, monkeypatch: pytest.MonkeyPatch):
    """One for each of those who come at once."""
    monkeypatch.setattr("admitone.kernel.db.POOL_SIZES", {**POOL_SIZES, Role.APP: GATES})
    async with Database(database_url) as database:
        yield database


async def test_of_twenty_transactions_at_once_one_takes_the_last(many_connections: Database) -> None:
    """The others find it taken, or find the row held and would have to come again."""
    scope = await an_organization(many_connections, ceiling=1)
    outcomes = await at_the_same_time(GATES, take_one, many_connections, scope)
    assert sum(isinstance(outcome, Counted) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, CounterFull | Busy) for outcome in outcomes) == GATES - 1
    assert await value_of(many_connections, scope) == await rows_of(many_connections, scope, "toy.increment") == 1


async def take_one(tx: Tx) -> Counted | Refusal:
    [outcome] = await commands.increment(tx, [an_increment()])
    return outcome


@pytest.mark.parametrize("processes", [1, 4])
async def test_of_twenty_calls_at_once_one_takes_the_last(database: Database, processes: int) -> None:
    scope = await an_organization(database, ceiling=1)
    batchers = [Batcher(database) for _ in range(processes)]
    outcomes = await asyncio.gather(
        *(batchers[n % processes].submit(commands.increment, scope, an_increment()) for n in range(GATES)),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, Answered) for outcome in outcomes) == 1
    assert sum(outcome == CounterFull(left=0) for outcome in outcomes) == GATES - 1
    assert await value_of(database, scope) == 1


@pytest.mark.parametrize("seed", range(4))
async def test_five_hundred_from_four_processes_stay_below_every_ceiling(database: Database, seed: int) -> None:
    chance = random.Random(seed)
    names = ("north", "south", "west")
    scope = await an_organization(database, *names, ceiling=CEILING)
    batchers = [Batcher(database) for _ in range(4)]
    wanted = [an_increment(chance.choice(names), chance.randint(1, 5)) for _ in range(500)]

    async def come(increment: Increment) -> Answered[Counted] | BaseException:
        await asyncio.sleep(chance.random() * 0.2)
        [outcome] = await asyncio.gather(
            chance.choice(batchers).submit(commands.increment, scope, increment), return_exceptions=True
        )
        return outcome

    outcomes = await asyncio.gather(*map(come, wanted))
    counted = [outcome.outcome for outcome in outcomes if isinstance(outcome, Answered)]
    refused = [outcome for outcome in outcomes if not isinstance(outcome, Answered)]
    assert {type(refusal) for refusal in refused} == {CounterFull}
    assert await rows_of(database, scope, "toy.increment") == len(counted)
    for name in names:
        await assert_one_order_of_events(database, scope, name, [each for each in counted if each.counter == name])


async def assert_one_order_of_events(database: Database, scope: Scope, name: str, counted: list[Counted]) -> None:
    """As if they had come one after another: each value is the one before it and its own amount."""
    so_far = 0
    for each in sorted(counted, key=lambda each: each.value):
        so_far += each.amount
        assert each.value == so_far
    assert so_far == await value_of(database, scope, name) <= CEILING
    assert so_far > CEILING - 5, "room was left although somebody would have fitted"


@pytest.mark.covers("INV-I06", "CON-004")
async def test_who_took_the_last_one_is_never_told_that_it_is_gone(database: Database) -> None:
    """One request, repeated through four processes at once: whoever loses the race hears what the winner heard."""
    batchers = [Batcher(database) for _ in range(4)]
    for attempt in range(30):
        scope = await an_organization(database, ceiling=1)
        increment = an_increment()
        keyed = Keyed.of(contract="toy", caller="somebody", key=str(attempt), request=b"1")
        answers = await asyncio.gather(*(b.submit(commands.increment, scope, increment, keyed) for b in batchers))
        assert len({answer.outcome.id for answer in answers}) == 1
        assert sum(not answer.replayed for answer in answers) == 1
        assert await value_of(database, scope) == 1
