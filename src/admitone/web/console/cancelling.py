"""Cancelling an event: shown first, then done, by somebody who proves that it is them and says why.

Promise: who confirms has seen what is done: if anything was sold, given back or disputed since, it is shown again
instead. Whoever has to prove first that it is them comes back to the plan, with what they chose (`web/unsent.py`).
"""

from typing import Any, Final

from admitone.kernel.contracts import Audience, Call, Html, Redirect
from admitone.kernel.errors import Refusal
from admitone.verticals.events.api import EventStatus
from admitone.verticals.events.routes import planning, returning
from admitone.verticals.events.routes.answers import EventAnswer
from admitone.verticals.events.routes.planning import CancelRequest
from admitone.verticals.events.routes.returning import PreviewAnswer
from admitone.verticals.events.routes.wires import EventRequest
from admitone.web.console import desk
from admitone.web.console.events import TAB, EventPage, get_event
from admitone.web.console.place import Place, enter, show_in
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page

REASON_WORDS: Final[dict[str, str]] = {
    "WEATHER": "The weather",
    "ARTIST_UNAVAILABLE": "Somebody who was to perform cannot",
    "VENUE_UNAVAILABLE": "The venue cannot be used",
    "LOW_SALES": "Too few tickets were sold",
    "SAFETY": "Safety, or an order of the authorities",
    "ORGANISER_DECISION": "Another reason of ours",
}
WORK_WORDS: Final[dict[str, str]] = {
    "QUEUED": "Refunds are about to be ordered.",
    "RUNNING": "Refunds are being ordered.",
    "DONE": "All refunds are ordered.",
    "FAILED": "Ordering refunds has stopped; we were told.",
    "CANCELLED": "Ordering refunds was stopped.",
}
REFUND_WORDS: Final[dict[str, str]] = {
    "PLANNED": "To be ordered",
    "PENDING": "On their way",
    "SUCCEEDED": "Arrived",
    "FAILED": "Failed",
    "OVERTAKEN": "Not needed any more",
}


class CancelForm(EventPage, kw_only=True):
    reason: Typed = ""
    seen: Typed = ""
    """Which plan was shown."""
    sure: Typed = ""


cancel_page = page(
    "ORG.EVENT.CANCEL",
    "What cancelling an event would do, or how far it is.",
    get="/org/{organizationId}/events/{eventId}/cancel",
    takes=EventPage,
    audience=Audience.PERSON,
)
cancel = page(
    "ORG.EVENT.CANCEL.DO",
    "Cancel an event.",
    post="/org/{organizationId}/events/{eventId}/cancel",
    takes=CancelForm,
    audience=Audience.PERSON,
)


@cancel_page.serves
async def show_cancel(call: Call, request: EventPage) -> Html:
    place = await enter(call, request.organization_id)
    event = await get_event(call, place, request.event_id)
    if event.status is EventStatus.CANCELLED:
        return await _progress(call, place, event)
    plan = await _plan(call, place, event)
    return _planned(call, place, event, plan, Form({"seen": plan.digest}))


@cancel.serves
async def cancel_event(call: Call, form: CancelForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    event = await get_event(call, place, form.event_id)
    here = place.path(TAB, event.event_id, "cancel")
    if event.status is EventStatus.CANCELLED:
        return Redirect(here)
    plan = await _plan(call, place, event)
    if why := _why_not_yet(form, plan):
        typed = {"reason": form.reason, "seen": plan.digest}
        return _planned(call, place, event, plan, Form(typed, {}, call.words.say(why), status=409))
    try:
        asked = filled(CancelRequest, event_id=event.event_id, reason_code=form.reason)
        await call.ask(planning.cancel, asked, organization=place.id)
    except Refusal as refusal:
        return _planned(call, place, event, plan, desk.refused(call, form, refusal))
    return Redirect(here)


SHOWN_WORDS: Final[dict[str, str]] = {
    "changed": "Something changed since you looked. This is what would be done now.",
    "unsure": "Tick the box to say that you have seen what will be done.",
}


def _why_not_yet(form: CancelForm, plan: PreviewAnswer) -> str:
    if form.seen != plan.digest:
        return SHOWN_WORDS["changed"]
    return "" if form.sure else SHOWN_WORDS["unsure"]


async def _plan(call: Call, place: Place, event: EventAnswer) -> PreviewAnswer:
    found: PreviewAnswer = await call.ask(returning.plan, EventRequest(event_id=event.event_id), organization=place.id)
    return found


def _planned(call: Call, place: Place, event: EventAnswer, plan: PreviewAnswer, form: Form) -> Html:
    shown = {"event": event, "plan": plan, "form": form, "reasons": REASON_WORDS}
    return show_in(call, place, TAB, "console/cancel.html", status=form.status, **shown)


async def _progress(call: Call, place: Place, event: EventAnswer) -> Html:
    asked = EventRequest(event_id=event.event_id)
    progress = await call.ask(returning.progress, asked, organization=place.id)
    words: dict[str, Any] = {"work": WORK_WORDS, "refunds": REFUND_WORDS}
    return show_in(call, place, TAB, "console/cancelled.html", event=event, progress=progress, **words)


CONTRACTS: Final = (cancel_page, cancel)
