"""Ordering what a cancellation planned, a page at a time.

Promise: whatever is killed, it goes on where it was; each payment is ordered exactly what was planned for it, or, if so
much is not left any more, is overtaken, and the rest of it is ordered instead; never twice. What a bank has taken is
not given back besides; should the dispute be won, it is. How far it is can be seen while it runs.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.payments import api as payments
from admitone.finance.payments.api import RefundWanted
from admitone.finance.refunds import commands, facts, store
from admitone.finance.refunds.commands import Retry, anew
from admitone.finance.refunds.model import CancellationId, Reason, Refund, RefundId, RefundState, Request
from admitone.finance.sources.api import PaymentId
from admitone.kernel.bulk import Progress, Step, bulk
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.jobs import Priority
from admitone.kernel.scope import Caller

AT_A_TIME: Final = 500
FIRST: Final = UUID(int=0)


class Cancelling(msgspec.Struct, frozen=True):
    cancellation: CancellationId


async def _count(tx: Tx, wanted: Cancelling) -> int:
    return await store.count_planned(tx, wanted.cancellation.uuid)


@bulk("refunds.cancel", of=Cancelling, total=_count, priority=Priority.CRITICAL)
async def cancel(tx: Tx, step: Step[Cancelling]) -> Progress:
    after = UUID(step.cursor) if step.cursor else FIRST
    page = await store.list_planned(tx, step.request.cancellation.uuid, after, AT_A_TIME)
    await order(tx, [each for each in page if each.state is RefundState.PLANNED], step.caller)
    is_last = len(page) < AT_A_TIME
    return Progress(cursor=str(page[-1].payment_id if page else after), done=len(page), finished=is_last)


async def order(tx: Tx, planned: Sequence[Refund], caller: Caller) -> None:
    """Exactly what was planned; where that is not to be had any more, the rest."""
    wanted = [
        RefundWanted(caller, PaymentId(each.payment_id), each.id, each.amount_minor, each.fee_minor, each.reason.value)
        for each in planned
    ]
    said = dict(zip((each.id for each in planned), await payments.begin_refunds(tx, wanted), strict=True))
    overtaken = {own: type(each).code for own, each in said.items() if isinstance(each, Refusal)}
    begun = dict.fromkeys((own for own in said if own not in overtaken), None)
    await store.move_refunds(tx, overtaken, RefundState.OVERTAKEN, [RefundState.PLANNED])
    await store.move_refunds(tx, begun, RefundState.PENDING, [RefundState.PLANNED])
    for each in planned:
        if each.id in begun:
            commands.tell(tx, caller, facts.RefundRequested, each, ())
    await _order_rest(tx, [(each, caller) for each in planned if each.id in overtaken])


async def _order_rest(tx: Tx, overtaken: Sequence[tuple[Refund, Caller]]) -> None:
    """All that is left of what they were to give back, in their stead; if nothing is, or a bank has it, nothing."""
    await commands.request_refunds(
        tx,
        [
            Request(caller, PaymentId(each.payment_id), anew(RefundId(each.id)), each.reason, stands_for=each.id)
            for each, caller in overtaken
        ],
    )


async def go_on(tx: Tx, disputed: Mapping[PaymentId, Caller]) -> None:
    """Something came of a dispute: where the money is with us again, what could not be given back goes."""
    found = await payments.find_payments(tx, disputed)
    ours = [own for own, payment in found.items() if payment.status in payments.PAID]
    theirs = [each for each in await store.find_of_payments(tx, ours) if _goes_by_itself(each)]
    callers = {each.id: disputed[PaymentId(each.payment_id)] for each in theirs}
    await _order_rest(tx, [(each, callers[each.id]) for each in theirs if each.state is RefundState.OVERTAKEN])
    failed = [each for each in theirs if each.state is RefundState.FAILED and each.failure == payments.CHARGE_DISPUTED]
    await commands.retry_refunds(
        tx, [Retry(callers[each.id], RefundId(each.id), anew(RefundId(each.id))) for each in failed]
    )


def _goes_by_itself(refund: Refund) -> bool:
    """Of a cancellation, or of what was never delivered: nobody has to decide on it again."""
    return bool(refund.cancellation_id or refund.stands_for) or refund.reason is Reason.NOT_DELIVERED
