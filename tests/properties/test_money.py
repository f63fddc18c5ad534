"""Money under any numbers: nothing is lost, nothing is invented."""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admitone.kernel.money import BASIS_POINTS, LARGEST, SMALLEST, Money, currencies

amounts = st.builds(Money, st.integers(-(2**60), 2**60), st.just("EUR"))
any_money = st.builds(Money, st.integers(SMALLEST, LARGEST), st.sampled_from(sorted(currencies())))
weightings = st.lists(st.integers(0, 10**6), min_size=1, max_size=40).filter(any)
shares = st.integers(0, BASIS_POINTS)


@given(amounts, weightings)
def test_the_parts_sum_to_the_whole_and_each_is_its_share_rounded(amount, weights):
    parts = amount.allocate(weights)
    assert Money.total(parts, "EUR") == amount
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part.minor - Fraction(amount.minor * weight, sum(weights))) < 1
        assert weight or part.minor == 0


@given(amounts, weightings)
def test_a_debt_is_split_as_the_mirror_of_the_amount(amount, weights):
    assert [-part for part in amount.allocate(weights)] == (-amount).allocate(weights)


@pytest.mark.covers("FIN-030")
@given(amounts, shares)
def test_a_share_is_what_decimal_arithmetic_rounds_half_up(amount, basis_points):
    with localcontext(prec=60):
        exact = Decimal(amount.minor) * basis_points / BASIS_POINTS
        assert amount.share(basis_points).minor == int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))


@given(amounts, shares)
def test_a_share_never_exceeds_the_whole_and_keeps_its_sign(amount, basis_points):
    share = amount.share(basis_points)
    assert abs(share) <= abs(amount)
    assert share.minor * amount.minor >= 0
    assert (-amount).share(basis_points) == -share


@given(st.builds(Money, st.integers(0, 2**60), st.just("EUR")), shares, shares)
def test_a_larger_rate_never_gives_a_smaller_share(amount, one, other):
    assert amount.share(min(one, other)) <= amount.share(max(one, other))


@given(amounts, amounts)
def test_what_is_added_can_be_taken_away(one, other):
    assert one + other - other == one


@given(any_money)
def test_an_amount_in_major_units_is_still_exact(money):
    shown = money.decimal()
    assert str(money).split()[1] == money.currency
    assert int(shown.scaleb(-shown.as_tuple().exponent)) == money.minor
