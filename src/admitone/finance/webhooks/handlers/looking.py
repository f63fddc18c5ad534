"""Whose events are, asked for many at once, and handing them to those whose they are.

Promise: whoever receives an event and whoever looks at it later decide alike. What is handed on goes with its receipt,
in one transaction.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from admitone.finance.gateways.api import Provider, ProviderEvent, Ref, Topic
from admitone.finance.payments.api import Owner, find_owners
from admitone.finance.webhooks import store
from admitone.finance.webhooks.handlers.applying import apply
from admitone.finance.webhooks.model import Handed, ReceiptId
from admitone.finance.webhooks.policy import Whose, is_known, refs_of, whose
from admitone.kernel import failpoints
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.jobs import Job, hand_on
from admitone.kernel.scope import Caller


class Heard(msgspec.Struct, frozen=True):
    """An event that we understand, and under which name it is dealt with."""

    receipt: ReceiptId
    provider: Provider
    event: ProviderEvent
    caller: Caller
    key: str


async def look(tx: Tx, heard: Sequence[Heard]) -> list[Whose | Refusal | None]:
    """Whose each is, why that is not clear, or nothing, if nobody need hear of it; in their order."""
    told = [each for each in heard if each.event.topic is not Topic.NOTHING]
    owners: dict[Provider, dict[Ref, Owner]] = {}
    for provider in {each.provider for each in told}:
        refs = {ref for each in told if each.provider is provider for ref in refs_of(each.event)}
        owners[provider] = await find_owners(tx, provider, sorted(refs)) if refs else {}
    return [
        None if each.event.topic is Topic.NOTHING else _unless_known(each, whose(each.event, owners[each.provider]))
        for each in heard
    ]


def _unless_known(each: Heard, answer: Whose | Refusal) -> Whose | Refusal | None:
    return None if isinstance(answer, Whose) and is_known(each.event, answer) else answer


async def hand_over(tx: Tx, theirs: Sequence[tuple[Heard, Whose]]) -> None:
    """With their receipts, which were ours until now."""
    await store.hand_over(tx, {each.receipt.uuid: whose for each, whose in theirs})
    await hand_jobs_on(tx, theirs)


async def hand_jobs_on(tx: Tx, theirs: Sequence[tuple[Heard, Whose]]) -> None:
    failpoints.reach("webhooks.before_hand_on")
    await hand_on(tx, [_job(each, whose) for each, whose in theirs])


def _job(each: Heard, whose: Whose) -> Job:
    handed = Handed(each.receipt, each.provider, whose.basis, whose.payment, each.event)
    return replace(Job.of(apply, handed, each.caller, key=f"apply:{each.key}"), organization_id=whose.organization.uuid)
