"""Which rule holds, and what it makes of an offer: pure decisions.

Promise: `compute_pricing` is the one function that makes a price (FIN-033), from whole minor units, in the one order of
FIN-031: lines, discounts, taxes, fee, total. Every step rounds half up by itself. What cannot be a price is refused.

The platform's rule for everything is the weakest, then comes the organisation's for everything, then one for the type
of source, then one for the source (FIN-033). For a type, the organisation's own comes before the platform's; but the
platform's for a type comes before the organisation's for everything. Of those, one for the currency comes before one
for all. A retired version is none.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from admitone.finance.pricing.errors import (
    AbsorbedNotAllowed,
    AmountInvalid,
    CommissionOutOfRange,
    CurrenciesMixed,
    CurrencyUnknown,
    FeePolicyInvalid,
    FeePolicyNeeded,
    FeePolicyNotFound,
    NothingToPrice,
    TaxesExceedPrice,
    TaxNotWithheld,
    TooManyLines,
)
from admitone.finance.pricing.model import (
    Choice,
    FeeBase,
    FeeMode,
    InForce,
    LineItem,
    Policy,
    PolicyChange,
    Promotion,
    Snapshot,
    Target,
    TaxItem,
    Terms,
)
from admitone.finance.pricing.port import Discount
from admitone.finance.sources.api import LARGEST_AMOUNT, SOURCE_TYPES, Flow, SettlementModel, Source, SourceType
from admitone.finance.sources.port import Line, Offer, Tax, TaxBearer
from admitone.kernel.errors import Refusal
from admitone.kernel.money import BASIS_POINTS, AmountTooLarge, Money, currencies

MOST_LINES: Final = 200
DEAREST: Final = 10**12
MOST_OF_A_THING: Final = 10_000
COMMISSION_BPS: Final = (500, 2500)
"""Of stays, whatever is agreed (MOR-022)."""
NEEDED: Final = frozenset({Target(), Target(SourceType.STAY_RESERVATION)})
"""Rules of the platform that can be changed and not retired: what has no other has the first, and without the second a
stay would have that one, which knows no bounds."""
WITHHOLDING: Final = frozenset({Flow.STAY})
"""Where the platform holds the money and can keep a tax out of it: elsewhere nobody would."""


# -- Which rule holds


def targets_of(source: Source, currency: str) -> list[Target]:
    """Whatever could be a rule for it, the strongest first."""
    places: list[tuple[SourceType | None, str | None]] = [(source.type, source.id), (source.type, None), (None, None)]
    return [Target(*place, each) for place in places for each in (currency, None)]


def strongest(targets: Iterable[Target], policies: Mapping[tuple[bool, str], Policy]) -> Policy | None:
    """The first that holds, of the newest versions by whether they are the platform's and the key of their target."""
    levels: dict[tuple[SourceType | None, str | None], list[Target]] = {}
    for target in targets:
        levels.setdefault((target.source_type, target.source_id), []).append(target)
    candidates = (
        policies.get((platforms, target.key))
        for level in levels.values()
        for platforms in (False, True)
        for target in level
    )
    return next((each for each in candidates if each and not each.retired), None)


def in_force(
    source: Source, currency: str, policies: Mapping[tuple[bool, str], Policy], choices: Mapping[str, Choice]
) -> InForce | None:
    """`choices` are the newest by their type of source, those for all under nothing."""
    policy = strongest(targets_of(source, currency), policies)
    if policy is None:
        return None
    choice = _counting(source.type, policy.terms, choices)
    if choice is None or choice.fee_mode is None:
        return InForce(str(policy.id), policy.target.currency, policy.terms, policy.terms.fee_mode)
    return InForce(f"{policy.id}+{choice.id}", policy.target.currency, policy.terms, choice.fee_mode)


def _counting(source_type: SourceType, terms: Terms, choices: Mapping[str, Choice]) -> Choice | None:
    """The organisation's choice, where it is merchant and its policy leaves it the choice."""
    if is_platforms(source_type):
        return None
    chosen = (choices.get(key) for key in (source_type, ""))
    choice = next((each for each in chosen if each and each.fee_mode), None)
    return choice if choice and is_allowed(choice.fee_mode, terms) else None


def is_platforms(source_type: SourceType) -> bool:
    """Whether the platform is the merchant, and so says itself how its price is made."""
    return SOURCE_TYPES[source_type].settlement is SettlementModel.PLATFORM_MOR


def is_allowed(mode: FeeMode | None, terms: Terms) -> bool:
    return mode is not FeeMode.ABSORBED or terms.absorbed_allowed


# -- What cannot be a rule


def why_not_change(change: PolicyChange, before: Policy | None, *, platforms: bool) -> Refusal | None:
    """`before` is the newest version of its target. The tables say the same, for whoever comes another way."""
    target, terms = change.target, change.terms
    if target.source_id is not None and (platforms or target.source_type is None):
        return FeePolicyInvalid(what="sourceId")
    if target.currency is not None and target.currency not in currencies():
        return CurrencyUnknown()
    if terms is not None:
        return _why_not_terms(target, terms)
    if before is None or before.retired:
        return FeePolicyNotFound()
    return FeePolicyNeeded() if platforms and target in NEEDED else None


def _why_not_terms(target: Target, terms: Terms) -> Refusal | None:
    bounds = [("min", terms.min_minor), ("max", terms.max_minor)]
    amounts = [("feeFixed", terms.fee_fixed_minor), *((what, each) for what, each in bounds if each is not None)]
    checks = [("feeBps", terms.fee_bps, 0, BASIS_POINTS), *((what, each, 0, DEAREST) for what, each in amounts)]
    if invalid := _first_invalid(checks):
        return FeePolicyInvalid(what=invalid.what)
    if target.currency is None and (
        terms.fee_fixed_minor or terms.min_minor is not None or terms.max_minor is not None
    ):
        return FeePolicyInvalid(what="currency")
    if terms.min_minor is not None and terms.max_minor is not None and terms.min_minor > terms.max_minor:
        return FeePolicyInvalid(what="min")
    if not is_allowed(terms.fee_mode, terms):
        return AbsorbedNotAllowed()
    return _why_not_commission(target.source_type, terms)


def _why_not_commission(source_type: SourceType | None, terms: Terms) -> Refusal | None:
    least, most = COMMISSION_BPS
    if source_type is SourceType.STAY_RESERVATION and not least <= terms.fee_bps <= most:
        return CommissionOutOfRange(least_bps=least, most_bps=most)
    return None


# -- What cannot be a price


def why_not(offer: Offer) -> Refusal | None:
    """Structs do not look at what they are made of: whatever a vertical said is looked at here, before any sum."""
    if offer.currency not in currencies():
        return CurrencyUnknown()
    if not offer.lines:
        return NothingToPrice()
    if len(offer.lines) > MOST_LINES or len(offer.taxes) > MOST_LINES:
        return TooManyLines(most=MOST_LINES)
    checks = [("discount", offer.discount_minor, 0, LARGEST_AMOUNT)]
    for line in offer.lines:
        checks.append(("unitPrice", line.unit_price_minor, 0, DEAREST))
        checks.append(("quantity", line.quantity, 1, MOST_OF_A_THING))
    checks += [("taxRate", tax.rate_bps, 0, BASIS_POINTS) for tax in offer.taxes]
    return _first_invalid(checks) or _why_not_taxes(offer)


def _why_not_taxes(offer: Offer) -> Refusal | None:
    """A tax that nobody withholds would take the platform's fee away, and be paid to nobody."""
    rates = {bearer: sum(tax.rate_bps for tax in offer.taxes if tax.bearer is bearer) for bearer in TaxBearer}
    if max(rates.values()) > BASIS_POINTS:
        return AmountInvalid(what="taxRate")
    withheld = any(tax.bearer is TaxBearer.OWNER for tax in offer.taxes)
    return TaxNotWithheld() if withheld and SOURCE_TYPES[offer.source.type].flow not in WITHHOLDING else None


def _first_invalid(checks: Iterable[tuple[str, int, int, int]]) -> AmountInvalid | None:
    wrong = (what for what, number, least, most in checks if type(number) is not int or not least <= number <= most)
    return next((AmountInvalid(what=what) for what in wrong), None)


# -- The price


def compute_pricing(offer: Offer, rule: InForce, promised: Sequence[Discount] = ()) -> Snapshot | Refusal:
    """The price of an offer. One that is too large, or made of what is no amount, is refused."""
    amounts = (amount for each in promised for amount in (each.amount_minor, each.value))
    refusal = why_not(offer) or _first_invalid(("promotion", amount, 0, LARGEST_AMOUNT) for amount in amounts)
    if refusal:
        return refusal
    if rule.currency not in (None, offer.currency):
        return CurrenciesMixed()
    if refusal := _why_not_commission(offer.source.type, rule.terms):
        return refusal
    try:
        alike = _priced(
            offer.source.type, offer.currency, offer.lines, offer.taxes, offer.discount_minor, rule, tuple(promised)
        )
    except AmountTooLarge as too_large:
        return too_large
    if max(alike.gross, alike.total) > LARGEST_AMOUNT:
        return AmountTooLarge()
    if alike.withheld_taxes > alike.subtotal:
        return TaxesExceedPrice()
    return msgspec.structs.replace(alike, source_id=offer.source.id)


@lru_cache(maxsize=256)
def _priced(
    source_type: SourceType,
    currency: str,
    lines: tuple[Line, ...],
    taxes_due: tuple[Tax, ...],
    discount_minor: int,
    rule: InForce,
    promised: tuple[Discount, ...],
) -> Snapshot:
    """What all have in common that are sold alike: in a rush thousands are, and it is computed once."""
    manner = SOURCE_TYPES[source_type]
    of_lines = [Money(line.unit_price_minor, currency) * line.quantity for line in lines]
    gross = Money.total(of_lines, currency)
    own = min(Money(discount_minor, currency), gross)
    promotions = _given(promised, gross - own)
    discounts = own + Money(sum(each.amount for each in promotions), currency)
    subtotal = gross - discounts
    taxes = tuple(_taxed(subtotal, tax) for tax in taxes_due)
    on_top = Money(sum(tax.amount for tax in taxes if tax.bearer is TaxBearer.CUSTOMER), currency)
    withheld = Money(sum(tax.amount for tax in taxes if tax.bearer is TaxBearer.OWNER), currency)
    # What the platform sells itself has no fee of the platform.
    rule_fee = Money.zero(currency) if manner.flow is Flow.CAMPAIGN else _fee(subtotal, on_top, rule.terms)
    fee = rule_fee if rule.fee_mode is FeeMode.ADDED else _within(rule_fee, subtotal + on_top - withheld)
    total = subtotal + on_top + (fee if rule.fee_mode is FeeMode.ADDED else Money.zero(currency))
    return Snapshot(
        currency=currency,
        gross=gross.minor,
        discounts=discounts.minor,
        taxes=taxes,
        platform_fee=fee.minor,
        total=total.minor,
        net_to_org_pending=(total - fee).minor,
        fee_mode=rule.fee_mode,
        fee_bps=rule.terms.fee_bps,
        fee_fixed=rule.terms.fee_fixed_minor,
        fee_policy_version=rule.version,
        promo_policy_version="+".join(each.promo_policy_version for each in promotions) or None,
        promotions=promotions,
        source_type=source_type,
        source_id="",
        line_items=_lines(lines, of_lines, discounts, on_top, fee, rule.fee_mode),
        settlement_model=manner.settlement,
        processor_fee_bearer=manner.fee_bearer,
    )


def _given(promised: Sequence[Discount], left: Money) -> tuple[Promotion, ...]:
    """One after another, none more than is left to pay; what gives nothing is not mentioned."""
    given = []
    for each in promised:
        amount = min(Money(each.amount_minor, left.currency), left)
        left = left - amount
        if amount.minor:
            given.append(
                Promotion(
                    amount.minor, each.promo_policy_version, each.code_snapshot, each.label, each.type, each.value
                )
            )
    return tuple(given)


def _taxed(subtotal: Money, tax: Tax) -> TaxItem:
    return TaxItem(tax.name, tax.jurisdiction, tax.rate_bps, tax.bearer, subtotal.share(tax.rate_bps).minor)


def fee_of(price_minor: int, currency: str, terms: Terms) -> int:
    """What a rule takes of a price without taxes, to be shown."""
    price = Money(price_minor, currency)
    fee = _fee(price, Money.zero(currency), terms)
    return (fee if terms.fee_mode is FeeMode.ADDED else _within(fee, price)).minor


def to_pay(price: Money, rule: InForce) -> Money:
    """What a buyer pays for one piece that is bought alone, without taxes and promotions, to be shown."""
    return price + _fee(price, Money.zero(price.currency), rule.terms) if rule.fee_mode is FeeMode.ADDED else price


def _fee(subtotal: Money, on_top: Money, terms: Terms) -> Money:
    """What the rule says, within its own bounds. A free thing costs nothing."""
    currency = subtotal.currency
    if not (subtotal + on_top).minor:
        return Money.zero(currency)
    base = subtotal + on_top if terms.base is FeeBase.SUBTOTAL_PLUS_TAXES else subtotal
    fee = base.share(terms.fee_bps) + Money(terms.fee_fixed_minor, currency)
    if terms.min_minor is not None:
        fee = max(fee, Money(terms.min_minor, currency))
    return fee if terms.max_minor is None else min(fee, Money(terms.max_minor, currency))


def _within(fee: Money, collected: Money) -> Money:
    """A fee that is part of the price takes at most what the withheld taxes leave of it: nobody owes for a sale."""
    return min(fee, max(collected, Money.zero(fee.currency)))


def _lines(
    lines: Sequence[Line], of_lines: Sequence[Money], discounts: Money, on_top: Money, fee: Money, mode: FeeMode
) -> tuple[LineItem, ...]:
    """Each with its part, by the largest remainder: of discounts by its gross, of taxes and fee by what is left."""
    discount_of = _spread(discounts, of_lines)
    net_of = [gross - discount for gross, discount in zip(of_lines, discount_of, strict=True)]
    tax_of, fee_of = _spread(on_top, net_of), _spread(fee, net_of)
    return tuple(
        LineItem(
            key=line.key,
            label=line.label,
            unit_price=line.unit_price_minor,
            quantity=line.quantity,
            gross=gross.minor,
            discount=(gross - net).minor,
            tax=tax.minor,
            fee=part.minor,
            total=(net + tax + part if mode is FeeMode.ADDED else net + tax).minor,
        )
        for line, gross, net, tax, part in zip(lines, of_lines, net_of, tax_of, fee_of, strict=True)
    )


def _spread(amount: Money, over: Sequence[Money]) -> list[Money]:
    """Where nothing can be weighed there is nothing to spread, either."""
    return amount.allocate([each.minor for each in over]) if amount.minor else [amount] * len(over)
