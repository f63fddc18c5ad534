"""Deciding about money that paid for nothing: it goes back, or it pays for its source after all."""

from collections.abc import Mapping, Sequence

import msgspec

from admitone.finance.payments.commands.answers import LONGEST_REASON
from admitone.finance.payments.commands.checkouts import ask_shops
from admitone.finance.payments.commands.recording import History, read_histories, write_histories
from admitone.finance.payments.errors import (
    AlreadyPaid,
    NotReturnable,
    OfferEnded,
    PaymentInProgress,
    PaymentNotFound,
    ReturnSpent,
    SourceNotSold,
)
from admitone.finance.payments.model import (
    APPLIED,
    MOST_UNANSWERED,
    PAID,
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
from admitone.finance.payments.policy import Happened, Receipt
from admitone.finance.payments.store import intents as intent_store
from admitone.finance.payments.store import payments as store
from admitone.finance.payments.store import receipts as receipt_store
from admitone.finance.payments.store.intents import Settlement
from admitone.finance.sources.api import PaymentId, Source
from admitone.finance.sources.port import Wanted
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
BESIDES = frozenset({Reason.SURPLUS, Reason.SECOND_CAPTURE})
"""Money that came besides what paid."""


class Decision(msgspec.Struct, frozen=True):
    """Somebody decided what becomes of a payment's unapplied receipt; the system itself gives no reason."""

    caller: Caller
    payment: PaymentId
    reason_code: str | None = None
    capture_key: str | None = None
    """Of which receipt, where a payment has several; left out, of the first."""


class Return(msgspec.Struct, frozen=True):
    """What is to be asked of the provider so that the money goes back."""

    payment: Payment
    intent: GatewayIntent


class RefusedReturn(msgspec.Struct, frozen=True):
    """What the provider said to an intent that it refused."""

    intent: GatewayIntent
    code: str

    @property
    def payment(self) -> PaymentId:
        return self.intent.payment


@command()
async def begin_returns(tx: Tx, decisions: Sequence[Decision]) -> list[Return | Refusal]:
    """Say that the money goes back; said twice, it is the same intent."""
    payments = await store.lock_payments(tx, decisions)
    intents = await intent_store.find_intents(tx, payments)
    outcomes: list[Return | Refusal] = []
    for decision in decisions:
        payment = payments.get(decision.payment)
        begun = await _begin_return(tx, decision, payment, intents[payment.id]) if payment else PaymentNotFound()
        if isinstance(begun, Return) and begun.intent not in intents[begun.payment.id]:
            intents[begun.payment.id].append(begun.intent)
        outcomes.append(begun)
    return outcomes


async def _begin_return(
    tx: Tx, decision: Decision, payment: Payment, intents: Sequence[GatewayIntent]
) -> Return | Refusal:
    open_one = next((each for each in intents if each.is_return and each.state is IntentState.OPEN), None)
    if open_one is not None:
        is_spent = open_one.unanswered >= MOST_UNANSWERED and decision.reason_code is None
        return ReturnSpent() if is_spent else Return(payment, open_one)
    receipt = next(
        (each for each in await receipt_store.find_receipts(tx, payment.id) if _is_meant(decision, payment, each)), None
    )
    left = min(receipt.amount_minor, payment.captured_minor - payment.refunded_minor) if receipt else 0
    if receipt is None or left <= 0:
        return NotReturnable()
    intent = GatewayIntent(
        uuid7(),
        payment.id,
        IntentAction.REFUND,
        IntentState.OPEN,
        left,
        receipt.currency,
        f"Return of {receipt.reason}",
        capture_key=receipt.capture_key,
    )
    await receipt_store.move_receipt(tx, receipt, ReceiptState.RETURNING)
    await intent_store.insert_intents(tx, [intent])
    await _note(tx, decision, "payments.return_receipt")
    return Return(payment, intent)


def _is_meant(decision: Decision, payment: Payment, receipt: Receipt) -> bool:
    """Whether a receipt may go back, and is the one that was named; what is only too much also of what is paid."""
    statuses = RETURNABLE | PAID if receipt.reason in BESIDES else RETURNABLE
    is_named = decision.capture_key in (None, receipt.capture_key)
    return is_named and receipt.state is ReceiptState.OPEN and payment.status in statuses


@command()
async def refuse_returns(tx: Tx, refused: Sequence[RefusedReturn]) -> list[bool]:
    """The provider refused to give it back: the intent is settled, and somebody must look at the receipt."""
    await store.lock_payments(tx, refused)
    reasons = {each.intent.id: each.code[:LONGEST_REASON] or "refused" for each in refused}
    settled = await intent_store.settle_intents(
        tx, [Settlement(own, IntentState.REFUSED, why) for own, why in reasons.items()]
    )
    for each in refused:
        if each.intent.id in settled and each.intent.capture_key is not None:
            await receipt_store.reopen_returning(tx, each.payment, each.intent.capture_key)
    return [each.intent.id in settled for each in refused]


@command()
async def count_unanswered(tx: Tx, intents: Sequence[GatewayIntent]) -> list[None]:
    """The provider was asked and did not answer: by ourselves we ask it so many times and no more (PAY-069)."""
    await intent_store.count_unanswered(tx, [each.id for each in intents])
    return [None for _ in intents]


@command()
async def apply(tx: Tx, decisions: Sequence[Decision]) -> list[Recorded | Refusal]:
    """The money pays for its source after all (NEEDS_MANUAL to SUCCEEDED), if nothing else has, nobody is about to, and
    the shop, which is asked again and so keeps it again, still sells it to that buyer."""
    histories = await read_histories(tx, decisions)
    refusals = await _keep_from_applying(tx, histories)
    applied: set[Source] = set()
    outcomes: list[PaymentId | Refusal] = []
    for decision in decisions:
        history = histories.get(decision.payment)
        if history is None:
            outcomes.append(PaymentNotFound())
        elif not await _may_be_applied(tx, history.payment):
            outcomes.append(NotReturnable())
        elif (refusal := refusals[decision.payment]) is not None:
            outcomes.append(refusal)
        elif history.payment.source in applied:
            outcomes.append(AlreadyPaid())
        else:
            capture = Happened(history.before).capture
            assert capture is not None
            key = f"applied:{capture.key}"
            history.caller = decision.caller
            history.learn(RecordedFact(APPLIED, key, tx.now, capture.reference))
            await _note(tx, decision, "payments.apply_receipt")
            applied.add(history.payment.source)
            outcomes.append(decision.payment)
    moved = await write_histories(tx, [histories[each] for each in outcomes if isinstance(each, PaymentId)])
    return [moved[each] if isinstance(each, PaymentId) else each for each in outcomes]


async def _keep_from_applying(tx: Tx, histories: Mapping[PaymentId, History]) -> dict[PaymentId, Refusal | None]:
    """What keeps each from paying, besides itself."""
    payments = [each.payment for each in histories.values()]
    rivals = await store.find_rivals(tx, payments)
    taken = await store.find_taken(tx, payments)
    wanted = [Wanted(Caller(each.identity), each.source, is_signed_in=True) for each in payments]
    found: dict[PaymentId, Refusal | None] = {}
    for payment, offer in zip(payments, await ask_shops(tx, wanted), strict=True):
        if payment.id in rivals:
            found[payment.id] = AlreadyPaid()
        elif payment.id in taken:
            found[payment.id] = PaymentInProgress()
        elif isinstance(offer, Refusal):
            found[payment.id] = offer
        elif offer.buyer != payment.identity:
            found[payment.id] = SourceNotSold()
        else:
            found[payment.id] = OfferEnded() if offer.expires_at <= tx.now else None
    return found


async def _may_be_applied(tx: Tx, payment: Payment) -> bool:
    """Not while any of it went back, or is on its way."""
    if payment.status is not Status.NEEDS_MANUAL or payment.manual_reason not in APPLICABLE:
        return False
    if payment.refunded_minor or payment.refund_state is RefundState.PENDING:
        return False
    intents = (await intent_store.find_intents(tx, [payment.id]))[payment.id]
    if any(each.action is IntentAction.REFUND and each.state is IntentState.OPEN for each in intents):
        return False
    receipts = await receipt_store.find_receipts(tx, payment.id)
    return all(each.state is not ReceiptState.RETURNING for each in receipts)


async def _note(tx: Tx, decision: Decision, action: str) -> None:
    entry = audit.Entry(decision.caller, action, str(decision.payment), reason_code=decision.reason_code)
    await audit.record(tx, [entry])
