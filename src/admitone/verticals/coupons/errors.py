"""Why coupons refuse. Of a token that is refused for several reasons, the first of these is said (U-54): it never was,
it is another's, it was redeemed, its campaign is not active, its time is over."""

from datetime import datetime

from admitone.kernel.errors import Conflict, Forbidden, Gone, Invalid, NotFound, PaymentRequired


class CampaignNotFound(NotFound):
    """There is no such campaign."""

    code = "CAMPAIGN_NOT_FOUND"


class CurrencyNotOffered(Invalid):
    """Campaigns are not sold in this currency."""

    code = "CURRENCY_NOT_OFFERED"


class CampaignCostsOtherwise(Invalid):
    """This is not what the campaign costs."""

    code = "CAMPAIGN_COSTS_OTHERWISE"
    cost_minor: int
    currency: str


class MerchantsMakeNoTokens(Forbidden):
    """Whoever takes the coupons of a campaign cannot have any of it."""

    code = "CONSUMERS_ONLY"


class TokenNotFound(NotFound):
    """There is no such coupon."""

    code = "COUPON_NOT_FOUND"


class TokenOfAnother(Forbidden):
    """This coupon is for another merchant."""

    code = "COUPON_OF_ANOTHER_MERCHANT"


class TokenRedeemed(Conflict):
    """This coupon was redeemed before."""

    code = "COUPON_REDEEMED"
    redeemed_at: datetime


class CampaignNotActive(PaymentRequired):
    """This campaign is not active."""

    code = "CAMPAIGN_NOT_ACTIVE"


class TokenExpired(Gone):
    """This coupon is over."""

    code = "COUPON_EXPIRED"
    next_step = "Ask for another coupon."
    expired_at: datetime
