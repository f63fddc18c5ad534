"""The first look: figures, charts, and where they come from."""

import re
from datetime import date, datetime, timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from admitone.foundation.authority.api import MemberRole
from admitone.verticals.events.model import EventId, EventStatus
from admitone.verticals.events.routes.answers import A_LINE
from admitone.web.console.overview import period_of
from admitone.web.console.programme import next_of
from tests.people import a_member, a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import Stage, soon
from tests.web.console import Console, boxes_of

TODAY = date(2026, 5, 31)


async def test_an_organisation_without_events_is_told_how_to_begin(console: Console):
    page = await console.fine(console.home)
    assert "There is no event yet." in page
    assert f'href="{console.home}/events/new"' in page


FIGURES = ("Tickets sold", "Gross, before fees and refunds", "Net, after fees and refunds")


def figures_of(page: str) -> dict[str, str]:
    """What each figure says, linked or not."""
    return {name: re.sub("<[^>]+>", "", said) for name, said in re.findall("<dt>([^<]+)</dt><dd>(.*?)</dd>", page)}


async def test_figures_lead_to_where_they_come_from(console: Console, office: Office):
    event, [kind] = await office.on_sale()
    payments = [await office.pay(await office.order(event, (kind, many))) for many in (3, 1)]
    page = unescape(await console.fine(console.home, days="7"))
    assert f'href="{console.home}/checkin?event={event["eventId"]}"' in page
    told = figures_of(page)
    assert (told["Tickets sold"], told["Gross, before fees and refunds"]) == ("4", "€100.00")
    for name in FIGURES:
        [address] = re.findall(rf'<dt>{name}</dt><dd><a href="([^"]+)"', page)
        asked = parse_qs(urlsplit(address).query)
        assert asked["eventId"] == [event["eventId"]]
        assert date.fromisoformat(asked["until"][0]) - date.fromisoformat(asked["since"][0]) == timedelta(days=6)
        there = await console.fine(address)
        assert figures_of(there)[name] == told[name]
    nets = 0
    for payment in payments:
        assert f'href="{console.home}/financas/payments/{payment}"' in there
        paid = await console.fine(f"{console.home}/financas/payments/{payment}")
        [said] = re.findall(r"Yours, as the ledger says</th><td[^>]*>€([\d.]+)<", paid)
        nets += round(float(said) * 100)
    assert told["Net, after fees and refunds"] == f"€{nets / 100:.2f}", "the payments make up the figure"


@pytest.mark.parametrize("days", ["30", "365"])
async def test_rows_of_charts_lead_to_the_orders_of_their_days(console: Console, office: Office, days: str):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 3))
    await office.pay(order)
    page = unescape(await console.fine(console.home, days=days))
    for name, figure in (("sold", "Tickets sold"), ("net", "Net, after fees and refunds")):
        [chart] = re.findall(rf'id="chart-{name}">.*?</figure>', page, re.DOTALL)
        [(address, said)] = re.findall(r'<td class="number"><a href="([^"]+)">([^<]+)</a></td>', chart)
        there = await console.fine(address)
        assert figures_of(there)[figure] == said == figures_of(page)[figure]
        assert order["orderId"] in there


async def test_the_event_and_the_period_stand_in_the_address(console: Console, stage: Stage):
    near = await stage.published()
    far = await stage.published(about={"title": "Far"}, schedule={"startsAt": soon(days=5), "endsAt": soon(days=6)})
    assert boxes_of(await console.fine(console.home))["eventId"] == near["eventId"]
    chosen = boxes_of(await console.fine(console.home, eventId=far["eventId"], days="90", until="2026-05-31"))
    assert (chosen["eventId"], chosen["days"], chosen["until"]) == (far["eventId"], "90", "2026-05-31")
    page = await console.fine(console.home, days="7", until="2026-05-31")
    assert "Figures from May 25, 2026 to May 31, 2026" in page


@pytest.mark.parametrize("nonsense", [{"days": "-1"}, {"until": "never"}, {"until": "9999-12-31"}, {"days": "1e9"}])
async def test_what_makes_no_sense_is_as_if_it_were_left_out(console: Console, stage: Stage, nonsense: dict[str, str]):
    await stage.published()
    assert "Overview" in await console.fine(console.home, **nonsense)


async def test_another_organisations_event_is_not_looked_at(console: Console, stage: Stage):
    assert (await console.see(console.home, eventId=str(EventId.new()))).status_code == 404
    stranger = await a_person(stage.database)
    answer = await console.see(console.home, stranger)
    assert answer.status_code == 404
    assert "There is no such organisation, or you are not in it." in answer.text


async def test_who_does_not_see_money_sees_the_rest(console: Console, stage: Stage):
    await stage.published(types=[{}])
    viewer = await a_member(stage.database, stage.organization, MemberRole.VIEWER)
    page = await console.fine(console.home, viewer)
    assert 'id="chart-sold"' in page and 'id="chart-came"' in page
    assert 'id="chart-net"' not in page and "/financas" not in page
    promoter = await a_member(stage.database, stage.organization, MemberRole.PROMOTER)
    assert 'id="chart-came"' not in await console.fine(console.home, promoter)


async def test_people_choose_among_their_organisations(console: Console, stage: Stage):
    page = await console.fine("/org")
    assert f'href="{console.home}"' in page and "Clube do Porto" in page
    stranger = await a_person(stage.database)
    assert "Clube do Porto" not in await console.fine("/org", stranger)


def test_a_period_ends_on_its_last_day():
    assert period_of("7", "", TODAY) == (date(2026, 5, 25), TODAY)
    assert period_of("", "2026-01-31", TODAY) == (date(2026, 1, 2), date(2026, 1, 31))
    assert period_of("365", "", TODAY) == (TODAY - timedelta(days=364), TODAY)


def test_what_takes_place_next_is_looked_at_first():
    def line(title: str, day: int, status: EventStatus = EventStatus.PUBLISHED):
        begins = datetime.fromisoformat("2026-06-01T20:00:00Z") + timedelta(days=day)
        return replace(A_LINE, title=title, status=status, starts_at=begins, ends_at=begins + timedelta(hours=4))

    now = datetime.fromisoformat("2026-06-01T12:00:00Z")
    draft, far, near, past = line("draft", 9, EventStatus.DRAFT), line("far", 8), line("near", 1), line("past", -3)
    assert next_of([draft, far, near, past], now) is near
    assert next_of([draft, past], now) is past
    assert next_of([draft], now) is draft


async def test_pages_are_small(console: Console, stage: Stage):
    event = await stage.published(types=[{}])
    for path in (console.home, f"{console.home}/events", console.of(event), console.of(event, "types", "new")):
        page = await console.fine(path)
        assets = set(re.findall(r'"(/assets/[^"]+)"', page))
        size = len(page) + sum([len((await stage.site.get(each)).content) for each in assets])
        assert size < 50_000


async def test_charts_tell_in_a_table_what_they_draw(console: Console, office: Office):
    event, [kind] = await office.on_sale({})
    payment = await office.begin(await office.order(event, (kind, 3)))
    await office.settle(payment)
    page = await console.fine(console.home)
    assert "<dt>Tickets sold</dt>" in page and ">€75.00</a>" in page
    net = (await office.stage.ask("GET", f"/{event['eventId']}/net")).json()["days"][0]["netMinor"]
    for name, value in (("sold", "3"), ("net", f"€{net / 100:.2f}")):
        [figure] = re.findall(rf'<figure class="chart" id="chart-{name}">.*?</figure>', page, re.DOTALL)
        assert f'<title id="{name}-title">' in figure and f'<desc id="{name}-desc">' in figure
        assert 'role="img"' in figure and "<details>" in figure
        assert figure.count("<tr>") == 31
        assert f">{value}</a></td>" in figure


@pytest.mark.covers("ORG-030")
async def test_what_comes_later_has_its_address_and_is_off(console: Console, stage: Stage):
    home = (await console.fine(console.home)).partition("<main")[0]
    for place in ("servicos", "perfil/seguidores", "analytics?tab=coortes"):
        assert (await console.see(f"{console.home}/{place}")).status_code == 403
        assert place.partition("?")[0] not in home
    shown = await console.see(f"{console.home}/analytics")
    assert (shown.status_code, shown.headers["location"]) == (303, console.home)
