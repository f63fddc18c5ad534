"""Sights: what a package looks at while the watch watches; and how quick a contract promises to be.

Promise: a sight is read by every process that watches, each so often and no more; what it saw stands until it is read
again. What it tells its rules is raised and resolved as the kernel's own is; what it shows is shown to Prometheus, and
gone when it is gone. A sight that fails is said to have failed, and blinds no other.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from admitone.kernel.alerts.figures import Reading
from admitone.kernel.alerts.model import AlertRule, ShareAbove
from admitone.kernel.db import PlatformTx

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gauged:
    """A figure by labels. They come and go, and there are never many."""

    name: str
    about: str
    labels: Labels


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen."""

    readings: Sequence[Reading] = ()
    shown: Mapping[Gauged, Mapping[Labels, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sight:
    name: str
    look: Callable[[PlatformTx], Awaitable[Sighting]]
    rules: tuple[AlertRule, ...]
    """Of its readings: resolved when nobody sees them any more."""
    gauges: tuple[Gauged, ...] = ()
    every_seconds: float = 15


@dataclass(frozen=True, slots=True)
class Pace:
    """Of the answers of a contract no more than so many take so long: a percentile, as a rule."""

    contract: str
    rule: AlertRule

    def __post_init__(self) -> None:
        if not isinstance(self.rule.threshold, ShareAbove) or self.rule.threshold.beyond is None:
            raise TypeError(f"{self.rule.name}: says neither how many nor how long")

    @property
    def seconds(self) -> float:
        assert isinstance(self.rule.threshold, ShareAbove)
        assert self.rule.threshold.beyond is not None
        return self.rule.threshold.beyond


@dataclass(frozen=True, slots=True)
class Uptime:
    """Of the answers of a contract no more than so many are 5xx: errors of ours, and what took too long."""

    contract: str
    rule: AlertRule

    def __post_init__(self) -> None:
        if not isinstance(self.rule.threshold, ShareAbove) or self.rule.threshold.beyond is not None:
            raise TypeError(f"{self.rule.name}: says how many, and not how long")
