"""A payment in the words of others: the table of unification (c), once more and by hand."""

from itertools import product

import msgspec
import pytest

from admitone.finance.payments import projections
from admitone.finance.payments.model import Reason, RefundState, Status, is_paid
from admitone.finance.sources.api import SourceType
from tests.finance.payments.stories import a_payment

S = Status

# Canonical, ORYA, 004, 003: the table of (c).
WORDS: dict[Status, tuple[str, str, str]] = {
    S.CREATED: ("CREATED", "pending", "created"),
    S.PENDING: ("CREATED", "pending", "pending"),
    S.REQUIRES_ACTION: ("REQUIRES_ACTION", "processing", "pending"),
    S.PROCESSING: ("PROCESSING", "processing", "pending"),
    S.SUCCEEDED: ("SUCCEEDED", "succeeded", "succeeded"),
    S.FAILED: ("FAILED", "failed", "failed"),
    S.CANCELLED: ("CANCELLED", "cancelled", "failed"),
    S.EXPIRED: ("CANCELLED", "expired", "failed"),
    S.NEEDS_MANUAL: ("CANCELLED", "refund_pending", "needs_manual"),
    S.PARTIAL_REFUND: ("PARTIAL_REFUND", "partially_refunded", "succeeded"),
    S.REFUNDED: ("REFUNDED", "refunded", "succeeded"),
    S.DISPUTED: ("DISPUTED", "disputed", "succeeded"),
    S.CHARGEBACK_WON: ("CHARGEBACK_WON", "dispute_won", "succeeded"),
    S.CHARGEBACK_LOST: ("CHARGEBACK_LOST", "dispute_lost", "succeeded"),
}
ORYA = {
    "CREATED", "REQUIRES_ACTION", "PROCESSING", "SUCCEEDED", "FAILED", "CANCELLED", "PARTIAL_REFUND", "REFUNDED",
    "DISPUTED", "CHARGEBACK_WON", "CHARGEBACK_LOST",
}  # fmt: skip
RESERVE = {
    "pending", "processing", "succeeded", "failed", "cancelled", "expired", "refund_pending", "refunded",
    "partially_refunded", "disputed", "dispute_won", "dispute_lost",
}  # fmt: skip
SESSION = {"created", "pending", "succeeded", "failed", "needs_manual"}


def shown(status: Status, **more: object) -> tuple[str, str, str]:
    reason = Reason.LATE if status is S.NEEDS_MANUAL else None
    given = {"status": status, "applied": is_paid(status) or status is S.REFUNDED, "manual_reason": reason} | more
    payment = msgspec.structs.replace(a_payment(), **given)
    return projections.orya(payment), projections.reserve(payment), projections.session(payment)


@pytest.mark.covers("FIN-050", "PAY-003", "PAY-060")
def test_every_status_in_the_words_of_others():
    assert {status: shown(status) for status in S} == WORDS
    every = [
        shown(status, refund_state=refund, manual_reason=reason)
        for status, refund, reason in product(S, RefundState, [*Reason, None])
    ]
    assert {orya for orya, _, _ in every} == ORYA
    assert {reserve for _, reserve, _ in every} == RESERVE
    assert {session for *_, session in every} == SESSION


@pytest.mark.covers("PAY-060")
@pytest.mark.parametrize("status", S)
def test_a_refund_on_its_way_shows_only_where_it_was_paid(status: Status):
    _, reserve, _ = shown(status, refund_state=RefundState.PENDING, captured_minor=5000)
    shows = is_paid(status) or status is S.NEEDS_MANUAL
    assert reserve == ("refund_pending" if shows else WORDS[status][1])


def test_money_that_waits_for_somebody_is_processing_and_never_paid():
    manual = msgspec.structs.replace(
        a_payment(type=SourceType.COUPON_CAMPAIGN), status=S.NEEDS_MANUAL, manual_reason=Reason.LATE
    )
    assert projections.reserve(manual) == "processing"
    could_not = msgspec.structs.replace(
        a_payment(), status=S.NEEDS_MANUAL, manual_reason=Reason.LATE, refund_state=RefundState.FAILED
    )
    assert projections.reserve(could_not) == "processing"
    for reason in Reason:
        waiting = msgspec.structs.replace(a_payment(), status=S.NEEDS_MANUAL, manual_reason=reason)
        assert projections.orya(waiting) not in {"SUCCEEDED", "PARTIAL_REFUND", "CHARGEBACK_WON"}


def test_what_was_refunded_without_having_paid_needed_somebody():
    assert shown(S.REFUNDED, applied=False)[2] == "needs_manual"


def test_older_clients_hear_paid():
    assert projections.orya_v1(a_payment(status=S.SUCCEEDED)) == "PAID"
    assert all(projections.orya_v1(a_payment(status=status)) != "PAID" for status in S if status is not S.SUCCEEDED)
