"""What became of the money, followed by the rights that it paid for: the truth matrix."""

from typing import Any

import asyncpg
import pytest

from admitone.entitlements.commands.following import follow
from admitone.entitlements.commands.granting import Activation, activate, grant
from admitone.entitlements.errors import EntitlementNotPaid
from admitone.entitlements.model import Entitlement, Grant, Hold, Reason, Revocation, Status
from admitone.finance.payments.api import Status as PaymentStatus
from admitone.finance.refunds.api import CANCELLATION, Piece
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.scope import Caller
from tests.entitlements.rights import Hall, all_of
from tests.finance.conftest import world as world
from tests.finance.lives import DISPUTE, FEES, LIVES, PAY, Deed, a_free_one, deed, hear, live
from tests.finance.refunds.test_refunds import (
    SUBJECT,
    TWO,
    a_sale_of,
    applied,
    ask,
    its_duties,
    planned,
    see_to,
    the_storm,
    until_none_waits,
)
from tests.finance.world import World
from tests.jobs import a_worker

CREDENTIALS = (SourceType.TICKET_ORDER, SourceType.BOOKING, SourceType.PADEL_REGISTRATION)


@pytest.fixture
def hall(world: World, database: Database, batcher: Batcher) -> Hall:
    """The doors of the same organisation."""
    return Hall(database, batcher, world.organization, world.owner, world.buyer)


async def given(hall: Hall, payment: PaymentId, *lines: str, **more: Any) -> list[Entitlement]:
    """Rights that the payment paid for, one for each piece."""
    grants: list[Grant] = [
        hall.a_grant(payment=payment, line_key=line, emission_key=f"{payment}:{line}:{number}", **more)
        for number, line in enumerate(lines or ("line",))
    ]
    return [await hall.submit(grant, each) for each in grants]


async def told(hall: Hall, payment: PaymentId, times: int = 2) -> None:
    """Whatever is told, as often as it is."""
    for _ in range(times):
        await hall.database.run(hall.scope, lambda tx: follow(tx, {payment: Caller()}))


ENDS: dict[str, tuple[Status, frozenset[Hold], Revocation | None]] = {
    "with its fee": (Status.ACTIVE, frozenset(), None),
    "refunded": (Status.REVOKED, frozenset(), Revocation.REFUND),
    "refunded in two parts": (Status.ACTIVE, frozenset(), None),
    "disputed": (Status.SUSPENDED, frozenset({Hold.DISPUTE}), None),
    "won": (Status.ACTIVE, frozenset(), None),
    "lost": (Status.REVOKED, frozenset(), Revocation.CHARGEBACK),
}


@pytest.mark.covers("ENT-007", "ENT-008")
@pytest.mark.parametrize("source", CREDENTIALS)
@pytest.mark.parametrize("life", ENDS)
async def test_a_right_stands_where_its_payment_says(world: World, hall: Hall, life: str, source: SourceType):
    first, *rest = LIVES[life]
    payment = await live(world, (first,), type=source)
    [right] = await given(hall, payment)
    charge = (await world.payment(payment)).charge_id
    for name, options in rest:
        world.simulator.act(name, charge, **options)
        await hear(world, payment)
    await told(hall, payment)
    after = await hall.find(right.id)
    assert (after.status, after.held_for, after.revoked_for) == ENDS[life]


@pytest.mark.covers("ENT-008")
@pytest.mark.parametrize("life", [(PAY, DISPUTE), (PAY, DISPUTE, deed("lose")), (PAY, deed("refund"))])
async def test_what_is_granted_after_the_dispute_opens_no_door(world: World, hall: Hall, life: tuple[Deed, ...]):
    payment = await live(world, life)
    [right] = await given(hall, payment)
    assert right.status is not Status.ACTIVE
    kept = await hall.grant(payment=payment, pending=True)
    assert kept.status is not Status.ACTIVE
    if kept.status is Status.PENDING:
        assert (await hall.submit(activate, Activation(Caller(), kept.id))).status is not Status.ACTIVE


@pytest.mark.covers("ENT-009", "ENT-007")
async def test_a_dispute_ends_codes_at_once_and_winning_it_makes_new_ones(world: World, hall: Hall):
    payment = await live(world, (PAY, FEES))
    [right] = await given(hall, payment)
    shown = await hall.code(right)
    charge = (await world.payment(payment)).charge_id
    world.simulator.act("dispute", charge)
    await hear(world, payment)
    await told(hall, payment)
    assert (await hall.scan(shown)).reason is Reason.ENTITLEMENT_NOT_ACTIVE
    world.simulator.act("win", charge)
    await hear(world, payment)
    await told(hall, payment)
    assert (await hall.scan(shown)).reason is Reason.TOKEN_EXPIRED
    assert (await hall.scan(await hall.code(right))).allow


@pytest.mark.covers("ENT-007")
async def test_of_pieces_that_go_back_as_many_rights_go_and_no_others(world: World, hall: Hall):
    payment = await a_sale_of(world, *TWO)
    adults = await given(hall, payment, "adult", "adult")
    [child] = await given(hall, payment, "child")
    used = adults[1]
    assert (await hall.scan(await hall.code(used))).allow
    refund = await ask(world, payment, Piece("adult", 1))
    await told(hall, payment)
    assert {(await hall.find(each.id)).status for each in (*adults, child)} == {Status.ACTIVE}, "it may yet fail"
    await see_to(world, refund)
    await told(hall, payment)
    assert (await hall.find(adults[0].id)).revoked_for is Revocation.REFUND
    assert [(await hall.find(each.id)).status for each in (used, child)] == [Status.ACTIVE] * 2


@pytest.mark.covers("ENT-007")
async def test_money_that_went_back_without_a_piece_takes_nothing(world: World, hall: Hall):
    payment = await a_sale_of(world, *TWO)
    rights = await given(hall, payment, "adult", "adult", "child")
    await see_to(world, await ask(world, payment, amount_minor=1200))
    await told(hall, payment)
    assert {(await hall.find(each.id)).status for each in rights} == {Status.ACTIVE}


@pytest.mark.covers("ENT-008")
async def test_a_refund_after_a_dispute_takes_it_for_good(world: World, hall: Hall):
    payment = await live(world, (PAY, FEES))
    [right] = await given(hall, payment)
    charge = (await world.payment(payment)).charge_id
    for act in ("dispute", "win", "refund"):
        world.simulator.act(act, charge)
        await hear(world, payment)
        await told(hall, payment)
    assert (await hall.find(right.id)).revoked_for is Revocation.REFUND


@pytest.mark.covers("ENT-007", "ENT-018")
@pytest.mark.parametrize(
    "life", [(), (deed("expire"),), (deed("cancel"),), LIVES["late"], LIVES["too little"]], ids=str
)
async def test_what_nobody_paid_for_is_not_issued(world: World, hall: Hall, life: tuple[Deed, ...]):
    payment = await live(world, life)
    kept = await hall.grant(payment=payment, pending=True)
    for command, said in ((grant, hall.a_grant(payment=payment)), (activate, Activation(Caller(), kept.id))):
        with pytest.raises(EntitlementNotPaid):
            await hall.submit(command, said)
    assert (await hall.find(kept.id)).status is Status.PENDING
    assert len(await all_of(hall, "SELECT FROM entitlements.entitlement WHERE organization_id = $1")) == 1


@pytest.mark.covers("ENT-007")
async def test_what_is_free_is_issued(world: World, hall: Hall):
    [right] = await given(hall, await a_free_one(world))
    assert right.status is Status.ACTIVE


@pytest.mark.covers("ENT-007", "ENT-025")
async def test_with_a_pass_that_goes_back_go_all_its_days_and_no_other_pass(world: World, hall: Hall):
    payment = await a_sale_of(world, *TWO)
    days = {
        (piece, day): await hall.grant(payment=payment, line_key="adult", piece=piece, session_id=day)
        for day in ("fri", "sat")
        for piece in (1, 2)
    }
    assert (await hall.scan(await hall.code(days[2, "fri"]), session_id="fri")).allow
    refund = await ask(world, payment, Piece("adult", 1))
    for standing in (Status.ACTIVE, Status.REVOKED):
        await told(hall, payment)
        now = {own: (await hall.find(each.id)).status for own, each in days.items()}
        assert now == {own: standing if own[0] == 1 else Status.ACTIVE for own in days}
        await see_to(world, refund)


@pytest.mark.covers("ENT-007")
async def test_a_cancellation_takes_all_though_the_bank_keeps_what_was_paid_too_much(
    world: World, hall: Hall, superuser: asyncpg.Connection
):
    """Whose payment is then refunded in part only, and the cancellation names no pieces."""
    campaign = (deed("pay", amount=15_000), FEES)
    payment = await live(world, campaign, 14_700, type=SourceType.COUPON_CAMPAIGN, subjects=(SUBJECT,))
    [right] = await given(hall, payment)
    await applied(world, await planned(world, CANCELLATION, the_storm()))
    async with a_worker(world.database, its_duties()):
        await until_none_waits(superuser, world, "('PLANNED', 'PENDING')")
    await told(hall, payment)
    assert (await world.payment(payment)).status is PaymentStatus.PARTIAL_REFUND
    assert (await hall.find(right.id)).revoked_for is Revocation.REFUND
