"""The dry run of a batch: what would be paid, with every posting and every call, and then that and nothing else.

Promise: what is shown is what `make` would do now; applied, it is made in the same words, or refused as overtaken when
anything that it depends on has changed.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from admitone.finance.payouts.commands.batching import OWNERS, carry_out, survey
from admitone.finance.payouts.errands import ask_for
from admitone.finance.payouts.model import PlannedPayout
from admitone.finance.payouts.store import obligations as obligation_store
from admitone.finance.payouts.store import owners as owner_store
from admitone.finance.payouts.store.sweeping import FIRST
from admitone.kernel.db import Tx
from admitone.kernel.plans import Planner
from admitone.kernel.scope import Caller


class BatchRequest(msgspec.Struct, frozen=True):
    """The batch as it would be at that instant, or as it is now: what is held until later is in no plan."""

    at: datetime


async def _survey(tx: Tx, request: BatchRequest, limit: int) -> Sequence[PlannedPayout]:
    steps: list[PlannedPayout] = []
    after, at = FIRST, min(request.at, tx.now)
    while len(steps) < limit and (owners := await obligation_store.list_owners_due(tx, after, at, OWNERS)):
        drafted = await survey(tx, owners, at)
        steps += drafted.payouts
        assert drafted.until is not None
        after = drafted.until
    return steps[:limit]


async def _carry_out(tx: Tx, steps: Sequence[PlannedPayout], caller: Caller) -> None:
    await owner_store.lock_owners(tx, {each.owner for each in steps})
    await ask_for(tx, await carry_out(tx, steps, caller), caller)


BATCH: Final = Planner("payouts.batch", BatchRequest, PlannedPayout, _survey, _carry_out)
