"""What time does to campaigns: their weeks are earned, and their days end.

Promise (C1, CPN-002, CPN-004): a week's fee becomes income when the week is over, and what is left when the campaign
is; never more than is deferred of its own payment, each week once for ever. Nothing is charged again. Payments are held
before campaigns, as everywhere.
"""

from collections.abc import Sequence

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account, Event, Posting
from admitone.finance.payments import api as payments
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller
from admitone.verticals.coupons.facts import CampaignEarned, CampaignEnded
from admitone.verticals.coupons.model import Campaign, CampaignId, CampaignState
from admitone.verticals.coupons.policy import earnings, next_due, weeks_earned, why_ended
from admitone.verticals.coupons.store import campaigns as store


class About(msgspec.Struct, frozen=True):
    payment: PaymentId


async def see_to(tx: Tx, ids: Sequence[CampaignId], caller: Caller) -> None:
    """Bring each up to this instant; what was seen to before is left alone."""
    found = await store.find_campaigns(tx, ids)
    paid = [each.payment_id for each in found.values() if each.payment_id]
    await payments.lock_payments(tx, [About(own) for own in paid])
    held = await store.lock_campaigns(tx, [*found], lambda each: each)
    books = await ledger.accounts_of(tx, paid) if paid else {}
    before, after = list[Campaign](), list[Campaign]()
    postings: list[Posting] = []
    for each in held.values():
        assert each.payment_id is not None
        deferred = books.get((each.payment_id, each.currency), {}).get(Account.DEF, 0)
        ended = _ended(tx, each)
        weeks = weeks_earned(ended, tx.now)
        amounts = earnings(each, weeks, deferred)
        became = msgspec.structs.replace(ended, earned_weeks=weeks, earned_minor=each.earned_minor + sum(amounts))
        became = msgspec.structs.replace(became, due_at=next_due(became))
        if became == each:
            continue
        before.append(each)
        after.append(became)
        postings += [_posting(each, each.earned_weeks + at, minor, caller) for at, minor in enumerate(amounts, 1)]
        tell(tx, caller, each, became)
    if postings:
        await ledger.post(tx, postings)
    await store.see_to(tx, before, after)


def _ended(tx: Tx, campaign: Campaign) -> Campaign:
    ended_for = why_ended(campaign, tx.now)
    if ended_for is None:
        return campaign
    return msgspec.structs.replace(campaign, state=CampaignState.ENDED, ended_at=tx.now, ended_for=ended_for)


def _posting(campaign: Campaign, week: int, minor: int, caller: Caller) -> Posting:
    return Posting(
        caller=caller,
        event=Event.CAMPAIGN_EARNED,
        flow=Flow.CAMPAIGN,
        currency=campaign.currency,
        amounts={"earned": minor},
        cause=f"earned:{campaign.id}:{week}",
        payment=campaign.payment_id,
        source=campaign.source,
        metadata={"week": week, "weeks": campaign.weeks},
    )


def tell(tx: Tx, caller: Caller, before: Campaign, after: Campaign) -> None:
    """That it ended, and how much of it is income now."""
    if after.state is not before.state:
        assert after.ended_for is not None
        told = CampaignEnded(campaign_id=after.id, reason=after.ended_for.value, redeemed=after.redeemed)
        tx.publish(caller, told)
    if (after.earned_weeks, after.earned_minor) != (before.earned_weeks, before.earned_minor):
        earned = CampaignEarned(
            campaign_id=after.id, weeks=after.earned_weeks, earned_minor=after.earned_minor, currency=after.currency
        )
        tx.publish(caller, earned)
