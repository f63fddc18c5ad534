"""Recording what happened to payments: lock, fold, post, publish.

Promise: a fact counts once, whoever brings it how often: the webhook, the answer to our own call, the poller. Ledger,
status and facts commit together, the ledger first (FIN-052). A reference that is another payment's is refused with
everything that came with it. What may end a payment for good is taken only from whoever tells the whole charge: told
alone, it makes us ask, so nothing that was told later can have come before it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import msgspec

from admitone.finance.gateways.api import FactKind, ProviderFact
from admitone.finance.ledger import api as ledger
from admitone.finance.payments.books import fresh_postings
from admitone.finance.payments.errors import ForeignReference, PaymentNotFound
from admitone.finance.payments.facts import (
    AttemptsSpent,
    DisputeRecorded,
    PaymentBooked,
    PaymentContradicted,
    PaymentIncomplete,
    ProcessorFeesFinal,
    ReceiptChanged,
    ReceiptUnapplied,
    RefundFailed,
    RefundReturned,
    RefundSettled,
    told_of,
)
from admitone.finance.payments.model import (
    OPEN,
    REFUND_BEGUN,
    FeesStatus,
    Payment,
    ReceiptState,
    Recorded,
    RecordedFact,
    Status,
    Told,
)
from admitone.finance.payments.policy import Happened, Receipt, RefundEnd, Standing, fold, receipts_of, way
from admitone.finance.payments.store import payments as store
from admitone.finance.payments.store import receipts as receipt_store
from admitone.finance.payments.store.facts import find_facts, insert_facts
from admitone.finance.payments.store.payments import Move
from admitone.finance.payments.store.references import Belonging, claim_refs
from admitone.finance.payments.store.subjects import insert_subjects
from admitone.finance.sources.api import PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger

ENDINGS: Final = (FactKind.REFUNDED, FactKind.DISPUTE_LOST)
DISPUTES: Final = (FactKind.DISPUTE_OPENED, FactKind.DISPUTE_WON, FactKind.DISPUTE_LOST)
FEES: Final = (FactKind.FEE, FactKind.FEE_ADJUSTMENT)


class _About(Protocol):
    @property
    def payment(self) -> PaymentId: ...


@dataclass
class History:
    """One payment while things are recorded of it."""

    payment: Payment
    before: Sequence[RecordedFact]
    caller: Caller = field(default_factory=Caller)
    news: list[RecordedFact] = field(default_factory=list)
    charge_id: str | None = None
    is_readable: bool = False
    """Whether its provider told the whole charge in words that we know."""
    must_ask: bool = False
    contradiction: str | None = None
    """What was told that cannot be, as the payment stands."""

    @property
    def after(self) -> list[RecordedFact]:
        return [*self.before, *self.news]

    @property
    def is_changed(self) -> bool:
        is_found = self.charge_id is not None and self.payment.charge_id is None
        is_read_again = self.is_readable and self.payment.unreadable_status is not None
        return bool(self.news) or is_found or is_read_again

    @property
    def may_have_rivals(self) -> bool:
        return not self.payment.applied and any(fact.kind is FactKind.CAPTURED for fact in self.after)

    @property
    def is_disputed_after_refund(self) -> bool:
        """Whether a dispute was opened of what had gone back already: the money has left twice."""
        if not any(fact.kind in DISPUTES for fact in self.news):
            return False
        known = {fact.reference for fact in self.before}
        happened = Happened(self.after)
        return any(
            dispute not in known
            for each in (happened, *happened.others)
            for dispute in each.disputes - each.decisive_disputes
            if each.capture
        )

    def hear(self, caller: Caller, facts: Sequence[ProviderFact], *, is_whole: bool) -> None:
        """Take down what a provider says, in the order in which it happened."""
        self.caller = caller
        self.is_readable = self.is_readable or is_whole
        known = {each.key for each in self.after}
        for fact in map(RecordedFact.of, sorted(facts, key=lambda fact: fact.at)):
            if fact.kind is FactKind.CAPTURED and not fact.amount_minor:
                continue  # Nothing came.
            if is_whole or fact.kind not in ENDINGS:
                self.learn(fact)
            else:
                self.must_ask = self.must_ask or fact.key not in known

    def learn(self, fact: RecordedFact) -> None:
        """Take it down, unless it is known."""
        known = {each.key: each for each in self.after}
        same = known.get(fact.key)
        if same is None:
            self.news.append(msgspec.structs.replace(fact, ordinal=len(known) + 1))
        elif fact.kind is FactKind.FEE and (same.amount_minor, same.at) != (fact.amount_minor, fact.at):
            self._adjust(fact)

    def _adjust(self, fact: RecordedFact) -> None:
        """The provider tells the fee anew, where it should tell the difference (FIN-042)."""
        told = [each for each in self.after if each.kind in FEES and each.reference == fact.reference]
        if any(each.currency != fact.currency for each in told):
            logger().error("payment.fee_of_two_currencies", paymentId=str(self.payment.id), told=fact.currency)
            return  # There is no difference between them.
        if fact.at < max(each.at for each in told):
            return
        difference = fact.amount_minor - sum(each.amount_minor for each in told)
        if not difference:
            return
        said = f"{fact.reference}:{fact.amount_minor}:{fact.at.isoformat()}"
        key = f"fee_adjustment:{hashlib.sha256(said.encode()).hexdigest()}"
        self.learn(msgspec.structs.replace(fact, kind=FactKind.FEE_ADJUSTMENT, key=key, amount_minor=difference))


@command()
async def record(tx: Tx, told: Sequence[Told]) -> list[Recorded | Refusal]:
    """What providers say of payments."""
    histories = await read_histories(tx, told)
    foreign = await claim_refs(tx, [_claims(each, histories.get(each.payment)) for each in told])
    outcomes: list[History | Refusal] = []
    for position, each in enumerate(told):
        history = histories.get(each.payment)
        if history is None or history.payment.provider is not each.provider:
            outcomes.append(PaymentNotFound())
        elif position in foreign:
            outcomes.append(ForeignReference())
        else:
            history.hear(each.caller, each.facts, is_whole=each.is_whole)
            # An event that tells nothing tells that there is something to ask for.
            history.must_ask = history.must_ask or not (each.facts or each.asked)
            history.charge_id = history.charge_id or next((ref.id for ref in each.refs), None)
            outcomes.append(history)
    moved = await write_histories(tx, [each for each in outcomes if isinstance(each, History)])
    return [moved[each.payment.id] if isinstance(each, History) else each for each in outcomes]


def _claims(told: Told, history: History | None) -> list[Belonging]:
    if history is None or history.payment.provider is not told.provider:
        return []
    return [Belonging(told.provider, ref, told.payment) for ref in told.refs]


async def read_histories(tx: Tx, inputs: Sequence[_About]) -> dict[PaymentId, History]:
    """The payments that these inputs are about, held until the end, with everything that happened to them."""
    payments = await store.lock_payments(tx, inputs)
    facts = await find_facts(tx, payments)
    return {own: History(payment, facts[own]) for own, payment in payments.items()}


async def write_histories(tx: Tx, histories: Sequence[History]) -> dict[PaymentId, Recorded]:
    """Post, then stand, then tell; what is not news changes nothing."""
    unique = {history.payment.id: history for history in histories}
    changed = {own: history for own, history in unique.items() if history.is_changed}
    rivals = await store.find_rivals(tx, [each.payment for each in changed.values() if each.may_have_rivals])
    moves = await _moves(tx, changed, rivals)
    postings = [
        posting
        for own, history in changed.items()
        for posting in fresh_postings(
            history.payment, history.before, history.after, history.caller, rival=own in rivals
        )
    ]
    booked = {posting.payment for posting in postings}
    returned = {posting.payment for posting in postings if posting.event is ledger.Event.REFUND_RETURNED}
    if postings:
        await ledger.post(tx, postings)
    await insert_facts(tx, {own: history.news for own, history in changed.items()})
    await store.stand(tx, [*moves.values()])
    await insert_subjects(tx, [move.payment for move in moves.values() if move.is_applied_now])
    await _keep_receipts(tx, changed, rivals)
    for own, history in unique.items():
        if own in moves:
            _publish(tx, history.caller, moves[own], is_booked=own in booked)
            _publish_refunds(tx, history)
        if own in returned:
            tx.publish(history.caller, RefundReturned(payment_id=own))
        if any(fact.kind in DISPUTES for fact in history.news):
            tx.publish(history.caller, DisputeRecorded(payment_id=own))
        if history.must_ask or (own in moves and moves[own].standing.must_ask):
            tx.publish(history.caller, PaymentIncomplete(payment_id=own))
        if history.contradiction:
            status = moves[own].standing.status.value
            fact = PaymentContradicted(payment_id=own, status=status, told=history.contradiction)
            tx.publish(history.caller, fact)
    return {
        own: Recorded(own, moves[own].standing.status if own in moves else history.payment.status, own in changed)
        for own, history in unique.items()
    }


async def _moves(tx: Tx, changed: Mapping[PaymentId, History], rivals: set[PaymentId]) -> dict[PaymentId, Move]:
    standings = {own: fold(each.payment, each.after, rival=own in rivals) for own, each in changed.items()}
    begun_again = [
        changed[own].payment
        for own, standing in standings.items()
        if changed[own].payment.status is Status.FAILED and standing.status in OPEN
    ]
    taken = await store.find_taken(tx, begun_again)
    return {own: _move(history, standings[own], is_taken=own in taken) for own, history in changed.items()}


def _move(history: History, standing: Standing, *, is_taken: bool) -> Move:
    payment = history.payment
    if is_taken:
        # Somebody pays for the source, or has: what failed may be tried again only while it is open (U-28).
        standing = msgspec.structs.replace(standing, status=payment.status)
    steps = way(payment, standing)
    if steps is None:
        # What is told contradicts what was final. The books have it, and the payment stays as it is (unification (c)).
        logger().error("payment.contradicted", paymentId=str(payment.id), told=standing.status.value)
        history.contradiction = standing.status.value
        standing, steps = msgspec.structs.replace(standing, status=payment.status), []
    elif history.is_disputed_after_refund:
        history.contradiction = Status.DISPUTED.value
    if payment.applied and not standing.applied:
        standing = msgspec.structs.replace(standing, applied=True)
    return Move(payment, standing, tuple(steps), history.charge_id)


async def _keep_receipts(tx: Tx, changed: Mapping[PaymentId, History], rivals: set[PaymentId]) -> None:
    """Receipts that paid for nothing are kept, and what became of those that are kept already."""
    fresh: list[Receipt] = []
    settled: list[Receipt] = []
    for own, history in changed.items():
        known = {each.capture_key: each for each in receipts_of(history.payment, history.before, rival=own in rivals)}
        came_back = any(fact.kind is FactKind.REFUND_FAILED for fact in history.news)
        for receipt in receipts_of(history.payment, history.after, rival=own in rivals):
            if receipt.capture_key not in known:
                fresh.append(receipt)
            elif came_back or receipt.state is not known[receipt.capture_key].state:
                settled.append(receipt)
    await receipt_store.insert_receipts(tx, fresh)
    await receipt_store.settle_receipts(tx, [each for each in settled if each.state is not ReceiptState.OPEN])
    await receipt_store.reopen_receipts(tx, [each for each in settled if each.state is ReceiptState.OPEN])
    for receipt in settled:
        became = ReceiptChanged(payment_id=receipt.payment_id, state=receipt.state.value)
        tx.publish(changed[receipt.payment_id].caller, became)
    for receipt in fresh:
        told = ReceiptUnapplied(
            payment_id=receipt.payment_id,
            reason=receipt.reason,
            amount_minor=receipt.amount_minor,
            currency=receipt.currency,
        )
        tx.publish(changed[receipt.payment_id].caller, told)


def _publish_refunds(tx: Tx, history: History) -> None:
    """How those ended that we ordered."""
    if not any(fact.kind == REFUND_BEGUN for fact in history.after):
        return
    own, before, after = history.payment.id, Happened(history.before).ends, Happened(history.after)
    for refund, end in after.ends.items():
        if before.get(refund) is end:
            continue
        if end is RefundEnd.SETTLED:
            tx.publish(history.caller, RefundSettled(payment_id=own, refund_id=refund))
        else:
            tx.publish(history.caller, RefundFailed(payment_id=own, refund_id=refund, reason=after.why_failed(refund)))


def _publish(tx: Tx, caller: Caller, move: Move, *, is_booked: bool) -> None:
    payment, standing = move.payment, move.standing
    before = len(tx.published)
    # A second part that is refunded leaves it where it stood, and is told as the first one was.
    is_part = standing.status is Status.PARTIAL_REFUND and standing.refunded_minor != payment.refunded_minor
    for number, status in enumerate(move.way or [Status.PARTIAL_REFUND] * is_part, start=1):
        tx.publish(caller, told_of(payment, status, payment.version + number, standing.refunded_minor))
    if standing.fees_status is FeesStatus.FINAL and payment.processor_fees_actual != standing.fees_actual:
        fees = standing.fees_actual or 0
        tx.publish(caller, ProcessorFeesFinal(payment_id=payment.id, fees_minor=fees, currency=payment.currency))
    if is_booked and len(tx.published) == before:
        tx.publish(caller, PaymentBooked(payment_id=payment.id))
    if standing.is_spent and standing.status is Status.FAILED:
        tx.publish(caller, AttemptsSpent(payment_id=payment.id))
