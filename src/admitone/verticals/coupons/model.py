"""Campaigns and tokens: what they are made of."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel.ids import Id, IdentityId, InvalidId, OrganizationId
from admitone.kernel.states import Lifecycle


class CampaignId(Id, prefix="cmp"):
    """One campaign."""


class TokenId(Id, prefix="cpt"):
    """One token; it is in no QR."""


class CampaignState(StrEnum):
    PENDING_PAYMENT = "PENDING_PAYMENT"
    ACTIVE = "ACTIVE"
    ENDED = "ENDED"


CAMPAIGN: Final = Lifecycle(
    "campaign",
    initial=CampaignState.PENDING_PAYMENT,
    moves={
        CampaignState.PENDING_PAYMENT: (CampaignState.ACTIVE,),
        CampaignState.ACTIVE: (CampaignState.ENDED,),
    },
)


class EndedFor(StrEnum):
    OVER = "OVER"
    """Its days are over."""
    EXHAUSTED = "EXHAUSTED"
    """It was redeemed as often as it may be."""
    REVERSED = "REVERSED"
    """All of its money went back: no campaign is free (CPN-063)."""


class Divergence(StrEnum):
    """How a campaign and its money differ (CPN-050)."""

    PAID_NOT_ACTIVE = "PAID_NOT_ACTIVE"
    ACTIVE_NOT_PAID = "ACTIVE_NOT_PAID"
    BOOKS_DIFFER = "BOOKS_DIFFER"


class TokenStatus(StrEnum):
    GENERATED = "GENERATED"
    REDEEMED = "REDEEMED"
    EXPIRED = "EXPIRED"
    """Its time was over when the next one was made. Before that, its time alone says so."""


TOKEN: Final = Lifecycle(
    "coupon_token",
    initial=TokenStatus.GENERATED,
    moves={TokenStatus.GENERATED: (TokenStatus.REDEEMED, TokenStatus.EXPIRED)},
)

WEEKLY_FEES_MINOR: Final = {"EUR": 4_900, "BRL": 9_900}
"""The price list: what a week costs, in advance. A campaign keeps the price that it was made at. Changing one is
changing a policy."""
FEWEST_DAYS: Final = 15
MOST_DAYS: Final = 364
WEEK: Final = timedelta(hours=168)
"""Elapsed hours, whatever the clocks on a wall do that night."""
PAYABLE_FOR: Final = timedelta(days=30)
"""For how long a campaign that nobody paid can be paid."""
WATCHED_FOR: Final = timedelta(days=120)
"""For how long after its end a campaign is compared with its money: disputes come late."""


class Campaign(msgspec.Struct, frozen=True):
    organization: OrganizationId
    id: CampaignId
    name: str
    days: int
    weeks: int
    weekly_fee_minor: int
    cost_minor: int
    currency: str
    redemption_limit: int
    redeemed: int
    state: CampaignState
    created_by: IdentityId
    key: str
    request_hash: bytes
    payment_id: PaymentId | None
    created_at: datetime
    activated_at: datetime | None
    ends_at: datetime | None
    ended_at: datetime | None
    ended_for: EndedFor | None
    earned_weeks: int
    earned_minor: int
    due_at: datetime | None
    watched_until: datetime
    divergence: Divergence | None = None

    @property
    def source(self) -> Source:
        return Source(SourceType.COUPON_CAMPAIGN, str(self.id))


class Token(msgspec.Struct, frozen=True):
    """As it is kept: nobody gets back from the digest to what the QR says."""

    id: TokenId
    campaign: CampaignId
    holder: IdentityId
    digest: bytes
    key_version: int
    status: TokenStatus
    created_at: datetime
    expires_at: datetime
    redeemed_at: datetime | None = None


class Whose(msgspec.Struct, frozen=True, order=True):
    """Of one person, in one campaign."""

    campaign: UUID
    holder: UUID


def campaign_id_of(source: str) -> CampaignId | None:
    """As finance calls it."""
    try:
        return CampaignId.parse(source)
    except InvalidId:
        return None
