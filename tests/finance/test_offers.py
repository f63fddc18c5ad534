"""What a vertical offers fits what finance keeps, or is no offer."""

from datetime import UTC, datetime

import pytest

from admitone.finance.sources.api import Source, SourceType
from admitone.finance.sources.port import Offer
from admitone.kernel.ids import IdentityId
from tests.finance.shop import a_line


def an_offer(description: str = "It", subjects: tuple[str, ...] = ()) -> Offer:
    source, until = Source(SourceType.TICKET_ORDER, "to_1"), datetime(2026, 5, 1, tzinfo=UTC)
    return Offer(source, IdentityId.new(), "EUR", (a_line(100),), until, description, subjects=subjects)


def test_a_long_description_is_cut_to_what_a_provider_is_told():
    assert an_offer("x" * 500).description == "x" * 200
    assert an_offer().description == "It"


@pytest.mark.parametrize(
    "subjects", [tuple(map(str, range(21))), ("x" * 201,), ("",)], ids=["too many", "too long", "empty"]
)
def test_an_offer_whose_kill_switches_would_not_be_found_again_is_none(subjects: tuple[str, ...]):
    with pytest.raises(ValueError, match="subjects"):
        an_offer(subjects=subjects)
    assert len(an_offer(subjects=tuple(map(str, range(20)))).subjects) == 20
