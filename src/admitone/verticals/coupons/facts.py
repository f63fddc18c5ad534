"""What became of campaigns, for whoever watches. Nobody is named.

That a token was redeemed is its own row: nobody hears of each, and to tell it would cost as much as to take it.
"""

from datetime import datetime
from typing import Final

from admitone.finance.sources.api import PaymentId
from admitone.kernel.facts import Fact
from admitone.verticals.coupons.model import CampaignId


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
    """So many weeks of it are over, and so much of it is the platform's income by now: less than before, when money
    went back."""

    name = "campaign.earned"

    weeks: int
    earned_minor: int
    currency: str


FACTS: Final[tuple[type[Fact], ...]] = (
    CampaignCreated,
    CampaignActivated,
    CampaignEnded,
    CampaignEarned,
)
