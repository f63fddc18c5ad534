"""What the page of an order says, whatever order and payment are: read off both, and never more than is known."""

from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from admitone.finance.payments.api import CheckoutAnswer, Reason, Status
from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import EventId, OrderId, OrderState
from admitone.verticals.events.routes.orders import OrderItem, OwnAnswer
from admitone.verticals.events.routes.purchases import PaymentAnswer
from admitone.web.checkout.orders import SCENE_WORDS
from admitone.web.checkout.standing import Scene, Standing, scene_of

NOW = datetime.now(UTC)
OPEN, CANCELLED, RETURNED = OrderState.OPEN, OrderState.CANCELLED, OrderState.RETURNED
FULFILLED = OrderState.FULFILLED
S = Status


def a_payment(status: Status, reason: Reason | None = None, **more: Any) -> PaymentAnswer:
    usual = {"captured_minor": 0, "refunded_minor": 0, "amount_minor": 10_000, "currency": "EUR"}
    return PaymentAnswer(
        payment_id=PaymentId.new(),
        status=status,
        method="CARD",
        manual_reason=reason,
        refund_status="NONE",
        created_at=NOW,
        **(usual | more),
    )


def an_order(state: OrderState, payment: PaymentAnswer | None, *, is_expired: bool = False) -> OwnAnswer:
    return OwnAnswer(
        order_id=OrderId.new(),
        organization_id=OrganizationId.new(),
        event_id=EventId.new(),
        state=state,
        is_expired=is_expired,
        expires_at=NOW,
        currency="EUR",
        amount_minor=10_000,
        lines=[],
        payment_id=None,
        created_at=NOW,
        order_secret=None,
        tickets=[],
        payment=payment,
        status_secret=None,
    )


SCENES = [
    (OPEN, S.CREATED, None, Scene.ASKING),
    (OPEN, S.PROCESSING, None, Scene.BANK),
    (OPEN, S.SUCCEEDED, None, Scene.ISSUING),
    (OPEN, S.DISPUTED, None, Scene.TAKEN),
    (OPEN, S.DISPUTED, Reason.LATE, Scene.TAKEN),
    (OPEN, S.CHARGEBACK_LOST, None, Scene.TAKEN),
    (OPEN, S.NEEDS_MANUAL, Reason.LATE, Scene.LATE),
    (OPEN, S.NEEDS_MANUAL, Reason.AMOUNT_MISMATCH, Scene.UNFIT),
    (OPEN, S.NEEDS_MANUAL, Reason.CURRENCY_MISMATCH, Scene.UNFIT),
    (OPEN, S.NEEDS_MANUAL, None, Scene.UNFIT),
    (OPEN, S.REFUNDED, Reason.LATE, Scene.WENT_BACK),
    (CANCELLED, S.FAILED, None, Scene.GIVEN_UP),
    (CANCELLED, S.CANCELLED, None, Scene.GIVEN_UP),
    (CANCELLED, S.EXPIRED, None, Scene.GIVEN_UP),
    (CANCELLED, S.PENDING, None, Scene.ASKING),
    (CANCELLED, S.PROCESSING, None, Scene.BANK),
    (CANCELLED, S.NEEDS_MANUAL, Reason.LATE, Scene.LATE),
    (CANCELLED, S.NEEDS_MANUAL, Reason.AMOUNT_MISMATCH, Scene.UNFIT),
    (CANCELLED, S.DISPUTED, None, Scene.TAKEN),
    (CANCELLED, S.CHARGEBACK_LOST, None, Scene.TAKEN),
    (CANCELLED, S.REFUNDED, None, Scene.WENT_BACK),
    (RETURNED, S.REFUNDED, None, Scene.WENT_BACK),
    (RETURNED, S.CHARGEBACK_LOST, None, Scene.TAKEN),
    (FULFILLED, S.SUCCEEDED, None, Scene.OWNED),
    (FULFILLED, S.PARTIAL_REFUND, None, Scene.OWNED),
    (FULFILLED, S.CHARGEBACK_WON, None, Scene.OWNED),
    (FULFILLED, S.REFUNDED, None, Scene.WENT_BACK),
    (FULFILLED, S.DISPUTED, None, Scene.TAKEN),
    (FULFILLED, S.CHARGEBACK_LOST, None, Scene.TAKEN),
]
CALLED_OFF = [
    (OPEN, None, Scene.CALLED_OFF),
    (OPEN, S.FAILED, Scene.CALLED_OFF),
    (OPEN, S.CREATED, Scene.ASKING),
    (OPEN, S.PROCESSING, Scene.BANK),
    (OPEN, S.SUCCEEDED, Scene.GOING_BACK),
    (OPEN, S.NEEDS_MANUAL, Scene.UNFIT),
    (FULFILLED, None, Scene.CALLED_OFF),
    (FULFILLED, S.SUCCEEDED, Scene.GOING_BACK),
    (FULFILLED, S.PARTIAL_REFUND, Scene.GOING_BACK),
    (FULFILLED, S.REFUNDED, Scene.WENT_BACK),
    (FULFILLED, S.DISPUTED, Scene.TAKEN),
    (CANCELLED, None, Scene.GIVEN_UP),
    (CANCELLED, S.SUCCEEDED, Scene.GOING_BACK),
    (RETURNED, S.SUCCEEDED, Scene.GOING_BACK),
    (RETURNED, S.REFUNDED, Scene.WENT_BACK),
]


@pytest.mark.parametrize("is_expired", [False, True], ids=["kept", "over"])
@pytest.mark.parametrize(("state", "status", "reason", "scene"), SCENES)
def test_what_a_payment_does_is_said_whatever_the_clock_says(
    state: OrderState, status: Status, reason: Reason | None, scene: Scene, is_expired: bool
):
    order = an_order(state, a_payment(status, reason), is_expired=is_expired and state is OPEN)
    assert Standing(order).scene is scene


@pytest.mark.parametrize("is_expired", [False, True], ids=["kept", "over"])
@pytest.mark.parametrize(("state", "status", "scene"), CALLED_OFF)
def test_of_what_is_cancelled_nobody_is_asked_to_pay_nor_told_that_they_own_it(
    state: OrderState, status: Status | None, scene: Scene, is_expired: bool
):
    payment = a_payment(status, captured_minor=10_000) if status else None
    order = an_order(state, payment, is_expired=is_expired and state is OPEN)
    assert scene_of(order, is_called_off=True) is scene


@pytest.mark.parametrize("state", [OPEN, FULFILLED, RETURNED])
def test_what_cost_nothing_has_nothing_to_give_back(state: OrderState):
    order = an_order(state, a_payment(S.SUCCEEDED, amount_minor=0))
    assert scene_of(order, is_called_off=True) is Scene.CALLED_OFF
    assert scene_of(order) not in (Scene.GOING_BACK, Scene.WENT_BACK)


def a_way() -> CheckoutAnswer:
    nothing: dict[str, Any] = dict.fromkeys(CheckoutAnswer.__struct_fields__)
    return CheckoutAnswer(**nothing | {"redirect_url": "https://provider.example"})


def test_nobody_is_sent_to_pay_when_the_time_is_over():
    order = an_order(OPEN, a_payment(S.PENDING))
    in_time, too_late = Standing(order, a_way()), Standing(order, a_way(), is_too_late=True)
    assert (in_time.scene, too_late.scene) == (Scene.GO_ON, Scene.CLOSING)
    assert scene_of(order, a_way(), is_called_off=True) is Scene.CLOSING
    assert too_late.changes_by_itself


def test_money_is_looked_out_for_where_a_payment_came_to_nothing():
    tried, untried = an_order(OPEN, a_payment(S.CANCELLED)), an_order(OPEN, None)
    assert (Standing(tried).changes_by_itself, Standing(tried).is_watched) == (False, True)
    assert not Standing(untried).is_watched


@pytest.mark.parametrize("state", [CANCELLED, RETURNED])
def test_what_was_paid_for_nothing_is_on_its_way_back_until_all_of_it_went(state: OrderState):
    paid = an_order(state, a_payment(S.SUCCEEDED, captured_minor=10_000))
    a_part = an_order(state, a_payment(S.PARTIAL_REFUND, captured_minor=10_000, refunded_minor=4_000))
    elsewhere = an_order(state, a_payment(S.SUCCEEDED, captured_minor=None, refunded_minor=90_000))
    assert {scene_of(each) for each in (paid, a_part, elsewhere)} == {Scene.GOING_BACK}
    all_of_less = an_order(state, a_payment(S.PARTIAL_REFUND, captured_minor=6_000, refunded_minor=6_000))
    assert scene_of(all_of_less) is Scene.WENT_BACK


def test_only_where_nothing_can_have_been_charged_an_order_is_to_be_paid_over_or_given_up():
    said = {
        (state, status): Standing(an_order(state, a_payment(status))).scene
        for state, status in product((OPEN, CANCELLED), Status)
    }
    nothing = {status for (_, status), scene in said.items() if scene in (Scene.PAY, Scene.OVER, Scene.GIVEN_UP)}
    assert nothing == {S.FAILED, S.CANCELLED, S.EXPIRED}


def test_what_is_under_way_changes_by_itself_and_what_has_ended_does_not():
    for state, status in product((OPEN, CANCELLED), Status):
        standing = Standing(an_order(state, a_payment(status, captured_minor=10_000)))
        ended = {S.FAILED, S.CANCELLED, S.EXPIRED, S.REFUNDED, S.CHARGEBACK_LOST}
        assert standing.changes_by_itself is (status not in ended), (state, status)


def test_money_of_another_currency_is_not_named_in_this_one():
    order = an_order(OPEN, a_payment(S.REFUNDED, Reason.CURRENCY_MISMATCH, captured_minor=None, refunded_minor=6_000))
    assert (Standing(order).came_minor, Standing(order).back_minor) == (None, None)


def test_a_list_says_the_same_as_the_page():
    order = an_order(OPEN, a_payment(S.PROCESSING), is_expired=True)
    item = OrderItem(**{name: getattr(order, name) for name in OrderItem.__struct_fields__})
    assert scene_of(item) is Standing(order).scene
    assert {*SCENE_WORDS} == {*Scene}
