"""Exactly what is ordered goes back: of the money, of the account's part and of our fee."""

from typing import Any

import msgspec
import pytest

from admitone.finance.gateways.api import (
    Charge,
    FactKind,
    HandedOn,
    Movement,
    MovementKind,
    Refund,
    RefundOrder,
    Refused,
    Reversal,
    Unknown,
)
from admitone.kernel.scope import Caller
from tests.finance.gateways.builders import a_hand_on_order, a_refund_order, a_reversal_order, sure
from tests.finance.gateways.stage import all_movements, paid, sold
from tests.finance.gateways.stripe.stages import StripeStage

PATHS = ("/v1/refunds", "/v1/application_fees")


def writes(stage: StripeStage) -> list[str]:
    return [path.split("/")[2] for verb, path, *_ in stage.peer.received if verb == "POST" and path.startswith(PATHS)]


async def went_back(stage: StripeStage, order: Any) -> dict[MovementKind, int]:
    moved: list[Movement] = await all_movements(stage.gateway, order.organization)
    kinds = (MovementKind.REFUND, MovementKind.TRANSFER_REVERSED, MovementKind.APPLICATION_FEE_REFUNDED)
    return {kind: sum(each.amount_minor for each in moved if each.kind is kind) for kind in kinds}


@pytest.mark.covers("FIN-005")
@pytest.mark.parametrize(
    ("amount", "fee", "ordered"),
    [
        (2_000, 120, ["refunds"]),
        (5_000, 300, ["refunds"]),
        (2_000, 121, ["refunds", "application_fees"]),
        (2_000, 1, ["refunds", "application_fees"]),
        (5_000, 299, ["refunds", "application_fees"]),
        (1_111, 67, ["refunds", "application_fees"]),
        (2_000, 0, ["refunds"]),
    ],
)
async def test_to_the_cent_what_is_ordered_of_the_fee_goes_back(
    stage: StripeStage, amount: int, fee: int, ordered: list[str]
):
    """Together with the money where that is the proportion which Stripe gives back by itself, else apart."""
    order, charge = await sold(stage)
    refund = a_refund_order(order, charge, amount, application_fee_minor=fee)
    made = sure(Refund, await stage.gateway.refund(refund))
    assert writes(stage) == ordered
    assert await went_back(stage, order) == {
        MovementKind.REFUND: amount,
        MovementKind.TRANSFER_REVERSED: amount,
        MovementKind.APPLICATION_FEE_REFUNDED: fee,
    }
    assert await stage.gateway.find_refund(refund) == made
    assert await stage.gateway.refund(refund) == made
    assert writes(stage) == ordered, "and nothing a second time"


async def test_after_a_part_that_went_apart_stripe_is_not_trusted_with_the_rest(stage: StripeStage):
    order, charge = await sold(stage)
    await stage.gateway.refund(a_refund_order(order, charge, 2_000, application_fee_minor=100))
    await stage.gateway.refund(a_refund_order(order, charge, 3_000, application_fee_minor=180))
    assert writes(stage) == ["refunds", "application_fees"] * 2
    assert (await went_back(stage, order))[MovementKind.APPLICATION_FEE_REFUNDED] == 280


async def test_more_of_the_fee_than_is_left_is_refused_before_any_money_goes(stage: StripeStage):
    order, charge = await sold(stage)
    await stage.gateway.refund(a_refund_order(order, charge, 2_000, application_fee_minor=250))
    said = await stage.gateway.refund(a_refund_order(order, charge, 1_000, application_fee_minor=51))
    assert sure(Refused, said).code == "application_fee_exceeded"
    assert (await went_back(stage, order))[MovementKind.REFUND] == 2_000
    plain, other = await paid(stage)
    refused = await stage.gateway.refund(a_refund_order(plain, other, 1_000, application_fee_minor=1))
    assert sure(Refused, refused).code == "application_fee_exceeded", "where there is none, none goes back"


@pytest.mark.parametrize("fate", ["lost", "error_before", "error_after", "gone", "busy"])
async def test_a_refund_is_not_done_before_its_fee_is(stage: StripeStage, fate: str):
    """Whoever repeats it finds the one and makes the other."""
    order, charge = await sold(stage)
    refund = a_refund_order(order, charge, 2_000, application_fee_minor=50)
    # The intent, its refunds, the refund, the fee's refunds; then what becomes of the fee's own order.
    stage.peer.script = ["", "", "", "", fate]
    assert not isinstance(await stage.gateway.refund(refund), Refund)
    is_done = fate in ("lost", "error_after")
    assert isinstance(await stage.gateway.find_refund(refund), Refund) is is_done
    stage.peer.forget_keys()
    made = sure(Refund, await stage.gateway.refund(refund))
    assert await stage.gateway.find_refund(refund) == made
    back = await went_back(stage, order)
    assert (back[MovementKind.REFUND], back[MovementKind.APPLICATION_FEE_REFUNDED]) == (2_000, 50)


async def test_a_fee_that_cannot_go_back_does_not_make_the_refund_a_refusal(stage: StripeStage):
    """The money is on its way: that must not be told as if nothing had been done."""
    order, charge = await sold(stage)
    await stage.gateway.refund(a_refund_order(order, charge, 500, application_fee_minor=0))
    refund = a_refund_order(order, charge, 2_000, application_fee_minor=300)
    stage.peer.refuse_fees = True
    assert "fee was refused" in sure(Unknown, await stage.gateway.refund(refund)).reason
    stage.peer.refuse_fees = False
    sure(Refund, await stage.gateway.refund(refund))


async def test_for_a_refund_that_came_back_no_fee_goes(stage: StripeStage):
    """Whoever repeats the order finds that the buyer got nothing; what is ours stays ours."""
    order, charge = await sold(stage)
    refund = a_refund_order(order, charge, 2_000, application_fee_minor=50)
    stage.peer.script = ["", "", "", "", "gone"]
    sure(Unknown, await stage.gateway.refund(refund))
    await stage.do("return_refund", charge.id)
    said = sure(Refund, await stage.gateway.refund(refund))
    assert said.fact.kind is FactKind.REFUND_FAILED
    assert await stage.gateway.find_refund(refund) == said
    assert (await went_back(stage, order))[MovementKind.APPLICATION_FEE_REFUNDED] == 0


async def test_a_key_that_was_used_in_other_words_is_no_refusal(stage: StripeStage):
    """What goes with a refund depends on those before it; while Stripe's lists are behind, nobody knows what was done."""
    order, charge = await sold(stage)
    refund = a_refund_order(order, charge, 2_000, application_fee_minor=120)
    stage.peer.script = ["", "", "error_after"]
    sure(Unknown, await stage.gateway.refund(refund))
    stage.peer.hide_refunds = True
    await stage.do("refund", charge.id, amount=500)
    sure(Unknown, await stage.gateway.refund(refund))
    stage.peer.hide_refunds = False
    assert sure(Refund, await stage.gateway.refund(refund)).fact.amount_minor == 2_000


@pytest.mark.parametrize("fate", ["lost", "gone", "error_before", "error_after", "busy", "in_use"])
async def test_what_is_taken_back_for_a_dispute_is_taken_once_however_late(stage: StripeStage, fate: str):
    order, charge = await sold(stage)
    for deed in ("dispute", "lose"):
        await stage.do(deed, charge.id)
    dispute = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id)).facts[-1].reference
    back = a_reversal_order(order, charge, dispute)
    stage.peer.script = ["", "", fate]  # The intent, its reversals, and then the order itself.
    assert not isinstance(await stage.gateway.take_back(back), Reversal | Refused)
    stage.peer.forget_keys()
    made = sure(Reversal, await stage.gateway.take_back(back))
    assert await stage.gateway.take_back(back) == made
    assert (await went_back(stage, order))[MovementKind.TRANSFER_REVERSED] == 4_700
    assert [len(each) for each in stage.peer._reversals.values()] == [1]
    posted = [each for each in stage.peer.received if each[0] == "POST" and each[1].endswith("/reversals")]
    _, _, headers, form = posted[-1]
    assert headers["idempotency-key"] == f"{dispute}:reversal"
    assert form == {
        "amount": "4700",
        "metadata": {"orgId": str(order.organization), "payment_id": str(order.payment), "dispute": dispute},
    }


@pytest.mark.parametrize("fate", ["lost", "gone", "error_before", "error_after", "busy", "in_use"])
async def test_what_is_handed_on_for_a_refund_that_came_back_goes_once_however_late(stage: StripeStage, fate: str):
    order, charge = await sold(stage)
    refund = sure(Refund, await stage.gateway.refund(a_refund_order(order, charge, 2_000, application_fee_minor=120)))
    await stage.do("return_refund", charge.id)
    again = a_hand_on_order(order, charge, refund.id)
    # What was handed on, the intent, the refund, the reversals; then what becomes of the order itself.
    stage.peer.script = ["", "", "", "", fate]
    assert not isinstance(await stage.gateway.hand_on(again), HandedOn | Refused)
    stage.peer.forget_keys()
    made = sure(HandedOn, await stage.gateway.hand_on(again))
    assert await stage.gateway.hand_on(again) == made
    moved = await all_movements(stage.gateway, order.organization)
    assert [each.amount_minor for each in moved if each.kind is MovementKind.TRANSFER_AGAIN] == [1_880]
    assert len(stage.peer._handed_on) == 1
    assert MovementKind.PAYOUT not in {each.kind for each in moved}
    posted = [each for each in stage.peer.received if each[:2] == ("POST", "/v1/transfers")]
    _, _, headers, form = posted[-1]
    assert headers["idempotency-key"] == f"{refund.id}:handed_on"
    carried = {"orgId": str(order.organization), "payment_id": str(order.payment), "returned_refund": refund.id}
    assert form == {
        "amount": "1880",
        "currency": "eur",
        "destination": order.account,
        "transfer_group": f"{refund.id}:handed_on",
        "metadata": carried,
    }


async def test_where_our_fee_did_not_go_back_before_the_refund_did_somebody_decides(stage: StripeStage):
    """The account gave 2,000 and got nothing of the 50 that the books have: 1,950 again would leave it short."""
    order, charge = await sold(stage)
    back = a_refund_order(order, charge, 2_000, application_fee_minor=50)
    stage.peer.script = ["", "", "", "", "gone"]
    sure(Unknown, await stage.gateway.refund(back))
    await stage.do("return_refund", charge.id)
    refund = sure(Refund, await stage.gateway.refund(back))
    said = await stage.gateway.hand_on(a_hand_on_order(order, charge, refund.id, amount_minor=1_950))
    assert sure(Refused, said).code == "application_fee_owed"


async def test_an_order_that_is_repeated_after_a_day_is_not_done_twice(stage: StripeStage):
    order, charge = await sold(stage)
    refund = a_refund_order(order, charge, 2_000, application_fee_minor=120)
    made = sure(Refund, await stage.gateway.refund(refund))
    stage.peer.forget_keys()
    assert await stage.gateway.refund(refund) == made
    assert (await went_back(stage, order))[MovementKind.REFUND] == 2_000
    other = msgspec.structs.replace(refund, amount_minor=1_000)
    assert sure(Refused, await stage.gateway.refund(other)).code == "idempotency_error"


async def test_whoever_repeats_an_order_may_be_somebody_else(stage: StripeStage):
    """Another caller, another correlation id: the same words all the same, or Stripe would refuse its key."""
    order, charge = await sold(stage)
    refund: RefundOrder = a_refund_order(order, charge, 2_000, application_fee_minor=120)
    stage.peer.script = ["", "", "lost"]
    sure(Unknown, await stage.gateway.refund(refund))
    stage.peer.hide_refunds = True
    again = msgspec.structs.replace(refund, caller=Caller())
    assert sure(Refund, await stage.gateway.refund(again)).fact.order == str(refund.key)
    stage.peer.hide_refunds = False
    assert (await went_back(stage, order))[MovementKind.REFUND] == 2_000


async def test_what_was_paid_on_a_page_of_stripes_is_refunded_by_its_session(stage: StripeStage):
    order, charge = await sold(stage, return_url="http://127.0.0.1:8000/back")
    assert charge.id.startswith("cs_")
    refund = a_refund_order(order, charge, 5_000, application_fee_minor=300)
    made = sure(Refund, await stage.gateway.refund(refund))
    whole = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
    assert [fact for fact in whole.facts if fact.kind is FactKind.REFUNDED] == [made.fact]
    [captured] = [fact for fact in whole.facts if fact.kind is FactKind.CAPTURED]
    assert made.fact.charge == captured.reference


async def test_what_somebody_refunds_at_stripes_own_page_has_no_order(stage: StripeStage):
    _, charge = await paid(stage)
    await stage.do("refund", charge.id, amount=700)
    whole = sure(Charge, await stage.gateway.find_charge(Caller(), charge.id))
    assert [(fact.order, fact.amount_minor) for fact in whole.facts if fact.kind is FactKind.REFUNDED] == [("", 700)]
