"""Every night each right is compared with its payment."""

from contextlib import suppress
from datetime import UTC, datetime

import asyncpg
import pytest

from admitone.entitlements import comparing
from admitone.entitlements.comparing import Doubtful
from admitone.entitlements.errors import EntitlementNotPaid
from admitone.entitlements.facts import RightsStrayed
from admitone.entitlements.model import Entitlement, Hold, Revocation, Status
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.scope import Caller
from tests.alerts import alerts_about
from tests.entitlements.rights import Hall
from tests.entitlements.test_following import given, told
from tests.entitlements.test_following import hall as hall
from tests.entitlements.wallets import fires
from tests.finance.conftest import world as world
from tests.finance.lives import DISPUTE, LIVES, PAY, deed, live
from tests.finance.world import World

JOBS = "SELECT payload::text AS payload FROM kernel.job WHERE organization_id = $1 AND kind = 'entitlements.put_right'"
FACTS = """
    SELECT payload::text AS payload FROM kernel.event_log WHERE organization_id = $1 AND type = 'entitlement.strayed'
"""
ELSEWHERE = """
    UPDATE entitlements.entitlement SET status = 'ACTIVE', held_for = '{}', revoked_for = NULL WHERE id = $1
"""


async def a_night(hall: Hall, superuser: asyncpg.Connection) -> list[PaymentId]:
    """What is found, and looked at once more."""
    await fires(hall, comparing.compare)
    rows = await superuser.fetch(JOBS, hall.organization.uuid)
    return [comparing.put_right.decode(row["payload"]).payment_id for row in rows]


async def look_again(hall: Hall, payment: PaymentId) -> None:
    doubt = Delivered(uuid7(), hall.organization, Doubtful(payment), Caller(), "k", None, 1, datetime.now(UTC))

    async def work(tx: Tx) -> None:
        await comparing.put_right.work(tx, [doubt])

    await hall.database.run(hall.scope, work)


@pytest.mark.covers("ENT-007")
@pytest.mark.parametrize("life", LIVES)
async def test_whatever_became_of_a_payment_the_night_finds_nothing(
    world: World, hall: Hall, superuser: asyncpg.Connection, life: str
):
    payment = await live(world, LIVES[life])
    with suppress(EntitlementNotPaid):
        await given(hall, payment)
    await told(hall, payment)
    assert await a_night(hall, superuser) == []


@pytest.mark.covers("ENT-007")
@pytest.mark.parametrize(
    ("life", "status", "revoked_for"),
    [
        ((PAY, deed("refund")), Status.REVOKED, Revocation.REFUND),
        ((PAY, DISPUTE), Status.SUSPENDED, None),
        ((PAY, DISPUTE, deed("lose")), Status.REVOKED, Revocation.CHARGEBACK),
    ],
)
async def test_a_right_that_strayed_is_put_right_and_somebody_is_told(
    world: World, hall: Hall, superuser: asyncpg.Connection, life: tuple, status: Status, revoked_for: Revocation | None
):
    payment = await live(world, life)
    [right] = await given(hall, payment)
    await superuser.execute(ELSEWHERE, right.id.uuid)
    assert await a_night(hall, superuser) == [payment]
    assert (await hall.find(right.id)).status is Status.ACTIVE, "it may come right by itself"
    await look_again(hall, payment)
    after: Entitlement = await hall.find(right.id)
    assert (after.status, after.revoked_for) == (status, revoked_for)
    assert after.held_for == ({Hold.DISPUTE} if status is Status.SUSPENDED else set())
    [row] = await superuser.fetch(FACTS, hall.organization.uuid)
    fact: RightsStrayed = comparing.tell_of_strayed.decode(row["payload"])
    assert fact == RightsStrayed(payment_id=payment, entitlements=(right.id,))
    heard = Delivered(uuid7(), hall.organization, fact, Caller(), "k", None, 1, datetime.now(UTC))
    await comparing.tell_of_strayed.work(Desk(hall.database, hall.batcher), heard)
    [alert] = await alerts_about(superuser, str(payment), "entitlements.strayed")
    assert alert["concerns"] == hall.organization.uuid
    await look_again(hall, payment)
    assert len(await superuser.fetch(FACTS, hall.organization.uuid)) == 1, "it was put right"


@pytest.mark.covers("ENT-007")
async def test_what_comes_right_by_itself_is_nobodys_fault(world: World, hall: Hall, superuser: asyncpg.Connection):
    payment = await live(world, (PAY, DISPUTE))
    [right] = await given(hall, payment)
    await superuser.execute(ELSEWHERE, right.id.uuid)
    assert await a_night(hall, superuser) == [payment]
    await told(hall, payment)
    await look_again(hall, payment)
    assert await superuser.fetch(FACTS, hall.organization.uuid) == []
    assert (await hall.find(right.id)).status is Status.SUSPENDED
