"""Events as calendars read them (RFC 5545): times on the clocks of the place, and the rules of those clocks with them.

Promise: an entry means the very instants at which its event takes place, also where clocks change in between; and
whatever people write of an event stays text, in one property, on lines of at most 75 octets.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from admitone.kernel.clock import local, utc, zone
from admitone.verticals.events.model import Event, EventStatus, Session

CONTENT_TYPE: Final = "text/calendar; charset=utf-8"
LONGEST_TEXT: Final = 2_000
OCTETS: Final = 75
WEEK: Final = timedelta(days=7)
_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Change(msgspec.Struct, frozen=True):
    """At that instant the clocks of a zone are put forward or back."""

    at: datetime
    was: timedelta
    becomes: timedelta
    name: str
    is_summer: bool


def calendar_of(title: str, shown: Iterable[tuple[Event, Sequence[Session]]]) -> bytes:
    """One entry for each event; of those that have sessions, one for each of them."""
    entries = [*shown]
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Admit One//Events//EN",
        "CALSCALE:GREGORIAN",
        f"X-WR-CALNAME:{escaped(title)}",
        *_zones(entries),
        *(line for event, sessions in entries for session in sessions or (None,) for line in _entry(event, session)),
        "END:VCALENDAR",
    ]
    return b"".join(folded(line) for line in lines)


def escaped(text: str) -> str:
    """As a value of type TEXT: nothing in it ends its line, or begins another property."""
    parts = (_CONTROLS.sub("", part) for part in _BREAKS.split(text[:LONGEST_TEXT]))
    return "\\n".join(re.sub(r"([\\;,])", r"\\\1", part) for part in parts)


def folded(line: str) -> bytes:
    """On lines of at most so many octets; no letter is cut in two."""
    out, rest = b"", line
    while len((b" " if out else b"") + rest.encode()) > OCTETS:
        room = OCTETS - bool(out)
        head = rest.encode()[:room].decode(errors="ignore")
        out += (b" " if out else b"") + head.encode() + b"\r\n"
        rest = rest[len(head) :]
    return out + (b" " if out else b"") + rest.encode() + b"\r\n"


def _entry(event: Event, session: Session | None) -> Iterator[str]:
    place, own = event.venue, session or event
    where = ", ".join(part for part in (place.name, place.address, place.city, place.country) if part)
    yield "BEGIN:VEVENT"
    yield f"UID:{own.id}@admitone"
    yield f"DTSTAMP:{_instant(event.changed_at)}"
    yield f"SEQUENCE:{event.version}"
    yield f"DTSTART{_time(own.starts_at, event.time_zone)}"
    yield f"DTEND{_time(own.ends_at, event.time_zone)}"
    yield f"SUMMARY:{escaped(event.title if session is None else f'{event.title}: {session.label}')}"
    if event.description:
        yield f"DESCRIPTION:{escaped(event.description)}"
    if where:
        yield f"LOCATION:{escaped(where)}"
    yield f"STATUS:{'CANCELLED' if event.status is EventStatus.CANCELLED else 'CONFIRMED'}"
    yield "END:VEVENT"


def _instant(at: datetime) -> str:
    return utc(at).strftime("%Y%m%dT%H%M%SZ")


def _time(at: datetime, name: str) -> str:
    """On the clock of the place. Of an hour that comes twice calendars take the first: the second is said in UTC."""
    there = local(at, zone(name))
    return f":{_instant(at)}" if there.fold else f";TZID={name}:{there.strftime('%Y%m%dT%H%M%S')}"


def _zones(entries: Sequence[tuple[Event, Sequence[Session]]]) -> Iterator[str]:
    """How the clocks are put, around each time that is mentioned."""
    years: dict[str, set[int]] = {}
    for event, sessions in entries:
        for at in (event.starts_at, event.ends_at, *(t for each in sessions for t in (each.starts_at, each.ends_at))):
            years.setdefault(event.time_zone, set()).update(range(at.year - 1, at.year + 2))
    # A calendar of nothing at all is none (RFC 5545, 3.6): where nothing is on there is a clock that nobody puts.
    years = years or {"UTC": {1970}}
    for name in sorted(years):
        yield "BEGIN:VTIMEZONE"
        yield f"TZID:{name}"
        yield from _observance(_as_before(name, min(years[name])))
        for change in (change for year in sorted(years[name]) for change in changes_in(name, year)):
            yield from _observance(change)
        yield "END:VTIMEZONE"


def _observance(change: Change) -> Iterator[str]:
    kind = "DAYLIGHT" if change.is_summer else "STANDARD"
    yield f"BEGIN:{kind}"
    # When it begins is told by the clocks that are about to be put.
    yield f"DTSTART:{(utc(change.at) + change.was).strftime('%Y%m%dT%H%M%S')}"
    yield f"TZOFFSETFROM:{_offset(change.was)}"
    yield f"TZOFFSETTO:{_offset(change.becomes)}"
    yield f"TZNAME:{escaped(change.name)}"
    yield f"END:{kind}"


def _offset(by: timedelta) -> str:
    seconds = int(by.total_seconds())
    minutes, odd = divmod(abs(seconds), 60)
    return f"{'-' if seconds < 0 else '+'}{minutes // 60:02}{minutes % 60:02}" + (f"{odd:02}" if odd else "")


def _as_before(name: str, year: int) -> Change:
    """How the clocks stand when the first of these years begins."""
    at = datetime(year, 1, 1, tzinfo=UTC)
    there = local(at, zone(name))
    offset = there.utcoffset() or timedelta()
    return Change(at, offset, offset, there.tzname() or name, bool(there.dst()))


@lru_cache(maxsize=4096)
def changes_in(name: str, year: int) -> tuple[Change, ...]:
    """When the clocks of a zone are put, from one new year to the next by UTC."""
    where, at, end = zone(name), datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    found = []
    while at < end:
        then = min(at + WEEK, end)
        if _state(at, where) != _state(then, where):
            found.append(_change(at, then, where))
        at = then
    return tuple(found)


def _state(at: datetime, where: ZoneInfo) -> tuple[timedelta, str]:
    there = local(at, where)
    return there.utcoffset() or timedelta(), there.tzname() or ""


def _change(low: datetime, high: datetime, where: ZoneInfo) -> Change:
    """To the second, between two instants of which one is before it and one is not."""
    before = _state(low, where)
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        low, high = (middle, high) if _state(middle, where) == before else (low, middle)
    there = local(high, where)
    offset, name = _state(high, where)
    return Change(high, before[0], offset, name, bool(there.dst()))
