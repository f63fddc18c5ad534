"""An organisation as everybody meets it: its profile.

Promise (SRC-023, ORG-013): the blocks that the profile answers, in the order in which it answers them, and none else.
What the organisation wrote is shown as text. Its address is its username, where it has one, and its id always.
"""

import re
from typing import Final

from admitone.foundation.organizations.routes import profile
from admitone.foundation.organizations.routes.profile import ProfileAnswer, ProfileRequest
from admitone.foundation.usernames import routes as usernames
from admitone.foundation.usernames.routes import UsernameRequest
from admitone.kernel.contracts import Call, Html, Page, Redirect, Wire
from admitone.kernel.contracts.refusals import RouteNotFound
from admitone.kernel.ids import InvalidId, OrganizationId
from admitone.verticals.events.routes import public
from admitone.verticals.events.routes.public import ListedAnswer, OrganizationListRequest
from admitone.web.form import Typed, filled
from admitone.web.page import page, show
from admitone.web.storefront.discover import AS_IT_IS_NOW, AT_A_TIME, with_offers

SECTION_WORDS: Final[dict[str, str]] = {
    "ABOUT": "About",
    "EVENTS_AGENDA": "Events",
    "FAQ": "Questions",
    "CONTACT": "Contact",
}
"""What stands over a block."""
PRIMARY_WORDS: Final[dict[str, str]] = {
    "EVENTS_AGENDA": "See events",
    "SERVICES": "Book",
    "STORE": "See the store",
    "CONTACT": "Get in touch",
}
"""What the first button says, by the block to which it leads (SRC-022)."""
MOST_INITIALS: Final = 2
_between_paragraphs = re.compile(r"\n\s*\n")
_not_dialled = re.compile(r"[^+0-9]")


class OrganizationPage(Wire):
    organization: Typed
    """Its id, or its username."""
    cursor: Typed = ""


organization_page = page(
    "SHOP.ORGANIZATION",
    "An organisation, and what it has on.",
    get="/o/{organization}",
    takes=OrganizationPage,
    cache=AS_IT_IS_NOW,
    conditional=True,
)


@organization_page.serves
async def show_organization(call: Call, request: OrganizationPage) -> Html | Redirect:
    own = await _whose(call, request.organization)
    seen: ProfileAnswer = await call.ask(profile.profile, ProfileRequest(organization_id=own))
    agenda = await _agenda(call, seen, request.cursor)
    return show(
        call,
        "storefront/organization.html",
        accent=seen.accent_color,
        organization=seen,
        initials=initials_of(seen.display_name),
        section_words=SECTION_WORDS,
        primary_word=PRIMARY_WORDS.get(seen.primary_block or ""),
        about=paragraphs_of(seen.about or ""),
        dialled=_not_dialled.sub("", seen.phone or ""),
        cards=await with_offers(call, agenda.items),
        is_first=not request.cursor,
        next_page=f"/o/{request.organization}?cursor={agenda.next_cursor}" if agenda.next_cursor else None,
        address=f"{call.origin}/o/{seen.username or own}",
    )


def initials_of(name: str) -> str:
    """Of its first word and of its last, for a picture of somebody who has given none."""
    words = [letters for each in name.split() if (letters := [sign for sign in each if sign.isalnum()])]
    chosen = [words[0], words[-1]] if len(words) >= MOST_INITIALS else words
    return "".join(letters[0] for letters in chosen).upper()


def paragraphs_of(text: str) -> list[str]:
    """As they were typed: an empty line ends one."""
    parts = _between_paragraphs.split(text.replace("\r\n", "\n"))
    return [part.strip() for part in parts if part.strip()]


async def _whose(call: Call, named: str) -> OrganizationId:
    try:
        return OrganizationId.parse(named)
    except InvalidId:
        if not named.strip():
            raise RouteNotFound from None
    answer = await call.ask(usernames.resolve_username, filled(UsernameRequest, username=named))
    try:
        return OrganizationId.parse(answer.owner_id or "")
    except InvalidId:
        raise RouteNotFound from None  # Of a person, or held for somebody.


async def _agenda(call: Call, seen: ProfileAnswer, cursor: str) -> Page[ListedAnswer]:
    if "EVENTS_AGENDA" not in seen.blocks:
        return Page(items=[], next_cursor=None)
    wanted = filled(OrganizationListRequest, organization_id=seen.organization_id, cursor=cursor, limit=AT_A_TIME)
    found: Page[ListedAnswer] = await call.ask(public.of_organization, wanted)
    return found


CONTRACTS: Final = (organization_page,)
