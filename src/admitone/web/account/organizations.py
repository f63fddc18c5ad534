"""The organisations in which I am something, and how to found one: where an organiser begins."""

from typing import Annotated, Final
from uuid import uuid4

from msgspec import Meta

from admitone.foundation.identity.routes import sessions
from admitone.foundation.organizations.routes import organizations
from admitone.foundation.organizations.routes.organizations import FoundRequest
from admitone.kernel.contracts import Audience, Call, Cursor, Html, PageRequest, Redirect, Wire
from admitone.kernel.errors import Refusal
from admitone.kernel.words import Language
from admitone.web.account.again import refused
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page, show
from admitone.web.roles import ROLE_WORDS
from admitone.web.speech import NAMES

TEMPLATE: Final = "account/organizations.html"
MOST_SHOWN: Final = 50
MODULE_WORDS: Final[dict[str, str]] = {"EVENTOS": "Events and tickets", "FINANCEIRO": "Money and accounts"}
CURRENCIES: Final = ("EUR", "BRL", "GBP", "USD")
ZONES: Final = (
    "Europe/Lisbon",
    "Atlantic/Madeira",
    "Atlantic/Azores",
    "Europe/Madrid",
    "Europe/Paris",
    "Europe/London",
    "America/Sao_Paulo",
    "America/Manaus",
    "America/Rio_Branco",
    "America/Noronha",
)
"""Those that are suggested; any other can be typed."""
HOME: Final = {Language.BRAZILIAN: ("BRL", "America/Sao_Paulo")}


class PlacesPage(Wire):
    cursor: Cursor | None = None


class FoundForm(Wire):
    key: Typed = ""
    display_name: Typed = ""
    default_currency: Typed = ""
    time_zone: Typed = ""
    language: Typed = ""
    modules: Annotated[tuple[Typed, ...], Meta(max_length=8)] = ()


places_page = page("ORG.MINE", "My organisations.", get="/org", takes=PlacesPage, audience=Audience.PERSON)
found = page("ORG.FOUND", "Found an organisation.", post="/org", takes=FoundForm, audience=Audience.PERSON)


@places_page.serves
async def show_places(call: Call, request: PlacesPage) -> Html:
    return await _show(call, _blank(call), request.cursor)


@found.serves
async def found_one(call: Call, form: FoundForm) -> Html | Redirect:
    try:
        wanted = filled(
            FoundRequest,
            display_name=form.display_name.strip(),
            idempotency_key=form.key,
            modules=form.modules,
            default_currency=form.default_currency,
            time_zone=form.time_zone.strip(),
            language=form.language,
        )
        founded = await call.ask(organizations.found, wanted)
    except Refusal as refusal:
        return await _show(call, refused(call, form, refusal), None)
    return Redirect(f"/org/{founded.id}")


def _blank(call: Call) -> Form:
    """As most people who speak the language want it; under a key of its own, so that two presses found one."""
    currency, time_zone = HOME.get(call.language, ("EUR", "Europe/Lisbon"))
    return Form(
        {
            "key": str(uuid4()),
            "defaultCurrency": currency,
            "timeZone": time_zone,
            "language": call.language.value,
            "modules": list(MODULE_WORDS),
        }
    )


async def _show(call: Call, form: Form, cursor: str | None) -> Html:
    places = await call.ask(organizations.mine, PageRequest(limit=MOST_SHOWN, cursor=cursor))
    return show(
        call,
        TEMPLATE,
        status=form.status,
        form=form,
        me=await call.ask(sessions.me),
        places=places,
        roles=ROLE_WORDS,
        modules=MODULE_WORDS,
        currencies=[(each, each) for each in CURRENCIES],
        zones=ZONES,
        tongues=[(each.value, NAMES[each]) for each in Language],
    )


CONTRACTS: Final = (places_page, found)
