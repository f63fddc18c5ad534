"""Coming to take money: what is missing, what is to be agreed to, and the way to the payment provider.

Promise: what is agreed to is the version that was shown. Nobody is sent to the provider by a form, but by a link of a
page that says where it leads; whoever comes back sees how far they are, as the provider has told us by then.
"""

from typing import Annotated, Any, Final

from msgspec import Meta

from admitone.finance.payments.routes import onboarding
from admitone.finance.payments.routes.onboarding import OnboardingAnswer, OnboardingQuestion, OnboardingRequest
from admitone.foundation.authority.api import OrganizationModule
from admitone.foundation.organizations.api import ON_OFFER, LegalDocument
from admitone.foundation.organizations.routes import governing
from admitone.foundation.organizations.routes.governing import AcceptRequest, SwitchRequest
from admitone.kernel.contracts import Audience, Call, Contract, FieldError, Html, Redirect, ValidationFailed, Wire
from admitone.kernel.errors import Forbidden, Refusal
from admitone.kernel.ids import OrganizationId
from admitone.web.console import desk
from admitone.web.console.desk import States
from admitone.web.console.place import Place, enter, show_in
from admitone.web.console.sections import OFFICIAL_EMAIL, ORGANISATION, PAYMENTS, TAB, path_of, show_section
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page

TEMPLATE: Final = "console/settings-payments.html"
READY: Final = "COMPLETE"
FINANCE: Final = OrganizationModule.FINANCEIRO
STATE_WORDS: Final[dict[str, str]] = {
    "NOT_BEGUN": "Not begun yet",
    "PENDING": "The provider asks for more",
    READY: "Ready to take payments",
    "RESTRICTED": "Restricted by the provider",
}
STATES: Final = States(STATE_WORDS, {"NOT_BEGUN": "twice", "PENDING": "waiting", READY: "good", "RESTRICTED": "bad"})
STEP_WORDS: Final[dict[str, str]] = {
    "OFFICIAL_EMAIL": "A confirmed official e-mail",
    "LEGAL_NAME": "Legal name",
    "TAX_ID": "Tax number and its country",
    "INVOICE_ADDRESS": "Address on invoices",
    "INVOICING": "How you invoice",
}
"""What the organisation owes here, besides documents."""
DOCUMENT_WORDS: Final[dict[str, str]] = {
    LegalDocument.PAYMENT_TERMS: "Payments, refunds and payouts are made as our terms say.",
    LegalDocument.ORGANIZER_RESPONSIBILITY: "We answer for what we offer: content, safety, the law, VAT and invoices.",
    LegalDocument.PLATFORM_ENFORCEMENT: "The platform takes a fee, and may suspend features or stop sales where there"
    " is risk or abuse.",
}


class PaymentsForm(Wire):
    organization_id: OrganizationId


class AgreeForm(PaymentsForm, kw_only=True):
    documents: Annotated[tuple[Typed, ...], Meta(max_length=8)] = ()
    """Each with the version that was shown, as in `PAYMENT_TERMS 2026-01`."""


def _form(name: str, summary: str, path: str, **said: Any) -> Contract:
    whole = f"/org/{{organizationId}}/settings/payments{path}"
    return page(f"ORG.PAYMENTS.{name}", summary, post=whole, audience=Audience.PERSON, **said)


begin = _form("START", "Begin at the payment provider, or go on there.", "", takes=PaymentsForm, reads=None)
agree = _form("AGREE", "Agree to documents, for the organisation.", "/documents", takes=AgreeForm)
switch_on = _form("SWITCH", "Switch on money and accounts.", "/module", takes=PaymentsForm, reads=None)


async def show_standing(call: Call, place: Place, form: Form | None = None) -> Html:
    """How far it is. Where money is switched off there is one thing to do before."""
    form = form or Form()
    try:
        standing = await _standing(call, place)
    except Forbidden:
        if not await _is_switched_off(call, place):
            raise
        return show_section(call, place, PAYMENTS, TEMPLATE, form, standing=None)
    return show_section(call, place, PAYMENTS, TEMPLATE, form, **_told(place, standing))


async def _standing(call: Call, place: Place) -> OnboardingAnswer:
    found: OnboardingAnswer = await call.ask(onboarding.show, OnboardingQuestion(), organization=place.id)
    return found


async def _is_switched_off(call: Call, place: Place) -> bool:
    if not place.may(onboarding.FINANCE_ONBOARDING_R):
        return False
    modules = await desk.if_permitted(call.ask(governing.modules, organization=place.id))
    return any(each.module is FINANCE and not each.enabled for each in modules or ())


def _told(place: Place, standing: OnboardingAnswer) -> dict[str, Any]:
    owed = set(standing.missing)
    ways = {"OFFICIAL_EMAIL": path_of(place, OFFICIAL_EMAIL)}
    elsewhere = path_of(place, ORGANISATION)
    return {
        "standing": standing,
        "states": STATES,
        "steps": [(word, step not in owed, ways.get(step, elsewhere)) for step, word in STEP_WORDS.items()],
        "agreed": [word for document, word in DOCUMENT_WORDS.items() if document not in owed],
        "documents": [
            (f"{document.value} {max(ON_OFFER[document])}", max(ON_OFFER[document]), DOCUMENT_WORDS[document])
            for document in map(LegalDocument, DOCUMENT_WORDS)
            if document in owed
        ],
    }


async def is_unready(call: Call, place: Place) -> bool:
    """Whether somebody who may know of it is to be told that nothing can be sold for money yet."""
    standing = await desk.if_permitted(_standing(call, place))
    return standing is not None and standing.status != READY


@agree.serves
async def agree_to(call: Call, form: AgreeForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        if not form.documents:
            raise ValidationFailed(errors=(FieldError(path="$.documents", message="Required"),))
        for each in form.documents:
            document, _, version = each.partition(" ")
            wanted = filled(AcceptRequest, document=document, version=version)
            await call.ask(governing.accept, wanted, organization=place.id)
    except Refusal as refusal:
        return await show_standing(call, place, desk.refused(call, form, refusal))
    return Redirect(path_of(place, PAYMENTS))


@switch_on.serves
async def switch_money_on(call: Call, form: PaymentsForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    try:
        await call.ask(governing.switch, SwitchRequest(module=FINANCE, enabled=True), organization=place.id)
    except Refusal as refusal:
        return await show_standing(call, place, desk.refused(call, form, refusal))
    return Redirect(path_of(place, PAYMENTS))


@begin.serves
async def begin_at_provider(call: Call, form: PaymentsForm) -> Html | Redirect:
    place = await enter(call, form.organization_id)
    here = path_of(place, PAYMENTS)
    try:
        asked = OnboardingRequest(return_url=f"{call.origin}{here}")
        way = await call.ask(onboarding.begin, asked, organization=place.id)
    except Refusal as refusal:
        return await show_standing(call, place, desk.refused(call, form, refusal))
    return show_in(call, place, TAB, "console/settings-provider.html", way=way, back=here)


CONTRACTS: Final = (begin, agree, switch_on)
