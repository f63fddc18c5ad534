"""A case follows the facts of its payment: opened, corrected and closed, once each, whatever is told how often."""

import asyncpg
import pytest

from admitone.finance.disputes.facts import RISK_DISPUTE_CREATED
from admitone.finance.disputes.model import State, StepKind
from admitone.finance.gateways.api import FactKind
from admitone.finance.payments.model import Status
from tests.finance.disputes.cases import (
    a_disputed_sale,
    cases_of,
    followed,
    heard,
    read,
    the_case,
    told,
    trail,
)
from tests.finance.payments.telling import a_fact, a_late_payment, a_paid_sale, ask, tell, whole
from tests.finance.world import World

K = StepKind


@pytest.mark.covers("FIN-075")
async def test_a_dispute_opens_a_case_with_what_is_known_of_it(world: World):
    disputed = await a_disputed_sale(world)
    case = disputed.case
    opened = (await whole(world, disputed.charge)).facts[-1]
    assert (case.payment, case.provider, case.reference) == (disputed.payment, "sandbox", opened.reference)
    assert (case.state, case.amount_minor, case.currency, case.fee_minor) == (State.OPEN, 5000, "EUR", 1500)
    assert (case.reason, case.opened_at, case.told_at) == ("fraudulent", opened.at, None)
    assert await trail(world, case) == [K.OPENED]


async def test_whoever_must_know_is_told_once_and_for_what(world: World, superuser: asyncpg.Connection):
    disputed = await a_disputed_sale(world)
    for _ in range(3):
        await followed(world, disputed.payment)
    payment = await world.payment(disputed.payment)
    expected = {
        "disputeId": str(disputed.case.id),
        "paymentId": str(disputed.payment),
        "sourceType": payment.source.type,
        "sourceId": payment.source.id,
        "amountMinor": 5000,
        "currency": "EUR",
    }
    assert await told(superuser, world, "dispute.opened") == [expected]
    assert await told(superuser, world, "risk.dispute_created") == [expected | {"reasonCode": RISK_DISPUTE_CREATED}]
    assert RISK_DISPUTE_CREATED == "RISK_DISPUTE_CREATED"
    world.simulator.act("lose", disputed.charge)
    for _ in range(3):
        await heard(world, disputed.payment)
    assert await told(superuser, world, "dispute.closed") == [expected | {"outcome": "LOST"}]


@pytest.mark.parametrize(
    ("deed", "state", "step", "status", "fee"),
    [
        ("win", State.WON, K.WON, Status.CHARGEBACK_WON, 0),
        ("lose", State.LOST, K.LOST, Status.CHARGEBACK_LOST, 1500),
    ],
)
async def test_a_case_is_closed_by_the_facts(
    world: World, deed: str, state: State, step: StepKind, status: Status, fee: int
):
    disputed = await a_disputed_sale(world)
    world.simulator.act(deed, disputed.charge)
    assert (await read(world, disputed.case)).state is State.OPEN, "the file says so, and the facts do not yet"
    await heard(world, disputed.payment)
    closed = await the_case(world, disputed.case)
    assert (closed.state, closed.fee_minor) == (state, fee)
    assert closed.closed_at == (await whole(world, disputed.charge)).facts[-1].at
    assert (await trail(world, closed))[-1] is step
    assert (await world.payment(disputed.payment)).status is status
    await heard(world, disputed.payment)
    assert await the_case(world, disputed.case) == closed


async def test_a_payment_of_which_nothing_is_disputed_has_no_case(world: World):
    payment, _ = await a_paid_sale(world)
    await followed(world, payment)
    assert await cases_of(world, payment) == []


async def test_a_dispute_that_was_over_before_we_heard_of_it_has_its_whole_case(
    world: World, superuser: asyncpg.Connection
):
    payment, charge = await a_paid_sale(world)
    world.simulator.act("dispute", charge)
    world.simulator.act("win", charge)
    await heard(world, payment)
    [case] = await cases_of(world, payment)
    assert (case.state, await trail(world, case)) == (State.WON, [K.OPENED, K.WON])
    assert len(await told(superuser, world, "dispute.opened")) == 1
    assert [each["outcome"] for each in await told(superuser, world, "dispute.closed")] == ["WON"]


async def test_a_second_dispute_of_a_payment_has_a_case_of_its_own(world: World, superuser: asyncpg.Connection):
    """The payment stands where it stood, and tells nobody by its status."""
    first = await a_disputed_sale(world)
    world.simulator.act("win", first.charge)
    await heard(world, first.payment)
    world.simulator.act("dispute", first.charge, amount=2000)
    await heard(world, first.payment)
    cases = await cases_of(world, first.payment)
    assert [(case.state, case.amount_minor) for case in cases] == [(State.WON, 5000), (State.OPEN, 2000)]
    assert len(await told(superuser, world, "payment.dispute_recorded")) == 3
    assert len(await told(superuser, world, "dispute.opened")) == 2


async def test_a_second_dispute_while_one_is_open_is_told_though_nothing_else_changes(
    world: World, superuser: asyncpg.Connection
):
    """With its fee, so that the payment is only told to have fees: whoever keeps cases hears of it all the same."""
    disputed = await a_disputed_sale(world)
    charge = await whole(world, disputed.charge)
    capture = next(fact for fact in charge.facts if fact.kind is FactKind.CAPTURED)
    world.simulator.act("tell_fees", disputed.charge)
    second = a_fact(FactKind.DISPUTE_OPENED, "dp_second", 1000, fee_minor=1500, charge=capture.reference)
    facts = (*(await whole(world, disputed.charge)).facts, second)
    await tell(world, disputed.payment, *facts, refs=charge.refs)
    assert (await world.payment(disputed.payment)).status is Status.DISPUTED
    assert len(await told(superuser, world, "payment.dispute_recorded")) == 2
    await followed(world, disputed.payment)
    assert [case.amount_minor for case in await cases_of(world, disputed.payment)] == [5000, 1000]


async def test_a_dispute_of_what_had_gone_back_has_a_case_too(world: World):
    """Nobody is a buyer again by it, and somebody must show the bank that it was refunded."""
    payment, charge = await a_paid_sale(world)
    world.simulator.act("refund", charge)
    await ask(world, payment)
    world.simulator.act("dispute", charge)
    await heard(world, payment)
    assert (await world.payment(payment)).status is Status.REFUNDED
    [case] = await cases_of(world, payment)
    assert case.state is State.OPEN
    world.simulator.act("win", charge)
    await heard(world, payment)
    assert (await the_case(world, case)).state is State.WON


async def test_a_dispute_of_money_that_paid_for_nothing_has_a_case_too(world: World):
    payment, charge = await a_late_payment(world)
    world.simulator.act("dispute", charge)
    await heard(world, payment)
    [case] = await cases_of(world, payment)
    assert case.state is State.OPEN
    world.simulator.act("lose", charge)
    await heard(world, payment)
    assert (await the_case(world, case)).state is State.LOST


async def test_a_dispute_that_is_told_before_its_capture_has_one_case(world: World):
    """Whatever is told of it alone makes us ask; the case is there before the answer."""
    payment, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    world.simulator.act("pay", charge)
    world.simulator.act("dispute", charge)
    opened = (await whole(world, charge)).facts[-1]
    await tell(world, payment, opened)
    await followed(world, payment)
    [early] = await cases_of(world, payment)
    assert (early.state, (await world.payment(payment)).status) == (State.OPEN, Status.PENDING)
    await heard(world, payment)
    assert [each.id for each in await cases_of(world, payment)] == [early.id]
    assert (await world.payment(payment)).status is Status.DISPUTED


async def test_an_end_that_is_told_without_its_beginning_is_put_right(world: World):
    """Some provider tells only that it was won: when it began, and for how much, is asked for."""
    payment, _ = await a_paid_sale(world)
    won = a_fact(FactKind.DISPUTE_WON, "dp_alone", 5000, minutes=5, fee_minor=1500)
    await tell(world, payment, won)
    await followed(world, payment)
    [case] = await cases_of(world, payment)
    assert (case.state, case.opened_at, case.fee_minor) == (State.WON, won.at, 0)
    opened = a_fact(FactKind.DISPUTE_OPENED, "dp_alone", 4000, minutes=1, fee_minor=2000, code="duplicate")
    await tell(world, payment, opened)
    await followed(world, payment)
    [right] = await cases_of(world, payment)
    assert (right.id, right.state, right.opened_at) == (case.id, State.WON, opened.at)
    assert (right.amount_minor, right.fee_minor, right.reason) == (4000, 500, "duplicate")
