"""What became of refunds: told by payments, kept here, and somebody is told of what failed."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from admitone.finance.payments import facts as payments
from admitone.finance.refunds.cancelling import go_on
from admitone.finance.refunds.commands import Ended, settle
from admitone.finance.refunds.facts import RefundFailed, RefundSeenTo
from admitone.finance.refunds.model import RefundState
from admitone.kernel.alerts import ALERTS, Above, Alert, AlertClass, AlertRule, Resolution, raise_alerts, resolve_alerts
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Delivered, Desk, Lane, Priority, errand, handler

FAILED: Final = AlertRule(
    "refunds.failed",
    AlertClass.PAGER,
    Above(0),
    "finance operations",
    "refund-failed",
    "A refund did not arrive: its provider refused it three times, or the customer's bank sent it back.",
)
TELLING: Final = Lane("refunds", places=2)


@handler("refunds.settled", priority=Priority.CRITICAL)
async def settled(tx: Tx, told: Sequence[Delivered[payments.RefundSettled]]) -> None:
    await settle(tx, {UUID(each.payload.refund_id): Ended(each.caller) for each in told}, RefundState.SUCCEEDED)


@handler("refunds.not_settled", priority=Priority.CRITICAL)
async def not_settled(tx: Tx, told: Sequence[Delivered[payments.RefundFailed]]) -> None:
    ended = {
        UUID(each.payload.refund_id): Ended(each.caller, each.payload.reason or "the bank sent it back")
        for each in told
    }
    await settle(tx, ended, RefundState.FAILED)


@handler("refunds.dispute_recorded", priority=Priority.CRITICAL)
async def dispute_recorded(tx: Tx, told: Sequence[Delivered[payments.DisputeRecorded]]) -> None:
    await go_on(tx, {each.payload.payment_id: each.caller for each in told})


@errand("refunds.tell", lane=TELLING)
async def tell_of_failure(desk: Desk, told: Delivered[RefundFailed]) -> None:
    about = told.payload
    entities = {"paymentId": str(about.payment_id), "refundId": about.refund_id}
    detail = f"{about.amount_minor} {about.currency}"
    alert = Alert(FAILED, about.refund_id, detail, told.organization, entities, told.caller)
    await desk.batcher.submit(raise_alerts, ALERTS, alert)


@errand("refunds.seen_to", lane=TELLING)
async def seen_to(desk: Desk, told: Delivered[RefundSeenTo]) -> None:
    await desk.batcher.submit(resolve_alerts, ALERTS, Resolution(FAILED, told.payload.refund_id))
