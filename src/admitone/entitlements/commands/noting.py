"""Who looked for people, and who took lists of them away: written down before anything is shown (ENT-010, PRV-023)."""

from collections.abc import Sequence

import msgspec

from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller


class Note(msgspec.Struct, frozen=True):
    caller: Caller
    action: str
    subject: str
    reason_code: str | None = None


@command()
async def note(tx: Tx, notes: Sequence[Note]) -> list[bool | Refusal]:
    await audit.record(tx, [audit.Entry(each.caller, each.action, each.subject, each.reason_code) for each in notes])
    return [True for _ in notes]
