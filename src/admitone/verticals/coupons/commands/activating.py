"""Activating campaigns whose money came.

Promise (CPN-005, CPN-006): fulfilment brings payments that a provider told of, that are applied and in the ledger, and
holds them; nothing else makes a campaign active. No client and no operator can say that it was paid, and no comparison
finds it out: reconciliation waits until its webhook is told again (U-51). The days are counted from this moment
(CPN-003). What cannot be activated gives its money back.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from admitone.finance.payments.api import Payment
from admitone.kernel.db import Tx
from admitone.selling.fulfilment.api import Scenario
from admitone.selling.fulfilment.port import Book, Purchase, Recipe, Step, Undeliverable
from admitone.verticals.coupons.facts import CampaignActivated
from admitone.verticals.coupons.model import (
    WATCHED_FOR,
    Campaign,
    CampaignId,
    CampaignState,
    campaign_id_of,
)
from admitone.verticals.coupons.policy import length_of, next_due, why_not_activate
from admitone.verticals.coupons.store import campaigns as store


async def scenario_of(tx: Tx, payments: Sequence[Payment]) -> Sequence[Scenario]:  # noqa: ARG001
    return [Scenario.SINGLE for _ in payments]


async def activate(tx: Tx, purchases: Sequence[Purchase]) -> Sequence[Undeliverable | None]:
    held = await store.lock_campaigns(tx, purchases, _own)
    answers: list[Undeliverable | None] = []
    activated: dict[CampaignId, tuple[Campaign, int]] = {}
    for each in purchases:
        payment = each.payment
        reason = why_not_activate(held.get(_own(each)), payment)
        if reason is None:
            after = held[_own(each)] = _active(tx, held[_own(each)], payment)
            activated[after.id] = (after, payment.captured_minor - payment.refunded_minor)
            assert after.ends_at is not None
            told = CampaignActivated(campaign_id=after.id, payment_id=payment.id, ends_at=after.ends_at)
            tx.publish(each.caller, told)
        answers.append(Undeliverable(reason) if reason else None)
    await store.activate(tx, [*activated.values()])
    return answers


def _own(purchase: Purchase) -> CampaignId:
    """Of a source that nobody made there is no campaign."""
    return campaign_id_of(purchase.payment.source.id) or CampaignId(purchase.payment.id.uuid)


def _active(tx: Tx, campaign: Campaign, payment: Payment) -> Campaign:
    after = msgspec.structs.replace(
        campaign,
        state=CampaignState.ACTIVE,
        payment_id=payment.id,
        activated_at=tx.now,
        ends_at=tx.now + length_of(campaign),
        watched_until=tx.now + length_of(campaign) + WATCHED_FOR,
    )
    return msgspec.structs.replace(after, due_at=next_due(after))


BOOK: Final = Book(scenario_of, {Scenario.SINGLE: Recipe("ACTIVATE_CAMPAIGN", (Step("ACTIVATE_CAMPAIGN", activate),))})
