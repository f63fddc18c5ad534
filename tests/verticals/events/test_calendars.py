"""Calendars: read back by somebody who knows RFC 5545 and nothing of us."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as some

from admitone.kernel.ids import OrganizationId
from admitone.verticals.events.calendars import calendar_of, changes_in, escaped, folded
from admitone.verticals.events.model import Event, EventId, EventStatus, PricingMode, Session, SessionId, Venue
from tests.verticals.events.stage import Stage, soon

NOW = datetime(2030, 1, 1, tzinfo=UTC)
PROPERTY = re.compile(r"([A-Z-]+)((?:;[A-Z]+=[^;:]+)*):(.*)", re.DOTALL)


def an_event(begins: datetime, ends: datetime, zone: str = "Europe/Lisbon", **more: Any) -> Event:
    usual: dict[str, Any] = {
        "title": "Summer night",
        "description": "",
        "status": EventStatus.PUBLISHED,
        "venue": Venue("Coliseu", "Rua 1", "Porto", "PT"),
        "version": 3,
    }
    return Event(
        organization=OrganizationId.new(),
        id=EventId.new(),
        starts_at=begins,
        ends_at=ends,
        time_zone=zone,
        currency="EUR",
        least_age=None,
        hold_minutes=15,
        allows_zero=False,
        pricing_mode=PricingMode.STANDARD,
        policy_version=1,
        first_sold_at=None,
        published_at=NOW,
        cancelled_at=None,
        created_at=NOW,
        changed_at=NOW,
        **(usual | more),
    )


def parsed(content: bytes) -> dict[str, Any]:
    """Blocks of properties and blocks, as any reader takes them apart."""
    assert content.endswith(b"\r\n")
    raw = content[:-2].split(b"\r\n")
    assert all(len(line) <= 75 for line in raw)
    lines = re.sub(r"\r\n[ \t]", "", content.decode()).removesuffix("\r\n").split("\r\n")
    stack: list[dict[str, Any]] = [{"blocks": []}]
    for line in lines:
        found = PROPERTY.fullmatch(line)
        assert found, f"{line!r} is no property"
        name, parameters, value = found.groups()
        if name == "BEGIN":
            stack.append({"kind": value, "blocks": []})
        elif name == "END":
            block = stack.pop()
            assert block["kind"] == value
            stack[-1]["blocks"].append(block)
        else:
            assert name not in stack[-1], f"{name} stands twice"
            stack[-1][name] = (parameters, value)
    assert len(stack) == 1
    [calendar] = stack[0]["blocks"]
    check(calendar)
    return dict(calendar)


WANTED = {
    "VCALENDAR": {"VERSION", "PRODID"},
    "VTIMEZONE": {"TZID"},
    "STANDARD": {"DTSTART", "TZOFFSETFROM", "TZOFFSETTO"},
    "DAYLIGHT": {"DTSTART", "TZOFFSETFROM", "TZOFFSETTO"},
    "VEVENT": {"UID", "DTSTAMP", "DTSTART"},
}
"""What each block must have (RFC 5545, 3.4 and 3.6)."""
WITHIN = {"VCALENDAR": {"VTIMEZONE", "VEVENT"}, "VTIMEZONE": {"STANDARD", "DAYLIGHT"}}
"""Blocks that are made of blocks, one at least, and of which."""


def check(block: dict[str, Any]) -> None:
    """As strict readers do, before they take anything of it."""
    kind, parts = block["kind"], [each["kind"] for each in block["blocks"]]
    assert block.keys() >= WANTED[kind], f"{kind} lacks {WANTED[kind] - block.keys()}"
    assert {*parts} <= WITHIN.get(kind, set()) and bool(parts) is (kind in WITHIN), f"{kind} is made of {parts}"
    for each in block["blocks"]:
        check(each)
    if kind == "VCALENDAR":
        assert "METHOD" not in block, (
            "a message, whose every entry has an organizer (RFC 5546): not what one subscribes to"
        )
        told = [each["TZID"][1] for each in block["blocks"] if each["kind"] == "VTIMEZONE"]
        assert len({*told}) == len(told), "the clocks of a zone are told once"


def entries(calendar: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in calendar["blocks"] if each["kind"] == "VEVENT"]


def instant(calendar: dict[str, Any], said: tuple[str, str]) -> datetime:
    """Which instant a time means, by the rules of its zone that came along."""
    parameters, value = said
    if value.endswith("Z"):
        return datetime.strptime(value, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    name = parameters.removeprefix(";TZID=")
    [zone] = [each for each in calendar["blocks"] if each["kind"] == "VTIMEZONE" and each["TZID"][1] == name]
    wall = on_the_wall(value)
    # Observances begin by the clocks before them; an hour that comes twice is its first one.
    rules = sorted(zone["blocks"], key=lambda each: on_the_wall(each["DTSTART"][1]))
    in_force = [each for each in rules if on_the_wall(each["DTSTART"][1]) + max(_step(each), timedelta()) <= wall]
    return wall - _offset(in_force[-1]["TZOFFSETTO"][1])


def on_the_wall(text: str) -> datetime:
    """What a clock shows, as if it were UTC."""
    return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)


def _step(observance: dict[str, Any]) -> timedelta:
    return _offset(observance["TZOFFSETTO"][1]) - _offset(observance["TZOFFSETFROM"][1])


def _offset(text: str) -> timedelta:
    sign = -1 if text[0] == "-" else 1
    return sign * timedelta(hours=int(text[1:3]), minutes=int(text[3:5]), seconds=int(text[5:7] or 0))


ZONES = ["Europe/Lisbon", "America/Sao_Paulo", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC",
         "Africa/Casablanca", "Pacific/Chatham", "America/St_Johns"]  # fmt: skip


@pytest.mark.covers("EVT-006")
@given(
    zone=some.sampled_from(ZONES),
    seconds=some.integers(0, 10 * 366 * 86_400),
    minutes=some.integers(1, 60 * 24 * 30),
)
def test_a_calendar_means_the_very_instants(zone: str, seconds: int, minutes: int):
    begins = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    ends = begins + timedelta(minutes=minutes)
    calendar = parsed(calendar_of("Events", [(an_event(begins, ends, zone), ())]))
    [entry] = entries(calendar)
    assert (instant(calendar, entry["DTSTART"]), instant(calendar, entry["DTEND"])) == (begins, ends)


@pytest.mark.covers("EVT-006")
@given(
    zone=some.sampled_from([each for each in ZONES if changes_in(each, 2030)]),
    which=some.integers(0, 20),
    begins=some.integers(-3 * 3600, 3 * 3600),
    ends=some.integers(1, 4 * 3600),
)
def test_so_it_does_around_the_hour_at_which_clocks_are_put(zone: str, which: int, begins: int, ends: int):
    changes = changes_in(zone, 2030)
    first = changes[which % len(changes)].at + timedelta(seconds=begins)
    last = first + timedelta(seconds=ends)
    calendar = parsed(calendar_of("Events", [(an_event(first, last, zone), ())]))
    [entry] = entries(calendar)
    assert (instant(calendar, entry["DTSTART"]), instant(calendar, entry["DTEND"])) == (first, last)


@pytest.mark.covers("EVT-006")
def test_the_night_on_which_clocks_change_is_told_by_them():
    lisbon = ZoneInfo("Europe/Lisbon")
    begins = datetime(2030, 10, 26, 23, 0, tzinfo=lisbon).astimezone(UTC)
    second = datetime(2030, 10, 27, 1, 30, tzinfo=lisbon, fold=1).astimezone(UTC)
    calendar = parsed(calendar_of("Events", [(an_event(begins, second), ())]))
    [entry] = entries(calendar)
    assert entry["DTSTART"] == (";TZID=Europe/Lisbon", "20301026T230000")
    assert entry["DTEND"] == ("", "20301027T013000Z"), "of an hour that comes twice the second one"
    changes = changes_in("Europe/Lisbon", 2030)
    assert [each.at.isoformat() for each in changes] == ["2030-03-31T01:00:00+00:00", "2030-10-27T01:00:00+00:00"]
    assert [each.is_summer for each in changes] == [True, False]


def test_an_event_with_sessions_is_an_entry_for_each():
    begins = NOW + timedelta(days=1)
    sessions = tuple(
        Session(SessionId.new(), label, begins + timedelta(hours=n), begins + timedelta(hours=n + 1))
        for n, label in enumerate(("Doors", "Concert"))
    )
    calendar = parsed(calendar_of("Events", [(an_event(begins, begins + timedelta(hours=5)), sessions)]))
    assert [each["SUMMARY"][1] for each in entries(calendar)] == ["Summer night: Doors", "Summer night: Concert"]
    assert len({each["UID"][1] for each in entries(calendar)}) == 2


def unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda each: "\n" if each[1] in "nN" else each[1], value)


@given(some.text(max_size=300))
def test_whatever_people_write_stays_text_in_one_property(text: str):
    event = an_event(NOW, NOW + timedelta(hours=1), title=text or "x", description=text)
    calendar = parsed(calendar_of(text, [(event, ())]))
    [entry] = entries(calendar)
    said = unescaped(entry["SUMMARY"][1])
    assert "\r" not in said
    is_plain = not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", text)
    assert not is_plain or said == (text or "x")


def test_a_description_begins_no_property_and_no_event():
    evil = "Line\r\nEND:VEVENT\r\nBEGIN:VEVENT\nATTACH:http://evil.example\u2028ORGANIZER:x; a, b\\n"
    event = an_event(NOW, NOW + timedelta(hours=1), description=evil, venue=Venue("a,b;c", "\\", "", ""))
    [entry] = entries(parsed(calendar_of("Events", [(event, ())])))
    assert "ATTACH" not in entry
    assert unescaped(entry["DESCRIPTION"][1]).startswith("Line\nEND:VEVENT\nBEGIN:VEVENT\nATTACH:")
    assert unescaped(entry["LOCATION"][1]) == "a,b;c, \\"
    assert escaped("a\x1b[31m\x00b") == "a[31mb"


@given(some.text(alphabet="aÇ漢😀", max_size=200))
def test_lines_are_folded_between_letters(text: str):
    lines = folded(text).removesuffix(b"\r\n").split(b"\r\n")
    assert all(len(line) <= 75 for line in lines)
    assert "".join([lines[0].decode(), *(line[1:].decode() for line in lines[1:])]) == text


async def test_the_feed_of_an_organisation_has_what_it_has_on(stage: Stage, site: httpx.AsyncClient):
    shown = await stage.published(schedule={"startsAt": soon(), "endsAt": soon(hours=1), "timeZone": "America/Bahia"})
    await stage.published(accessPolicy={"mode": "UNLISTED"})
    await stage.drafted()
    answer = await site.get(f"/api/organizations/{stage.organization}/calendar.ics")
    assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
    calendar = parsed(answer.content)
    [entry] = entries(calendar)
    assert entry["UID"][1] == f"{shown['eventId']}@admitone"
    assert instant(calendar, entry["DTSTART"]) == datetime.fromisoformat(shown["startsAt"])
    one = await site.get(f"/api/events/{shown['eventId']}/calendar.ics")
    assert entries(parsed(one.content)) == [entry]


async def test_the_feed_of_an_organisation_with_nothing_on_can_be_subscribed_to(stage: Stage, site: httpx.AsyncClient):
    answer = await site.get(f"/api/organizations/{stage.organization}/calendar.ics")
    assert answer.status_code == 200
    assert entries(parsed(answer.content)) == []


@pytest.mark.covers("EVT-006")
async def test_an_entry_stays_the_same_entry_whatever_becomes_of_its_event(stage: Stage, site: httpx.AsyncClient):
    friday = {"label": "Friday", "startsAt": soon(), "endsAt": soon(hours=2)}
    event = await stage.published(schedule={"sessions": [friday]})

    async def entry() -> dict[str, Any]:
        answer = await site.get(f"/api/events/{event['eventId']}/calendar.ics")
        [only] = entries(parsed(answer.content))
        return only

    seen = [await entry()]
    later = {**event["sessions"][0], "startsAt": soon(hours=1), "endsAt": soon(hours=3)}
    stage.fine(await stage.put_off(event, sessions=[later]))
    seen.append(await entry())
    await stage.cancelled(event)
    seen.append(await entry())
    assert len({each["UID"] for each in seen}) == 1
    first, second, third = (int(each["SEQUENCE"][1]) for each in seen)
    assert first < second < third, "or calendars keep what they have"
    assert seen[0]["DTSTART"] != seen[1]["DTSTART"] == seen[2]["DTSTART"]
    assert [each["STATUS"][1] for each in seen] == ["CONFIRMED", "CONFIRMED", "CANCELLED"]


def test_a_time_at_the_end_of_time_costs_no_more():
    far = datetime(8999, 6, 1, tzinfo=UTC)
    calendar = parsed(calendar_of("Events", [(an_event(NOW, far), ())]))
    assert instant(calendar, entries(calendar)[0]["DTEND"]) == far
