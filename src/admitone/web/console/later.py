"""Places that have their address and are not built yet (ORG-030): services, followers, analytics.

Promise: they are offered nowhere, and people of the organisation who have the address are told that they are off (403),
not that there is nothing (404). What analytics shows first is the overview.
"""

from typing import Final

from admitone.kernel.authority import FeatureDisabled
from admitone.kernel.contracts import Audience, Call, Redirect, Wire
from admitone.kernel.ids import OrganizationId
from admitone.web.console.place import enter
from admitone.web.form import Typed
from admitone.web.page import page

DASHBOARD: Final = "dashboard"


class LaterPage(Wire):
    organization_id: OrganizationId
    tab: Typed = ""


services = page(
    "ORG.SERVICES",
    "Services of an organisation.",
    get="/org/{organizationId}/servicos",
    takes=LaterPage,
    audience=Audience.PERSON,
)
followers = page(
    "ORG.FOLLOWERS",
    "Who follows an organisation.",
    get="/org/{organizationId}/perfil/seguidores",
    takes=LaterPage,
    audience=Audience.PERSON,
)
analytics = page(
    "ORG.ANALYTICS",
    "Figures of an organisation.",
    get="/org/{organizationId}/analytics",
    takes=LaterPage,
    audience=Audience.PERSON,
)


@services.serves
@followers.serves
async def show_nothing(call: Call, request: LaterPage) -> Redirect:
    await enter(call, request.organization_id)
    raise FeatureDisabled


@analytics.serves
async def show_analytics(call: Call, request: LaterPage) -> Redirect:
    place = await enter(call, request.organization_id)
    if request.tab not in ("", DASHBOARD):
        raise FeatureDisabled
    return Redirect(place.path(""))


CONTRACTS: Final = (services, followers, analytics)
