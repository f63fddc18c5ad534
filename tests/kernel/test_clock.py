"""Time comes from the database, in UTC, and hours are hours."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from admitone.kernel.clock import Clock, UnknownZone, after, before, local, utc, zone

LISBON = zone("Europe/Lisbon")
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_the_clock_shows_the_time_of_the_database():
    assert Clock().at(NOON) == NOON


def test_a_test_can_travel():
    assert Clock(shift=timedelta(days=3)).at(NOON) == datetime(2026, 6, 4, 12, tzinfo=UTC)
    assert Clock().later(timedelta(hours=1)).later(timedelta(hours=1)).at(NOON).hour == 14


def test_whatever_zone_the_database_speaks_the_time_is_utc():
    shown = Clock().at(NOON.astimezone(timezone(timedelta(hours=-3))))
    assert shown.tzinfo is UTC and shown.hour == 12


@pytest.mark.parametrize(
    "use", [Clock().at, utc, lambda t: before(t, 1), lambda t: after(t, 1), lambda t: local(t, LISBON)]
)
def test_a_time_without_a_zone_is_refused(use):
    with pytest.raises(ValueError, match="without a zone"):
        use(datetime(2026, 6, 1, 12))  # noqa: DTZ001


# Lisbon: clocks go forward on 29 March 2026 at 01:00 UTC and back on 25 October 2026 at 01:00 UTC.
@pytest.mark.covers("PLT-040")
@pytest.mark.parametrize(
    ("starts", "window_opens"),
    [
        (datetime(2026, 3, 29, 20, tzinfo=LISBON), datetime(2026, 3, 28, 19, tzinfo=LISBON)),  # a day of 23 hours
        (datetime(2026, 10, 25, 20, tzinfo=LISBON), datetime(2026, 10, 24, 21, tzinfo=LISBON)),  # a day of 25 hours
        (datetime(2026, 6, 2, 20, tzinfo=LISBON), datetime(2026, 6, 1, 20, tzinfo=LISBON)),
    ],
)
def test_a_day_before_the_event_is_24_elapsed_hours_across_a_change_of_summer_time(starts, window_opens):
    opened = before(starts, hours=24)
    assert opened == window_opens
    assert utc(starts) - opened == timedelta(hours=24)
    assert local(opened, LISBON).replace(tzinfo=None) == window_opens.replace(tzinfo=None)
    assert after(opened, hours=24) == starts


@pytest.mark.covers("PLT-040")
def test_both_passes_of_the_hour_that_happens_twice_are_told_apart():
    first, second = datetime(2026, 10, 25, 1, 30, tzinfo=LISBON), datetime(2026, 10, 25, 1, 30, fold=1, tzinfo=LISBON)
    assert utc(second) - utc(first) == timedelta(hours=1)
    assert after(first, hours=1) == utc(second)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Lisbon",
        "Europe/Nowhere",
        "../etc/passwd",
        "/etc/passwd",
        "Europe",
        "Europe/",
        "/",
        "\x00",
        "Europe/Lisbon\x00",
        "é",
        "x" * 10_000,
        "a/" * 20,
        "posixrules/../x",
    ],
)
def test_what_is_not_a_zone_is_refused(name):
    with pytest.raises(UnknownZone):
        zone(name)


@pytest.mark.parametrize(
    "name",
    [
        "Europe/Lisbon",
        "America/Sao_Paulo",
        "Etc/GMT-3",
        "UTC",
        "America/Port-au-Prince",
        "America/Argentina/Buenos_Aires",
    ],
)
def test_zones_of_the_world_are_known(name):
    assert zone(name).key == name
