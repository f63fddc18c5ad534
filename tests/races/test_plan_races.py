"""Of many who apply a plan at once, one does it."""

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest

from admitone.kernel.batch import Answered, Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.plans import Applied, Order, Planner, PlanOvertaken, apply
from admitone.kernel.scope import Caller
from tests.builders import a_caller, an_increment, value_of
from tests.jobs import heard
from tests.kernel.test_plans import a_plan, an_organization_with, closed
from tests.toy import closing, commands
from tests.toy.closing import CloseAbove, Closing
from tests.toy.model import Heard
from tests.toy.store import insert_heard

APPLIERS = 20


async def announce(tx: Tx, steps: Sequence[Closing], caller: Caller) -> None:
    """Nothing in here would stop it from being done twice."""
    await insert_heard(tx, [Heard(step.counter, step.value) for step in steps])


announce_above = Planner("test.announce_above", CloseAbove, Closing, closing.survey, announce)


@pytest.mark.parametrize("planner", [closing.close_above, announce_above])
@pytest.mark.parametrize("coalesce", [True, False])
async def test_twenty_who_apply_a_plan_at_once_apply_it_once(
    database: Database, superuser: asyncpg.Connection, coalesce: bool, planner: Planner
):
    scope = await an_organization_with(database, a=9, b=9, c=1)
    plan = await a_plan(database, scope, 5, planner)
    batchers = [Batcher(database, coalesce=coalesce) for _ in range(APPLIERS)]
    orders = [Order(a_caller(), plan.id, "TOO_FAR") for _ in range(APPLIERS)]
    answers = await asyncio.gather(
        *(batcher.run_one(apply, scope, order) for batcher, order in zip(batchers, orders, strict=True))
    )
    outcomes = [answer.outcome for answer in answers]
    assert all(isinstance(outcome, Applied) for outcome in outcomes)
    [first] = [order for order, outcome in zip(orders, outcomes, strict=True) if not outcome.already]
    assert {outcome.by for outcome in outcomes} == {first.caller.actor}
    done = await closed(database, scope) if planner is closing.close_above else await heard(database, scope)
    assert sorted(done) == ["a", "b"]
    entries = await superuser.fetchval(
        "SELECT count(*) FROM kernel.audit_entry WHERE organization_id = $1 AND action = 'kernel.plan.apply'",
        scope.organization.uuid,
    )
    assert entries == 1


async def test_whoever_counts_while_a_plan_is_applied_is_before_it_or_refused(database: Database, batcher: Batcher):
    """The counter is closed at the value that was shown, or not closed at all."""
    for _ in range(15):
        scope = await an_organization_with(database, a=9)
        plan = await a_plan(database, scope, above=5)
        answer, *_ = await asyncio.gather(
            batcher.run_one(apply, scope, Order(a_caller(), plan.id, "TOO_FAR")),
            *(batcher.submit(commands.increment, scope, an_increment("a")) for _ in range(3)),
            return_exceptions=True,
        )
        if isinstance(answer, Answered):
            assert await value_of(database, scope, "a") == 9
            assert await closed(database, scope) == {"a"}
        else:
            assert isinstance(answer, PlanOvertaken)
            assert await closed(database, scope) == set()
