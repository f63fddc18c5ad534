"""All that is public of coupons: campaigns, tokens, validations. The webhook is the platform's own (CPN-064)."""

from typing import Final

from admitone.kernel import figures
from admitone.verticals.coupons.routes import campaigns, tokens, validations

CONTRACTS: Final = (campaigns.make_campaign, tokens.make_token, validations.validate)
PERMISSIONS: Final = (campaigns.CAMPAIGNS_RW, validations.COUPONS_RW)
LIMITS: Final = (
    campaigns.CAMPAIGNS_PER_ORGANIZATION,
    figures.CHECKOUT_PER_ADDRESS,
    figures.COUPONS_PER_IDENTITY,
    figures.VALIDATIONS_PER_MERCHANT,
)
