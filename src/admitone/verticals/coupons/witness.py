"""What a bank is told of a campaign that somebody disputes: from when until when it ran, how often it was redeemed.

Promise (FIN-075): it is what our own rows say, and names nobody.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from admitone.finance.sources.api import Source
from admitone.kernel.db import Tx
from admitone.verticals.coupons.model import Campaign, campaign_id_of
from admitone.verticals.coupons.store import campaigns as store

REFUND_POLICY: Final = (
    "A campaign is paid in advance, week by week. Weeks that have begun are not refunded, nor is a campaign that ended "
    "early because it was redeemed as often as agreed."
)


class CampaignWitness:
    async def testify(self, tx: Tx, sources: Sequence[Source]) -> Sequence[Mapping[str, str]]:
        ids = [campaign_id_of(each.id) for each in sources]
        known = await store.find_campaigns(tx, {own for own in ids if own})
        return [_testimony(known.get(own) if own else None) for own in ids]


def _testimony(campaign: Campaign | None) -> dict[str, str]:
    if campaign is None or campaign.activated_at is None or campaign.ends_at is None:
        return {}
    until = campaign.ended_at or campaign.ends_at
    return {
        "service_date": campaign.activated_at.date().isoformat(),
        "refund_policy": REFUND_POLICY,
        "access_activity_log": (
            f"Active from {campaign.activated_at:%Y-%m-%d %H:%M} UTC until {until:%Y-%m-%d %H:%M} UTC, "
            f"{campaign.redeemed} of at most {campaign.redemption_limit} coupons were redeemed."
        ),
    }
