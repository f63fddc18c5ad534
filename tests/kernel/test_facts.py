"""Facts are named and versioned, and are collected by the transaction that publishes them."""

import pytest

from admitone.kernel.db import Database, Tx
from admitone.kernel.facts import Fact
from tests.builders import an_increment, an_organization, value_of
from tests.toy import commands
from tests.toy.facts import CounterIncremented


@pytest.mark.covers("PLT-001")
@pytest.mark.parametrize("wrong", ["Toy.Done", "done", "toy done", "toy.", "TOY_DONE"])
def test_a_fact_is_called_domain_action(wrong: str) -> None:
    with pytest.raises(TypeError, match=r"domain\.action"):
        type("Wrong", (Fact,), {"name": wrong, "version": "1.0.0", "__annotations__": {}})


@pytest.mark.covers("PLT-001")
@pytest.mark.parametrize("wrong", ["1", "1.0", "v1.0.0", ""])
def test_a_fact_has_a_semantic_version(wrong: str) -> None:
    with pytest.raises(TypeError, match="semantic version"):
        type("Wrong", (Fact,), {"name": "toy.done", "version": wrong, "__annotations__": {}})


async def test_what_a_command_publishes_is_collected_for_its_caller(database: Database) -> None:
    scope = await an_organization(database)
    each = an_increment(amount=2)

    async def work(tx: Tx) -> list[object]:
        await commands.increment(tx, [each, an_increment("nowhere")])
        return list(tx.published)

    assert await database.run(scope, work) == [(each.caller, CounterIncremented(counter="visits", amount=2))]


async def test_facts_are_handed_over_within_the_transaction(database_url: str) -> None:
    written: list[object] = []

    async def write(tx: Tx) -> None:
        written.extend(fact for _, fact in tx.published)
        await tx.execute("UPDATE toy.counter SET value = value + 100 WHERE organization_id = $1")

    async with Database(database_url, write_facts=write) as database:
        scope = await an_organization(database)
        await database.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
        assert await value_of(database, scope) == 101
    assert written == [CounterIncremented(counter="visits", amount=1)]
