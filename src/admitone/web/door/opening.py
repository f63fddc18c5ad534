"""A scanner that closed itself is opened again: by somebody who may let people in there, for a reason, with proof.

Promise: whoever has to prove first that it is them comes back here, with the scanner and the reason that they chose.
"""

from typing import Final
from urllib.parse import quote

from admitone.entitlements.routes import scanners
from admitone.entitlements.routes.scanners import OpenRequest
from admitone.kernel.contracts import Audience, Call, Html, Redirect
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.kernel.streaks import StepUpRequired
from admitone.web.console.place import Place
from admitone.web.door import words
from admitone.web.door.event import Door
from admitone.web.door.scanner import PATH, DoorPage, path_of, post_of, stand_at
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page, show
from admitone.web.port import STEP_UP


class OpenPage(DoorPage):
    device: Typed = ""
    """Without a script a scanner is known by the person who holds it."""
    reason: Typed = ""


open_page = page(
    "DOOR.OPEN", "Why a closed scanner may go on.", get=f"{PATH}/open", takes=OpenPage, audience=Audience.PERSON
)
open_it = page(
    "DOOR.OPEN.DO", "Open a closed scanner again.", post=f"{PATH}/open", takes=OpenPage, audience=Audience.PERSON
)


@open_page.serves
async def show_open(call: Call, asked: OpenPage) -> Html:
    place, door = await stand_at(call, asked)
    return _show(call, place, door, asked, Form.of(asked))


@open_it.serves
async def open_again(call: Call, form: OpenPage) -> Html | Redirect:
    place, door = await stand_at(call, form)
    try:
        wanted = filled(
            OpenRequest,
            event_id=str(door.id),
            device_id=form.device or str(call.identity),
            reason_code=form.reason,
        )
        await call.ask(scanners.open_again, wanted, organization=place.id)
    except StepUpRequired:
        back = path_of(form, "open", device=form.device, reason=form.reason)
        return Redirect(f"{STEP_UP}?next={quote(back, safe='')}")
    except Unauthenticated:
        raise
    except Refusal as refusal:
        return _show(call, place, door, form, _with_reason_marked(Form.refused(form, refusal, call.words)))
    return Redirect(path_of(form, "door"))


def _with_reason_marked(form: Form) -> Form:
    """The contract calls it otherwise than the form."""
    wrong = {"reason" if name == "reasonCode" else name: text for name, text in form.wrong.items()}
    return Form(form.typed, wrong, form.says, form.next_step, form.status)


def _show(call: Call, place: Place, door: Door, asked: OpenPage, form: Form) -> Html:
    return show(
        call,
        "door/open.html",
        status=form.status,
        place=place,
        door=door,
        form=form,
        kept={**post_of(asked), "device": asked.device},
        back=path_of(asked, "door"),
        reasons=words.OPENING_WORDS,
    )


CONTRACTS: Final = (open_page, open_it)
