"""What a buyer finds, over HTTP: what is on, organisations, events, the small print."""

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from xml.etree import ElementTree

import asyncpg
import httpx
import pytest

from admitone.foundation.usernames.api import Claim, claim_for_organization
from admitone.kernel.config import Config, ConfigurationProblem
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller
from admitone.verticals.events.model import EventId
from admitone.web.storefront import crawling
from admitone.web.storefront.event import summary_of
from admitone.web.storefront.operator import KEYS, Operator
from tests.foundation.usernames.registry import a_name
from tests.verticals.events.stage import Stage, a_stage, soon, uuid_of

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'"
LEGAL = ("/legal/terms", "/legal/privacy", "/legal/refunds", "/legal/company")
FREE = {"name": "Guests", "priceMinor": 0, "allowZeroPrice": True}


@pytest.fixture
async def stage(site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection) -> Stage:
    return await a_stage(site, database, superuser)


async def shown(site: httpx.AsyncClient, path: str, status: int = 200, **more: str) -> str:
    answer = await site.get(path, headers={"accept-language": "en", **more})
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.text


def a_city(stage: Stage) -> str:
    """One in which nobody else has anything on."""
    return f"Vila {stage.organization.uuid.hex[-10:]}"


async def on_in_a_city(stage: Stage, *types: dict, title: str = "Summer night", **schedule: str) -> dict:
    venue = {"name": "Coliseu", "city": a_city(stage), "country": "PT"}
    return await stage.published(types=[*types], about={"title": title, "venue": venue}, schedule=schedule)


def words(page: str) -> str:
    """What somebody reads."""
    without_scripts = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", without_scripts)).split())


# -- Discover


@pytest.mark.covers("SRC-009")
async def test_what_is_on_is_shown_soonest_first_with_what_it_costs(stage: Stage, site: httpx.AsyncClient):
    later = await on_in_a_city(stage, {}, {"name": "VIP", "priceMinor": 9000}, title="Later", startsAt=soon(hours=2))
    free = await on_in_a_city(stage, FREE, title="For nothing", startsAt=soon(hours=1))
    gone = await on_in_a_city(stage, {"supply": {"capacity": 0}}, title="All gone")
    page = await shown(site, f"/?city={a_city(stage)}")
    assert re.findall(r'href="/e/(event_\w+)"', page) == [each["eventId"] for each in (gone, free, later)]
    said = words(page)
    assert said.index("Sold out") < said.index("Free") < said.index("From €25.00")


async def test_the_next_page_goes_on_where_this_one_ends(stage: Stage, site: httpx.AsyncClient):
    for number in range(26):
        await on_in_a_city(stage, title=f"Night {number}", startsAt=soon(minutes=number))
    page = await shown(site, f"/?city={a_city(stage)}")
    assert page.count('class="ticket happening"') == 24
    [link] = re.findall(r'rel="next" href="([^"]+)"', page)
    last = await shown(site, unescape(link))
    assert [title for title in ("Night 24", "Night 25", "Night 1") if f">{title}<" in last] == ["Night 24", "Night 25"]
    assert 'rel="next"' not in last


@pytest.mark.covers("EVT-006")
async def test_a_day_is_one_on_the_clocks_of_the_place(stage: Stage, site: httpx.AsyncClient):
    """At eleven in the evening in Los Angeles it is the next day almost everywhere."""
    begins = datetime.now(UTC).replace(hour=7, minute=0, second=0, microsecond=0) + timedelta(days=40)
    await on_in_a_city(
        stage,
        startsAt=begins.isoformat(),
        endsAt=(begins + timedelta(hours=2)).isoformat(),
        timeZone="America/Los_Angeles",
    )
    there, elsewhere = (begins - timedelta(days=1)).date(), begins.date()
    city = a_city(stage)
    assert "Summer night" in await shown(site, f"/?city={city}&startsFrom={there}&startsUntil={there}")
    assert "Summer night" not in await shown(site, f"/?city={city}&startsFrom={elsewhere}&startsUntil={elsewhere}")


async def test_what_is_no_day_is_said_beside_the_field_and_kept(site: httpx.AsyncClient):
    page = await shown(site, "/?startsFrom=tomorrow&city=Porto", 422)
    assert 'value="tomorrow"' in page
    assert 'value="Porto"' in page
    assert "This is not a day of the calendar." in page
    await shown(site, "/?cursor=nonsense", 422)


async def test_where_nothing_is_on_that_is_said(site: httpx.AsyncClient):
    assert "Nothing is on there, or not then." in await shown(site, "/?city=Nowhere")


# -- Events


@pytest.mark.covers("EVT-014")
async def test_an_event_shows_what_can_be_bought_and_hands_it_to_the_till(stage: Stage, site: httpx.AsyncClient):
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    event = await stage.published(
        types=[
            {},
            {"name": "VIP", "priceMinor": 9000, "supply": {"capacity": 4}},
            {"name": "Gone", "supply": {"capacity": 0}},
            {"name": "Late", "salesFrom": tomorrow},
        ],
        about={"description": "Bring a coat.", "leastAge": 18},
    )
    page = await shown(site, f"/e/{event['eventId']}")
    assert f'<form method="get" action="/e/{event["eventId"]}/tickets">' in page
    open_types = [each["ticketTypeId"] for each in event["ticketTypes"][:2]]
    assert re.findall(r'name="ticketTypeId" value="(\w+)"', page) == open_types
    assert page.count('name="quantity"') == 2
    vip = page[page.index("VIP</h3>") : page.index("Gone</h3>")]
    assert re.findall(r"<option[^>]*>(\d+)</option>", vip) == ["0", "1", "2", "3", "4"]
    said = words(page)
    for sentence in ("€25.00", "Only 4 left", "Sold out", "On sale from", "From 18 years", "Bring a coat.", "Sold by"):
        assert sentence in said
    assert "If the event is cancelled, all of your money goes back." in said


async def test_times_are_those_of_the_place(stage: Stage, site: httpx.AsyncClient):
    begins = datetime(2030, 1, 15, 1, 30, tzinfo=UTC)
    schedule = {"startsAt": begins.isoformat(), "endsAt": soon(days=3000), "timeZone": "America/Sao_Paulo"}
    session = {"label": "First part", "startsAt": begins.isoformat(), "endsAt": "2030-01-15T03:00:00Z"}
    event = await stage.published(types=[{}], schedule={**schedule, "sessions": [session]})
    said = words(await shown(site, f"/e/{event['eventId']}", **{"accept-language": "pt-BR"}))
    assert said.count("14 de janeiro de 2030, 22:30") == 2
    assert "Horários de America/Sao_Paulo" in said


@pytest.mark.covers("EVT-002")
async def test_a_draft_and_what_never_was_are_not_there_in_the_same_words(stage: Stage, site: httpx.AsyncClient):
    draft = await stage.drafted(about={"title": "Secret"})
    pages = []
    for own in (draft["eventId"], str(EventId.new())):
        answer = await site.get(f"/e/{own}")
        said = answer.text.replace(answer.headers["x-correlation-id"], "…").replace(own, "…")
        pages.append((answer.status_code, said))
    assert pages[0] == pages[1]
    assert pages[0][0] == 404
    await shown(site, "/e/nonsense", 404)
    await shown(site, f"/e/{EventId.new()}?ticketTypeId=nonsense", 404)


@pytest.mark.covers("EVT-010")
async def test_what_is_unlisted_is_reached_by_its_link_alone(stage: Stage, site: httpx.AsyncClient):
    crawling._kept.until = 0
    event = await stage.published(types=[{}], accessPolicy={"mode": "UNLISTED"})
    assert 'name="robots" content="noindex"' in await shown(site, f"/e/{event['eventId']}")
    for place in ("/", f"/o/{stage.organization}", "/sitemap.xml"):
        assert event["eventId"] not in (await site.get(place)).text


async def test_an_event_for_the_invited_says_so(stage: Stage, site: httpx.AsyncClient):
    rules = {"mode": "INVITE_ONLY", "guestCheckoutAllowed": False, "loginRequired": True}
    event = await stage.published(types=[{}], accessPolicy=rules)
    said = words(await shown(site, f"/e/{event['eventId']}"))
    assert "This event is for those who were invited." in said
    assert "You sign in before you order." in said


async def test_a_hidden_ticket_is_for_whoever_has_its_link(stage: Stage, site: httpx.AsyncClient):
    event = await stage.published(types=[{}, {"name": "Friends", "status": "HIDDEN"}])
    hidden = event["ticketTypes"][1]["ticketTypeId"]
    assert "Friends" not in await shown(site, f"/e/{event['eventId']}")
    page = await shown(site, f"/e/{event['eventId']}?ticketTypeId={hidden}")
    chosen = [(name, int(name == hidden)) for name in re.findall(r'name="ticketTypeId" value="(\w+)"', page)]
    assert [quantity for _, quantity in chosen] == [0, 1], "it stands after those that everybody sees"
    pairs = "&".join(f"ticketTypeId={name}&quantity={quantity}" for name, quantity in chosen)
    till = words(await shown(site, f"/e/{event['eventId']}/tickets?{pairs}"))
    assert "Friends" in till
    assert "Choose at least one ticket" not in till


@pytest.mark.covers("EVT-004")
async def test_nothing_is_sold_for_what_is_cancelled_or_over(
    stage: Stage, site: httpx.AsyncClient, superuser: asyncpg.Connection
):
    cancelled, over = await stage.published(types=[{}]), await stage.published(types=[{}])
    await stage.cancelled(cancelled)
    await superuser.execute(
        "UPDATE events.event SET starts_at = now() - interval '2 h', ends_at = now() - interval '1 s' WHERE id = $1",
        uuid_of(over),
    )
    for event, sentence in ((cancelled, "This event is cancelled."), (over, "This event is over.")):
        page = await shown(site, f"/e/{event['eventId']}")
        assert sentence in page
        assert 'name="quantity"' not in page
        assert "Get tickets" not in page


async def test_a_page_that_somebody_has_is_not_sent_again_until_something_changes(
    stage: Stage, site: httpx.AsyncClient
):
    event = await stage.published(types=[{"supply": {"capacity": 1}}])
    path = f"/e/{event['eventId']}"
    first = await site.get(path)
    assert first.headers["cache-control"] == "private, no-cache"
    known = {"if-none-match": first.headers["etag"]}
    assert (await site.get(path, headers=known)).status_code == 304
    assert (await site.get(path, headers={**known, "accept-language": "pt-PT"})).status_code == 200
    assert (await site.get(path, headers={**known, "cookie": "signed-in=yes"})).status_code == 200
    await stage.taken(event["ticketTypes"][0], 1)
    again = await site.get(path, headers=known)
    assert again.status_code == 200
    assert "Sold out" in again.text


@pytest.mark.parametrize("length", [0, 10, 159, 160, 161, 5000])
def test_what_is_quoted_of_a_description_is_short(length: int):
    assert len(summary_of("word " * length)) <= 160


# -- What people wrote


async def test_whatever_people_wrote_is_text_on_every_page(
    stage: Stage, site: httpx.AsyncClient, superuser: asyncpg.Connection
):
    await superuser.execute(
        "UPDATE organizations.organization SET display_name = $2, legal_name = $2 WHERE organization_id = $1",
        stage.organization.uuid,
        EVIL,
    )
    session = {"label": EVIL, "startsAt": soon(), "endsAt": soon(hours=1)}
    event = await stage.published(
        types=[{"name": EVIL, "description": EVIL}],
        about={"title": EVIL, "description": EVIL, "venue": {"name": EVIL, "address": EVIL, "city": EVIL}},
        schedule={"sessions": [session]},
    )
    for path in (f"/e/{event['eventId']}", f"/o/{stage.organization}"):
        page = await shown(site, path)
        assert "<img" not in page
        assert "alert(1)</script>" not in page
        assert EVIL in unescape(page)
    page = await shown(site, f"/e/{event['eventId']}")
    [told] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, flags=re.DOTALL)
    assert json.loads(told)["name"] == EVIL
    for typed in ({"city": EVIL}, {"city": EVIL, "startsFrom": EVIL}):
        listing = (await site.get("/", params=typed)).text
        assert "<img" not in listing
        assert EVIL in unescape(listing)


# -- Organisations


@pytest.mark.covers("ORG-002")
async def test_the_owner_sees_what_a_stranger_sees(stage: Stage, site: httpx.AsyncClient):
    event = await stage.published(types=[{}])
    for path in (f"/e/{event['eventId']}", f"/o/{stage.organization}"):
        assert await shown(site, path) == await shown(site, path, **stage.owner.headers)


async def test_an_organisation_is_found_by_the_name_that_it_goes_by(stage: Stage, site: httpx.AsyncClient):
    name = a_name()
    await stage.database.run(stage.scope, lambda tx: claim_for_organization(tx, [Claim(Caller(), name)]))
    page = await shown(site, f"/o/{name}")
    assert "Clube do Porto" in page
    assert f'rel="canonical" href="http://admitone.test/o/{name}"' in page
    for nobody in (a_name(), "%20", str(OrganizationId.new())):
        await shown(site, f"/o/{nobody}", 404)


# -- The small print


@pytest.mark.covers("PRV-030", "PRV-031")
@pytest.mark.parametrize("path", LEGAL)
@pytest.mark.parametrize(("language", "version"), [("en", "Version 1.0.0"), ("pt-PT", "Versão"), ("pt-BR", "Versão")])
async def test_what_the_law_wants_said_is_said_to_everybody(
    site: httpx.AsyncClient, path: str, language: str, version: str
):
    page = await shown(site, path, **{"accept-language": language})
    assert f'<html lang="{language}">' in page
    assert version in page


async def test_everybody_learns_who_runs_this(site: httpx.AsyncClient):
    page = await shown(site, "/legal/company")
    for said in ("Casa dos Testes, Lda.", "Rua do Teste 1", "ola@casa.example", "PT 501234567"):
        assert said in page


def test_production_says_who_runs_it_or_does_not_start(tmp_path):
    home = {"ADMITONE_DATA": str(tmp_path)}
    assert Operator.of(Config.load(home, KEYS)).name == "Admit One Demonstration"
    given = {"OPERATOR_NAME": "Casa, Lda.", "OPERATOR_ADDRESS": "Rua 1; Porto", "OPERATOR_EMAIL": "a@casa.example"}
    operator = Operator.of(Config.load({**home, **given}, KEYS))
    assert (operator.name, operator.address, operator.email) == ("Casa, Lda.", ("Rua 1", "Porto"), "a@casa.example")
    with pytest.raises(ConfigurationProblem) as problem:
        Config.load({"ADMITONE_DEPLOYMENT": "production", "OPERATOR_EMAIL": "nowhere"}, KEYS)
    for name in ("OPERATOR_NAME is missing", "OPERATOR_ADDRESS is missing", "OPERATOR_EMAIL is malformed"):
        assert name in str(problem.value)


# -- For robots, and for old links


async def test_robots_are_told_where_to_look(stage: Stage, site: httpx.AsyncClient):
    crawling._kept.until = 0
    event, draft = await stage.published(types=[{}]), await stage.drafted()
    told = await site.get("/robots.txt")
    assert "Disallow: /org/" in told.text
    assert "Sitemap: http://admitone.test/sitemap.xml" in told.text
    places = [each.text for each in ElementTree.fromstring((await site.get("/sitemap.xml")).content).iter()]
    assert f"http://admitone.test/e/{event['eventId']}" in places
    assert f"http://admitone.test/o/{stage.organization}" in places
    assert "http://admitone.test/legal/terms" in places
    assert f"http://admitone.test/e/{draft['eventId']}" not in places


@pytest.mark.covers("ORG-016")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("/servicos", "/servicos"),
        ("/perfil/seguidores", "/perfil/seguidores"),
        ("/scan", "/checkin?tab=scanner"),
        ("/financas?tab=ledger", "/financas?tab=ledger"),
        ("/eventos/event_1/types/tkt_1", "/events/event_1/types/tkt_1"),
    ],
)
async def test_old_addresses_of_the_console_lead_to_the_new_ones(site: httpx.AsyncClient, old: str, new: str):
    club = OrganizationId.new()
    answer = await site.get(f"/organizacao/{club}{old}")
    assert (answer.status_code, answer.headers["location"]) == (301, f"/org/{club}{new}")


@pytest.mark.parametrize("old", ["/settings", "/%2F%2Fevil.example/x", "/org_x/%0d%0aset-cookie:a=b"])
async def test_no_old_address_leads_elsewhere(site: httpx.AsyncClient, old: str):
    answer = await site.get(f"/organizacao{old}")
    assert answer.status_code == 404 or answer.headers["location"] == "/org"
    assert "set-cookie" not in answer.headers
