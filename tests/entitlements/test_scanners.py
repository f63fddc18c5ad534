"""Scanners that are shown too much that is refused: warned of, closed, opened again."""

from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entitlements import alerts
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.errors import ScannerClosed
from admitone.entitlements.model import Scan, Verdict
from admitone.entitlements.module import MODULE
from admitone.entitlements.policy import Alarm, alarm
from admitone.entitlements.routes.doors import consume_code
from admitone.entrypoints.http import Application
from admitone.foundation.authority.api import STEP_UP_LASTS, MemberRole, RolePack
from admitone.kernel.alerts import AlertClass, ShareAbove, Watch
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.scope import Caller
from admitone.kernel.telemetry import Metrics
from tests.alerts import alerts_about
from tests.alerts import told_about as alert_facts
from tests.entitlements.gates import IN, NEVER_MADE, Gate, Later, told
from tests.entitlements.rights import EVENT, Hall, all_of
from tests.entitlements.test_lists import AUDITED
from tests.entitlements.test_throttles import first_code
from tests.people import a_member, a_person

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


# -- What staff see and do


def scanners_of(hall: Hall, more: str = "") -> str:
    return f"/api/org/{hall.organization}/checkin/events/{EVENT}/scanners{more}"


async def seen(site: httpx.AsyncClient, hall: Hall) -> dict[str, Any]:
    answer = await site.get(scanners_of(hall), headers=hall.staff.headers)
    assert answer.status_code == 200, answer.text
    return {each["deviceId"]: each for each in answer.json()["scanners"]}


async def test_staff_see_what_each_scanner_was_shown_and_which_is_closed(site: httpx.AsyncClient, hall: Hall):
    rights = await hall.grant_many(2)
    long_ago = rights[0].created_at - timedelta(minutes=30)
    for right in rights:
        # Valid then, by the window; its code is younger, so it is refused: that is what the scanner was shown.
        assert not (await hall.at(long_ago, consume, hall.a_scan(first_code(right), device="north-2"))).allow
    await show(hall, good=1, bad=29, device="north-1")
    await show(hall, good=3, bad=1, device="north-2")
    found = await seen(site, hall)
    assert found["north-1"]["closed"] and found["north-1"]["closedAt"] is not None
    assert found["north-1"]["recent"] == {"scans": 30, "refused": 29, "refusedPerMille": 967}
    assert not found["north-2"]["closed"]
    assert found["north-2"]["recent"] == {"scans": 4, "refused": 1, "refusedPerMille": 250}
    assert found["north-2"]["inAll"] == {"scans": 6, "refused": 3, "refusedPerMille": 500}


@pytest.mark.covers("SAF-016", "ENT-010")
async def test_a_closed_scanner_is_opened_for_a_reason_and_counted_anew(
    application: Application, site: httpx.AsyncClient, hall: Hall, database_url: str
):
    gate = Gate(site, hall)
    await show(hall, good=0, bad=30)
    code = first_code(await hall.grant())
    assert told(await gate.scan(code)) == (403, "SCANNER_CLOSED")
    path, said = scanners_of(hall, "/north-1/open"), {"reasonCode": "OLD_SCREENSHOTS"}
    looker = await a_member(hall.database, hall.organization, MemberRole.STAFF, RolePack.REFEREE)
    assert told(await site.post(path, json=said, headers=looker.headers)) == (403, "PERMISSION_DENIED")
    assert told(await site.post(path, json={}, headers=hall.staff.headers))[0] == 422
    async with Database(database_url, clock=Clock(-STEP_UP_LASTS - timedelta(seconds=30))) as earlier:
        tired = await a_person(earlier, identity=hall.staff.identity)
    assert told(await site.post(path, json=said, headers=tired.headers)) == (403, "STEP_UP_REQUIRED")
    assert told(await gate.scan(code)) == (403, "SCANNER_CLOSED")
    for _ in range(2):
        assert (await site.post(path, json=said, headers=hall.staff.headers)).status_code == 204
    assert told(await gate.scan(code)) == IN
    assert told(await gate.scan(NEVER_MADE)) == (200, "INVALID_TOKEN")
    assert not (await seen(site, hall))["north-1"]["closed"], "what it was shown before is forgiven"
    audited = [tuple(row.values()) for row in await all_of(hall, AUDITED)]
    assert audited.count(("entitlements.open_scanner", f"{EVENT}:north-1", "OLD_SCREENSHOTS")) == 1
    with Later(application, minutes=2):
        scans = [hall.a_scan(NEVER_MADE, device="north-1") for _ in range(30)]
        for each in scans:
            await hall.at(datetime.now(UTC) + timedelta(minutes=2), consume, each)
        assert told(await gate.scan(NEVER_MADE)) == (403, "SCANNER_CLOSED"), "and closed again, if it goes on"
    assert [code for _, code, _ in await anomalies(hall)] == ["RISK_CHECKIN_ANOMALY_BLOCK"] * 2


# -- What those who run the platform are told


@pytest.mark.covers("SAF-016", "OPS-004", "OPS-001")
@pytest.mark.parametrize(("good", "bad", "rule"), [(27, 3, "checkin.anomaly"), (24, 6, "checkin.scanner_closed")])
async def test_somebody_is_told_of_a_scanner_and_where_to_look(
    hall: Hall, superuser: asyncpg.Connection, good: int, bad: int, rule: str
):
    await show(hall, good=good, bad=bad)
    row = await superuser.fetchrow(
        "SELECT id, payload::text AS payload, correlation_id FROM kernel.event_log"
        " WHERE organization_id = $1 AND type = 'risk.checkin_anomaly'",
        hall.organization.uuid,
    )
    caller = Caller(correlation_id=row["correlation_id"])
    fact = alerts.tell_of_anomaly.decode(row["payload"])
    told_of = Delivered(uuid7(), hall.organization, fact, caller, "key", row["id"], 1, datetime.now(UTC))
    for _ in range(2):
        await alerts.tell_of_anomaly.work(Desk(hall.database, hall.batcher), told_of)
    subject = f"{hall.organization}:{EVENT}:north-1"
    [alert] = await alerts_about(superuser, subject, rule)
    assert alert["correlation_id"] == row["correlation_id"]
    [told_about_it] = await alert_facts(superuser, subject)
    assert told_about_it["organization"] == str(hall.organization)
    assert told_about_it["entities"] == {"eventId": EVENT, "device": "north-1"}
    assert told_about_it["runbook"] == "docs/runbooks/checkin-anomaly.md"
    await Watch(hall.database, Metrics(), sights=[alerts.DOORS]).look(uuid7())
    assert len(await alerts_about(superuser, subject, rule)) == 1, "the watch sees the same, and counts"


@pytest.mark.covers("OPS-004", "OPS-007", "ENT-033", "OPS-002")
async def test_spikes_of_an_event_are_measured_and_told(hall: Hall, superuser: asyncpg.Connection):
    rights = await hall.grant_many(20)
    again = [hall.a_scan(first_code(each), device=f"d{n % 4}") for n, each in enumerate(rights)]
    await tell(hall, again + again[:8] + [hall.a_scan(NEVER_MADE, device="d9") for _ in range(2)])
    metrics = Metrics()
    await Watch(hall.database, metrics, sights=[alerts.DOORS]).look(uuid7())

    def share(result: str) -> float | None:
        labels = {"organization": str(hall.organization), "event": EVENT, "result": result}
        return metrics.registry.get_sample_value("admitone_checkin_share", labels)

    assert (share("duplicate"), share("denied")) == (8 / 30, 2 / 30)
    subject = f"{hall.organization}:{EVENT}"
    [alert] = await alerts_about(superuser, subject, "checkin.duplicates")
    assert (alert["class"], alert["concerns"]) == ("TICKET", hall.organization.uuid)
    [told_about_it] = await alert_facts(superuser, subject)
    assert told_about_it["entities"]["eventId"] == EVENT
    assert told_about_it["link"]
    assert await alerts_about(superuser, subject, "checkin.denied") == [], "two of thirty are within a tenth"


@pytest.mark.covers("OPS-002", "ENT-035")
def test_slow_scans_have_a_rule():
    assert alerts.SLOW.threshold == ShareAbove(5, 600, beyond=0.3, fewest=20)
    assert alerts.SLOW.alert_class is AlertClass.TICKET
    assert [(each.contract, each.rule) for each in MODULE.paces] == [(consume_code.id, alerts.SLOW)]
