"""What a campaign costs, whether it is active, whether a token is good, what is earned, what differs: pure decisions.

Promise: each of these is decided here and nowhere else, by the database's clock. The statements repeat what was decided
in their WHERE, so that a bug above can refuse but never give.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from admitone.finance.ledger.api import Account
from admitone.finance.payments.api import PAID, Payment, RefundState, Status
from admitone.kernel.errors import Refusal
from admitone.verticals.coupons.errors import (
    CampaignNotActive,
    TokenExpired,
    TokenNotFound,
    TokenOfAnother,
    TokenRedeemed,
)
from admitone.verticals.coupons.model import (
    WEEK,
    Campaign,
    CampaignState,
    Divergence,
    EndedFor,
    Token,
    TokenStatus,
)

SIMULTANEOUS: Final = timedelta(seconds=10)
"""A token that was redeemed so shortly before was lost in a race, or is asked for again because an answer was lost:
that is no failed attempt (CPN-033)."""
SETTLES: Final = timedelta(minutes=5)
"""Whatever follows from a payment is done long before."""


# -- Campaigns


def weeks_of(days: int) -> int:
    """A week that has begun is paid for (U-50)."""
    return -(-days // 7)


def length_of(campaign: Campaign) -> timedelta:
    return timedelta(hours=24 * campaign.days)


def is_active(campaign: Campaign, now: datetime) -> bool:
    """Also before anybody has come by to write down that its days are over."""
    return campaign.state is CampaignState.ACTIVE and campaign.ends_at is not None and now < campaign.ends_at


def why_not_activate(campaign: Campaign | None, payment: Payment) -> str | None:
    """Why money that came does not activate it; it goes back then (CPN-006)."""
    if campaign is None:
        return "CAMPAIGN_UNKNOWN"
    if campaign.state is not CampaignState.PENDING_PAYMENT:
        return f"CAMPAIGN_{campaign.state}"
    if payment.currency != campaign.currency:
        return "CURRENCY_DIFFERS"
    return None if payment.captured_minor - payment.refunded_minor >= campaign.cost_minor else "PAID_TOO_LITTLE"


def why_ended(campaign: Campaign, now: datetime) -> EndedFor | None:
    """Why one that is active should not be any more."""
    if campaign.state is not CampaignState.ACTIVE:
        return None
    if campaign.redeemed >= campaign.redemption_limit:
        return EndedFor.EXHAUSTED
    return None if is_active(campaign, now) else EndedFor.OVER


# -- Tokens


def why_not_redeem(is_known: bool, token: Token | None, campaign: Campaign | None, now: datetime) -> Refusal | None:
    """The first reason in the one order (U-54): that it was used is a fact for ever, so it counts before whatever else
    may be wrong with it."""
    if not is_known:
        return TokenNotFound()
    if token is None or campaign is None:
        return TokenOfAnother()
    if token.status is TokenStatus.REDEEMED:
        assert token.redeemed_at is not None
        return TokenRedeemed(redeemed_at=token.redeemed_at)
    if not is_active(campaign, now) or campaign.redeemed >= campaign.redemption_limit:
        return CampaignNotActive()
    return None if now < token.expires_at else TokenExpired(expired_at=token.expires_at)


def is_strike(refusal: Refusal | None, now: datetime) -> bool:
    """Whether it is a failed attempt, five of which in a row close the door (CPN-033)."""
    if isinstance(refusal, TokenRedeemed):
        return now - refusal.redeemed_at > SIMULTANEOUS
    return refusal is not None


# -- What is earned


def weeks_earned(campaign: Campaign, now: datetime) -> int:
    """Those that are over; of one that has ended all, unless its money went back."""
    if campaign.activated_at is None or campaign.ended_for is EndedFor.REVERSED:
        return campaign.earned_weeks
    if campaign.state is CampaignState.ENDED:
        return campaign.weeks
    return max(campaign.earned_weeks, min(campaign.weeks - 1, (now - campaign.activated_at) // WEEK))


def earnings(campaign: Campaign, weeks: int, deferred_minor: int) -> list[int]:
    """What each week that is earned now gives: its fee, or what is left if some of the money went back."""
    amounts = []
    for _ in range(campaign.earned_weeks, weeks):
        amounts.append(min(campaign.weekly_fee_minor, max(deferred_minor, 0)))
        deferred_minor -= amounts[-1]
    return amounts


def unearned(campaign: Campaign, deferred_minor: int) -> int:
    """What of its income went back: as much as is missing of what was deferred."""
    return min(campaign.earned_minor, max(-deferred_minor, 0))


def is_reversed(payment: Payment) -> bool:
    """Whether all of its money went back."""
    return payment.status in (Status.REFUNDED, Status.CHARGEBACK_LOST)


def next_due(campaign: Campaign) -> datetime | None:
    """When somebody must see to it again: when the next week is over, or the campaign."""
    if campaign.state is not CampaignState.ACTIVE:
        return None
    assert campaign.activated_at is not None
    assert campaign.ends_at is not None
    return min(campaign.activated_at + (campaign.earned_weeks + 1) * WEEK, campaign.ends_at)


# -- Money and campaigns


def divergence_of(
    campaign: Campaign, payments: Sequence[Payment], books: Mapping[Account, int], now: datetime
) -> Divergence | None:
    """How the money that came and the campaign differ, if they do (CPN-050). `books`: what the ledger has of the
    payment that activated it."""
    if campaign.state is CampaignState.PENDING_PAYMENT:
        settled = [
            each for each in payments if each.applied and each.status in PAID and each.changed_at + SETTLES < now
        ]
        return Divergence.PAID_NOT_ACTIVE if settled else None
    paid = next((each for each in payments if each.id == campaign.payment_id), None)
    if paid is None or not paid.applied:
        return Divergence.ACTIVE_NOT_PAID
    if campaign.state is CampaignState.ACTIVE and paid.status not in PAID:
        return Divergence.ACTIVE_NOT_PAID
    return Divergence.BOOKS_DIFFER if _books_differ(campaign, paid, books, now) else None


def _books_differ(campaign: Campaign, paid: Payment, books: Mapping[Account, int], now: datetime) -> bool:
    """Whether what is deferred and earned is not what was paid for; of what went back in part, or is disputed, that
    nothing was earned which is not there, once it has gone back and whatever follows from that is done."""
    deferred, earned = books.get(Account.DEF, 0), books.get(Account.CPR, 0)
    is_going = paid.refund_state is RefundState.PENDING
    if earned != campaign.earned_minor:
        return True
    if deferred < 0:
        return not is_going and paid.changed_at + SETTLES < now
    is_held = paid.status not in (Status.DISPUTED, Status.CHARGEBACK_LOST)
    is_whole = paid.refunded_minor == 0 and is_held and not is_going
    return is_whole and deferred + earned != campaign.cost_minor
