"""The official e-mail of an organisation: named here, and proved by the link of the letter that goes there.

Promise: the secret of the link stands behind its `#`, and nothing happens before somebody presses the button. The
address stands in no history: whoever has to prove first that it is them finds it typed again (`web/unsent.py`).
"""

from typing import Final

from admitone.foundation.organizations.routes import official_email, organizations
from admitone.foundation.organizations.routes.official_email import OfficialRequest, ProofRequest
from admitone.foundation.organizations.routes.wires import OrganizationAnswer
from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.web.account.links import secret_of
from admitone.web.console import desk
from admitone.web.console.place import Place, enter
from admitone.web.console.sections import OFFICIAL_EMAIL, TAB, over, path_of, show_section
from admitone.web.form import Form, Secret, Typed, filled
from admitone.web.lists import link
from admitone.web.page import page, show

TEMPLATE: Final = "console/settings-official-email.html"
UNKNOWN: Final = "console/settings-link.html"
REASON_WORDS: Final[dict[str, str]] = {
    "TO_TAKE_PAYMENTS": "To take payments",
    "NEW_ADDRESS": "We have another address",
    "CORRECTION": "What stood there was wrong",
}


class NameForm(Wire):
    organization_id: OrganizationId
    email: Typed = ""
    reason: Typed = ""


class ProofForm(Wire):
    organization_id: OrganizationId
    token: Secret = ""


name = page(
    "ORG.OFFICIAL",
    "Name the official e-mail of an organisation; a letter goes there.",
    post="/org/{organizationId}/settings/official-email",
    takes=NameForm,
    audience=Audience.PERSON,
)
prove = page(
    "ORG.OFFICIAL.PROVE",
    "Send back the link of the letter to the official e-mail.",
    post="/org/{organizationId}/settings/official-email/proof",
    takes=ProofForm,
    audience=Audience.PERSON,
)


async def show_address(call: Call, place: Place, form: Form) -> Html:
    seen: OrganizationAnswer = await call.ask(organizations.show, organization=place.id)
    typed = over({"email": seen.official_email or "", "token": ""}, form)
    shown = {"seen": seen, "zone": seen.settings.time_zone, "reasons": REASON_WORDS}
    return show_section(call, place, OFFICIAL_EMAIL, TEMPLATE, typed, **shown)


def show_to_unknown(call: Call, organization: OrganizationId) -> Html:
    """Where to sign in; the page remembers what stood behind the `#`, and says nothing of the organisation."""
    back = link(f"/org/{organization}/{TAB}", tab=OFFICIAL_EMAIL)
    return show(call, UNKNOWN, back=back)


@name.serves
async def name_address(call: Call, form: NameForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        wanted = filled(OfficialRequest, email=form.email.strip(), reason_code=form.reason)
        await call.ask(official_email.name, wanted, organization=place.id)
    except Refusal as refusal:
        return await show_address(call, place, desk.refused(call, form, refusal))
    return Redirect(path_of(place, OFFICIAL_EMAIL))


@prove.serves
async def prove_address(call: Call, form: ProofForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        proof = filled(ProofRequest, token=secret_of(form.token))
        await call.ask(official_email.prove, proof)
    except Refusal as refusal:
        return await show_address(call, place, desk.refused(call, form, refusal))
    return Redirect(path_of(place, OFFICIAL_EMAIL))


CONTRACTS: Final = (name, prove)
