"""The first look: what was sold, what it brought, who came in; of one event, in a period that stands in the address.

Promise: every figure is a contract's and leads to where it comes from. What somebody may not see is not asked for, and
its figure is not there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from admitone.entitlements.routes import live
from admitone.entitlements.routes.live import CountsAnswer, QuartersAnswer, QuartersRequest
from admitone.kernel.contracts import Audience, Call, Html, Wire
from admitone.kernel.ids import OrganizationId
from admitone.kernel.money import Money
from admitone.kernel.words import Words
from admitone.verticals.events.api import EventId
from admitone.verticals.events.routes import sales
from admitone.verticals.events.routes.answers import EventLine
from admitone.verticals.events.routes.sales import NetsAnswer, TotalsAnswer
from admitone.verticals.events.routes.wires import EVENTS_R, EventRequest
from admitone.web.console.charts import Chart, Point, chart, every_day, every_quarter
from admitone.web.console.place import Place, enter, show_in
from admitone.web.console.programme import open_programme
from admitone.web.console.takings import Takings, takings_of
from admitone.web.form import Form, Typed
from admitone.web.lists import link
from admitone.web.page import page

CHECKIN_R: Final = "CHECKIN_R"
USUAL_DAYS: Final = 30
PERIOD_WORDS: Final[dict[str, str]] = {
    "7": "7 days",
    "30": "30 days",
    "90": "90 days",
    "365": "12 months",
}


class OverviewPage(Wire):
    organization_id: OrganizationId
    event_id: EventId | None = None
    days: Typed = ""
    until: Typed = ""
    """The last day; left out, today."""


overview_page = page(
    "ORG.OVERVIEW",
    "What an organisation sold, what it brought, who came.",
    get="/org/{organizationId}",
    takes=OverviewPage,
    audience=Audience.PERSON,
)


@dataclass(frozen=True)
class Seen:
    """What the contracts say of one event in one period; what one may not ask is not there."""

    event: EventLine
    totals: TotalsAnswer
    takings: Takings
    counts: CountsAnswer | None
    quarters: QuartersAnswer | None


@dataclass(frozen=True)
class Orders:
    """Where the orders of an event stand that its figures are made of."""

    place: Place
    event: EventId

    def between(self, first: date, last: date) -> str:
        return link(self.place.path("orders"), eventId=self.event, since=first, until=last)


@overview_page.serves
async def show_overview(call: Call, request: OverviewPage) -> Html:
    place = await enter(call, request.organization_id)
    if not place.may(EVENTS_R):
        return show_in(call, place, "", "console/overview.html", events=[], seen=None)
    programme = await open_programme(call, place, request.event_id)
    event = programme.event
    if event is None:
        return show_in(call, place, "", "console/overview.html", events=[], seen=None)
    seen = await _look(call, place, event, request)
    days = request.days if request.days in PERIOD_WORDS else str(USUAL_DAYS)
    form = Form({"eventId": event.event_id, "days": days, "until": request.until and seen.takings.until})
    orders = Orders(place, event.event_id)
    return show_in(
        call,
        place,
        "",
        "console/overview.html",
        events=programme.events,
        seen=seen,
        form=form,
        charts=charts_of(seen, orders, call.words),
        periods=PERIOD_WORDS,
        sold=orders.between(seen.takings.since, seen.takings.until),
    )


async def _totals(call: Call, place: Place, event: EventId) -> TotalsAnswer:
    found: TotalsAnswer = await call.ask(sales.totals, EventRequest(event_id=event), organization=place.id)
    return found


async def _look(call: Call, place: Place, event: EventLine, request: OverviewPage) -> Seen:
    totals = await _totals(call, place, event.event_id)
    first, last = period_of(request.days, request.until, totals.at.astimezone(ZoneInfo(event.time_zone)).date())

    async def ask(permission: str, contract: Any, about: Any) -> Any:
        return await call.ask(contract, about, organization=place.id) if place.may(permission) else None

    door = str(event.event_id)
    return Seen(
        event,
        totals,
        await takings_of(call, place, event.event_id, first, last),
        await ask(CHECKIN_R, live.counts, live.EventRequest(event_id=door)),
        await ask(CHECKIN_R, live.quarters, QuartersRequest(event_id=door)),
    )


def period_of(days: str, until: str, today: date) -> tuple[date, date]:
    """The days that are asked for; what cannot be read is as if it were left out."""
    length = int(days) if days in PERIOD_WORDS else USUAL_DAYS
    try:
        last = date.fromisoformat(until) if until else today
    except ValueError:
        last = today
    last = min(max(last, date(2000, 1, 1)), date(8999, 1, 1))
    return last - timedelta(days=length - 1), last


def charts_of(seen: Seen, orders: Orders, words: Words) -> dict[str, Chart]:
    """One idea each: what was sold, what it brought, when people came."""
    takings, zone = seen.takings, ZoneInfo(seen.event.time_zone)
    sold: dict[date, int] = {}
    for each in takings.sales.days:
        sold[each.day] = sold.get(each.day, 0) + each.tickets
    charts = {"sold": _by_day(takings, sold, orders, words, words.number)}
    if takings.nets is not None:
        charts["net"] = _net_chart(takings, takings.nets, orders, words)
    if seen.quarters is not None:
        came = every_quarter({each.begins_at: each.admitted for each in seen.quarters.quarters})
        charts["came"] = chart(arrivals(came, zone, words), words.number)
    return charts


def arrivals(came: Sequence[tuple[datetime, int]], zone: ZoneInfo, words: Words) -> list[Point]:
    """By the clock; where that is more than one day, by the day as well: a festival has an eight o'clock on each."""
    days = {begins.astimezone(zone).date() for begins, _ in came}
    told = words.moment if len(days) > 1 else words.time
    return [Point(told(begins, zone), value, words.number(value)) for begins, value in came]


def _net_chart(takings: Takings, nets: NetsAnswer, orders: Orders, words: Words) -> Chart:
    def said(minor: int) -> str:
        return words.money(Money(minor, nets.currency))

    return _by_day(takings, {each.day: each.net_minor for each in nets.days}, orders, words, said)


def _by_day(
    takings: Takings, amounts: dict[date, int], orders: Orders, words: Words, said: Callable[[int], str]
) -> Chart:
    """A bar for each day or week; where there was something, its row leads to the orders that it is made of."""
    rows = every_day(takings.since, takings.until, amounts) if amounts else []
    ends = [begins - timedelta(days=1) for begins, _ in rows[1:]] + [takings.until]
    points = []
    for (first, value), last in zip(rows, ends, strict=False):
        is_something = any(first <= day <= last for day in amounts)
        points.append(Point(words.day(first), value, said(value), orders.between(first, last) if is_something else ""))
    return chart(points, said)


CONTRACTS: Final = (overview_page,)
