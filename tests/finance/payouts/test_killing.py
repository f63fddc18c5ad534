"""The power goes at every step of a batch, and comes back: everybody is paid once, and the books are the provider's."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from uuid import UUID

import pytest

from admitone.finance.gateways.api import PayoutStatus
from admitone.finance.payouts.model import PayoutState
from admitone.kernel import failpoints
from admitone.kernel.ids import uuid7
from tests.finance.payouts.owing import (
    all_payouts,
    all_there,
    an_owed_stay,
    asked,
    made,
    owes,
    there,
    told,
    trial,
)
from tests.finance.world import World

P = PayoutState
OWNERS = 2


class PowerCut(Exception):
    """Whatever was under way is gone; what was committed is not."""


@contextmanager
def a_trap(point: str, turn: int, sprung: list[str]) -> Iterator[None]:
    """It springs once, when the point is reached for this time."""
    passed = count(1)

    def act() -> None:
        if next(passed) == turn:
            sprung.append(point)
            raise PowerCut

    with failpoints.armed(point, act):
        yield


async def a_life(world: World) -> None:
    """Make the batch, ask for whatever was not answered, and hear what arrived; until the power goes."""
    await made(world)
    open_ones = [each for each in await all_payouts(world) if each.state in (P.PAYOUT_PENDING, P.PROCESSING)]
    for each in sorted(open_ones, key=lambda each: each.id):
        assert await asked(world, [each]) == []
    for each in await all_payouts(world):
        if each.state is P.TRANSFERRED and each.reference is not None:
            if there(world, each.reference).status is PayoutStatus.PENDING:
                world.simulator.act("arrive", each.reference)
            await told(world, each.reference)


async def owners_of(world: World) -> list[UUID]:
    owners = [uuid7() for _ in range(OWNERS)]
    for owner in owners:
        await an_owed_stay(world, payee=owner)
    return owners


TRAPS = [
    *(("payouts.before_taking", turn) for turn in (1,)),
    *(("payouts.before_asking", turn) for turn in (1, 2)),
    *(("payouts.before_recording", turn) for turn in (1, 2)),
    # The batch; then, for each payout, marking it and writing its answer; then hearing that it arrived.
    *(("commit.before", turn) for turn in range(1, 8)),
]


@pytest.mark.usefixtures("prove")
@pytest.mark.parametrize(("point", "turn"), TRAPS, ids=lambda each: str(each))
@pytest.mark.covers("MOR-033", "MOR-036")
async def test_whenever_the_power_goes_everybody_is_paid_once(world: World, point: str, turn: int):
    owners, sprung = await owners_of(world), list[str]()
    with a_trap(point, turn, sprung), suppress(PowerCut):
        await a_life(world)
    assert sprung == [point]
    await world.batcher.drain()
    await a_life(world)
    assert {each.state for each in await all_payouts(world)} == {P.COMPLETED}
    assert sorted(each.amount_minor for each in all_there(world)) == [85_000] * OWNERS
    assert [await owes(world, owner) for owner in owners] == [0] * OWNERS
    assert "cash_reserve" not in await trial(world)


@pytest.mark.usefixtures("prove")
async def test_an_answer_to_a_commit_that_was_lost_pays_nobody_twice(world: World):
    owners = await owners_of(world)
    for turn in (1, 2, 3):
        passed = count(1)
        with failpoints.armed("commit.after", partial(_cut_at, passed, turn)):
            await a_life(world)
    assert sorted(each.amount_minor for each in all_there(world)) == [85_000] * OWNERS
    assert [await owes(world, owner) for owner in owners] == [0] * OWNERS


def _cut_at(passed: Iterator[int], turn: int) -> None:
    if next(passed) == turn:
        failpoints.cut()
