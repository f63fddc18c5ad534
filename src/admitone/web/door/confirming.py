"""Somebody says who holds a scanner that was refused too often; the contract asks them to prove who they are."""

from typing import Final

from admitone.entitlements.routes import doors
from admitone.entitlements.routes.doors import ConfirmRequest
from admitone.kernel.contracts import Audience, Call, Html, Redirect
from admitone.web.door.scanner import PATH, DoorPage, path_of, post_of, stand_at
from admitone.web.form import Typed, filled
from admitone.web.page import page, show

STAFF_PRESENT: Final = "STAFF_PRESENT"


class ConfirmPage(DoorPage):
    device: Typed = ""


confirm_page = page(
    "DOOR.CONFIRM", "Confirm who holds a scanner.", get=f"{PATH}/confirm", takes=ConfirmPage, audience=Audience.PERSON
)
confirm = page(
    "DOOR.CONFIRM.DO",
    "Confirm who holds a scanner.",
    post=f"{PATH}/confirm",
    takes=ConfirmPage,
    audience=Audience.PERSON,
)


@confirm_page.serves
async def show_confirm(call: Call, asked: ConfirmPage) -> Html:
    place, door = await stand_at(call, asked)
    kept = {**post_of(asked), "device": asked.device}
    return show(call, "door/confirm.html", place=place, door=door, kept=kept, back=path_of(asked, "door"))


@confirm.serves
async def say_so(call: Call, form: ConfirmPage) -> Redirect:
    place, door = await stand_at(call, form)
    # Without a script a scanner is known by the person who holds it.
    wanted = filled(
        ConfirmRequest,
        device_id=form.device or str(call.identity),
        event_id=str(door.id),
        reason_code=STAFF_PRESENT,
    )
    await call.ask(doors.confirm, wanted, organization=place.id)
    return Redirect(path_of(form, "door"))


CONTRACTS: Final = (confirm_page, confirm)
