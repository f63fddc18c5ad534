"""Whose event it is (unification (d), step 8).

Promise: what is not clearly one organisation's has no effect at all. What may only be early (our own order has not
written its reference down yet) is tried again before it is given up; what we do not deal with, or know already, is
kept, and that is all. What is somebody's is handed on, and its receipt with it, in one transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from admitone.finance.gateways.api import Provider, ProviderEvent, Ref, Topic, UnknownStatus
from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.payments.api import Owner, find_owners
from admitone.finance.webhooks import store
from admitone.finance.webhooks.errors import NotUnderstood, PayloadGone
from admitone.finance.webhooks.handlers.applying import apply
from admitone.finance.webhooks.handlers.mourning import mourn
from admitone.finance.webhooks.model import Handed, ReceiptId, ReceiptState, Received
from admitone.finance.webhooks.policy import Whose, is_known, refs_of, whose
from admitone.kernel import failpoints
from admitone.kernel.crypto import KEYRING
from admitone.kernel.db import Record, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.jobs import WEBHOOKS, Delivered, Job, Priority, hand_on, handler
from admitone.kernel.scope import Caller


@handler("webhooks.resolve", priority=Priority.CRITICAL, retry=WEBHOOKS, mourn=mourn)
async def resolve(tx: Tx, deliveries: Sequence[Delivered[Received]]) -> None:
    """In the platform's scope. What was handed on or settled before is not found here any more."""
    callers = {each.payload.receipt.uuid: each.caller for each in deliveries}
    rows = {row["id"]: row for row in await store.list_to_resolve(tx, list(callers))}
    events = {own: _read(row) for own, row in rows.items()}
    told = {own: event for own, event in events.items() if event.topic is not Topic.NOTHING}
    resolved = await _resolved(tx, rows, told)
    theirs = {own: each for own, each in resolved.items() if not is_known(told[own], each)}
    await store.settle(tx, dict.fromkeys(events.keys() - theirs.keys()), ReceiptState.IGNORED)
    await store.hand_over(tx, theirs)
    failpoints.reach("webhooks.before_hand_on")
    await hand_on(tx, [_job(rows[own], events[own], each, callers[own]) for own, each in theirs.items()])


def _read(row: Record) -> ProviderEvent:
    if row["sealed"] is None:
        raise PayloadGone()
    payload = KEYRING().open(row["sealed"], store.place_of(row["id"]))
    try:
        return GATEWAYS().get(row["provider"]).read(payload, row["source"])
    except UnknownStatus as odd:
        raise NotUnderstood() from odd


async def _resolved(tx: Tx, rows: Mapping[UUID, Record], events: Mapping[UUID, ProviderEvent]) -> dict[UUID, Whose]:
    """Raises for the first that is nobody's: each is run alone then, and the others lose nothing by it."""
    owners: dict[Provider, dict[Ref, Owner]] = {}
    for provider in {Provider(rows[own]["provider"]) for own in events}:
        refs = {ref for own, event in events.items() if rows[own]["provider"] == provider for ref in refs_of(event)}
        owners[provider] = await find_owners(tx, provider, sorted(refs)) if refs else {}
    theirs: dict[UUID, Whose] = {}
    for own, event in events.items():
        answer = whose(event, owners[Provider(rows[own]["provider"])])
        if isinstance(answer, Refusal):
            raise answer
        theirs[own] = answer
    return theirs


def _job(row: Record, event: ProviderEvent, whose: Whose, caller: Caller) -> Job:
    handed = Handed(ReceiptId(row["id"]), Provider(row["provider"]), whose.basis, whose.payment, event)
    key = store.key_of(row["source"], row["external_id"], row["round"])
    return replace(Job.of(apply, handed, caller, key=f"apply:{key}"), organization_id=whose.organization.uuid)
