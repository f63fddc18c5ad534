"""Keeping what arrived (unification (d), steps 4 to 7).

Promise: the receipt, its sealed payload and its job commit together or not at all, so that whoever is acknowledged is
dealt with; of an event that comes twice, in one batch or years apart, there is one of each. Whose event it is, if that
is clear already, is found out here too, and its job is its organisation's at once. An account that is not
clearly one organisation's is not acknowledged at all (FIN-022): it is kept, and looked at anew when it comes again.
"""

from collections.abc import Mapping, Sequence

from admitone.finance.gateways.api import ObjectType, Ref
from admitone.finance.payments.api import find_owners
from admitone.finance.webhooks import store
from admitone.finance.webhooks.errors import AccountUnresolved
from admitone.finance.webhooks.facts import WebhookReceived
from admitone.finance.webhooks.handlers.looking import Heard, hand_jobs_on, look
from admitone.finance.webhooks.handlers.mourning import tell_of
from admitone.finance.webhooks.handlers.resolving import resolve
from admitone.finance.webhooks.model import (
    ACCOUNT_UPDATED,
    Acknowledged,
    Arrival,
    Name,
    ReceiptId,
    ReceiptState,
    Received,
)
from admitone.finance.webhooks.policy import Whose, is_clear
from admitone.finance.webhooks.store import NewReceipt
from admitone.kernel import failpoints
from admitone.kernel.commands import command
from admitone.kernel.db import Record, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.event_log import ids_at
from admitone.kernel.jobs import Job, enqueue

UNCLEAR = AccountUnresolved.message()


@command()
async def receive(tx: Tx, arrivals: Sequence[Arrival]) -> list[Acknowledged | Refusal]:
    """In the platform's scope: each event once, whoever brings it."""
    first = {each.name: each for each in reversed(arrivals)}
    unclear = await _find_unclear(tx, first)
    ids = dict(zip(first, map(ReceiptId, ids_at(tx.now, len(first))), strict=True))
    whose = await _look(tx, first, ids, unclear)
    fresh = await store.insert_receipts(
        tx, [_receipt(ids[name], each, whose, unclear, tx) for name, each in first.items()]
    )
    new = {each.arrival.name for each in fresh}
    known = await store.find_by_name(tx, [name for name in first if name not in new])
    # Settled ones stay so, whatever became of their account meanwhile.
    unclear -= {name for name, row in known.items() if row["state"] in (ReceiptState.PROCESSED, ReceiptState.IGNORED)}
    turns = await _turns(tx, known, unclear)
    failpoints.reach("webhooks.before_enqueue")
    await hand_jobs_on(tx, [answer for name in new if (answer := whose.get(name))])
    jobs = [_job(ids[name], first[name], 0) for name in new if name not in whose and name not in unclear]
    await enqueue(tx, [*jobs, *(_job(ReceiptId(known[name]["id"]), first[name], turn) for name, turn in turns.items())])
    for each in fresh:
        tx.publish(each.arrival.caller, _told(each))
    if unclear:
        rows = await store.find_receipts(tx, [each.id.uuid for each in fresh] + [row["id"] for row in known.values()])
        await tell_of(tx, [row for row in rows if row["state"] == ReceiptState.ORG_UNRESOLVED])
    return [_outcome(each, first, new, unclear) for each in arrivals]


async def _look(
    tx: Tx, arrivals: Mapping[Name, Arrival], ids: Mapping[Name, ReceiptId], unclear: set[Name]
) -> dict[Name, tuple[Heard, Whose] | None]:
    """Whose they are, where that is clear at once, or nothing, where nobody need hear of it. The others are looked at
    by a job, which has the time to wait for what may only be early."""
    heard = {
        name: Heard(ids[name], each.provider, each.event, each.caller, store.key_of(*name, 0))
        for name, each in arrivals.items()
        if each.event and name not in unclear
    }
    looked = zip(heard.items(), await look(tx, list(heard.values())), strict=True)
    return {
        name: (each, answer) if answer else None for (name, each), answer in looked if not isinstance(answer, Refusal)
    }


def _outcome(
    each: Arrival, first: Mapping[Name, Arrival], new: set[Name], unclear: set[Name]
) -> Acknowledged | Refusal:
    if each.name in unclear:
        return AccountUnresolved()
    return Acknowledged(each.envelope.id, duplicate=each.name not in new or first[each.name] is not each)


async def _find_unclear(tx: Tx, arrivals: Mapping[Name, Arrival]) -> set[Name]:
    """Before anything is made of them, also for a redelivery (step 6)."""
    unclear: set[Name] = set()
    for provider in {each.provider for each in arrivals.values() if each.account is not None}:
        told = {
            name: each.account
            for name, each in arrivals.items()
            if each.account is not None and each.provider is provider
        }
        refs = sorted({Ref(ObjectType.ACCOUNT, account.id) for account in told.values()})
        owners = await find_owners(tx, provider, refs)
        unclear |= {name for name, account in told.items() if not is_clear(account, owners)}
    return unclear


def _receipt(
    own: ReceiptId, arrival: Arrival, whose: Mapping[Name, tuple[Heard, Whose] | None], unclear: set[Name], tx: Tx
) -> NewReceipt:
    name = arrival.name
    if name in unclear:
        return NewReceipt(own, arrival, tx.now, ReceiptState.ORG_UNRESOLVED, UNCLEAR)
    if name not in whose:
        return NewReceipt(own, arrival, tx.now)
    answer = whose[name]
    if answer is None:
        return NewReceipt(own, arrival, tx.now, ReceiptState.IGNORED)
    return NewReceipt(own, arrival, tx.now, whose=answer[1])


async def _turns(tx: Tx, known: Mapping[Name, Record], unclear: set[Name]) -> dict[Name, int]:
    """Which duplicates must have a job, and under which turn: those that wait, and accounts that have become clear."""
    waiting = {name: row for name, row in known.items() if row["state"] == ReceiptState.RECEIVED}
    mended = {
        name: row["id"]
        for name, row in known.items()
        if row["type"] == ACCOUNT_UPDATED and row["state"] == ReceiptState.ORG_UNRESOLVED and name not in unclear
    }
    opened = await store.reopen(tx, list(mended.values())) if mended else {}
    return {name: row["round"] for name, row in waiting.items()} | {
        name: opened[own]["round"] for name, own in mended.items() if own in opened
    }


def _job(receipt: ReceiptId, arrival: Arrival, turn: int) -> Job:
    key = store.key_of(arrival.envelope.source, arrival.envelope.id, turn)
    return Job.of(resolve, Received(receipt), arrival.caller, key=key)


def _told(receipt: NewReceipt) -> WebhookReceived:
    return WebhookReceived(
        receipt_id=receipt.id,
        provider=receipt.provider,
        source=receipt.source,
        event_id=receipt.external_id,
        type=receipt.type,
        account_id=receipt.account,
    )
