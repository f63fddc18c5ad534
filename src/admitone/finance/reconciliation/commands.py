"""Runs and issues: lock, decide, write, publish.

Promise: whoever writes down what a run found has the organisation's standing locked, so two runs at once neither open
an issue twice nor correct twice. Whatever is posted commits with the issue that is its cause.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec

from admitone.finance.ledger import api as ledger
from admitone.finance.reconciliation import policy
from admitone.finance.reconciliation.differences import Difference
from admitone.finance.reconciliation.errors import IssueNotFound
from admitone.finance.reconciliation.facts import (
    ReconciliationFinished,
    ReconciliationIssueClosed,
    ReconciliationIssueOpened,
    ReconciliationOfAllWanted,
    ReconciliationWanted,
)
from admitone.finance.reconciliation.model import (
    RESPONSIBLE,
    Beginning,
    Begun,
    Booking,
    Closing,
    Closure,
    Finishing,
    Found,
    Issue,
    IssueId,
    IssueState,
    Noted,
    RunId,
    RunState,
    Settling,
    Taking,
    Wanting,
)
from admitone.finance.reconciliation.policy import Step
from admitone.finance.reconciliation.store import issues as store
from admitone.finance.reconciliation.store import runs as run_store
from admitone.finance.reconciliation.store.issues import NewIssue
from admitone.foundation.organizations import api as organizations
from admitone.kernel import audit
from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION
from admitone.kernel.scope import Caller

OVERLAP: Final = timedelta(days=1)
"""From how long before the end of the last run the next one looks: longer than anything is in flight."""
PATIENCE: Final = timedelta(hours=3)
"""Longer than a run may last: one that has not ended by then was cut off."""


@command()
async def want(tx: Tx, wanted: Sequence[Wanting]) -> list[RunId | Refusal]:
    """Have a worker compare this organisation's books; in the platform's own scope, everybody's."""
    is_for_all = tx.scope.organization == PLATFORM_ORGANIZATION
    if not is_for_all:
        await organizations.get_organization(tx)
    runs: list[RunId | Refusal] = []
    for each in wanted:
        run = RunId.new()
        if is_for_all:
            tx.publish(each.caller, ReconciliationOfAllWanted(run_id=run, since=each.since))
        else:
            await run_store.insert_queued(tx, run, each.since, each.caller)
            tx.publish(each.caller, ReconciliationWanted(run_id=run, since=each.since))
        runs.append(run)
    return runs


@command()
async def begin(tx: Tx, beginnings: Sequence[Beginning]) -> list[Begun | Refusal]:
    """From when on each is to look, unless it was made before."""
    compared_until, oldest = await run_store.lock_standing(tx), await store.find_oldest(tx)
    begun: list[Begun | Refusal] = []
    for each in beginnings:
        since = each.since
        if each.onward and compared_until is not None:
            since = compared_until - OVERLAP
        if since is not None and oldest is not None:
            since = min(since, oldest - OVERLAP)
        is_over = not await run_store.begin(tx, each.run, since, each.caller, PATIENCE)
        begun.append(Begun(each.run, since, is_over))
    return begun


@command()
async def book(tx: Tx, bookings: Sequence[Booking]) -> list[int | Refusal]:
    """How many of them each added: what another run booked meanwhile is booked."""
    posted = [
        await ledger.post(tx, [policy.own_posting(found, each.caller) for found in each.own]) for each in bookings
    ]
    return [sum(one.new for one in some) for some in posted]


@command()
async def note(tx: Tx, found: Sequence[Found]) -> list[Noted | Refusal]:
    """Write down what differs: as new issues, as issues that are still so, or as rounding."""
    await run_store.lock_standing(tx)
    return [await _note(tx, each) for each in found]


async def _note(tx: Tx, found: Found) -> Noted:
    known = await store.find_of_objects(tx, sorted({each.name for each in found.differences}))
    steps = [(each, policy.step_of(each, known[each.name], found.began)) for each in found.differences]
    open_ones = {each.found.name: each for issues in known.values() for each in issues if _is_open(each)}
    again = {open_ones[each.name].id: each for each, _ in steps if each.name in open_ones}
    fresh = [
        NewIssue(IssueId.new(), each, RESPONSIBLE, found.run, found.caller.correlation_id, found.began, found.began)
        for each, step in steps
        if step in (Step.OPEN, Step.ROUND) and each.name not in open_ones
    ]
    await store.insert_issues(tx, fresh)
    await store.see_again(tx, found.run, found.began, again)
    await store.keep_open(tx, found.began, found.timing)
    for new in fresh:
        tx.publish(found.caller, _opened(new))
    ids = {each.name: own for own, each in again.items()} | {new.found.name: new.id for new in fresh}
    rounding = {ids[each.name]: each for each, step in steps if step is Step.ROUND}
    rounded = await _round(tx, rounding, found.caller)
    above = [each for each, step in steps if step is not Step.ACCEPT and policy.is_above(each)]
    accepted = sum(step is Step.ACCEPT for _, step in steps)
    return Noted(rounded, accepted, len(above), above[0].where if above else "")


async def _round(tx: Tx, rounding: dict[IssueId, Difference], caller: Caller) -> int:
    """Post the difference and close its issue, unless something was posted since it was compared."""
    if not rounding:
        return 0
    payments = sorted({each.payment for each in rounding.values() if each.payment})
    transfers = await ledger.list_transfers_of(tx, payments)
    postings = {}
    for own, each in rounding.items():
        of_payment = [transfer for transfer in transfers if transfer.payment_id == each.payment]
        if posting := policy.rounding_of(each, own, of_payment, caller):
            postings[own] = posting
    await ledger.post(tx, [*postings.values()])
    await _close(tx, [*postings], Closure.ROUNDING, caller)
    return len(postings)


async def _close(tx: Tx, issues: Sequence[IssueId], how: Closure, caller: Caller, reason: str | None = None) -> None:
    await store.close(tx, issues, how, reason, caller.actor if how is Closure.BY_HAND else None)
    for each in issues:
        tx.publish(caller, ReconciliationIssueClosed(issue_id=each, how=how))


@command()
async def settle(tx: Tx, settlings: Sequence[Settling]) -> list[int | Refusal]:
    """Close what a run looked at and did not find any more, some at a time; how many."""
    closed: list[int | Refusal] = []
    for each in settlings:
        gone = await store.close_unseen(tx, each.began, each.since, each.most)
        for issue in gone:
            tx.publish(each.caller, ReconciliationIssueClosed(issue_id=issue.id, how=Closure.RESOLVED_BY_ITSELF))
        closed.append(len(gone))
    return closed


@command()
async def finish(tx: Tx, finishings: Sequence[Finishing]) -> list[bool | Refusal]:
    """Write the report, and how far the books are compared now."""
    open_issues = await store.sum_open(tx)
    for each in finishings:
        await run_store.finish(tx, each, open_issues)
        tx.publish(
            each.caller,
            ReconciliationFinished(
                run_id=each.run,
                organization_id=tx.scope.organization,
                state=RunState.UNTOLD if each.untold else RunState.DONE,
                until=each.until,
                counts=dict(each.counts),
                open_issues=sum(group.issues for group in open_issues),
            ),
        )
    return [True for _ in finishings]


# -- By hand


@command(keyed_by=lambda closing: closing.issue)
async def close(tx: Tx, closings: Sequence[Closing]) -> list[Issue | Refusal]:
    """What is closed stays closed, as whoever came first closed it."""
    issues = await store.lock_issues(tx, closings)
    outcomes: list[Issue | Refusal] = []
    for each in closings:
        issue = issues.get(each.issue)
        if issue is None:
            outcomes.append(IssueNotFound())
            continue
        if _is_open(issue):
            await _close(tx, [issue.id], Closure.BY_HAND, each.caller, each.reason_code)
            entry = audit.Entry(each.caller, "reconciliation.issue.close", str(issue.id), each.reason_code)
            await audit.record(tx, [entry])
            issue = msgspec.structs.replace(
                issue,
                state=IssueState.CLOSED,
                closed_how=Closure.BY_HAND,
                closed_reason=each.reason_code,
                closed_by=each.caller.actor,
                closed_at=tx.now,
            )
            issues[issue.id] = issue
        outcomes.append(issue)
    return outcomes


@command(keyed_by=lambda taking: taking.issue)
async def take(tx: Tx, takings: Sequence[Taking]) -> list[Issue | Refusal]:
    """Whoever takes an open issue is the one to see to it."""
    issues = await store.lock_issues(tx, takings)
    taken = {
        each.issue: each.caller.actor
        for each in takings
        if each.caller.actor and each.issue in issues and _is_open(issues[each.issue])
    }
    await store.take(tx, taken)
    return [
        msgspec.structs.replace(issues[each.issue], taken_by=taken.get(each.issue, issues[each.issue].taken_by))
        if each.issue in issues
        else IssueNotFound()
        for each in takings
    ]


def _is_open(issue: Issue) -> bool:
    return issue.state is IssueState.OPEN


def _opened(new: NewIssue) -> ReconciliationIssueOpened:
    found = new.found
    return ReconciliationIssueOpened(
        issue_id=new.id,
        difference=found.difference,
        kind=found.kind,
        payment_id=found.payment,
        here_minor=found.here_minor,
        there_minor=found.there_minor,
        currency=found.currency,
    )
