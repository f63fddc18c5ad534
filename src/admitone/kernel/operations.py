"""What operators see and do: dead letters, their replay, and the timeline of a call (PLT-022).

Promise: nothing here answers but to the internal secret and, for what people look at, to the platform's own people;
personal data does not appear, because jobs and facts carry ids; a replay names who asked and why, is audited, and runs
once. A person who signed in need not say who they are, but proves it anew and gives a code for the trail: what is run
again may be a payment or a refund.
"""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from admitone.kernel.alerts.routes import SEE
from admitone.kernel.contracts import (
    Audience,
    Call,
    Contract,
    Example,
    Instant,
    Page,
    PageRequest,
    ReasonCode,
    ShortText,
    Wire,
)
from admitone.kernel.db import Record
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.jobs import dead
from admitone.kernel.jobs.dead import DeadLetterId, DeadLetterNotFound, Replay, Replayed
from admitone.kernel.jobs.model import EventId, JobId
from admitone.kernel.jobs.relay import Subscriptions
from admitone.kernel.redaction import redact_text
from admitone.kernel.scope import Scope
from admitone.kernel.statements import ListOrder

MEND = "PLATFORM_OPERATIONS_RW"
PERMISSIONS = (SEE, MEND)

SOME_LETTER = DeadLetterId.parse("dead_0198c9a40000700080000000000000aa")
SOME_JOB = JobId.parse("job_0198c9a40000700080000000000000ab")
SOME_EVENT = EventId.parse("evt_0198c9a40000700080000000000000ac")
SOME_ORGANIZATION = OrganizationId.parse("org_0198c9a40000700080000000000000ad")
SOME_CALL = UUID("0198c9a4-0000-7000-8000-0000000000ae")


class DeadLetter(Wire):
    id: DeadLetterId
    organization_id: OrganizationId
    kind: str
    key: str
    reason: str
    error: str
    attempts: int
    crashes: int
    event_id: EventId | None
    correlation_id: UUID
    created_at: Instant
    died_at: Instant


class Attempt(Wire):
    number: int
    at: Instant
    error: str


class Told(Wire):
    """The fact that the job was about."""

    id: EventId
    type: str
    version: str
    subject_type: str
    subject_id: str
    created_at: Instant
    payload: str


class Story(Wire):
    letter: DeadLetter
    payload: str
    fact: Told | None
    tried: list[Attempt]
    replayed_at: Instant | None
    replayed_by: str | None
    replay_reason: str | None


class DeadLettersRequest(PageRequest):
    kind: ShortText | None = None
    organization: OrganizationId | None = None
    order: ListOrder = ListOrder.OLDEST


class StoryRequest(Wire):
    id: DeadLetterId


class ReplayRequest(Wire):
    ids: Annotated[list[DeadLetterId], Meta(min_length=1, max_length=100)]
    by: ShortText
    """Who wants it: the secret does not tell."""
    reason: ShortText


class ReplayOutcome(Wire):
    id: DeadLetterId
    job_id: JobId | None
    error_code: str | None


class ReplayAnswer(Wire):
    outcomes: list[ReplayOutcome]


class TimelineRequest(Wire):
    correlation_id: UUID


class Moment(Wire):
    at: Instant
    what: str
    organization_id: OrganizationId
    subject: str
    detail: str


class Timeline(Wire):
    moments: list[Moment]


A_LETTER = DeadLetter(
    id=SOME_LETTER,
    organization_id=SOME_ORGANIZATION,
    kind="crm.count_visit",
    key=f"crm.count_visit:{SOME_EVENT.uuid}",
    reason="RETRIES_EXHAUSTED",
    error="TimeoutError: ",
    attempts=5,
    crashes=0,
    event_id=SOME_EVENT,
    correlation_id=SOME_CALL,
    created_at="2026-11-16T10:00:00Z",  # type: ignore[arg-type]
    died_at="2026-11-16T10:00:31Z",  # type: ignore[arg-type]
)
"""In examples, instants are as they travel."""


def _letter(row: Record) -> DeadLetter:
    return DeadLetter(
        id=DeadLetterId(row["id"]),
        organization_id=OrganizationId(row["organization_id"]),
        kind=row["kind"],
        key=row["key"],
        reason=row["reason"],
        error=row["error"],
        attempts=row["attempts"],
        crashes=row["crashes"],
        event_id=EventId(row["event_id"]) if row["event_id"] else None,
        correlation_id=row["correlation_id"],
        created_at=row["created_at"],
        died_at=row["died_at"],
    )


def _contract(number: str, summary: str, **more: Any) -> Contract:
    usual: dict[str, Any] = {"version": "1.0.0", "owner": "kernel", "consumers": ("operations",), "order_key": "none"}
    return Contract(id=number, summary=summary, **(usual | more))


def _lists(number: str, path: str, **who: Any) -> Contract:
    return _contract(
        number,
        "Dead letters that nobody has replayed, the oldest first unless the newest are asked for.",
        get=path,
        takes=DeadLettersRequest,
        gives=Page[DeadLetter],
        examples=(Example("one", takes=DeadLettersRequest(), gives=Page(items=[A_LETTER], next_cursor=None)),),
        **who,
    )


dead_letters = _lists("KERNEL.DLQ", "/api/internal/outbox/dlq", audience=Audience.INTERNAL)
letters_for_people = _lists("KERNEL.DLQ.ADMIN", "/api/admin/dead-letters", audience=Audience.ADMIN, permission=SEE)


@dead_letters.serves
@letters_for_people.serves
async def list_letters(call: Call, request: DeadLettersRequest) -> Page[DeadLetter]:
    (place,) = request.after(tuple[UUID]) or (None,)
    rows = await call.read(
        dead.list_dead, place, request.kind, request.organization, request.limit + 1, request.order, scope=dead.SCOPE
    )
    return request.page([_letter(row) for row in rows], key=lambda letter: (letter.id.uuid,))


def _tells(number: str, path: str, **who: Any) -> Contract:
    return _contract(
        number,
        "One dead letter with its fact and every time it was tried.",
        get=path,
        takes=StoryRequest,
        gives=Story,
        refuses=(DeadLetterNotFound,),
        examples=(Example("unknown", takes=StoryRequest(id=SOME_LETTER), refuses=DeadLetterNotFound()),),
        **who,
    )


story = _tells("KERNEL.DLQ.STORY", "/api/internal/outbox/dlq/{id}", audience=Audience.INTERNAL)
story_for_people = _tells(
    "KERNEL.DLQ.STORY.ADMIN", "/api/admin/dead-letters/{id}", audience=Audience.ADMIN, permission=SEE
)


@story.serves
@story_for_people.serves
async def tell_story(call: Call, request: StoryRequest) -> Story:
    told = await call.read(dead.tell, request.id, scope=dead.SCOPE)
    letter, fact = told.letter, told.fact
    return Story(
        letter=_letter(letter),
        payload=redact_text(letter["payload"]),
        fact=_fact(fact) if fact else None,
        tried=[Attempt(number=row["number"], at=row["at"], error=row["error"]) for row in told.attempts],
        replayed_at=letter["replayed_at"],
        replayed_by=letter["replayed_by"],
        replay_reason=letter["replay_reason"],
    )


def _fact(row: Record) -> Told:
    return Told(**{**dict(row), "id": EventId(row["id"]), "payload": redact_text(row["payload"])})


replay = Contract(
    id="KERNEL.REPLAY",
    version="1.0.0",
    owner="kernel",
    consumers=("operations",),
    summary="Run dead letters again.",
    post="/api/internal/outbox/replay",
    takes=ReplayRequest,
    gives=ReplayAnswer,
    audience=Audience.INTERNAL,
    repeats="a dead letter is replayed once; the second time it says so",
    order_key="none",
    examples=(
        Example(
            "mended",
            takes=ReplayRequest(ids=[SOME_LETTER], by="ana", reason="the host is back"),
            gives=ReplayAnswer(outcomes=[ReplayOutcome(id=SOME_LETTER, job_id=SOME_JOB, error_code=None)]),
        ),
    ),
)


class RunAgainRequest(Wire):
    ids: Annotated[list[DeadLetterId], Meta(min_length=1, max_length=100)]
    reason: ShortText
    """In words, for whoever reads its story."""
    reason_code: ReasonCode


replay_by_people = _contract(
    "KERNEL.REPLAY.ADMIN",
    "Run dead letters again.",
    post="/api/admin/outbox/replay",
    takes=RunAgainRequest,
    gives=ReplayAnswer,
    audience=Audience.ADMIN,
    permission=MEND,
    step_up=True,
    repeats="a dead letter is replayed once; the second time it says so",
    examples=(
        Example(
            "mended",
            takes=RunAgainRequest(ids=[SOME_LETTER], reason="the host is back", reason_code="HOST_IS_BACK"),
            gives=ReplayAnswer(outcomes=[ReplayOutcome(id=SOME_LETTER, job_id=SOME_JOB, error_code=None)]),
        ),
    ),
)


@replay_by_people.serves
async def run_again_for(call: Call, request: RunAgainRequest) -> ReplayAnswer:
    by, reason, code = str(call.identity), request.reason, request.reason_code
    return await _run_again(call, [Replay(call.caller, each, by, reason, code) for each in request.ids])


@replay.serves
async def run_again(call: Call, request: ReplayRequest) -> ReplayAnswer:
    return await _run_again(call, [Replay(call.caller, each, request.by, request.reason) for each in request.ids])


async def _run_again(call: Call, replays: list[Replay]) -> ReplayAnswer:
    async def submit(scope: Scope, each: Replay) -> Replayed:
        return await call.batch(dead.replay, each, scope=scope)

    letters = await call.read(dead.find_dead, [each.id for each in replays], scope=dead.SCOPE)
    outcomes = await dead.replay_each(submit, letters, replays)
    return ReplayAnswer(outcomes=[_outcome(each.id, outcome) for each, outcome in zip(replays, outcomes, strict=True)])


def _outcome(letter: DeadLetterId, outcome: Replayed | Refusal) -> ReplayOutcome:
    if isinstance(outcome, Refusal):
        return ReplayOutcome(id=letter, job_id=None, error_code=outcome.code)
    return ReplayOutcome(id=letter, job_id=outcome.job, error_code=None)


def _moment(each: dead.Moment) -> Moment:
    return Moment(
        at=each.at, what=each.what, organization_id=each.organization, subject=each.subject, detail=each.detail
    )


def timeline_contract(subscriptions: Subscriptions) -> Contract:
    contract = Contract(
        id="KERNEL.TIMELINE",
        version="1.0.0",
        owner="kernel",
        consumers=("operations",),
        summary="Everything that a call led to: facts, jobs, attempts and dead letters, in their order.",
        get="/api/internal/timeline/{correlationId}",
        takes=TimelineRequest,
        gives=Timeline,
        audience=Audience.INTERNAL,
        order_key="none",
        examples=(Example("nothing", takes=TimelineRequest(correlation_id=SOME_CALL), gives=Timeline(moments=[])),),
    )

    @contract.serves
    async def show(call: Call, request: TimelineRequest) -> Timeline:
        read = partial(call.read, scope=dead.SCOPE)
        moments: list[dead.Moment] = await read(dead.list_moments, request.correlation_id, subscriptions)
        for whose in {moment.organization for moment in moments}:
            keys = {key for moment in moments if moment.organization == whose for key in moment.keys}
            moments += await call.read(dead.list_effects, sorted(keys), scope=Scope(whose, "timeline"))
        return Timeline(moments=[_moment(each) for each in sorted(moments, key=lambda moment: moment.at)])

    return contract


CONTRACTS = (dead_letters, letters_for_people, story, story_for_people, replay, replay_by_people)
