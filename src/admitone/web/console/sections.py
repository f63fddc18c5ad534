"""The sections of an organisation's settings: which there are, and which to offer to whom.

Promise: a section that somebody may not see is not offered; one that is named in an address and is none is the first.
"""

from dataclasses import replace
from typing import Any, Final

from admitone.kernel.contracts import Call, Html
from admitone.web.console.place import Place, show_in
from admitone.web.form import Form
from admitone.web.lists import link

TAB: Final = "settings"
APPEARANCE: Final = "appearance"
ORGANISATION: Final = "organisation"
OFFICIAL_EMAIL: Final = "official-email"
PAYMENTS: Final = "payments"
SECTION_WORDS: Final[dict[str, str]] = {
    APPEARANCE: "Appearance",
    ORGANISATION: "Organisation",
    OFFICIAL_EMAIL: "Official e-mail",
    PAYMENTS: "Payments",
}
NEEDED: Final = {
    APPEARANCE: "SETTINGS_R",
    ORGANISATION: "SETTINGS_R",
    OFFICIAL_EMAIL: "SETTINGS_R",
    PAYMENTS: "FINANCE_ONBOARDING_R",
}
"""What one must be allowed to, so that a section is offered."""


def path_of(place: Place, section: str, **query: object) -> str:
    """The address of a section; the first one needs no name."""
    return link(place.path(TAB), tab="" if section == APPEARANCE else section, **query)


def show_section(call: Call, place: Place, section: str, template: str, form: Form, **shown: Any) -> Html:
    offered = [name for name in SECTION_WORDS if place.may(NEEDED[name])]
    sections = [(name, SECTION_WORDS[name], path_of(place, name)) for name in offered]
    shown |= {"form": form, "section": section, "sections": sections}
    return show_in(call, place, TAB, template, status=form.status, **shown)


def over(known: dict[str, Any], form: Form) -> Form:
    """What was typed, and where nothing was, what is known."""
    return replace(form, typed={**known, **form.typed})
