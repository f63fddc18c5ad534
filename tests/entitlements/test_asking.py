"""`Checkin.consume` as its consumers see it: the answer, the rows, the facts, the trail."""

import asyncio
import re
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entitlements.codes import digest_of
from admitone.entitlements.model import CheckinPolicy, Method
from tests.entitlements.gates import IN, NEVER_MADE, Gate, told
from tests.entitlements.rights import EVENT, Hall, all_of
from tests.entitlements.test_throttles import first_code

FACTS = """
    SELECT type, payload ->> 'reasonCode' AS reason, payload ->> 'eventId' AS event, subject_id
      FROM kernel.event_log WHERE organization_id = $1 AND type LIKE 'checkin.%' ORDER BY id
"""
TRAIL = """
    SELECT action, subject, reason_code, actor_id FROM kernel.audit_entry
     WHERE organization_id = $1 AND action LIKE 'entitlements.%' ORDER BY id
"""
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@pytest.mark.covers("ENT-020")
async def test_the_answer_has_what_the_contract_says(site: httpx.AsyncClient, hall: Hall):
    gate = Gate(site, hall)
    right = await hall.grant(policy_version=3)
    answer = await gate.scan(first_code(right), gate="North", scannerIdentityRef="whoever-it-says")
    entered: dict[str, Any] = answer.json()
    assert INSTANT.fullmatch(entered["consumedAt"])
    assert entered == {
        "allow": True,
        "checkinId": entered["checkinId"],
        "reasonCode": None,
        "entitlementId": str(right.id),
        "label": "Standing",
        "consumedAt": entered["consumedAt"],
        "entry": 1,
        "policyVersionApplied": 3,
        "duplicate": None,
        "correlationId": answer.headers["x-correlation-id"],
    }
    again = (await gate.scan(first_code(right))).json()
    assert again["duplicate"] == {
        "duplicateOfConsumedAt": entered["consumedAt"],
        "duplicateCount": 1,
        "gate": "North",
    }
    assert (again["allow"], again["reasonCode"], again["consumedAt"]) == (False, "ALREADY_CONSUMED", None)
    rows = await all_of(hall, "SELECT scanner_id, source_type FROM entitlements.checkin WHERE organization_id = $1")
    assert {tuple(row.values()) for row in rows} == {(hall.staff.identity.uuid, "TICKET_ORDER")}


@pytest.mark.covers("ENT-021", "ENT-033", "ENT-020", "ENT-010")
async def test_everything_at_a_door_is_a_fact_and_stands_in_the_trail(site: httpx.AsyncClient, hall: Hall):
    gate = Gate(site, hall)
    right = await hall.grant()
    code = first_code(right)
    entered = (await gate.scan(code)).json()["checkinId"]
    again = (await gate.scan(code)).json()["checkinId"]
    denied = (await gate.scan(NEVER_MADE)).json()["checkinId"]
    undone = (await gate.undo(entered)).json()["checkinId"]
    assert [tuple(row.values()) for row in await all_of(hall, FACTS)] == [
        ("checkin.consumed", None, EVENT, entered),
        ("checkin.duplicate", "CHECKIN_DUPLICATE", EVENT, again),
        ("checkin.denied", "INVALID_TOKEN", EVENT, denied),
        ("checkin.undo", "WRONG_PERSON", EVENT, undone),
    ]
    staff = hall.staff.identity.uuid
    assert [tuple(row.values()) for row in await all_of(hall, TRAIL)] == [
        ("entitlements.consume", str(right.id), None, staff),
        ("entitlements.consume", str(right.id), "CHECKIN_DUPLICATE", staff),
        ("entitlements.consume", denied, "INVALID_TOKEN", staff),
        ("entitlements.undo", str(right.id), "WRONG_PERSON", staff),
    ]


@pytest.mark.covers("ENT-009", "ENT-010")
async def test_no_code_is_kept_anywhere(site: httpx.AsyncClient, hall: Hall, superuser: asyncpg.Connection):
    gate = Gate(site, hall)
    right = await hall.grant()
    code = first_code(right)
    for _ in range(2):
        await gate.scan(code)
    own = hall.organization.uuid
    for table in ("kernel.event_log", "kernel.audit_entry", "kernel.idempotency_key", "entitlements.checkin"):
        rows = await superuser.fetch(f"SELECT t::text AS row FROM {table} AS t WHERE organization_id = $1", own)
        assert rows, table
        for secret in (code, code.removeprefix("A1:"), digest_of(code).hex(), code.encode().hex()):
            assert not [row for row in rows if secret in row["row"]], table


@pytest.mark.covers("ENT-022", "ENT-021")
async def test_the_same_scan_sent_ten_times_at_once_is_one(site: httpx.AsyncClient, hall: Hall):
    gate = Gate(site, hall)
    code = first_code(await hall.grant())
    answers = await asyncio.gather(*(gate.scan(code, idempotencyKey="one") for _ in range(10)))
    assert {told(each) for each in answers} == {IN}
    assert len({each.json()["checkinId"] for each in answers}) == 1
    [row] = await all_of(hall, "SELECT count(*)::int AS n FROM entitlements.checkin WHERE organization_id = $1")
    assert row["n"] == 1


@pytest.mark.covers("ENT-015")
async def test_a_right_is_judged_by_the_policy_that_stood_when_it_was_granted(site: httpx.AsyncClient, hall: Hall):
    gate = Gate(site, hall)
    before = await hall.grant(policy_version=1)
    after = await hall.grant(policy_version=2, policy=CheckinPolicy((Method.MANUAL,)))
    first, second = (await gate.scan(first_code(before))), (await gate.scan(first_code(after)))
    assert (told(first), first.json()["policyVersionApplied"]) == (IN, 1)
    assert (told(second), second.json()["policyVersionApplied"]) == ((200, "METHOD_NOT_ALLOWED"), 2)
