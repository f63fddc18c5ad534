"""Facts are named, versioned, about something, impersonal, and written with the rows that they tell of."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest

from admitone.kernel.db import Database, Tx
from admitone.kernel.facts import Fact, Published
from admitone.kernel.jobs import Delivered, Subscription, handler
from admitone.kernel.jobs.relay import Retelling, Subscriptions, retell
from admitone.kernel.scope import Caller, Scope
from tests.builders import a_caller, an_increment, an_organization, rows_of, value_of
from tests.toy import commands
from tests.toy.facts import CounterIncremented

FACT = CounterIncremented(counter="visits", amount=2)


def a_fact_class(**said: object) -> type:
    given = {"name": "toy.done", "version": "1.0.0", "subject": ("TOY", "toy"), "__annotations__": {"toy": str}}
    return type("Wrong", (Fact,), given | said)


@pytest.mark.covers("PLT-001")
@pytest.mark.parametrize("wrong", ["Toy.Done", "done", "toy done", "toy.", "TOY_DONE"])
def test_a_fact_is_called_domain_action(wrong: str):
    with pytest.raises(TypeError, match=r"domain\.action"):
        a_fact_class(name=wrong)


@pytest.mark.covers("PLT-001")
@pytest.mark.parametrize("wrong", ["1", "1.0", "v1.0.0", ""])
def test_a_fact_has_a_semantic_version(wrong: str):
    with pytest.raises(TypeError, match="semantic version"):
        a_fact_class(version=wrong)


def test_a_fact_is_about_one_of_its_fields():
    with pytest.raises(TypeError, match="no field"):
        a_fact_class(subject=("TOY", "elsewhere"))


@pytest.mark.covers("PLT-003")
@pytest.mark.parametrize("personal", ["email", "phone", "buyer_email", "holder_name", "home_address"])
def test_a_fact_has_no_field_for_a_person(personal: str):
    with pytest.raises(TypeError, match="id or a hash"):
        a_fact_class(__annotations__={"toy": str, personal: str})


@pytest.mark.covers("PLT-003")
async def test_a_person_in_free_text_is_hidden_before_it_is_written(database: Database):
    scope = await an_organization(database, "call ana@example.org or +351 912 345 678")
    await database.run(
        scope, lambda tx: commands.increment(tx, [an_increment("call ana@example.org or +351 912 345 678")])
    )
    [told] = await the_log(database, scope)
    assert "ana@" not in told["payload"]["counter"] and "912" not in told["payload"]["counter"]


async def the_log(database: Database, scope: Scope) -> list[asyncpg.Record]:
    async def query(tx: Tx) -> list[asyncpg.Record]:
        return await tx.fetch(
            "SELECT e.*, o.published_at, o.attempts, o.next_attempt_at FROM kernel.event_log e JOIN kernel.outbox o"
            " ON o.organization_id = e.organization_id AND o.event_id = e.id WHERE e.organization_id = $1 ORDER BY e.id"
        )

    return await database.read(scope, query)


@pytest.mark.covers("PLT-002", "PLT-005")
async def test_a_fact_is_written_with_everything_that_the_log_wants(database: Database):
    scope = await an_organization(database)
    cause, correlation = UUID(int=7), UUID(int=8)
    caller = Caller(actor=a_caller().actor, correlation_id=correlation, causation_id=cause)

    async def work(tx: Tx) -> None:
        tx.publish(caller, FACT, key="first of all")

    await database.run(scope, work)
    [row] = await the_log(database, scope)
    assert (row["type"], row["version"], row["organization_id"]) == (FACT.name, "1.0.0", scope.organization.uuid)
    assert (row["subject_type"], row["subject_id"]) == ("COUNTER", "visits")
    assert (row["actor_id"], row["causation_id"], row["correlation_id"]) == (caller.actor.uuid, cause, correlation)
    assert (row["payload"], row["idempotency_key"]) == ({"counter": "visits", "amount": 2}, "first of all")
    assert (row["published_at"], row["attempts"], row["next_attempt_at"]) == (None, 0, row["created_at"])
    assert row["id"].version == 7


async def test_what_nothing_caused_was_caused_by_the_call(database: Database):
    scope = await an_organization(database)
    each = an_increment()
    await database.run(scope, lambda tx: commands.increment(tx, [each]))
    [row] = await the_log(database, scope)
    assert row["causation_id"] == row["correlation_id"] == each.caller.correlation_id


async def test_what_a_command_publishes_is_collected_for_its_caller(database: Database):
    scope = await an_organization(database)
    each = an_increment(amount=2)

    async def work(tx: Tx) -> list[object]:
        await commands.increment(tx, [each, an_increment("nowhere")])
        return list(tx.published)

    assert await database.run(scope, work) == [Published(each.caller, FACT)]


@pytest.mark.covers("PLT-004")
async def test_state_and_fact_and_outbox_are_written_together_or_not_at_all(database: Database):
    scope = await an_organization(database)

    async def work(tx: Tx) -> None:
        await commands.increment(tx, [an_increment()])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.run(scope, work)
    assert await value_of(database, scope) == 0
    assert await rows_of(database, scope, "kernel.event_log") == await rows_of(database, scope, "kernel.outbox") == 0

    await database.run(scope, lambda tx: commands.increment(tx, [an_increment(), an_increment()]))
    assert await value_of(database, scope) == 2
    assert await rows_of(database, scope, "kernel.event_log") == await rows_of(database, scope, "kernel.outbox") == 2


@pytest.mark.covers("PLT-004", "PLT-006")
@pytest.mark.parametrize(("hears", "is_told"), [(True, False), (False, True)])
async def test_what_nobody_hears_of_is_told_when_it_is_written(
    database: Database, database_url: str, hears: bool, is_told: bool
):
    """What somebody hears of waits for the relay."""

    @handler("test.hears_of_it")
    async def hear(tx: Tx, told: Sequence[Delivered[CounterIncremented]]) -> None: ...

    subscriptions = Subscriptions.of([CounterIncremented], [Subscription(CounterIncremented, hear)] * hears)
    scope = await an_organization(database)
    async with Database(database_url, unheard=subscriptions.unheard) as ours:
        await ours.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
    [row] = await the_log(database, scope)
    assert (row["published_at"] == row["created_at"], row["attempts"]) == (is_told, 0)


@pytest.mark.covers("PLT-007")
async def test_who_hears_of_it_one_day_is_told_what_nobody_heard_of(database: Database, database_url: str):
    @handler("test.hears_of_it_later")
    async def hear(tx: Tx, told: Sequence[Delivered[CounterIncremented]]) -> None: ...

    scope = await an_organization(database)
    async with Database(database_url, unheard=[CounterIncremented.name]) as ours:
        await ours.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
    [row] = await the_log(database, scope)
    since, until = row["created_at"] - timedelta(seconds=1), row["created_at"] + timedelta(seconds=1)
    retelling = Retelling(Subscription(CounterIncremented, hear), since, until)
    assert await database.run(scope, lambda tx: retell(tx, retelling, None)) == (1, None)
    assert await database.run(scope, lambda tx: retell(tx, retelling, None)) == (0, None)


@pytest.mark.covers("PLT-004")
async def test_a_fact_that_cannot_be_written_takes_its_state_with_it(database: Database):
    scope = await an_organization(database)

    async def work(tx: Tx) -> None:
        await commands.increment(tx, [an_increment()])
        tx.publish(a_caller(), CounterIncremented(counter="x" * 300, amount=1))

    with pytest.raises(asyncpg.CheckViolationError):
        await database.run(scope, work)
    assert await value_of(database, scope) == 0


@pytest.mark.covers("PLT-002")
async def test_a_fact_under_a_key_is_told_once(database: Database):
    scope, other = await an_organization(database), await an_organization(database)

    async def work(tx: Tx) -> None:
        tx.publish(a_caller(), FACT, key="once")

    await database.run(scope, work)
    await database.run(other, work)  # Another organisation's key is another key.
    with pytest.raises(asyncpg.UniqueViolationError):
        await database.run(scope, work)
    assert await rows_of(database, scope, "kernel.event_log") == 1


@pytest.mark.covers("PLT-002")
async def test_no_fact_has_the_id_of_another(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization(database)
    await database.run(scope, lambda tx: commands.increment(tx, [an_increment() for _ in range(300)]))
    rows = await the_log(database, scope)
    assert len({row["id"] for row in rows}) == 300
    with pytest.raises(asyncpg.UniqueViolationError):
        await superuser.execute(
            "INSERT INTO kernel.event_log SELECT * FROM kernel.event_log WHERE organization_id = $1 LIMIT 1",
            scope.organization.uuid,
        )


@pytest.mark.covers("PLT-001")
@pytest.mark.parametrize(
    ("column", "wrong"), [("type", "Toy.Done"), ("type", "done"), ("version", "1"), ("payload", "[]")]
)
async def test_the_database_refuses_what_is_no_fact(
    database: Database, superuser: asyncpg.Connection, column: str, wrong: str
):
    scope = await an_organization(database)
    await database.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(
            f"UPDATE kernel.event_log SET {column} = $2::text::{'jsonb' if column == 'payload' else 'text'}"
            " WHERE organization_id = $1",
            scope.organization.uuid,
            wrong,
        )


@pytest.mark.covers("PLT-005")
async def test_nobody_at_run_time_changes_what_was_told(database_url: str, superuser: asyncpg.Connection):
    may = "SELECT has_column_privilege($1, 'kernel.outbox', $2, 'UPDATE')"
    for column in ("organization_id", "event_id", "created_at"):
        assert not await superuser.fetchval(may, "admitone_relay", column)
    for column in ("published_at", "attempts", "next_attempt_at"):
        assert await superuser.fetchval(may, "admitone_relay", column)
    for role in ("admitone_app", "admitone_relay", "admitone_maintenance"):
        for privilege in ("UPDATE", "DELETE", "TRUNCATE"):
            assert not await superuser.fetchval(
                "SELECT has_table_privilege($1, 'kernel.event_log', $2)", role, privilege
            )
