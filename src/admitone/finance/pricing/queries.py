"""Prices, for many offers at once, and the rules that make them."""

from collections.abc import Collection, Sequence

from admitone.finance.pricing import store
from admitone.finance.pricing.errors import FeeUnknown
from admitone.finance.pricing.model import InForce, Priced
from admitone.finance.pricing.policy import compute_pricing, in_force, targets_of, to_pay, why_not
from admitone.finance.pricing.port import PROMOTIONS, Discount
from admitone.finance.sources.api import Source, SourceType
from admitone.finance.sources.port import Offer, Wanted
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.money import Money

OfType = tuple[SourceType, str]
"""A type of source, and a currency."""


async def price(tx: Tx, wanted: Sequence[Wanted], offers: Sequence[Offer]) -> list[Priced | Refusal]:
    """What each costs now, by the rules of now, or why it has no price. Nothing is kept: whoever begins a payment keeps
    the text and the hash, and asks no rule again (FIN-035)."""
    pairs = list(zip(wanted, offers, strict=True))
    assert all(each.source == offer.source for each, offer in pairs), "an offer is for what was wanted"
    refusals = [why_not(offer) for offer in offers]
    sound = [pair for pair, refusal in zip(pairs, refusals, strict=True) if refusal is None]
    if not sound:
        return [refusal for refusal in refusals if refusal]
    newest = await store.find_newest(
        tx,
        [target for _, offer in sound for target in targets_of(offer.source, offer.currency)],
        [offer.source.type for _, offer in sound],
    )
    promised = await PROMOTIONS().discounts(tx, sound)
    fair = [offer for _, offer in sound]
    prices = iter([_price(*each) for each in zip(fair, _rules_of(fair, newest), promised, strict=True)])
    return [refusal or next(prices) for refusal in refusals]


def _rules_of(offers: Sequence[Offer], newest: store.Newest) -> list[InForce | None]:
    """The rule of each: few have one of their own, so that of their type is found once for all the others."""
    of_types = _of_types({(offer.source.type, offer.currency) for offer in offers}, newest)
    own = newest.sources
    return [
        in_force(offer.source, offer.currency, newest.policies, newest.choices)
        if offer.source.id in own
        else of_types[offer.source.type, offer.currency]
        for offer in offers
    ]


def _of_types(wanted: Collection[OfType], newest: store.Newest) -> dict[OfType, InForce | None]:
    """What holds for whatever has no rule of its own: no source is called nothing, so no rule of one is found."""
    return {
        (source_type, currency): in_force(Source(source_type, ""), currency, newest.policies, newest.choices)
        for source_type, currency in wanted
    }


def _price(offer: Offer, rule: InForce | None, promised: Sequence[Discount]) -> Priced | Refusal:
    if rule is None:
        return FeeUnknown()
    snapshot = compute_pricing(offer, rule, promised)
    return snapshot if isinstance(snapshot, Refusal) else Priced.of(snapshot)


async def rules_in_force(tx: Tx, currency: str) -> dict[SourceType, InForce]:
    """By what each type of source is charged in a currency, unless a source has a rule of its own."""
    found = await _rules(tx, [(source_type, currency) for source_type in SourceType])
    return {source_type: rule for (source_type, _), rule in found.items()}


async def find_to_pay(tx: Tx, source_type: SourceType, prices: Collection[Money]) -> dict[Money, Money]:
    """What a buyer pays now for one piece of each price, bought alone, to be shown: not for one that has no rule.
    Nothing costs nothing, and nobody is asked about it."""
    dear = {each.currency for each in prices if each.minor}
    rules = await _rules(tx, [(source_type, currency) for currency in sorted(dear)]) if dear else {}
    found = {each: rules.get((source_type, each.currency)) for each in prices}
    return {each: to_pay(each, rule) if rule else each for each, rule in found.items() if rule or not each.minor}


async def _rules(tx: Tx, wanted: Collection[OfType]) -> dict[OfType, InForce]:
    targets = [target for source_type, currency in wanted for target in targets_of(Source(source_type, ""), currency)]
    newest = await store.find_newest(tx, targets, {source_type for source_type, _ in wanted})
    return {pair: rule for pair, rule in _of_types(wanted, newest).items() if rule}
