"""Where the console was before (ORG-016, ORG-030).

Promise: pages only, and for good (301); what asks the API asks where it is. Nothing is looked up on the way: whether
somebody may go there is asked there.
"""

from typing import Annotated, Final
from urllib.parse import quote

from msgspec import Meta

from admitone.kernel.contracts import Call, Redirect, Wire
from admitone.kernel.ids import InvalidId, OrganizationId
from admitone.web.page import page

CANONICAL: Final = {
    "eventos": "events",
    "encomendas": "orders",
    "participantes": "attendees",
    "equipa": "team",
    "scan": "checkin",
}
"""What places were called, where they are called otherwise today."""
RENAMED: Final[dict[tuple[str, ...], str]] = {("scan",): "tab=scanner"}
"""What was a place, and is a tab of one today."""
Segment = Annotated[str, Meta(max_length=200)]


class OldPage(Wire):
    organization_id: Segment


class OldInner(OldPage, kw_only=True):
    first: Segment


class OldDeeper(OldInner, kw_only=True):
    second: Segment


class OldDeepest(OldDeeper, kw_only=True):
    third: Segment


class OldBottom(OldDeepest, kw_only=True):
    fourth: Segment


old_start = page("ORG.OLD", "Where organisations were before.", get="/organizacao")
old_place = page("ORG.OLD.PLACE", "Where the console was before.", get="/organizacao/{organizationId}", takes=OldPage)
old_inner = page(
    "ORG.OLD.INNER",
    "Where places of the console were before.",
    get="/organizacao/{organizationId}/{first}",
    takes=OldInner,
)
old_deeper = page(
    "ORG.OLD.DEEPER",
    "Where pages of the console were before.",
    get="/organizacao/{organizationId}/{first}/{second}",
    takes=OldDeeper,
)
old_deepest = page(
    "ORG.OLD.DEEPEST",
    "Where pages inside pages of the console were before.",
    get="/organizacao/{organizationId}/{first}/{second}/{third}",
    takes=OldDeepest,
)
old_bottom = page(
    "ORG.OLD.BOTTOM",
    "Where what belongs to pages inside pages was before.",
    get="/organizacao/{organizationId}/{first}/{second}/{third}/{fourth}",
    takes=OldBottom,
)


@old_start.serves
async def go_to_start(call: Call) -> Redirect:
    return moved_to(call)


@old_place.serves
async def go_to_place(call: Call, request: OldPage) -> Redirect:
    return moved_to(call, request.organization_id)


@old_inner.serves
async def go_inside(call: Call, request: OldInner) -> Redirect:
    return moved_to(call, request.organization_id, request.first)


@old_deeper.serves
async def go_deeper(call: Call, request: OldDeeper) -> Redirect:
    return moved_to(call, request.organization_id, request.first, request.second)


@old_deepest.serves
async def go_deepest(call: Call, request: OldDeepest) -> Redirect:
    return moved_to(call, request.organization_id, request.first, request.second, request.third)


@old_bottom.serves
async def go_to_bottom(call: Call, request: OldBottom) -> Redirect:
    return moved_to(call, request.organization_id, request.first, request.second, request.third, request.fourth)


def moved_to(call: Call, *parts: str) -> Redirect:
    """The same place under today's address, for good; what was asked for is asked for there. What named no
    organisation leads to where one is chosen."""
    if parts and not _is_organization(parts[0]):
        return Redirect("/org", for_good=True)
    named = [CANONICAL.get(each, each) if number == 1 else each for number, each in enumerate(parts)]
    path = "/".join(("/org", *(quote(each, safe="") for each in named)))
    asked = quote(call.query, safe="=&%+;:@/?,!$'()*~[]", encoding="latin-1")
    query = "&".join(each for each in (RENAMED.get(parts[1:], ""), asked) if each)
    return Redirect(f"{path}?{query}" if query else path, for_good=True)


def _is_organization(text: str) -> bool:
    try:
        OrganizationId.parse(text)
    except InvalidId:
        return False
    return True


CONTRACTS: Final = (old_start, old_place, old_inner, old_deeper, old_deepest, old_bottom)
