"""The scanner: one screen, and a plain form for whoever has no script.

Promise: the page decides nothing. With scripts it asks the contracts of the door from the browser; without, the form
asks the same contract from here and shows the same verdict.
"""

import re
from typing import Final
from urllib.parse import urlencode

from admitone.entitlements.api import ScannerClosed
from admitone.entitlements.routes import doors, live, scanners
from admitone.entitlements.routes.doors import ConsumeRequest, ManualRequest, UndoRequest, VerdictAnswer
from admitone.entitlements.routes.live import EventRequest
from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId, uuid7
from admitone.kernel.streaks import StepUpRequired
from admitone.verticals.events.api import EventId
from admitone.web.assets import asset
from admitone.web.console.place import Place, enter
from admitone.web.door import words
from admitone.web.door.event import Door, find_door
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page, show

PREFIX: Final = "A1:"
KEPT: Final = (
    "frame.css",
    "door.css",
    "frame.js",
    "mark.svg",
    "door-scanner.js",
    "door-api.js",
    "door-camera.js",
    "door-keeping.js",
    "door-live.js",
    "door-people.js",
    "door-signals.js",
    "door-store.js",
    "door-unsent.js",
    "door-venue.js",
    "door-verdict.js",
    "door-words.js",
)
"""What the page needs where there is no network."""


class DoorPage(Wire):
    organization_id: OrganizationId
    event_id: EventId
    gate: Typed = ""
    session: Typed = ""
    """Which one this door is for; none: whoever has a ticket for the event."""


class CodeForm(DoorPage):
    code: Typed = ""
    key: Typed = ""


class LetInForm(DoorPage):
    entitlement: Typed = ""
    key: Typed = ""


class UndoForm(DoorPage):
    checkin: Typed = ""
    reason: Typed = ""
    key: Typed = ""


PATH: Final = "/org/{organizationId}/checkin/{eventId}"
door_page = page("DOOR.SCANNER", "The scanner of a door.", get=f"{PATH}/door", takes=DoorPage, audience=Audience.PERSON)
try_code = page(
    "DOOR.CODE", "Try a code that was typed.", post=f"{PATH}/door", takes=CodeForm, audience=Audience.PERSON
)
let_in = page(
    "DOOR.LETIN", "Let somebody in by hand.", post=f"{PATH}/let-in", takes=LetInForm, audience=Audience.PERSON
)
take_back = page("DOOR.UNDO", "Take an entry back.", post=f"{PATH}/undo", takes=UndoForm, audience=Audience.PERSON)


def code_of(typed: str) -> str:
    """As it stands in the QR: people leave out what is the same in all of them, and put in spaces."""
    bare = re.sub(r"\s+", "", typed).upper()
    return PREFIX + bare if re.fullmatch(r"[A-Z2-7]{32}", bare) else bare


@door_page.serves
async def show_door(call: Call, asked: DoorPage) -> Html:
    place, door = await stand_at(call, asked)
    return await show_scanner(call, place, door, Form(post_of(asked)))


async def stand_at(call: Call, asked: DoorPage) -> tuple[Place, Door]:
    """The door, for somebody who may let people in there."""
    place = await enter(call, asked.organization_id)
    door = await find_door(call, place, asked.event_id)
    await call.ask(scanners.own_scanner, EventRequest(event_id=str(door.id)), organization=place.id)
    return place, door


def post_of(asked: DoorPage) -> dict[str, str]:
    """Where somebody stands: what a page without scripts hands on to the next, so that nobody has to say it again."""
    return {name: said for name, said in (("gate", asked.gate), ("session", asked.session)) if said}


def path_of(asked: DoorPage, part: str, **more: str) -> str:
    """To another page of this door, without leaving the post."""
    said = {name: value for name, value in {**post_of(asked), **more}.items() if value}
    path = f"/org/{asked.organization_id}/checkin/{asked.event_id}/{part}"
    return f"{path}?{urlencode(said)}" if said else path


async def show_scanner(call: Call, place: Place, door: Door, form: Form) -> Html:
    counts = await call.ask(live.counts, EventRequest(event_id=str(door.id)), organization=place.id)
    return show(
        call,
        "door/scanner.html",
        status=form.status,
        place=place,
        door=door,
        form=form,
        counts=counts,
        told=words,
        kept=[asset(name) for name in KEPT],
        key=str(uuid7()),
    )


@try_code.serves
async def try_it(call: Call, form: CodeForm) -> Html | Redirect:
    place, door = await stand_at(call, form)
    try:
        wanted = filled(
            ConsumeRequest,
            qr_payload=code_of(form.code),
            event_id=str(door.id),
            session_id=form.session,
            gate=form.gate,
            idempotency_key=form.key or str(uuid7()),
        )
        verdict = await call.ask(doors.consume_code, wanted, organization=place.id)
    except (StepUpRequired, ScannerClosed) as stopped:
        return _go_on_by(stopped, form)
    except Refusal as refusal:
        return await show_scanner(call, place, door, _with_code_marked(Form.refused(form, refusal, call.words)))
    return _show_verdict(call, place, door, verdict, form)


def _go_on_by(stopped: StepUpRequired | ScannerClosed, form: DoorPage) -> Redirect:
    """Too many were refused: somebody says who holds the scanner, or why it may go on, and proves who they are."""
    return Redirect(path_of(form, "open" if isinstance(stopped, ScannerClosed) else "confirm"))


FIELDS: Final = {"gate": "gate", "sessionId": "session"}


def _with_code_marked(form: Form) -> Form:
    """The contract calls it otherwise than the form, and where it is missing does not say its name."""
    wrong = {FIELDS.get(name, "code"): text for name, text in form.wrong.items()}
    return Form(form.typed, wrong, form.says, form.next_step, form.status)


@let_in.serves
async def let_in_by_hand(call: Call, form: LetInForm) -> Html | Redirect:
    place, door = await stand_at(call, form)
    wanted = filled(
        ManualRequest,
        entitlement_id=form.entitlement,
        event_id=str(door.id),
        session_id=form.session,
        gate=form.gate,
        idempotency_key=form.key or str(uuid7()),
    )
    try:
        verdict = await call.ask(doors.let_in, wanted, organization=place.id)
    except (StepUpRequired, ScannerClosed) as stopped:
        return _go_on_by(stopped, form)
    return _show_verdict(call, place, door, verdict, form)


def _show_verdict(call: Call, place: Place, door: Door, verdict: VerdictAnswer, form: DoorPage) -> Html:
    return show(
        call,
        "door/verdict.html",
        place=place,
        door=door,
        verdict=verdict,
        kind=words.kind_of(verdict),
        told=words,
        post=post_of(form),
        back=path_of(form, "door"),
        key=str(uuid7()),
    )


@take_back.serves
async def undo(call: Call, form: UndoForm) -> Redirect:
    wanted = filled(
        UndoRequest, checkin_id=form.checkin, reason_code=form.reason, idempotency_key=form.key or str(uuid7())
    )
    await call.ask(doors.take_back, wanted, organization=form.organization_id)
    return Redirect(path_of(form, "door"))


CONTRACTS: Final = (door_page, try_code, let_in, take_back)
