"""Finding somebody at the door by name.

Promise: the name stands in no address and in no log. That somebody looked is written down by the contract asked.
"""

from typing import Final

from admitone.entitlements.routes import lists
from admitone.entitlements.routes.lists import HolderAnswer, HoldersRequest
from admitone.kernel.contracts import Audience, Call, Html
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.kernel.ids import uuid7
from admitone.web.console.place import Place
from admitone.web.door import words
from admitone.web.door.event import Door
from admitone.web.door.scanner import PATH, DoorPage, path_of, post_of, stand_at
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page, show

MOST_FOUND: Final = 20


class SearchForm(DoorPage):
    search: Typed = ""


people_page = page(
    "DOOR.PEOPLE", "Find somebody by name.", get=f"{PATH}/people", takes=DoorPage, audience=Audience.PERSON
)
find_people = page(
    "DOOR.PEOPLE.FIND", "Find somebody by name.", post=f"{PATH}/people", takes=SearchForm, audience=Audience.PERSON
)


@people_page.serves
async def show_people(call: Call, asked: DoorPage) -> Html:
    place, door = await stand_at(call, asked)
    return _show(call, place, door, Form(post_of(asked)), None, back=path_of(asked, "door"))


@find_people.serves
async def find(call: Call, form: SearchForm) -> Html:
    place, door = await stand_at(call, form)
    try:
        wanted = filled(HoldersRequest, event_id=str(door.id), search=form.search, limit=str(MOST_FOUND))
        found = await call.ask(lists.find_holders, wanted, organization=place.id)
    except Unauthenticated:
        raise
    except Refusal as refusal:
        return _show(call, place, door, Form.refused(form, refusal, call.words), None, back=path_of(form, "door"))
    return _show(call, place, door, Form.of(form), found.items, back=path_of(form, "door"))


def _show(call: Call, place: Place, door: Door, form: Form, found: list[HolderAnswer] | None, *, back: str) -> Html:
    return show(
        call,
        "door/people.html",
        status=form.status,
        place=place,
        door=door,
        form=form,
        found=found,
        back=back,
        told=words,
        keys=[str(uuid7()) for _ in found or ()],
    )


CONTRACTS: Final = (people_page, find_people)
