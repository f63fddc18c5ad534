"""How fast a scanner may scan, how often it may be refused, and what a repetition counts as."""

import asyncio

import httpx
import pytest

from admitone.entitlements.codes import code_of
from admitone.entitlements.model import Entitlement
from admitone.entrypoints.http import Application
from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.kernel import figures, limits
from admitone.kernel.crypto import KEYRING
from admitone.kernel.ids import uuid7
from admitone.kernel.limits import Hit, by_device
from admitone.kernel.scope import PlatformScope, Role
from tests.entitlements.gates import IN, NEVER_MADE, Gate, Later, told
from tests.entitlements.rights import Hall, all_of
from tests.people import a_member

DENIED = (200, "INVALID_TOKEN")
STEP_UP = (403, "STEP_UP_REQUIRED")
LIMITED = (429, "RATE_LIMITED")
COUNTING = PlatformScope("count hits that were", Role.AUTHORITY)
SCANS = "SELECT count(*)::int AS scans FROM entitlements.checkin WHERE organization_id = $1"


@pytest.fixture
def gate(site: httpx.AsyncClient, hall: Hall) -> Gate:
    return Gate(site, hall)


def first_code(right: Entitlement) -> str:
    code = code_of(right.id, 1, KEYRING().current)
    assert code is not None
    return code


async def refuse(gate: Gate, times: int) -> None:
    for _ in range(times):
        assert told(await gate.scan(NEVER_MADE)) == DENIED


@pytest.mark.covers("ENT-034")
async def test_a_device_scans_a_hundred_and_twenty_times_a_minute_and_another_besides(
    application: Application, site: httpx.AsyncClient, hall: Hall, gate: Gate
):
    rights = await hall.grant_many(123)
    codes = [first_code(each) for each in rights]
    answers = await asyncio.gather(*(gate.scan(code) for code in codes[:121]))
    assert sorted(each.status_code for each in answers) == [200] * 120 + [429]
    assert sum(each.json().get("allow", False) for each in answers) == 120
    assert all(int(each.headers["retry-after"]) <= 60 for each in answers if each.status_code == 429)
    other = Gate(site, hall, device="north-2")
    assert told(await other.scan(codes[121])) == IN, "of the same address, and of the same person"
    with Later(application, seconds=61):
        assert told(await gate.scan(codes[122])) == IN


@pytest.mark.covers("ENT-034")
async def test_a_device_scans_sixty_times_a_minute_on_average_over_ten(
    application: Application, hall: Hall, gate: Gate
):
    codes = [first_code(each) for each in await hall.grant_many(3)]
    subject = by_device(hall.organization, "north-1")
    before = [Hit(figures.SCANS_PER_DEVICE_MEAN, subject)] * 599
    await hall.database.run(COUNTING, lambda tx: limits.count(tx, before))
    assert told(await gate.scan(codes[0])) == IN
    refused = await gate.scan(codes[1])
    assert told(refused) == LIMITED
    assert 60 < int(refused.headers["retry-after"]) <= 600
    with Later(application, minutes=10, seconds=1):
        assert told(await gate.scan(codes[2])) == IN


@pytest.mark.covers("ENT-034")
async def test_whoever_names_no_device_is_one(hall: Hall, gate: Gate):
    gate.device = None
    subject = by_device(hall.organization, str(hall.staff.identity))
    before = [Hit(figures.SCANS_PER_DEVICE_BURST, subject)] * 120
    await hall.database.run(COUNTING, lambda tx: limits.count(tx, before))
    assert told(await gate.scan(NEVER_MADE)) == LIMITED


@pytest.mark.covers("ENT-034")
async def test_ten_refusals_in_a_row_pause_the_device_until_staff_confirm_and_five_minutes_have_passed(
    application: Application, site: httpx.AsyncClient, hall: Hall, gate: Gate
):
    codes = [first_code(each) for each in await hall.grant_many(2)]
    await refuse(gate, 10)
    assert told(await gate.scan(codes[0])) == STEP_UP
    assert told(await Gate(site, hall, device="north-2").scan(codes[1])) == IN, "other devices go on"
    assert (await gate.confirm()).status_code == 204
    paused = await gate.scan(codes[0])
    assert told(paused) == LIMITED
    assert 0 < int(paused.headers["retry-after"]) <= 300
    with Later(application, minutes=5, seconds=1):
        assert told(await gate.scan(codes[0])) == IN
    [counted] = await all_of(hall, SCANS)
    assert counted["scans"] == 12, "what was not asked was not scanned"


@pytest.mark.covers("ENT-034")
async def test_nine_refusals_and_an_entry_are_no_streak(hall: Hall, gate: Gate):
    codes = [first_code(each) for each in await hall.grant_many(2)]
    await refuse(gate, 9)
    assert told(await gate.scan(codes[0])) == IN
    await refuse(gate, 9)
    assert told(await gate.scan(codes[1])) == IN


@pytest.mark.covers("ENT-034")
async def test_twenty_refusals_in_ten_minutes_pause_a_device_for_that_event(
    application: Application, hall: Hall, gate: Gate
):
    here = [first_code(each) for each in await hall.grant_many(3)]
    [elsewhere] = [first_code(each) for each in await hall.grant_many(1, event_id="evt-matinee")]
    for times, code in zip((9, 9, 2), (here[0], here[1], None), strict=True):
        await refuse(gate, times)
        assert code is None or told(await gate.scan(code)) == IN
    assert told(await gate.scan(here[2])) == STEP_UP
    assert told(await gate.scan(elsewhere, eventId="evt-matinee")) == IN, "another event is another door"
    assert (await gate.confirm()).status_code == 204
    with Later(application, minutes=5, seconds=1):
        assert told(await gate.scan(here[2])) == IN


@pytest.mark.covers("ENT-034")
async def test_refusals_of_more_than_ten_minutes_ago_are_forgotten(application: Application, hall: Hall, gate: Gate):
    codes = [first_code(each) for each in await hall.grant_many(3)]
    for code in codes[:2]:
        await refuse(gate, 9)
        assert told(await gate.scan(code)) == IN
    with Later(application, minutes=10, seconds=1):
        await refuse(gate, 2)
        assert told(await gate.scan(codes[2])) == IN


@pytest.mark.covers("ENT-022")
async def test_a_repetition_counts_as_no_refusal(hall: Hall, gate: Gate):
    first = await gate.scan(NEVER_MADE, idempotencyKey="the-same")
    for _ in range(12):
        again = await gate.scan(NEVER_MADE, idempotencyKey="the-same")
        assert again.headers["idempotency-replayed"] == "true"
        assert again.json()["checkinId"] == first.json()["checkinId"]
    assert told(await gate.scan(await hall.code(await hall.grant()))) == IN
    [counted] = await all_of(hall, SCANS)
    assert counted["scans"] == 2


@pytest.mark.covers("ENT-022")
async def test_a_lost_answer_is_given_again_while_the_device_pauses(hall: Hall, gate: Gate):
    code = await hall.code(await hall.grant())
    lost = await gate.scan(code, idempotencyKey="lost")
    await refuse(gate, 10)
    assert told(await gate.scan(code)) == STEP_UP
    again = await gate.scan(code, idempotencyKey="lost")
    assert told(again) == IN
    assert {k: v for k, v in again.json().items() if k != "correlationId"} == {
        k: v for k, v in lost.json().items() if k != "correlationId"
    }
    assert told(await gate.scan(NEVER_MADE, idempotencyKey="lost")) == (409, "IDEMPOTENCY_KEY_REUSED")


# -- Scanners with a key of their own


async def a_scanner(site: httpx.AsyncClient, hall: Hall) -> tuple[str, str]:
    said = {"label": "gate", "reasonCode": "TEST", "idempotencyKey": str(uuid7())}
    answer = await site.post(f"/api/org/{hall.organization}/devices", json=said, headers=hall.staff.headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"], answer.json()["secret"]


@pytest.mark.covers("ENT-034", "ENT-010")
async def test_a_scanner_with_a_key_is_itself_whatever_it_says(site: httpx.AsyncClient, hall: Hall):
    device, secret = await a_scanner(site, hall)
    scanner = Gate(site, hall, device="north-1", headers={"authorization": f"Bearer {secret}"})
    await refuse(scanner, 10)
    code = await hall.code(await hall.grant())
    assert told(await scanner.scan(code, deviceId="north-2")) == STEP_UP
    assert (await scanner.confirm(device)).status_code == 204
    assert told(await scanner.scan(code)) == LIMITED
    assert told(await Gate(site, hall).scan(code)) == IN, "north-1 had nothing to do with it"
    rows = await all_of(hall, "SELECT DISTINCT device FROM entitlements.checkin WHERE organization_id = $1")
    assert {row["device"] for row in rows} == {device, "north-1"}


@pytest.mark.covers("ENT-010")
async def test_nobody_scans_under_the_name_of_a_scanner_with_a_key(site: httpx.AsyncClient, hall: Hall, gate: Gate):
    device, _ = await a_scanner(site, hall)
    assert told(await gate.scan(NEVER_MADE, deviceId=device))[0] == 422


@pytest.mark.covers("ENT-010", "TEN-T08")
async def test_a_scanner_whose_key_was_revoked_scans_nothing_more(site: httpx.AsyncClient, hall: Hall):
    device, secret = await a_scanner(site, hall)
    scanner = Gate(site, hall, device=None, headers={"authorization": f"Bearer {secret}"})
    codes = [first_code(each) for each in await hall.grant_many(2)]
    assert told(await scanner.scan(codes[0], idempotencyKey="first")) == IN
    path = f"/api/org/{hall.organization}/devices/{device}"
    assert (await site.delete(path, headers=hall.staff.headers)).status_code == 204
    assert told(await scanner.scan(codes[1])) == (401, "UNAUTHENTICATED")
    assert told(await scanner.scan(codes[0], idempotencyKey="first")) == (401, "UNAUTHENTICATED")


@pytest.mark.covers("ENT-034")
async def test_a_scanner_cannot_confirm_itself(site: httpx.AsyncClient, hall: Hall):
    device, secret = await a_scanner(site, hall)
    said = {"eventId": "evt-festival", "reasonCode": "STAFF_PRESENT"}
    path = f"/api/org/{hall.organization}/checkin/devices/{device}/confirm"
    answer = await site.post(path, json=said, headers={"authorization": f"Bearer {secret}"})
    assert told(answer) == STEP_UP


@pytest.mark.covers("ENT-017", "ENT-026")
async def test_who_may_only_look_scans_nothing(site: httpx.AsyncClient, hall: Hall):
    looker = await a_member(hall.database, hall.organization, MemberRole.STAFF, RolePack.REFEREE)
    right = await hall.grant()
    gate = Gate(site, hall, headers=looker.headers)
    assert told(await gate.scan(await hall.code(right))) == (403, "PERMISSION_DENIED")
    assert told(await gate.by_hand(right.id)) == (403, "PERMISSION_DENIED")
    assert (await hall.find(right.id)).entries == 0


@pytest.mark.covers("ENT-003", "ENT-022", "INV-I09")
async def test_the_key_of_one_telephone_is_not_the_key_of_another(site: httpx.AsyncClient, hall: Hall):
    """Two who share an account, with keys that are made of the code, or counted from one."""
    code = await hall.code(await hall.grant())
    north, south = (
        Gate(site, hall, device=None, headers=hall.staff.headers | {"x-device-id": name}) for name in ("n", "s")
    )
    assert told(await north.scan(code, idempotencyKey="scan-1")) == IN
    assert told(await south.scan(code, idempotencyKey="scan-1")) == (200, "ALREADY_CONSUMED")
    assert told(await north.scan(code, idempotencyKey="scan-1")) == IN, "its own answer, again"
