"""Following the facts of payments: a case is opened, corrected and closed as they have it.

Promise: what is written depends on all facts of the payment, read while its cases are held, and not on the one that
made us look: told twice, late or in any order, a dispute has one case, in one state. What becomes of access is told by
facts, once for each change.
"""

from collections.abc import Iterator, Mapping

from admitone.finance.disputes import store
from admitone.finance.disputes.facts import DisputeClosed, DisputeOpened, RiskDisputeCreated, told_of
from admitone.finance.disputes.model import Case, State, Step, StepKind
from admitone.finance.disputes.policy import followed, opened
from admitone.finance.disputes.store import Change
from admitone.finance.payments import api as payments
from admitone.finance.sources.api import PaymentId, Source
from admitone.kernel.db import Tx
from admitone.kernel.scope import Caller

ENDS = {State.WON: StepKind.WON, State.LOST: StepKind.LOST}


async def follow(tx: Tx, callers: Mapping[PaymentId, Caller]) -> None:
    """Bring the cases of these payments to where their facts are."""
    known = {(case.payment, case.reference): case for case in await store.lock_of_payments(tx, callers)}
    told = await payments.find_disputes(tx, callers)
    found = await payments.find_payments(tx, callers)
    fresh: list[Change] = []
    changed: list[Change] = []
    for own, payment in found.items():
        for dispute in told[own]:
            case = known.get((own, dispute.reference))
            if case is None:
                case = opened(dispute, payment, tx.now)
                fresh.append(Change(case, case, []).to(case, tx.now, *_opening(case, callers[own])))
            elif (after := followed(case, dispute)) != case:
                changed.append(Change(case, case, []).to(after, tx.now, *_ending(case, after, callers[own])))
    await store.insert_cases(tx, fresh)
    await store.change_cases(tx, changed)
    for change in fresh:
        _tell_opened(tx, callers[change.after.payment], change.after, found[change.after.payment].source)
    for change in changed:
        if change.after.state is not change.before.state:
            _tell_closed(tx, callers[change.after.payment], change.after, found[change.after.payment].source)


def _opening(case: Case, caller: Caller) -> Iterator[Step]:
    yield Step(kind=StepKind.OPENED, caller=caller, detail=case.reason or None)
    if case.is_closed:
        yield Step(kind=ENDS[case.state], caller=caller)


def _ending(case: Case, after: Case, caller: Caller) -> Iterator[Step]:
    if after.state is not case.state:
        yield Step(kind=ENDS[after.state], caller=caller)


def _tell_opened(tx: Tx, caller: Caller, case: Case, source: Source) -> None:
    tx.publish(caller, told_of(DisputeOpened, case, source))
    tx.publish(caller, told_of(RiskDisputeCreated, case, source))
    if case.is_closed:
        _tell_closed(tx, caller, case, source)


def _tell_closed(tx: Tx, caller: Caller, case: Case, source: Source) -> None:
    tx.publish(caller, told_of(DisputeClosed, case, source, outcome=case.state.value))
