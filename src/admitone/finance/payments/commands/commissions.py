"""Commissions of what the platform holds for others: held when it is confirmed, kept by what was agreed.

Promise: no more is held than is still there, and what goes back of it with a refund or a lost dispute is in proportion
to the money, of what is held and not kept (U-06, U-07). Said twice under one cause, it happened once.
"""

from collections.abc import Sequence

import msgspec

from admitone.finance.payments.commands.recording import History, read_histories, write_histories
from admitone.finance.payments.errors import CommissionTooMuch, PaymentNotFound
from admitone.finance.payments.model import COMMISSION_HELD, COMMISSION_KEPT, Recorded, RecordedFact, is_paid
from admitone.finance.payments.policy import Happened
from admitone.finance.sources.api import Flow, PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller


class Commission(msgspec.Struct, frozen=True):
    """So much of a payment, for this cause: the vertical's own word for what it decided."""

    caller: Caller
    payment: PaymentId
    amount_minor: int
    cause: str


@command()
async def hold_commissions(tx: Tx, commissions: Sequence[Commission]) -> list[Recorded | Refusal]:
    """What was paid for is confirmed; posted in the same transaction."""
    return await _learn(tx, commissions, COMMISSION_HELD)


@command()
async def keep_commissions(tx: Tx, commissions: Sequence[Commission]) -> list[Recorded | Refusal]:
    """Said before the money goes back of which it is kept."""
    return await _learn(tx, commissions, COMMISSION_KEPT)


async def _learn(tx: Tx, commissions: Sequence[Commission], kind: str) -> list[Recorded | Refusal]:
    histories = await read_histories(tx, commissions)
    outcomes: list[PaymentId | Refusal] = []
    for each in commissions:
        history = histories.get(each.payment)
        key = f"{kind.lower()}:{each.cause}"
        if history is None:
            outcomes.append(PaymentNotFound())
        elif key in {fact.key for fact in history.after}:
            outcomes.append(each.payment)
        elif not 0 < each.amount_minor <= _most(history, kind):
            outcomes.append(CommissionTooMuch())
        else:
            history.caller = each.caller
            currency = history.payment.currency
            history.learn(RecordedFact(kind, key, tx.now, each.cause, each.amount_minor, currency))
            outcomes.append(each.payment)
    moved = await write_histories(tx, [histories[each] for each in outcomes if isinstance(each, PaymentId)])
    return [moved[each] if isinstance(each, PaymentId) else each for each in outcomes]


def _most(history: History, kind: str) -> int:
    """How much may still be held, or kept of it."""
    payment, happened = history.payment, Happened(history.after)
    if payment.flow is not Flow.STAY or not is_paid(payment.status):
        return 0
    held, kept = (sum(fact.amount_minor for fact in happened.of(each)) for each in (COMMISSION_HELD, COMMISSION_KEPT))
    return held - kept if kind == COMMISSION_KEPT else payment.amount_minor - happened.refunded_minor - held
