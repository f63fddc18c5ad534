"""What goes back, and what goes with it: never more than was there."""

from itertools import permutations

import pytest

from admitone.finance.gateways.api import FactKind, ProviderFact
from admitone.finance.ledger.api import Account
from admitone.finance.payments.model import Reason, ReceiptState, RecordedFact, Status
from admitone.finance.payments.policy import receipts_of
from admitone.finance.sources.api import SourceType
from tests.finance.payments.stories import (
    NOON,
    Book,
    a_payment,
    applied,
    balances,
    captured,
    closed,
    held,
    in_order,
    kept,
    lost,
    net,
    opened,
    posted,
    refund_failed,
    refunded,
    stands,
)

A = Account
STAY = a_payment(100_000, fee=15_000, type=SourceType.STAY_RESERVATION)
PAID = captured(100_000)


# -- Commissions of stays


@pytest.mark.covers("FIN-036")
def test_what_was_never_held_does_not_go_back():
    """S3, and the same of a dispute."""
    back = posted(STAY, in_order(PAID, refunded(100_000)))
    assert (net(back), balances(back)) == (0, {})
    assert balances(posted(STAY, in_order(PAID, opened(100_000, fee=0), lost(100_000)))) == {}


@pytest.mark.covers("FIN-036")
def test_what_was_held_goes_back_with_all_of_the_money():
    """S4; in parts, whatever they are, and without those that came back."""
    confirmed = (PAID, held(15_000))
    back = posted(STAY, in_order(*confirmed, refunded(100_000)))
    assert (net(back), balances(back)) == (0, {})
    parts = (refunded(33_333), refunded(66_667, at=21, total=100_000, of="re_2"))
    assert balances(posted(STAY, in_order(*confirmed, *parts))) == {}
    returned = posted(STAY, in_order(*confirmed, refunded(50_000), refund_failed(50_000)))
    assert balances(returned) == balances(posted(STAY, in_order(*confirmed)))


@pytest.mark.covers("FIN-036")
def test_what_is_kept_by_the_tier_stays_held():
    """S5: half of the money goes back and nothing of the commission; S6: in proportion."""
    half = posted(STAY, in_order(PAID, held(15_000), kept(15_000), refunded(50_000)))
    assert balances(half) == {A.CASH: 50_000, A.DEP: 35_000, A.COMH: 15_000}
    dearer = a_payment(125_000, fee=18_750, type=SourceType.STAY_RESERVATION)
    tier = posted(dearer, in_order(captured(125_000), held(18_750), refunded(87_500)))
    assert balances(tier) == {A.CASH: 37_500, A.DEP: 31_875, A.COMH: 5_625}


@pytest.mark.covers("FIN-036")
def test_what_was_held_goes_back_when_a_dispute_is_lost():
    """S8."""
    gone = posted(STAY, in_order(PAID, held(15_000), opened(100_000), lost(100_000)))
    assert net(gone) == -1500
    assert balances(gone) == {A.ORG: -1500, A.MA: -1500}


# -- What is left


@pytest.mark.covers("FIN-036")
@pytest.mark.parametrize("refund_at", [15, 22])
def test_a_dispute_of_all_after_a_part_went_back_reverses_what_is_left(refund_at: int):
    """Before it was opened, or meanwhile."""
    payment = a_payment()
    gone = balances(posted(payment, in_order(captured(), refunded(2500, at=refund_at), opened(fee=0), lost())))
    assert gone == {A.ORG: -2500, A.MA: -2500}, "nothing is left with the organisation, and it owes what left twice"


# -- Second captures


@pytest.mark.covers("FIN-050")
def test_money_that_came_twice_goes_back_by_itself():
    payment = a_payment()
    twice = (captured(), captured(at=11, of="ch_2"))
    once = posted(payment, in_order(captured()))
    back = in_order(*twice, refunded(5000, charge="ch_2"))
    assert balances(posted(payment, back)) == balances(once)
    assert net(posted(payment, back)) == net(once)
    assert stands(payment, *back).status is Status.SUCCEEDED
    [receipt] = receipts_of(payment, back, rival=False)
    assert (receipt.reason, receipt.state) == (Reason.SECOND_CAPTURE, ReceiptState.RETURNED)

    first = in_order(*twice, refunded(5000, charge="ch_1"))
    assert stands(payment, *first).status is Status.REFUNDED
    assert [each.state for each in receipts_of(payment, first, rival=False)] == [ReceiptState.OPEN]
    assert balances(posted(payment, first)) == {A.MA: 300, A.SETL: 4700, A.SUS: 5000}


@pytest.mark.covers("FIN-050")
def test_a_dispute_of_money_that_came_twice_takes_nothing_from_who_paid():
    payment = a_payment()
    facts = (captured(), captured(at=11, of="ch_2"), opened(charge="ch_2", fee=0), lost(charge="ch_2"))
    for told in permutations(facts[1:]):
        assert stands(payment, facts[0], *told).status is Status.SUCCEEDED
        assert balances(posted(payment, in_order(facts[0], *told))) == balances(posted(payment, in_order(facts[0])))
    assert [each.state for each in receipts_of(payment, in_order(*facts), rival=False)] == [ReceiptState.LOST]


# -- Money that paid for nothing


@pytest.mark.covers("FIN-036")
def test_late_money_of_a_sale_was_moved_on_and_comes_back_whole():
    """L1 of a destination charge."""
    payment, late = a_payment(), (closed(), captured())
    assert balances(posted(payment, in_order(*late))) == {A.MA: 300, A.SETL: 4700, A.SUS: 5000}
    for back in (
        (refunded(5000),),
        (refunded(1), refunded(4999, at=21, total=5000, of="re_2")),
        (opened(fee=0), lost()),
    ):
        transfers = posted(payment, in_order(*late, *back))
        assert (net(transfers), balances(transfers)) == (0, {})
    assert balances(posted(payment, in_order(*late, applied()))) == balances(posted(payment, in_order(captured())))


@pytest.mark.covers("FIN-050")
def test_what_was_paid_too_much_for_a_late_campaign_stays_to_be_seen():
    payment = a_payment(fee=0, type=SourceType.COUPON_CAMPAIGN)
    facts = in_order(closed(), captured(5300), applied())
    found = [(each.reason, each.amount_minor, each.state) for each in receipts_of(payment, facts, rival=False)]
    assert found == [(Reason.LATE, 5300, ReceiptState.APPLIED), (Reason.SURPLUS, 300, ReceiptState.OPEN)]
    assert len({each.capture_key for each in receipts_of(payment, facts, rival=False)}) == 2
    assert balances(posted(payment, facts)) == {A.MA: 5300, A.DEF: 5000, A.SUS: 300}

    back = in_order(*facts, refunded(300, at=40))
    assert receipts_of(payment, back, rival=False)[1].state is ReceiptState.RETURNED
    assert balances(posted(payment, back)) == {A.MA: 5000, A.DEF: 5000}


# -- Bounds


def test_words_of_a_provider_are_cut_to_what_is_kept_and_stay_apart():
    def kept_of(end: str) -> RecordedFact:
        long = "x" * 300 + end
        return RecordedFact.of(ProviderFact(FactKind.FAILED, long, NOON, long, code=long, charge=long))

    one, other = kept_of("1"), kept_of("2")
    assert (len(one.reference), len(one.charge), len(one.code)) == (200, 200, 100)
    assert len(f"applied:{one.key}") <= 200
    assert one.key != other.key


def test_a_capture_of_nothing_is_none():
    book = Book(a_payment())
    book.hear([ProviderFact(FactKind.CAPTURED, "captured:ch_1", NOON, "ch_1", 0, "EUR")])
    assert (book.payment.status, book.facts) == (Status.CREATED, [])
