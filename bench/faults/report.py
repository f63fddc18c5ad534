"""What was done to a world, what clients were told, and what does not hold: enough to run it again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Report:
    scenario: str
    seed: int
    done: Sequence[str] = ()
    """What was broken, in order."""
    told: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    broken: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The complaints of every invariant that does not hold."""
    said: Sequence[str] = ()
    """Where the processes' own words are, if something is wrong."""

    @property
    def holds(self) -> bool:
        return not self.broken

    def __str__(self) -> str:
        counted = ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(self.told.items()))
        figures = ", ".join(f"{name} {value:,.2f}".removesuffix(".00") for name, value in self.figures.items())
        told = "; ".join(part for part in (f"{len(self.done)} blows", counted, figures) if part)
        lines = [f"{'ok  ' if self.holds else 'FAIL'} {self.scenario} seed {self.seed}: {told}"]
        if not self.holds:
            for name, wrong in self.broken.items():
                lines += [f"     {name}", *(f"       {each}" for each in wrong)]
            lines += [f"     {blow}" for blow in self.done]
            lines += [f"     said: {place}" for place in self.said]
            lines.append(f"     again: python -m bench.faults {self.scenario} --seed {self.seed}")
        return "\n".join(lines)
