"""Something does not take place: everything that was paid for it goes back, and nobody has to look first (FIN-070).

Promise: started once under its own id, a page of payments at a time: what is to go back of each is written down and
ordered in one transaction, so whatever is killed, it goes on where it was, and each payment is refunded once. What has
been given back, or is with a bank, is left to the rules of every cancellation. Whoever stops selling before this is
started finds all who had paid by then in it; whoever pays later is not, and is for the seller to return.
"""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.payments import api as payments
from admitone.finance.refunds import store
from admitone.finance.refunds.cancelling import order
from admitone.finance.refunds.model import CancellationId, RefundState
from admitone.finance.refunds.planning import Cancellation, plan_page
from admitone.kernel.bulk import Bulk, Progress, Step, bulk, find_by_key, start
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Priority
from admitone.kernel.scope import Caller

AT_A_TIME: Final = 250
FIRST: Final = UUID(int=0)


class CalledOff(msgspec.Struct, frozen=True):
    """How far it is."""

    work: Bulk | None
    """None: it has not begun, or was long ago."""
    refunds: Mapping[RefundState, int]


async def _count(tx: Tx, wanted: Cancellation) -> int:
    return await payments.count_of_subject(tx, wanted.subject)


@bulk("refunds.give_all_back", of=Cancellation, total=_count, priority=Priority.CRITICAL)
async def give_all_back(tx: Tx, step: Step[Cancellation]) -> Progress:
    after = UUID(step.cursor) if step.cursor else FIRST
    page = await payments.list_of_subject(tx, step.request.subject, after, AT_A_TIME)
    await order(tx, await plan_page(tx, step.request, page, step.caller), step.caller)
    cursor = str(page[-1].id.uuid if page else after)
    return Progress(cursor, len(page), finished=len(page) < AT_A_TIME)


async def call_off(tx: Tx, wanted: Cancellation, caller: Caller) -> Bulk:
    return await start(tx, give_all_back, wanted, caller, key=str(wanted.cancellation_id))


async def find_called_off(tx: Tx, own: CancellationId) -> CalledOff:
    return CalledOff(await find_by_key(tx, give_all_back.name, str(own)), await store.count_by_state(tx, own.uuid))
