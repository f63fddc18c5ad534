"""Whether the money that came and the campaigns that are active agree.

Promise (CPN-050, U-51): every campaign is held against its payments and the ledger, again and again; what differs
stands on the campaign and is told for as long as it does. Nothing is put right here: no comparison activates anything.
"""

from collections.abc import Sequence

from admitone.finance.ledger import api as ledger
from admitone.finance.payments import api as payments
from admitone.finance.sources.api import SourceType
from admitone.kernel.db import Tx
from admitone.verticals.coupons.model import CampaignId
from admitone.verticals.coupons.policy import divergence_of
from admitone.verticals.coupons.store import campaigns as store


async def compare(tx: Tx, ids: Sequence[CampaignId]) -> None:
    found = await store.find_campaigns(tx, ids)
    tried = await payments.find_of_sources(tx, SourceType.COUPON_CAMPAIGN, {str(own) for own in found})
    paid = [each.payment_id for each in found.values() if each.payment_id]
    books = await ledger.accounts_of(tx, paid) if paid else {}
    said = {
        own: divergence_of(
            each, tried[str(own)], books.get((each.payment_id, each.currency), {}) if each.payment_id else {}, tx.now
        )
        for own, each in found.items()
    }
    changed = {own: each for own, each in said.items() if each is not found[own].divergence}
    await store.lock_campaigns(tx, [*changed], lambda own: own)  # In the one order, before they are written.
    await store.mark_diverged(tx, changed)
