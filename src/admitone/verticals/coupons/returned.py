"""Campaigns whose money went back, all of it or in part.

Promise (CPN-063): no campaign runs for nothing. What was refunded whole, or lost in a dispute, ends; what is only
disputed, or refunded in part, goes on. What went back is no income any more.
"""

from collections.abc import Sequence
from typing import Any, Final

from admitone.finance.payments.facts import ChargebackLost, PaymentFact, PaymentPartlyRefunded, PaymentRefunded
from admitone.finance.sources.api import SourceType
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Kind, Subscription
from admitone.verticals.coupons.commands.returning import Returned, follow_returned
from admitone.verticals.coupons.model import campaign_id_of

HEARD: Final[tuple[type[PaymentFact], ...]] = (PaymentRefunded, PaymentPartlyRefunded, ChargebackLost)


def _hears(fact: type[PaymentFact]) -> Kind[Any]:
    async def hear(tx: Tx, told: Sequence[Delivered[Any]]) -> None:
        await follow_returned(
            tx,
            [
                Returned(each.caller, own, each.payload.payment_id)
                for each in told
                if each.payload.source_type == SourceType.COUPON_CAMPAIGN
                and (own := campaign_id_of(each.payload.source_id))
            ],
        )

    return Kind(f"coupons.{fact.name.replace('.', '_')}", fact, hear, outside=False)


SUBSCRIPTIONS: Final = tuple(Subscription(fact, _hears(fact)) for fact in HEARD)
JOBS: Final = tuple(each.kind for each in SUBSCRIPTIONS)
