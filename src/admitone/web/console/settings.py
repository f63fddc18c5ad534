"""What an organisation says of itself, where its own people change it; here, the accent of the pages where it sells.

Promise: nothing is changed by looking. A colour that is tried is shown as it would be, in the light and in the dark,
and is everybody's only when it is saved; everything else that the organisation says of itself stays as it was.
"""

from typing import Final

import msgspec

from admitone.foundation.organizations.routes import organizations
from admitone.foundation.organizations.routes.organizations import SettingsRequest
from admitone.foundation.organizations.routes.wires import OrganizationAnswer, SettingsWire
from admitone.kernel.contracts import Audience, Call, Html, Redirect, ValidationFailed, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.web.console import desk, legal_identity, official_email, onboarding
from admitone.web.console.place import Place, enter
from admitone.web.console.sections import APPEARANCE, OFFICIAL_EMAIL, ORGANISATION, PAYMENTS, TAB, show_section
from admitone.web.contrast import DARK, LIGHT, Accent, Color, NotAColor, Scheme, accent_in
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page

SCHEME_WORDS: Final[dict[str, str]] = {"light": "In the light", "dark": "In the dark"}
SCHEMES: Final = {"light": LIGHT, "dark": DARK}


class SettingsForm(Wire):
    organization_id: OrganizationId
    accent_color: Typed = ""
    """Empty, for ours."""
    version: Typed = ""
    look: Typed = ""
    """Said by whoever only tries a colour."""


class SettingsPage(SettingsForm, kw_only=True):
    tab: Typed = APPEARANCE


settings_page = page(
    "ORG.SETTINGS",
    "What an organisation says of itself, by sections, and how a colour would look.",
    get="/org/{organizationId}/settings",
    takes=SettingsPage,
    recognizes=True,
)
"""For everybody, because the link of a letter leads here: what stands behind its `#` would be lost on the way to where
one signs in. Whoever is not known sees nothing else."""
change = page(
    "ORG.SETTINGS.CHANGE",
    "Change what an organisation says of itself.",
    post="/org/{organizationId}/settings",
    takes=SettingsForm,
    audience=Audience.PERSON,
)


@settings_page.serves
async def show_settings(call: Call, request: SettingsPage) -> Html:
    if call.identity is None and request.tab == OFFICIAL_EMAIL:
        return official_email.show_to_unknown(call, request.organization_id)
    place = await enter(call, request.organization_id)
    if request.tab == ORGANISATION:
        return await legal_identity.show_identity(call, place)
    if request.tab == OFFICIAL_EMAIL:
        return await official_email.show_address(call, place, Form())
    if request.tab == PAYMENTS:
        return await onboarding.show_standing(call, place)
    return await _show_appearance(call, place, request)


async def _show_appearance(call: Call, place: Place, request: SettingsForm) -> Html:
    seen: OrganizationAnswer = await call.ask(organizations.show, organization=place.id)
    if request.look:
        return _shown(call, place, _tried(call, seen, request))
    return _shown(call, place, Form({"accentColor": seen.settings.accent_color or "", "version": seen.version}))


@change.serves
async def change_settings(call: Call, form: SettingsForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    seen: OrganizationAnswer = await call.ask(organizations.show, organization=place.id)
    try:
        wanted = filled(SettingsRequest, settings=_wanted(seen, form), version=form.version)
        await call.ask(organizations.change, wanted, organization=place.id)
    except Refusal as refusal:
        return _shown(call, place, desk.refused(call, form, refusal))
    return Redirect(place.path(TAB))


def _tried(call: Call, seen: OrganizationAnswer, form: SettingsForm) -> Form:
    try:
        _wanted(seen, form)
    except ValidationFailed as refusal:
        return desk.refused(call, form, refusal)
    return Form.of(form)


def _wanted(seen: OrganizationAnswer, form: SettingsForm) -> SettingsWire:
    """What it says of itself, but for what was typed."""
    said = {field: getattr(seen.settings, field) for field in SettingsWire.__struct_fields__}
    return filled(SettingsWire, **said | {"accent_color": form.accent_color.strip().lower()})


def _shown(call: Call, place: Place, form: Form) -> Html:
    shown = {"looks": looks_of(form["accentColor"]), "schemes": SCHEME_WORDS}
    return show_section(call, place, APPEARANCE, "console/settings.html", form, **shown)


class Look(msgspec.Struct, frozen=True):
    """A colour as one scheme shows it."""

    scheme: Scheme
    accent: Accent


def looks_of(typed: str) -> dict[str, Look]:
    """Of what is no colour there is nothing to show."""
    try:
        chosen = Color.parse(typed.strip().lower())
    except NotAColor:
        return {}
    return {name: Look(scheme, accent_in(scheme, chosen)) for name, scheme in SCHEMES.items()}


CONTRACTS: Final = (settings_page, change)
