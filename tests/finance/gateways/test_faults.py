"""A provider that loses, repeats, delays, reorders and lies, and what its adapter makes of it. Bench has more cases."""

import itertools
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from admitone.finance.gateways.api import Charge, NotSent, Refund, Refused, Unknown
from admitone.finance.gateways.sandbox.charges import Terms
from admitone.finance.gateways.sandbox.faults import CallFault, Faults, Forgery
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.objects import Intent
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.kernel.db import Database, Tx
from admitone.kernel.outbound import CallInsideTransaction
from admitone.kernel.scope import Caller
from tests.builders import an_organization
from tests.finance.gateways.builders import (
    KEYS,
    a_charge_order,
    a_payout_order,
    a_refund_order,
    a_sandbox,
    an_account_order,
    kinds,
    sure,
)
from tests.finance.gateways.losing import open_in_trouble

SINCE = datetime(2020, 1, 1, tzinfo=UTC)


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: int) -> None:
        self.now += timedelta(**by)


# -- Calls


@pytest.mark.parametrize(
    ("fault", "trouble", "acted"),
    [
        (CallFault.UNREACHABLE, NotSent, 0),
        (CallFault.ERROR_BEFORE, Unknown, 0),
        (CallFault.ERROR_AFTER, Unknown, 1),
        (CallFault.LOST, Unknown, 1),
        (CallFault.BUSY, Unknown, 0),
        (CallFault.KEY_IN_USE, Unknown, 0),
    ],
)
async def test_what_may_have_been_done_is_unknown_and_found_by_its_order(
    fault: CallFault, trouble: type, acted: int
) -> None:
    simulator, gateway = a_sandbox(faults=Faults(script=(fault,)))
    order = a_charge_order()
    sure(trouble, await gateway.open_charge(order))
    assert len(simulator.list_newest(Intent)) == acted
    found = await gateway.find_ordered(order)
    assert (found is not None) == bool(acted)
    again = sure(Charge, await gateway.open_charge(order))
    assert found in (None, again)
    assert len(simulator.list_newest(Intent)) == 1


@pytest.mark.parametrize("seed", range(3))
async def test_however_often_answers_are_lost_an_order_makes_one_charge(seed: int):
    outcome = await open_in_trouble(seed, orders=100)
    assert outcome.unknown > 20
    assert outcome.found_late > 10
    assert outcome.charges == outcome.orders == 100


async def test_a_refund_whose_answer_is_lost_is_found_and_not_made_twice():
    simulator, gateway = a_sandbox(faults=Faults(script=(CallFault.NONE, CallFault.LOST)))
    order = a_charge_order()
    charge = sure(Charge, await gateway.open_charge(order))
    simulator.act("pay", charge.id)
    refund = a_refund_order(order, charge, 2_000)
    sure(Unknown, await gateway.refund(refund))
    found = sure(Refund, await gateway.find_refund(refund))
    assert await gateway.refund(refund) == found
    assert sure(Charge, await gateway.find_charge(Caller(), charge.id)).facts[-1].total_minor == 2_000


async def test_a_key_is_remembered_for_a_day():
    clock = Hands()
    simulator, gateway = a_sandbox(clock=clock)
    order = a_charge_order()
    first = await gateway.open_charge(order)
    clock.forward(hours=23, minutes=59)
    assert await gateway.open_charge(order) == first
    clock.forward(minutes=2)
    assert await gateway.open_charge(order) != first
    assert len(simulator.list_newest(Intent)) == 2


async def test_who_does_not_have_the_key_of_the_api_gets_nothing():
    simulator = Simulator(KEYS)
    for headers in ({}, {"authorization": "Bearer "}, {"authorization": f"Bearer {KEYS.account}"}):
        assert simulator.handle("GET", "/v1/events", b"", headers)[0] == 401


async def test_an_answer_that_cannot_be_read_is_unknown():
    class Garbled(Simulator):
        async def reach(self, *call: object) -> tuple[int, bytes]:
            return 200, b"<html>"

    sure(Unknown, await SandboxGateway.in_process(Garbled(KEYS)).open_charge(a_charge_order()))


async def test_no_call_is_made_while_a_transaction_is_open(database: Database):
    _, gateway = a_sandbox()
    scope = await an_organization(database)

    async def call_inside(_: Tx) -> None:
        await gateway.open_charge(a_charge_order())

    with pytest.raises(CallInsideTransaction):
        await database.run(scope, call_inside)


@pytest.mark.parametrize("fault", [CallFault.BUSY, CallFault.ERROR_BEFORE, CallFault.LOST, CallFault.UNREACHABLE])
async def test_who_could_not_ask_was_not_told_that_there_is_nothing(fault: CallFault):
    simulator, gateway = a_sandbox()
    order = a_charge_order()
    charge = sure(Charge, await gateway.open_charge(order))
    refund, account = a_refund_order(order, charge, 100), an_account_order()
    for look in (
        lambda: gateway.find_charge(Caller(), charge.id),
        lambda: gateway.find_ordered(order),
        lambda: gateway.find_refund(refund),
        lambda: gateway.find_account(Caller(), "acct_0"),
        lambda: gateway.find_payout(a_payout_order("acct_0", account.organization)),
    ):
        simulator.misbehave(Faults(script=(fault,)))
        assert isinstance(await look(), NotSent | Unknown)


@pytest.mark.parametrize("fault", [CallFault.BUSY, CallFault.KEY_IN_USE])
async def test_a_refund_that_the_provider_did_not_get_to_is_not_refused(fault: CallFault):
    simulator, gateway = a_sandbox()
    order = a_charge_order()
    charge = sure(Charge, await gateway.open_charge(order))
    simulator.act("pay", charge.id)
    simulator.misbehave(Faults(script=(fault,)))
    refund = a_refund_order(order, charge, 100)
    sure(Unknown, await gateway.refund(refund))
    assert await gateway.find_refund(refund) is None
    sure(Refund, await gateway.refund(refund))


async def test_what_is_shown_may_be_a_while_behind():
    clock = Hands()
    simulator, gateway = a_sandbox(clock=clock)
    order = a_charge_order()
    charge = sure(Charge, await gateway.open_charge(order))
    stale = Faults(stale=10_000, stale_ms=2_000)
    simulator.misbehave(stale)
    assert await gateway.find_ordered(order) is None, "it was made, and is not shown yet"
    assert await gateway.open_charge(order) == charge, "an order is never behind"
    clock.forward(seconds=3)
    simulator.act("pay", charge.id)
    for found in (await gateway.find_ordered(order), await gateway.find_charge(Caller(), charge.id)):
        assert kinds(found) == ["PENDING"]
    clock.forward(seconds=3)
    for found in (await gateway.find_ordered(order), await gateway.find_charge(Caller(), charge.id)):
        assert kinds(found) == ["PENDING", "CAPTURED"]


async def test_a_script_may_be_given_later():
    simulator, gateway = a_sandbox()
    simulator.misbehave(Faults(script=(CallFault.LOST,)))
    sure(Unknown, await gateway.open_charge(a_charge_order()))
    sure(Charge, await gateway.open_charge(a_charge_order()))


# -- Customers


async def test_cards_are_declined_and_ask_by_chance():
    simulator, gateway = a_sandbox(seed=7, faults=Faults(declined=3_000, asks=3_000))
    seen: Counter[str] = Counter()
    for _ in range(100):
        charge = sure(Charge, await gateway.open_charge(a_charge_order()))
        seen[simulator.act("pay", charge.id).status] += 1
    assert set(seen) == {"succeeded", "requires_payment_method", "requires_action"}
    assert min(seen.values()) > 10


async def test_money_may_come_for_what_was_closed_and_in_another_amount():
    simulator, gateway = a_sandbox()
    charge = sure(Charge, await gateway.open_charge(a_charge_order()))
    await gateway.cancel_charge(Caller(), charge.id)
    simulator.act("pay", charge.id, late=True, amount=4_999)
    facts = sure(Charge, await gateway.find_charge(Caller(), charge.id)).facts
    assert [fact.kind for fact in facts] == ["PENDING", "CANCELLED", "CAPTURED"]
    assert facts[-1].amount_minor == 4_999


async def test_time_along_a_charge_rises_also_on_a_clock_that_stands_still():
    simulator, gateway = a_sandbox(clock=Hands())
    order = a_charge_order()
    charge = sure(Charge, await gateway.open_charge(order))
    for deed in ("pay", "tell_fees", "dispute", "win"):
        simulator.act(deed, charge.id)
    await gateway.refund(a_refund_order(order, charge, 5_000))
    times = [fact.at for fact in sure(Charge, await gateway.find_charge(Caller(), charge.id)).facts]
    assert len(set(times)) == len(times) == 6


# -- What comes by itself


async def test_sessions_and_pix_expire_and_fees_are_told_in_their_time():
    clock = Hands()
    simulator, gateway = a_sandbox(clock=clock, terms=Terms(fees_after=timedelta(minutes=2)))
    until = clock.now + timedelta(minutes=15)
    open_one = sure(Charge, await gateway.open_charge(a_charge_order(return_url="http://x", expires_at=until)))
    paid_one = sure(Charge, await gateway.open_charge(a_charge_order(return_url="http://x", expires_at=until)))
    simulator.act("pay", paid_one.id)
    clock.forward(minutes=1, seconds=59)
    assert simulator.tick() == 0
    clock.forward(seconds=2)
    simulator.tick()
    assert kinds(await gateway.find_charge(Caller(), paid_one.id)) == ["PENDING", "CAPTURED", "FEE"]
    clock.forward(minutes=13)
    simulator.tick()
    assert kinds(await gateway.find_charge(Caller(), open_one.id)) == ["PENDING", "EXPIRED"]
    assert kinds(await gateway.find_charge(Caller(), paid_one.id)) == ["PENDING", "CAPTURED", "FEE"]


async def test_refunds_that_take_their_time_fail_by_chance():
    simulator, gateway = a_sandbox(seed=3, faults=Faults(refund_pending=10_000, refund_failed=5_000))
    ends: Counter[str] = Counter()
    for _ in range(40):
        order = a_charge_order()
        charge = sure(Charge, await gateway.open_charge(order))
        simulator.act("pay", charge.id)
        assert sure(Refund, await gateway.refund(a_refund_order(order, charge, 100))).fact.kind == "REFUND_PENDING"
        simulator.tick()
        ends[kinds(await gateway.find_charge(Caller(), charge.id))[-1]] += 1
    assert set(ends) == {"REFUNDED", "REFUND_FAILED"}


# -- Webhooks


async def told(simulator: Simulator, charges: int) -> Counter[bytes]:
    gateway = SandboxGateway.in_process(simulator)
    for _ in range(charges):
        charge = sure(Charge, await gateway.open_charge(a_charge_order()))
        simulator.act("pay", charge.id)
    heard: Counter[bytes] = Counter()
    while due := simulator.due_deliveries():
        heard.update(each.body for each in due if not each.forgery)
        simulator.delivered(*due)
    return heard


async def test_webhooks_are_dropped_and_repeated_but_the_list_has_each_once():
    simulator = Simulator(KEYS, seed=5, faults=Faults(dropped=2_000, repeated=3_000, repeated_times=4))
    heard = await told(simulator, 50)
    listed = [body for _, body in simulator.journal.list_events(0, 0, 1_000)]
    assert len(listed) == len(set(listed)) == 100
    assert set(heard) < set(listed)
    assert max(heard.values()) in (3, 4, 5)


async def test_webhooks_come_late_and_overtake_each_other():
    clock = Hands()
    simulator, gateway = a_sandbox(seed=5, clock=clock, faults=Faults(late=5_000, late_ms=60_000, shuffled=10_000))
    for _ in range(40):
        await gateway.open_charge(a_charge_order())
    order = [body for _, body in simulator.journal.list_events(0, 0, 1_000)]
    heard: list[bytes] = []
    for _ in range(70):
        due = simulator.due_deliveries()
        heard += [each.body for each in due]
        simulator.delivered(*due)
        clock.forward(seconds=1)
    assert sorted(heard) == sorted(order)
    assert heard != order


async def test_forgeries_are_sent_beside_the_truth_and_never_count():
    simulator = Simulator(KEYS, seed=11, faults=Faults(forged=5_000))
    gateway = SandboxGateway.in_process(simulator)
    for _ in range(40):
        await gateway.open_charge(a_charge_order())
    seen: Counter[Forgery] = Counter()
    while due := simulator.due_deliveries():
        for each in due:
            counts = gateway.verify(each.body, each.headers, each.path, datetime.now(UTC)) is not None
            assert counts == (each.forgery is Forgery.NONE)
            seen[each.forgery] += 1
        simulator.delivered(*due)
    assert seen[Forgery.NONE] == 40
    assert seen[Forgery.SECRET] > 2
    assert seen[Forgery.BODY] > 2


async def test_what_nobody_heard_is_told_again_with_longer_and_longer_pauses():
    clock = Hands()
    simulator, gateway = a_sandbox(clock=clock)
    await gateway.open_charge(a_charge_order())
    times: list[datetime] = []
    for _ in range(40):
        times += [clock.now for _ in simulator.due_deliveries()]
        clock.forward(seconds=1)
    pauses = [(later - earlier).seconds for earlier, later in itertools.pairwise(times)]
    assert pauses == [1, 2, 4, 8, 16]
    clock.forward(hours=1)
    [last] = simulator.due_deliveries()
    simulator.delivered(last)
    clock.forward(days=1)
    assert simulator.due_deliveries() == []


# -- The same again


async def test_a_seed_is_a_game_that_can_be_played_again():
    faults = Faults(lost=2_000, declined=2_000, dropped=2_000, repeated=2_000, forged=2_000, shuffled=5_000)
    orders = [a_charge_order(expires_at=Hands().now + timedelta(hours=1)) for _ in range(30)]

    async def play(seed: int) -> list[object]:
        simulator, gateway = a_sandbox(seed=seed, clock=Hands(), faults=faults)
        seen: list[object] = []
        for order in orders:
            answer = await gateway.open_charge(order)
            if isinstance(answer, Charge):
                simulator.act("pay", answer.id)
            seen.append(answer)
        return [*seen, *simulator.due_deliveries(500)]

    assert await play(1) == await play(1)
    assert await play(1) != await play(2)


def test_faults_are_given_by_name():
    assert Faults.parse("lost=500,dropped=10") == Faults(lost=500, dropped=10)
    assert Faults.parse("") == Faults()
    for text in ("lots=5", "lost", "lost=-1", "lost=x", "script=1"):
        with pytest.raises(ValueError, match="is no fault"):
            Faults.parse(text)


async def test_any_walk_through_the_deeds_keeps_the_books_straight():
    """Money is captured once, and no more goes back than came, whatever is tried."""
    deeds = ["pay", "authenticate", "fail_authentication", "clear", "fail_clearing", "cancel", "expire", "refund"]
    deeds += ["settle_refund", "fail_refund", "return_refund", "tell_fees", "adjust_fee", "dispute", "answer_dispute"]
    deeds += ["win", "lose"]
    chance = random.Random(4)
    for _ in range(60):
        simulator, gateway = a_sandbox()
        order = a_charge_order()
        charge = sure(Charge, await gateway.open_charge(order))
        headers = {"authorization": f"Bearer {KEYS.api}"}
        for _ in range(25):
            card = chance.choice([b"good", b"card_declined", b"asks", b"slow"])
            body = b'{"card":"%s","amount":%d,"pending":%s}' % (
                card,
                chance.choice([5_000, 700]),
                chance.choice([b"true", b"false"]),
            )
            simulator.handle("POST", f"/v1/test_helpers/{charge.id}/{chance.choice(deeds)}", body, headers)
        facts = sure(Charge, await gateway.find_charge(Caller(), charge.id)).facts
        captured = [fact.amount_minor for fact in facts if fact.kind == "CAPTURED"]
        failed = {fact.reference for fact in facts if fact.kind == "REFUND_FAILED"}
        refunded = sum(f.amount_minor for f in facts if f.kind == "REFUNDED" and f.reference not in failed)
        assert len(captured) <= 1
        assert refunded <= sum(captured)
        assert len({fact.key for fact in facts}) == len(facts)


async def test_a_refused_order_says_why():
    _, gateway = a_sandbox()
    refused = sure(Refused, await gateway.open_charge(a_charge_order(amount_minor=0)))
    assert (refused.code, bool(refused.message)) == ("parameter_invalid", True)
