"""Money that paid for nothing: it goes back, or pays after all, once; and what ends a payment."""

import asyncio

import msgspec
import pytest

from admitone.finance.ledger import api as ledger
from admitone.finance.payments.commands.checkouts import Begun
from admitone.finance.payments.commands.closing import Closing, close
from admitone.finance.payments.commands.receipts import Decision, apply, begin_returns
from admitone.finance.payments.errors import AlreadyPaid, NotReturnable, PaymentNotFound
from admitone.finance.payments.model import (
    Reason,
    ReceiptState,
    Recorded,
    RefundState,
    Status,
)
from admitone.finance.sources.api import PaymentId, SourceType
from admitone.kernel.scope import Caller
from tests.finance.payments.telling import (
    K,
    a_fact,
    a_late_payment,
    a_paid_sale,
    a_sale,
    ask,
    balances,
    counted,
    facts_of,
    published,
    receipts,
    see_to_receipt,
    tell,
    whole,
)
from tests.finance.world import World

# -- Money that paid for nothing


@pytest.mark.parametrize("amount", [4999, 5001, 1])
async def test_another_amount_pays_for_nothing_and_goes_back(world: World, amount: int):
    payment, charge = await a_sale(world, 5000, type=SourceType.STAY_RESERVATION)
    world.simulator.act("pay", charge, amount=amount)
    row = await ask(world, payment)
    assert (row.status, row.manual_reason, row.applied) == (Status.NEEDS_MANUAL, Reason.AMOUNT_MISMATCH, False)
    assert await balances(world) == {"cash_reserve": amount, "unapplied_receipts": amount}
    assert await published(world, "payment.receipt_unapplied") == 1
    assert await published(world, "payment.succeeded") == 0

    await see_to_receipt(world, payment)
    row = await ask(world, payment)
    assert (row.status, row.refunded_minor) == (Status.REFUNDED, amount)
    assert await balances(world) == {}
    assert await receipts(world, payment) == [(Reason.AMOUNT_MISMATCH, amount, ReceiptState.RETURNED)]
    await see_to_receipt(world, payment)
    assert await balances(world) == {}


async def test_another_currency_pays_for_nothing(world: World):
    payment, _ = await a_sale(world)
    await tell(world, payment, a_fact(K.CAPTURED, "ch_usd", 5000, currency="USD"))
    row = await world.payment(payment)
    assert (row.status, row.manual_reason) == (Status.NEEDS_MANUAL, Reason.CURRENCY_MISMATCH)
    trials = await world.database.read(world.scope, ledger.trial_balance)
    assert {trial.currency: trial.accounts[ledger.Account.SUS] for trial in trials} == {"USD": 5000}


async def test_late_money_is_on_nobodys_account_until_it_is_back(world: World):
    """L1."""
    payment, _ = await a_late_payment(world)
    assert await balances(world) == {"merchant_account": 250, "org_settlements": 4750, "unapplied_receipts": 5000}
    assert await world.net(payment) == 0
    await see_to_receipt(world, payment)
    assert (await world.payment(payment)).status is Status.REFUNDED
    assert await balances(world) == {}


async def test_a_campaign_that_was_paid_too_much_is_paid_and_the_rest_waits(world: World):
    """C2."""
    payment, charge = await a_sale(world, 14700, type=SourceType.COUPON_CAMPAIGN)
    world.simulator.act("pay", charge, amount=15000)
    row = await ask(world, payment)
    assert (row.status, row.captured_minor) == (Status.SUCCEEDED, 15000)
    assert await balances(world) == {"merchant_account": 15000, "deferred_revenue": 14700, "unapplied_receipts": 300}
    assert await receipts(world, payment) == [(Reason.SURPLUS, 300, ReceiptState.OPEN)]
    world.simulator.act("refund", charge, amount=300)
    assert (await ask(world, payment)).status is Status.PARTIAL_REFUND
    assert await receipts(world, payment) == [(Reason.SURPLUS, 300, ReceiptState.RETURNED)]
    assert await balances(world) == {"merchant_account": 14700, "deferred_revenue": 14700}


async def test_a_campaign_that_was_paid_too_little_is_not_paid(world: World):
    """C3; and a campaign's money waits for somebody, it does not go back by itself."""
    payment, charge = await a_sale(world, 14700, type=SourceType.COUPON_CAMPAIGN)
    world.simulator.act("pay", charge, amount=14000)
    assert (await ask(world, payment)).status is Status.NEEDS_MANUAL
    await see_to_receipt(world, payment)
    assert (await world.payment(payment)).status is Status.NEEDS_MANUAL
    assert await balances(world) == {"merchant_account": 14000, "unapplied_receipts": 14000}


# -- Applied after all


async def test_late_money_may_pay_after_all_once(world: World):
    payment, _ = await a_late_payment(world)
    recorded = await world.submit(apply, Decision(world.owner.caller, payment, "GOODWILL"))
    assert recorded.status is Status.SUCCEEDED
    row = await world.payment(payment)
    assert (row.applied, row.manual_reason) == (True, None)
    assert await world.net(payment) == 5000 - row.fee_minor
    assert "unapplied_receipts" not in await balances(world)
    assert await receipts(world, payment) == [(Reason.LATE, 5000, ReceiptState.APPLIED)]
    before = await counted(world)
    with pytest.raises(NotReturnable):
        await world.submit(apply, Decision(world.owner.caller, payment, "GOODWILL"))
    with pytest.raises(NotReturnable):
        await world.submit(begin_returns, Decision(world.owner.caller, payment))
    assert await counted(world) == before


async def test_what_is_on_its_way_back_pays_for_nothing(world: World):
    payment, _ = await a_late_payment(world)
    await world.submit(begin_returns, Decision(Caller(), payment))
    with pytest.raises(NotReturnable):
        await world.submit(apply, Decision(Caller(), payment))
    await world.clerk.give_back(world.organization, Decision(Caller(), payment))
    with pytest.raises(NotReturnable):
        await world.submit(apply, Decision(Caller(), payment))
    assert await balances(world) == {}


async def test_of_which_a_part_went_back_pays_for_nothing(world: World):
    payment, charge = await a_late_payment(world)
    world.simulator.act("refund", charge, amount=1)
    await ask(world, payment)
    with pytest.raises(NotReturnable):
        await world.submit(apply, Decision(Caller(), payment))
    await see_to_receipt(world, payment)
    assert (await world.payment(payment)).status is Status.REFUNDED
    assert await balances(world) == {}


async def test_what_somebody_else_refunds_meanwhile_pays_for_nothing(world: World):
    payment, charge = await a_late_payment(world)
    world.simulator.act("refund", charge, amount=1000, pending=True)
    assert (await ask(world, payment)).refund_state is RefundState.PENDING
    with pytest.raises(NotReturnable):
        await world.submit(apply, Decision(Caller(), payment))
    world.simulator.act("fail_refund", charge)
    assert (await ask(world, payment)).refund_state is RefundState.FAILED
    assert (await world.submit(apply, Decision(Caller(), payment))).status is Status.SUCCEEDED


async def test_late_money_does_not_pay_for_what_another_has_paid(world: World):
    late, _ = await a_late_payment(world)
    source = (await world.payment(late)).source
    paid, charge = await world.opened(source)
    world.simulator.act("pay", charge)
    assert (await ask(world, paid)).status is Status.SUCCEEDED
    with pytest.raises(AlreadyPaid):
        await world.submit(apply, Decision(Caller(), late))


async def test_of_two_who_decide_at_once_one_is_heard(world: World):
    """It pays for its source, or it goes back, and never both."""
    for _ in range(5):
        payment, _ = await a_late_payment(world)
        outcomes = await asyncio.gather(
            world.submit(apply, Decision(Caller(), payment)),
            world.clerk.give_back(world.organization, Decision(Caller(), payment)),
            return_exceptions=True,
        )
        assert sorted(isinstance(each, Recorded) for each in outcomes) == [False, True]
        row = await ask(world, payment)
        assert (row.status, row.applied) in {(Status.SUCCEEDED, True), (Status.REFUNDED, False)}


async def test_a_return_that_did_not_arrive_can_be_begun_again(world: World):
    payment, charge = await a_late_payment(world)
    order = await world.submit(begin_returns, Decision(Caller(), payment))
    world.simulator.act("refund", charge, pending=True, key=str(order.intent.id))
    await world.clerk.give_back(world.organization, Decision(Caller(), payment))
    assert await receipts(world, payment) == [(Reason.LATE, 5000, ReceiptState.RETURNING)]
    world.simulator.act("fail_refund", charge)
    row = await ask(world, payment)
    assert (row.status, row.refund_state) == (Status.NEEDS_MANUAL, RefundState.FAILED)
    assert await receipts(world, payment) == [(Reason.LATE, 5000, ReceiptState.OPEN)]
    await world.clerk.give_back(world.organization, Decision(Caller(), payment))
    assert (await world.payment(payment)).status is Status.REFUNDED
    assert await balances(world) == {}


async def test_a_refund_that_had_arrived_and_comes_back_is_owed_again(world: World):
    payment, _ = await a_late_payment(world)
    await see_to_receipt(world, payment)
    assert await balances(world) == {}
    refund = next(each.reference for each in await facts_of(world, payment) if each.kind is K.REFUNDED)
    await tell(world, payment, a_fact(K.REFUND_FAILED, refund, 5000, minutes=5))
    row = await world.payment(payment)
    assert (row.status, row.refunded_minor, row.refund_state) == (Status.REFUNDED, 0, RefundState.FAILED)
    assert await balances(world) == {"merchant_account": 250, "org_settlements": 4750, "unapplied_receipts": 5000}
    assert await receipts(world, payment) == [(Reason.LATE, 5000, ReceiptState.OPEN)]


@pytest.mark.covers("FIN-036")
async def test_the_refund_of_a_sale_that_comes_back_is_the_organisations_again(world: World):
    payment, charge = await a_paid_sale(world)
    net, before = await world.net(payment), await balances(world)
    world.simulator.act("refund", charge)
    assert (await ask(world, payment)).status is Status.REFUNDED
    refund = next(each.reference for each in await facts_of(world, payment) if each.kind is K.REFUNDED)
    for _ in range(2):
        await tell(world, payment, a_fact(K.REFUND_FAILED, refund, 5000, minutes=5))
    row = await world.payment(payment)
    assert (row.status, row.refunded_minor, row.refund_state) == (Status.REFUNDED, 0, RefundState.FAILED)
    assert await world.net(payment) == net
    assert await balances(world) == before


# -- Closing


async def test_what_was_captured_in_the_last_moment_counts(world: World):
    payment, charge = await a_sale(world)
    world.simulator.act("pay", charge)
    said = await whole(world, charge)
    closing = Closing(Caller(), payment, K.EXPIRED, said)
    assert (await world.submit(close, closing)).status is Status.SUCCEEDED
    assert await world.clerk.close(world.organization, payment, K.EXPIRED, Caller())
    assert (await world.payment(payment)).status is Status.SUCCEEDED


async def test_what_was_never_asked_for_is_closed_without_asking(world: World):
    begun = await world.begin(world.shop.sells(world.buyer.identity, 5000))
    assert isinstance(begun, Begun)
    closing = Closing(Caller(), begun.payment.id, K.CANCELLED, None)
    assert (await world.submit(close, closing)).status is Status.CANCELLED
    with pytest.raises(PaymentNotFound):
        await world.submit(close, msgspec.structs.replace(closing, payment=PaymentId.new()))
