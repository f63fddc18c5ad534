"""Denials of what is free: written down and told, because somebody may be trying (FIN-084)."""

from collections.abc import Sequence

import msgspec

from admitone.finance.payments.facts import FreeCheckoutDenied
from admitone.finance.sources.api import Source
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller


class Denial(msgspec.Struct, frozen=True):
    """Who was denied what, and why; of people only ids."""

    caller: Caller
    source: Source
    reason_code: str


@command()
async def deny(tx: Tx, denials: Sequence[Denial]) -> list[None]:
    await audit.record(tx, [tell_denied(tx, each) for each in denials])
    return [None] * len(denials)


def tell_denied(tx: Tx, denial: Denial) -> audit.Entry:
    """Tell it, and what is to stand in the trail."""
    source = denial.source
    fact = FreeCheckoutDenied(source_type=source.type, source_id=source.id, reason_code=denial.reason_code)
    tx.publish(denial.caller, fact)
    return audit.Entry(denial.caller, "payments.free_checkout_denied", str(source), reason_code=denial.reason_code)
