"""What somebody is told about coupons: money and campaigns that differ, validations that are slow or fail.

Promise (CPN-050 to CPN-052): the share of campaigns that differ from their money is shown, and its target is nothing;
each that does is told for as long as it does. Validations promise 95 in 100 within 200 ms, and 999 in 1000 answered:
who fails much is told of within the hour, who fails a little within days.
"""

from typing import Final

from admitone.kernel.alerts import (
    Above,
    AlertClass,
    AlertRule,
    Gauged,
    Level,
    Pace,
    Reading,
    ShareAbove,
    Sight,
    Sighting,
    Uptime,
)
from admitone.kernel.db import PlatformTx
from admitone.verticals.coupons.model import CampaignState
from admitone.verticals.coupons.store.sweeping import Diverged, count_watched, list_diverged

VALIDATE: Final = "CPN.VALIDATE"
OWNER: Final = "finance operations"
MOST_DIVERGED: Final = 1_000

DIVERGED: Final = AlertRule(
    "coupons.diverged",
    AlertClass.PAGER,
    Above(0),
    OWNER,
    "coupons-diverged",
    "A campaign and its money differ: paid and not active, active and not paid, or not what the ledger says.",
)
SLOW: Final = AlertRule(
    "coupons.slow",
    AlertClass.TICKET,
    ShareAbove(5, seconds=600, beyond=0.2, fewest=20),
    "event operations",
    "slow-checkin",
    "One validation in twenty took longer than 200 ms within ten minutes: people wait at a till.",
)
FAILING: Final = AlertRule(
    "coupons.failing",
    AlertClass.PAGER,
    ShareAbove(1.44, seconds=3_600, fewest=100),
    "event operations",
    "api-errors",
    "Validations fail so often that what 99.90 % of thirty days allows would be used up within two.",
)
WEARING: Final = AlertRule(
    "coupons.wearing",
    AlertClass.TICKET,
    ShareAbove(0.1, seconds=259_200, fewest=1_000),
    "event operations",
    "api-errors",
    "More validations fail than 99.90 % allows, for three days together: after thirty such days the promise is broken.",
)
RULES: Final = (DIVERGED, SLOW, FAILING, WEARING)
PACES: Final = (Pace(VALIDATE, SLOW), Uptime(VALIDATE, FAILING), Uptime(VALIDATE, WEARING))

SHARE: Final = Gauged(
    "admitone_coupon_divergence_percent",
    "Of the campaigns that were paid or wait for it, those that differ from their money; the target is 0.",
    ("divergence",),
)
CAMPAIGNS: Final = Gauged("admitone_coupon_campaigns", "Campaigns that are compared with their money.", ("state",))


async def look(tx: PlatformTx) -> Sighting:
    counts = await count_watched(tx)
    diverged = await list_diverged(tx, MOST_DIVERGED)
    every = max(sum(counts.values()), 1)
    shares = {"ALL": 100 * len(diverged) / every}
    for each in diverged:
        shares[each.divergence.value] = shares.get(each.divergence.value, 0) + 100 / every
    return Sighting(
        [_reading(tx, each) for each in diverged],
        {
            SHARE: {(kind,): share for kind, share in shares.items()},
            CAMPAIGNS: {(state.value,): float(counts.get(state, 0)) for state in CampaignState},
        },
    )


def _reading(tx: PlatformTx, each: Diverged) -> Reading:
    detail = f"{each.divergence.value}: the campaign is {each.state.value}"
    return Reading(DIVERGED, str(each.id), [Level(tx.now, 1)], detail, {"campaignId": str(each.id)}, each.organization)


MONEY: Final = Sight("coupons.money", look, (DIVERGED,), (SHARE, CAMPAIGNS))
