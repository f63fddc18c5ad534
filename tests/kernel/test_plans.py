"""What somebody was shown is what happens, or nothing does."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import asyncpg
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.plans import (
    Applied,
    Draft,
    Order,
    Plan,
    PlanExpired,
    PlanId,
    Planner,
    PlanNotFound,
    PlanOvertaken,
    PlanStatus,
    PlanTooLarge,
    apply,
    get,
    make,
)
from admitone.kernel.plans.model import PLAN
from admitone.kernel.scope import Scope
from tests.builders import a_caller, an_increment, an_organization, rows_of, value_of
from tests.toy import closing, commands
from tests.toy.closing import CloseAbove, Closing, close_above
from tests.toy.model import COUNTER, CounterStatus
from tests.toy.store import move


async def an_organization_with(database: Database, **values: int) -> Scope:
    scope = await an_organization(database, *values)
    await count(database, scope, **values)
    return scope


async def count(database: Database, scope: Scope, **amounts: int) -> None:
    increments = [an_increment(name, amount) for name, amount in amounts.items() if amount]
    await database.run(scope, lambda tx: commands.increment(tx, increments))


async def a_plan(database: Database, scope: Scope, above: int, planner: Planner = close_above) -> Plan:
    [plan] = await database.run(scope, lambda tx: make(tx, [Draft(a_caller(), planner, CloseAbove(above))]))
    assert isinstance(plan, Plan), plan
    return plan


async def applied(database: Database, scope: Scope, plan: PlanId) -> Applied | Refusal:
    [outcome] = await database.run(scope, lambda tx: apply(tx, [Order(a_caller(), plan, "TOO_FAR")]))
    return outcome


async def closed(database: Database, scope: Scope) -> set[str]:
    async def query(tx: Tx) -> set[str]:
        rows = await tx.fetch("SELECT name FROM toy.counter WHERE organization_id = $1 AND status = 'CLOSED'")
        return {row["name"] for row in rows}

    return await database.read(scope, query)


async def test_a_plan_says_what_would_be_done_and_does_nothing(database: Database):
    scope = await an_organization_with(database, a=3, b=9, c=7)
    plan = await a_plan(database, scope, above=5)
    assert plan.steps == [{"counter": "b", "value": 9}, {"counter": "c", "value": 7}]
    assert plan.expires_at - plan.made_at == timedelta(hours=1)
    assert await database.read(scope, get, plan.id) == plan
    assert await closed(database, scope) == set()


async def test_a_plan_is_applied_as_it_was_shown_and_the_trail_says_who_and_why(
    database: Database, superuser: asyncpg.Connection
):
    scope = await an_organization_with(database, a=3, b=9, c=7)
    plan = await a_plan(database, scope, above=5)
    caller = a_caller()
    [outcome] = await database.run(scope, lambda tx: apply(tx, [Order(caller, plan.id, "TOO_FAR")]))
    assert isinstance(outcome, Applied)
    assert (outcome.steps, outcome.by, outcome.already) == (2, caller.actor, False)
    assert await closed(database, scope) == {"b", "c"}
    stored = await database.read(scope, get, plan.id)
    assert (stored.status, stored.applied_by, stored.applied_at) == (PlanStatus.APPLIED, caller.actor, outcome.at)
    [entry] = await superuser.fetch(
        "SELECT actor_id, subject, reason_code, after FROM kernel.audit_entry"
        " WHERE organization_id = $1 AND action = 'kernel.plan.apply'",
        scope.organization.uuid,
    )
    assert (entry["actor_id"], entry["subject"], entry["reason_code"]) == (caller.actor.uuid, str(plan.id), "TOO_FAR")
    assert plan.digest.hex() in entry["after"]


async def test_applied_again_it_is_said_to_be_applied(database: Database):
    scope = await an_organization_with(database, a=9)
    plan = await a_plan(database, scope, above=5)
    first = await applied(database, scope, plan.id)
    again = await applied(database, scope, plan.id)
    assert isinstance(first, Applied) and isinstance(again, Applied)
    assert again == msgspec.structs.replace(first, already=True)


async def test_two_orders_in_one_batch_apply_it_once(database: Database):
    scope = await an_organization_with(database, a=9)
    plan = await a_plan(database, scope, above=5)
    orders = [Order(a_caller(), each, "TOO_FAR") for each in (plan.id, PlanId.new(), plan.id)]
    first, stranger, second = await database.run(scope, lambda tx: apply(tx, orders))
    assert isinstance(first, Applied) and not first.already
    assert isinstance(second, Applied) and second.already and second.by == orders[0].caller.actor
    assert stranger == PlanNotFound()


async def test_a_plan_that_was_overtaken_is_refused_for_good_and_nothing_is_done(database: Database):
    scope = await an_organization_with(database, a=9, b=9)
    plan = await a_plan(database, scope, above=5)
    await count(database, scope, b=1)
    assert await applied(database, scope, plan.id) == PlanOvertaken()
    assert await closed(database, scope) == set()
    assert (await database.read(scope, get, plan.id)).status is PlanStatus.OVERTAKEN
    assert await applied(database, scope, plan.id) == PlanOvertaken()
    assert "new plan" in PlanOvertaken.next_step
    newer = await a_plan(database, scope, above=5)
    assert isinstance(await applied(database, scope, newer.id), Applied)


async def test_a_plan_that_is_too_old_is_refused(database: Database, database_url: str):
    scope = await an_organization_with(database, a=9)
    plan = await a_plan(database, scope, above=5)
    async with Database(database_url, clock=Clock(timedelta(hours=1, seconds=1))) as later:
        assert await applied(later, scope, plan.id) == PlanExpired()
    assert await applied(database, scope, plan.id) == PlanExpired(), "it has ended"
    assert await closed(database, scope) == set()


async def test_a_plan_of_another_organisation_is_not_there(database: Database):
    scope = await an_organization_with(database, a=9)
    plan = await a_plan(database, scope, above=5)
    other = await an_organization(database)
    assert await applied(database, other, plan.id) == PlanNotFound()
    with pytest.raises(PlanNotFound):
        await database.read(other, get, plan.id)


async def test_a_plan_that_nobody_could_look_at_is_not_made(database: Database):
    scope = await an_organization_with(database, **dict.fromkeys("abcdef", 9))
    [refused] = await database.run(scope, lambda tx: make(tx, [Draft(a_caller(), close_above, CloseAbove(5))]))
    assert refused == PlanTooLarge(most=5)
    assert await rows_of(database, scope, "kernel.plan") == 0


async def test_steps_that_were_tampered_with_are_not_carried_out(database: Database, superuser: asyncpg.Connection):
    scope = await an_organization_with(database, a=9, b=1)
    plan = await a_plan(database, scope, above=5)
    await superuser.execute(
        """UPDATE kernel.plan SET steps = '[{"counter": "b", "value": 1}]' WHERE id = $1""", plan.id.uuid
    )
    assert await applied(database, scope, plan.id) == PlanOvertaken()
    assert await closed(database, scope) == set()


async def test_a_change_between_the_second_look_and_the_deed_overtakes_the_plan(database: Database, batcher: Batcher):
    scope = await an_organization_with(database, a=9)
    looked, go_on = asyncio.Event(), asyncio.Event()

    async def survey(tx: Tx, request: CloseAbove, limit: int) -> Sequence[Closing]:
        seen = await closing.survey(tx, request, limit)
        looked.set()
        await go_on.wait()
        return seen

    slow = Planner("test.slow_closing", CloseAbove, Closing, survey, closing.carry_out)
    go_on.set()
    plan = await a_plan(database, scope, above=5, planner=slow)
    go_on.clear()
    looked.clear()
    applying = asyncio.create_task(applied(database, scope, plan.id))
    await asyncio.wait_for(looked.wait(), 60)
    await count(database, scope, a=1)
    go_on.set()
    assert await applying == PlanOvertaken()
    assert await closed(database, scope) == set()
    assert await value_of(database, scope, "a") == 10


async def test_the_table_knows_the_states_of_the_code(superuser: asyncpg.Connection):
    body = await superuser.fetchval(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'plan_status_check'"
    )
    assert all(f"'{status}'" in body for status in PLAN.states) and body.count("::text") == len(PLAN.states)


# -- Any change at all

COUNTERS = ("a", "b", "c", "d")
ABOVE = 5
counts = st.tuples(st.just("count"), st.sampled_from(COUNTERS), st.integers(1, 6))
moves = st.tuples(st.just("move"), st.sampled_from(COUNTERS), st.sampled_from(list(CounterStatus)))


def steps_of(counters: dict[str, tuple[int, CounterStatus]]) -> list[tuple[str, int]]:
    """What would be done, said once more and without a database."""
    return sorted((n, v) for n, (v, status) in counters.items() if v > ABOVE and status is CounterStatus.OPEN)


@given(
    values=st.lists(st.integers(0, 8), min_size=len(COUNTERS), max_size=len(COUNTERS)),
    changes=st.lists(counts | moves, max_size=4),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_a_plan_is_refused_if_and_only_if_a_change_touches_its_steps(database: Database, values, changes):
    counters = {name: (value, CounterStatus.OPEN) for name, value in zip(COUNTERS, values, strict=True)}
    scope = await an_organization_with(database, **dict(zip(COUNTERS, values, strict=True)))
    plan = await a_plan(database, scope, above=ABOVE)
    planned = steps_of(counters)
    assert [(step["counter"], step["value"]) for step in plan.steps] == planned
    for what, name, how in changes:
        value, status = counters[name]
        if what == "count" and status is CounterStatus.OPEN:
            await count(database, scope, **{name: how})
            counters[name] = (value + how, status)
        elif what == "move" and status in COUNTER.leaving(how):
            await database.run(scope, lambda tx, name=name, how=how: move(tx, [name], how))
            counters[name] = (value, how)
    before = await closed(database, scope)
    outcome = await applied(database, scope, plan.id)
    if steps_of(counters) == planned:
        assert isinstance(outcome, Applied)
        assert await closed(database, scope) == before | {name for name, _ in planned}
    else:
        assert outcome == PlanOvertaken()
        assert await closed(database, scope) == before
