"""Answering a dispute: what people say to it, and what the provider answered.

Promise: what is to go to a provider is written down first and goes under the key of its row, so whoever repeats it
repeats it harmlessly (docs/decisions/0026). While one submission is on its way nobody orders another: of any number
who submit at once, one does. Whatever the provider answers after the dispute was decided is kept in the trail, and
moves nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from admitone.finance.disputes import store
from admitone.finance.disputes.errors import DisputeNotFound, EvidenceMissing
from admitone.finance.disputes.facts import DisputeEvidenceSubmitted, EvidencePut, told_of
from admitone.finance.disputes.model import (
    Case,
    DisputeId,
    Evidence,
    FileRead,
    Filing,
    State,
    Statement,
    Step,
    StepKind,
    Taking,
)
from admitone.finance.disputes.policy import is_news, read, why_not
from admitone.finance.disputes.store import Change
from admitone.finance.gateways.api import Dispute as File
from admitone.finance.payments import api as payments
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Caller

replace = msgspec.structs.replace
LONGEST_DETAIL = 500


class _Desk:
    """The cases that a batch is about, while it changes them: the second input of a case sees the first."""

    def __init__(self, tx: Tx, cases: Mapping[DisputeId, Case]) -> None:
        self._now = tx.now
        self._changes = {own: Change(case, case, []) for own, case in cases.items()}

    def find(self, dispute: DisputeId) -> Case | None:
        change = self._changes.get(dispute)
        return change.after if change else None

    def put(self, case: Case, *steps: Step) -> Case:
        return self._changes[case.id].to(case, self._now, *steps).after

    @property
    def changes(self) -> list[Change]:
        return [change for change in self._changes.values() if change.after is not change.before]


@command(keyed_by=lambda statement: statement.dispute)
async def put_evidence(tx: Tx, statements: Sequence[Statement]) -> list[Case | Refusal]:
    """Say something to a dispute, in place of what was said before; submitted, it is the last word."""
    desk = _Desk(tx, await store.lock_cases(tx, statements))
    given: dict[DisputeId, list[Evidence]] = {}
    outcomes: list[Case | Refusal] = []
    for statement in statements:
        case = desk.find(statement.dispute)
        if case is None:
            outcomes.append(DisputeNotFound())
            continue
        said = given.setdefault(case.id, [])
        evidence = await _evidence(tx, case, statement, said)
        if isinstance(evidence, Refusal):
            outcomes.append(evidence)
            continue
        after = replace(
            case,
            evidence=evidence.number,
            assignee=case.assignee or statement.caller.actor,
            submission=evidence.number if statement.submits else None,
        )
        said.append(evidence)
        outcomes.append(desk.put(after, _put_step(statement, evidence)))
        tx.publish(statement.caller, EvidencePut(dispute_id=case.id, evidence=evidence.number))
    await store.change_cases(tx, desk.changes)
    await store.insert_evidence(tx, [each for said in given.values() for each in said])
    await audit.record(tx, [*_entries(statements, outcomes)])
    return outcomes


async def _evidence(tx: Tx, case: Case, statement: Statement, said: Sequence[Evidence]) -> Evidence | Refusal:
    """What is to be kept, in words of its own or in those that were put last."""
    if refusal := why_not(case, statement, tx.now):
        return refusal
    texts = statement.texts
    if texts is None:
        last = said[-1] if said else await store.find_evidence(tx, case.id, case.evidence)
        if last is None:
            return EvidenceMissing()
        texts = last.texts
    return Evidence(uuid7(), case.id, case.evidence + 1, statement.submits, texts)


def _put_step(statement: Statement, evidence: Evidence) -> Step:
    return Step(
        kind=StepKind.SUBMISSION_ORDERED if statement.submits else StepKind.EVIDENCE_PUT,
        caller=statement.caller,
        reason_code=statement.reason_code,
        evidence=evidence.number,
        detail=", ".join(shows for shows, _ in evidence.texts)[:LONGEST_DETAIL],
    )


def _entries(statements: Sequence[Statement], outcomes: Sequence[Case | Refusal]) -> Iterator[audit.Entry]:
    for statement, case in zip(statements, outcomes, strict=True):
        if isinstance(case, Case):
            yield audit.Entry(
                statement.caller,
                f"disputes.{'submit' if statement.submits else 'put'}_evidence",
                str(case.id),
                reason_code=statement.reason_code,
                after={"evidence": case.evidence, "paymentId": str(case.payment)},
            )


@command()
async def take(tx: Tx, takings: Sequence[Taking]) -> list[Case | Refusal]:
    """Make a case one's own: who has it must answer."""
    desk = _Desk(tx, await store.lock_cases(tx, takings))
    outcomes: list[Case | Refusal] = []
    for taking in takings:
        case = desk.find(taking.dispute)
        if case is None:
            outcomes.append(DisputeNotFound())
            continue
        if case.assignee != taking.caller.actor:
            before = {"assigneeId": str(case.assignee) if case.assignee else None}
            step = Step(kind=StepKind.TAKEN, caller=taking.caller, reason_code=taking.reason_code)
            case = desk.put(replace(case, assignee=taking.caller.actor), step)
            await audit.record(
                tx, [audit.Entry(taking.caller, "disputes.take", str(case.id), taking.reason_code, before)]
            )
        outcomes.append(case)
    await store.change_cases(tx, desk.changes)
    return outcomes


# -- What providers answer


@command()
async def take_files(tx: Tx, files: Sequence[FileRead]) -> list[Case | Refusal]:
    """What a provider has on file: why, until when, and whether somebody has answered there."""
    desk = _Desk(tx, await store.lock_cases(tx, files))
    for each in files:
        case = desk.find(each.dispute)
        if case is not None and is_news(case, after := read(case, each.file, tx.now)):
            desk.put(after, *_read_steps(case, after, each.caller))
    return await _finish(tx, desk, files)


def _read_steps(case: Case, after: Case, caller: Caller) -> list[Step]:
    until = f"until {after.due_at:%Y-%m-%dT%H:%MZ}" if after.due_at else "without a due date"
    steps = [Step(kind=StepKind.FILE_READ, caller=caller, detail=f"{after.reason or 'no reason'}, {until}")]
    if after.state is not case.state:
        ours = case.submission
        kind = StepKind.SUBMITTED if ours else StepKind.SUBMITTED_ELSEWHERE
        steps.append(Step(kind=kind, caller=caller, evidence=ours))
    return steps


@command()
async def take_filings(tx: Tx, filings: Sequence[Filing]) -> list[Case | Refusal]:
    """What a provider answered to evidence that we sent; the same answer twice is one."""
    desk = _Desk(tx, await store.lock_cases(tx, filings))
    for each in filings:
        case = desk.find(each.dispute)
        if case is None or each.evidence <= case.filed:
            continue
        if isinstance(each.answer, File):
            desk.put(*_filed(case, each, each.answer, tx))
        else:
            desk.put(*_refused(case, each, each.answer))
    return await _finish(tx, desk, filings)


def _filed(case: Case, filing: Filing, file: File, tx: Tx) -> tuple[Case, *tuple[Step, ...]]:
    kind = StepKind.SUBMITTED if filing.submits else StepKind.FILED
    after = replace(read(case, file, tx.now), filed=filing.evidence)
    if filing.submits and after.submitted_at is None:
        after = replace(after, submitted_at=tx.now)  # It was decided meanwhile, and stays so.
    return after, Step(kind=kind, caller=filing.caller, evidence=filing.evidence)


def _refused(case: Case, filing: Filing, word: str) -> tuple[Case, Step]:
    """Somebody may say something else, as long as there is time."""
    is_open = case.state is State.OPEN and case.submission == filing.evidence
    after = replace(case, filed=filing.evidence, submission=None if is_open else case.submission)
    step = Step(
        kind=StepKind.REFUSED, caller=filing.caller, evidence=filing.evidence, detail=word[:LONGEST_DETAIL] or "refused"
    )
    return after, step


async def _finish(tx: Tx, desk: _Desk, inputs: Sequence[FileRead] | Sequence[Filing]) -> list[Case | Refusal]:
    """Write, and tell of those to which the last word was said."""
    await store.change_cases(tx, desk.changes)
    submitted = {
        change.after.id: change.after
        for change in desk.changes
        if change.after.state is State.EVIDENCE_SUBMITTED and change.before.state is State.OPEN
    }
    found = await payments.find_payments(tx, [case.payment for case in submitted.values()])
    callers = {each.dispute: each.caller for each in inputs}
    for own, case in submitted.items():
        tx.publish(callers[own], told_of(DisputeEvidenceSubmitted, case, found[case.payment].source))
    return [desk.find(each.dispute) or DisputeNotFound() for each in inputs]
