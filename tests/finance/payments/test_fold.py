"""The fold, sentence by sentence of unification (c): where a payment stands follows from what happened to it."""

from itertools import permutations, product

import msgspec
import pytest

from admitone.finance.gateways.api import FactKind
from admitone.finance.payments.model import (
    APPLIED,
    OURS,
    PAYMENT,
    FeesStatus,
    Payment,
    PaymentMethod,
    Reason,
    ReceiptState,
    RecordedFact,
    RefundState,
    Status,
    is_paid,
)
from admitone.finance.payments.policy import receipts_of, way
from admitone.finance.sources.api import SourceType
from tests.finance.payments.stories import (
    Book,
    a_fact,
    a_payment,
    applied,
    balances,
    begun,
    captured,
    closed,
    closed_here,
    due,
    failed,
    given_up,
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
    withheld,
    won,
)

S, K = Status, FactKind
BEFORE = (S.CREATED, S.PENDING, S.REQUIRES_ACTION, S.PROCESSING, S.FAILED)
CLOSED = (S.CANCELLED, S.EXPIRED)

# The paragraph "Transitions" of (c), once more and by hand.
EDGES: dict[Status, set[Status]] = {
    S.CREATED: {
        S.PENDING, S.REQUIRES_ACTION, S.PROCESSING, S.SUCCEEDED, S.FAILED, S.CANCELLED, S.EXPIRED, S.NEEDS_MANUAL,
        S.PARTIAL_REFUND, S.REFUNDED, S.DISPUTED,
    },
    S.PENDING: {
        S.REQUIRES_ACTION, S.PROCESSING, S.SUCCEEDED, S.FAILED, S.CANCELLED, S.EXPIRED, S.NEEDS_MANUAL,
        S.PARTIAL_REFUND, S.REFUNDED, S.DISPUTED,
    },
    S.REQUIRES_ACTION: {
        S.PENDING, S.PROCESSING, S.SUCCEEDED, S.FAILED, S.CANCELLED, S.EXPIRED, S.NEEDS_MANUAL,
        S.PARTIAL_REFUND, S.REFUNDED, S.DISPUTED,
    },
    S.PROCESSING: {
        S.PENDING, S.REQUIRES_ACTION, S.SUCCEEDED, S.FAILED, S.CANCELLED, S.EXPIRED, S.NEEDS_MANUAL,
        S.PARTIAL_REFUND, S.REFUNDED, S.DISPUTED,
    },
    S.FAILED: {
        S.PENDING, S.REQUIRES_ACTION, S.PROCESSING, S.SUCCEEDED, S.CANCELLED, S.EXPIRED, S.NEEDS_MANUAL,
        S.PARTIAL_REFUND, S.REFUNDED, S.DISPUTED,
    },
    S.CANCELLED: {S.NEEDS_MANUAL},
    S.EXPIRED: {S.NEEDS_MANUAL},
    S.NEEDS_MANUAL: {S.SUCCEEDED, S.REFUNDED, S.DISPUTED, S.CANCELLED},
    S.SUCCEEDED: {S.PARTIAL_REFUND, S.REFUNDED, S.DISPUTED},
    S.PARTIAL_REFUND: {S.PARTIAL_REFUND, S.REFUNDED, S.DISPUTED},
    S.DISPUTED: {S.CHARGEBACK_WON, S.CHARGEBACK_LOST, S.PARTIAL_REFUND, S.REFUNDED, S.NEEDS_MANUAL},
    S.CHARGEBACK_WON: {S.PARTIAL_REFUND, S.REFUNDED, S.DISPUTED},
    S.REFUNDED: set(),
    S.CHARGEBACK_LOST: set(),
}  # fmt: skip

# How a payment came to each state.
PAST: dict[Status, list[RecordedFact]] = {
    S.CREATED: [],
    S.PENDING: [a_fact(K.PENDING, "pi_1", 1)],
    S.REQUIRES_ACTION: [a_fact(K.REQUIRES_ACTION, "ch_1", 2)],
    S.PROCESSING: [a_fact(K.PROCESSING, "ch_1", 2)],
    S.FAILED: [failed(at=2)],
    S.CANCELLED: [closed(K.CANCELLED)],
    S.EXPIRED: [closed(K.EXPIRED)],
    S.NEEDS_MANUAL: [closed(K.EXPIRED), captured()],
    S.SUCCEEDED: [captured()],
    S.PARTIAL_REFUND: [captured(), refunded(2000)],
    S.REFUNDED: [captured(), refunded(5000)],
    S.DISPUTED: [captured(), opened()],
    S.CHARGEBACK_WON: [captured(), opened(), won()],
    S.CHARGEBACK_LOST: [captured(), opened(), lost()],
}

# What happens next, and where it leads from which state; from all others it leads nowhere.
NEXT: dict[str, tuple[RecordedFact, dict[Status, Status]]] = {
    "PENDING": (a_fact(K.PENDING, "pi_2", 30), dict.fromkeys(BEFORE, S.PENDING)),
    "REQUIRES_ACTION": (a_fact(K.REQUIRES_ACTION, "ch_2", 30), dict.fromkeys(BEFORE, S.REQUIRES_ACTION)),
    "PROCESSING": (a_fact(K.PROCESSING, "ch_2", 30), dict.fromkeys(BEFORE, S.PROCESSING)),
    "FAILED": (failed(at=30, of="ch_2"), dict.fromkeys(BEFORE, S.FAILED)),
    "CAPTURED": (
        captured(at=30, of="ch_2"),
        dict.fromkeys(BEFORE, S.SUCCEEDED) | dict.fromkeys(CLOSED, S.NEEDS_MANUAL),
    ),
    "CANCELLED": (closed(K.CANCELLED, at=30), dict.fromkeys(BEFORE, S.CANCELLED)),
    "EXPIRED": (closed(K.EXPIRED, at=30), dict.fromkeys(BEFORE, S.EXPIRED)),
    "FEE": (a_fact(K.FEE, "txn_1", 30, 100), {}),
    "FEE_ADJUSTMENT": (a_fact(K.FEE_ADJUSTMENT, "txn_2", 30, -7), {}),
    "REFUND_PENDING": (a_fact(K.REFUND_PENDING, "re_9", 30, 1000), {}),
    "REFUND_FAILED": (a_fact(K.REFUND_FAILED, "re_9", 30, 1000), {}),
    "REFUNDED, a part": (
        refunded(1000, at=30, of="re_9"),
        dict.fromkeys((S.SUCCEEDED, S.PARTIAL_REFUND, S.CHARGEBACK_WON), S.PARTIAL_REFUND),
    ),
    "REFUNDED, all": (
        refunded(5000, at=30, of="re_9"),
        dict.fromkeys((S.SUCCEEDED, S.PARTIAL_REFUND, S.CHARGEBACK_WON, S.NEEDS_MANUAL), S.REFUNDED),
    ),
    "DISPUTE_OPENED": (
        opened(at=30, of="dp_9"),
        dict.fromkeys((S.SUCCEEDED, S.PARTIAL_REFUND, S.CHARGEBACK_WON, S.NEEDS_MANUAL), S.DISPUTED),
    ),
    "DISPUTE_WON": (won(at=30), {S.DISPUTED: S.CHARGEBACK_WON, S.SUCCEEDED: S.CHARGEBACK_WON}),
    "DISPUTE_LOST": (
        lost(at=30),
        dict.fromkeys((S.DISPUTED, S.SUCCEEDED, S.PARTIAL_REFUND, S.CHARGEBACK_WON, S.NEEDS_MANUAL), S.CHARGEBACK_LOST),
    ),
    "COMMISSION_HELD": (held(100), {}),
    "COMMISSION_KEPT": (kept(100), {}),
    "REFUND_BEGUN": (begun(1000), {}),
    "REFUND_GIVEN_UP": (given_up(), {}),
    "TAX_WITHHELD": (withheld(100), {}),
    "DUE": (due(100), {}),
    "APPLIED": (applied(), {S.NEEDS_MANUAL: S.SUCCEEDED}),
}


def the_payment_in(status: Status) -> Payment:
    standing = stands(a_payment(), *PAST[status])
    assert standing.status is status
    return a_payment(status=status, applied=standing.applied, refunded_minor=standing.refunded_minor)


@pytest.mark.covers("FIN-050")
def test_the_lifecycle_is_the_one_that_was_written():
    assert {state: {to for at, to in PAYMENT.moves() if at is state} for state in S} == EDGES
    assert set(PAYMENT.terminal()) == {S.REFUNDED, S.CHARGEBACK_LOST}


def test_the_table_has_every_state_and_every_kind_of_fact():
    assert set(PAST) == set(S)
    assert {str(fact.kind) for fact, _ in NEXT.values()} == {*K, *OURS}


@pytest.mark.covers("FIN-050", "FIN-051")
@pytest.mark.parametrize(("status", "name"), [*product(S, NEXT)], ids=str)
def test_every_fact_in_every_state(status: Status, name: str):
    fact, leads_to = NEXT[name]
    payment, facts = the_payment_in(status), in_order(*PAST[status], fact)
    standing = stands(payment, *facts)
    steps = way(payment, standing)

    expected = leads_to.get(status, status)
    assert steps is not None
    assert standing.status is expected
    assert all(to in EDGES[at] for at, to in zip([status, *steps], steps, strict=False))
    assert (steps or [status])[-1] is expected


@pytest.mark.covers("FIN-050")
@pytest.mark.parametrize("fact", [refunded(5000), refunded(1000), opened(), won(), lost()], ids=lambda fact: fact.key)
@pytest.mark.parametrize("status", [*BEFORE, *CLOSED])
def test_a_refund_or_a_dispute_without_its_capture_makes_us_ask_and_changes_nothing_yet(
    status: Status, fact: RecordedFact
):
    payment, facts = the_payment_in(status), in_order(*PAST[status], fact)
    standing = stands(payment, *facts)
    assert standing.must_ask
    assert (standing.status, standing.captured_minor, standing.applied) == (status, 0, False)
    assert not posted(payment, facts)
    assert not receipts_of(payment, facts, rival=False)


# -- Each sentence of (c). Facts are given by the minute in which they happened.

SENTENCES = {
    "refunded before the dispute was opened": ((captured(), refunded(5000, at=20), opened(at=21)), S.REFUNDED),
    "refunded before the dispute, which was lost": (
        (captured(), refunded(5000, at=20), opened(at=21), lost(at=30)),
        S.REFUNDED,
    ),
    "a tie counts as refunded first": ((captured(), refunded(5000, at=20), opened(at=20), lost(at=30)), S.REFUNDED),
    "refunded in two parts, the second after the opening": (
        (captured(), refunded(2500, at=19), refunded(2500, at=21, total=5000, of="re_2"), opened(at=20)),
        S.DISPUTED,
    ),
    "lost": ((captured(), opened(), lost()), S.CHARGEBACK_LOST),
    "lost, with a refund stored meanwhile": ((captured(), opened(), refunded(5000, at=22), lost()), S.CHARGEBACK_LOST),
    "lost, partly refunded before": ((captured(), refunded(2000, at=15), opened(), lost()), S.CHARGEBACK_LOST),
    "open": ((captured(), opened()), S.DISPUTED),
    "open, partly refunded before": ((captured(), refunded(2000, at=15), opened()), S.DISPUTED),
    "open, refunded meanwhile": ((captured(), opened(), refunded(5000, at=22)), S.DISPUTED),
    "won, refunded meanwhile": ((captured(), opened(), refunded(5000, at=22), won()), S.REFUNDED),
    "won, partly refunded meanwhile": ((captured(), opened(), refunded(2000, at=22), won()), S.PARTIAL_REFUND),
    "won, partly refunded before": ((captured(), refunded(2000, at=15), opened(), won()), S.PARTIAL_REFUND),
    "won": ((captured(), opened(), won()), S.CHARGEBACK_WON),
    "the end of a dispute implies its beginning": ((captured(), lost()), S.CHARGEBACK_LOST),
    "two disputes, one won and one open": ((captured(), opened(), won(), opened(at=30, of="dp_2")), S.DISPUTED),
    "a second dispute after the full refund": (
        (captured(), opened(), won(), refunded(5000, at=30), opened(at=31, of="dp_2"), lost(at=32, of="dp_2")),
        S.REFUNDED,
    ),
    "refunded": ((captured(), refunded(2000), refunded(3000, at=21, total=5000, of="re_2")), S.REFUNDED),
    "partly refunded": ((captured(), refunded(2000)), S.PARTIAL_REFUND),
    "captured": ((captured(),), S.SUCCEEDED),
    "failed, then captured": ((failed(at=5), captured()), S.SUCCEEDED),
    "captured, then told that an earlier attempt failed": ((captured(), failed(at=5)), S.SUCCEEDED),
    "late": ((closed(), captured()), S.NEEDS_MANUAL),
    "late, partly refunded": ((closed(), captured(), refunded(2000)), S.NEEDS_MANUAL),
    "late, refunded": ((closed(), captured(), refunded(5000)), S.REFUNDED),
    "late, disputed": ((closed(), captured(), opened()), S.DISPUTED),
    "late, the dispute won": ((closed(), captured(), opened(), won()), S.NEEDS_MANUAL),
    "late, the dispute lost": ((closed(), captured(), opened(), lost()), S.CHARGEBACK_LOST),
    "late, applied": ((closed(), captured(), applied()), S.SUCCEEDED),
    "late, applied, partly refunded": ((closed(), captured(), applied(), refunded(2000, at=40)), S.PARTIAL_REFUND),
    "too little": ((captured(4999),), S.NEEDS_MANUAL),
    "too much": ((captured(5001),), S.NEEDS_MANUAL),
    "of another currency": ((captured(currency="USD"),), S.NEEDS_MANUAL),
    "captured, then closed": ((captured(), closed(at=12)), S.SUCCEEDED),
    "closed, and an attempt before it": ((failed(at=2), closed(at=5)), S.EXPIRED),
    "the first closing is why": ((closed(K.EXPIRED), closed(K.CANCELLED, at=6)), S.EXPIRED),
    "the latest attempt": ((a_fact(K.PENDING, "pi_1", 1), failed(at=5), a_fact(K.PROCESSING, "ch_2", 6)), S.PROCESSING),
    "the latest attempt, told first": ((a_fact(K.PROCESSING, "ch_2", 6), failed(at=5)), S.PROCESSING),
}  # fmt: skip


@pytest.mark.covers("FIN-050")
@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence(name: str):
    facts, status = SENTENCES[name]
    assert stands(a_payment(), *facts).status is status


@pytest.mark.covers("FIN-051")
@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_in_every_order(name: str):
    facts, status = SENTENCES[name]
    is_decided_here = any(fact.kind == APPLIED for fact in facts)
    payment, found, books = a_payment(), set(), set()
    for order in [facts] if is_decided_here else permutations(facts):
        numbered = in_order(*order)
        found.add(stands(payment, *numbered).status)
        books.add(frozenset(posted(payment, numbered).items()))
    assert found == {status}
    assert len(books) == 1


def test_an_unapplied_capture_says_why():
    late = [closed(), captured()]
    assert stands(a_payment(), *late).manual_reason is Reason.LATE
    assert stands(a_payment(), captured(1)).manual_reason is Reason.AMOUNT_MISMATCH
    assert stands(a_payment(), captured(9999)).manual_reason is Reason.AMOUNT_MISMATCH
    assert stands(a_payment(), captured(currency="USD")).manual_reason is Reason.CURRENCY_MISMATCH
    assert stands(a_payment(), captured(), rival=True).manual_reason is Reason.SOURCE_ALREADY_PAID
    assert stands(a_payment(), captured()).manual_reason is None
    assert stands(a_payment(), *late, applied()).manual_reason is None


def test_what_comes_after_a_pix_code_ended_is_late_whether_or_not_its_end_was_told():
    payment = a_payment(method=PaymentMethod.PIX)
    assert stands(payment, captured(at=60)).status is S.SUCCEEDED
    assert stands(payment, captured(at=61)).manual_reason is Reason.LATE
    assert stands(a_payment(method=PaymentMethod.CARD), captured(at=61)).status is S.SUCCEEDED


@pytest.mark.covers("FIN-051")
def test_money_is_late_by_the_providers_times_or_after_we_closed():
    """What the provider closed after it captured makes nothing late, told first or last; what we closed does."""
    for order in permutations((captured(at=10), closed(at=12))):
        assert stands(a_payment(), *order).status is S.SUCCEEDED
    for order in permutations((captured(at=10), closed(at=5))):
        assert stands(a_payment(), *order).manual_reason is Reason.LATE
    assert stands(a_payment(), closed_here(at=12), captured(at=10)).manual_reason is Reason.LATE
    assert stands(a_payment(), captured(at=10), closed_here(at=5)).status is S.SUCCEEDED
    assert stands(a_payment(applied=True), captured(at=10), closed(at=5)).status is S.SUCCEEDED


def test_who_paid_stays_the_one_who_paid_whatever_others_pay_later():
    assert stands(a_payment(applied=True), captured(), rival=True).status is S.SUCCEEDED


@pytest.mark.covers("FIN-051")
@pytest.mark.parametrize("status", [S.REFUNDED, S.CHARGEBACK_LOST])
def test_nothing_leaves_a_terminal_state(status: Status):
    """Whatever else is told, also that money came once more."""
    payment = the_payment_in(status)
    later = [fact for fact, _ in NEXT.values()]
    for first, second in permutations(later, 2):
        if first.key == second.key:
            continue
        standing = stands(payment, *PAST[status], first, second)
        assert standing.status is status
        assert way(payment, standing) == []


# -- Money that only seems to be back


@pytest.mark.covers("FIN-051")
def test_a_refund_that_came_back_makes_nobody_a_buyer_again_and_the_money_is_ours_to_return():
    payment = a_payment()
    facts = in_order(captured(), refunded(5000), refund_failed(5000))
    standing = stands(payment, *facts)
    assert standing.status is S.REFUNDED
    assert (standing.refunded_minor, standing.refund_state) == (0, RefundState.FAILED)
    assert balances(posted(payment, facts)) == balances(posted(payment, facts[:1]))

    again = in_order(*facts, refunded(5000, at=50, of="re_2"))
    standing = stands(payment, *again)
    assert (standing.status, standing.refunded_minor, standing.refund_state) == (S.REFUNDED, 5000, RefundState.NONE)
    assert balances(posted(payment, again)) == {}


def test_a_part_that_came_back_is_no_part_of_the_whole():
    """Half went out, came back, and half went out again: half of it is with the buyer."""
    facts = (captured(), refunded(2500), refund_failed(2500), refunded(2500, at=50, of="re_2"))
    assert stands(a_payment(), *facts).status is S.PARTIAL_REFUND
    assert stands(a_payment(), *facts).refunded_minor == 2500


@pytest.mark.parametrize(
    ("sold", "past"),
    [
        (SourceType.TICKET_ORDER, (captured(),)),
        (SourceType.TICKET_ORDER, (closed(), captured())),
        (SourceType.STAY_RESERVATION, (captured(),)),
        (SourceType.STAY_RESERVATION, (closed(), captured())),
        (SourceType.COUPON_CAMPAIGN, (captured(),)),
        (SourceType.COUPON_CAMPAIGN, (captured(5300),)),
        (SourceType.COUPON_CAMPAIGN, (closed(), captured())),
    ],
    ids=str,
)
def test_the_books_of_a_refund_that_came_back_are_those_without_it(sold: SourceType, past: tuple[RecordedFact, ...]):
    payment = a_payment(type=sold)
    whole = past[-1].amount_minor
    for amount in (1, 1234, whole):
        gone = in_order(*past, refunded(amount), refund_failed(amount))
        transfers = posted(payment, gone)
        assert balances(transfers) == balances(posted(payment, in_order(*past)))
        assert {cause for *_, cause in transfers} >= {"refunded:re_1", "refund_failed:re_1"}
        assert posted(payment, in_order(*past, refund_failed(amount), refunded(amount))) == transfers


def test_a_refund_that_never_arrived_is_not_in_the_books():
    payment = a_payment()
    facts = in_order(captured(), a_fact(K.REFUND_PENDING, "re_1", 20, 1000), refund_failed(1000))
    assert posted(payment, facts) == posted(payment, facts[:1])
    assert stands(payment, *facts).refund_state is RefundState.FAILED
    assert stands(payment, *facts[:2]).refund_state is RefundState.PENDING
    assert stands(payment, *facts, refunded(1000, at=50, of="re_2")).refund_state is RefundState.NONE


# -- Parts of the fee


def test_what_goes_back_of_the_fee_in_parts_is_the_fee():
    """Also when a part is lost in a dispute: 1 % of 999 in sevenths."""
    payment = a_payment(999, fee=10)
    parts = [143, 143, 143, 142, 143, 142, 143]
    totals = [sum(parts[: number + 1]) for number in range(len(parts))]
    refunds = [
        refunded(part, at=20 + number, total=total, of=f"re_{number}")
        for number, (part, total) in enumerate(zip(parts, totals, strict=True))
    ]
    for order in permutations(range(len(parts)), 3):
        facts = in_order(captured(999), *(refunds[number] for number in [*order, *set(range(7)) - set(order)]))
        transfers = posted(payment, facts)
        returned = sum(amount for entry, *_, amount, _, _ in transfers if entry == "REFUND_PLATFORM_FEE_REVERSAL")
        assert returned == 10
        assert balances(transfers) == {}

    half = in_order(captured(999), *refunds[:3], opened(570, at=40), lost(570, at=41))
    back = [(entry, amount) for entry, _, _, amount, *_ in posted(payment, half) if "FEE_REVERSAL" in entry]
    assert sum(amount for _, amount in back) == 10
    assert net(posted(payment, half)) == -1500


def test_who_was_partly_refunded_and_won_it_all_back_gets_no_more_of_the_fee_than_there_was():
    payment = a_payment()
    facts = in_order(captured(), refunded(2500, at=15), opened(5000), lost(5000))
    back = sum(amount for entry, _, _, amount, *_ in posted(payment, facts) if "FEE_REVERSAL" in entry)
    assert back == 300


def test_what_was_paid_too_much_goes_back_first():
    """C2, given back: 300 of it waited, and 14700 was the price."""
    payment = a_payment(14700, fee=0, type=SourceType.COUPON_CAMPAIGN)
    paid = (captured(15000),)
    assert stands(payment, *paid).status is S.SUCCEEDED
    [receipt] = receipts_of(payment, in_order(*paid), rival=False)
    assert (receipt.reason, receipt.amount_minor, receipt.state) == (Reason.SURPLUS, 300, ReceiptState.OPEN)

    part = in_order(*paid, refunded(300))
    assert balances(posted(payment, part)) == {"merchant_account": 14700, "deferred_revenue": 14700}
    assert receipts_of(payment, part, rival=False)[0].state is ReceiptState.RETURNED
    assert balances(posted(payment, in_order(*part, refunded(14700, at=30, total=15000, of="re_2")))) == {}
    assert balances(posted(payment, in_order(*paid, refunded(15000)))) == {}
    all_lost = in_order(*paid, opened(15000, fee=0), lost(15000))
    assert balances(posted(payment, all_lost)) == {}


# -- How often somebody may try


@pytest.mark.covers("PAY-040")
def test_a_second_card_may_be_tried_and_no_third():
    assert not stands(a_payment(), failed()).is_spent
    twice = (failed(of="ch_1"), failed(of="ch_2"))
    assert stands(a_payment(), *twice).is_spent
    assert stands(a_payment(), failed(of="ch_1"), failed(of="ch_1")).failed_attempts == 2


@pytest.mark.covers("PAY-041")
def test_who_they_are_may_be_proved_three_times():
    def unproved(number: int) -> RecordedFact:
        return failed("authentication_required", of=f"ch_{number}", at=number)

    assert not stands(a_payment(), unproved(1), unproved(2)).is_spent
    assert stands(a_payment(), unproved(1), unproved(2), unproved(3)).is_spent
    assert not stands(a_payment(), unproved(1), unproved(2), failed(of="ch_3", at=3)).is_spent


@pytest.mark.covers("PAY-040", "PAY-041")
def test_who_has_no_try_left_stays_failed_unless_the_money_came():
    """A third try that was begun before the charge was closed does not open the payment again."""
    spent = (failed(of="ch_1"), failed(of="ch_2", at=6))
    assert stands(a_payment(), *spent, a_fact(K.REQUIRES_ACTION, "ch_3", 7)).status is S.FAILED
    assert stands(a_payment(), *spent, captured()).status is S.SUCCEEDED
    assert stands(a_payment(), *spent, closed(K.CANCELLED, at=8)).status is S.CANCELLED


# -- Fees


@pytest.mark.covers("FIN-042")
def test_the_fee_is_unknown_until_it_is_told_and_then_the_sum_of_what_was_told():
    assert stands(a_payment(), captured()).fees_status is FeesStatus.PENDING
    assert stands(a_payment(), captured()).fees_actual is None
    told = (captured(), a_fact(K.FEE, "txn_1", 15, 100))
    assert (stands(a_payment(), *told).fees_status, stands(a_payment(), *told).fees_actual) == (FeesStatus.FINAL, 100)
    assert stands(a_payment(), *told, a_fact(K.FEE_ADJUSTMENT, "txn_2", 16, -7)).fees_actual == 93
    alone = stands(a_payment(), captured(), a_fact(K.FEE_ADJUSTMENT, "txn_2", 16, -7))
    assert (alone.fees_status, alone.fees_actual) == (FeesStatus.PENDING, None)


@pytest.mark.covers("FIN-042")
def test_a_fee_that_is_told_anew_counts_by_its_difference():
    book = Book(a_payment())
    for fact in (captured(), a_fact(K.FEE, "txn_1", 15, 100), a_fact(K.FEE_ADJUSTMENT, "txn_2", 16, 5)):
        book.learn(fact)
    for amount, minute in ((107, 17), (100, 15), (107, 17), (103, 18), (107, 17), (105, 16)):
        book.learn(a_fact(K.FEE, "txn_1", minute, amount))
    changes = [fact.amount_minor for fact in book.facts if fact.kind is K.FEE_ADJUSTMENT]
    assert changes == [5, 7, -4]
    assert stands(book.payment, *book.facts).fees_actual == 108


@pytest.mark.covers("FIN-042")
def test_a_fee_in_another_currency_is_in_no_number_of_this_one():
    abroad = msgspec.structs.replace(a_fact(K.FEE, "txn_1", 15, 900), currency="BRL")
    alone = stands(a_payment(), captured(), abroad)
    assert (alone.fees_status, alone.fees_actual) == (FeesStatus.PENDING, None)
    changed = msgspec.structs.replace(a_fact(K.FEE_ADJUSTMENT, "txn_3", 17, 50), currency="BRL")
    both = stands(a_payment(), captured(), abroad, a_fact(K.FEE, "txn_2", 16, 100), changed)
    assert (both.fees_status, both.fees_actual) == (FeesStatus.FINAL, 100)


@pytest.mark.covers("FIN-042")
def test_a_fee_told_anew_in_another_currency_is_no_difference():
    book = Book(a_payment())
    for fact in (captured(), a_fact(K.FEE, "txn_1", 15, 100)):
        book.learn(fact)
    book.learn(msgspec.structs.replace(a_fact(K.FEE, "txn_1", 17, 900), currency="BRL"))
    assert [fact.kind for fact in book.facts if fact.kind is K.FEE_ADJUSTMENT] == []
    assert stands(book.payment, *book.facts).fees_actual == 100


@pytest.mark.covers("FIN-042")
def test_a_fee_that_returns_to_what_it_was_counts_each_time_and_each_telling_once():
    book = Book(a_payment())
    book.learn(captured())
    tellings = [a_fact(K.FEE, "txn_1", 15 + number, amount) for number, amount in enumerate((100, 110, 100, 110))]
    for number, telling in enumerate(tellings, start=1):
        for repeated in (telling, *tellings[:number]):
            book.learn(repeated)
        assert stands(book.payment, *book.facts).fees_actual == telling.amount_minor
    assert [fact.amount_minor for fact in book.facts if fact.kind is K.FEE_ADJUSTMENT] == [10, -10, 10]


# -- The one predicate


@pytest.mark.covers("FIN-001")
def test_paid_is_one_predicate_over_all_states():
    assert {status for status in S if is_paid(status)} == {S.SUCCEEDED, S.PARTIAL_REFUND, S.CHARGEBACK_WON}
