"""The row of coupons in the one table of kinds of codes (U-52 to U-54).

Promise: how long a token lives, that it is good for one use, that merchants take it and no device without a network
does, how often and after how many failures, stands here and nowhere else.
"""

from datetime import timedelta
from typing import Final

from admitone.entitlements.api import Audience, TokenKind
from admitone.kernel import figures

COUPON: Final = TokenKind(
    "coupon",
    life=timedelta(seconds=300),
    overlap=timedelta(0),
    audience=Audience.MERCHANT,
    offline=False,
    single_use=True,
    limits=(figures.VALIDATIONS_PER_MERCHANT,),
    streaks=(figures.COUPON_FAILURES,),
)
