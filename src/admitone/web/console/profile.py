"""The public profile, where its organisation lays it out.

Promise: nothing that was typed is lost, and what is wrong is said beside its box. Of each block it is told whether
strangers see it, or why not. Who was overtaken is told so, and replaces what another wrote only by saving again; blocks
that cannot be chosen here stay as they were.
"""

import re
from dataclasses import replace
from itertools import zip_longest
from typing import Annotated, Any, Final

from msgspec import Meta

from admitone.foundation.organizations.routes import layout
from admitone.foundation.organizations.routes.layout import (
    MOST_QUESTIONS,
    LayoutRequest,
    LayoutWire,
    SeenLayoutAnswer,
)
from admitone.kernel.contracts import Audience, Call, Html, Redirect, ValidationFailed, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.web.console import desk
from admitone.web.console.place import Place, enter, show_in
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page

TAB: Final = "perfil"
TEMPLATE: Final = "console/profile.html"
BLOCK_WORDS: Final[dict[str, str]] = {
    "ABOUT": "About",
    "EVENTS_AGENDA": "Events",
    "FAQ": "Questions",
    "CONTACT": "Contact",
}
"""The blocks that somebody can fill today, and so choose."""
STANDING_WORDS: Final[dict[str, str]] = {
    "SHOWN": "Shown",
    "NOT_CHOSEN": "Not chosen",
    "MODULE_OFF": "Its module is off",
    "EMPTY": "Nothing in it yet",
}
STANDINGS: Final = desk.States(STANDING_WORDS, {"SHOWN": "good", "MODULE_OFF": "twice", "EMPTY": "waiting"})
WRONG_WORDS: Final[dict[str, str]] = {
    "tagline": "One line, of 140 signs at most.",
    "about": "3,000 signs at most.",
    "question": "A question on one line, of 160 signs at most.",
    "answer": "Every question needs an answer, of 800 signs at most.",
    "website": "The whole address, which begins with https://.",
    "phone": "Digits and blanks, with the country's number after a + at the beginning.",
    "address": "One line, of 160 signs at most.",
}
"""What a box wants, said beside it when it was given something else."""
EMPTY_ROWS: Final = 2
"""Of questions that are not asked yet."""
OVERTAKEN: Final = "PROFILE_OVERTAKEN"
_of_a_question = re.compile(r"\$\.faq\[(\d+)\]\.(question|answer)$")

Long = Annotated[str, Meta(max_length=20_000)]
Rows = Annotated[tuple[Typed, ...], Meta(max_length=MOST_QUESTIONS)]


class ProfilePage(Wire):
    organization_id: OrganizationId


class ProfileForm(Wire):
    organization_id: OrganizationId
    question: Rows
    answer: Rows
    """To the question of the same row. These are not left out when they are empty: a row is known by its number."""
    version: Typed = ""
    blocks: Annotated[tuple[Typed, ...], Meta(max_length=9)] = ()
    tagline: Typed = ""
    about: Long = ""
    website: Typed = ""
    phone: Typed = ""
    address: Typed = ""

    @property
    def asked(self) -> dict[int, tuple[str, str]]:
        """Rows in which something was typed."""
        rows = enumerate(zip_longest(self.question, self.answer, fillvalue=""))
        said = {row: (question.strip(), _lines(answer)) for row, (question, answer) in rows}
        return {row: pair for row, pair in said.items() if any(pair)}


profile_page = page(
    "ORG.PROFILE",
    "What an organisation's public profile shows.",
    get="/org/{organizationId}/perfil",
    takes=ProfilePage,
    audience=Audience.PERSON,
)
change = page(
    "ORG.PROFILE.CHANGE",
    "Lay out an organisation's public profile anew.",
    post="/org/{organizationId}/perfil",
    takes=ProfileForm,
    audience=Audience.PERSON,
)


@profile_page.serves
async def show_profile(call: Call, request: ProfilePage) -> Html:
    place = await enter(call, request.organization_id)
    seen: SeenLayoutAnswer = await call.ask(layout.see, organization=place.id)
    return await _shown(call, place, seen, Form(_typed(seen)))


@change.serves
async def change_profile(call: Call, form: ProfileForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    seen: SeenLayoutAnswer = await call.ask(layout.see, organization=place.id)
    try:
        wanted = filled(LayoutRequest, layout=_wanted(seen.latest.layout, form), version=form.version)
        await call.ask(layout.change, wanted, organization=place.id)
    except Refusal as refusal:
        return await _shown_again(call, place, form, refusal)
    return Redirect(place.path(TAB))


def _wanted(known: LayoutWire, form: ProfileForm) -> LayoutWire:
    chosen = {each for each in form.blocks if each in BLOCK_WORDS}
    return filled(
        LayoutWire,
        blocks=sorted({each.value for each in known.blocks if each not in BLOCK_WORDS} | chosen),
        tagline=form.tagline.strip(),
        about=_lines(form.about),
        faq=[{"question": question, "answer": answer} for question, answer in form.asked.values()],
        website=form.website.strip(),
        phone=form.phone.strip(),
        address=form.address.strip(),
    )


def _lines(typed: str) -> str:
    """Browsers end lines with two signs."""
    return typed.replace("\r\n", "\n").strip()


async def _shown_again(call: Call, place: Place, typed: ProfileForm, refusal: Refusal) -> Html:
    form = desk.refused(call, typed, refusal)
    seen: SeenLayoutAnswer = await call.ask(layout.see, organization=place.id)
    if isinstance(refusal, ValidationFailed):
        boxes = [_box_of(each.path, typed) for each in refusal.errors]
        form = replace(form, wrong={box: call.words.say(_what_it_wants(box)) for box in boxes})
    elif refusal.code == OVERTAKEN:
        next_step = call.words.say("What you typed is still here. Look at your page, then save again to replace it.")
        form = replace(form, typed={**form.typed, "version": seen.latest.version}, next_step=next_step)
    return await _shown(call, place, seen, form)


def _box_of(path: str, form: ProfileForm) -> str:
    """Rows that were left empty are not sent, and so not counted."""
    if found := _of_a_question.match(path):
        return f"{found[2]}-{[*form.asked][int(found[1])]}"
    return path.removeprefix("$.")


def _what_it_wants(box: str) -> str:
    return WRONG_WORDS.get(box.partition("-")[0], "Please check this field.")


def _typed(seen: SeenLayoutAnswer) -> dict[str, Any]:
    """As the boxes show it."""
    known = seen.latest.layout
    return {
        "version": seen.latest.version,
        "blocks": [each.value for each in known.blocks],
        "tagline": known.tagline or "",
        "about": known.about or "",
        "question": [each.question for each in known.faq],
        "answer": [each.answer for each in known.faq],
        "website": known.website or "",
        "phone": known.phone or "",
        "address": known.address or "",
    }


async def _shown(call: Call, place: Place, seen: SeenLayoutAnswer, form: Form) -> Html:
    return show_in(
        call,
        place,
        TAB,
        TEMPLATE,
        status=form.status,
        form=_with_room(form),
        latest=seen.latest,
        zone=place.zone,
        blocks=[(each.block, each.standing) for each in seen.blocks if each.block in BLOCK_WORDS],
        block_words=BLOCK_WORDS,
        standings=STANDINGS,
    )


def _with_room(form: Form) -> Form:
    """For questions that are not asked yet."""
    rows = [*zip_longest(form["question"], form["answer"], fillvalue="")]
    rows += [("", "")] * (EMPTY_ROWS - sum(not any(pair) for pair in rows))
    questions, answers = zip(*rows[:MOST_QUESTIONS], strict=True)
    return replace(form, typed={**form.typed, "question": questions, "answer": answers})


CONTRACTS: Final = (profile_page, change)
