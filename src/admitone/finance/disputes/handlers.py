"""What is done when payments hear of a dispute."""

from collections.abc import Sequence

from admitone.finance.disputes.commands.following import follow
from admitone.finance.payments.facts import DisputeRecorded
from admitone.kernel.db import Tx
from admitone.kernel.jobs import WEBHOOKS, Delivered, Priority, handler


@handler("disputes.follow", priority=Priority.CRITICAL, retry=WEBHOOKS)
async def follow_payments(tx: Tx, told: Sequence[Delivered[DisputeRecorded]]) -> None:
    await follow(tx, {each.payload.payment_id: each.caller for each in told})
