"""Closing payments that nobody paid.

Promise: a payment is closed only when its provider has said that nothing was captured and nothing will be; what was
captured in the last moment counts, and exactly one of the two happens (PAY-053).
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from admitone.finance.gateways.api import Charge, FactKind, ProviderFact
from admitone.finance.payments.commands.recording import read_histories, write_histories
from admitone.finance.payments.errors import PaymentNotFound
from admitone.finance.payments.model import CLOSABLE, Recorded, RecordedFact
from admitone.finance.payments.policy import CLOSURES, HERE
from admitone.finance.sources.api import PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller


class Closing(msgspec.Struct, frozen=True):
    """Why a payment is closed, and the charge as its provider left it; one that was never opened has none."""

    caller: Caller
    payment: PaymentId
    kind: Literal[FactKind.EXPIRED, FactKind.CANCELLED]
    charge: Charge | None


@command()
async def close(tx: Tx, closings: Sequence[Closing]) -> list[Recorded | Refusal]:
    histories = await read_histories(tx, closings)
    for closing in closings:
        history = histories.get(closing.payment)
        if history is None:
            continue
        told: Sequence[ProviderFact] = closing.charge.facts if closing.charge else ()
        if history.payment.status in CLOSABLE and _is_over(closing.charge):
            # First, so that it is why: what the provider calls it says nothing of our reason.
            key = f"{closing.kind.value.lower()}{HERE}"
            history.learn(RecordedFact(closing.kind, key, tx.now, str(closing.payment)))
        history.hear(closing.caller, told, is_whole=True)
    moved = await write_histories(tx, [*histories.values()])
    return [moved.get(closing.payment, PaymentNotFound()) for closing in closings]


def _is_over(charge: Charge | None) -> bool:
    """Whether nothing was captured and nothing will be; a slow bank may still say yes to what cannot be cancelled."""
    kinds = {fact.kind for fact in charge.facts} if charge else set(CLOSURES)
    return FactKind.CAPTURED not in kinds and not kinds.isdisjoint(CLOSURES)
