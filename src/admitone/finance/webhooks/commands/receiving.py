"""Keeping what arrived (unification (d), steps 4 to 7).

Promise: the receipt, its sealed payload and its job commit together or not at all, so that whoever is acknowledged is
dealt with; of an event that comes twice, in one batch or years apart, there is one of each.
"""

from collections.abc import Sequence

from admitone.finance.webhooks import store
from admitone.finance.webhooks.facts import WebhookReceived
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.finance.webhooks.model import Acknowledged, Arrival, ReceiptId, ReceiptState, Received
from admitone.finance.webhooks.store import NewReceipt
from admitone.kernel import failpoints
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.event_log import ids_at
from admitone.kernel.jobs import Job, enqueue


@command()
async def receive(tx: Tx, arrivals: Sequence[Arrival]) -> list[Acknowledged | Refusal]:
    """In the platform's scope: each event once, whoever brings it."""
    first = {(each.envelope.source, each.envelope.id): each for each in reversed(arrivals)}
    ids = map(ReceiptId, ids_at(tx.now, len(first)))
    receipts = [NewReceipt(own, each, tx.now) for own, each in zip(ids, first.values(), strict=True)]
    fresh = await store.insert_receipts(tx, receipts)
    new = {(each.source, each.external_id): each.arrival for each in fresh}
    known = await store.find_by_name(tx, [name for name in first if name not in new])
    failpoints.reach("webhooks.before_enqueue")
    await enqueue(
        tx,
        [
            *(_job(each.id, each.arrival) for each in fresh),
            *(
                _job(ReceiptId(row["id"]), first[name])
                for name, row in known.items()
                if row["state"] == ReceiptState.RECEIVED
            ),
        ],
    )
    for each in fresh:
        tx.publish(each.arrival.caller, _told(each))
    return [
        Acknowledged(each.envelope.id, duplicate=new.get((each.envelope.source, each.envelope.id)) is not each)
        for each in arrivals
    ]


def _job(receipt: ReceiptId, arrival: Arrival) -> Job:
    return Job.of(resolve, Received(receipt), arrival.caller, key=arrival.name)


def _told(receipt: NewReceipt) -> WebhookReceived:
    return WebhookReceived(
        receipt_id=receipt.id,
        provider=receipt.provider,
        source=receipt.source,
        event_id=receipt.external_id,
        type=receipt.type,
        account_id=receipt.account,
    )
