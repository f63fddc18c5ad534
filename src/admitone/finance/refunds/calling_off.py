"""Something does not take place: everything that was paid for it goes back, and nobody has to look first (FIN-070).

Promise: started once under its own id, a page of payments at a time: what is to go back of each is written down and
ordered in one transaction, so whatever is killed, it goes on where it was, and each payment is refunded once. What has
been given back, or is with a bank, is left to the rules of every cancellation. Whoever stops selling before this is
started finds all who had paid by then in it; whoever pays later is not, and is for the seller to return.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.payments import api as payments
from admitone.finance.refunds import store
from admitone.finance.refunds.cancelling import order
from admitone.finance.refunds.model import CancellationId, RefundState
from admitone.finance.refunds.planning import CANCELLATION, Cancellation, plan_page
from admitone.kernel.bulk import Bulk, Progress, Step, bulk, find_by_key, start
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Priority
from admitone.kernel.scope import Caller

AT_A_TIME: Final = 250
FIRST: Final = UUID(int=0)
MOST_SURVEYED: Final = 80
"""Pages of 250 payments that somebody waits for."""


class CalledOff(msgspec.Struct, frozen=True):
    """How far it is."""

    work: Bulk | None
    """None: it has not begun, or was long ago."""
    refunds: Mapping[RefundState, int]


class Survey(msgspec.Struct, frozen=True):
    """What would go back now, and what would not."""

    payments: int
    disputed: int
    """Of which a bank has the money."""
    amounts: Mapping[str, int]
    """By currency."""
    fees: Mapping[str, int]
    """Of the platform, which go back too."""
    is_complete: bool
    """Whether it is of all payments: very many are not looked at before it is done."""
    digest: str
    """Of each payment's part: whatever changes changes it."""


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


async def survey(tx: Tx, wanted: Cancellation) -> Survey:
    """What `call_off` would do now; nothing is done."""
    steps = await CANCELLATION.survey(tx, wanted, MOST_SURVEYED)
    return Survey(
        sum(each.payments for each in steps),
        sum(each.disputed for each in steps),
        _by_currency([each.amounts for each in steps]),
        _by_currency([each.fees for each in steps]),
        len(steps) < MOST_SURVEYED,
        CANCELLATION.digest(wanted, steps).hex(),
    )


def _by_currency(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for each in parts:
        sums.update(each)
    return dict(sums)


async def find_called_off(tx: Tx, own: CancellationId) -> CalledOff:
    return CalledOff(await find_by_key(tx, give_all_back.name, str(own)), await store.count_by_state(tx, own.uuid))
