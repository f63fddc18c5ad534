"""Why a code is valid, or is not: the chain behind a verdict.

Promise: whoever asks sees what the door would see now, decided by the same function and without using anything, and
everything that led there: the right and its trail, its copy of the policy, its codes without anything that would make
one, every scan, and what became of its money, without how much it was. Nothing of it decides at a door (ENT-001).
"""

from datetime import datetime
from typing import Final

import msgspec

from admitone.entitlements import policy
from admitone.entitlements.model import Changed, Checkin, Entitlement, EntitlementId, Place, Reason, Token, Way
from admitone.entitlements.port import KINDS
from admitone.entitlements.store import doors
from admitone.entitlements.store import entitlements as store
from admitone.entitlements.store import tokens as token_store
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment, ToldDispute
from admitone.finance.refunds import api as refunds
from admitone.finance.refunds.api import Refund, RefundLine
from admitone.finance.sources.api import PaymentId
from admitone.kernel.db import Tx

MOST: Final = 500
"""Lines of each kind: the latest."""


class Money(msgspec.Struct, frozen=True):
    """What became of the payment."""

    payment: Payment
    disputes: tuple[ToldDispute, ...]
    refunds: tuple[tuple[Refund, tuple[RefundLine, ...]], ...]


class Verdicts(msgspec.Struct, frozen=True):
    """What the door would say, and why not."""

    place: Place
    by_code: Reason | None
    by_hand: Reason | None


class Chain(msgspec.Struct, frozen=True):
    at: datetime
    right: Entitlement
    shown: Token | None
    """The code that is asked about: the one that was shown, else the latest."""
    verdicts: Verdicts
    trail: tuple[Changed, ...]
    codes: tuple[Token, ...]
    scans: tuple[Checkin, ...]
    money: Money | None


async def find_shown(tx: Tx, digest: bytes) -> Token | None:
    return (await token_store.find_by_digests(tx, [digest])).get(digest)


async def explain(tx: Tx, own: EntitlementId, shown: Token | None, place: Place | None) -> Chain | None:
    """Of a right here; as its own door would see it, if no other is named."""
    right = (await store.find_entitlements(tx, [own])).get(own)
    if right is None:
        return None
    codes = await token_store.list_of_right(tx, own, MOST)
    shown = shown or (codes[-1] if codes else None)
    return Chain(
        tx.now,
        right,
        shown,
        judge(right, shown, place or Place(right.event_id or "", right.session_id), tx.now),
        tuple(await store.list_changes(tx, own, MOST)),
        tuple(codes),
        tuple(await doors.list_of_right(tx, own, MOST)),
        await _money(tx, right.payment_id) if right.payment_id else None,
    )


def judge(right: Entitlement, shown: Token | None, place: Place, now: datetime) -> Verdicts:
    kind = KINDS().get(right.kind)
    return Verdicts(
        place,
        policy.why_not(right, kind, shown, place, Way.QR, now),
        policy.why_not(right, kind, None, place, Way.MANUAL, now),
    )


async def _money(tx: Tx, own: PaymentId) -> Money | None:
    payment = (await payments.find_payments(tx, [own])).get(own)
    if payment is None:
        return None
    disputes = (await payments.find_disputes(tx, [own])).get(own, [])
    given_back = await refunds.list_of_payment(tx, own, MOST)
    lines = await refunds.find_lines(tx, [each.id for each in given_back])
    return Money(payment, tuple(disputes), tuple((each, tuple(lines[each.id])) for each in given_back))
