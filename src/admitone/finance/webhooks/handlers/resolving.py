"""Whose event it is (unification (d), steps 8 and 9).

Promise: what is not clearly one organisation's has no effect at all. What may only be early (our own order has not
written its reference down yet) is tried again; a type that we do not deal with is kept, and that is all.
"""

from collections.abc import Sequence

from admitone.finance.gateways.api import ProviderEvent, Topic
from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.webhooks import store
from admitone.finance.webhooks.errors import NotYetResolved, PayloadGone
from admitone.finance.webhooks.model import ReceiptState, Received
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Record, Tx
from admitone.kernel.jobs import WEBHOOKS, Delivered, Priority, handler


@handler("webhooks.resolve", priority=Priority.CRITICAL, retry=WEBHOOKS)
async def resolve(tx: Tx, deliveries: Sequence[Delivered[Received]]) -> None:
    """In the platform's scope. What was handed on or settled before is not found here any more."""
    rows = await store.list_to_resolve(tx, [each.payload.receipt for each in deliveries])
    events = {row["id"]: _read(row) for row in rows}
    ignored = [own for own, event in events.items() if event.topic is Topic.NOTHING]
    await store.settle(tx, ignored, ReceiptState.IGNORED)
    if len(ignored) < len(events):
        raise NotYetResolved()


def _read(row: Record) -> ProviderEvent:
    if row["sealed"] is None:
        raise PayloadGone()
    payload = KEYRING().open(row["sealed"], store.place_of(row["id"]))
    return GATEWAYS().get(row["provider"]).read(payload, row["source"])
