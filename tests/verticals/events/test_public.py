"""What everybody sees: lists, pages and feeds, and what they must not."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from admitone.verticals.events import announcing
from admitone.verticals.events.model import EventId
from admitone.verticals.events.queries import EARLIEST, FIRST, LATEST
from admitone.verticals.events.store.listing import Wanted, list_of_organization
from tests.verticals.events.office import Office
from tests.verticals.events.stage import Stage, a_stage, soon, uuid_of

EVIL = '</script><script>alert(1)</script> & "Ça"'


async def plain(site: httpx.AsyncClient, path: str) -> tuple[int, str, dict[str, str]]:
    """An answer without what makes every answer unlike another."""
    answer = await site.get(path)
    correlation = answer.headers["x-correlation-id"]
    kept = {name: value for name, value in answer.headers.items() if name != "x-correlation-id"}
    return answer.status_code, answer.text.replace(correlation, "…"), kept


# -- What is not public


@pytest.mark.covers("EVT-002")
async def test_a_draft_is_not_there_in_the_very_words_in_which_nothing_is(
    stage: Stage, site: httpx.AsyncClient, superuser: asyncpg.Connection
):
    draft = await stage.drafted()
    dropped = await stage.drafted()
    await stage.cancelled(dropped)
    await stage.relayed()
    never = str(EventId.new())
    for rest in ("", "/calendar.ics"):
        nothing = await plain(site, f"/api/events/{never}{rest}")
        assert nothing[0] == 404
        for event in (draft, dropped):
            assert await plain(site, f"/api/events/{event['eventId']}{rest}") == nothing
    assert await stage.listed() == []
    assert (
        await superuser.fetchval(
            "SELECT count(*) FROM events.listing WHERE organization_id = $1", stage.organization.uuid
        )
        == 0
    )


@pytest.mark.covers("EVT-002")
async def test_a_line_in_the_list_makes_no_draft_public(
    stage: Stage, site: httpx.AsyncClient, superuser: asyncpg.Connection
):
    """The list decides nothing: the page asks the event."""
    draft = await stage.drafted()
    await superuser.execute(
        "INSERT INTO events.listing SELECT id, organization_id, version, true, title, starts_at, ends_at, time_zone,"
        " venue, city, country, changed_at FROM events.event WHERE id = $1",
        uuid_of(draft),
    )
    for rest in ("", "/calendar.ics"):
        assert (await site.get(f"/api/events/{draft['eventId']}{rest}")).status_code == 404
    feed = await site.get(f"/api/organizations/{stage.organization}/calendar.ics")
    assert "VEVENT" not in feed.text


@pytest.mark.covers("EVT-010")
@pytest.mark.parametrize("mode", ["UNLISTED", "INVITE_ONLY"])
async def test_what_is_unlisted_is_reached_by_its_link_and_stands_in_no_list(
    stage: Stage, site: httpx.AsyncClient, mode: str
):
    event = await stage.published(accessPolicy={"mode": mode})
    page = await stage.page(event)
    assert (page["rules"]["mode"], page["rules"]["inviteRequired"]) == (mode, mode == "INVITE_ONLY")
    assert await stage.listed() == []
    assert (await site.get(f"/api/events/{event['eventId']}/calendar.ics")).status_code == 200
    feed = await site.get(f"/api/organizations/{stage.organization}/calendar.ics")
    assert "VEVENT" not in feed.text
    stage.fine(await stage.rule(event, mode="PUBLIC"))
    await stage.relayed()
    assert await stage.listed() == [event["eventId"]]
    stage.fine(await stage.rule(event, mode=mode))
    await stage.relayed()
    assert await stage.listed() == []


@pytest.mark.covers("EVT-003")
async def test_what_is_cancelled_is_in_no_list_and_its_page_says_so(stage: Stage, site: httpx.AsyncClient):
    event = await stage.published(types=[{}])
    assert await stage.listed() == [event["eventId"]]
    await stage.cancelled(event)
    assert await stage.listed() == []
    page = await stage.page(event)
    assert (page["status"], page["closed"], page["ticketTypes"][0]["availability"]) == (
        "CANCELLED",
        "CANCELLED",
        "OVER",
    )
    assert "schema.org/EventCancelled" in page["structuredData"]
    mine = await site.get(f"/api/events/{event['eventId']}/calendar.ics")
    assert "STATUS:CANCELLED" in mine.text, "whoever has it in their calendar sees it"
    assert "VEVENT" not in (await site.get(f"/api/organizations/{stage.organization}/calendar.ics")).text


@pytest.mark.covers("EVT-003", "EVT-004")
async def test_a_second_after_its_end_it_is_in_no_list(stage: Stage, database_url: str, superuser: asyncpg.Connection):
    event = await stage.published(types=[{}])
    ends = datetime.fromisoformat(event["endsAt"])
    anything = Wanted((EARLIEST, FIRST), LATEST, 10)

    async def listed(seconds: float) -> int:
        async with Database(database_url, clock=Clock(ends - datetime.now(UTC) + timedelta(seconds=seconds))) as then:
            return len(await then.read(stage.scope, list_of_organization, anything))

    assert (await listed(-30), await listed(1)) == (1, 0)
    await superuser.execute(
        "UPDATE events.event SET starts_at = now() - interval '2 h', ends_at = now() - interval '1 s' WHERE id = $1",
        uuid_of(event),
    )
    page = await stage.page(event)
    assert (page["closed"], page["ticketTypes"][0]["availability"]) == ("OVER", "OVER")


@pytest.mark.covers("EVT-003")
async def test_lists_do_not_read_past_all_that_ever_was(stage: Stage, database_url: str, superuser: asyncpg.Connection):
    event = await stage.published()
    async with Database(database_url, clock=Clock(timedelta(days=60))) as then:
        now = datetime.now(UTC)
        fired = Delivered(uuid7(), PLATFORM_ORGANIZATION, Firing("x", now), Caller(), "k", None, 1, now)
        await announcing.unlist.work(Desk(then, None), fired)  # type: ignore[arg-type]
    row = await superuser.fetchrow("SELECT listed FROM events.listing WHERE event_id = $1", uuid_of(event))
    assert row["listed"] is False
    assert (await stage.page(event))["title"] == "Summer night", "its page is where it was"


# -- Lists


async def test_lists_go_by_the_beginning_page_by_page(stage: Stage, site: httpx.AsyncClient):
    city = f"Vila {uuid7().hex}"
    venue = {"venue": {"name": "Hall", "city": city, "country": "PT"}}
    events = [
        await stage.published(about=venue, schedule={"startsAt": soon(hours=n), "endsAt": soon(hours=n + 2)})
        for n in (3, 1, 1, 2)
    ]
    expected = [each["eventId"] for each in sorted(events, key=lambda e: (e["startsAt"], e["eventId"]))]
    for path in ("/api/events", f"/api/organizations/{stage.organization}/events"):
        seen, cursor = [], None
        for _ in range(4):
            query = {"city": city.upper(), "limit": 1} | ({"cursor": cursor} if cursor else {})
            page = stage.fine(await site.get(path, params=query))
            seen += [each["eventId"] for each in page["items"]]
            cursor = page["nextCursor"]
        assert (seen, cursor) == (expected, None), path
    window = {"city": city, "startsFrom": soon(hours=2), "startsUntil": soon(hours=2)}
    found = stage.fine(await site.get("/api/events", params=window))["items"]
    assert [each["eventId"] for each in found] == [events[3]["eventId"]]
    everywhere = stage.fine(await site.get("/api/events", params={"startsFrom": soon(hours=3), "limit": 100}))["items"]
    assert events[0]["eventId"] in [each["eventId"] for each in everywhere]
    assert events[1]["eventId"] not in [each["eventId"] for each in everywhere]


@pytest.mark.parametrize("query", [{"limit": 101}, {"limit": 0}, {"cursor": "nonsense"}, {"city": "x" * 101}])
async def test_no_list_is_longer_than_a_page(site: httpx.AsyncClient, query: Any):
    assert (await site.get("/api/events", params=query)).status_code == 422


async def test_an_organisation_that_there_is_not_has_nothing_on(site: httpx.AsyncClient):
    nobody = OrganizationId.new()
    assert (await site.get(f"/api/organizations/{nobody}/events")).json()["items"] == []
    assert "VEVENT" not in (await site.get(f"/api/organizations/{nobody}/calendar.ics")).text


async def test_a_list_ends_with_the_event_as_it_is_whatever_came_when(stage: Stage, superuser: asyncpg.Connection):
    event = await stage.published()
    about = {"about": {"title": "Renamed"}, "version": event["version"]}
    stage.fine(await stage.ask("PUT", f"/{event['eventId']}", about))
    rows = await superuser.fetch(
        "SELECT type, payload::text FROM kernel.event_log WHERE organization_id = $1 ORDER BY id DESC",
        stage.organization.uuid,
    )
    kinds = {each.fact.name: each.kind for each in announcing.SUBSCRIPTIONS}
    for row in [*rows, *rows]:
        if row["type"] in kinds:
            await stage.tell(kinds[row["type"]], row["payload"])
    listed = await superuser.fetch(
        "SELECT title, event_version FROM events.listing WHERE event_id = $1", uuid_of(event)
    )
    assert [tuple(row) for row in listed] == [("Renamed", event["version"] + 1)]
    await superuser.execute(
        "UPDATE events.listing SET title = 'Later', event_version = 99 WHERE event_id = $1", uuid_of(event)
    )
    await stage.tell(kinds["event.changed"], next(r["payload"] for r in rows if r["type"] == "event.changed"))
    assert (await superuser.fetchrow("SELECT title FROM events.listing WHERE event_id = $1", uuid_of(event)))[
        0
    ] == "Later"


# -- The page


@pytest.mark.covers("EVT-014", "EVT-008")
async def test_the_page_shows_the_rules_that_an_order_obeys(stage: Stage):
    event = await stage.published(
        about={"leastAge": 18},
        accessPolicy={"guestCheckoutAllowed": False},
        types=[{"mostPerOrder": 4, "mostPerBuyer": 6}],
    )
    page = await stage.page(event)
    assert page["rules"] == {
        "mode": "PUBLIC",
        "inviteRequired": False,
        "guestCheckoutAllowed": False,
        "loginRequired": False,
        "leastAge": 18,
    }
    [kind] = page["ticketTypes"]
    assert (kind["mostPerOrder"], kind["mostPerBuyer"], kind["priceMinor"]) == (4, 6, 2500)
    organizer = {"organizationId": str(stage.organization), "displayName": "Clube do Porto", "accentColor": None}
    assert page["organizer"] == organizer
    assert not {"accessPolicy", "pool", "capacity", "sold", "firstSoldAt"} & {*page, *kind}
    stage.fine(await stage.rule(event, guestCheckoutAllowed=True))
    assert (await stage.page(event))["rules"]["guestCheckoutAllowed"] is True, "at once"


async def test_a_word_says_what_is_left_and_a_number_only_when_that_is_few(stage: Stage):
    event = await stage.published(
        types=[
            {"name": "Many", "supply": {"capacity": 111}},
            {"name": "Few", "supply": {"capacity": 110}},
            {"name": "None", "supply": {"capacity": 1}},
            {"name": "Soon", "salesFrom": soon(days=-1)},
            {"name": "Over", "salesUntil": "2020-01-01T00:00:00Z"},
            {"name": "Linked", "status": "HIDDEN"},
            {"name": "Old", "status": "ARCHIVED"},
        ]
    )
    types = {each["name"]: each for each in event["ticketTypes"]}
    await stage.taken(types["Many"], 100)
    await stage.taken(types["Few"], 100)
    await stage.taken(types["None"], 1, paid=False)
    shown = (await stage.page(event))["ticketTypes"]
    assert [(each["name"], each["availability"], each["left"]) for each in shown] == [
        ("Many", "AVAILABLE", None),
        ("Few", "FEW_LEFT", 10),
        ("None", "SOLD_OUT", None),
        ("Soon", "NOT_YET", None),
        ("Over", "OVER", None),
    ]
    linked = await stage.page(event, ticketTypeId=types["Linked"]["ticketTypeId"])
    assert [each["name"] for each in linked["ticketTypes"]][-1] == "Linked"
    archived = await stage.page(event, ticketTypeId=types["Old"]["ticketTypeId"])
    assert [each["name"] for each in archived["ticketTypes"]][-1] == "Over"
    answer = await stage.site.get(f"/api/events/{event['eventId']}")
    assert answer.headers["cache-control"] == "no-cache", "what is sold out is asked each time"


@pytest.mark.covers("EVT-002", "EVT-014")
async def test_those_who_look_at_the_same_moment_each_see_what_they_asked_for(stage: Stage, site: httpx.AsyncClient):
    """Their pages are read together."""
    hidden = {"name": "Linked", "status": "HIDDEN"}
    night = await stage.published(about={"title": "Night"}, types=[{"supply": {"capacity": 3}}, hidden])
    day = await stage.published(about={"title": "Day"}, types=[{"name": "Seat"}])
    stage.fine(await stage.rule(day, mode="UNLISTED"))
    stage.fine(await stage.put_off(day, sessions=[{"label": "Noon", "startsAt": soon(), "endsAt": soon(hours=1)}]))
    draft = await stage.drafted()
    link = {"ticketTypeId": night["ticketTypes"][1]["ticketTypeId"]}
    alone = [await stage.page(night), await stage.page(night, **link), await stage.page(day)]
    looks = [(night, {}), (night, link), (day, {}), (day, link), (draft, {})] * 8
    answers = await asyncio.gather(
        *(site.get(f"/api/events/{event['eventId']}", params=query) for event, query in looks)
    )
    assert [each.status_code for each in answers] == [200, 200, 200, 200, 404] * 8
    assert [each.json() for each in answers if each.status_code == 200] == [*alone, alone[2]] * 8
    told = [(each["title"], each["rules"]["mode"], len(each["sessions"]), len(each["ticketTypes"])) for each in alone]
    assert told == [("Night", "PUBLIC", 0, 1), ("Night", "PUBLIC", 0, 2), ("Day", "UNLISTED", 1, 1)]


async def test_who_looked_before_is_sent_only_what_changed(stage: Stage):
    event = await stage.published(
        types=[{"supply": {"capacity": 3}}, {"name": "Seat", "supply": {"seats": ["A1", "A2"]}}]
    )
    own, [kind, seated] = event["eventId"], event["ticketTypes"]
    club = f"/api/organizations/{stage.organization}"
    paths = {
        "page": f"/api/events/{own}",
        "seats": f"/api/events/{own}/ticket-types/{seated['ticketTypeId']}/seats?limit=1",
        "list": "/api/events?limit=1",
        "its list": f"{club}/events",
        "calendar": f"/api/events/{own}/calendar.ics",
        "feed": f"{club}/calendar.ics",
    }

    async def look(tags: dict[str, str]) -> dict[str, httpx.Response]:
        headers = {name: {"if-none-match": tag} for name, tag in tags.items()}
        return {name: await stage.site.get(path, headers=headers.get(name)) for name, path in paths.items()}

    first = await look({})
    tags = {name: answer.headers["etag"] for name, answer in first.items()}
    again = await look(tags)
    assert {answer.status_code for answer in again.values()} == {304}
    assert {answer.content for answer in again.values()} == {b""}
    assert all(again[name].headers["cache-control"] == first[name].headers["cache-control"] for name in paths)
    await stage.taken(kind, 3)
    await stage.taken(seated, 1)
    sold = await look(tags)
    assert {name for name, answer in sold.items() if answer.status_code == 200} == {"page", "seats"}
    assert sold["page"].json()["ticketTypes"][0]["availability"] == "SOLD_OUT", "never what was"
    await stage.put_off(event, startsAt=soon(hours=1))
    await stage.relayed()
    moved = await look(tags)
    assert {name for name, answer in moved.items() if answer.status_code == 304} <= {"list"}


@pytest.mark.covers("FIN-086")
async def test_whether_it_is_free_is_derived_from_prices(stage: Stage):
    async def is_free(event: dict[str, Any]) -> bool:
        return bool((await stage.page(event))["derivedIsFree"])

    nothing = {"priceMinor": 0, "allowZeroPrice": True}
    assert await is_free(await stage.published(types=[nothing, nothing]))
    assert not await is_free(await stage.published(types=[nothing, {"priceMinor": 1}]))
    assert not await is_free(await stage.published())
    assert await is_free(await stage.published(about={"pricingMode": "FREE_ONLY"}))
    event = await stage.published(types=[nothing, {"priceMinor": 1}])
    paid = event["ticketTypes"][1]
    stage.fine(await stage.revise(event, paid, status="ARCHIVED"))
    assert await is_free(event), "what is no longer sold does not count"
    told = await stage.ask("PUT", f"/{event['eventId']}", {"about": {"title": "A"}, "version": 2, "isFree": False})
    assert told.status_code == 200
    assert await is_free(event), "nobody's word counts"


async def test_structured_data_says_what_the_page_says(stage: Stage):
    event = await stage.published(
        about={"leastAge": 16, "venue": {"name": "Coliseu", "address": "Rua 1", "city": "Porto", "country": "PT"}},
        schedule={"startsAt": "2031-07-01T20:00:00Z", "endsAt": "2031-07-02T01:00:00Z"},
        types=[{"priceMinor": 2550}],
    )
    told = json.loads((await stage.page(event))["structuredData"])
    assert (told["@context"], told["@type"], told["name"]) == ("https://schema.org", "Event", "Summer night")
    assert (told["startDate"], told["endDate"]) == ("2031-07-01T21:00:00+01:00", "2031-07-02T02:00:00+01:00")
    assert told["eventStatus"] == "https://schema.org/EventScheduled"
    assert told["location"]["address"]["addressLocality"] == "Porto"
    assert told["typicalAgeRange"] == "16-"
    [offer] = told["offers"]
    assert (offer["price"], offer["priceCurrency"]) == ("25.50", "EUR")
    assert offer["availability"] == "https://schema.org/InStock"


@pytest.mark.covers("FIN-033")
@pytest.mark.parametrize("mode", ["INCLUDED", "ADDED"])
async def test_structured_data_says_what_a_buyer_pays_for_one(office: Office, mode: str):
    stage = office.stage
    chosen = {"sourceType": "TICKET_ORDER", "feeMode": mode}
    fees = f"/api/org/{stage.organization}/finance/fee-policies"
    stage.fine(await stage.site.post(fees, json=chosen, headers=stage.owner.headers))
    event, kinds = await office.on_sale(
        {"priceMinor": 2550},
        {"name": "Child", "priceMinor": 1190},
        {"name": "Baby", "priceMinor": 0, "allowZeroPrice": True},
    )
    quoted = []
    for kind in kinds:
        order = await office.order(event, (kind, 1))
        body = {"organizationId": str(stage.organization), "sourceType": "TICKET_ORDER", "sourceId": order["orderId"]}
        quote = await stage.site.post("/api/payments/quote", json=body, headers=office.buyer.headers)
        quoted.append(stage.fine(quote)["totalMinor"])
    page = await stage.page(event)
    offers = json.loads(page["structuredData"])["offers"]
    assert [round(100 * float(each["price"])) for each in offers] == quoted
    assert quoted == ([2550, 1190, 0] if mode == "INCLUDED" else [2678, 1250, 0])
    assert [each["priceMinor"] for each in page["ticketTypes"]] == [2550, 1190, 0], "the organiser's price"


@pytest.mark.parametrize(
    ("venue", "location"),
    [
        ({}, None),
        ({"name": "Coliseu"}, {"@type": "Place", "name": "Coliseu"}),
        (
            {"city": "Porto", "country": "PT"},
            {
                "@type": "Place",
                "address": {"@type": "PostalAddress", "addressLocality": "Porto", "addressCountry": "PT"},
            },
        ),
    ],
)
async def test_structured_data_says_nothing_of_what_nobody_said(stage: Stage, venue: Any, location: Any):
    event = await stage.published(about={"description": "", "venue": venue})
    told = json.loads((await stage.page(event))["structuredData"])
    assert told.get("location") == location
    assert not {"description", "offers", "typicalAgeRange"} & told.keys()
    assert all(told.values())


# -- Whoever means harm


async def test_a_title_ends_no_script_and_begins_none(stage: Stage):
    event = await stage.published(about={"title": EVIL, "description": f"{EVIL}\u2028x"}, types=[{"name": EVIL}])
    data = (await stage.page(event))["structuredData"]
    assert not {*"<>&\u2028"} & {*data}
    assert json.loads(data)["name"] == EVIL, "and it is still what somebody wrote"


@pytest.mark.parametrize(
    "about",
    [
        {"title": "Two\nlines"},
        {"title": "Two\r\nBEGIN:VEVENT"},
        {"title": "\x07"},
        {"title": "   "},
        {"title": "x" * 201},
        {"title": "nul\x00"},
        {"venue": {"name": "A\nB"}},
        {"venue": {"country": "pt"}},
        {"description": "x" * 20_001},
        {"leastAge": 0},
        {"holdMinutes": 61},
    ],
)
async def test_what_is_no_text_for_a_line_is_refused(stage: Stage, about: Any):
    assert (await stage.ask("POST", body=stage.a_draft(about=about))).status_code == 422


async def test_other_organisations_do_not_find_each_others_drafts(
    stage: Stage, site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    other = await a_stage(site, database, superuser)
    draft = await other.drafted()
    event = await stage.published()
    assert (await site.get(f"/api/events/{draft['eventId']}")).status_code == 404
    assert await stage.listed() == [event["eventId"]]
    assert await other.listed() == []
