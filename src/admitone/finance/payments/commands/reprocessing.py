"""Who had a payment looked at again, and why: the trail of it."""

from collections.abc import Sequence

import msgspec

from admitone.finance.sources.api import PaymentId
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller


class Reprocessing(msgspec.Struct, frozen=True):
    """Somebody has the provider asked about a payment again."""

    caller: Caller
    payment: PaymentId
    reason_code: str


@command()
async def note_reprocessings(tx: Tx, wanted: Sequence[Reprocessing]) -> list[bool | Refusal]:
    """Written before the provider is asked: whatever it says then, somebody asked."""
    entries = [audit.Entry(each.caller, "payments.reprocess", str(each.payment), each.reason_code) for each in wanted]
    await audit.record(tx, entries)
    return [True for _ in wanted]
