"""Giving back what was paid for: ordered here, booked when it is ordered, settled when the provider says so (U-05).

Promise: never more is ordered than was captured and is not on its way back (MOR-042), however many order at once; the
parts of the fee that go back with all parts together are the fee (GAP-6). An order is written before the provider is
asked, under the id that is its key there. One that the provider refuses three times is given up: what was booked for it
is booked back, and somebody must look (MOR-045). One that it does not answer is not given up, for nobody knows, and
spends none of the three: it is looked for until there is an answer, and somebody is told that there is none.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import PlannedCall
from admitone.finance.ledger import api as ledger
from admitone.finance.payments.books import fee_of, fresh_postings, left_of
from admitone.finance.payments.commands.recording import History, read_histories, write_histories
from admitone.finance.payments.errors import NotRefundable, PaymentNotFound, RefundTooMuch
from admitone.finance.payments.facts import RefundBegun
from admitone.finance.payments.model import (
    PAID,
    REFUND_BEGUN,
    REFUND_GIVEN_UP,
    GatewayIntent,
    IntentAction,
    IntentState,
    Payment,
    RecordedFact,
)
from admitone.finance.payments.policy import Happened
from admitone.finance.payments.store import intents as intent_store
from admitone.finance.payments.store.facts import find_facts
from admitone.finance.payments.store.intents import Settlement
from admitone.finance.sources.api import PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller

MOST_REFUSED: Final = 3
LONGEST_REASON: Final = 200


class RefundWanted(msgspec.Struct, frozen=True):
    """Order that so much goes back to whoever paid."""

    caller: Caller
    payment: PaymentId
    refund: UUID
    """Whoever orders it twice under one id orders it once."""
    amount_minor: int
    fee_minor: int | None = None
    """Of the platform's fee, just so much; left out, in proportion. With the last of the price goes the last of it."""
    description: str = "Refund"
    at_most: bool = False
    """Less of the price, if less is left."""
    rounded: bool = False
    """The fee is what was rounded elsewhere, and comes out even here: a little less, if less is left of it."""


class Refunding(msgspec.Struct, frozen=True):
    """A refund that was ordered."""

    payment: Payment
    intent: GatewayIntent
    replayed: bool = False


class PlannedRefund(msgspec.Struct, frozen=True):
    """What a refund would do, were it ordered now."""

    payment: PaymentId
    version: int
    amount_minor: int
    fee_minor: int
    currency: str
    postings: tuple[ledger.PlannedTransfer, ...]
    calls: tuple[PlannedCall, ...]


class RefusedRefund(msgspec.Struct, frozen=True):
    """What the provider said to an order that it refused."""

    caller: Caller
    payment: PaymentId
    intent: GatewayIntent
    code: str


@command()
async def begin_refunds(tx: Tx, wanted: Sequence[RefundWanted]) -> list[Refunding | Refusal]:
    """Order each, or say why not."""
    histories = await read_histories(tx, wanted)
    known = await intent_store.find_intents(tx, histories)
    intents = {each.id: each for every in known.values() for each in every}
    fresh: list[GatewayIntent] = []
    outcomes: list[Refunding | Refusal] = []
    for each in wanted:
        history = histories.get(each.payment)
        if history is None:
            outcomes.append(PaymentNotFound())
        elif each.refund in intents:
            outcomes.append(Refunding(history.payment, intents[each.refund], replayed=True))
        elif isinstance(begun := _begun(history, each, tx), Refusal):
            outcomes.append(begun)
        else:
            history.caller = each.caller
            history.learn(begun)
            intent = intents[each.refund] = _intent(history, each, begun)
            fresh.append(intent)
            tx.publish(each.caller, RefundBegun(payment_id=each.payment, refund_id=str(each.refund)))
            outcomes.append(Refunding(history.payment, intent))
    await write_histories(tx, [*histories.values()])
    await intent_store.insert_intents(tx, fresh)
    return outcomes


def _begun(history: History, wanted: RefundWanted, tx: Tx) -> RecordedFact | Refusal:
    payment, facts = history.payment, history.after
    if payment.status not in PAID:
        return NotRefundable(status=payment.status.value)
    left = left_of(payment, facts)
    amount = min(wanted.amount_minor, left.price_minor) if wanted.at_most else wanted.amount_minor
    if not 0 < amount <= left.price_minor:
        return RefundTooMuch(left_minor=left.price_minor, currency=payment.currency)
    fee = fee_of(payment, facts, amount) if wanted.fee_minor is None else wanted.fee_minor
    if wanted.rounded or wanted.fee_minor is None:
        fee = left.fee_minor if amount == left.price_minor else min(fee, left.fee_minor, amount)
    least = left.fee_minor if amount == left.price_minor else 0  # So that all parts together are the fee (GAP-6).
    if not least <= fee <= min(amount, left.fee_minor):
        return RefundTooMuch(left_minor=left.price_minor, currency=payment.currency)
    capture = Happened(facts).capture
    assert capture is not None, "what is paid was captured"
    own = str(wanted.refund)
    return RecordedFact(
        REFUND_BEGUN,
        f"refund_begun:{own}",
        tx.now,
        own,
        amount,
        capture.currency,
        fee_minor=fee,
        charge=capture.reference,
    )


def _intent(history: History, wanted: RefundWanted, begun: RecordedFact) -> GatewayIntent:
    capture = Happened(history.after).capture
    assert capture is not None
    return GatewayIntent(
        wanted.refund,
        wanted.payment,
        IntentAction.REFUND,
        IntentState.OPEN,
        begun.amount_minor,
        begun.currency,
        wanted.description,
        capture_key=capture.key,
        fee_minor=begun.fee_minor,
    )


async def plan_refunds(
    tx: Tx, wanted: Sequence[RefundWanted], payments: Mapping[PaymentId, Payment]
) -> list[PlannedRefund | Refusal]:
    """What `begin_refunds` would do now to these payments, and what the provider would be asked; nothing is written."""
    facts = await find_facts(tx, payments)
    histories = {own: History(payment, facts[own]) for own, payment in payments.items()}
    plans: list[PlannedRefund | Refusal] = []
    for each in wanted:
        history = histories.get(each.payment)
        begun = _begun(history, each, tx) if history else PaymentNotFound()
        if history is None or isinstance(begun, Refusal):
            plans.append(begun if isinstance(begun, Refusal) else PaymentNotFound())
        else:
            plans.append(_planned(history, each, begun))
            history.learn(begun)
    return plans


def _planned(history: History, wanted: RefundWanted, begun: RecordedFact) -> PlannedRefund:
    payment, before = history.payment, history.after
    after = [*before, msgspec.structs.replace(begun, ordinal=len(before) + 1)]
    assert payment.provider is not None
    call = PlannedCall(
        provider=payment.provider,
        action="refund",
        reference=payment.charge_id or "",
        amount_minor=begun.amount_minor,
        currency=begun.currency,
        application_fee_minor=begun.fee_minor,
    )
    postings = ledger.preview(fresh_postings(payment, before, after, wanted.caller, rival=False))
    return PlannedRefund(
        payment.id, payment.version, begun.amount_minor, begun.fee_minor, begun.currency, postings, (call,)
    )


@command()
async def refuse_refunds(tx: Tx, refused: Sequence[RefusedRefund]) -> list[bool]:
    """The provider said no: counted, and given up when it said so as often as it may. Whether it was given up."""
    histories = await read_histories(tx, refused)
    intents = {each.id: each for every in (await intent_store.find_intents(tx, histories)).values() for each in every}
    spent = {each.intent.id: each for each in refused if intents[each.intent.id].refused + 1 >= MOST_REFUSED}
    await intent_store.count_refused(tx, [each.intent.id for each in refused if each.intent.id not in spent])
    settled = await intent_store.settle_intents(
        tx,
        [Settlement(own, IntentState.REFUSED, each.code[:LONGEST_REASON] or "refused") for own, each in spent.items()],
    )
    for own in settled:
        each, history = spent[own], histories[spent[own].payment]
        history.caller = each.caller
        history.learn(RecordedFact(REFUND_GIVEN_UP, f"refund_given_up:{own}", tx.now, str(own), code=each.code[:100]))
    await write_histories(tx, [*histories.values()])
    return [each.intent.id in settled for each in refused]
