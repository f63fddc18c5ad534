"""Scanners that are shown too much that is refused: warned of, closed, opened again."""

from typing import Any

import pytest

from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.errors import ScannerClosed
from admitone.entitlements.model import Scan, Verdict
from admitone.entitlements.policy import Alarm, alarm
from tests.entitlements.gates import NEVER_MADE
from tests.entitlements.rights import Hall, all_of
from tests.entitlements.test_throttles import first_code

ANOMALIES = """
    SELECT payload ->> 'device' AS device, payload ->> 'reasonCode' AS code, (payload ->> 'scans')::int AS scans
      FROM kernel.event_log WHERE organization_id = $1 AND type = 'risk.checkin_anomaly' ORDER BY id
"""


async def show(hall: Hall, *, good: int, bad: int, device: str = "north-1", **more: Any) -> list[Verdict]:
    """So many at once, the good ones first."""
    scans = [hall.a_scan(first_code(each), device=device) for each in await hall.grant_many(good)]
    scans += [hall.a_scan(NEVER_MADE, device=device) for _ in range(bad)]
    return await tell(hall, scans)


async def tell(hall: Hall, scans: list[Scan]) -> list[Any]:
    return [*await hall.database.run(hall.scope, lambda tx: consume(tx, scans))]


async def anomalies(hall: Hall) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in await all_of(hall, ANOMALIES)]


@pytest.mark.covers("SAF-016")
@pytest.mark.parametrize(
    ("scans", "refused", "follows"),
    [
        (29, 29, None),
        (30, 2, None),
        (30, 3, Alarm.WARN),
        (30, 5, Alarm.WARN),
        (30, 6, Alarm.CLOSE),
        (1_000, 99, None),
        (1_000, 100, Alarm.WARN),
        (1_000, 199, Alarm.WARN),
        (1_000, 200, Alarm.CLOSE),
    ],
)
def test_a_tenth_is_warned_of_and_a_fifth_closes_from_thirty_scans_on(scans: int, refused: int, follows: Alarm | None):
    assert alarm(scans, refused) is follows


@pytest.mark.covers("SAF-016")
async def test_the_thirtieth_scan_closes_the_scanner_and_no_other(hall: Hall):
    await show(hall, good=1, bad=28)
    assert await anomalies(hall) == [], "29 scans, however bad, are too few to tell"
    await show(hall, good=24, bad=5, device="north-2")
    [verdict] = await show(hall, good=0, bad=1)
    assert isinstance(verdict, Verdict), "the scan that closes it was asked in time"
    [refused] = await show(hall, good=1, bad=0)
    assert isinstance(refused, ScannerClosed)
    assert await anomalies(hall) == [("north-1", "RISK_CHECKIN_ANOMALY_BLOCK", 30)]
    [elsewhere] = await show(hall, good=1, bad=0, device="north-2")
    assert elsewhere.allow
    other_event = hall.a_scan(NEVER_MADE, device="north-1", event="evt-matinee")
    [at_another_event] = await tell(hall, [other_event])
    assert isinstance(at_another_event, Verdict)


@pytest.mark.covers("SAF-016", "ENT-033")
async def test_a_warning_is_given_once_in_ten_minutes(hall: Hall):
    await show(hall, good=27, bad=3)
    await show(hall, good=20, bad=2)
    assert await anomalies(hall) == [("north-1", "RISK_CHECKIN_ANOMALY", 30)]


@pytest.mark.covers("SAF-016")
async def test_scans_one_by_one_add_up_however_they_come(hall: Hall):
    """Nothing depends on seeing the very step: two processes that count at once each see the other's as taken."""
    await show(hall, good=20, bad=20, device="")
    scans = [hall.a_scan(NEVER_MADE, device="north-1") for _ in range(29)]
    await tell(hall, scans)
    # As if another process had counted three more in the meantime.
    await hall.database.run(hall.scope, lambda tx: tx.execute(COUNTED_ELSEWHERE, "evt-festival", "north-1"))
    await show(hall, good=0, bad=1)
    assert [code for _, code, _ in await anomalies(hall)] == ["RISK_CHECKIN_ANOMALY_BLOCK"]


COUNTED_ELSEWHERE = """
    UPDATE entitlements.tally SET denied = denied + 3
     WHERE organization_id = $1 AND event_id = $2 AND device = $3
"""
