"""Refusals: a stable code, a sentence, typed facts."""

import re

import pytest

from admitone.kernel import errors
from admitone.kernel.errors import Conflict, Invalid, OutcomeUnknown, Refusal, Throttled, TooLarge, Unavailable
from admitone.kernel.ids import OrganizationId
from admitone.kernel.money import Money


class RefundExceedsCapture(Conflict):
    """The refund is larger than what is left of the payment.

    More for the curious.
    """

    code = "REFUND_EXCEEDS_CAPTURE"
    left: Money
    attempts_made: int = 1


EVERY = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Refusal)]


@pytest.mark.covers("CON-005")
@pytest.mark.parametrize("kind", EVERY)
def test_every_refusal_has_a_code_a_sentence_and_says_whether_to_try_again(kind):
    assert re.fullmatch(r"[A-Z][A-Z_]+", kind.code)
    assert re.fullmatch(r"[A-Z].+\.", kind.message())
    assert isinstance(kind.retryable, bool)


@pytest.mark.covers("CON-005")
def test_no_two_refusals_share_a_code():
    assert len({kind.code for kind in EVERY}) == len(EVERY) >= 11


@pytest.mark.covers("CON-005")
def test_only_what_may_go_better_next_time_is_retryable():
    assert {kind for kind in EVERY if kind.retryable} == {Throttled, Unavailable, OutcomeUnknown}


def test_a_refusal_states_its_facts_under_their_names_on_the_wire():
    refused = RefundExceedsCapture(left=Money(5, "EUR"))
    assert refused.stated() == {"left": {"minor": 5, "currency": "EUR"}, "attemptsMade": 1}
    assert str(refused) == refused.message() == "The refund is larger than what is left of the payment."


@pytest.mark.parametrize("facts", [{}, {"left": 1, "right": 2}, {"attempts_made": 1}])
def test_missing_and_unknown_facts_are_bugs(facts):
    with pytest.raises(TypeError, match="RefundExceedsCapture takes"):
        RefundExceedsCapture(**facts)


def test_a_narrower_refusal_has_the_facts_of_the_wider_one():
    class Worse(RefundExceedsCapture):
        """It is worse."""

        by: int

    assert Worse.facts == ("left", "attempts_made", "by")
    assert OutcomeUnknown.facts == Unavailable.facts == ("retry_after_seconds",)
    assert OutcomeUnknown().stated() == {"retryAfterSeconds": 1}


def test_refusals_are_equal_when_kind_and_facts_are():
    assert TooLarge(limit_bytes=1) == TooLarge(limit_bytes=1) != TooLarge(limit_bytes=2)
    assert Invalid() != Conflict() and Invalid() != 1
    assert len({Invalid(), Invalid(), Conflict()}) == 2


def test_a_refusal_may_be_raised_or_returned():
    refused = TooLarge(limit_bytes=1)
    with pytest.raises(Refusal) as raised:
        raise refused
    assert raised.value is refused


@pytest.mark.parametrize("taken", ["error_code", "message", "retryable", "correlation_id", "next_step"])
def test_a_fact_cannot_hide_a_member_of_the_envelope(taken: str) -> None:
    with pytest.raises(TypeError, match="the envelope already has"):
        type("Hiding", (Conflict,), {"__annotations__": {taken: str}})


def test_an_id_among_the_facts_is_stated_as_its_text() -> None:
    class Elsewhere(Conflict):
        """It belongs to somebody else."""

        code = "TEST_ELSEWHERE"
        owner: OrganizationId

    owner = OrganizationId.new()
    assert Elsewhere(owner=owner).stated() == {"owner": str(owner)}
