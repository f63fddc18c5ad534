"""Which rule holds."""

from collections.abc import Sequence
from itertools import combinations

import pytest

from admitone.finance.pricing.model import Choice, FeeMode, Policy, Target
from admitone.finance.pricing.policy import in_force
from admitone.finance.sources.api import Source, SourceType
from tests.finance.pricing.offers import A_STAY, TICKETS, a_choice, a_policy

TYPE, ID = TICKETS.type, TICKETS.id
BY_STRENGTH: Sequence[tuple[bool, Target]] = [
    (False, Target(TYPE, ID, "EUR")),
    (False, Target(TYPE, ID)),
    (False, Target(TYPE, None, "EUR")),
    (False, Target(TYPE)),
    (True, Target(TYPE, None, "EUR")),
    (True, Target(TYPE)),
    (False, Target(None, None, "EUR")),
    (False, Target()),
    (True, Target(None, None, "EUR")),
    (True, Target()),
]
"""The organisation's or the platform's rules, the strongest first."""
STRANGERS = [
    Target(SourceType.BOOKING),
    Target(SourceType.BOOKING, ID),
    Target(TYPE, "order-2"),
    Target(TYPE, ID, "BRL"),
    Target(None, None, "BRL"),
]


def by_target(policies: Sequence[Policy]) -> dict[tuple[bool, str], Policy]:
    return {(str(each.organization).endswith("0001"), each.target.key): each for each in policies}


def winner(policies: Sequence[Policy], *choices: Choice, source: Source = TICKETS) -> int | None:
    rule = in_force(source, "EUR", by_target(policies), {choice.target: choice for choice in choices})
    return rule.terms.fee_bps if rule else None


def of_strength(place: int, *, retired: bool = False) -> Policy:
    platforms, target = BY_STRENGTH[place]
    return a_policy(place, target, platforms=platforms, retired=retired)


@pytest.mark.covers("FIN-033")
@pytest.mark.parametrize("strongest", range(len(BY_STRENGTH)))
def test_the_strongest_rule_holds_whatever_else_there_is(strongest: int):
    weaker = [of_strength(place) for place in range(strongest + 1, len(BY_STRENGTH))]
    strangers = [a_policy(999, target) for target in STRANGERS]
    assert winner([*weaker, *strangers, of_strength(strongest)]) == strongest
    for other in weaker:
        assert winner([other, of_strength(strongest)]) == strongest


@pytest.mark.covers("FIN-033")
@pytest.mark.parametrize("retired", range(len(BY_STRENGTH)))
def test_a_retired_rule_leaves_it_to_the_next(retired: int):
    policies = [of_strength(place, retired=place <= retired) for place in range(len(BY_STRENGTH))]
    assert winner(policies) == (retired + 1 if retired + 1 < len(BY_STRENGTH) else None)


@pytest.mark.covers("FIN-033")
def test_the_order_of_the_paper():
    """Platform < organisation < type of source < source."""
    paper = [of_strength(place) for place in (9, 7, 3, 1)]
    for weaker, stronger in combinations(paper, 2):
        assert winner([weaker, stronger]) == stronger.terms.fee_bps


@pytest.mark.covers("FIN-033")
def test_a_general_rule_of_an_organisation_does_not_touch_what_the_platform_says_of_a_type():
    commission = a_policy(1500, Target(SourceType.STAY_RESERVATION), platforms=True)
    assert winner([a_policy(300), commission], source=A_STAY) == 1500
    assert winner([a_policy(1200, Target(SourceType.STAY_RESERVATION)), commission], source=A_STAY) == 1200


def mode(policy: Policy, *choices: Choice, source: Source = TICKETS) -> tuple[FeeMode, str]:
    rule = in_force(source, "EUR", by_target([policy]), {choice.target: choice for choice in choices})
    assert rule
    return rule.fee_mode, rule.version


def test_an_organisation_chooses_how_its_fee_is_shown():
    policy = a_policy(500, fee_mode=FeeMode.INCLUDED)
    general, of_type = a_choice(FeeMode.ADDED), a_choice(FeeMode.INCLUDED, TYPE)
    assert mode(policy) == (FeeMode.INCLUDED, str(policy.id))
    assert mode(policy, general) == (FeeMode.ADDED, f"{policy.id}+{general.id}")
    assert mode(policy, general, of_type) == (FeeMode.INCLUDED, f"{policy.id}+{of_type.id}")
    assert mode(policy, general, a_choice(None, TYPE)) == (FeeMode.ADDED, f"{policy.id}+{general.id}")
    assert mode(policy, a_choice(None)) == (FeeMode.INCLUDED, str(policy.id))
    assert mode(policy, a_choice(FeeMode.ADDED, SourceType.BOOKING)) == (FeeMode.INCLUDED, str(policy.id))


def test_a_fee_is_absorbed_only_while_the_policy_allows_it():
    absorbed = a_choice(FeeMode.ABSORBED)
    strict = a_policy(500, fee_mode=FeeMode.ADDED)
    assert mode(strict, absorbed) == (FeeMode.ADDED, str(strict.id))
    generous = a_policy(500, fee_mode=FeeMode.ADDED, absorbed_allowed=True)
    assert mode(generous, absorbed) == (FeeMode.ABSORBED, f"{generous.id}+{absorbed.id}")


def test_where_the_platform_is_the_merchant_nobody_else_chooses():
    policy = a_policy(1500, fee_mode=FeeMode.INCLUDED)
    assert mode(policy, a_choice(FeeMode.ADDED), source=A_STAY) == (FeeMode.INCLUDED, str(policy.id))
