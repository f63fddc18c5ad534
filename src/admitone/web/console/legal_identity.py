"""Who an organisation is: for people, for the law, and on invoices.

Promise: what was typed is sent as it was typed, but for capitals and blanks at its ends; whether it may be said, and
whether the official e-mail must be proved first, is decided by the contract. What is changed elsewhere stays.
"""

from dataclasses import replace
from typing import Annotated, Any, Final

from msgspec import Meta

from admitone.foundation.organizations.routes import organizations
from admitone.foundation.organizations.routes.organizations import SettingsRequest
from admitone.foundation.organizations.routes.wires import OrganizationAnswer, SettingsWire
from admitone.kernel.contracts import Audience, Call, Html, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import OrganizationId
from admitone.kernel.words import Language
from admitone.web.console import desk
from admitone.web.console.place import Place, enter
from admitone.web.console.sections import OFFICIAL_EMAIL, ORGANISATION, path_of, show_section
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page
from admitone.web.speech import NAMES

TEMPLATE: Final = "console/settings-organisation.html"
CURRENCIES: Final = ("EUR", "BRL", "GBP", "USD")
EXTERNAL, MANUAL = "EXTERNAL", "MANUAL"
INVOICING_WORDS: Final[dict[str, str]] = {
    "": "Not said yet",
    EXTERNAL: "With invoicing software",
    MANUAL: "By hand",
}
DUTY_WORDS: Final[dict[str, str]] = {
    "ISSUES_INVOICES": "We issue an invoice for every sale.",
    "DECLARES_VAT": "We declare and pay VAT ourselves.",
    "KEEPS_RECORDS": "We keep our records for as long as the law asks.",
}
ABOUT: Final = {"TAX_ID_INCOMPLETE": ("taxId", "taxCountry"), "INVALID_EMAIL": ("invoiceEmail",)}
"""Which boxes a refusal is about, by its code."""


class IdentityForm(Wire):
    organization_id: OrganizationId
    version: Typed = ""
    display_name: Typed = ""
    legal_name: Typed = ""
    tax_id: Typed = ""
    tax_country: Typed = ""
    invoice_prefix: Typed = ""
    invoice_address: Typed = ""
    """A line of it on each line."""
    invoice_email: Typed = ""
    default_currency: Typed = ""
    time_zone: Typed = ""
    language: Typed = ""
    invoicing: Typed = ""
    invoicing_software: Typed = ""
    invoicing_notes: Typed = ""
    invoicing_duties: Annotated[tuple[Typed, ...], Meta(max_length=8)] = ()


change = page(
    "ORG.IDENTITY.CHANGE",
    "Change who an organisation is, for people, for the law and on invoices.",
    post="/org/{organizationId}/settings/organisation",
    takes=IdentityForm,
    audience=Audience.PERSON,
)


async def show_identity(call: Call, place: Place) -> Html:
    seen: OrganizationAnswer = await call.ask(organizations.show, organization=place.id)
    return _shown(call, place, seen, Form({**_typed(seen.settings), "version": seen.version}))


@change.serves
async def change_identity(call: Call, form: IdentityForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    seen: OrganizationAnswer = await call.ask(organizations.show, organization=place.id)
    try:
        wanted = filled(SettingsRequest, settings=_wanted(seen.settings, form), version=form.version)
        await call.ask(organizations.change, wanted, organization=place.id)
    except Refusal as refusal:
        return _shown(call, place, seen, _refused(call, form, refusal))
    return Redirect(path_of(place, ORGANISATION))


def _wanted(known: SettingsWire, form: IdentityForm) -> SettingsWire:
    """It invoices in one way or in the other: of the way that was not chosen nothing is said."""
    lines = [line.strip() for line in form.invoice_address.splitlines()]
    return filled(
        SettingsWire,
        display_name=form.display_name.strip(),
        legal_name=form.legal_name.strip(),
        tax_id=form.tax_id.strip().upper(),
        tax_country=form.tax_country.strip().upper(),
        invoice_prefix=form.invoice_prefix.strip().upper(),
        invoice_address=[line for line in lines if line],
        invoice_email=form.invoice_email.strip(),
        default_currency=form.default_currency,
        time_zone=form.time_zone.strip(),
        language=form.language,
        home_city=known.home_city,
        invoicing=form.invoicing,
        invoicing_software=form.invoicing_software.strip() if form.invoicing == EXTERNAL else "",
        invoicing_notes=form.invoicing_notes.strip(),
        invoicing_duties=form.invoicing_duties if form.invoicing == MANUAL else (),
        accent_color=known.accent_color,
    )


def _refused(call: Call, typed: IdentityForm, refusal: Refusal) -> Form:
    form = desk.refused(call, typed, refusal)
    about = ABOUT.get(refusal.code, ()) or getattr(refusal, "missing", ())
    return replace(form, wrong={**form.wrong, **dict.fromkeys(about, form.says)})


def _typed(known: SettingsWire) -> dict[str, Any]:
    """As the boxes show it."""
    return {
        "displayName": known.display_name,
        "legalName": known.legal_name or "",
        "taxId": known.tax_id or "",
        "taxCountry": known.tax_country or "",
        "invoicePrefix": known.invoice_prefix or "",
        "invoiceAddress": "\n".join(known.invoice_address),
        "invoiceEmail": known.invoice_email or "",
        "defaultCurrency": known.default_currency,
        "timeZone": known.time_zone,
        "language": known.language.value,
        "invoicing": known.invoicing.value if known.invoicing else "",
        "invoicingSoftware": known.invoicing_software or "",
        "invoicingNotes": known.invoicing_notes or "",
        "invoicingDuties": [each.value for each in known.invoicing_duties],
    }


def _shown(call: Call, place: Place, seen: OrganizationAnswer, form: Form) -> Html:
    return show_section(
        call,
        place,
        ORGANISATION,
        TEMPLATE,
        form,
        is_proved=seen.official_email_verified_at is not None,
        official_email=path_of(place, OFFICIAL_EMAIL),
        currencies=[(each, each) for each in dict.fromkeys((*CURRENCIES, seen.settings.default_currency))],
        tongues=[(each.value, NAMES[each]) for each in Language],
        ways=INVOICING_WORDS,
        duties=DUTY_WORDS,
    )


CONTRACTS: Final = (change,)
