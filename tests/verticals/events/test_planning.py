"""Events are drafted, described, scheduled, published and cancelled, through the real edge and authority."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

import asyncpg
import pytest

from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from tests.foundation.organizations.clubs import facts_of, trail_of
from tests.people import a_member, a_person
from tests.verticals.events.stage import Stage, a_session_id, a_stage, hence, soon, uuid_of


async def test_an_event_is_drafted_and_seen(stage: Stage, superuser: asyncpg.Connection):
    draft = stage.a_draft(about={"description": "Bring a jacket.", "leastAge": 18, "holdMinutes": 20})
    event = stage.fine(await stage.ask("POST", body=draft), 201)
    assert event == await stage.seen(event)
    assert (event["status"], event["leastAge"], event["holdMinutes"], event["version"]) == ("DRAFT", 18, 20, 1)
    again = await stage.ask("POST", body=draft)
    assert (again.json()["eventId"], again.headers["idempotency-replayed"]) == (event["eventId"], "true")
    mine = stage.fine(await stage.ask("GET"))["items"]
    assert [each["eventId"] for each in mine] == [event["eventId"]]
    assert len(await facts_of(superuser, stage.organization, "event.created")) == 1
    assert len(await trail_of(superuser, stage.organization, "event.created")) == 1


@pytest.mark.covers("EVT-001")
@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize(
    ("schedule", "code"),
    [
        ({"endsAt": None}, "VALIDATION_FAILED"),
        ({"endsAt": "2031-06-01T20:00:00Z"}, "EVENT_TIMES_INVALID"),
        ({"endsAt": "2031-06-01T19:59:59Z"}, "EVENT_TIMES_INVALID"),
        ({"endsAt": "2031-06-01T23:00:00"}, "VALIDATION_FAILED"),
        ({"timeZone": "Atlantis/Port"}, "UNKNOWN_TIME_ZONE"),
        ({"timeZone": "../../etc/passwd"}, "UNKNOWN_TIME_ZONE"),
    ],
)
async def test_an_event_ends_and_it_ends_after_it_begins(stage: Stage, method: str, schedule: Any, code: str):
    fine = {"startsAt": "2031-06-01T20:00:00Z", "endsAt": "2031-06-01T23:00:00Z", "timeZone": "Europe/Lisbon"}
    wanted = {name: value for name, value in (fine | schedule).items() if value is not None}
    if method == "POST":
        refused = await stage.ask("POST", body=stage.a_draft() | {"schedule": wanted})
    else:
        event = await stage.drafted()
        refused = await stage.ask("PUT", f"/{event['eventId']}/schedule", {**wanted, "version": 1})
    assert (refused.status_code, refused.json()["errorCode"]) == (422, code)


@pytest.mark.covers("EVT-001")
async def test_the_database_says_so_too(stage: Stage, superuser: asyncpg.Connection):
    await stage.drafted()
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(
            "UPDATE events.event SET ends_at = starts_at WHERE organization_id = $1", stage.organization.uuid
        )
    with pytest.raises(asyncpg.NotNullViolationError):
        await superuser.execute(
            "UPDATE events.event SET ends_at = NULL WHERE organization_id = $1", stage.organization.uuid
        )


@pytest.mark.covers("EVT-006")
async def test_a_night_on_which_clocks_change_is_as_long_as_it_is(stage: Stage):
    """In Lisbon, 31 March 2030, one o'clock is two o'clock; on 27 October two o'clock comes twice, as one."""
    lisbon = ZoneInfo("Europe/Lisbon")
    begins = datetime(2030, 3, 30, 23, 0, tzinfo=lisbon).astimezone(UTC)
    ends = datetime(2030, 3, 31, 4, 0, tzinfo=lisbon).astimezone(UTC)
    assert (ends - begins).total_seconds() == 4 * 3600
    times = {"startsAt": begins.isoformat(), "endsAt": ends.isoformat(), "timeZone": "Europe/Lisbon"}
    event = await stage.published(schedule=times)
    page = await stage.page(event)
    assert (page["startsAt"], page["endsAt"]) == ("2030-03-30T23:00:00Z", "2030-03-31T03:00:00Z")
    assert page["timeZone"] == "Europe/Lisbon"
    assert page["localStartsAt"] == "2030-03-30T23:00:00+00:00"
    assert page["localEndsAt"] == "2030-03-31T04:00:00+01:00"


@pytest.mark.covers("EVT-006")
@pytest.mark.parametrize("offset", ["+15:59", "+16:00", "-23:59"])
async def test_an_instant_may_be_said_with_any_offset(stage: Stage, offset: str):
    times = {"startsAt": f"2031-06-01T20:00:00{offset}", "endsAt": f"2031-06-01T23:00:00{offset}"}
    event = await stage.drafted(schedule=times)
    for name, said in times.items():
        assert datetime.fromisoformat(event[name]) == datetime.fromisoformat(said)


@pytest.mark.covers("ENT-016", "EVT-006")
@pytest.mark.parametrize(
    ("begins", "ends", "opens", "closes"),
    [
        # Clocks are put forward in the night of 31 March, and back in that of 27 October: six hours are six hours.
        ("2030-03-31T04:00:00Z", "2030-03-31T08:00:00Z", "2030-03-30T22:00:00+00:00", "2030-03-31T14:00:00+00:00"),
        ("2030-10-26T18:00:00Z", "2030-10-26T23:00:00Z", "2030-10-26T12:00:00+00:00", "2030-10-27T05:00:00+00:00"),
    ],
)
async def test_doors_are_open_for_six_hours_around_whatever_clocks_do(
    stage: Stage, begins: str, ends: str, opens: str, closes: str
):
    event = await stage.published(schedule={"startsAt": begins, "endsAt": ends})
    right = await stage.granted(event)
    assert (right.valid_from.isoformat(), right.valid_until.isoformat()) == (opens, closes)


@pytest.mark.covers("EVT-002")
async def test_what_was_published_never_becomes_a_draft_again(stage: Stage, superuser: asyncpg.Connection):
    event = await stage.published()
    again = stage.fine(await stage.ask("POST", f"/{event['eventId']}/publish"))
    assert (again["status"], again["version"]) == ("PUBLISHED", event["version"])
    assert len(await facts_of(superuser, stage.organization, "event.published")) == 1
    changed = await stage.ask(
        "PUT", f"/{event['eventId']}", {"about": {"title": "Night"}, "version": event["version"], "status": "DRAFT"}
    )
    assert changed.json()["status"] == "PUBLISHED"
    with pytest.raises(asyncpg.CheckViolationError):
        await superuser.execute(
            "UPDATE events.event SET status = 'DRAFT' WHERE organization_id = $1", stage.organization.uuid
        )
    await stage.cancelled(event)
    refused = await stage.ask("POST", f"/{event['eventId']}/publish")
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "EVENT_CANCELLED")


@pytest.mark.covers("ORG-024", "ORG-025")
async def test_whoever_cancels_proves_who_they_are_and_says_why(
    stage: Stage, database_url: str, superuser: asyncpg.Connection
):
    event = await stage.published()
    path = f"/{event['eventId']}/cancel"
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS)) as earlier:
        weary = await a_person(earlier, identity=stage.owner.identity)
    refused = await stage.ask("POST", path, {"reasonCode": "WEATHER"}, weary)
    assert (refused.status_code, (await stage.seen(event))["status"]) == (403, "PUBLISHED")
    assert (await stage.ask("POST", path, {})).status_code == 422
    answer = await stage.ask("POST", path, {"reasonCode": "WEATHER"})
    assert answer.json()["status"] == "CANCELLED"
    assert (await stage.ask("POST", path, {"reasonCode": "WEATHER"})).json() == answer.json(), "twice is once"
    [fact] = await facts_of(superuser, stage.organization, "event.cancelled")
    assert '"wasPublished": true' in fact["payload"]
    [entry] = await trail_of(superuser, stage.organization, "event.cancelled")
    assert (entry["reason_code"], entry["actor_id"]) == ("WEATHER", stage.owner.identity.uuid)
    for method, rest, body in (
        ("PUT", "", {"about": {"title": "Anew"}, "version": 3}),
        ("PUT", "/access-policy", {"accessPolicy": {}}),
        ("POST", "/ticket-types", {"name": "A", "priceMinor": 1, "supply": {"capacity": 1}, "idempotencyKey": "x"}),
        ("POST", "/pools", {"label": "A", "capacity": 1, "idempotencyKey": "x"}),
    ):
        refused = await stage.ask(method, f"/{event['eventId']}{rest}", body)
        assert refused.json()["errorCode"] == "EVENT_CANCELLED", (method, rest)


async def test_who_looked_at_something_older_is_told_so(stage: Stage):
    event = await stage.drafted()
    body = {"about": {"title": "First"}, "version": 1}
    answers = await asyncio.gather(*(stage.ask("PUT", f"/{event['eventId']}", body) for _ in range(5)))
    assert sorted(each.status_code for each in answers) == [200, 409, 409, 409, 409]
    assert {each.json()["version"] for each in answers if each.status_code == 409} == {2}


async def test_sessions_take_place_within_their_event_and_move_with_it(stage: Stage):
    nights = [
        {"label": "Friday", "startsAt": soon(), "endsAt": soon(hours=2)},
        {"label": "Saturday", "startsAt": soon(hours=24), "endsAt": soon(hours=26)},
    ]
    event = await stage.drafted(schedule={"endsAt": soon(hours=26), "sessions": nights})
    assert [each["label"] for each in event["sessions"]] == ["Friday", "Saturday"]
    friday = event["sessions"][0]
    outside = {**friday, "endsAt": soon(hours=27)}
    for sessions, problem in (
        ([outside], "SESSION_OUTSIDE_EVENT"),
        ([friday, friday], "SESSION_TWICE"),
        ([{**friday, "endsAt": friday["startsAt"]}], "SESSION_ENDS_BEFORE_IT_BEGINS"),
    ):
        refused = await stage.put_off(event, sessions=sessions)
        assert (refused.status_code, refused.json()["problem"]) == (422, problem)
    strange = await stage.put_off(event, sessions=[{**friday, "sessionId": a_session_id()}])
    assert strange.json()["errorCode"] == "SESSION_NOT_FOUND"
    week = {"startsAt": soon(days=7), "endsAt": soon(days=7, hours=5)}
    moved = stage.fine(await stage.put_off(event, **week, sessions=[{**friday, **week}]))
    assert [each["sessionId"] for each in moved["sessions"]] == [friday["sessionId"]], "a draft may leave one out"
    await stage.offered(event, name="Friday", sessions=[friday["sessionId"]])
    assert (await stage.put_off(event, sessions=[])).json()["errorCode"] == "SESSION_IN_USE"


async def test_what_was_announced_is_not_left_out(stage: Stage):
    friday = {"label": "Friday", "startsAt": soon(), "endsAt": soon(hours=2)}
    event = await stage.published(schedule={"sessions": [friday]})
    refused = await stage.put_off(event, sessions=[])
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "SESSION_IN_USE")
    past = {"startsAt": "2020-01-01T20:00:00Z", "endsAt": "2020-01-01T23:00:00Z", "sessions": []}
    assert (await stage.put_off(event, **past)).json()["problem"] == "ENDS_IN_THE_PAST"


async def test_what_is_over_is_not_published_and_not_put_off(stage: Stage, superuser: asyncpg.Connection):
    past = {"startsAt": "2020-01-01T20:00:00Z", "endsAt": "2020-01-01T23:00:00Z"}
    event = await stage.drafted(schedule=past)
    refused = await stage.ask("POST", f"/{event['eventId']}/publish")
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "EVENT_OVER")
    other = await stage.published()
    await superuser.execute(
        "UPDATE events.event SET starts_at = now() - interval '3 h', ends_at = now() - interval '1 s' WHERE id = $1",
        uuid_of(other),
    )
    refused = await stage.put_off(other, startsAt=soon(), endsAt=soon(hours=2))
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "EVENT_OVER")


async def test_no_session_is_put_where_nobody_can_come_any_more(stage: Stage):
    past = {"startsAt": hence(hours=-9), "endsAt": hence(hours=-7)}
    evening, night = {"startsAt": hence(hours=1), "endsAt": hence(hours=3)}, {"startsAt": hence(hours=4)}
    schedule = {"startsAt": hence(hours=-10), "endsAt": hence(hours=9)}
    sessions = [{"label": "Morning", **past}, {"label": "Evening", **evening}]
    event = await stage.published(schedule={**schedule, "sessions": sessions})
    morning, later = event["sessions"]
    sooner = {"startsAt": hence(hours=-8), "endsAt": hence(hours=-1)}
    for moved in ([morning, {**later, **sooner}], [morning, later, {"label": "Matinee", **past}]):
        refused = await stage.put_off(event, sessions=moved)
        assert (refused.status_code, refused.json()["problem"]) == (422, "SESSION_ENDS_IN_THE_PAST")
    # What is over may be told otherwise, and put off; a page that knows minutes only says it a little otherwise anyway.
    told = {**morning, "label": "Rained off", "endsAt": hence(hours=-7, seconds=30)}
    stage.fine(await stage.put_off(event, sessions=[told, later]))
    put_off = stage.fine(await stage.put_off(event, sessions=[{**morning, **night, "endsAt": hence(hours=8)}, later]))
    assert [each["label"] for each in put_off["sessions"]] == ["Evening", "Morning"]
    draft = await stage.drafted(schedule=schedule)
    stage.fine(await stage.put_off(draft, sessions=[{"label": "Morning", **past}]))


async def test_its_currency_is_for_ever(stage: Stage, database: Database):
    event = await stage.drafted()
    body = {"about": {"title": "Night"}, "version": 1, "currency": "BRL"}
    assert stage.fine(await stage.ask("PUT", f"/{event['eventId']}", body))["currency"] == "EUR"
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(
            stage.scope, lambda tx: tx.execute("UPDATE events.event SET currency = 'BRL' WHERE organization_id = $1")
        )
    unknown = await stage.ask("POST", body=stage.a_draft(currency="ZZZ"))
    assert unknown.status_code == 422


async def test_staff_look_and_strangers_do_not(stage: Stage, database: Database):
    event = await stage.drafted()
    staff = await a_member(database, stage.organization, MemberRole.STAFF)
    assert (await stage.ask("GET", f"/{event['eventId']}", person=staff)).status_code == 200
    for method, rest, body in (
        ("POST", "", stage.a_draft()),
        ("PUT", f"/{event['eventId']}", {"about": {"title": "Mine"}, "version": 1}),
        ("POST", f"/{event['eventId']}/publish", None),
        ("POST", f"/{event['eventId']}/cancel", {"reasonCode": "WEATHER"}),
        ("PUT", f"/{event['eventId']}/access-policy", {"accessPolicy": {}}),
    ):
        assert (await stage.ask(method, rest, body, staff)).status_code == 403, rest
    stranger = await a_person(database)
    assert (await stage.ask("GET", f"/{event['eventId']}", person=stranger)).status_code == 403


async def test_another_organisations_event_is_not_there(
    stage: Stage, site: Any, database: Database, superuser: asyncpg.Connection
):
    theirs = await (await a_stage(site, database, superuser)).published(types=[{}])
    kind = theirs["ticketTypes"][0]
    for method, rest, body in (
        ("GET", "", None),
        ("PUT", "", {"about": {"title": "Mine"}, "version": theirs["version"]}),
        ("POST", "/publish", None),
        ("POST", "/cancel", {"reasonCode": "WEATHER"}),
        ("PUT", "/access-policy", {"accessPolicy": {}}),
        ("POST", "/ticket-types", {"name": "A", "priceMinor": 1, "supply": {"capacity": 1}, "idempotencyKey": "x"}),
        ("POST", "/pools", {"label": "A", "capacity": 1, "idempotencyKey": "y"}),
        ("PUT", f"/pools/{kind['pool']['poolId']}", {"label": "A", "capacity": 1}),
        ("PUT", "/ticket-order", {"ticketTypeIds": [kind["ticketTypeId"]]}),
        ("PUT", f"/ticket-types/{kind['ticketTypeId']}", {"name": "A", "priceMinor": 1, "version": 1}),
    ):
        refused = await stage.ask(method, f"/{theirs['eventId']}{rest}", body)
        assert (refused.status_code, refused.json()["errorCode"]) == (404, "EVENT_NOT_FOUND"), (method, rest)
    rules = stage.fine(await stage.ask("GET", f"/{theirs['eventId']}/access-policy"))
    assert rules["items"] == []


async def test_events_are_found_by_words_and_listed_either_way(stage: Stage):
    first = await stage.drafted(about={"title": "Noite 100% Fado"})
    last = await stage.drafted(
        about={"title": "Samba", "venue": {"city": "Lisboa"}},
        schedule={"startsAt": soon(days=1), "endsAt": soon(days=2)},
    )

    async def found(**asked: str) -> list[str]:
        answer = await stage.site.get(stage.path, params=asked, headers=stage.owner.headers)
        return [each["eventId"] for each in stage.fine(answer)["items"]]

    assert await found() == [first["eventId"], last["eventId"]]
    assert await found(order="LATEST") == [last["eventId"], first["eventId"]]
    assert await found(text="100% fado") == [first["eventId"]]
    assert await found(text="lisboa", order="LATEST") == [last["eventId"]]
    assert await found(text="_") == []


async def test_the_latest_come_page_by_page(stage: Stage):
    wanted = [await stage.drafted(schedule={"startsAt": soon(days=day), "endsAt": soon(days=9)}) for day in range(3)]
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        asked = {"order": "LATEST", "limit": "2", **cursor}
        page = stage.fine(await stage.site.get(stage.path, params=asked, headers=stage.owner.headers))
        seen += [each["eventId"] for each in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert seen == [each["eventId"] for each in reversed(wanted)]


async def test_a_list_begins_where_somebody_wants_it_to(stage: Stage):
    sooner = await stage.drafted()
    later = await stage.drafted(schedule={"startsAt": soon(days=2), "endsAt": soon(days=2, hours=5)})
    seen = stage.fine(await stage.ask("GET", f"?since={quote(soon(days=1))}"))["items"]
    assert [each["eventId"] for each in seen] == [later["eventId"]]
    everything = stage.fine(await stage.ask("GET"))["items"]
    assert [each["eventId"] for each in everything] == [sooner["eventId"], later["eventId"]]
