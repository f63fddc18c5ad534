"""Thresholds against series that were made up: exactly at, just under and just over each limit and each window."""

from datetime import UTC, datetime, timedelta

import pytest

from admitone.kernel.alerts import rules
from admitone.kernel.alerts.model import Above, AlertRule, Level, ShareAbove, Tally
from admitone.kernel.alerts.policy import FINENESS, breached, still_needed

BEGAN = datetime(2026, 3, 1, 2, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def levels(*pairs: tuple[float, float]) -> list[Level]:
    return [Level(at(seconds), value) for seconds, value in pairs]


def tallies(*triples: tuple[float, float, float]) -> list[Tally]:
    """Seconds, how many were bad, how many there were, since the process began."""
    return [Tally(at(seconds), bad, counted) for seconds, bad, counted in triples]


LEVELS = [
    (rules.DEAD_CRITICAL, levels((0, 0)), False),
    (rules.DEAD_CRITICAL, levels((0, 1)), True),
    (rules.DEAD_CRITICAL, levels((0, 0), (1, 1)), True),
    (rules.DEAD_CRITICAL, levels((0, 1), (1, 0)), False),
    (rules.RETRIES_EXHAUSTED, levels((0, 0)), False),
    (rules.RETRIES_EXHAUSTED, levels((0, 1)), True),
    (rules.DEAD, levels((0, 1), (599.999, 1)), False),
    (rules.DEAD, levels((0, 1), (600, 1)), True),
    (rules.DEAD, levels((0, 1), (300, 0), (600, 1)), False),
    (rules.DEAD, levels((0, 1), (300, 0), (301, 1), (900, 1)), False),
    (rules.DEAD, levels((0, 1), (300, 0), (301, 1), (901, 1)), True),
    (rules.DEAD, levels((0, 1), (600, 0)), False),
    (rules.DEAD, levels((0, 5)), False),
    (rules.CRITICAL_DELAY, levels((0, 119.999)), False),
    (rules.CRITICAL_DELAY, levels((0, 120)), False),
    (rules.CRITICAL_DELAY, levels((0, 120.001)), True),
    (rules.NOT_CLAIMED, levels((0, 301), (899, 1200)), False),
    (rules.NOT_CLAIMED, levels((0, 301), (900, 1201)), True),
    (rules.NOT_CLAIMED, levels((0, 300), (900, 1201)), False),
    (rules.RELAY_STUCK, levels((0, 120)), False),
    (rules.RELAY_STUCK, levels((0, 120.001)), True),
    (rules.UNKNOWN_FACTS, levels((0, 1), (599.999, 1)), False),
    (rules.UNKNOWN_FACTS, levels((0, 1), (600, 1)), True),
    (rules.NO_PARTITION, levels((0, 1)), True),
    (rules.NO_PARTITION, levels((0, 0)), False),
    (rules.DATABASE_DOWN, levels((0, 1), (29.999, 1)), False),
    (rules.DATABASE_DOWN, levels((0, 1), (30, 1)), True),
    (rules.DATABASE_DOWN, levels((0, 1), (15, 0), (30, 1)), False),
]


@pytest.mark.parametrize(("rule", "series", "expected"), LEVELS)
def test_a_level_above_its_limit_for_as_long_as_its_window(rule: AlertRule, series: list[Level], expected: bool):
    assert breached(rule.threshold, series) is expected


SHARES = [
    (rules.ERRORS, tallies((0, 0, 0), (300, 1, 100)), False),
    (rules.ERRORS, tallies((0, 0, 0), (300, 1, 99)), True),
    (rules.ERRORS, tallies((0, 0, 0), (300, 2, 100)), True),
    (rules.MANY_ERRORS, tallies((0, 0, 0), (300, 3, 100)), False),
    (rules.MANY_ERRORS, tallies((0, 0, 0), (300, 31, 1000)), True),
    (rules.MANY_ERRORS, tallies((0, 0, 0), (300, 29, 1000)), False),
    # What was bad before the window is forgotten, to the second.
    (rules.MANY_ERRORS, tallies((0, 0, 0), (10, 100, 100), (310, 100, 200)), False),
    (rules.MANY_ERRORS, tallies((0, 0, 0), (10, 100, 100), (309.999, 100, 200)), True),
    # A process that has not lived as long as the window is judged by what it has done.
    (rules.MANY_ERRORS, tallies((0, 0, 0), (5, 1, 1)), True),
    # Nobody called.
    (rules.ERRORS, tallies((0, 0, 0), (300, 0, 0)), False),
    (rules.ERRORS, tallies((0, 5, 9), (300, 5, 9)), False),
    (rules.ERRORS, tallies((0, 7, 7)), False),
    # The 95th percentile of waits is above five minutes when more than 5 % waited longer.
    (rules.SLOW, tallies((0, 0, 0), (900, 5, 100)), False),
    (rules.SLOW, tallies((0, 0, 0), (900, 51, 1000)), True),
    (rules.SLOW, tallies((0, 0, 0), (900, 49, 1000)), False),
    (rules.SLOW, tallies((0, 0, 0), (5, 50, 50), (905, 50, 60)), False),
    (rules.SLOW, tallies((0, 0, 0), (5, 50, 50), (904.999, 50, 60)), True),
]


@pytest.mark.parametrize(("rule", "series", "expected"), SHARES)
def test_a_share_above_its_limit_within_its_window(rule: AlertRule, series: list[Tally], expected: bool):
    assert breached(rule.threshold, series) is expected


TABLE = {
    "jobs.dead_critical": ("PAGER", Above(0)),
    "jobs.dead": ("PAGER", Above(0, 600)),
    "jobs.retries_exhausted": ("PAGER", Above(0)),
    "jobs.slow": ("TICKET", ShareAbove(5, 900, beyond=300)),
    "jobs.critical_delay": ("PAGER", Above(120)),
    "api.errors": ("TICKET", ShareAbove(1, 300)),
    "api.many_errors": ("PAGER", ShareAbove(3, 300)),
}
"""OPS-002, the rows that concern jobs and the API."""


def test_the_rules_are_those_of_the_table():
    declared = {rule.name: (rule.alert_class.value, rule.threshold) for rule in rules.RULES}
    assert declared.items() >= TABLE.items()


def test_no_samples_breach_nothing():
    assert not any(breached(rule.threshold, []) for rule in rules.RULES)


def test_days_are_remembered_by_as_much_as_an_hour():
    """Looked at every minute for four days, and the share over the last three is still what it was."""
    threshold, a_day = ShareAbove(0.1, seconds=72 * 3_600), 1_440
    kept: list[Tally] = []
    for look in range(4 * a_day):
        [now] = tallies((60 * look, 0.002 * max(look - a_day, 0), look))
        kept = [each for each in still_needed(threshold, [*kept, now]) if isinstance(each, Tally)]
    assert len(kept) <= 2 * FINENESS
    assert kept[-1].all - kept[0].all == pytest.approx(3 * a_day, rel=0.01)
    assert breached(threshold, kept)


@pytest.mark.parametrize(("rule", "series", "expected"), [*LEVELS, *SHARES])
def test_what_is_forgotten_changes_no_verdict(rule: AlertRule, series: list[Level] | list[Tally], expected: bool):
    kept: list = []
    for sample in series:
        kept = list(still_needed(rule.threshold, [*kept, sample]))
    assert breached(rule.threshold, kept) is expected
    span = kept[-1].at - kept[1].at if len(kept) > 1 else timedelta()
    assert span <= timedelta(seconds=rule.threshold.seconds)
