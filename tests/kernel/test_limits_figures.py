"""The figures that are closed stand in the code as they stand in the appendix, and do what they say."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from admitone.kernel import figures, limits
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.limits import Hit, Limit, Per
from admitone.kernel.scope import PlatformScope, Role
from admitone.kernel.streaks import Streak

MINUTES = 60
SCOPE = PlatformScope("test figures", Role.AUTHORITY)
OPENING = datetime(2026, 6, 1, 21, tzinfo=UTC)

LIMITS = [
    # Appendix A1
    ("LOGIN_PER_ADDRESS", 10, 10 * MINUTES, Per.ADDRESS, ()),
    ("LOGIN_PER_IDENTITY", 5, 10 * MINUTES, Per.REQUEST, (15, 60)),
    ("LOGIN_PER_DEVICE", 5, 10 * MINUTES, Per.REQUEST, (15, 60)),
    ("LOGIN_OF_DEVICES_PER_ADDRESS", 60, 10 * MINUTES, Per.ADDRESS, ()),
    ("RESET_PER_IDENTITY", 3, 30 * MINUTES, Per.REQUEST, ()),
    ("CHECKOUT_PER_IDENTITY_AND_SOURCE", 10, 5 * MINUTES, Per.IDENTITY_AND_REQUEST, ()),
    ("CHECKOUT_PER_ADDRESS", 30, 5 * MINUTES, Per.ADDRESS, ()),
    ("INVITE_PER_ADDRESS", 10, 10 * MINUTES, Per.ADDRESS, ()),
    ("INVITE_PER_DEVICE", 10, 10 * MINUTES, Per.DEVICE, ()),
    ("SCANS_PER_DEVICE_BURST", 120, 1 * MINUTES, Per.DEVICE, ()),
    ("SCANS_PER_DEVICE_MEAN", 600, 10 * MINUTES, Per.DEVICE, ()),
    # Appendix A3
    ("FREE_CHECKOUT_PER_IDENTITY", 5, 10 * MINUTES, Per.IDENTITY, (15, 60)),
    ("FREE_CHECKOUT_PER_ADDRESS", 10, 10 * MINUTES, Per.ADDRESS, ()),
    # Ours: "several identities on one device or address" has no figure there.
    ("FREE_CHECKOUT_SEEN", 1, 10 * MINUTES, Per.REQUEST, ()),
    ("FREE_CHECKOUT_PEOPLE_PER_DEVICE", 3, 10 * MINUTES, Per.REQUEST, ()),
    ("FREE_CHECKOUT_PEOPLE_PER_ADDRESS", 5, 10 * MINUTES, Per.REQUEST, ()),
    # CPN-031, CPN-032
    ("COUPONS_PER_IDENTITY", 3, 1 * MINUTES, Per.IDENTITY, ()),
    ("VALIDATIONS_PER_MERCHANT", 60, 1 * MINUTES, Per.ORGANIZATION, ()),
]

STREAKS = [
    # Appendix A1, A7, A3; CPN-033
    ("DENIED_IN_A_ROW", 10, 12 * 60 * MINUTES, True, True, 5),
    ("DENIED_PER_EVENT_AND_DEVICE", 20, 10 * MINUTES, False, True, 5),
    ("FREE_CHECKOUT_FAILURES", 3, 10 * MINUTES, False, True, 0),
    ("COUPON_FAILURES", 5, 12 * 60 * MINUTES, True, False, 15),
]


@pytest.mark.parametrize(("name", "count", "seconds", "per", "cooldown"), LIMITS, ids=[row[0] for row in LIMITS])
def test_a_limit_is_what_the_appendix_says(name: str, count: int, seconds: int, per: Per, cooldown: tuple) -> None:
    limit: Limit = getattr(figures, name)
    assert (limit.count, limit.seconds, limit.per) == (count, seconds, per)
    assert limit.cooldown == tuple(timedelta(minutes=step) for step in cooldown)


@pytest.mark.parametrize(("name", "count", "seconds", "in_a_row", "step_up", "pause"), STREAKS, ids=lambda v: str(v))
def test_a_streak_is_what_the_appendix_says(
    name: str, count: int, seconds: int, in_a_row: bool, step_up: bool, pause: int
) -> None:
    streak: Streak = getattr(figures, name)
    assert (streak.count, streak.seconds, streak.in_a_row, streak.step_up) == (count, seconds, in_a_row, step_up)
    assert streak.pause == timedelta(minutes=pause)


def test_every_figure_is_in_the_table_and_counts_for_itself() -> None:
    declared = {name: value for name, value in vars(figures).items() if isinstance(value, Limit | Streak)}
    assert set(declared) == {row[0] for row in (*LIMITS, *STREAKS)}
    assert len({value.name for value in declared.values()}) == len(declared)


async def scans(database: Database, device: str, second: int, number: int) -> int:
    """How many of so many scans at once are let through."""
    hits = [Hit(limit, device) for _ in range(number) for limit in figures.SCANS_PER_DEVICE]
    now = OPENING + timedelta(seconds=second)
    verdicts = await database.run(SCOPE, lambda tx: limits.count(replace(tx, now=now), hits))
    pairs = zip(verdicts[::2], verdicts[1::2], strict=True)
    return sum(burst is None and mean is None for burst, mean in pairs)


async def test_a_scanner_may_burst_but_not_all_evening(database: Database) -> None:
    """120 in a minute for five minutes, then nothing until ten are over: 60 a minute in the mean."""
    device = str(uuid7())
    for minute in range(5):
        assert await scans(database, device, 60 * minute, 121) == (120 if minute < 4 else 116)
    assert await scans(database, device, 360, 1) == 0
    assert await scans(database, device, 600, 121) == 120


async def test_a_scanner_at_its_mean_pace_is_never_stopped(database: Database) -> None:
    device = str(uuid7())
    for second in range(0, 3600, 15):
        assert await scans(database, device, second, 15) == 15
