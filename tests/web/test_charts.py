"""Charts: bars as long as what they stand for, on an axis that has zero on it."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from admitone.kernel.words import Language, Words
from admitone.web.console.charts import (
    ABOVE,
    BELOW,
    HEIGHT,
    MOST_DAYS,
    QUARTER,
    WIDTH,
    Chart,
    Point,
    chart,
    every_day,
    every_quarter,
    marks_of,
)
from admitone.web.console.overview import arrivals


def of(*values: int) -> Chart:
    return chart([Point(f"day {number}", value, str(value)) for number, value in enumerate(values)], str)


def test_of_nothing_nothing_is_drawn():
    drawn = of()
    assert drawn.is_empty and not drawn.bars and drawn.ends == ()


def test_one_bar_has_the_room_and_its_word_stands_once():
    drawn = of(7)
    [bar] = drawn.bars
    assert bar.y >= ABOVE and bar.y + bar.height == drawn.zero == HEIGHT - BELOW
    assert bar.width > (WIDTH - drawn.left) / 2
    assert drawn.ends == ("day 0",)


def test_noughts_lie_on_the_line_and_have_no_scale_to_lie_about():
    drawn = of(0, 0, 0)
    assert [bar.height for bar in drawn.bars] == [0, 0, 0]
    assert [tick.word for tick in drawn.ticks] == ["0"]


@pytest.mark.parametrize("values", [(3, 1, 2), (-5, 10), (-3, -1), (1,), (10**15, 1), (2**62, -(2**62)), (99, 101)])
def test_every_axis_has_zero_on_it_and_every_bar_is_within(values: tuple[int, ...]):
    drawn = of(*values)
    assert 0 in marks_of(min(values), max(values))
    for bar in drawn.bars:
        assert bar.y >= ABOVE - 0.01 and bar.y + bar.height <= HEIGHT - BELOW + 0.01
        assert drawn.left <= bar.x and bar.x + bar.width <= WIDTH
    assert 2 <= len(drawn.ticks) <= 7


def test_a_bar_is_as_long_as_what_it_stands_for():
    small, large = of(10, 40).bars
    assert large.height == pytest.approx(4 * small.height, abs=0.02)


def test_what_is_below_zero_hangs_from_it_and_is_of_another_kind():
    drawn = of(20, -10)
    plus, minus = drawn.bars
    assert plus.y + plus.height == pytest.approx(drawn.zero, abs=0.02)
    assert minus.y == drawn.zero and minus.is_minus and not plus.is_minus
    assert drawn.has_minus


def test_a_word_that_is_too_long_is_pressed_into_its_room():
    drawn = chart([Point("day", 2**62, "much")], lambda value: f"{value:,}.00 EUR")
    assert drawn.left < WIDTH / 2
    assert any(tick.width for tick in drawn.ticks)


@pytest.mark.parametrize(
    ("lowest", "highest", "marks"),
    [(0, 0, [0]), (0, 1, [0, 1]), (0, 7, [0, 2, 4, 6, 8]), (-3, 9, [-5, 0, 5, 10]), (-4, -1, [-4, -3, -2, -1, 0])],
)
def test_marks_are_round(lowest: int, highest: int, marks: list[int]):
    assert marks_of(lowest, highest) == marks


def test_days_without_sales_are_days():
    first, last = date(2026, 2, 27), date(2026, 3, 2)
    assert every_day(first, last, {date(2026, 3, 1): 5}) == [
        (first, 0),
        (date(2026, 2, 28), 0),
        (date(2026, 3, 1), 5),
        (last, 0),
    ]


def test_many_days_are_told_by_the_week_and_none_is_lost():
    first = date(2026, 1, 1)
    last = first + timedelta(days=364)
    sold = {first + timedelta(days=number): 1 for number in range(365)}
    weeks = every_day(first, last, sold)
    assert sum(amount for _, amount in weeks) == 365
    assert len(weeks) < MOST_DAYS and weeks[0][0] == first
    assert all(day.weekday() == 0 for day, _ in weeks[1:])


def test_quarters_in_which_nobody_came_are_between_the_others():
    begins = datetime(2026, 6, 12, 20, 0, tzinfo=UTC)
    assert every_quarter({}) == []
    assert every_quarter({begins: 3, begins + 3 * QUARTER: 1}) == [
        (begins, 3),
        (begins + QUARTER, 0),
        (begins + 2 * QUARTER, 0),
        (begins + 3 * QUARTER, 1),
    ]
    far = begins + timedelta(days=20)
    assert every_quarter({far: 1, begins: 3}) == [(begins, 3), (far, 1)]


def test_each_day_of_a_festival_has_its_own_eight_o_clock():
    words, zone = Words(Language.ENGLISH), ZoneInfo("Europe/Lisbon")
    eight = datetime(2027, 7, 9, 19, 0, tzinfo=UTC)
    one = arrivals([(eight, 3), (eight + QUARTER, 1)], zone, words)
    assert [point.label for point in one] == [words.time(eight, zone), words.time(eight + QUARTER, zone)]
    three = arrivals([(eight + timedelta(days=day), 3) for day in range(3)], zone, words)
    assert len({point.label for point in three}) == 3
