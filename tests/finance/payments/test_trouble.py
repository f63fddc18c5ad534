"""What a provider says that is no answer, and what a crash leaves behind: nothing is lost, and nobody asks for ever."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from admitone.finance.gateways.api import Method, NotSent, ObjectType, Ref, Refused, Unknown, UnknownStatus
from admitone.finance.payments import errands, projections
from admitone.finance.payments.commands.receipts import Decision, begin_returns
from admitone.finance.payments.errors import GatewayRefused, NotAtProvider, ProviderUnanswered, ReturnSpent
from admitone.finance.payments.facts import (
    AttemptsSpent,
    PaymentIncomplete,
    PaymentNeedsManual,
    ReceiptChanged,
    told_of,
)
from admitone.finance.payments.model import IntentState, Reason, ReceiptState, Status
from admitone.finance.payments.store.intents import find_intents
from admitone.finance.sources.api import PaymentId
from admitone.kernel import failpoints
from admitone.kernel.alerts import ALERTS
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.db import Tx
from admitone.kernel.errors import OutcomeUnknown
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.policy import is_final, is_not_its_fault
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from tests.finance.payments.saying import saying
from tests.finance.payments.telling import (
    K,
    a_fact,
    a_late_payment,
    a_paid_sale,
    a_sale,
    balances,
    receipts,
    see_to_receipt,
    tell,
)
from tests.finance.world import World


def delivered(world: World, payload: Any) -> Delivered[Any]:
    return Delivered(uuid7(), world.organization, payload, Caller(), "key", None, 1, datetime.now(UTC))


async def run(world: World, errand: Any, payload: Any) -> None:
    await errand.work(Desk(world.database, world.batcher), delivered(world, payload))


async def later(world: World, errand: Any, minutes: float = 10) -> None:
    await run(world, errand, Firing("test", datetime.now(UTC) + timedelta(minutes=minutes)))


async def open_alerts(world: World, payment: PaymentId) -> set[str]:
    async def find(tx: Tx) -> set[str]:
        rows = await tx.fetch(
            "SELECT rule FROM kernel.alert WHERE organization_id = $1 AND subject = $2 AND resolved_at IS NULL",
            str(payment),
        )
        return {row["rule"] for row in rows}

    return await world.database.read(ALERTS, find)


async def intents_of(world: World, payment: PaymentId) -> list[IntentState]:
    found = await world.database.read(world.scope, find_intents, [payment])
    return [each.state for each in found[payment]]


# -- Returns


async def test_a_refused_return_waits_for_somebody_whenever_we_die(world: World):
    payment, _ = await a_late_payment(world)
    times = []

    def dies_after_the_refusal() -> None:
        times.append(1)
        if len(times) == 3:
            raise ConnectionError

    with (
        saying(world, refund=Refused("no_balance")),
        failpoints.armed("payments.before_recording", dies_after_the_refusal),
        pytest.raises(GatewayRefused),
    ):
        await world.clerk.give_back(world.organization, Decision(Caller(), payment))
    assert await receipts(world, payment) == [(Reason.LATE, 5000, ReceiptState.OPEN)]
    await world.clerk.give_back(world.organization, Decision(Caller(), payment))
    assert (await world.payment(payment)).status is Status.REFUNDED


async def test_who_may_not_look_has_not_been_refused_the_return(world: World):
    payment, _ = await a_late_payment(world)
    with saying(world, find_refund=Refused("rate_limited")) as provider:
        with pytest.raises(ProviderUnanswered):
            await world.clerk.give_back(world.organization, Decision(Caller(), payment))
        assert provider.asked == ["find_refund"]
    assert await receipts(world, payment) == [(Reason.LATE, 5000, ReceiptState.RETURNING)]
    await world.clerk.give_back(world.organization, Decision(Caller(), payment))
    assert await balances(world) == {}


@pytest.mark.covers("PAY-069")
async def test_a_return_is_ordered_three_times_and_not_a_fourth(world: World):
    payment, _ = await a_late_payment(world)
    with saying(world, refund=Unknown("answered 500")) as provider:
        for _ in range(3):
            with pytest.raises(ProviderUnanswered) as raised:
                await see_to_receipt(world, payment)
            assert not is_not_its_fault(raised.value)
        with pytest.raises(ReturnSpent) as spent:
            await see_to_receipt(world, payment)
        assert is_final(spent.value)
        assert provider.asked == ["refund"] * 3
        await later(world, errands.complete_intents)  # Which also sees to what others left.
        found = await world.database.read(world.scope, find_intents, [payment])
        [intent] = [each for each in found[payment] if each.is_return]
        assert intent.unanswered == 3
    assert await open_alerts(world, payment) == {"payments.unapplied_receipt"}
    await world.clerk.give_back(world.organization, Decision(Caller(), payment, "BY_HAND"))
    assert (await world.payment(payment)).status is Status.REFUNDED


async def test_a_return_that_was_not_sent_is_not_counted(world: World):
    payment, _ = await a_late_payment(world)
    away = DependencyUnavailable(dependency="gateway:sandbox")
    with saying(world, find_refund=NotSent(away)):
        for _ in range(5):
            with pytest.raises(DependencyUnavailable):
                await see_to_receipt(world, payment)
    await see_to_receipt(world, payment)
    assert await balances(world) == {}


async def test_a_return_that_a_crash_left_open_is_completed(world: World):
    payment, _ = await a_late_payment(world)
    await world.submit(begin_returns, Decision(world.owner.caller, payment, "GOODWILL"))
    await later(world, errands.complete_intents)
    assert (await world.payment(payment)).status is Status.REFUNDED
    assert await balances(world) == {}


async def test_two_who_give_back_at_once_give_back_once(world: World):
    payment, _ = await a_late_payment(world)
    decision = Decision(Caller(), payment)
    both = await world.database.run(world.scope, lambda tx: begin_returns(tx, [decision, decision]))
    assert both[0] == both[1]
    assert await intents_of(world, payment) == [IntentState.DONE, IntentState.OPEN]


async def test_money_that_a_dispute_left_with_us_goes_back(world: World):
    payment, _ = await a_late_payment(world)
    await tell(world, payment, a_fact(K.DISPUTE_OPENED, "dp_1", 5000, minutes=1))
    assert (await world.payment(payment)).status is Status.DISPUTED
    await tell(world, payment, a_fact(K.DISPUTE_WON, "dp_1", 5000, minutes=2))
    row = await world.payment(payment)
    assert row.status is Status.NEEDS_MANUAL
    heard = told_of(row, row.status, row.version)
    assert isinstance(heard, PaymentNeedsManual)
    await run(world, errands.see_to_unpaid, heard)
    assert (await world.payment(payment)).status is Status.REFUNDED
    assert "unapplied_receipts" not in await balances(world)


async def test_money_that_was_taken_twice_goes_back_though_the_first_paid(world: World):
    payment, _ = await a_paid_sale(world)
    await tell(world, payment, a_fact(K.CAPTURED, "ch_twice", 5000, minutes=1))
    assert (await world.payment(payment)).captured_minor == 10000
    begun = await world.submit(begin_returns, Decision(world.owner.caller, payment, "TWICE"))
    assert (begun.intent.amount_minor, begun.intent.capture_key) == (5000, "captured:ch_twice")
    assert (Reason.SECOND_CAPTURE, 5000, ReceiptState.RETURNING) in await receipts(world, payment)


async def test_who_was_told_of_a_receipt_is_told_that_it_is_over_and_that_it_came_back(world: World):
    payment, _ = await a_late_payment(world)
    await see_to_receipt(world, payment)
    assert (await world.payment(payment)).status is Status.REFUNDED
    changed = ReceiptChanged(payment_id=payment, state="RETURNED")
    await run(world, errands.tell_of_receipt, changed)
    assert await open_alerts(world, payment) == set()
    refund = (await world.gateway.find_charge(Caller(), (await world.payment(payment)).charge_id or "")).facts[-1]
    await tell(world, payment, a_fact(K.REFUND_FAILED, refund.reference, 5000, minutes=5))
    await run(world, errands.tell_of_receipt, changed)
    assert await open_alerts(world, payment) == {"payments.unapplied_receipt"}


# -- Charges


async def test_who_may_not_look_has_not_been_refused_the_charge(world: World):
    begun = await world.begin(world.shop.sells(world.buyer.identity, 5000))
    with saying(world, find_ordered=Refused("unauthorized")), pytest.raises(ProviderUnanswered):
        await world.clerk.complete(world.organization, begun.payment.id, Caller())
    assert await intents_of(world, begun.payment.id) == [IntentState.OPEN]
    assert (await world.payment(begun.payment.id)).status is Status.CREATED


@pytest.mark.parametrize(
    ("said", "raised", "final", "excused"),
    [
        (None, NotAtProvider, True, False),
        (Refused("forbidden"), GatewayRefused, True, False),
        (Unknown("lost"), ProviderUnanswered, False, False),
        (NotSent(DependencyUnavailable(dependency="x")), DependencyUnavailable, False, False),
    ],
)
async def test_what_will_never_be_answered_is_not_asked_for_ever(
    world: World, said: Any, raised: type[Exception], final: bool, excused: bool
):
    payment, _ = await a_sale(world)
    with saying(world, find_charge=said), pytest.raises(raised) as trouble:
        await run(world, errands.ask_provider, PaymentIncomplete(payment_id=payment))
    assert (is_final(trouble.value), is_not_its_fault(trouble.value)) == (final, excused)


async def test_a_payment_whose_charge_is_gone_is_closed_here_and_somebody_is_told(world: World):
    payment, _ = await a_sale(world)
    with saying(world, cancel_charge=Refused("resource_missing"), find_charge=None):
        await run(world, errands.close_spent, AttemptsSpent(payment_id=payment))
    assert (await world.payment(payment)).status is Status.CANCELLED
    assert await open_alerts(world, payment) == {"payments.charge_missing"}


async def test_a_charge_that_cannot_be_cancelled_yet_is_tried_later(world: World):
    payment, charge = await a_sale(world)
    with saying(world, cancel_charge=Refused("busy")), pytest.raises(GatewayRefused):
        await run(world, errands.close_spent, AttemptsSpent(payment_id=payment))
    assert (await world.payment(payment)).status is Status.PENDING
    world.simulator.act("pay", charge)
    with saying(world, cancel_charge=Refused("busy")):
        await run(world, errands.close_spent, AttemptsSpent(payment_id=payment))
    assert (await world.payment(payment)).status is Status.SUCCEEDED


@pytest.mark.covers("PAY-061", "PAY-062")
@pytest.mark.parametrize("currency", ["EUR", "BRL"])
async def test_a_word_that_nobody_taught_us_decides_nothing_and_somebody_must_look(world: World, currency: str):
    odd = UnknownStatus("quantum", (Ref(ObjectType.INTENT, "pi_1"),))
    ways = {"method": Method.PIX} if currency == "BRL" else {}
    begun = await world.begin(world.shop.sells(world.buyer.identity, 5000, currency=currency), **ways)
    with saying(world, open_charge=odd), pytest.raises(OutcomeUnknown):
        await world.open(begun)
    assert await shown(world, begun.payment.id) == "needs_manual"
    assert await open_alerts(world, begun.payment.id) == {"payments.unknown_status"}
    assert (await world.payment(begun.payment.id)).status is Status.CREATED
    payment, _ = await a_sale(world)
    with saying(world, cancel_charge=odd), pytest.raises(ProviderUnanswered):
        await world.clerk.close(world.organization, payment, K.EXPIRED, Caller())
    with saying(world, find_charge=odd), pytest.raises(ProviderUnanswered):
        await world.clerk.ask(world.organization, payment, Caller())
    assert (await world.payment(payment)).status is Status.PENDING
    assert await open_alerts(world, payment) == {"payments.unknown_status"}
    assert (await world.payment(payment)).unreadable_status == "quantum"
    assert await shown(world, payment) == "needs_manual"

    # Nothing is new, and yet it can be read again.
    await world.clerk.ask(world.organization, payment, Caller())
    assert (await world.payment(payment)).unreadable_status is None
    assert await shown(world, payment) == "pending"


async def shown(world: World, payment: PaymentId) -> str:
    """As stays show it."""
    return projections.session(await world.payment(payment))


# -- Sweeps


async def test_nobody_waits_behind_those_who_cannot_be_seen_to(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(errands, "PAGE", 2)
    stuck = [(await a_sale(world))[0] for _ in range(3)]
    charges = {(await world.payment(each)).charge_id for each in stuck}
    last, _ = await a_sale(world)
    real = world.gateway.cancel_charge

    async def busy(caller: Caller, charge: str) -> Any:
        return Unknown("busy") if charge in charges else await real(caller, charge)

    monkeypatch.setattr(world.gateway, "cancel_charge", busy)
    await later(world, errands.expire, minutes=90)
    assert (await world.payment(last)).status is Status.EXPIRED
    assert {(await world.payment(each)).status for each in stuck} == {Status.PENDING}


def test_fees_of_older_payments_are_asked_for_ever_less_often():
    day = datetime(2026, 5, 1, tzinfo=UTC)
    wanted = [errands.fees_wanted_for(day + timedelta(minutes=5 * each)) for each in range(24 * 12)]
    assert (wanted.count(timedelta(days=30)), wanted.count(timedelta(days=1))) == (1, 23)
    assert wanted.count(timedelta(hours=1)) == 24 * 11
