"""One payment for thousands: what is given and taken costs as much as it is, and not its square."""

import asyncio

import pytest

from admitone.entitlements.commands.granting import grant
from admitone.entitlements.model import Hold, Status
from admitone.entitlements.store import entitlements as store
from admitone.kernel.db import Tx
from tests.entitlements.rights import Hall, all_of
from tests.entitlements.test_following import given, told
from tests.entitlements.test_following import hall as hall
from tests.finance.conftest import world as world
from tests.finance.lives import FEES, PAY, hear, live
from tests.finance.world import World

MANY = 1_200
STANDING = """
    SELECT e.status, count(DISTINCT e.id) AS rights, count(t.digest) AS live
      FROM entitlements.entitlement AS e
      LEFT JOIN entitlements.token AS t
        ON t.organization_id = e.organization_id AND t.entitlement_id = e.id AND t.revoked_at IS NULL
     WHERE e.organization_id = $1
     GROUP BY e.status
"""


@pytest.mark.covers("ENT-007")
async def test_a_dispute_takes_all_of_a_big_order_at_once(world: World, hall: Hall):
    payment = await live(world, (PAY, FEES))
    await hall.grant_many(MANY, payment=payment)
    charge = (await world.payment(payment)).charge_id
    for act, status, live_codes in (("dispute", Status.SUSPENDED, 0), ("win", Status.ACTIVE, MANY)):
        world.simulator.act(act, charge)
        await hear(world, payment)
        await told(hall, payment)
        assert [tuple(row) for row in await all_of(hall, STANDING)] == [(status.value, MANY, live_codes)]


@pytest.mark.covers("ENT-035")
async def test_who_gives_the_rest_of_an_order_holds_up_nobody_who_comes_in_on_the_first(world: World, hall: Hall):
    payment = await live(world, (PAY, FEES))
    [first] = await given(hall, payment)
    granted, scanned = asyncio.Event(), asyncio.Event()

    async def slow(tx: Tx) -> None:
        await grant(tx, [hall.a_grant(payment=payment)])
        granted.set()
        await scanned.wait()

    granting = asyncio.create_task(hall.database.run(hall.scope, slow))
    await granted.wait()

    async def comes_by(tx: Tx) -> None:
        await store.lock_entitlements(tx, [first], lambda each: each.id)

    try:
        await hall.database.run(hall.scope, comes_by)  # Busy, if somebody holds it.
    finally:
        scanned.set()
        await granting
    assert Hold.DISPUTE not in (await hall.find(first.id)).held_for
