"""Charts: amounts in a row become bars that a template draws.

Promise: the axis has zero on it, so that a bar is as long as what it stands for; what is below zero hangs from it, and
is of another kind. Nothing is drawn of nothing. Every value is told in the table behind the chart as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Final

WIDTH: Final = 400
HEIGHT: Final = 220
ABOVE: Final = 12
BELOW: Final = 28
"""Room for the words under the bars."""
LETTER: Final = 8
"""About as wide as a figure of the axis."""
WIDEST_WORD: Final = 130
TICKS: Final = 4
GAP: Final = 0.2
"""Between bars, as a part of one."""
QUARTER: Final = timedelta(minutes=15)
MOST_QUARTERS: Final = 96
"""A day: beyond that only those are shown in which something happened."""
MOST_DAYS: Final = 92
"""Beyond that, days are told by the week."""


@dataclass(frozen=True)
class Point:
    """One amount, what it belongs to, and how it is said."""

    label: str
    value: int
    shown: str
    leads_to: str = ""
    """Where what it is made of is shown, if it is."""


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    point: Point

    @property
    def is_minus(self) -> bool:
        return self.point.value < 0


@dataclass(frozen=True)
class Tick:
    """A line across, and what it stands for."""

    y: float
    word: str
    width: float | None
    """Into which the word is pressed, if it is too long."""


@dataclass(frozen=True)
class Chart:
    points: tuple[Point, ...]
    bars: tuple[Bar, ...] = ()
    ticks: tuple[Tick, ...] = ()
    left: float = 0
    """Where the bars begin."""
    zero: float = 0
    """Where nothing is."""
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def is_empty(self) -> bool:
        return not self.points

    @property
    def has_minus(self) -> bool:
        return any(each.is_minus for each in self.bars)

    @property
    def ends(self) -> tuple[str, ...]:
        """The words under the first bar and the last."""
        return tuple(dict.fromkeys((self.points[0].label, self.points[-1].label))) if self.points else ()


def chart(points: Sequence[Point], said: Callable[[int], str]) -> Chart:
    """Bars of these, in this order; the axis says amounts as they are said here."""
    if not points:
        return Chart(())
    marks = marks_of(min(each.value for each in points), max(each.value for each in points))
    words = [said(each) for each in marks]
    left = min(max(map(len, words)) * LETTER, WIDEST_WORD) + 8
    scale = _Scale(marks[0], marks[-1])
    slot = (WIDTH - left) / len(points)
    return Chart(
        tuple(points),
        tuple(_bar(each, left + slot * place, slot, scale) for place, each in enumerate(points)),
        tuple(_tick(mark, word, scale) for mark, word in zip(marks, words, strict=True)),
        round(left, 2),
        scale.y(0),
    )


def marks_of(lowest: int, highest: int) -> list[int]:
    """Round numbers that hold all of it, zero among them."""
    low, high = min(lowest, 0), max(highest, 0)
    if low == high:
        return [0]
    step = _round_step(high - low)
    return [number * step for number in range(low // step, -(-high // step) + 1)]


def _round_step(span: int) -> int:
    """One, two or five, with noughts: the smallest by which few lines are enough."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if factor * step * TICKS >= span:
                return factor * step
        step *= 10


@dataclass(frozen=True)
class _Scale:
    low: int
    high: int

    def y(self, value: int) -> float:
        """From the top. Whole numbers are divided last: the largest amounts are larger than a float is exact."""
        room = HEIGHT - ABOVE - BELOW
        span = (self.high - self.low) or 1
        return round(ABOVE + room * (self.high - value) / span if self.high != self.low else ABOVE + room, 2)


def _bar(point: Point, x: float, slot: float, scale: _Scale) -> Bar:
    top, bottom = sorted((scale.y(point.value), scale.y(0)))
    return Bar(round(x + slot * GAP / 2, 2), top, round(slot * (1 - GAP), 2), round(bottom - top, 2), point)


def _tick(mark: int, word: str, scale: _Scale) -> Tick:
    return Tick(scale.y(mark), word, WIDEST_WORD if len(word) * LETTER > WIDEST_WORD else None)


# -- Rows without gaps


def every_day(first: date, last: date, amounts: dict[date, int]) -> list[tuple[date, int]]:
    """Each day from the first to the last, or where they are many each week, by the day on which it begins."""
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    pairs = [(day, amounts.get(day, 0)) for day in days]
    if len(pairs) <= MOST_DAYS:
        return pairs
    weeks = groupby(pairs, key=lambda pair: pair[0] - timedelta(days=pair[0].weekday()))
    return [(max(week, first), sum(amount for _, amount in inside)) for week, inside in weeks]


def every_quarter(amounts: dict[datetime, int]) -> list[tuple[datetime, int]]:
    """From the first in which something happened to the last; where that is long, only those."""
    if not amounts:
        return []
    first, last = min(amounts), max(amounts)
    count = (last - first) // QUARTER + 1
    if count > MOST_QUARTERS:
        return sorted(amounts.items())
    return [(each, amounts.get(each, 0)) for each in (first + QUARTER * number for number in range(count))]
