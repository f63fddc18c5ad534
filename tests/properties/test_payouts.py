"""When owners are paid and how much, whatever the day, the clock and the debts."""

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as some

from admitone.finance.payouts.model import (
    SYSTEM,
    Frequency,
    KnownSchedule,
    Obligation,
    ObligationId,
    ObligationState,
    Schedule,
)
from admitone.finance.payouts.policy import (
    Position,
    Schedules,
    drafts_of,
    eligible_at,
    following,
    latest,
    paid_at,
    weighed,
)
from admitone.finance.sources.api import PaymentId

OWNER = UUID(int=1)
NEVER: frozenset[date] = frozenset()

days_of_week = some.integers(0, 6)
schedules = some.one_of(
    some.builds(Schedule, some.just(Frequency.WEEKLY), days_of_week),
    some.builds(Schedule, some.just(Frequency.BIWEEKLY), days_of_week),
    some.builds(Schedule, some.just(Frequency.MONTHLY), some.none(), some.integers(1, 31)),
    some.just(Schedule(Frequency.ON_CHECKOUT)),
)
START, STOP = datetime(2020, 1, 1), datetime(2040, 1, 1)  # noqa: DTZ001, the strategy adds the zone
instants = some.datetimes(START, STOP, timezones=some.just(UTC))
zones = some.sampled_from([ZoneInfo(name) for name in ("Europe/Lisbon", "America/Sao_Paulo", "Pacific/Apia", "UTC")])


@pytest.mark.covers("MOR-030", "MOR-031")
@given(schedules, instants)
def test_every_moment_lies_between_one_payout_day_and_the_next(schedule: Schedule, now: datetime):
    day, after = latest(schedule, now), following(schedule, now)
    assert day <= now < after
    assert latest(schedule, day) == day and latest(schedule, after) == after
    assert latest(schedule, after - timedelta(microseconds=1)) == day
    assert {each.hour + each.minute + each.second for each in (day, after)} == {0}
    assert day.tzinfo is UTC


@pytest.mark.covers("MOR-030")
@given(schedules, instants, zones)
def test_a_payout_day_is_the_same_wherever_it_is_asked_for(schedule: Schedule, now: datetime, zone: ZoneInfo):
    """Also in the night in which the clocks there are put forward or back."""
    assert latest(schedule, now.astimezone(zone)) == latest(schedule, now)
    assert following(schedule, now.astimezone(zone)) == following(schedule, now)


@pytest.mark.covers("MOR-031")
@given(some.integers(1, 31), instants)
def test_a_month_without_such_a_day_pays_on_its_last(day_of_month: int, now: datetime):
    day = latest(Schedule(Frequency.MONTHLY, day_of_month=day_of_month), now).date()
    last = monthrange(day.year, day.month)[1]
    assert day.day == min(day_of_month, last)


@pytest.mark.covers("MOR-031")
@given(days_of_week, instants)
def test_every_other_week_is_every_second_of_the_weekly_days(day_of_week: int, now: datetime):
    weekly, biweekly = Schedule(Frequency.WEEKLY, day_of_week), Schedule(Frequency.BIWEEKLY, day_of_week)
    day = latest(biweekly, now)
    assert day.weekday() == day_of_week
    assert latest(weekly, now) - day in (timedelta(), timedelta(days=7))
    assert following(biweekly, now) - day == timedelta(days=14)


@pytest.mark.parametrize(
    ("schedule", "now", "day"),
    [
        # The nights in which Lisbon's and New York's clocks change: an hour more or less there is none in UTC.
        (SYSTEM, "2026-03-29T01:30+00:00", "2026-03-23"),
        (SYSTEM, "2026-03-30T00:00+01:00", "2026-03-23"),
        (SYSTEM, "2026-03-30T01:00+01:00", "2026-03-30"),
        (SYSTEM, "2026-10-25T23:59+00:00", "2026-10-19"),
        (SYSTEM, "2026-10-26T00:00+00:00", "2026-10-26"),
        (Schedule(Frequency.MONTHLY, day_of_month=31), "2026-02-27T23:59+00:00", "2026-01-31"),
        (Schedule(Frequency.MONTHLY, day_of_month=31), "2026-02-28T00:00+00:00", "2026-02-28"),
        (Schedule(Frequency.MONTHLY, day_of_month=31), "2028-02-28T12:00+00:00", "2028-01-31"),
        (Schedule(Frequency.MONTHLY, day_of_month=31), "2028-02-29T12:00+00:00", "2028-02-29"),
        (Schedule(Frequency.MONTHLY, day_of_month=30), "2026-03-01T00:00+00:00", "2026-02-28"),
        (Schedule(Frequency.MONTHLY, day_of_month=1), "2026-12-31T23:59+00:00", "2026-12-01"),
        (Schedule(Frequency.MONTHLY, day_of_month=1), "2027-01-01T00:00+00:00", "2027-01-01"),
        (Schedule(Frequency.ON_CHECKOUT), "2026-12-31T23:59+00:00", "2026-12-31"),
    ],
)
@pytest.mark.covers("MOR-031")
def test_days_at_the_ends_of_months_and_of_summer(schedule: Schedule, now: str, day: str):
    assert latest(schedule, datetime.fromisoformat(now)).date() == date.fromisoformat(day)


@pytest.mark.covers("MOR-030", "MOR-031")
@pytest.mark.parametrize(
    ("left", "hold_days", "monday"),
    [
        ("2026-02-14T20:00+00:00", 0, "2026-02-16"),
        ("2026-02-15T00:00+00:00", 0, "2026-02-16"),
        ("2026-02-15T23:00+00:00", 0, "2026-02-23"),
        ("2026-02-14T20:00+00:00", 1, "2026-02-23"),
        ("2026-02-13T20:00+00:00", 1, "2026-02-16"),
        ("2026-02-13T20:00+00:00", 9, "2026-03-02"),
    ],
)
def test_a_day_of_grace_and_the_days_that_it_is_held_come_before_the_monday(left: str, hold_days: int, monday: str):
    eligible = eligible_at(datetime.fromisoformat(left), hold_days)
    assert paid_at(SYSTEM, eligible).date() == date.fromisoformat(monday)


@pytest.mark.covers("MOR-032")
def test_a_property_comes_before_its_owner_and_the_owner_before_the_system():
    first = Schedule(Frequency.MONTHLY, day_of_month=1)
    daily = Schedule(Frequency.ON_CHECKOUT)
    known = Schedules([KnownSchedule(OWNER, "villa", first, 1), KnownSchedule(OWNER, "", daily, 1)])
    assert [known.of(OWNER, key) for key in ("villa", "flat", "")] == [first, daily, daily]
    assert known.of(UUID(int=2), "villa") == SYSTEM


# -- How much


positions = some.builds(Position, some.integers(-10_000, 10_000), some.integers(0, 10_000), some.integers(0, 5_000))
amounts = some.lists(some.integers(1, 3_000), min_size=1, max_size=6)


def an_obligation(minor: int, eligible: str = "2026-02-15T20:00+00:00", **more: str) -> Obligation:
    at = datetime.fromisoformat(eligible)
    return Obligation(
        id=ObligationId.new(),
        payment=PaymentId.new(),
        owner=OWNER,
        city_code=more.get("city_code", "GLOBAL"),
        property_key=more.get("property_key", ""),
        livemode=False,
        currency="EUR",
        due_minor=minor,
        amount_minor=minor,
        checked_out_at=at - timedelta(days=1),
        hold_days=0,
        eligible_at=at,
        state=ObligationState.DUE,
    )


MONDAY = datetime(2026, 2, 16, tzinfo=UTC)


@pytest.mark.covers("MOR-037")
@given(amounts, some.integers(0, 10_000), some.integers(-20_000, 20_000), some.integers(0, 5_000))
def test_what_is_paid_is_never_more_than_the_ledger_owes(minors: list[int], rest: int, owed: int, committed: int):
    """And a debt is recovered once: whatever is open, paid and owed afterwards is what it was."""
    due = [an_obligation(minor) for minor in minors]
    before = Position(owed, sum(minors) + rest, committed)
    drafts = drafts_of(due, Schedules([]), before, NEVER, MONDAY)
    for draft in drafts:
        assert 0 < draft.amount_minor <= before.available_minor
        after = before.after(draft.gross_minor, draft.amount_minor)
        assert draft.recovered_minor == before.debt_minor
        assert after.debt_minor == 0
        assert weighed(draft.gross_minor, before) == (draft.amount_minor, draft.recovered_minor)
    if not drafts:
        assert before.debt_minor >= sum(minors)


@given(amounts, amounts, positions)
def test_two_payout_days_at_once_recover_a_debt_once(now: list[int], later: list[int], position: Position):
    monthly = Schedule(Frequency.MONTHLY, day_of_month=16)
    daily = Schedule(Frequency.ON_CHECKOUT)
    known = Schedules([KnownSchedule(OWNER, "a", monthly, 1), KnownSchedule(OWNER, "b", daily, 1)])
    due = [an_obligation(each, property_key="a") for each in now]
    due += [an_obligation(each, property_key="b") for each in later]
    whole = Position(position.owed_minor, sum(now) + sum(later), position.committed_minor)
    drafts = drafts_of(due, known, whole, NEVER, MONDAY + timedelta(days=1))
    assert sum(each.amount_minor for each in drafts) <= max(whole.available_minor, 0)
    assert sum(each.recovered_minor for each in drafts) <= whole.debt_minor
    assert len({each.period for each in drafts}) == len(drafts)


@pytest.mark.covers("MOR-031")
@given(amounts, some.integers(0, 8_000))
def test_what_is_less_than_the_threshold_waits(minors: list[int], threshold: int):
    known = Schedules([KnownSchedule(OWNER, "", Schedule(Frequency.WEEKLY, 0, None, threshold), 1)])
    due = [an_obligation(minor) for minor in minors]
    whole = Position(sum(minors), sum(minors), 0)
    drafts = drafts_of(due, known, whole, NEVER, MONDAY)
    assert bool(drafts) == (sum(minors) >= threshold)


def test_a_payout_of_several_cities_is_of_none():
    due = [an_obligation(100, city_code="LISBON"), an_obligation(100, city_code="PORTO")]
    [draft] = drafts_of(due, Schedules([]), Position(200, 200, 0), NEVER, MONDAY)
    assert draft.city_code == "GLOBAL"
    [draft] = drafts_of(due[:1], Schedules([]), Position(100, 100, 0), NEVER, MONDAY)
    assert draft.city_code == "LISBON"


@pytest.mark.covers("MOR-036")
def test_a_day_that_was_paid_is_not_paid_again():
    due = [an_obligation(100)]
    position = Position(100, 100, 0)
    assert drafts_of(due, Schedules([]), position, {MONDAY.date()}, MONDAY + timedelta(days=6)) == []
    [next_week] = drafts_of(due, Schedules([]), position, {MONDAY.date()}, MONDAY + timedelta(days=7))
    assert next_week.period == date(2026, 2, 23)
