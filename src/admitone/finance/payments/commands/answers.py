"""What providers answered to what we asked.

Promise: an intent is settled once, by a clear answer: a charge, or a refusal. Whatever else came back leaves it open,
and whoever finds it open asks again under the same key.
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from admitone.finance.gateways.api import Charge, FactKind, ProviderFact, Refund, Refused
from admitone.finance.payments.commands.recording import History, read_histories, write_histories
from admitone.finance.payments.errors import ForeignReference, PaymentNotFound
from admitone.finance.payments.model import GatewayIntent, IntentState, Recorded
from admitone.finance.payments.store import intents as store
from admitone.finance.payments.store.intents import Settlement
from admitone.finance.payments.store.references import Belonging, claim_refs
from admitone.finance.payments.ways import seal, way_of
from admitone.finance.sources.api import PaymentId
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller

LONGEST_REASON = 200


class Answer(msgspec.Struct, frozen=True):
    """What a provider said to an intent."""

    caller: Caller
    payment: PaymentId
    intent: GatewayIntent
    said: Charge | Refund | Refused


@command()
async def take_answers(tx: Tx, answers: Sequence[Answer]) -> list[Recorded | Refusal]:
    """Record what they prove, and settle their intents."""
    histories = await read_histories(tx, answers)
    foreign = await claim_refs(tx, [_claims(each, histories.get(each.payment)) for each in answers])
    outcomes: list[History | Refusal] = []
    settlements: dict[UUID, tuple[Answer, Settlement]] = {}
    for position, answer in enumerate(answers):
        history = histories.get(answer.payment)
        if history is None:
            outcomes.append(PaymentNotFound())
        elif position in foreign:
            outcomes.append(ForeignReference())
        else:
            settlements.setdefault(answer.intent.id, (answer, _settlement(answer, history)))
            outcomes.append(history)
    settled = await store.settle_intents(tx, [each for _, each in settlements.values()]) if settlements else set()
    decisive = {id(answer) for own, (answer, _) in settlements.items() if own in settled}
    for answer, outcome in zip(answers, outcomes, strict=True):
        if isinstance(outcome, History):
            _learn(outcome, answer, tx, is_decisive=id(answer) in decisive)
    moved = await write_histories(tx, [each for each in outcomes if isinstance(each, History)])
    return [moved[each.payment.id] if isinstance(each, History) else each for each in outcomes]


def _claims(answer: Answer, history: History | None) -> list[Belonging]:
    if history is None or history.payment.provider is None or not isinstance(answer.said, Charge):
        return []
    return [Belonging(history.payment.provider, ref, answer.payment) for ref in answer.said.refs]


def _settlement(answer: Answer, history: History) -> Settlement:
    intent, said = answer.intent, answer.said
    match said:
        case Charge():
            return Settlement(
                intent.id, IntentState.DONE, answer=seal(way_of(said), history.payment.organization, intent)
            )
        case Refund():
            return Settlement(intent.id, IntentState.DONE)
        case Refused():
            return Settlement(intent.id, IntentState.REFUSED, reason=said.code[:LONGEST_REASON] or "refused")


def _learn(history: History, answer: Answer, tx: Tx, *, is_decisive: bool) -> None:
    """A refusal that came after another answer says nothing; what a charge or a refund proves, it proves."""
    if is_decisive or not isinstance(answer.said, Refused):
        history.hear(answer.caller, _facts(answer, tx), is_whole=True)
    if isinstance(answer.said, Charge):
        history.charge_id = answer.said.id


def _facts(answer: Answer, tx: Tx) -> Sequence[ProviderFact]:
    match answer.said:
        case Charge(facts=facts):
            return facts
        case Refund(fact=fact):
            return (fact,)
        case Refused(code=code) if answer.intent.action == "OPEN":
            key = f"refused:{answer.intent.id}"
            return (ProviderFact(FactKind.FAILED, key, tx.now, str(answer.intent.id), code=code[:100]),)
        case Refused():
            return ()
