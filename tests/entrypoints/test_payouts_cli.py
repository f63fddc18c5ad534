"""Payouts on the command line, as an operator plans, pays and lists them."""

from collections.abc import AsyncIterator

import pytest

from admitone.finance.payouts.model import PayoutState
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from tests.entrypoints.operator import Operator
from tests.finance.payouts.owing import an_owed_stay, states
from tests.finance.world import World, a_world


@pytest.fixture
async def world(database: Database, batcher: Batcher) -> AsyncIterator[World]:
    async with a_world(database, batcher) as world:
        yield world


async def test_an_operator_sees_what_would_be_paid_pays_exactly_that_and_lists_it(operator: Operator, world: World):
    await an_owed_stay(world)
    here = ("--organization", str(world.organization))
    status, said = await operator.types("payouts", "plan", *here)
    assert status == 0 and "85000" in said and "PAYOUT_INITIATED: org_settlements / payouts_in_transit 85000" in said
    plan = next(word for word in said.replace(":", " ").split() if word.startswith("pln_"))
    status, said = await operator.types("payouts", "run", "--plan", plan, *here, "--reason", "BATCH_WAS_MISSED")
    assert (status, said) == (0, "1 payouts made; a worker pays.\n")
    assert await states(world) == [PayoutState.PAYOUT_PENDING]
    status, said = await operator.types("payouts", "list", *here, "--state", "payout_pending")
    assert status == 0 and said.startswith("pyo_") and "85000 EUR" in said, said


async def test_an_operator_is_told_in_one_sentence_what_cannot_be(operator: Operator, world: World):
    here = ("--organization", str(world.organization), "--reason", "BATCH_WAS_MISSED")
    status, said = await operator.types("payouts", "run", "--plan", "pln_" + "0" * 32, *here)
    assert (status, said) == (1, "PLAN_NOT_FOUND: There is no such plan.\n")
