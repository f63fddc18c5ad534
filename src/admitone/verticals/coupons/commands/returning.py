"""What becomes of campaigns whose money goes back.

Promise (CPN-050, CPN-063): no campaign runs for nothing: what went back whole ends. What went back was no income: as
much of it as was not deferred any more is taken from what was earned, so that deferred revenue is never below nothing.
Whoever tells it how often, it is done once. Payments are held before campaigns, as everywhere.
"""

from collections.abc import Sequence

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.ledger.api import Account, Event, Posting
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller
from admitone.verticals.coupons.commands.earning import tell
from admitone.verticals.coupons.model import Campaign, CampaignId, CampaignState, EndedFor
from admitone.verticals.coupons.policy import is_reversed, unearned
from admitone.verticals.coupons.store import campaigns as store


class Returned(msgspec.Struct, frozen=True):
    """Money of a campaign went back."""

    caller: Caller
    campaign: CampaignId
    payment: PaymentId


async def follow_returned(tx: Tx, told: Sequence[Returned]) -> None:
    """Bring each to where its payment and the ledger stand now."""
    paid = await payments.lock_payments(tx, told) if told else {}
    held = await store.lock_campaigns(tx, told, lambda each: each.campaign)
    books = await ledger.accounts_of(tx, [*paid]) if paid else {}
    own = {each.campaign: each for each in told if each.campaign in held and _is_its(held[each.campaign], each)}
    before, after = list[Campaign](), list[Campaign]()
    postings: list[Posting] = []
    for each in own.values():
        campaign, payment = held[each.campaign], paid[each.payment]
        minor = unearned(campaign, books.get((payment.id, campaign.currency), {}).get(Account.DEF, 0))
        became = msgspec.structs.replace(_ended(tx, campaign, payment), earned_minor=campaign.earned_minor - minor)
        if became == campaign:
            continue
        before.append(campaign)
        after.append(became)
        postings += [_posting(campaign, payment, minor, each.caller)] if minor else []
        tell(tx, each.caller, campaign, became)
    if postings:
        await ledger.post(tx, postings)
    await store.see_to(tx, before, after)


def _is_its(campaign: Campaign, told: Returned) -> bool:
    """Not what came besides."""
    return campaign.payment_id == told.payment


def _ended(tx: Tx, campaign: Campaign, payment: Payment) -> Campaign:
    if campaign.state is not CampaignState.ACTIVE or not is_reversed(payment):
        return campaign
    return msgspec.structs.replace(
        campaign, state=CampaignState.ENDED, ended_at=tx.now, ended_for=EndedFor.REVERSED, due_at=None
    )


def _posting(campaign: Campaign, payment: Payment, minor: int, caller: Caller) -> Posting:
    """Once for each state of the payment: nothing is booked for it without another version."""
    return Posting(
        caller=caller,
        event=Event.CAMPAIGN_UNEARNED,
        flow=Flow.CAMPAIGN,
        currency=campaign.currency,
        amounts={"unearned": minor},
        cause=f"unearned:{campaign.id}:{payment.version}",
        payment=payment.id,
        source=campaign.source,
    )
