"""Deciding about money that paid for nothing: it goes back, or it pays for its source after all."""

from collections.abc import Sequence

import msgspec

from admitone.finance.payments.commands.recording import read_histories, write_histories
from admitone.finance.payments.errors import AlreadyPaid, NotReturnable, PaymentNotFound
from admitone.finance.payments.model import (
    APPLIED,
    GatewayIntent,
    IntentAction,
    IntentState,
    Payment,
    Reason,
    ReceiptState,
    Recorded,
    RecordedFact,
    RefundState,
    Status,
)
from admitone.finance.payments.policy import Happened
from admitone.finance.payments.store import payments as store
from admitone.finance.payments.store import receipts as receipt_store
from admitone.finance.sources.api import PaymentId
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller

APPLICABLE = frozenset({Reason.LATE})
"""Money of the right amount that only came late may still pay; other money never was the price."""

RETURNABLE = frozenset({Status.NEEDS_MANUAL, Status.REFUNDED})
"""A refund that had arrived may have come back."""


class Decision(msgspec.Struct, frozen=True):
    """Somebody decided what becomes of a payment's unapplied receipt; the system itself gives no reason."""

    caller: Caller
    payment: PaymentId
    reason_code: str | None = None


class Return(msgspec.Struct, frozen=True):
    """What is to be asked of the provider so that the money goes back."""

    payment: Payment
    intent: GatewayIntent


@command()
async def begin_returns(tx: Tx, decisions: Sequence[Decision]) -> list[Return | Refusal]:
    """Say that the money goes back; said twice, it is the same intent."""
    payments = await store.lock_payments(tx, decisions)
    intents = await store.find_intents(tx, payments)
    outcomes: list[Return | Refusal] = []
    for decision in decisions:
        payment = payments.get(decision.payment)
        if payment is None:
            outcomes.append(PaymentNotFound())
            continue
        outcomes.append(await _begin_return(tx, decision, payment, intents[payment.id]))
    return outcomes


async def _begin_return(
    tx: Tx, decision: Decision, payment: Payment, intents: Sequence[GatewayIntent]
) -> Return | Refusal:
    open_one = next(
        (each for each in intents if each.action is IntentAction.REFUND and each.state is IntentState.OPEN), None
    )
    if open_one is not None:
        return Return(payment, open_one)
    receipts = [each for each in await receipt_store.find_receipts(tx, payment.id) if each.state is ReceiptState.OPEN]
    if payment.status not in RETURNABLE or not receipts:
        return NotReturnable()
    [receipt, *_] = receipts
    left = receipt.amount_minor - payment.refunded_minor
    if left <= 0:
        return NotReturnable()
    intent = GatewayIntent(
        uuid7(),
        payment.id,
        IntentAction.REFUND,
        IntentState.OPEN,
        left,
        receipt.currency,
        f"Return of {receipt.reason}",
    )
    await receipt_store.move_receipt(tx, receipt, ReceiptState.RETURNING)
    await store.insert_intents(tx, [intent])
    await _note(tx, decision, "payments.return_receipt")
    return Return(payment, intent)


@command()
async def reopen_receipts(tx: Tx, decisions: Sequence[Decision]) -> list[bool | Refusal]:
    """The provider refused to give it back: somebody must look."""
    await store.lock_payments(tx, decisions)
    outcomes: list[bool | Refusal] = []
    for decision in decisions:
        receipts = await receipt_store.find_receipts(tx, decision.payment)
        returning = [each for each in receipts if each.state is ReceiptState.RETURNING]
        outcomes.append(any([await receipt_store.move_receipt(tx, each, ReceiptState.OPEN) for each in returning]))
    return outcomes


@command()
async def apply(tx: Tx, decisions: Sequence[Decision]) -> list[Recorded | Refusal]:
    """The money pays for its source after all, if nothing else has (NEEDS_MANUAL to SUCCEEDED)."""
    histories = await read_histories(tx, decisions)
    rivals = await store.find_rivals(tx, [each.payment for each in histories.values()])
    outcomes: list[PaymentId | Refusal] = []
    for decision in decisions:
        history = histories.get(decision.payment)
        if history is None:
            outcomes.append(PaymentNotFound())
        elif not await _may_be_applied(tx, history.payment):
            outcomes.append(NotReturnable())
        elif decision.payment in rivals:
            outcomes.append(AlreadyPaid())
        else:
            capture = Happened(history.before).capture
            assert capture is not None
            key = f"applied:{capture.key}"
            history.caller = decision.caller
            history.learn(RecordedFact(APPLIED, key, tx.now, capture.reference))
            await _note(tx, decision, "payments.apply_receipt")
            outcomes.append(decision.payment)
    moved = await write_histories(tx, [histories[each] for each in outcomes if isinstance(each, PaymentId)])
    return [moved[each] if isinstance(each, PaymentId) else each for each in outcomes]


async def _may_be_applied(tx: Tx, payment: Payment) -> bool:
    """Not while any of it went back, or is on its way."""
    if payment.status is not Status.NEEDS_MANUAL or payment.manual_reason not in APPLICABLE:
        return False
    if payment.refunded_minor or payment.refund_state is RefundState.PENDING:
        return False
    intents = (await store.find_intents(tx, [payment.id]))[payment.id]
    if any(each.action is IntentAction.REFUND and each.state is IntentState.OPEN for each in intents):
        return False
    receipts = await receipt_store.find_receipts(tx, payment.id)
    return all(each.state is not ReceiptState.RETURNING for each in receipts)


async def _note(tx: Tx, decision: Decision, action: str) -> None:
    entry = audit.Entry(decision.caller, action, str(decision.payment), reason_code=decision.reason_code)
    await audit.record(tx, [entry])
