"""What could not be done: written on the receipt when its job is buried, and told to somebody who can mend it.

Promise: a receipt is never left waiting for a job that is dead (only whoever buries it may fail to write it, and the
dead letter tells even then). An alert is open for as long as there is something to mend, and no longer.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import msgspec

from admitone.finance.webhooks import store
from admitone.finance.webhooks.errors import UNRESOLVED
from admitone.finance.webhooks.model import ReceiptId, ReceiptState
from admitone.finance.webhooks.telling import say
from admitone.kernel.alerts import Above, Alert, AlertClass, AlertRule, raise_alerts
from admitone.kernel.alerts.commands import resolve_unseen
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId, from_text
from admitone.kernel.jobs import Delivered, Job, Priority, enqueue, handler
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller

ORG_UNRESOLVED = AlertRule(
    "webhooks.org_unresolved",
    AlertClass.PAGER,
    Above(0),
    "finance",
    "webhooks-unresolved",
    "A provider told us something and it is not clear whose it is: money may be waiting that nobody sees.",
)
DEAD = AlertRule(
    "webhooks.dead",
    AlertClass.PAGER,
    Above(0),
    "finance",
    "webhooks-unresolved",
    "What a provider told us could not be applied: a payment of this organisation may stand wrongly.",
)
RULES: Final = {ReceiptState.ORG_UNRESOLVED: ORG_UNRESOLVED, ReceiptState.DEAD: DEAD}
GRACE: Final = timedelta(minutes=1)
"""An alert that was raised while we looked is not over because we did not see its receipt."""


class Mourned(msgspec.Struct, frozen=True, rename="camel"):
    receipt: ReceiptId


async def mourn(tx: PlatformTx, failure: Any) -> None:
    """In the transaction that buries the job."""
    dead = msgspec.json.decode(failure.job.payload, type=Mourned, dec_hook=from_text)
    unclear = failure.error.partition(":")[0] in {kind.__name__ for kind in UNRESOLVED}
    state = ReceiptState.ORG_UNRESOLVED if unclear else ReceiptState.DEAD
    if await store.bury(tx, dead.receipt, state, failure.error[: store.LONGEST_REASON]):
        job = Job.of(tell, dead, Caller(correlation_id=failure.job.correlation_id), key=f"tell:{failure.job.id}")
        await enqueue(tx, [replace(job, organization_id=PLATFORM_ORGANIZATION.uuid)])


@handler("webhooks.tell", priority=Priority.CRITICAL)
async def tell(tx: Tx, deliveries: Sequence[Delivered[Mourned]]) -> None:
    """In the platform's scope, where alerts are."""
    rows = await store.find_receipts(tx, [each.payload.receipt.uuid for each in deliveries])
    await tell_of(tx, [row for row in rows if row["state"] in RULES])


async def tell_of(tx: Tx, rows: Sequence[Record]) -> None:
    for row in rows:
        say(
            "webhook.to_be_mended",
            stripeEventId=row["external_id"],
            eventType=row["type"],
            stripeAccountId=row["account"],
            correlationId=str(row["correlation_id"]),
            receiptId=str(ReceiptId(row["id"])),
            status=row["state"],
        )
    await raise_alerts(tx, [_alert(row) for row in rows])


def _alert(row: Record) -> Alert:
    """One for each account that is not clear, however much it tells us."""
    account = row["account"]
    entities = {"receiptId": str(ReceiptId(row["id"])), "stripeEventId": row["external_id"]}
    return Alert(
        RULES[ReceiptState(row["state"])],
        f"{row['source']}:{account}" if account else row["source"],
        f"{row['type']}: {row['reason']}",
        OrganizationId(row["organization_id"]) if row["organization_id"] else None,
        entities | ({"stripeAccountId": account} if account else {}),
        Caller(correlation_id=row["correlation_id"]),
    )


@handler("webhooks.look_after")
async def look_after(tx: Tx, firings: Sequence[Delivered[Firing]]) -> None:  # noqa: ARG001
    """By schedule: what is still to be mended stays open, and what was mended is over."""
    to_mend = await store.list_to_mend(tx)
    await raise_alerts(tx, [_alert(row) for row in to_mend])
    if len(to_mend) < store.MOST_TO_MEND:
        await resolve_unseen(tx, list(RULES.values()), tx.now - GRACE)
