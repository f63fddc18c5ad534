"""Making campaigns: what is to be paid.

Promise (CPN-004, CPN-007, CPN-063): what it costs is computed here, from the price list; it is paid before or not at
all. A key makes one campaign of an organisation for ever; repeated, it shows how to pay while that can be, and begins
to pay anew when the last try came to nothing.
"""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from admitone.finance.gateways.api import Method
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import OPEN, Checkout, Payment
from admitone.finance.sources.api import SourceType
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.contracts.wire import to_canonical
from admitone.kernel.db import Overtaken, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.idempotency import KeyReused
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from admitone.verticals.coupons.errors import CampaignCostsOtherwise, CurrencyNotOffered
from admitone.verticals.coupons.facts import CampaignCreated
from admitone.verticals.coupons.model import (
    PAYABLE_FOR,
    WATCHED_FOR,
    WEEKLY_FEES_MINOR,
    Campaign,
    CampaignId,
    CampaignState,
)
from admitone.verticals.coupons.policy import weeks_of
from admitone.verticals.coupons.store import campaigns as store


class Creating(msgspec.Struct, frozen=True):
    caller: Caller
    created_by: IdentityId
    name: str
    days: int
    redemption_limit: int
    currency: str
    key: str
    method: Method
    cost_minor: int | None = None
    """What whoever asks was told that it costs."""
    return_url: str | None = None

    @property
    def hash(self) -> bytes:
        """What must be the same when the key comes again; how it is paid may change."""
        asked = (self.created_by, self.name, self.days, self.redemption_limit, self.currency)
        return hashlib.sha256(to_canonical(asked)).digest()


class Created(msgspec.Struct, frozen=True):
    """A campaign, and under which key it is paid next."""

    campaign: Campaign
    checkout: Checkout


@command()
async def create(tx: Tx, asked: Sequence[Creating]) -> list[Created | Refusal]:
    placed = await _place(tx, asked)
    tried = await payments.find_of_sources(
        tx, SourceType.COUPON_CAMPAIGN, {str(each.id) for each in placed if isinstance(each, Campaign)}
    )
    return [
        campaign if isinstance(campaign, Refusal) else Created(campaign, _checkout(each, campaign, tried))
        for each, campaign in zip(asked, placed, strict=True)
    ]


async def _place(tx: Tx, asked: Sequence[Creating]) -> list[Campaign | Refusal]:
    """Each key once, whoever asks at once."""
    refused = {each.key: why for each in reversed(asked) if (why := _why_not(each))}
    sound = [each for each in asked if each.key not in refused]
    fresh = {each.key: _campaign(tx, each) for each in reversed(sound)}
    new = await store.insert_campaigns(tx, [*fresh.values()])
    known = await store.find_by_keys(tx, [key for key, each in fresh.items() if each.id not in new])
    if len(known) + len(new) != len(fresh):
        raise Overtaken  # Another made one under the same key this instant.
    made = [each for each in fresh.values() if each.id in new]
    callers = {each.key: each.caller for each in reversed(sound)}
    await audit.record(tx, [audit.Entry(callers[each.key], "coupons.create_campaign", str(each.id)) for each in made])
    for each in made:
        told = CampaignCreated(campaign_id=each.id, cost_minor=each.cost_minor, currency=each.currency)
        tx.publish(callers[each.key], told)
    standing = fresh | known
    return [refused.get(each.key) or _same(each, standing[each.key]) for each in asked]


def _same(asked: Creating, campaign: Campaign) -> Campaign | Refusal:
    return campaign if campaign.request_hash == asked.hash else KeyReused()


def _why_not(asked: Creating) -> Refusal | None:
    fee = WEEKLY_FEES_MINOR.get(asked.currency)
    if fee is None:
        return CurrencyNotOffered()
    cost = fee * weeks_of(asked.days)
    if asked.cost_minor not in (None, cost):
        return CampaignCostsOtherwise(cost_minor=cost, currency=asked.currency)
    return None


def _campaign(tx: Tx, asked: Creating) -> Campaign:
    weeks, fee = weeks_of(asked.days), WEEKLY_FEES_MINOR[asked.currency]
    return Campaign(
        organization=tx.scope.organization,
        id=CampaignId.new(),
        name=asked.name,
        days=asked.days,
        weeks=weeks,
        weekly_fee_minor=fee,
        cost_minor=fee * weeks,
        currency=asked.currency,
        redemption_limit=asked.redemption_limit,
        redeemed=0,
        state=CampaignState.PENDING_PAYMENT,
        created_by=asked.created_by,
        key=asked.key,
        request_hash=asked.hash,
        payment_id=None,
        created_at=tx.now,
        activated_at=None,
        ends_at=None,
        ended_at=None,
        ended_for=None,
        earned_weeks=0,
        earned_minor=0,
        due_at=None,
        watched_until=tx.now + PAYABLE_FOR + WATCHED_FOR,
    )


def _checkout(asked: Creating, campaign: Campaign, tried: Mapping[str, Sequence[Payment]]) -> Checkout:
    return Checkout(
        caller=asked.caller,
        source=campaign.source,
        method=asked.method,
        idempotency_key=_key(campaign, tried.get(str(campaign.id), ())),
        buyer=campaign.created_by,
        return_url=asked.return_url,
    )


def _key(campaign: Campaign, tried: Sequence[Payment]) -> str:
    """The campaign's own, so that whoever repeats it begins the same; a try that came to nothing has used its key up,
    and the next one's follows from the latest of these, however many there were."""
    own = f"campaign:{campaign.id}:"
    live = [each for each in tried if each.status in OPEN and each.idempotency_key.startswith(own)]
    over = [each for each in tried if each.status not in OPEN and not each.applied]
    if live:
        return live[-1].idempotency_key
    return f"{own}{over[-1].id}" if over else f"{own}0"
