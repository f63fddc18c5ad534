"""Giving back what was paid for: booked when it is ordered, settled when the provider says so, and never too much."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from admitone.finance.gateways.api import Refused, Unknown
from admitone.finance.ledger.api import Account
from admitone.finance.payments import errands
from admitone.finance.payments.commands.refunding import (
    PlannedRefund,
    Refunding,
    RefundWanted,
    begin_refunds,
    plan_refunds,
)
from admitone.finance.payments.errors import NotRefundable, ProviderUnanswered, RefundPutOff, RefundTooMuch
from admitone.finance.payments.facts import RefundBegun
from admitone.finance.payments.model import RefundState, Status
from admitone.finance.payments.orders import return_order
from admitone.finance.payments.store.payments import find_payments
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.kernel.db import Tx
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller
from tests.finance.lives import FEES, PAY, deed, hear, live
from tests.finance.payments.saying import saying
from tests.finance.payments.telling import balances, published
from tests.finance.payments.test_trouble import run
from tests.finance.world import World

MA, ORG, REF = Account.MA, Account.ORG, Account.REF


async def order(world: World, payment: PaymentId, amount: int, fee: int | None = None, own: UUID | None = None) -> UUID:
    wanted = RefundWanted(world.owner.caller, payment, own or uuid7(), amount, fee)
    begun: Refunding = await world.submit(begin_refunds, wanted)
    return begun.intent.id


async def give_back(world: World, payment: PaymentId, refund: UUID) -> None:
    await run(world, errands.refund, RefundBegun(payment_id=payment, refund_id=str(refund)))


async def books(world: World) -> dict[Account, int]:
    return {account: minor for account, minor in (await balances(world)).items() if minor}


@pytest.mark.covers("FIN-070", "MOR-042")
async def test_a_full_refund_is_owed_when_it_is_ordered_and_paid_when_the_provider_says_so(world: World):
    """T5: the organiser bears what the processor took."""
    payment = await live(world, (PAY, FEES))
    refund = await order(world, payment, 5000)
    ordered = await world.payment(payment)
    assert (ordered.status, ordered.refund_state) == (Status.SUCCEEDED, RefundState.PENDING)
    assert abs((await books(world))[REF]) == 5000
    await give_back(world, payment, refund)
    settled = await world.payment(payment)
    assert (settled.status, settled.refund_state) == (Status.REFUNDED, RefundState.NONE)
    after = await books(world)
    assert {*after} == {ORG, MA}
    assert len({abs(minor) for minor in after.values()}) == 1
    assert await published(world, "payment.refund_settled") == 1


async def test_ordering_twice_under_one_id_is_ordering_once(world: World):
    payment = await live(world, (PAY,))
    own = uuid7()
    first, again = await order(world, payment, 2000, own=own), await order(world, payment, 2000, own=own)
    assert first == again
    for _ in range(3):
        await give_back(world, payment, own)
    assert (await world.payment(payment)).refunded_minor == 2000


@pytest.mark.covers("FIN-072")
@pytest.mark.parametrize("parts", [(2500, 2500), (1, 4999), (1667, 1667, 1666), (1, 1, 1, 1, 4996)], ids=str)
async def test_all_parts_together_give_back_exactly_the_fee(world: World, parts: tuple[int, ...]):
    """T6, and on to the end: what is left is what the processor took."""
    payment = await live(world, (PAY, FEES))
    for part in parts:
        await give_back(world, payment, await order(world, payment, part))
    last = await world.payment(payment)
    assert (last.status, last.refunded_minor) == (Status.REFUNDED, 5000)
    assert {*await books(world)} == {ORG, MA}


@pytest.mark.covers("MOR-042")
async def test_fifty_at_once_never_give_back_more_than_was_captured(world: World):
    payment = await live(world, (PAY,))
    wanted = [RefundWanted(world.owner.caller, payment, uuid7(), 700) for _ in range(50)]
    outcomes = await asyncio.gather(*(world.submit(begin_refunds, each) for each in wanted), return_exceptions=True)
    begun = [each for each in outcomes if isinstance(each, Refunding)]
    assert len(begun) == 7
    assert all(isinstance(each, RefundTooMuch) for each in outcomes if each not in begun)
    await asyncio.gather(*(give_back(world, payment, each.intent.id) for each in begun))
    assert (await world.payment(payment)).refunded_minor == 4900
    assert await order(world, payment, 100)


@pytest.mark.parametrize("amount", [0, -1, 5001, 2**53, 2**63])
async def test_what_is_not_there_cannot_be_ordered(world: World, amount: int):
    payment = await live(world, (PAY,))
    before = await books(world)
    with pytest.raises(RefundTooMuch):
        await order(world, payment, amount)
    assert await books(world) == before


@pytest.mark.parametrize("fee", [-1, 301, 5001])
async def test_no_more_of_the_fee_goes_back_than_was_taken(world: World, fee: int):
    payment = await live(world, (PAY,))
    with pytest.raises(RefundTooMuch):
        await order(world, payment, 5000, fee)


@pytest.mark.parametrize("deeds", [(), (PAY, deed("dispute")), (PAY, deed("refund", amount=5000))], ids=str)
async def test_only_what_is_paid_is_given_back(world: World, deeds: Any):
    """Money that a bank has taken, or that has gone back, is not given back once more (U-17)."""
    payment = await live(world, deeds)
    with pytest.raises(NotRefundable):
        await order(world, payment, 1000)


@pytest.mark.covers("MOR-045")
async def test_what_is_refused_three_times_is_given_up_and_booked_back(world: World):
    payment = await live(world, (PAY, FEES))
    before = await books(world)
    refund = await order(world, payment, 5000)
    with saying(world, refund=Refused("insufficient_funds")):
        for _ in range(2):
            with pytest.raises(RefundPutOff):
                await give_back(world, payment, refund)
        assert (await world.payment(payment)).refund_state is RefundState.PENDING
        await give_back(world, payment, refund)
    given_up = await world.payment(payment)
    assert (given_up.status, given_up.refund_state) == (Status.SUCCEEDED, RefundState.FAILED)
    assert await books(world) == before
    assert await published(world, "payment.refund_failed") == 1
    await give_back(world, payment, refund)
    assert await published(world, "payment.refund_failed") == 1
    await give_back(world, payment, await order(world, payment, 5000))
    assert (await world.payment(payment)).status is Status.REFUNDED


async def test_what_is_not_answered_is_not_given_up(world: World):
    payment = await live(world, (PAY,))
    refund = await order(world, payment, 5000)
    with saying(world, refund=Unknown("lost")):
        for _ in range(4):
            with pytest.raises(ProviderUnanswered):
                await give_back(world, payment, refund)
    assert abs((await books(world))[REF]) == 5000
    await give_back(world, payment, refund)
    assert (await world.payment(payment)).status is Status.REFUNDED


async def test_a_refund_that_the_bank_sends_back_is_booked_back(world: World):
    payment = await live(world, (PAY, FEES))
    before = await books(world)
    refund = await order(world, payment, 5000)
    await give_back(world, payment, refund)
    world.simulator.act("return_refund", (await world.payment(payment)).charge_id or "")
    await hear(world, payment)
    assert await books(world) == before
    assert await published(world, "payment.refund_failed") == 1


async def test_a_refund_by_the_provider_itself_leaves_that_much_less(world: World):
    payment = await live(world, (PAY, FEES, deed("refund", amount=2000)))
    with pytest.raises(RefundTooMuch):
        await order(world, payment, 3001)
    await give_back(world, payment, await order(world, payment, 3000))
    assert {*await books(world)} == {ORG, MA}


async def test_what_was_answered_and_lost_is_found_and_not_done_again(world: World):
    """The provider did it; we heard of it before we had our answer, and ask by the key."""
    payment = await live(world, (PAY, FEES))
    refund = await order(world, payment, 2000)
    case = await world.clerk.find(world.organization, payment)
    assert case is not None
    await world.gateway.refund(return_order(case.payment, case.intents[-1], Caller()))
    await hear(world, payment)
    assert (await world.payment(payment)).status is Status.PARTIAL_REFUND
    for _ in range(2):
        await give_back(world, payment, refund)
    assert (await world.payment(payment)).refunded_minor == 2000
    assert REF not in await books(world)


async def test_what_is_shown_before_is_what_is_done(world: World):
    payment = await live(world, (PAY, FEES))
    wanted = RefundWanted(world.owner.caller, payment, uuid7(), 2500)

    async def plan(tx: Tx) -> Any:
        return await plan_refunds(tx, [wanted], await find_payments(tx, [wanted.payment]))

    [planned] = await world.database.read(world.scope, plan)
    assert isinstance(planned, PlannedRefund)
    shown = {each.entry_type.value: each.amount_minor for each in planned.postings}
    assert shown["REFUND_GROSS"] == 2500
    assert shown["TRANSFER_REVERSAL"] == 2500 - shown["REFUND_PLATFORM_FEE_REVERSAL"]
    before = len(await world.transfers(payment))
    await order(world, payment, 2500)
    assert len(await world.transfers(payment)) == before + len(planned.postings)
    assert planned.calls[0].application_fee_minor == shown["REFUND_PLATFORM_FEE_REVERSAL"]


async def test_a_stay_that_goes_back_whole_leaves_nothing(world: World):
    """S3, before anybody told what the processor took."""
    payment = await live(world, (PAY,), 100_000, type=SourceType.STAY_RESERVATION)
    await give_back(world, payment, await order(world, payment, 100_000))
    assert await books(world) == {}
