"""The figures of one look, as Prometheus sees them.

Promise: a gauge shows what was measured last; what is gone is taken away, never left standing at its last value.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Gauge

from admitone.kernel.alerts.figures import Figures
from admitone.kernel.alerts.sights import Gauged, Labels, Sighting


class Gauges:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._depth = _Labelled(
            "admitone_job_depth", "Jobs by kind, lane and state.", ("kind", "lane", "state"), registry
        )
        self._oldest = _Labelled(
            "admitone_job_oldest_seconds",
            "For how long the oldest job that could run has been due.",
            ("kind", "lane"),
            registry,
        )
        self._letters = _Labelled(
            "admitone_dead_letters", "Dead letters that nobody has replayed.", ("kind", "reason"), registry
        )
        self._oldest_letter = _Labelled(
            "admitone_dead_letter_oldest_seconds", "The age of the oldest dead letter.", ("kind",), registry
        )
        self._pending = Gauge("admitone_outbox_pending", "Facts that are not told yet.", registry=registry)
        self._oldest_fact = Gauge(
            "admitone_outbox_oldest_seconds", "The age of the oldest fact that is not told yet.", registry=registry
        )
        self._put_off = Gauge("admitone_outbox_put_off", "Facts that no version here knows.", registry=registry)
        self._short_logs = Gauge("admitone_logs_without_partition", "Logs that end within a week.", registry=registry)
        self._up = Gauge("admitone_database_up", "Whether this process reaches its database.", registry=registry)
        self._open = _Labelled("admitone_alerts_seen", "Alerts that this process sees.", ("rule", "class"), registry)

    def show(self, figures: Figures) -> None:
        depth: dict[Labels, float] = defaultdict(float)
        oldest: dict[Labels, float] = defaultdict(float)
        for each in figures.depths:
            depth[each.kind, each.lane, each.state] += each.jobs
            if each.state in ("ready", "suspect"):
                late = figures.age(each.oldest_at)
                oldest[each.kind, each.lane] = max(oldest[each.kind, each.lane], late)
        letters: dict[Labels, float] = defaultdict(float)
        oldest_letter: dict[Labels, float] = defaultdict(float)
        for sort in figures.letters:
            letters[sort.kind, sort.reason] += sort.letters
            oldest_letter[sort.kind,] = max(oldest_letter[sort.kind,], figures.age(sort.died_at))
        self._depth.show(depth)
        self._oldest.show(oldest)
        self._letters.show(letters)
        self._oldest_letter.show(oldest_letter)
        self._pending.set(figures.outbox.pending)
        self._oldest_fact.set(figures.age(figures.outbox.oldest_at))
        self._put_off.set(figures.outbox.put_off)
        self._short_logs.set(len(figures.short_logs))

    def show_database(self, *, up: bool) -> None:
        self._up.set(up)

    def show_alerts(self, seen: Mapping[Labels, float]) -> None:
        self._open.show(seen)


class SightGauges:
    """What sights show."""

    def __init__(self, registry: CollectorRegistry, gauges: Iterable[Gauged]) -> None:
        self._gauges = {each: _Labelled(each.name, each.about, each.labels, registry) for each in gauges}

    def show(self, sightings: Iterable[Sighting]) -> None:
        shown: dict[Gauged, Mapping[Labels, float]] = {}
        for each in sightings:
            shown |= each.shown
        for gauge, labelled in self._gauges.items():
            labelled.show(shown.get(gauge, {}))


class _Labelled:
    """A gauge whose labels come and go."""

    def __init__(self, name: str, about: str, labels: Labels, registry: CollectorRegistry) -> None:
        self._gauge = Gauge(name, about, labels, registry=registry)
        self._shown: set[Labels] = set()

    def show(self, values: Mapping[Labels, float]) -> None:
        for labels, value in values.items():
            self._gauge.labels(*labels).set(value)
        for gone in self._shown - values.keys():
            self._gauge.remove(*gone)
        self._shown = set(values)
