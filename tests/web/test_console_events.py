"""Events in the console: found, drafted, described, scheduled, ruled, published, and what is sold for them."""

from typing import Any

import pytest

from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.foundation.organizations.routes.organizations import PlaceAnswer
from admitone.kernel.contracts import ValidationFailed
from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.model import EventId, TicketTypeId
from admitone.web.console.clocks import instant_there, typed_there
from admitone.web.console.place import may
from admitone.web.console.prices import minor_of, typed_price
from admitone.web.console.ticket_types import moved
from tests.people import a_member, a_person, an_organization_of
from tests.verticals.events.stage import Stage, soon
from tests.web.console import Console, boxes_of

NASTY = '"><script>alert(1)</script>'
A_NIGHT = {
    "title": "Noite de Fado",
    "startsAt": "2031-07-12T21:30",
    "endsAt": "2031-07-13T01:00",
    "timeZone": "Europe/Lisbon",
    "currency": "eur",
    "holdMinutes": "20",
    "city": "Porto",
    "country": "pt",
}


# -- The list


async def test_events_are_searched_filtered_sorted_and_the_address_says_so(console: Console, stage: Stage):
    fado = await stage.drafted(about={"title": "Noite de Fado"})
    samba = await stage.published(about={"title": "Roda de Samba"})
    page = await console.fine(f"{console.home}/events")
    assert "Noite de Fado" in page and "Roda de Samba" in page
    found = await console.fine(f"{console.home}/events", text="fado")
    assert fado["eventId"] in found and samba["eventId"] not in found
    assert boxes_of(found)["text"] == "fado"
    public = await console.fine(f"{console.home}/events", status="PUBLISHED", order="SOONEST")
    assert samba["eventId"] in public and fado["eventId"] not in public
    assert boxes_of(public)["order"] == "SOONEST"
    assert "Nothing was found." in await console.fine(f"{console.home}/events", text="tango")
    assert samba["eventId"] in await console.fine(f"{console.home}/events", status="NONSENSE", order="NONSENSE")


async def test_a_long_list_goes_on_with_what_was_looked_for(console: Console, stage: Stage):
    for number in range(51):
        await stage.drafted(about={"title": f"Fado {number}"})
    page = await console.fine(f"{console.home}/events", text="fado")
    [link] = [line for line in page.splitlines() if 'rel="next"' in line]
    address = link.split('href="')[1].split('"')[0].replace("&amp;", "&")
    assert "text=fado" in address
    assert "Fado 0<" in await console.fine(address)


# -- Drafting


async def test_an_organiser_drafts_an_event_in_the_time_of_its_place(console: Console, stage: Stage):
    new = f"{console.home}/events/new"
    answer = await console.send(new, **(await console.boxes(new) | A_NIGHT))
    assert answer.status_code == 303, answer.text
    event = stage.fine(await stage.ask("GET", "/" + answer.headers["location"].rpartition("/")[2]))
    assert event["status"] == "DRAFT"
    assert (event["startsAt"], event["currency"], event["holdMinutes"]) == ("2031-07-12T20:30:00Z", "EUR", 20)
    assert event["venue"] == {"name": "", "address": "", "city": "Porto", "country": "PT"}
    page = await console.fine(console.of(event))
    assert "July 12, 2031, 9:30" in page and "Only your team sees this draft." in page


async def test_a_form_that_is_sent_twice_makes_one_event(console: Console):
    new = f"{console.home}/events/new"
    typed = await console.boxes(new) | A_NIGHT
    first, second = [await console.send(new, **typed) for _ in range(2)]
    assert first.headers["location"] == second.headers["location"]


async def test_whoever_repeats_a_form_repeats_it_under_its_key_unless_that_did_something_else(console: Console):
    new = f"{console.home}/events/new"
    typed = await console.boxes(new) | A_NIGHT
    refused = boxes_of((await console.send(new, **(typed | {"title": ""}))).text)
    assert refused["key"] == typed["key"]
    assert (await console.send(new, **typed)).status_code == 303
    other = await console.send(new, **(typed | {"title": "Another night"}))
    assert other.status_code == 409
    assert boxes_of(other.text)["key"] != typed["key"]
    assert (await console.send(new, **boxes_of(other.text))).status_code == 303


@pytest.mark.parametrize(
    ("wrong", "status", "said"),
    [
        ({"title": ""}, 422, 'id="title-wrong"'),
        ({"startsAt": "soon"}, 422, 'id="startsAt-wrong"'),
        ({"country": "Portugal"}, 422, 'id="country-wrong"'),
        ({"holdMinutes": "-3"}, 422, 'id="holdMinutes-wrong"'),
        ({"endsAt": "2031-07-12T20:00"}, 422, "These times do not fit together."),
        ({"timeZone": "Mars/Olympus"}, 422, "This is not a time zone that we know."),
    ],
)
async def test_what_is_refused_is_said_and_nothing_that_was_typed_is_lost(
    console: Console, wrong: dict[str, str], status: int, said: str
):
    new = f"{console.home}/events/new"
    typed = A_NIGHT | {"description": "Three singers."} | wrong
    answer = await console.send(new, **(await console.boxes(new) | typed))
    assert answer.status_code == status
    assert said in answer.text
    kept = boxes_of(answer.text)
    assert {name: kept[name] for name in typed} == typed
    again = await console.send(new, **(kept | A_NIGHT))
    assert again.status_code == 303


async def test_what_is_described_is_changed_and_who_is_overtaken_is_told(console: Console, stage: Stage):
    event = await stage.drafted()
    edit = console.of(event, "edit")
    typed = await console.boxes(edit)
    answer = await console.send(edit, **(typed | {"title": "Winter night", "leastAge": "18"}))
    assert answer.status_code == 303
    seen = await stage.seen(event)
    assert (seen["title"], seen["leastAge"], seen["venue"]) == ("Winter night", 18, event["venue"])
    late = await console.send(edit, **(typed | {"title": "Spring night"}))
    assert late.status_code == 409
    assert "Somebody else changed this event meanwhile." in late.text
    assert boxes_of(late.text)["title"] == "Spring night"


# -- When


async def test_sessions_are_added_kept_and_left_out(console: Console, stage: Stage):
    event = await stage.drafted(
        schedule={
            "startsAt": "2031-07-12T18:00:00Z",
            "endsAt": "2031-07-14T23:00:00Z",
            "sessions": [
                {"label": "Friday", "startsAt": "2031-07-12T18:00:00Z", "endsAt": "2031-07-12T22:00:00Z"},
                {"label": "Saturday", "startsAt": "2031-07-13T18:00:00Z", "endsAt": "2031-07-13T22:00:00Z"},
            ],
        }
    )
    path = console.of(event, "schedule")
    typed = await console.boxes(path)
    assert typed["startsAt"] == "2031-07-12T19:00"
    assert typed["sessionLabel"] == ["Friday", "Saturday", "", "", ""]
    typed["sessionLabel"] = ["Friday night", "", "Sunday", "", ""]
    typed["sessionStarts"] = [typed["sessionStarts"][0], "", "2031-07-14T20:00", "", ""]
    typed["sessionEnds"] = [typed["sessionEnds"][0], "", "2031-07-14T22:00", "", ""]
    assert (await console.send(path, **typed)).status_code == 303
    sessions = (await stage.seen(event))["sessions"]
    assert [each["label"] for each in sessions] == ["Friday night", "Sunday"]
    assert sessions[0]["sessionId"] == event["sessions"][0]["sessionId"]
    assert sessions[1]["startsAt"] == "2031-07-14T19:00:00Z"


async def test_a_session_that_is_not_whole_is_refused_with_its_row(console: Console, stage: Stage):
    event = await stage.drafted()
    path = console.of(event, "schedule")
    typed = await console.boxes(path) | {"sessionLabel": ["Late show", "", ""]}
    answer = await console.send(path, **typed)
    assert answer.status_code == 422
    assert "Each session needs a name, a beginning and an end." in answer.text
    assert "Late show" in boxes_of(answer.text)["sessionLabel"]


# -- Who may buy and come in


@pytest.mark.covers("EVT-017")
async def test_rules_are_changed_freely_until_the_first_sale_and_only_eased_after_it(console: Console, stage: Stage):
    event = await stage.published(types=[{}])
    path = console.of(event, "access")
    assert "these rules can be changed freely" in await console.fine(path)
    typed = await console.boxes(path)
    typed.pop("guestCheckoutAllowed")
    assert (await console.send(path, **(typed | {"maxEntries": "2"}))).status_code == 303
    rules = (await stage.seen(event))["accessPolicy"]
    assert (rules["guestCheckoutAllowed"], rules["checkin"]["maxEntries"]) == (False, 2)

    await stage.sold(event)
    assert "from now on these rules can only be made easier" in await console.fine(path)
    typed = await console.boxes(path)
    harder = await console.send(path, **(typed | {"maxEntries": "1"}))
    assert harder.status_code == 409
    assert "can only be made easier" in harder.text and boxes_of(harder.text)["maxEntries"] == "1"
    easier = await console.send(path, **(typed | {"maxEntries": "3", "guestCheckoutAllowed": "true"}))
    assert easier.status_code == 303
    page = await console.fine(path)
    assert page.count('<tr><th scope="row">') == 3


async def test_rules_that_are_saved_as_they_are_stay_the_same_version(console: Console, stage: Stage):
    event = await stage.drafted()
    path = console.of(event, "access")
    assert (await console.send(path, **await console.boxes(path))).status_code == 303
    assert (await stage.seen(event))["policyVersion"] == 1


async def test_nobody_is_let_in_by_nothing(console: Console, stage: Stage):
    event = await stage.drafted()
    path = console.of(event, "access")
    typed = await console.boxes(path)
    typed.pop("methods")
    answer = await console.send(path, **typed)
    assert answer.status_code == 422 and "Choose at least one." in answer.text


# -- Tickets


async def a_type(console: Console, event: dict[str, Any], **typed: Any) -> Any:
    path = console.of(event, "types", "new")
    return await console.send(path, **(await console.boxes(path) | {"name": "Standing", "capacity": "50"} | typed))


async def test_tickets_are_priced_in_whole_units_and_limited(console: Console, stage: Stage):
    event = await stage.drafted()
    answer = await a_type(
        console, event, price="25,50", mostPerOrder="4", mostPerBuyer="8", salesFrom="2026-01-02T10:00"
    )
    assert answer.status_code == 303, answer.text
    [kind] = (await stage.seen(event))["ticketTypes"]
    assert (kind["priceMinor"], kind["mostPerOrder"], kind["mostPerBuyer"]) == (2550, 4, 8)
    assert (kind["salesFrom"], kind["pool"]["capacity"]) == ("2026-01-02T10:00:00Z", 50)

    path = console.of(event, "types", kind["ticketTypeId"])
    typed = await console.boxes(path)
    assert (typed["price"], typed["capacity"], typed["salesFrom"]) == ("25.50", "50", "2026-01-02T10:00")
    changed = await console.send(path, **(typed | {"price": "30", "capacity": "60", "status": "HIDDEN"}))
    assert changed.status_code == 303
    [kind] = (await stage.seen(event))["ticketTypes"]
    assert (kind["priceMinor"], kind["pool"]["capacity"], kind["status"]) == (3000, 60, "HIDDEN")


@pytest.mark.covers("FIN-085")
async def test_a_price_of_nothing_is_somebodys_decision(console: Console, stage: Stage):
    event = await stage.drafted()
    refused = await a_type(console, event, price="0", name="Guest list")
    assert refused.status_code == 422
    assert "A price of nothing needs a decision that says so." in refused.text
    assert boxes_of(refused.text)["name"] == "Guest list"
    assert (await a_type(console, event, price="0", allowZeroPrice="true", freePerPerson="2")).status_code == 303


@pytest.mark.parametrize("price", ["", "free", "1.234,50", "-1", "1e3", "10.999", "٣"])
async def test_what_is_no_price_is_said_beside_the_box(console: Console, stage: Stage, price: str):
    event = await stage.drafted()
    answer = await a_type(console, event, price=price)
    assert answer.status_code == 422 and 'id="price-wrong"' in answer.text
    assert boxes_of(answer.text)["price"] == price


async def test_numbered_seats_are_named_one_in_a_line(console: Console, stage: Stage):
    event = await stage.drafted()
    assert (await a_type(console, event, price="10", seats="A1\r\nA2\r\n\r\nA3", capacity="")).status_code == 303
    [kind] = (await stage.seen(event))["ticketTypes"]
    assert kind["seated"] and kind["pool"]["capacity"] == 3
    path = console.of(event, "types", kind["ticketTypeId"])
    assert (await console.send(path, **(await console.boxes(path) | {"price": "12"}))).status_code == 303
    [kind] = (await stage.seen(event))["ticketTypes"]
    assert (kind["priceMinor"], kind["pool"]["capacity"]) == (1200, 3)


async def test_tickets_share_a_pool_and_what_is_taken_stays_taken(console: Console, stage: Stage):
    event = await stage.drafted()
    path = console.of(event, "pools", "new")
    hall = await console.send(path, **(await console.boxes(path) | {"label": "The hall", "capacity": "30"}))
    assert hall.status_code == 303
    [pool] = (await stage.seen(event))["sharedPools"]
    assert (await a_type(console, event, price="5", sharedPools=[pool["pool"]["poolId"]])).status_code == 303
    [kind] = (await stage.seen(event))["ticketTypes"]
    assert kind["sharedPools"] == [pool["pool"]["poolId"]]
    await stage.taken(kind, 10)
    own = console.of(event, "pools", pool["pool"]["poolId"])
    small = await console.send(own, **(await console.boxes(own) | {"capacity": "9"}))
    assert small.status_code == 409 and boxes_of(small.text)["capacity"] == "9"
    assert (await console.send(own, label="The hall", capacity="40")).status_code == 303
    page = await console.fine(console.of(event))
    assert "The hall" in page


async def test_tickets_are_put_in_another_order(console: Console, stage: Stage):
    event = await stage.drafted()
    for name in ("First", "Second"):
        event = await stage.offered(event, name=name)
    last = event["ticketTypes"][1]
    answer = await console.send(console.of(event, "types", "order"), ticketTypeId=last["ticketTypeId"], move="up")
    assert answer.status_code == 303
    assert [each["name"] for each in (await stage.seen(event))["ticketTypes"]] == ["Second", "First"]


def test_the_first_and_the_last_stay_where_they_are():
    a, b, c = (TicketTypeId.new() for _ in range(3))
    assert moved([a, b, c], a, "up") == [a, b, c]
    assert moved([a, b, c], c, "down") == [a, b, c]
    assert moved([a, b, c], a, "down") == [b, a, c]


# -- Publishing


async def test_what_is_published_is_there_for_everybody(console: Console, stage: Stage):
    event = await stage.drafted()
    await stage.offered(event)
    assert (await stage.site.get(f"/api/events/{event['eventId']}")).status_code == 404
    assert (await console.send(console.of(event, "publish"))).status_code == 303
    await stage.relayed()
    assert (await stage.page(event))["title"] == "Summer night"
    assert f'href="/e/{event["eventId"]}"' in await console.fine(console.of(event))


async def test_what_is_over_is_not_published_and_the_page_says_why(console: Console, stage: Stage):
    event = await stage.drafted(schedule={"startsAt": soon(days=-60), "endsAt": soon(days=-59)})
    answer = await console.send(console.of(event, "publish"))
    assert answer.status_code == 409 and "This event is over." in answer.text


# -- Who may what


def a_place(*scopes: str) -> PlaceAnswer:
    own = OrganizationId.new()
    return PlaceAnswer(
        id=own,
        display_name="",
        status="ACTIVE",
        time_zone="UTC",
        group=own,
        role="",
        pack=None,
        level="GROUP",
        scopes=[*scopes],
    )


@pytest.mark.parametrize(
    ("scopes", "permission", "offered"),
    [
        (["EVENTS_*"], "EVENTS_RW", True),
        (["EVENTS_RW"], "EVENTS_R", True),
        (["EVENTS_R"], "EVENTS_RW", False),
        (["FINANCE_R"], "FINANCE_LEDGER_R", True),
        (["FINANCE_R"], "FINANCE_REFUNDS_RW", False),
        ([], "EVENTS_R", False),
    ],
)
def test_what_one_may_is_offered(scopes: list[str], permission: str, offered: bool):
    assert may(a_place(*scopes), permission) is offered


@pytest.mark.parametrize(
    ("role", "pack", "places", "writes"),
    [
        (MemberRole.OWNER, None, {"events", "orders", "attendees", "financas", "checkin", "team"}, True),
        (MemberRole.ADMIN, None, {"events", "orders", "attendees", "financas", "checkin", "team"}, True),
        (MemberRole.STAFF, None, {"events", "orders", "attendees", "checkin"}, False),
        (MemberRole.PROMOTER, None, {"events", "orders", "attendees"}, False),
        (MemberRole.VIEWER, None, {"events", "orders", "attendees", "checkin"}, False),
        (MemberRole.STAFF, RolePack.FRONT_DESK, {"events", "orders", "attendees", "checkin"}, False),
        (MemberRole.STAFF, RolePack.TOURNAMENT_DIRECTOR, {"events", "orders", "attendees", "checkin"}, True),
    ],
)
async def test_everybody_is_offered_what_they_may_and_refused_the_rest(
    console: Console, stage: Stage, role: MemberRole, pack: RolePack | None, places: set[str], writes: bool
):
    event = await stage.drafted()
    who = stage.owner if role is MemberRole.OWNER else await a_member(stage.database, stage.organization, role, pack)
    page = await console.fine(console.of(event), who)
    every = ("events", "orders", "attendees", "financas", "checkin", "team")
    assert {name for name in every if f'<a href="{console.home}/{name}"' in page} == places
    assert (f'action="{console.of(event, "publish")}"' in page) is writes
    assert (f'href="{console.of(event, "cancel")}"' in page) is writes
    answer = await console.send(console.of(event, "publish"), who)
    assert answer.status_code == (303 if writes else 403)


async def test_a_coach_is_told_that_events_are_not_theirs(console: Console, stage: Stage):
    await stage.drafted()
    coach = await a_member(stage.database, stage.organization, MemberRole.TRAINER, RolePack.COACH)
    page = await console.fine(console.home, coach)
    assert "Your role here does not include looking at events." in page
    assert (await console.see(f"{console.home}/events", coach)).status_code == 403


PAGES = ("", "edit", "schedule", "access", "cancel", "types/new", "pools/new")
DEEDS = ("publish", "edit", "schedule", "access", "cancel", "types/new", "types/order", "pools/new")
BLANK: dict[str, Any] = {
    "sessionId": "",
    "sessionLabel": "",
    "sessionStarts": "",
    "sessionEnds": "",
    "ticketTypeId": str(TicketTypeId.new()),
}


@pytest.mark.covers("ORG-012")
@pytest.mark.parametrize("page", PAGES)
async def test_another_organisations_events_are_nowhere(console: Console, stage: Stage, page: str):
    event = await stage.published(types=[{"name": "Secret ticket"}])
    stranger = await a_person(stage.database)
    theirs = await an_organization_of(stage.database, stranger)
    there = f"/org/{theirs}/events/{event['eventId']}/{page}".rstrip("/")
    for path, who in ((console.of(event, page).rstrip("/"), stranger), (there, stranger), (there, stage.owner)):
        answer = await console.see(path, who)
        assert answer.status_code == 404, path
        assert "Secret ticket" not in answer.text and "Summer night" not in answer.text


@pytest.mark.parametrize("deed", DEEDS)
async def test_nobody_does_anything_to_another_organisations_events(console: Console, stage: Stage, deed: str):
    event = await stage.drafted()
    stranger = await a_person(stage.database)
    theirs = await an_organization_of(stage.database, stranger)
    before = await stage.seen(event)
    for home in (console.home, f"/org/{theirs}"):
        answer = await console.send(f"{home}/events/{event['eventId']}/{deed}", stranger, **BLANK)
        assert answer.status_code == 404, answer.text
    assert await stage.seen(event) == before


async def test_types_and_pools_of_another_event_are_not_there(console: Console, stage: Stage):
    event, other = await stage.drafted(), await stage.drafted()
    other = await stage.offered(other, name="Elsewhere")
    own = other["ticketTypes"][0]["ticketTypeId"]
    assert (await console.see(console.of(event, "types", own))).status_code == 404
    assert (await console.send(console.of(event, "types", own), name="Mine", price="1")).status_code == 404
    assert (await console.see(console.of(event, "pools", other["ticketTypes"][0]["pool"]["poolId"]))).status_code == 404
    assert (await console.see(f"{console.home}/events/{EventId.new()}")).status_code == 404


async def test_whoever_is_not_signed_in_is_sent_to_sign_in(console: Console, stage: Stage):
    answer = await stage.site.get(f"{console.home}/events?text=fado")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in?next=%2Forg%2F")
    assert answer.headers["location"].endswith("events%3Ftext%3Dfado")


# -- What others write


async def test_what_people_type_is_text_and_nothing_else(console: Console, stage: Stage):
    event = await stage.drafted(
        about={"title": NASTY, "description": NASTY, "venue": {"name": NASTY}},
    )
    event = await stage.offered(event, name=NASTY, description=NASTY)
    event = stage.fine(
        await stage.ask("POST", f"/{event['eventId']}/pools", {"label": NASTY, "capacity": 5, "idempotencyKey": "x"}),
        201,
    )
    kind = event["ticketTypes"][0]["ticketTypeId"]
    pages = [console.of(event, page).rstrip("/") for page in (*PAGES, f"types/{kind}")]
    for path in (*pages, f"{console.home}/events", console.home, f"{console.home}/events?text={NASTY}"):
        page = await console.fine(path)
        assert "<script>alert" not in page and "&lt;script&gt;" in page, path
        assert "style=" not in page and "onclick" not in page


@pytest.mark.parametrize("deed", DEEDS)
async def test_forms_of_other_sites_do_nothing(console: Console, stage: Stage, deed: str):
    event = await stage.drafted()
    cookie = {"cookie": f"session={stage.owner.access_token}"}
    for said in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
        answer = await stage.site.post(console.of(event, deed), data=BLANK, headers={**cookie, **said})
        assert answer.status_code == 403, answer.text
    assert (await stage.seen(event))["version"] == event["version"]


# -- Small things


@pytest.mark.parametrize("at", ["2031-07-12T20:30", "2031-01-12T00:00"])
def test_a_time_that_is_sent_back_is_the_same_time(at: str):
    for zone in ("Europe/Lisbon", "America/Sao_Paulo", "UTC"):
        assert typed_there(instant_there(at, zone, "x"), zone) == at


@pytest.mark.parametrize("text", ["", "yesterday", "2031-07-12T20:30:00+01:00", "0001-01-01T00:00"])
def test_what_is_no_time_is_refused(text: str):
    with pytest.raises(ValidationFailed):
        instant_there(text, "Europe/Lisbon", "x")


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [(2550, "EUR", "25.50"), (0, "EUR", "0.00"), (500, "JPY", "500"), (1, "BHD", "0.001")],
)
def test_a_price_that_is_sent_back_is_the_same_price(minor: int, currency: str, text: str):
    assert typed_price(minor, currency) == text
    assert minor_of(text, currency, "price") == minor


# -- Old addresses


@pytest.mark.covers("ORG-016", "ORG-030")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/organizacao", "/org"),
        ("/organizacao/{own}", "/org/{own}"),
        ("/organizacao/{own}/events", "/org/{own}/events"),
        ("/organizacao/{own}/eventos?text=a%20b", "/org/{own}/events?text=a%20b"),
        ("/organizacao/{own}/financas?tab=ledger", "/org/{own}/financas?tab=ledger"),
        ("/organizacao/{own}/events/x/edit", "/org/{own}/events/x/edit"),
        ("/organizacao/{own}/a%22b%5C?y=\\%22", "/org/{own}/a%22b%5C?y=%5C%22"),
    ],
)
async def test_old_addresses_lead_to_the_new_ones_for_good(console: Console, stage: Stage, old: str, new: str):
    own = str(stage.organization)
    answer = await stage.site.get(old.format(own=own))
    assert (answer.status_code, answer.headers["location"]) == (301, new.format(own=own))


@pytest.mark.covers("ORG-016")
async def test_old_addresses_of_the_api_do_not_lead_anywhere(stage: Stage):
    answer = await stage.site.get(f"/api/organizacao/{stage.organization}/events", headers=stage.owner.headers)
    assert answer.status_code == 404
