"""Handing over what was paid for.

Promise (FUL-001, FUL-005): for as many payments of an organisation as are told of at once, in one transaction and a
fixed number of statements: hold the payments, look what was done before, look at the ledger, run each recipe step by
step, give back what cannot be delivered, write down the end. Whoever comes second waits for the payment and sees the
first. Wherever it is killed, nothing of it has happened.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar
from uuid import uuid5

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.payments import api as payments
from admitone.finance.payments.api import Payment, RefundTooMuch
from admitone.finance.refunds import api as refunds
from admitone.finance.refunds.api import Reason, Refund, RefundId, Request
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel import failpoints
from admitone.kernel.authority import FeatureDisabled
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller
from admitone.selling.fulfilment import policy, store
from admitone.selling.fulfilment.errors import NoRecipe, NotInLedger, NotPaid
from admitone.selling.fulfilment.model import LEDGER_STEP, LONGEST_REASON, OFF, Operation, Scenario, State, Wanted
from admitone.selling.fulfilment.policy import Standing
from admitone.selling.fulfilment.port import RECIPES, Purchase, Recipe, Step, Undeliverable
from admitone.selling.fulfilment.telling import tell

UNDELIVERED: Final = "fulfilment.undelivered"

_Told = TypeVar("_Told", Wanted, "Died")

Plan = list[tuple[Recipe, list[Purchase]]]


class Died(msgspec.Struct, frozen=True):
    """That a payment could not be fulfilled, as often as it was tried."""

    caller: Caller
    payment: PaymentId
    source: Source
    error: str
    attempts: int


async def fulfil(tx: Tx, wanted: Sequence[Wanted]) -> None:
    """Each once. One that may not be, or cannot be, raises: whoever runs us runs the others without it."""
    first = _first(wanted)
    held = await payments.lock_payments(tx, [*first.values()])
    known = await store.find_operations(tx, first)
    due = [each for own, each in first.items() if policy.is_due(known.get(own))]
    standings = {each.payment: policy.standing_of(held.get(each.payment)) for each in due}
    for own, standing in standings.items():
        if standing is Standing.UNPAID:
            raise NotPaid(own)
    paid = [held[own] for own, standing in standings.items() if standing is Standing.PAID]
    await _look_at_ledger(tx, paid)
    failpoints.reach(f"fulfilment.{LEDGER_STEP}")
    plan = await _plan(tx, paid, {own: each.caller for own, each in first.items()})
    undelivered = await _run(tx, plan)
    given_back = await _give_back(tx, plan, undelivered)
    failpoints.reach("fulfilment.given_back")
    ends = {
        each.payment.id: _end(recipe, each, undelivered.get(each.payment.id), given_back.get(each.payment.id))
        for recipe, bought in plan
        for each in bought
    }
    ends |= {own: _not_begun(held[own], standing) for own, standing in standings.items() if own not in ends}
    operations = [_written(tx, held[own], first[own], known.get(own), end) for own, end in ends.items()]
    await store.put_operations(tx, operations)
    failpoints.reach("fulfilment.recorded")
    for each in operations:
        tell(each, held[each.payment], first[each.payment].caller)


async def fulfil_waiting(tx: Tx, wanted: Sequence[Wanted]) -> None:
    """Those that are not over: something happened to their money. Also what nobody began: a provider may tell the end
    first, and then that it was paid is never told."""
    own = {each.payment for each in wanted}
    known, found = await store.find_operations(tx, own), await payments.find_payments(tx, own)
    unpaid = {each for each in own if policy.standing_of(found.get(each)) is Standing.UNPAID}
    waiting = [each for each in wanted if each.payment not in unpaid and policy.is_due(known.get(each.payment))]
    if waiting:
        await fulfil(tx, waiting)


async def give_up(tx: Tx, died: Sequence[Died]) -> None:
    """It is a dead letter now: that is written down, unless it has ended all the same."""
    first = _first(died)
    await payments.lock_payments(tx, [*first.values()])
    known = await store.find_operations(tx, first)
    await store.put_operations(
        tx,
        [
            Operation(
                payment=own,
                source=each.source,
                state=State.FAILED,
                scenario=None,
                key=None,
                steps=(),
                reason=each.error[:LONGEST_REASON],
                refund_id=None,
                attempts=each.attempts,
                correlation_id=each.caller.correlation_id,
                begun_at=tx.now,
                changed_at=tx.now,
            )
            for own, each in first.items()
            if policy.is_due(known.get(own))
        ],
    )


def _first(told: Sequence[_Told]) -> dict[PaymentId, _Told]:
    """Of each payment, in order of arrival: who paid first is served first."""
    first: dict[PaymentId, _Told] = {}
    for each in told:
        first.setdefault(each.payment, each)
    return first


async def _look_at_ledger(tx: Tx, paid: Sequence[Payment]) -> None:
    """Append if absent: what would be appended commits with the success of a payment, so absent is a fault (CF-27)."""
    priced = [each for each in paid if not policy.is_free(each)]
    posted = await ledger.net_of(tx, [each.id for each in priced]) if priced else {}
    for each in priced:
        if (each.id, each.currency) not in posted:
            raise NotInLedger(each.id)


async def _plan(tx: Tx, paid: Sequence[Payment], callers: Mapping[PaymentId, Caller]) -> Plan:
    """Which purchases go by which recipe."""
    by_type: dict[SourceType, list[Payment]] = defaultdict(list)
    for each in paid:
        by_type[each.source.type].append(each)
    plan: dict[tuple[SourceType, Scenario], tuple[Recipe, list[Purchase]]] = {}
    for kind, bought in by_type.items():
        book = RECIPES().get(kind)
        if book is None:
            raise NoRecipe(source_type=kind.value, scenario=None)
        for payment, scenario in zip(bought, await book.scenario_of(tx, bought), strict=True):
            if scenario in OFF:
                raise FeatureDisabled
            recipe = book.recipes.get(scenario)
            if recipe is None or policy.contradicts(scenario, payment):
                raise NoRecipe(source_type=kind.value, scenario=scenario.value)
            purchase = Purchase(payment, callers[payment.id], scenario)
            plan.setdefault((kind, scenario), (recipe, []))[1].append(purchase)
    return [*plan.values()]


async def _run(tx: Tx, plan: Plan) -> dict[PaymentId, Undeliverable]:
    """Every step of every recipe; what the first step of one does not deliver. What several recipes have in common is
    done once for all of them: a step that came again would lock orders while it holds what they draw from."""
    undelivered: dict[PaymentId, Undeliverable] = {}
    for place in range(max((len(recipe.steps) for recipe, _ in plan), default=0)):
        going: dict[Step, list[Purchase]] = {}
        for recipe, bought in plan:
            if place < len(recipe.steps):
                still = (each for each in bought if each.payment.id not in undelivered)
                going.setdefault(recipe.steps[place], []).extend(still)
        for step, purchases in going.items():
            said = await step.work(tx, purchases) if purchases else []
            for purchase, answer in zip(purchases, said, strict=True):
                if answer is not None:
                    assert place == 0, f"{step.name} takes back what was promised"
                    undelivered[purchase.payment.id] = answer
            failpoints.reach(f"fulfilment.{step.name}")
    return undelivered


async def _give_back(tx: Tx, plan: Plan, undelivered: Mapping[PaymentId, Undeliverable]) -> dict[PaymentId, RefundId]:
    """All that is left of the money of each (PAY-064), under an id that follows from the payment, so once; and of what
    cost nothing, that it was had (FIN-082)."""
    free = [each.payment.id for _, bought in plan for each in bought if policy.is_free(each.payment)]
    await payments.give_back_takings(tx, [each for each in free if each in undelivered])
    requests = [
        Request(
            each.caller,
            each.payment.id,
            RefundId(uuid5(each.payment.id.uuid, UNDELIVERED)),
            Reason.NOT_DELIVERED,
            why=undelivered[each.payment.id].reason,
        )
        for _, bought in plan
        for each in bought
        if each.payment.id in undelivered and not policy.is_free(each.payment)
    ]
    given_back: dict[PaymentId, RefundId] = {}
    for request, said in zip(requests, await refunds.request_refunds(tx, requests) if requests else [], strict=True):
        if isinstance(said, Refund):
            given_back[request.payment] = request.refund
        elif not (isinstance(said, RefundTooMuch) and said.left_minor == 0):  # All of it is on its way back already.
            raise said
    return given_back


# -- What is written down


class _End(msgspec.Struct, frozen=True):
    """How far a purchase came, and why no further."""

    state: State
    reason: str | None = None
    scenario: Scenario | None = None
    key: str | None = None
    steps: tuple[str, ...] = ()
    refund: RefundId | None = None


def _end(recipe: Recipe, purchase: Purchase, why: Undeliverable | None, refund: RefundId | None) -> _End:
    key = f"{recipe.key}:{purchase.payment.id}"
    if why is None:
        return _End(State.DONE, None, purchase.scenario, key, recipe.names)
    return _End(State.RETURNED, why.reason, purchase.scenario, key, (LEDGER_STEP,), refund)


def _not_begun(payment: Payment, standing: Standing) -> _End:
    state = State.OPEN if standing is Standing.DISPUTED else State.RETURNED
    return _End(state, payment.status.value)


def _written(tx: Tx, payment: Payment, wanted: Wanted, before: Operation | None, end: _End) -> Operation:
    return Operation(
        payment=payment.id,
        source=payment.source,
        state=end.state,
        scenario=end.scenario,
        key=end.key,
        steps=end.steps,
        reason=end.reason,
        refund_id=end.refund.uuid if end.refund else None,
        attempts=wanted.attempt,
        correlation_id=wanted.caller.correlation_id,
        begun_at=before.begun_at if before else tx.now,
        changed_at=tx.now,
    )
