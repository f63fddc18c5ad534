"""Campaigns, as finance sees them: what one costs, and for whom (FIN-017)."""

from collections.abc import Sequence

from admitone.finance.payments.api import SourceNotSold
from admitone.finance.sources.port import Keeping, Line, Offer, Wanted
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.verticals.coupons.model import PAYABLE_FOR, Campaign, CampaignState, campaign_id_of
from admitone.verticals.coupons.store import campaigns as store


class CampaignShop:
    """Offers campaigns that wait for their money, to whoever made them, for a month."""

    async def offer(self, tx: Tx, wanted: Sequence[Wanted]) -> Sequence[Offer | Refusal]:
        ids = [campaign_id_of(each.source.id) for each in wanted]
        known = await store.find_campaigns(tx, {own for own in ids if own})
        return [_offer(each, known.get(own) if own else None) for each, own in zip(wanted, ids, strict=True)]

    async def keep(self, tx: Tx, keepings: Sequence[Keeping]) -> Sequence[Refusal | None]:  # noqa: ARG002
        """There is nothing that somebody else could take."""
        return [None for _ in keepings]


def _offer(wanted: Wanted, campaign: Campaign | None) -> Offer | Refusal:
    if campaign is None or campaign.state is not CampaignState.PENDING_PAYMENT:
        return SourceNotSold()
    return Offer(
        source=wanted.source,
        buyer=campaign.created_by,
        currency=campaign.currency,
        lines=(Line("week", campaign.name, campaign.weekly_fee_minor, campaign.weeks),),
        expires_at=campaign.created_at + PAYABLE_FOR,
        description=campaign.name,
    )
