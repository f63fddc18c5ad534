"""Money that moves while rights are given: when everything was told, they stand where it says, and nothing was lost."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from admitone.entitlements.commands.following import follow
from admitone.entitlements.commands.granting import grant
from admitone.entitlements.handlers import JOBS, SUBSCRIPTIONS
from admitone.entitlements.model import Entitlement, Status
from admitone.entrypoints.duties import duties_of
from admitone.entrypoints.modules import MODULES
from admitone.finance.payments import errands
from admitone.finance.payments.module import MODULE as PAYMENTS
from admitone.finance.refunds import handlers
from admitone.finance.refunds.api import Piece
from admitone.finance.refunds.module import MODULE as REFUNDS
from admitone.finance.sources.api import PaymentId
from admitone.kernel.jobs.worker import Duties
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from tests.entitlements.rights import Hall
from tests.entitlements.test_following import hall as hall
from tests.finance.conftest import world as world
from tests.finance.lives import hear
from tests.finance.refunds.test_refunds import TWO, a_sale_of, ask
from tests.finance.world import World
from tests.jobs import a_worker, until, until_idle

UNSETTLED = "SELECT count(*) FROM refunds.refund WHERE organization_id = $1 AND state = 'PENDING'"
PIECES = ("adult", "adult", "child")


def its_duties() -> Duties:
    """All that hears of refunds, and of money for rights."""
    jobs = (errands.refund, handlers.settled, handlers.not_settled, *JOBS)
    every = (*PAYMENTS.subscriptions, *REFUNDS.subscriptions, *SUBSCRIPTIONS)
    mine = tuple(each for each in every if each.kind in jobs)
    return duties_of(
        [Module("money", jobs=jobs, subscriptions=mine, facts=tuple(fact for each in MODULES for fact in each.facts))]
    )


async def befall(world: World, payment: PaymentId, acts: Sequence[Any]) -> None:
    charge = (await world.payment(payment)).charge_id
    for act in acts:
        if isinstance(act, Piece):
            await ask(world, payment, act)
        else:
            world.simulator.act(act, charge)
            await hear(world, payment)


async def give(hall: Hall, payment: PaymentId, chance: random.Random) -> list[Entitlement]:
    given = []
    for number, line in enumerate(PIECES):
        await asyncio.sleep(chance.random() / 10)
        more = {"line_key": line, "payment": payment, "emission_key": f"{payment}:{number}"}
        given.append(await hall.submit(grant, hall.a_grant(**more)))
    return given


LIVES: tuple[tuple[tuple[Any, ...], Counter[Status]], ...] = (
    ((Piece("adult", 1), Piece("child", 1)), Counter({Status.REVOKED: 2, Status.ACTIVE: 1})),
    (("dispute", "win"), Counter({Status.ACTIVE: 3})),
    (("dispute", "win", Piece("adult", 2)), Counter({Status.REVOKED: 2, Status.ACTIVE: 1})),
    (("dispute", "lose"), Counter({Status.REVOKED: 3})),
    (("dispute",), Counter({Status.SUSPENDED: 3})),
)


@pytest.mark.covers("ENT-007", "ENT-008")
@pytest.mark.parametrize("seed", range(2))
async def test_when_all_was_told_nothing_is_left_to_follow(
    world: World, hall: Hall, superuser: asyncpg.Connection, seed: int
):
    chance = random.Random(seed)
    payments = [await a_sale_of(world, *TWO) for _ in LIVES]
    async with a_worker(world.database, its_duties()), a_worker(world.database, its_duties()):
        done = await asyncio.gather(
            *(give(hall, own, chance) for own in payments),
            *(befall(world, own, acts) for own, (acts, _) in zip(payments, LIVES, strict=True)),
        )
        await until(superuser, UNSETTLED, world.scope)
        await until_idle(superuser, world.scope)
    before = [await hall.find(each.id) for given in done[: len(payments)] for each in given or ()]
    statuses = [Counter(each.status for each in before if each.payment_id == own) for own in payments]
    assert statuses == [ends for _, ends in LIVES]
    await hall.database.run(hall.scope, lambda tx: follow(tx, dict.fromkeys(payments, Caller())), patient=True)
    assert [await hall.find(each.id) for each in before] == before
