"""Prices beside a model of them that is written another way: naively, with fractions, line by line of the paper."""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from admitone.finance.pricing.api import FeeBase, FeeMode, Priced, Snapshot
from admitone.finance.pricing.model import InForce, Terms
from admitone.finance.pricing.policy import compute_pricing
from admitone.finance.pricing.port import Discount
from admitone.finance.sources.api import SOURCE_TYPES, Flow, Source, SourceType
from admitone.finance.sources.port import Line, Offer, Tax, TaxBearer
from tests.finance.pricing.offers import BUYER, THEN

amounts = st.one_of(st.integers(0, 300), st.integers(0, 10**7), st.integers(0, 10**10))
rates = st.one_of(st.sampled_from([0, 1, 50, 500, 1250, 2300, 5000, 9999, 10_000]), st.integers(0, 10_000))
lines = st.builds(Line, st.text(max_size=8), st.text(max_size=8), amounts, st.integers(1, 12))
taxes = st.builds(Tax, st.text(max_size=8), st.just("PT"), st.integers(0, 3000), st.sampled_from(TaxBearer))
discounts = st.builds(
    Discount,
    amounts,
    st.text("abc", min_size=1),
    st.none() | st.text(max_size=5),
    st.just("Summer"),
    st.just("FIXED"),
    amounts,
)


@st.composite
def terms(draw: Any) -> Terms:
    low, high = sorted(draw(st.tuples(amounts, amounts)))
    return Terms(
        fee_bps=draw(rates),
        fee_fixed_minor=draw(st.one_of(st.just(0), amounts)),
        min_minor=draw(st.sampled_from([None, low])),
        max_minor=draw(st.sampled_from([None, high])),
        base=draw(st.sampled_from(FeeBase)),
    )


rules = st.builds(InForce, st.just("fee_1"), st.just("EUR"), terms(), st.sampled_from(FeeMode))
offers = st.builds(
    Offer,
    buyer=st.just(BUYER),
    source=st.builds(Source, st.sampled_from(SourceType), st.just("x")),
    currency=st.just("EUR"),
    lines=st.lists(lines, min_size=1, max_size=6).map(tuple),
    expires_at=st.just(THEN),
    description=st.just(""),
    taxes=st.lists(taxes, max_size=3).map(tuple),
    discount_minor=st.one_of(st.just(0), amounts),
)


def fitting(offer: Offer, rule: InForce) -> tuple[Offer, InForce]:
    """As they may be: taxes are withheld of stays alone, and the commission of a stay has its bounds."""
    if offer.source.type is SourceType.STAY_RESERVATION:
        bounded = msgspec.structs.replace(rule.terms, fee_bps=500 + rule.terms.fee_bps % 2001)
        return offer, msgspec.structs.replace(rule, terms=bounded)
    on_top = tuple(msgspec.structs.replace(tax, bearer=TaxBearer.CUSTOMER) for tax in offer.taxes)
    return msgspec.structs.replace(offer, taxes=on_top), rule


def rounded(exact: Fraction) -> int:
    """Half up, by the school's method."""
    with localcontext(prec=80):
        return int((Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(Decimal(1), ROUND_HALF_UP))


def on_paper(offer: Offer, rule: InForce, promised: list[Discount]) -> dict[str, int]:
    gross = 0
    for line in offer.lines:
        for _ in range(line.quantity):
            gross += line.unit_price_minor
    taken_off = offer.discount_minor + sum(each.amount_minor for each in promised)
    subtotal = gross - taken_off if taken_off < gross else 0
    added, withheld = 0, 0
    for tax in offer.taxes:
        amount = rounded(Fraction(tax.rate_bps, 10_000) * subtotal)
        if tax.bearer == "CUSTOMER":
            added += amount
        else:
            withheld += amount
    of = subtotal + added if rule.terms.base == "SUBTOTAL_PLUS_TAXES" else subtotal
    fee = rounded(Fraction(rule.terms.fee_bps, 10_000) * of) + rule.terms.fee_fixed_minor
    if rule.terms.min_minor is not None and fee < rule.terms.min_minor:
        fee = rule.terms.min_minor
    if rule.terms.max_minor is not None and fee > rule.terms.max_minor:
        fee = rule.terms.max_minor
    if subtotal + added == 0 or SOURCE_TYPES[offer.source.type].flow == Flow.CAMPAIGN:
        fee = 0
    total = subtotal + added
    if rule.fee_mode == "ADDED":
        total += fee
    elif fee > total - withheld:
        fee = total - withheld
    return {"gross": gross, "subtotal": subtotal, "withheld_taxes": withheld, "platform_fee": fee, "total": total}


@pytest.mark.covers("FIN-030", "FIN-031")
@given(offers, rules, st.lists(discounts, max_size=3))
@example(  # Five tenths everywhere: 5 % of 10 is 0.5, and so is the tax.
    Offer(
        Source(SourceType.STAY_RESERVATION, "x"),
        BUYER,
        "EUR",
        (Line("a", "a", 10, 1),),
        THEN,
        "",
        taxes=(Tax("VAT", "PT", 500), Tax("City", "PT", 500, TaxBearer.OWNER)),
    ),
    InForce("fee_1", None, Terms(500, base=FeeBase.SUBTOTAL_PLUS_TAXES), FeeMode.ADDED),
    [],
)
def test_a_price_is_what_the_paper_says(offer: Offer, rule: InForce, promised: list[Discount]):
    offer, rule = fitting(offer, rule)
    expected = on_paper(offer, rule, promised)
    snapshot = compute_pricing(offer, rule, promised)
    if expected["withheld_taxes"] > expected["subtotal"]:
        assert not isinstance(snapshot, Snapshot)
        return
    assert isinstance(snapshot, Snapshot)
    assert {name: getattr(snapshot, name) for name in expected} == expected
    assert snapshot.net_to_org_pending == snapshot.total - snapshot.platform_fee >= snapshot.withheld_taxes
    assert (snapshot.fee_mode is FeeMode.ABSORBED) == (snapshot.fee_shown is None)


@pytest.mark.covers("FIN-031")
@given(offers, terms(), st.lists(discounts, max_size=3))
def test_absorbing_a_fee_hides_it_and_changes_nothing_else(offer: Offer, some: Terms, promised: list[Discount]):
    included, absorbed = (
        compute_pricing(*fitting(offer, InForce("fee_1", "EUR", some, mode)), promised)
        for mode in (FeeMode.INCLUDED, FeeMode.ABSORBED)
    )
    if isinstance(included, Snapshot) and isinstance(absorbed, Snapshot):
        for name in ("gross", "discounts", "taxes", "platform_fee", "total", "net_to_org_pending", "line_items"):
            assert getattr(included, name) == getattr(absorbed, name)


@given(offers, rules, st.lists(discounts, max_size=3))
def test_the_lines_sum_to_the_price(offer: Offer, rule: InForce, promised: list[Discount]):
    snapshot = compute_pricing(*fitting(offer, rule), promised)
    if not isinstance(snapshot, Snapshot):
        return
    for part, whole in (
        ("gross", snapshot.gross),
        ("discount", snapshot.discounts),
        ("tax", snapshot.customer_taxes),
        ("fee", snapshot.platform_fee),
        ("total", snapshot.total),
    ):
        assert sum(getattr(line, part) for line in snapshot.line_items) == whole
    for line in snapshot.line_items:
        assert line.gross == line.unit_price * line.quantity
        assert 0 <= line.discount <= line.gross
        assert line.fee >= 0 and line.total >= 0


@pytest.mark.covers("FIN-034")
@given(offers, rules, st.lists(discounts, max_size=2))
def test_one_price_has_one_text_and_whoever_reads_it_gets_it_back(
    offer: Offer, rule: InForce, promised: list[Discount]
):
    first, second = (compute_pricing(offer, rule, list(promised)) for _ in range(2))
    if isinstance(first, Snapshot) and isinstance(second, Snapshot):
        priced = Priced.of(first)
        assert priced == Priced.of(second)
        assert Priced.read(priced.text, priced.hash) == priced
