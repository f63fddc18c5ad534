"""What operations can ask: which alerts are open, and how the jobs are doing (PLT-022)."""

import asyncio
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from admitone.kernel.alerts import store
from admitone.kernel.alerts.figures import MEASURING, Figures, measure
from admitone.kernel.alerts.model import ALERTS, AlertClass, AlertId, Seen
from admitone.kernel.alerts.runbooks import find_page
from admitone.kernel.authority import Audience
from admitone.kernel.contracts import Call, Contract, Example, Page, PageRequest, Wire
from admitone.kernel.errors import NotFound
from admitone.kernel.ids import OrganizationId
from admitone.kernel.statements import ListOrder

SEE = "PLATFORM_OPERATIONS_R"
"""For those of the platform's own people who look after it."""
RuleName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_.]{0,99}$(?!\n)", max_length=100)]
AN_INSTANT = datetime.fromisoformat("2026-03-01T02:00:00Z")
AN_ALERT = AlertId.parse("alr_0198c9a40000700080000000000000aa")
AN_ID = UUID("0198c9a4-0000-7000-8000-0000000000bb")


class AlertAnswer(Wire):
    id: AlertId
    rule: str
    alert_class: AlertClass
    about: str
    organization: OrganizationId | None
    entities: dict[str, str]
    detail: str
    link: str
    correlation_id: UUID
    first_seen_at: datetime
    last_seen_at: datetime
    times: int

    @classmethod
    def of(cls, seen: Seen) -> "AlertAnswer":
        return cls(
            id=AlertId(seen.id),
            rule=seen.rule,
            alert_class=seen.alert_class,
            about=seen.subject,
            organization=OrganizationId(seen.concerns) if seen.concerns else None,
            entities=dict(seen.entities),
            detail=seen.detail,
            link=seen.link,
            correlation_id=seen.correlation_id,
            first_seen_at=seen.first_seen_at,
            last_seen_at=seen.last_seen_at,
            times=seen.times,
        )


SHOWN = AlertAnswer(
    id=AN_ALERT,
    rule="jobs.retries_exhausted",
    alert_class=AlertClass.PAGER,
    about="payments.capture",
    organization=OrganizationId(AN_ID),
    entities={"deadLetterId": str(AN_ID), "jobKind": "payments.capture"},
    detail="1 dead letters of payments.capture",
    link=f"https://logs.example.org/search?q={AN_ID}",
    correlation_id=AN_ID,
    first_seen_at=AN_INSTANT,
    last_seen_at=AN_INSTANT,
    times=1,
)


class AlertsRequest(PageRequest):
    order: ListOrder = ListOrder.NEWEST


def _alerts(number: str, path: str, **who: Any) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="kernel",
        consumers=("operations",),
        summary="Open alerts, the newest first.",
        get=path,
        takes=AlertsRequest,
        gives=Page[AlertAnswer],
        order_key="time",
        examples=(Example("one", takes=AlertsRequest(limit=10), gives=Page(items=[SHOWN], next_cursor=None)),),
        **who,
    )


alerts = _alerts("KERNEL.ALERTS", "/api/internal/alerts", audience=Audience.INTERNAL)
alerts_for_people = _alerts("KERNEL.ALERTS.ADMIN", "/api/admin/alerts", audience=Audience.ADMIN, permission=SEE)


@alerts.serves
@alerts_for_people.serves
async def list_alerts(call: Call, request: AlertsRequest) -> Page[AlertAnswer]:
    (place,) = request.after(tuple[UUID]) or (None,)
    seen = await call.read(store.list_open, place, request.limit + 1, request.order, scope=ALERTS)
    return request.page([AlertAnswer.of(each) for each in seen], key=lambda answer: (answer.id.uuid,))


class RunbookNotFound(NotFound):
    """There is no runbook for this alert."""

    code = "RUNBOOK_NOT_FOUND"


class RunbookRequest(Wire):
    rule: RuleName


class RunbookAnswer(Wire):
    rule: str
    text: str
    """In Markdown."""


runbook = Contract(
    id="KERNEL.RUNBOOK",
    version="1.0.0",
    owner="kernel",
    consumers=("operations",),
    summary="The page to open when an alert comes.",
    get="/api/admin/runbooks/{rule}",
    takes=RunbookRequest,
    gives=RunbookAnswer,
    refuses=(RunbookNotFound,),
    audience=Audience.ADMIN,
    permission=SEE,
    order_key="none",
    examples=(
        Example(
            "dead letters",
            takes=RunbookRequest(rule="jobs.dead"),
            gives=RunbookAnswer(rule="jobs.dead", text="# Dead letters"),
        ),
    ),
)


@runbook.serves
async def open_runbook(call: Call, request: RunbookRequest) -> RunbookAnswer:  # noqa: ARG001, it is the same for all
    text = await asyncio.to_thread(find_page, request.rule)
    if text is None:
        raise RunbookNotFound
    return RunbookAnswer(rule=request.rule, text=text)


class QueueAnswer(Wire):
    """`jobs` is counted up to 10,000 for each lane and priority."""

    kind: str
    lane: str
    state: str
    jobs: int
    oldest_seconds: float


class LettersAnswer(Wire):
    kind: str
    reason: str
    letters: int
    oldest_seconds: float


class OutboxAnswer(Wire):
    pending: int
    oldest_seconds: float
    put_off: int


class JobsAnswer(Wire):
    at: datetime
    queues: list[QueueAnswer]
    dead_letters: list[LettersAnswer]
    outbox: OutboxAnswer

    @classmethod
    def of(cls, figures: Figures) -> "JobsAnswer":
        return cls(
            at=figures.at,
            queues=[
                QueueAnswer(
                    kind=each.kind,
                    lane=each.lane,
                    state=each.state,
                    jobs=each.jobs,
                    oldest_seconds=figures.age(each.oldest_at),
                )
                for each in sorted(figures.depths, key=lambda each: (each.lane, each.priority, each.kind, each.state))
            ],
            dead_letters=[
                LettersAnswer(
                    kind=each.kind,
                    reason=each.reason,
                    letters=each.letters,
                    oldest_seconds=figures.age(each.died_at),
                )
                for each in figures.letters
            ],
            outbox=OutboxAnswer(
                pending=figures.outbox.pending,
                oldest_seconds=figures.age(figures.outbox.oldest_at),
                put_off=figures.outbox.put_off,
            ),
        )


BUSY = JobsAnswer(
    at=AN_INSTANT,
    queues=[QueueAnswer(kind="payments.capture", lane="work", state="ready", jobs=3, oldest_seconds=1.5)],
    dead_letters=[LettersAnswer(kind="mail.send", reason="RETRIES_EXHAUSTED", letters=1, oldest_seconds=90)],
    outbox=OutboxAnswer(pending=2, oldest_seconds=0.1, put_off=0),
)


def _jobs(number: str, path: str, **who: Any) -> Contract:
    return Contract(
        id=number,
        version="1.0.0",
        owner="kernel",
        consumers=("operations",),
        summary="How many jobs wait, run, were put off or are dead, by kind and lane.",
        get=path,
        gives=JobsAnswer,
        order_key="lane, priority, kind",
        examples=(Example("busy", gives=BUSY),),
        **who,
    )


jobs = _jobs("KERNEL.JOBS", "/api/internal/jobs", audience=Audience.INTERNAL)
jobs_for_people = _jobs("KERNEL.JOBS.ADMIN", "/api/admin/jobs", audience=Audience.ADMIN, permission=SEE)


@jobs.serves
@jobs_for_people.serves
async def show_jobs(call: Call) -> JobsAnswer:
    return JobsAnswer.of(await call.read(measure, scope=MEASURING))


CONTRACTS = (alerts, alerts_for_people, runbook, jobs, jobs_for_people)
