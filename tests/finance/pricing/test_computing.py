"""The price of an offer, step by step."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from admitone.finance.pricing.api import (
    AmountInvalid,
    CurrenciesMixed,
    CurrencyUnknown,
    FeeBase,
    FeeMode,
    NothingToPrice,
    Snapshot,
    TaxesExceedPrice,
    TaxNotWithheld,
    TooManyLines,
)
from admitone.finance.pricing.errors import CommissionOutOfRange
from admitone.finance.pricing.policy import MOST_LINES, compute_pricing, to_pay
from admitone.finance.pricing.port import Discount
from admitone.finance.sources.api import Bearer, SettlementModel, Source, SourceType
from admitone.finance.sources.port import Line, Tax, TaxBearer
from admitone.kernel.money import AmountTooLarge, Money
from tests.finance.pricing.offers import A_STAY, a_rule, an_offer, computed

VAT = Tax("VAT", "PT", 2300)
IOF = Tax("IOF", "BR", 38, TaxBearer.OWNER)
SUMMER = Discount(300, "promo_7", "SUMMER", "Summer", "FIXED", 300)


@pytest.mark.covers("FIN-031")
def test_discounts_come_before_taxes_and_taxes_before_the_fee():
    snapshot = computed(
        an_offer((1000, 3), discount_minor=200, taxes=(VAT,)),
        a_rule(1000, 25, mode=FeeMode.ADDED, base=FeeBase.SUBTOTAL_PLUS_TAXES),
        SUMMER,
    )
    assert (snapshot.gross, snapshot.discounts, snapshot.subtotal) == (3000, 500, 2500)
    assert [tax.amount for tax in snapshot.taxes] == [575]
    assert snapshot.platform_fee == 308 + 25  # 10 % of 30.75 is 3.075.
    assert snapshot.total == 2500 + 575 + 333
    assert snapshot.net_to_org_pending == 3075


@pytest.mark.covers("FIN-031", "FIN-036")
@pytest.mark.parametrize(
    ("mode", "total", "net", "shown"),
    [(FeeMode.INCLUDED, 1000, 950, 50), (FeeMode.ADDED, 1050, 1000, 50), (FeeMode.ABSORBED, 1000, 950, None)],
)
def test_a_fee_is_in_the_price_on_top_of_it_or_hidden_in_it(mode: FeeMode, total: int, net: int, shown: int | None):
    snapshot = computed(an_offer(1000), a_rule(500, mode=mode))
    assert (snapshot.platform_fee, snapshot.total, snapshot.net_to_org_pending) == (50, total, net)
    assert snapshot.fee_shown == shown


@pytest.mark.covers("FIN-033")
@given(
    minor=some.integers(0, 100_000),
    bps=some.integers(0, 10_000),
    fixed=some.integers(0, 500),
    bounds=some.tuples(some.integers(0, 300), some.integers(300, 5_000)) | some.just((None, None)),
    mode=some.sampled_from(FeeMode),
)
def test_what_is_shown_for_one_is_what_is_charged_for_one(
    minor: int, bps: int, fixed: int, bounds: tuple[int | None, int | None], mode: FeeMode
):
    rule = a_rule(bps, fixed, mode=mode, min_minor=bounds[0], max_minor=bounds[1])
    assert to_pay(Money(minor, "EUR"), rule).minor == computed(an_offer(minor), rule).total


@pytest.mark.covers("FIN-030")
@pytest.mark.parametrize(
    ("price", "bps", "fee"),
    [(10, 500, 1), (9, 500, 0), (30, 500, 2), (50, 100, 1), (49, 100, 0), (150, 100, 2), (1, 5000, 1), (1, 4999, 0)],
)
def test_halves_are_rounded_up(price: int, bps: int, fee: int):
    assert computed(an_offer(price), a_rule(bps)).platform_fee == fee
    assert computed(an_offer(price, taxes=(Tax("VAT", "PT", bps),))).taxes[0].amount == fee


@pytest.mark.covers("FIN-030")
def test_each_tax_is_rounded_by_itself():
    halves = (Tax("One", "PT", 500), Tax("Two", "PT", 500))
    assert computed(an_offer(10, taxes=halves)).total == 12


@pytest.mark.parametrize(("own", "promised"), [(700, 5000), (5000, 0), (1000, 300), (2**53 - 1, 2**53 - 1)])
def test_nobody_gets_more_off_than_the_price(own: int, promised: int):
    promotion = Discount(promised, "promo_1", None, "Gift", "FIXED", 0)
    snapshot = computed(an_offer(1000, discount_minor=own), a_rule(500, 30, min_minor=50), promotion)
    assert (snapshot.discounts, snapshot.total, snapshot.platform_fee) == (1000, 0, 0)
    assert sum(each.amount for each in snapshot.promotions) == max(1000 - own, 0)
    assert snapshot.is_free


def test_a_promotion_is_told_with_its_words_if_it_gave_something():
    late = Discount(100, "promo_8", None, "Late", "FIXED", 100)
    snapshot = computed(an_offer(300), a_rule(), SUMMER, late)
    assert [(each.label, each.amount) for each in snapshot.promotions] == [("Summer", 300)]
    assert snapshot.promo_policy_version == "promo_7"
    assert computed(an_offer(1000), a_rule(), SUMMER, late).promo_policy_version == "promo_7+promo_8"
    assert computed(an_offer(1000)).promo_policy_version is None


@pytest.mark.covers("FIN-032")
@pytest.mark.parametrize(
    ("price", "fee"),
    [(100, 50), (1000, 100), (1500, 150), (10_000, 200)],
)
def test_a_fee_stays_within_the_bounds_of_its_policy(price: int, fee: int):
    assert computed(an_offer(price), a_rule(1000, min_minor=50, max_minor=200)).platform_fee == fee


def test_a_fee_that_is_part_of_the_price_is_never_more_than_the_price():
    small = an_offer(30)
    assert computed(small, a_rule(500, 100)).net_to_org_pending == 0
    added = computed(small, a_rule(500, 100, mode=FeeMode.ADDED))
    assert (added.platform_fee, added.total, added.net_to_org_pending) == (102, 132, 30)


def test_withheld_taxes_come_before_the_fee():
    half = Tax("IRS", "PT", 5000, TaxBearer.OWNER)
    snapshot = computed(an_offer(1000, source=A_STAY, taxes=(half,)), a_rule(2500, 300))
    assert (snapshot.withheld_taxes, snapshot.platform_fee, snapshot.total) == (500, 500, 1000)


@pytest.mark.parametrize("source_type", SourceType)
def test_a_tax_is_withheld_only_where_the_platform_holds_the_money(source_type: SourceType):
    """Elsewhere nobody would withhold it, and the platform's fee would give way to a tax that nobody pays."""
    outcome = compute_pricing(an_offer(1000, source=Source(source_type, "x"), taxes=(IOF,)), a_rule(1500))
    if source_type is SourceType.STAY_RESERVATION:
        assert isinstance(outcome, Snapshot) and outcome.withheld_taxes == 4
    else:
        assert outcome == TaxNotWithheld()


@pytest.mark.parametrize("bearer", TaxBearer)
def test_the_rates_of_whoever_bears_them_are_no_more_than_the_whole(bearer: TaxBearer):
    whole = (Tax("One", "PT", 4000, bearer), Tax("Two", "PT", 6000, bearer))
    assert isinstance(compute_pricing(an_offer(1000, source=A_STAY, taxes=whole), a_rule(1500)), Snapshot)
    more = (*whole, Tax("Three", "PT", 1, bearer))
    assert compute_pricing(an_offer(1000, source=A_STAY, taxes=more), a_rule(1500)) == AmountInvalid(what="taxRate")


@pytest.mark.covers("MOR-020", "MOR-023")
def test_the_commission_of_a_stay():
    nights = Line("night", "Night", 250_00, 4)
    cleaning = Line("cleaning", "Cleaning", 250_00, 1)
    snapshot = computed(an_offer(nights, cleaning, source=A_STAY), a_rule(1500, base=FeeBase.SUBTOTAL_PLUS_TAXES))
    assert (snapshot.total, snapshot.platform_fee, snapshot.net_to_org_pending) == (1250_00, 187_50, 1062_50)
    assert (snapshot.settlement_model, snapshot.processor_fee_bearer) == (SettlementModel.PLATFORM_MOR, Bearer.PLATFORM)


@pytest.mark.covers("MOR-023")
def test_the_base_of_a_stay_has_the_taxes_that_the_guest_pays_and_not_those_of_the_host():
    on_both = a_rule(1500, base=FeeBase.SUBTOTAL_PLUS_TAXES)
    guest = computed(an_offer(1000_00, source=A_STAY, taxes=(Tax("City", "PT", 1000),)), on_both)
    assert (guest.platform_fee, guest.total) == (165_00, 1100_00)
    host = computed(an_offer(1000_00, source=A_STAY, taxes=(IOF,)), on_both)
    assert (host.platform_fee, host.total, host.withheld_taxes) == (150_00, 1000_00, 3_80)
    assert host.net_to_org_pending - host.withheld_taxes == 846_20


def test_what_the_platform_sells_itself_has_no_fee():
    campaign = Source(SourceType.COUPON_CAMPAIGN, "campaign-1")
    assert computed(an_offer(1000, source=campaign), a_rule(500, 100, min_minor=100)).platform_fee == 0


def test_the_odd_cent_of_discount_tax_and_fee_goes_to_the_largest_remainder():
    snapshot = computed(an_offer(333, 333, 334, discount_minor=100, taxes=(VAT,)), a_rule(500, mode=FeeMode.ADDED))
    assert [line.discount for line in snapshot.line_items] == [33, 33, 34]
    assert [line.fee for line in snapshot.line_items] == [15, 15, 15]
    assert [line.tax for line in snapshot.line_items] == [69, 69, 69]
    assert sum(line.total for line in snapshot.line_items) == snapshot.total


HOSTILE = [-1, -(2**63), 2**53, 2**63, 2**64, 0.5, 10.0, float("nan"), True, False, "10", None, 10**12 + 1]


@pytest.mark.covers("FIN-030")
@pytest.mark.parametrize("amount", HOSTILE, ids=repr)
def test_what_is_no_amount_never_becomes_a_price(amount: Any):
    rate = Tax("VAT", "PT", amount)
    for offer, what in (
        (an_offer(Line("a", "A", amount, 1)), "unitPrice"),
        (an_offer(100, Line("a", "A", amount, 1)), "unitPrice"),
        (an_offer(Line("a", "A", 100, amount)), "quantity"),
        (an_offer(100, taxes=(rate,)), "taxRate"),
    ):
        assert compute_pricing(offer, a_rule()) == AmountInvalid(what=what)
    if amount != 10**12 + 1:
        assert compute_pricing(an_offer(100, discount_minor=amount), a_rule()) == AmountInvalid(what="discount")
        for promotion in (
            Discount(amount, "p", None, "P", "FIXED", 0),
            Discount(0, "p", None, "P", "FIXED", amount),
        ):
            assert compute_pricing(an_offer(100), a_rule(), [promotion]) == AmountInvalid(what="promotion")


def test_what_nobody_could_read_exactly_is_too_large():
    line = Line("a", "A", 10**12, 9_007)
    fits = compute_pricing(an_offer(line), a_rule())
    assert isinstance(fits, Snapshot) and fits.total == 9_007 * 10**12
    assert compute_pricing(an_offer(line, line), a_rule()) == AmountTooLarge()
    assert compute_pricing(an_offer(line), a_rule(500, mode=FeeMode.ADDED)) == AmountTooLarge()
    most = Line("a", "A", 10**12, 10_000)
    assert compute_pricing(an_offer(*[most] * MOST_LINES, taxes=(VAT,) * 4), a_rule()) == AmountTooLarge()


def test_what_cannot_be_priced_is_refused():
    assert compute_pricing(an_offer(), a_rule()) == NothingToPrice()
    assert compute_pricing(an_offer(*[1] * (MOST_LINES + 1)), a_rule()) == TooManyLines(most=MOST_LINES)
    for currency in ("XXX", "eur", "", "EURO", "DEM"):
        assert compute_pricing(an_offer(100, currency=currency), a_rule()) == CurrencyUnknown()
    assert compute_pricing(an_offer(100, currency="BRL"), a_rule(currency="EUR")) == CurrenciesMixed()
    halves = (Tax("One", "PT", 5000, TaxBearer.OWNER), Tax("Two", "PT", 5000, TaxBearer.OWNER))
    assert compute_pricing(an_offer(1, source=A_STAY, taxes=halves), a_rule()) == TaxesExceedPrice()


@pytest.mark.covers("MOR-022")
@pytest.mark.parametrize(("bps", "fits"), [(499, False), (500, True), (2500, True), (2501, False)])
def test_a_stay_is_priced_within_its_bounds_whatever_rule_was_found(bps: int, fits: bool):
    outcome = compute_pricing(an_offer(1000, source=A_STAY), a_rule(bps))
    assert isinstance(outcome, Snapshot) if fits else outcome == CommissionOutOfRange(least_bps=500, most_bps=2500)
