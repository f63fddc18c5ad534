"""What is told beside, after or against what was told before: nothing is lost, and nothing is counted twice."""

from datetime import UTC, datetime

import pytest

from admitone.finance.gateways.api import Charge, FactKind, Refused
from admitone.finance.payments import errands
from admitone.finance.payments.commands.answers import Answer, take_answers
from admitone.finance.payments.facts import PaymentContradicted
from admitone.finance.payments.model import Reason, ReceiptState, Status
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.scope import Caller
from tests.finance.payments.telling import (
    a_fact,
    a_paid_sale,
    a_sale,
    ask,
    balances,
    facts_of,
    published,
    receipts,
    tell,
    whole,
)
from tests.finance.world import World

K = FactKind


@pytest.mark.covers("FIN-051")
async def test_a_dispute_of_what_was_refunded_is_told_to_somebody_once(world: World):
    payment, charge = await a_paid_sale(world)
    for deed in ("refund", "dispute"):
        world.simulator.act(deed, charge)
    for _ in range(2):
        assert (await ask(world, payment)).status is Status.REFUNDED
    assert await published(world, "payment.contradicted") == 1
    world.simulator.act("lose", charge)
    await ask(world, payment)
    assert await published(world, "payment.contradicted") == 1


@pytest.mark.covers("FIN-051")
async def test_what_cannot_follow_is_told_to_somebody(world: World, superuser: object):
    """It was lost, and now the provider says that all of it had been refunded before."""
    payment, charge = await a_paid_sale(world)
    for deed in ("dispute", "lose"):
        world.simulator.act(deed, charge)
    assert (await ask(world, payment)).status is Status.CHARGEBACK_LOST
    earlier = a_fact(K.REFUNDED, "re_1", 5000, minutes=-60, total_minor=5000)
    assert (await tell(world, payment, earlier, asked=True)).status is Status.CHARGEBACK_LOST
    assert await published(world, "payment.contradicted") == 1

    heard = PaymentContradicted(payment_id=payment, status="CHARGEBACK_LOST", told="REFUNDED")
    job = Delivered(uuid7(), world.organization, heard, Caller(), "key", None, 1, datetime.now(UTC))
    await errands.see_to_contradiction.work(Desk(world.database, world.batcher), job)
    found = await superuser.fetch(  # type: ignore[attr-defined]
        "SELECT rule FROM kernel.alert WHERE subject = $1", str(payment)
    )
    assert [row["rule"] for row in found] == ["payments.contradicted"]


@pytest.mark.covers("FIN-050")
async def test_money_that_came_twice_is_settled_by_its_own_refund(world: World):
    payment, _ = await a_paid_sale(world)
    before, net = await balances(world), await world.net(payment)
    await tell(world, payment, a_fact(K.CAPTURED, "ch_again", 5000))
    assert await receipts(world, payment) == [(Reason.SECOND_CAPTURE, 5000, ReceiptState.OPEN)]
    back = a_fact(K.REFUNDED, "re_again", 5000, minutes=1, total_minor=5000, charge="ch_again")
    assert (await tell(world, payment, back, asked=True)).status is Status.SUCCEEDED
    assert await receipts(world, payment) == [(Reason.SECOND_CAPTURE, 5000, ReceiptState.RETURNED)]
    assert (await balances(world), await world.net(payment)) == (before, net)


@pytest.mark.covers("PAY-040")
async def test_a_refusal_that_comes_after_the_charge_is_no_failed_attempt(world: World):
    begun = await world.begin(world.shop.sells(world.buyer.identity, 5000))
    assert begun.intent is not None
    charge = await world.open(begun)
    late = Answer(Caller(), begun.payment.id, begun.intent, Refused("card_declined"))
    assert (await world.submit(take_answers, late)).status is Status.PENDING
    assert (await world.payment(begun.payment.id)).failed_attempts == 0
    assert K.FAILED not in {fact.kind for fact in await facts_of(world, begun.payment.id)}
    again = Answer(Caller(), begun.payment.id, begun.intent, await whole(world, charge.id))
    assert isinstance(again.said, Charge)
    assert (await world.submit(take_answers, again)).status is Status.PENDING


@pytest.mark.covers("FIN-051")
async def test_a_charge_that_closed_after_it_was_paid_is_paid_whichever_we_hear_first(world: World):
    payment, _ = await a_sale(world)
    await tell(world, payment, a_fact(K.EXPIRED, "cs_1", minutes=2))
    paid = await tell(world, payment, a_fact(K.CAPTURED, "ch_1", 5000, minutes=1))
    assert paid.status is Status.SUCCEEDED
