"""What is told of a payout, in the words of its facts."""

from typing import TypeVar

from admitone.finance.payouts.facts import (
    PayoutCompleted,
    PayoutFact,
    PayoutFailed,
    PayoutTransferred,
    PayoutWithdrawn,
)
from admitone.finance.payouts.model import Payout

Kind = TypeVar("Kind", bound=PayoutFact)


def transferred(payout: Payout) -> PayoutTransferred:
    return _told(PayoutTransferred, payout)


def completed(payout: Payout) -> PayoutCompleted:
    return _told(PayoutCompleted, payout)


def failed(payout: Payout) -> PayoutFailed:
    return _told(PayoutFailed, payout, code=payout.code)


def withdrawn(payout: Payout) -> PayoutWithdrawn:
    """As it was when it was to be paid."""
    return _told(PayoutWithdrawn, payout)


def _told(kind: type[Kind], payout: Payout, **more: object) -> Kind:
    return kind(
        payout_id=payout.id,
        owner_id=payout.owner,
        period=payout.period,
        amount_minor=payout.amount_minor,
        recovered_minor=payout.recovered_minor,
        currency=payout.currency,
        **more,
    )
