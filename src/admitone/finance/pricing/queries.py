"""Prices, for many offers at once, and the rules that make them."""

from collections.abc import Sequence

from admitone.finance.pricing import store
from admitone.finance.pricing.errors import FeeUnknown
from admitone.finance.pricing.model import InForce, Priced, Target
from admitone.finance.pricing.policy import compute_pricing, in_force, targets_of, why_not
from admitone.finance.pricing.port import PROMOTIONS, Discount
from admitone.finance.sources.api import Source, SourceType
from admitone.finance.sources.port import Offer, Wanted
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal


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
    prices = iter([_price(offer, newest, each) for (_, offer), each in zip(sound, promised, strict=True)])
    return [refusal or next(prices) for refusal in refusals]


def _price(offer: Offer, newest: store.Newest, promised: Sequence[Discount]) -> Priced | Refusal:
    rule = in_force(offer.source, offer.currency, newest.policies, newest.choices)
    if rule is None:
        return FeeUnknown()
    snapshot = compute_pricing(offer, rule, promised)
    return snapshot if isinstance(snapshot, Refusal) else Priced.of(snapshot)


async def rules_in_force(tx: Tx, currency: str) -> dict[SourceType, InForce]:
    """By what each type of source is charged in a currency, unless a source has a rule of its own."""
    # No source is called nothing, so no rule of one is found.
    sources = [Source(source_type, "") for source_type in SourceType]
    targets: list[Target] = [target for source in sources for target in targets_of(source, currency)]
    newest = await store.find_newest(tx, targets, SourceType)
    found = {source.type: in_force(source, currency, newest.policies, newest.choices) for source in sources}
    return {source_type: rule for source_type, rule in found.items() if rule}
