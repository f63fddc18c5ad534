"""Exports are written down before the first line leaves."""

from collections.abc import Sequence

import msgspec

from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller


class Export(msgspec.Struct, frozen=True):
    caller: Caller
    reason_code: str


@command()
async def note_exports(tx: Tx, exports: Sequence[Export]) -> list[bool | Refusal]:
    own = str(tx.scope.organization)
    await audit.record(
        tx, [audit.Entry(each.caller, "organization.export_members", own, each.reason_code) for each in exports]
    )
    return [True for _ in exports]
