"""Reconciliation at the edge: wanted by operators; runs and issues for each organisation; closed by hand.

Promise: nothing here changes the ledger. An organisation sees what differs and closes nothing of it: whose books are in
question does not say that they are right. Who closes an issue runs the platform, proved a moment ago who they are, and
says why; it is audited, and stays closed for as long as the difference is the same.
"""

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from admitone.finance.reconciliation import commands
from admitone.finance.reconciliation.alerting import Woken
from admitone.finance.reconciliation.differences import Difference, DifferenceClass
from admitone.finance.reconciliation.errands import measure
from admitone.finance.reconciliation.errors import IssueNotFound
from admitone.finance.reconciliation.model import (
    RESPONSIBLE,
    Both,
    Closing,
    Closure,
    Issue,
    IssueId,
    IssueState,
    OpenIssues,
    Run,
    RunId,
    RunState,
    Taking,
    Wanting,
)
from admitone.finance.reconciliation.store.issues import LAST, list_issues
from admitone.finance.reconciliation.store.runs import list_runs
from admitone.finance.reconciliation.store.watching import ACROSS, list_whose
from admitone.finance.sources.api import PaymentId
from admitone.foundation.organizations.api import OrganizationNotFound
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    IdempotencyKey,
    Instant,
    Page,
    PageRequest,
    ReasonCode,
    SignedMinor,
    Wire,
)
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.scope import Scope
from admitone.kernel.statements import ListOrder

FINANCE_RECONCILIATION_R: Final = "FINANCE_RECONCILIATION_R"
PLATFORM_RECONCILIATION_R: Final = "PLATFORM_RECONCILIATION_R"
PLATFORM_RECONCILIATION_RW: Final = "PLATFORM_RECONCILIATION_RW"
MOST_SHOWN: Final = 200
SOME_ISSUE: Final = IssueId.parse("rci_0198c9a40000700080000000000000aa")
SOME_RUN: Final = RunId.parse("rcr_0198c9a40000700080000000000000ab")
SOME_PAYMENT: Final = PaymentId.parse("pay_0198c9a40000700080000000000000b1")
THEN: Final = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
PATH: Final = "/api/org/{organizationId}/finance/reconciliation"
ADMIN_PATH: Final = "/api/admin/reconciliation/issues"
SOME_ORGANIZATION: Final = OrganizationId.parse("org_0198c9a40000700080000000000000ad")


# -- Operators


class ReconcileRequest(Wire):
    idempotency_key: IdempotencyKey
    organization: OrganizationId | None = None
    """Left out: every one."""
    since: Instant | None = None
    """Left out: from the beginning."""


class ReconcileAnswer(Wire):
    run_id: RunId
    """Of an organisation: its run, to be seen among its runs; of all, the name under which each has one."""


class FiguresAnswer(Wire):
    at: Instant
    lag_seconds: int
    """For how long the books of somebody that were to be compared have not been."""
    late_organizations: int
    waiting_seconds: int
    """For how long the oldest event of a provider has had no effect."""
    open_issues: int
    """Over all organisations, up to ten thousand."""
    oldest_issue_at: Instant | None


def _for_operators(number: str, summary: str, **more: Any) -> Contract:
    said: dict[str, Any] = {"version": "1.0.0", "owner": "reconciliation", "consumers": ("operations",), **more}
    return Contract(id=number, summary=summary, **said)


wanted = _for_operators(
    "RECON.01",
    "Have the ledger compared with what providers moved.",
    post="/api/internal/reconcile",
    takes=ReconcileRequest,
    gives=ReconcileAnswer,
    refuses=(OrganizationNotFound,),
    audience=Audience.INTERNAL,
    idempotent_by="idempotencyKey",
    order_key="none",
    examples=(
        Example(
            "Everybody's, from the beginning",
            takes=ReconcileRequest(idempotency_key="2026-05-01"),
            gives=ReconcileAnswer(run_id=SOME_RUN),
        ),
    ),
)

NOBODY_IS_LATE: Final = FiguresAnswer(
    at=THEN, lag_seconds=0, late_organizations=0, waiting_seconds=2, open_issues=1, oldest_issue_at=THEN
)


def _figures(number: str, path: str, **who: Any) -> Contract:
    return _for_operators(
        number,
        "How far behind comparisons and events are, and what is open, over all organisations.",
        get=path,
        gives=FiguresAnswer,
        order_key="none",
        examples=(Example("Nobody is late", gives=NOBODY_IS_LATE),),
        **who,
    )


figures = _figures("RECON.02", "/api/internal/reconciliation", audience=Audience.INTERNAL)
figures_for_people = _figures(
    "RECON.08", "/api/admin/reconciliation", audience=Audience.ADMIN, permission=PLATFORM_RECONCILIATION_R
)


class WhoseAnswer(Wire):
    organization_id: OrganizationId
    open_issues: int
    oldest_issue_at: Instant | None


whose = _for_operators(
    "RECON.09",
    "Which organisations have open issues; whose oldest is the oldest comes first.",
    get=f"{ADMIN_PATH}/whose",
    gives=list[WhoseAnswer],
    audience=Audience.ADMIN,
    permission=PLATFORM_RECONCILIATION_R,
    order_key="oldestIssueAt",
    examples=(
        Example("one", gives=[WhoseAnswer(organization_id=SOME_ORGANIZATION, open_issues=1, oldest_issue_at=THEN)]),
    ),
)


@whose.serves
async def see_whose(call: Call) -> list[WhoseAnswer]:
    found = await call.read(list_whose, MOST_SHOWN, scope=ACROSS)
    return [
        WhoseAnswer(organization_id=own, open_issues=each.issues, oldest_issue_at=each.oldest_at) for own, each in found
    ]


@wanted.serves
async def have_it_compared(call: Call, request: ReconcileRequest) -> ReconcileAnswer:
    scope = Scope(request.organization or PLATFORM_ORGANIZATION, "reconcile")
    run: RunId = await call.batch(commands.want, Wanting(call.caller, request.since), scope=scope)
    return ReconcileAnswer(run_id=run)


@figures.serves
@figures_for_people.serves
async def see_figures(call: Call) -> FiguresAnswer:
    seen = await measure(call.read, datetime.now(UTC))
    return FiguresAnswer(
        at=seen.at,
        lag_seconds=seen.lag_seconds,
        late_organizations=seen.late_organizations,
        waiting_seconds=seen.waiting_seconds,
        open_issues=seen.open_issues,
        oldest_issue_at=seen.oldest_issue_at,
    )


# -- Runs


class SidesAnswer(Wire):
    """What came in, less what went out."""

    here_minor: SignedMinor
    there_minor: SignedMinor


class OpenAnswer(Wire):
    difference: DifferenceClass
    currency: str
    issues: int
    apart_minor: SignedMinor
    oldest_at: Instant


class RunAnswer(Wire):
    run_id: RunId
    state: RunState
    since: Instant | None
    until: Instant | None
    counts: dict[str, int]
    """Objects by class, and what else was counted."""
    sums: dict[str, SidesAnswer]
    """By currency."""
    open_issues: list[OpenAnswer]
    """When it ended."""
    reason: str | None
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None

    @classmethod
    def of(cls, run: Run) -> "RunAnswer":
        return cls(
            run_id=run.id,
            state=run.state,
            since=run.since,
            until=run.until,
            counts=run.counts,
            sums={
                currency: SidesAnswer(here_minor=both.here_minor, there_minor=both.there_minor)
                for currency, both in run.sums.items()
            },
            open_issues=[
                OpenAnswer(
                    difference=each.difference,
                    currency=each.currency,
                    issues=each.issues,
                    apart_minor=each.apart_minor,
                    oldest_at=each.oldest_at,
                )
                for each in run.open_issues
            ],
            reason=run.reason,
            created_at=run.created_at,
            started_at=run.started_at,
            finished_at=run.finished_at,
        )


A_RUN: Final = Run(
    SOME_RUN,
    RunState.DONE,
    None,
    THEN,
    {"MATCHED": 1200, "TIMING": 2, "AMOUNT": 1},
    {"EUR": Both(120_000, 119_500)},
    (OpenIssues(DifferenceClass.AMOUNT, "EUR", 1, -500, THEN),),
    None,
    THEN,
    THEN,
    THEN,
)

runs = Contract(
    id="RECON.03",
    version="1.0.0",
    owner="reconciliation",
    consumers=("web",),
    summary="Comparisons with what they came to, the newest first: the daily report.",
    get=f"{PATH}/runs",
    takes=PageRequest,
    gives=Page[RunAnswer],
    audience=Audience.ORGANIZATION,
    permission=FINANCE_RECONCILIATION_R,
    order_key="runId",
    examples=(
        Example("One amount differs", takes=PageRequest(), gives=Page(items=[RunAnswer.of(A_RUN)], next_cursor=None)),
    ),
)


@runs.serves
async def see_runs(call: Call, request: PageRequest) -> Page[RunAnswer]:
    before = request.after(tuple[UUID]) or (LAST,)
    found: list[Run] = await call.read(list_runs, *before, request.limit + 1)
    return request.page([RunAnswer.of(each) for each in found], key=lambda each: (each.run_id.uuid,))


# -- Issues


class IssueAnswer(Wire):
    issue_id: IssueId
    difference: DifferenceClass
    kind: str
    reference: str
    payment_id: PaymentId | None
    here_minor: SignedMinor
    there_minor: SignedMinor
    currency: str
    here_currency: str | None
    responsible: str
    taken_by: IdentityId | None
    state: IssueState
    closed_how: Closure | None
    closed_reason: str | None
    closed_by: IdentityId | None
    closed_at: Instant | None
    first_seen_at: Instant
    last_seen_at: Instant
    age_seconds: int
    """From when it was first seen until it was closed, or until now."""

    @classmethod
    def of(cls, issue: Issue, at: datetime | None = None) -> "IssueAnswer":
        found = issue.found
        age = (issue.closed_at or at or datetime.now(UTC)) - issue.first_seen_at
        return cls(
            issue_id=issue.id,
            difference=found.difference,
            kind=found.kind,
            reference=found.reference,
            payment_id=found.payment,
            here_minor=found.here_minor,
            there_minor=found.there_minor,
            currency=found.currency,
            here_currency=found.here_currency,
            responsible=issue.responsible,
            taken_by=issue.taken_by,
            state=issue.state,
            closed_how=issue.closed_how,
            closed_reason=issue.closed_reason,
            closed_by=issue.closed_by,
            closed_at=issue.closed_at,
            first_seen_at=issue.first_seen_at,
            last_seen_at=issue.last_seen_at,
            age_seconds=max(int(age.total_seconds()), 0),
        )


class IssuesRequest(PageRequest):
    state: IssueState = IssueState.OPEN
    order: ListOrder = ListOrder.NEWEST


class AdminIssuesRequest(IssuesRequest, kw_only=True):
    organization: OrganizationId


class CloseRequest(Wire):
    organization: OrganizationId
    issue_id: IssueId
    reason_code: ReasonCode


class TakeRequest(Wire):
    organization: OrganizationId
    issue_id: IssueId


AN_ISSUE: Final = Issue(
    SOME_ISSUE,
    Difference(DifferenceClass.AMOUNT, "REFUND", "re_1", "EUR", 1500, 1000, THEN, payment=SOME_PAYMENT),
    RESPONSIBLE,
    None,
    IssueState.OPEN,
    None,
    None,
    None,
    None,
    THEN,
    THEN,
    SOME_RUN,
)

issues = Contract(
    id="RECON.04",
    version="1.0.0",
    owner="reconciliation",
    consumers=("web",),
    summary="What is not the same here and at a provider, the newest first.",
    get=f"{PATH}/issues",
    takes=IssuesRequest,
    gives=Page[IssueAnswer],
    audience=Audience.ORGANIZATION,
    permission=FINANCE_RECONCILIATION_R,
    order_key="issueId",
    examples=(
        Example(
            "A refund of another amount",
            takes=IssuesRequest(),
            gives=Page(items=[IssueAnswer.of(AN_ISSUE, THEN)], next_cursor=None),
        ),
    ),
)

issues_of = _for_operators(
    "RECON.07",
    "What is not the same here and at a provider, of an organisation, the newest first.",
    get=ADMIN_PATH,
    takes=AdminIssuesRequest,
    gives=Page[IssueAnswer],
    audience=Audience.ADMIN,
    permission=PLATFORM_RECONCILIATION_R,
    order_key="issueId",
    examples=(
        Example(
            "A refund of another amount",
            takes=AdminIssuesRequest(organization=SOME_ORGANIZATION),
            gives=Page(items=[IssueAnswer.of(AN_ISSUE, THEN)], next_cursor=None),
        ),
    ),
)

closes = _for_operators(
    "RECON.05",
    "Close an issue: somebody has seen to it, and it is not opened again while it is as it is.",
    post=f"{ADMIN_PATH}/{{issueId}}/close",
    takes=CloseRequest,
    gives=IssueAnswer,
    refuses=(IssueNotFound,),
    audience=Audience.ADMIN,
    permission=PLATFORM_RECONCILIATION_RW,
    verified_only=True,
    step_up=True,
    repeats="what is closed stays closed",
    order_key="issueId",
    examples=(
        Example(
            "Another's",
            takes=CloseRequest(
                organization=SOME_ORGANIZATION, issue_id=SOME_ISSUE, reason_code="SETTLED_WITH_PROVIDER"
            ),
            refuses=IssueNotFound(),
        ),
    ),
)

takes = _for_operators(
    "RECON.06",
    "Take an issue: whoever does is the one to see to it.",
    post=f"{ADMIN_PATH}/{{issueId}}/take",
    takes=TakeRequest,
    gives=IssueAnswer,
    refuses=(IssueNotFound,),
    audience=Audience.ADMIN,
    permission=PLATFORM_RECONCILIATION_RW,
    repeats="whoever took it last has it",
    order_key="issueId",
    examples=(
        Example(
            "Another's",
            takes=TakeRequest(organization=SOME_ORGANIZATION, issue_id=SOME_ISSUE),
            refuses=IssueNotFound(),
        ),
    ),
)


@issues.serves
async def see_issues(call: Call, request: IssuesRequest) -> Page[IssueAnswer]:
    return await _see(call, request)


@issues_of.serves
async def see_issues_of(call: Call, request: AdminIssuesRequest) -> Page[IssueAnswer]:
    return await _see(call, request, _scope(request.organization))


async def _see(call: Call, request: IssuesRequest, scope: Scope | None = None) -> Page[IssueAnswer]:
    (place,) = request.after(tuple[UUID]) or (None,)
    found = await call.read(list_issues, request.state, place, request.limit + 1, request.order, scope=scope)
    return request.page([IssueAnswer.of(each) for each in found], key=lambda each: (each.issue_id.uuid,))


def _scope(organization: OrganizationId) -> Scope:
    return Scope(organization, "see to what differs")


@closes.serves
async def close_by_hand(call: Call, request: CloseRequest) -> IssueAnswer:
    closing = Closing(call.caller, request.issue_id, request.reason_code)
    closed: Issue = await call.batch(commands.close, closing, scope=_scope(request.organization))
    await Woken(request.organization, call.caller, call.read, call.batch).tell_of_open()
    return IssueAnswer.of(closed)


@takes.serves
async def take_issue(call: Call, request: TakeRequest) -> IssueAnswer:
    taking = Taking(call.caller, request.issue_id)
    taken: Issue = await call.batch(commands.take, taking, scope=_scope(request.organization))
    return IssueAnswer.of(taken)


CONTRACTS: Final = (wanted, figures, figures_for_people, whose, runs, issues, issues_of, closes, takes)
PERMISSIONS: Final = (FINANCE_RECONCILIATION_R, PLATFORM_RECONCILIATION_R, PLATFORM_RECONCILIATION_RW)
