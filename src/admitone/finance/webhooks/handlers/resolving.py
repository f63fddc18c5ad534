"""Whose event it is (unification (d), step 8), where that was not clear when it came.

Promise: what is not clearly one organisation's has no effect at all. What may only be early (our own order has not
written its reference down yet) is tried again before it is given up; what we do not deal with, or know already, is
kept, and that is all. What is somebody's is handed on, and its receipt with it, in one transaction.
"""

from collections.abc import Sequence

from admitone.finance.gateways.api import Provider, ProviderEvent, UnknownStatus
from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.webhooks import store
from admitone.finance.webhooks.errors import NotUnderstood, PayloadGone
from admitone.finance.webhooks.handlers.looking import Heard, hand_over, look
from admitone.finance.webhooks.handlers.mourning import mourn
from admitone.finance.webhooks.model import ReceiptId, ReceiptState, Received
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Record, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.jobs import WEBHOOKS, Delivered, Priority, handler
from admitone.kernel.scope import Caller


@handler("webhooks.resolve", priority=Priority.CRITICAL, retry=WEBHOOKS, mourn=mourn)
async def resolve(tx: Tx, deliveries: Sequence[Delivered[Received]]) -> None:
    """In the platform's scope. What was handed on or settled before is not found here any more."""
    callers = {each.payload.receipt.uuid: each.caller for each in deliveries}
    heard = [_heard(row, callers[row["id"]]) for row in await store.list_to_resolve(tx, list(callers))]
    looked = list(zip(heard, await look(tx, heard), strict=True))
    for _, answer in looked:  # Each is run alone then, and the others lose nothing by it.
        if isinstance(answer, Refusal):
            raise answer
    ignored = [each.receipt.uuid for each, answer in looked if answer is None]
    await store.settle(tx, dict.fromkeys(ignored), ReceiptState.IGNORED)
    await hand_over(tx, [(each, answer) for each, answer in looked if answer and not isinstance(answer, Refusal)])


def _heard(row: Record, caller: Caller) -> Heard:
    key = store.key_of(row["source"], row["external_id"], row["round"])
    return Heard(ReceiptId(row["id"]), Provider(row["provider"]), _read(row), caller, key)


def _read(row: Record) -> ProviderEvent:
    if row["sealed"] is None:
        raise PayloadGone()
    payload = KEYRING().open(row["sealed"], store.place_of(row["id"]))
    try:
        return GATEWAYS().get(row["provider"]).read(payload, row["source"])
    except UnknownStatus as odd:
        raise NotUnderstood() from odd
