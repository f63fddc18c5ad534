"""Recording what happened to payments: lock, fold, post, publish.

Promise: a fact counts once, whoever brings it how often: the webhook, the answer to our own call, the poller. Ledger,
status and facts commit together, the ledger first (FIN-052). A reference that is another payment's is refused with
everything that came with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from admitone.finance.gateways.api import FactKind, ProviderFact
from admitone.finance.ledger import api as ledger
from admitone.finance.payments.errors import ForeignReference, PaymentNotFound
from admitone.finance.payments.facts import (
    AttemptsSpent,
    PaymentIncomplete,
    ProcessorFeesFinal,
    ReceiptUnapplied,
    told_of,
)
from admitone.finance.payments.model import FeesStatus, Payment, Recorded, RecordedFact, Status, Told
from admitone.finance.payments.policy import fold, fresh_postings, path, receipts_of
from admitone.finance.payments.store import payments as store
from admitone.finance.payments.store import receipts as receipt_store
from admitone.finance.payments.store.payments import Move
from admitone.finance.payments.store.references import Belonging, put_refs
from admitone.finance.sources.api import PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import logger


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

    @property
    def after(self) -> list[RecordedFact]:
        return [*self.before, *self.news]

    @property
    def may_have_rivals(self) -> bool:
        return not self.payment.applied and any(fact.kind is FactKind.CAPTURED for fact in self.after)

    def learn(self, fact: RecordedFact) -> None:
        """Take it down, unless it is known."""
        known = {each.key: each for each in self.after}
        same = known.get(fact.key)
        if same is not None and fact.kind is FactKind.FEE and same.amount_minor != fact.amount_minor:
            fact = self._adjustment(fact)  # The provider tells the fee, where it should tell the difference (FIN-042).
            same = known.get(fact.key)
        if same is None:
            self.news.append(msgspec.structs.replace(fact, ordinal=len(known) + 1))

    def _adjustment(self, fact: RecordedFact) -> RecordedFact:
        fees = [each for each in self.after if each.kind in (FactKind.FEE, FactKind.FEE_ADJUSTMENT)]
        difference = fact.amount_minor - sum(each.amount_minor for each in fees)
        key = f"fee_adjustment:{fact.reference}:{fact.amount_minor}"
        return msgspec.structs.replace(fact, kind=FactKind.FEE_ADJUSTMENT, key=key, amount_minor=difference)


@command()
async def record(tx: Tx, told: Sequence[Told]) -> list[Recorded | Refusal]:
    """What providers say of payments."""
    histories = await read_histories(tx, told)
    foreign = await put_refs(tx, _belongings(told, histories))
    outcomes: list[History | Refusal] = []
    for each in told:
        history = histories.get(each.payment)
        if history is None or history.payment.provider is not each.provider:
            outcomes.append(PaymentNotFound())
        elif foreign.intersection(each.refs):
            outcomes.append(ForeignReference())
        else:
            _learn(history, each.caller, each.facts)
            history.charge_id = history.charge_id or next((ref.id for ref in each.refs), None)
            outcomes.append(history)
    moved = await write_histories(tx, [each for each in outcomes if isinstance(each, History)])
    return [moved[each.payment.id] if isinstance(each, History) else each for each in outcomes]


async def read_histories(tx: Tx, inputs: Sequence[_About]) -> dict[PaymentId, History]:
    """The payments that these inputs are about, held until the end, with everything that happened to them."""
    payments = await store.lock_payments(tx, inputs)
    facts = await store.find_facts(tx, payments)
    return {own: History(payment, facts[own]) for own, payment in payments.items()}


def _belongings(told: Sequence[Told], histories: Mapping[PaymentId, History]) -> list[Belonging]:
    return sorted(
        {
            Belonging(each.provider, ref, each.payment)
            for each in told
            if each.payment in histories and histories[each.payment].payment.provider is each.provider
            for ref in each.refs
        },
        key=lambda belonging: belonging.ref,
    )


def _learn(history: History, caller: Caller, facts: Sequence[ProviderFact]) -> None:
    history.caller = caller
    for fact in facts:
        history.learn(RecordedFact.of(fact))


async def write_histories(tx: Tx, histories: Sequence[History]) -> dict[PaymentId, Recorded]:
    """Post, then stand, then tell; what is not news changes nothing."""
    unique = {history.payment.id: history for history in histories}
    changed = {own: history for own, history in unique.items() if history.news or _is_named(history)}
    rivals = await store.find_rivals(tx, [each.payment for each in changed.values() if each.may_have_rivals])
    moves = {own: _move(history, rival=own in rivals) for own, history in changed.items()}
    postings = [
        posting
        for own, history in changed.items()
        for posting in fresh_postings(
            history.payment, history.before, history.after, history.caller, rival=own in rivals
        )
    ]
    booked = {posting.payment for posting in postings}
    if postings:
        await ledger.post(tx, postings)
    await store.insert_facts(tx, {own: history.news for own, history in changed.items()})
    await store.stand(tx, [*moves.values()])
    await _keep_receipts(tx, changed, rivals)
    for own, history in changed.items():
        _publish(tx, history.caller, moves[own], is_booked=own in booked)
    return {
        own: Recorded(own, moves[own].standing.status if own in moves else history.payment.status, own in changed)
        for own, history in unique.items()
    }


def _is_named(history: History) -> bool:
    return history.charge_id is not None and history.payment.charge_id is None


def _move(history: History, *, rival: bool) -> Move:
    payment = history.payment
    standing = fold(payment, history.after, rival=rival)
    way = path(payment.status, standing.status)
    if way is None:
        # What is told contradicts what was final. The books have it, and the payment stays as it is (unification (c)).
        logger().error("payment.contradicted", paymentId=str(payment.id), told=standing.status.value)
        standing, way = msgspec.structs.replace(standing, status=payment.status), []
    if payment.applied and not standing.applied:
        standing = msgspec.structs.replace(standing, applied=True)
    return Move(payment, standing, max(len(way), 1), history.charge_id)


async def _keep_receipts(tx: Tx, changed: Mapping[PaymentId, History], rivals: set[PaymentId]) -> None:
    """Receipts that paid for nothing are kept, and what became of those that are kept already."""
    fresh, settled = [], []
    for own, history in changed.items():
        known = {each.capture_key: each for each in receipts_of(history.payment, history.before, rival=own in rivals)}
        for receipt in receipts_of(history.payment, history.after, rival=own in rivals):
            if receipt.capture_key not in known:
                fresh.append(receipt)
                tx.publish(
                    history.caller,
                    ReceiptUnapplied(
                        payment_id=own,
                        capture_key=receipt.capture_key,
                        reason=receipt.reason,
                        amount_minor=receipt.amount_minor,
                        currency=receipt.currency,
                    ),
                )
            elif receipt.state is not known[receipt.capture_key].state:
                settled.append(receipt)
    await receipt_store.insert_receipts(tx, fresh)
    await receipt_store.settle_receipts(tx, settled)


def _publish(tx: Tx, caller: Caller, move: Move, *, is_booked: bool) -> None:
    payment, standing = move.payment, move.standing
    # Where it stands is told again when the books have more of it: a second part is refunded, a fee is taken.
    steps = path(payment.status, standing.status) or [standing.status] * is_booked
    for number, status in enumerate(steps, start=1):
        tx.publish(caller, told_of(payment, status, payment.version + number, standing.refunded_minor))
    if standing.fees_status is FeesStatus.FINAL and payment.processor_fees_actual != standing.fees_actual:
        fees = standing.fees_actual or 0
        tx.publish(caller, ProcessorFeesFinal(payment_id=payment.id, fees_minor=fees, currency=payment.currency))
    if standing.must_ask:
        tx.publish(caller, PaymentIncomplete(payment_id=payment.id))
    if standing.is_spent and standing.status is Status.FAILED:
        tx.publish(caller, AttemptsSpent(payment_id=payment.id))
