"""Jobs: how many wait and for how long, what is dead, and the alerts that are open with their runbooks."""

import re
from collections.abc import Callable
from typing import Any, Final

from admitone.kernel import operations
from admitone.kernel.alerts import routes as alerts
from admitone.kernel.alerts.routes import AlertsRequest, QueueAnswer, RuleName, RunbookRequest
from admitone.kernel.contracts import Call, Html, Redirect, Stream, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.jobs.dead import DeadLetterId
from admitone.kernel.operations import DeadLettersRequest, RunAgainRequest, StoryRequest
from admitone.web import lists
from admitone.web.console.desk import refused
from admitone.web.form import Form, Typed, filled
from admitone.web.lists import NEWEST_WORDS, OLDEST_WORDS, Listing, ListPage, Source, link
from admitone.web.ops.room import ops_page, show_in_room

JOB_WORDS: Final[dict[str, str]] = {
    "ready": "Ready",
    "running": "Running",
    "later": "Put off",
    "suspect": "Suspect",
}
DEAD_WORDS: Final[dict[str, str]] = {
    "RETRIES_EXHAUSTED": "Tried as often as allowed",
    "NOT_RETRYABLE": "Can never succeed as it is",
    "CRASH_LIMIT": "Those who ran it died",
}
OUTCOME_WORDS: Final[dict[str, str]] = {
    "done": "It runs again.",
    "DEAD_LETTER_REPLAYED": "This dead letter has already been replayed.",
    "DEAD_LETTER_NOT_FOUND": "There is no dead letter of that id.",
}


QUEUE_ORDER_WORDS: Final[dict[str, str]] = {
    "KIND": "By kind",
    "MOST": "The most jobs first",
    "WAITING": "Who waits longest first",
}
QUEUE_ORDERS: Final[dict[str, Callable[[QueueAnswer], Any]]] = {
    "KIND": lambda each: (each.kind, each.lane, each.state),
    "MOST": lambda each: (-each.jobs, each.kind, each.lane, each.state),
    "WAITING": lambda each: (-each.oldest_seconds, each.kind, each.lane, each.state),
}
"""There are as many queues as kinds, and no more."""
QUEUE_COLUMNS: Final = ("kind", "lane", "state", "jobs", "oldest_seconds")
LETTERS: Final = Source(
    operations.letters_for_people,
    OLDEST_WORDS,
    (
        *("id", "organization_id", "kind", "key", "reason", "error", "attempts", "crashes"),
        *("event_id", "correlation_id", "created_at", "died_at"),
    ),
    name="dead-letters",
    rows=50,
)
ALERTS: Final = Source(
    alerts.alerts_for_people,
    NEWEST_WORDS,
    (
        *("id", "rule", "alert_class", "about", "organization", "detail", "correlation_id"),
        *("first_seen_at", "last_seen_at", "times"),
    ),
    name="alerts",
    rows=50,
)


class JobsPage(ListPage):
    kind: Typed = ""


class LettersPage(ListPage):
    kind: Typed = ""
    organization: Typed = ""


class ReplayedPage(LettersPage):
    said: Typed = ""
    """What became of the one that was run again: of this moment, and of no address that is shared."""


class LetterPage(Wire):
    id: DeadLetterId


class ReplayForm(Wire):
    id: DeadLetterId
    reason: Typed = ""
    reason_code: Typed = ""


class RunbookPage(Wire):
    rule: RuleName


jobs_page = ops_page(".JOBS", "How the jobs are doing.", "", JobsPage)
letters_page = ops_page(".LETTERS", "Dead letters that nobody has replayed.", "/dead-letters", ReplayedPage)
letter_page = ops_page(".LETTER", "One dead letter and its story.", "/dead-letters/{id}", LetterPage)
replay = ops_page(".REPLAY", "Run a dead letter again.", "/dead-letters/{id}/replay", ReplayForm, post=True)
alerts_page = ops_page(".ALERTS", "Open alerts with their runbooks.", "/alerts", ListPage)
runbook_page = ops_page(".RUNBOOK", "What to do about an alert.", "/runbooks/{rule}", RunbookPage)


@jobs_page.serves
async def show_jobs(call: Call, request: JobsPage) -> Html | Stream:
    found = await call.ask(alerts.jobs_for_people)
    order, kind = request.order_among(QUEUE_ORDER_WORDS), request.kind.strip()
    queues = sorted((each for each in found.queues if kind in each.kind), key=QUEUE_ORDERS[order])
    if request.form == lists.CSV:
        return lists.short_table(queues, QUEUE_COLUMNS, name="jobs")
    opened = await call.ask(alerts.alerts_for_people, AlertsRequest(limit=100))
    return show_in_room(
        call,
        "",
        "ops/jobs.html",
        jobs=found,
        queues=queues,
        form=Form.of(request),
        listing=Listing.of(request, "/ops", QUEUE_ORDER_WORDS, None),
        alerts=len(opened.items),
        states=JOB_WORDS,
        reasons=DEAD_WORDS,
        link=link,
    )


@letters_page.serves
async def show_letters(call: Call, request: ReplayedPage) -> Html | Stream:
    which = {"kind": request.kind.strip(), "organization": request.organization.strip()}
    found = await LETTERS.read(call, request, LETTERS.asked(DeadLettersRequest, request, **which))
    if isinstance(found, Stream):
        return found
    return show_in_room(
        call,
        "dead-letters",
        "ops/letters.html",
        form=Form.of(request),
        letters=found.items,
        listing=Listing.of(request, "/ops/dead-letters", OLDEST_WORDS, found, but="said"),
        reasons=DEAD_WORDS,
        said=OUTCOME_WORDS.get(request.said, ""),
        is_done=request.said == "done",
    )


@letter_page.serves
async def show_letter(call: Call, request: LetterPage) -> Html:
    return await _letter(call, request.id, Form())


async def _letter(call: Call, own: DeadLetterId, form: Form) -> Html:
    story = await call.ask(operations.story_for_people, StoryRequest(id=own))
    return show_in_room(
        call,
        "dead-letters",
        "ops/letter.html",
        status=form.status,
        story=story,
        form=form,
        reasons=DEAD_WORDS,
    )


@replay.serves
async def run_again(call: Call, form: ReplayForm) -> Html | Redirect:
    try:
        why = {"reason": form.reason.strip(), "reason_code": form.reason_code.strip()}
        asked = filled(RunAgainRequest, ids=[str(form.id)], **why)
        answer = await call.ask(operations.replay_by_people, asked)
    except Refusal as refusal:
        return await _letter(call, form.id, refused(call, form, refusal))
    [outcome] = answer.outcomes
    return Redirect(link("/ops/dead-letters", said=outcome.error_code or "done"))


@alerts_page.serves
async def show_alerts(call: Call, request: ListPage) -> Html | Stream:
    found = await ALERTS.read(call, request, ALERTS.asked(AlertsRequest, request))
    if isinstance(found, Stream):
        return found
    listing = Listing.of(request, "/ops/alerts", NEWEST_WORDS, found)
    return show_in_room(call, "alerts", "ops/alerts.html", alerts=found.items, listing=listing)


@runbook_page.serves
async def show_runbook(call: Call, request: RunbookPage) -> Html:
    found = await call.ask(alerts.runbook, RunbookRequest(rule=request.rule))
    title, sections = _sections(found.text)
    return show_in_room(call, "alerts", "ops/runbook.html", rule=request.rule, title=title, sections=sections)


def _sections(text: str) -> tuple[str, list[tuple[str, Any]]]:
    """A runbook is a title and sections with plain paragraphs and lists, which read well as they are written."""
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, opening = head.removeprefix("# ").partition("\n")
    told = [part.partition("\n") for part in parts]
    return title.strip(), [("", opening.strip()), *((name.strip(), body.strip()) for name, _, body in told)]


CONTRACTS: Final = (jobs_page, letters_page, letter_page, replay, alerts_page, runbook_page)
