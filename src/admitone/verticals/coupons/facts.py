"""What became of campaigns, for whoever watches. Nobody is named."""

from datetime import datetime
from typing import Final

from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact
from admitone.verticals.coupons.model import CampaignId, TokenId


class CampaignFact(Fact, frozen=True):
    """What all of them tell."""

    name = "campaign.told"
    version = "1.0.0"
    subject = ("CAMPAIGN", "campaign_id")

    campaign_id: CampaignId


class CampaignCreated(CampaignFact, frozen=True):
    """It waits for its money."""

    name = "campaign.created"

    cost_minor: int
    currency: str


class CampaignActivated(CampaignFact, frozen=True):
    name = "campaign.activated"

    payment_id: PaymentId
    ends_at: datetime


class CampaignEnded(CampaignFact, frozen=True):
    name = "campaign.ended"

    reason: str
    redeemed: int


class CampaignEarned(CampaignFact, frozen=True):
    """So many weeks of it are the platform's income by now."""

    name = "campaign.earned"

    weeks: int
    earned_minor: int
    currency: str


class CouponRedeemed(CampaignFact, frozen=True):
    name = "coupon.redeemed"

    token_id: TokenId


FACTS: Final[tuple[type[Fact], ...]] = (
    CampaignCreated,
    CampaignActivated,
    CampaignEnded,
    CampaignEarned,
    CouponRedeemed,
)
