"""What a provider's words mean, and that a word that nobody taught us is never guessed (PAY-061, PAY-062)."""

import itertools
from typing import Any

import msgspec
import pytest

from admitone.finance.gateways.api import Charge, FactKind, ObjectType, PayoutStatus, UnknownStatus
from admitone.finance.gateways.sandbox import reading
from admitone.finance.gateways.sandbox.gateway import SandboxGateway
from admitone.finance.gateways.sandbox.objects import Failure, Fault, Intent
from admitone.finance.gateways.sandbox.simulator import Simulator
from admitone.kernel.errors import Malformed
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import KEYS, a_charge_order, a_pix_order, a_sandbox, sure

Kind = FactKind


def test_the_words_of_cards():
    assert reading.INTENT_STATUS == {
        "requires_payment_method": Kind.PENDING,
        "requires_confirmation": Kind.PROCESSING,
        "requires_action": Kind.REQUIRES_ACTION,
        "processing": Kind.PROCESSING,
        "succeeded": Kind.CAPTURED,
        "canceled": Kind.CANCELLED,
    }


@pytest.mark.covers("PAY-062")
def test_the_words_of_pix():
    assert reading.PIX_STATUS == {
        "pending": Kind.PENDING,
        "paid": Kind.CAPTURED,
        "expired": Kind.EXPIRED,
        "cancelled": Kind.CANCELLED,
    }


class Strange(Simulator):
    """A provider that has learned a new word."""

    def handle(self, *call: Any) -> tuple[int, bytes]:
        status, body = super().handle(*call)
        return status, body.replace(b'"status":"requires_payment_method"', b'"status":"requires_thought"').replace(
            b'"status":"pending"', b'"status":"thinking"'
        )


@pytest.mark.covers("PAY-062")
@pytest.mark.parametrize(
    ("order", "word", "kind"),
    [(a_charge_order(), "requires_thought", ObjectType.INTENT), (a_pix_order(), "thinking", ObjectType.PIX)],
)
async def test_a_word_that_nobody_taught_us_says_what_it_is_about(order: Any, word: str, kind: ObjectType):
    gateway = SandboxGateway.in_process(Strange(KEYS))
    with pytest.raises(UnknownStatus) as told:
        await gateway.open_charge(order)
    assert (told.value.status, told.value.refs[0].type) == (word, kind)
    assert (told.value.payment, told.value.organization) == (order.payment, order.organization)


class Declining(Simulator):
    """A provider that tries the card at once, and answers that it was declined."""

    def handle(self, *call: Any) -> tuple[int, bytes]:
        status, body = super().handle(*call)
        intent = self.act("pay", msgspec.json.decode(body)["id"], card="insufficient_funds")
        assert (status, isinstance(intent, Intent)) == (200, True)
        fault = Fault(type="card_error", code="card_declined", payment_intent=intent)
        return 402, msgspec.json.encode(Failure(error=fault))


async def test_a_decline_is_a_fact_and_no_refusal():
    gateway = SandboxGateway.in_process(Declining(KEYS))
    charge = sure(Charge, await gateway.open_charge(a_charge_order()))
    assert [(fact.kind, fact.code) for fact in charge.facts] == [
        (Kind.PENDING, ""),
        (Kind.FAILED, "insufficient_funds"),
    ]


async def an_event(deed: str, **how: Any) -> tuple[SandboxGateway, dict[str, Any]]:
    """The last event of a charge to which everything happened up to this deed."""
    simulator, gateway = a_sandbox()
    order = a_charge_order(**how)
    charge = sure(Charge, await gateway.open_charge(order))
    for each in itertools.chain(itertools.takewhile(lambda step: step != deed, ("pay", "refund", "dispute")), [deed]):
        simulator.act(each, charge.id, **({"amount": 100} if each == "refund" else {}))
    [*_, (_, body)] = simulator.journal.list_events(0, 0, 100)
    return gateway, msgspec.json.decode(body)


@pytest.mark.parametrize(
    ("deed", "path"),
    [
        ("pay", ("status",)),
        ("pay", ("charges", 0, "status")),
        ("refund", ("status",)),
        ("refund", ("refunds", 0, "status")),
        ("dispute", ("status",)),
    ],
)
async def test_a_strange_word_in_an_event_is_not_guessed(deed: str, path: tuple[Any, ...]):
    gateway, event = await an_event(deed)
    inside = event["data"]["object"]
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = "perhaps"
    with pytest.raises(UnknownStatus, match="perhaps"):
        gateway.read(msgspec.json.encode(event), "sandbox")


@pytest.mark.parametrize("word", ["perhaps", "no_payment_required", "PAID", ""])
async def test_a_session_that_says_something_else_than_paid_or_unpaid_is_not_guessed(word: str):
    gateway, event = await an_event("pay", return_url="http://127.0.0.1/x")
    assert event["type"] == "checkout.session.completed"
    event["data"]["object"]["payment_status"] = word
    with pytest.raises(UnknownStatus):
        gateway.read(msgspec.json.encode(event), "sandbox")


@pytest.mark.parametrize(
    "broken", [{"data": {"object": {}}}, {"data": {"object": 1}}, {"data": None}, {"created": "x"}]
)
async def test_an_event_that_cannot_be_understood_is_malformed(broken: dict[str, Any]):
    gateway, event = await an_event("pay")
    with pytest.raises(Malformed):
        gateway.read(msgspec.json.encode(event | broken), "sandbox")


async def test_facts_are_the_same_whoever_tells_them_and_in_whatever_order():
    """Every event alone tells a part of what `find_charge` tells, under the same keys, with the same times."""
    simulator, gateway = a_sandbox()
    order = a_charge_order(return_url="http://127.0.0.1/x")
    charge = sure(Charge, await gateway.open_charge(order))
    for deed, how in (
        ("pay", {"card": "card_declined"}),
        ("pay", {"card": "asks"}),
        ("authenticate", {}),
        ("refund", {"amount": 500, "pending": True}),
        ("tell_fees", {}),
        ("settle_refund", {}),
        ("dispute", {"amount": 4_000}),
        ("adjust_fee", {"amount": -2}),
        ("lose", {}),
        ("refund", {"amount": 100}),
    ):
        simulator.act(deed, charge.id, **how)
    whole = sure(Charge, await gateway.find_charge(Caller(), charge.id)).facts
    events = [gateway.read(body, "sandbox") for _, body in simulator.journal.list_events(0, 0, 100)]
    told = [fact for event in events for fact in event.facts]
    assert set(told) == set(whole)
    assert len({fact.key for fact in told}) == len(whole), "one key, one fact"
    assert [fact.kind for fact in whole] == [
        Kind.PENDING,
        Kind.FAILED,
        Kind.REQUIRES_ACTION,
        Kind.CAPTURED,
        Kind.REFUND_PENDING,
        Kind.FEE,
        Kind.REFUNDED,
        Kind.DISPUTE_OPENED,
        Kind.FEE_ADJUSTMENT,
        Kind.DISPUTE_LOST,
        Kind.REFUNDED,
    ]


async def test_metadata_that_are_not_ours_say_nothing():
    gateway, event = await an_event("pay")
    event["data"]["object"]["metadata"] = {"orgId": "somebody", "payment_id": "pay_123"}
    read = gateway.read(msgspec.json.encode(event), "sandbox")
    assert (read.organization, read.payment) == (None, None)
    assert read.refs


async def test_a_charge_carries_whose_it_is():
    simulator, gateway = a_sandbox()
    order = a_charge_order(metadata=(("hold_id", "hold_1"), ("orgId", "another")))
    charge = sure(Charge, await gateway.open_charge(order))
    intent = simulator.get(charge.id)
    assert isinstance(intent, Intent)
    assert intent.metadata == {
        "hold_id": "hold_1",
        "orgId": str(order.organization),
        "payment_id": str(order.payment),
        "correlation_id": str(order.caller.correlation_id),
    }


def test_payouts_have_three_states():
    assert set(reading.PAYOUT_STATUS.values()) == set(PayoutStatus)
