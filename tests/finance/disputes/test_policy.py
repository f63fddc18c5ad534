"""Where a case stands, what may be said to it, how urgent it is, and what the software can say: pure."""

from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import msgspec
import pytest

from admitone.finance.disputes import errors
from admitone.finance.disputes.model import DISPUTE, Case, State, Statement
from admitone.finance.disputes.policy import (
    ASSUMED,
    Urgency,
    drafted,
    followed,
    is_news,
    opened,
    read,
    urgency_of,
    why_not,
)
from admitone.finance.gateways.api import Dispute as File
from admitone.finance.gateways.api import DisputeStatus
from admitone.finance.payments.api import ToldDispute
from admitone.kernel.scope import Caller
from tests.finance.payments.stories import a_payment

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
Is = DisputeStatus


def told(*, won: bool = False, lost: bool = False, **more: Any) -> ToldDispute:
    given = {
        "reference": "dp_1",
        "opened_at": NOON,
        "amount_minor": 5000,
        "currency": "EUR",
        "reason": "fraudulent",
        "fee_minor": 0 if won else 1500,
        "won_at": NOON + DAY if won else None,
        "lost_at": NOON + DAY if lost else None,
    }
    return ToldDispute(**(given | more))


def a_case(**more: Any) -> Case:
    return msgspec.structs.replace(opened(told(), a_payment(), NOON), **more)


def a_file(status: DisputeStatus = Is.NEEDS_RESPONSE, **more: Any) -> File:
    given = {
        "id": "dp_1",
        "charge": "ch_1",
        "reason": "fraudulent",
        "amount_minor": 5000,
        "currency": "EUR",
        "opened_at": NOON,
        "due_at": NOON + 14 * DAY,
        "has_evidence": False,
        "submissions": int(status is Is.UNDER_REVIEW),
    }
    return File(status=status, **(given | more))


def a_statement(case: Case, *, words: str | None = "It was used.", submits: bool = False) -> Statement:
    texts = None if words is None else (("access_activity_log", words),)
    return Statement(Caller(), case.id, texts, submits, "CAME_AND_STAYED")


# -- Where it stands


def test_a_case_opens_with_a_guess_until_when():
    case = opened(told(), a_payment(), NOON)
    assert (case.state, case.due_at, case.told_at, case.closed_at) == (State.OPEN, NOON + ASSUMED, None, None)


def test_one_of_which_the_end_was_told_first_is_closed_at_once():
    assert opened(told(won=True), a_payment(), NOON).state is State.WON
    case = opened(told(lost=True), a_payment(), NOON)
    assert (case.state, case.closed_at, case.fee_minor) == (State.LOST, NOON + DAY, 1500)


@pytest.mark.covers("FIN-075")
@pytest.mark.parametrize("end", [{}, {"won": True}, {"lost": True}])
def test_what_is_known_in_any_order_is_one_case(end: dict[str, bool]):
    """The facts of the payment, the file as it was before and after evidence came, each heard at any time."""
    steps = {
        "opened": lambda case: followed(case, told()),
        "ended": lambda case: followed(case, told(**end)),
        "read": lambda case: read(case, a_file(), NOON),
        "submitted": lambda case: read(case, a_file(Is.UNDER_REVIEW), NOON),
    }
    ends = set()
    for order in permutations(steps):
        # The facts are read whole, so nobody hears of the beginning after the end.
        if order.index("opened") > order.index("ended"):
            continue
        case = a_case()
        for name in order:
            before, case = case, steps[name](case)
            assert case.state is before.state or DISPUTE.may(before.state, case.state)
        ends.add((case.state, case.due_at, case.reason, case.amount_minor, case.fee_minor, case.closed_at))
    assert len(ends) == 1
    [(state, *_)] = ends
    assert state is (State.WON if end.get("won") else State.LOST if end.get("lost") else State.EVIDENCE_SUBMITTED)


def test_a_loss_that_is_told_counts_whatever_was_told_before():
    won = followed(a_case(), told(won=True))
    assert followed(won, told(won=True, lost=True)).state is State.LOST
    assert followed(followed(a_case(), told(lost=True)), told(won=True, lost=True)).state is State.LOST


@pytest.mark.parametrize("status", [Is.WON, Is.LOST])
def test_a_file_closes_nothing(status: DisputeStatus):
    """What happened to the money, the facts say."""
    assert read(a_case(), a_file(status), NOON).state is State.OPEN
    assert read(a_case(), a_file(status, submissions=1), NOON).state is State.EVIDENCE_SUBMITTED
    lost = followed(a_case(), told(lost=True))
    assert read(lost, a_file(Is.UNDER_REVIEW), NOON).state is State.LOST


def test_a_file_that_says_nothing_new_is_no_news():
    case = a_case()
    known = read(case, a_file(), NOON)
    assert is_news(case, known)
    assert not is_news(known, read(known, a_file(), NOON + DAY))
    assert is_news(known, read(known, a_file(due_at=NOON + 20 * DAY), NOON))
    assert is_news(known, read(known, a_file(Is.UNDER_REVIEW), NOON))


# -- What may be said


@pytest.mark.covers("FIN-075")
@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({}, None),
        ({"state": State.WON, "submission": 1, "due_at": NOON - DAY, "told_at": NOON}, errors.DisputeDecided),
        ({"state": State.LOST}, errors.DisputeDecided),
        ({"state": State.EVIDENCE_SUBMITTED, "due_at": NOON - DAY, "told_at": NOON}, errors.AlreadySubmitted),
        ({"submission": 1, "due_at": NOON - DAY, "told_at": NOON}, errors.AlreadySubmitted),
        ({"due_at": NOON, "told_at": NOON}, errors.EvidenceTooLate),
        ({"due_at": NOON - DAY, "told_at": None}, None),
        ({"due_at": None, "told_at": NOON}, None),
    ],
)
def test_the_first_reason_to_take_nothing_more(changes: dict[str, Any], refusal: type | None):
    """A date that is only a guess keeps nobody from trying: the provider knows."""
    case = a_case(**changes)
    found = why_not(case, a_statement(case), NOON)
    assert (None if found is None else type(found)) is refusal


def test_nothing_is_submitted_in_place_of_nothing():
    case = a_case()
    assert isinstance(why_not(case, a_statement(case, words=None, submits=True), NOON), errors.EvidenceMissing)
    assert isinstance(why_not(case, a_statement(case, words=None), NOON), errors.EvidenceMissing)
    written = a_case(evidence=1)
    assert why_not(written, a_statement(written, words=None, submits=True), NOON) is None
    assert isinstance(why_not(written, a_statement(written, words=None), NOON), errors.EvidenceMissing)


# -- How urgent it is


@pytest.mark.covers("FIN-075")
@pytest.mark.parametrize(
    ("left", "urgency"),
    [
        (timedelta(hours=72, seconds=1), Urgency.WAITS),
        (timedelta(hours=72), Urgency.DUE),
        (timedelta(hours=24, seconds=1), Urgency.DUE),
        (timedelta(hours=24), Urgency.DUE_VERY_SOON),
        (timedelta(seconds=1), Urgency.DUE_VERY_SOON),
        (timedelta(0), Urgency.OVERDUE),
        (-DAY, Urgency.OVERDUE),
        (None, Urgency.WAITS),
    ],
)
def test_the_nearer_its_date_the_louder(left: timedelta | None, urgency: Urgency):
    case = a_case(due_at=None if left is None else NOON + left, told_at=NOON)
    assert urgency_of(case, NOON) is urgency
    on_its_way = msgspec.structs.replace(case, evidence=1, submission=1)
    assert urgency_of(on_its_way, NOON) is urgency, "what is ordered is not submitted"
    for state in (State.EVIDENCE_SUBMITTED, State.WON, State.LOST):
        assert urgency_of(msgspec.structs.replace(case, state=state), NOON) is None


# -- What the software can say


def test_a_draft_names_nobody_and_says_what_went_back():
    payment = a_payment(captured_minor=5000, refunded_minor=1000)
    draft = dict(drafted(payment, None, {"access_activity_log": "Two came in at 20:14."}))
    assert draft["access_activity_log"] == "Two came in at 20:14."
    assert "50.00 EUR" in draft["uncategorized_text"]
    assert "Given back before: 10.00 EUR" in draft["uncategorized_text"]
    assert str(payment.identity) not in str(draft)
    assert payment.identity.uuid.hex not in str(draft)
    assert "product_description" not in draft, "of a price that cannot be read nothing is said"
