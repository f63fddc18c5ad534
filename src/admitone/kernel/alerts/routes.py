"""What operations can ask: which alerts are open, and how the jobs are doing (PLT-022)."""

from datetime import datetime
from uuid import UUID

from admitone.kernel.alerts import store
from admitone.kernel.alerts.figures import MEASURING, Figures, measure
from admitone.kernel.alerts.model import ALERTS, AlertClass, AlertId, Seen
from admitone.kernel.authority import Audience
from admitone.kernel.contracts import Call, Contract, Example, Page, PageRequest, Wire, page_of
from admitone.kernel.ids import OrganizationId

LAST_ID = UUID(int=2**128 - 1)
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


alerts = Contract(
    id="KERNEL.ALERTS",
    version="1.0.0",
    owner="kernel",
    consumers=("operations",),
    summary="Open alerts, the newest first.",
    get="/api/internal/alerts",
    takes=PageRequest,
    gives=Page[AlertAnswer],
    audience=Audience.INTERNAL,
    order_key="time, newest first",
    examples=(
        Example(
            "one",
            takes=PageRequest(limit=10),
            gives=Page(
                items=[
                    AlertAnswer(
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
                ],
                next_cursor=None,
            ),
        ),
    ),
)


@alerts.serves
async def list_alerts(call: Call, request: PageRequest) -> Page[AlertAnswer]:
    (before,) = request.after(tuple[UUID]) or (LAST_ID,)
    seen = await call.read(store.list_open, before, request.limit + 1, scope=ALERTS)
    return page_of([AlertAnswer.of(each) for each in seen], request.limit, key=lambda answer: (answer.id.uuid,))


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


jobs = Contract(
    id="KERNEL.JOBS",
    version="1.0.0",
    owner="kernel",
    consumers=("operations",),
    summary="How many jobs wait, run, were put off or are dead, by kind and lane.",
    get="/api/internal/jobs",
    gives=JobsAnswer,
    audience=Audience.INTERNAL,
    order_key="lane, priority, kind",
    examples=(
        Example(
            "busy",
            gives=JobsAnswer(
                at=AN_INSTANT,
                queues=[
                    QueueAnswer(kind="payments.capture", lane="work", state="ready", jobs=3, oldest_seconds=1.5),
                ],
                dead_letters=[
                    LettersAnswer(kind="mail.send", reason="RETRIES_EXHAUSTED", letters=1, oldest_seconds=90)
                ],
                outbox=OutboxAnswer(pending=2, oldest_seconds=0.1, put_off=0),
            ),
        ),
    ),
)


@jobs.serves
async def show_jobs(call: Call) -> JobsAnswer:
    return JobsAnswer.of(await call.read(measure, scope=MEASURING))


CONTRACTS = (alerts, jobs)
