"""What is on: the first page.

Promise: whatever is listed is shown, soonest first, with what it costs; a day that somebody asks for is a day on the
clocks of the place where something is on. What was typed is kept.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode

from admitone.kernel.contracts import Call, Html, Page, Wire
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.api import EventId
from admitone.verticals.events.routes import offers, public
from admitone.verticals.events.routes.offers import OfferAnswer, OffersRequest
from admitone.verticals.events.routes.public import ListedAnswer, ListRequest
from admitone.web.form import Form, Typed, filled
from admitone.web.page import page, show

AT_A_TIME: Final = 24
AS_IT_IS_NOW: Final = "private, no-cache"
"""Whoever has the same page already is told so. It greets whoever is signed in, so nobody keeps it for others."""
EARLIEST_CLOCKS: Final = timedelta(hours=14)
LATEST_CLOCKS: Final = timedelta(hours=12)


class DiscoverPage(Wire):
    city: Typed = ""
    starts_from: Typed = ""
    starts_until: Typed = ""
    cursor: Typed = ""


discover = page(
    "SHOP.DISCOVER",
    "What is on.",
    get="/",
    takes=DiscoverPage,
    cache=AS_IT_IS_NOW,
    conditional=True,
)


@discover.serves
async def show_discover(call: Call, request: DiscoverPage) -> Html:
    since, until = _day(request.starts_from), _day(request.starts_until)
    wrong = {
        name: call.words.say("This is not a day of the calendar.")
        for name, typed, day in (
            ("startsFrom", request.starts_from, since),
            ("startsUntil", request.starts_until, until),
        )
        if typed and day is None
    }
    form = Form({**Form.of(request).typed}, wrong, status=422 if wrong else 200)
    found = await _list(call, request, since, until) if not wrong else Page[ListedAnswer](items=[], next_cursor=None)
    items = [each for each in found.items if _is_on(each, since, until)]
    return show(
        call,
        "storefront/discover.html",
        status=form.status,
        form=form,
        is_narrowed=bool(request.city or since or until or request.cursor),
        cards=await with_offers(call, items),
        next_page=_address(request, found.next_cursor),
    )


async def _list(call: Call, request: DiscoverPage, since: date | None, until: date | None) -> Page[ListedAnswer]:
    """Wide enough for the days of every zone; what is not of them is left out afterwards."""
    wanted = filled(
        ListRequest,
        city=request.city.strip(),
        cursor=request.cursor,
        limit=AT_A_TIME,
        starts_from=_midnight(since) - EARLIEST_CLOCKS if since else None,
        starts_until=_midnight(until) + timedelta(days=1) + LATEST_CLOCKS if until else None,
    )
    found: Page[ListedAnswer] = await call.ask(public.everything, wanted)
    return found


async def with_offers(call: Call, items: Sequence[ListedAnswer]) -> list[tuple[ListedAnswer, OfferAnswer | None]]:
    """Beside each what its tickets cost: each organisation is asked once."""
    by_house: dict[OrganizationId, list[EventId]] = defaultdict(list)
    for each in items:
        by_house[each.organization_id].append(each.event_id)
    asked = [OffersRequest(organization_id=house, event_id=own) for house, own in by_house.items()]
    answers = await asyncio.gather(*(call.ask(offers.of_events, each) for each in asked))
    known = _by_event(offer for answer in answers for offer in answer.offers)
    return [(each, known.get(each.event_id)) for each in items]


def _by_event(answers: Iterable[OfferAnswer]) -> dict[EventId, OfferAnswer]:
    return {each.event_id: each for each in answers}


def _day(typed: str) -> date | None:
    try:
        day = date.fromisoformat(typed.strip())
    except ValueError:
        return None
    return day if 1900 < day.year < 9000 else None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _is_on(each: ListedAnswer, since: date | None, until: date | None) -> bool:
    day = datetime.fromisoformat(each.local_starts_at).date()
    return (since is None or since <= day) and (until is None or day <= until)


def _address(request: DiscoverPage, cursor: str | None) -> str | None:
    if cursor is None:
        return None
    kept = {"city": request.city, "startsFrom": request.starts_from, "startsUntil": request.starts_until}
    return f"/?{urlencode({**{name: typed for name, typed in kept.items() if typed}, 'cursor': cursor})}"


CONTRACTS: Final = (discover,)
