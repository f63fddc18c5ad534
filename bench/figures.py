"""Figures: what was measured, what it must be, and whether it is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

ROUNDS = 3


@dataclass
class Figures:
    missed: list[str] = field(default_factory=list)

    def must(self, name: str, value: float, at_least: float, unit: str = "x") -> None:
        self._judge(name, value, value >= at_least, f"must be at least {at_least:g} {unit}", unit)

    def must_not_exceed(self, name: str, value: float, at_most: float, unit: str = "%") -> None:
        self._judge(name, value, value <= at_most, f"must be at most {at_most:g} {unit}", unit)

    def note(self, text: str) -> None:
        print(f"       {text}", flush=True)

    def _judge(self, name: str, value: float, reached: bool, demand: str, unit: str) -> None:
        print(f"{'ok  ' if reached else 'MISS'}   {name}: {value:.2f} {unit} ({demand})", flush=True)
        if not reached:
            self.missed.append(name)


def side_by_side(*measures: Callable[[], float], rounds: int = ROUNDS) -> list[float]:
    """The median of each, measured in turns, so that what else the machine does falls on all of them alike."""
    taken: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for results, measure in zip(taken, measures, strict=True):
            results.append(measure())
    return [median(results) for results in taken]


def ratio(*measures: Callable[[], float], rounds: int = ROUNDS) -> float:
    """The median of first over second, measured in turns."""
    first, second = measures
    pairs = [(first(), second()) for _ in range(rounds)]
    return median(one / other for one, other in pairs)
