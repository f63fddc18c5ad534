"""At the door: who is let in, and what everybody else is told."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from admitone.entitlements.commands.changing import Disowning, Revoking, Suspension, revoke, revoke_codes, suspend
from admitone.entitlements.model import CheckinPolicy, Hold, Method, Reason, Revocation, Status, Verdict
from tests.entitlements.rights import Hall, all_of

ENTRIES = "SELECT admitted, reason_code, entry FROM entitlements.checkin WHERE organization_id = $1 ORDER BY id"
TALLIES = """
    SELECT sum(admitted)::int AS admitted, sum(duplicate)::int AS duplicate, sum(denied)::int AS denied
      FROM entitlements.tally WHERE organization_id = $1
"""


@pytest.mark.covers("ENT-014", "ENT-003", "ENT-002")
async def test_a_good_code_lets_in_once_and_leaves_the_right_as_it_was(hall: Hall):
    ticket = await hall.grant()
    verdict = await hall.scan(await hall.code(ticket), device="north")
    assert verdict.allow
    assert (verdict.entitlement, verdict.policy_version, verdict.entry) == (ticket.id, 1, 1)
    after = await hall.find(ticket.id)
    assert (after.status, after.entries, after.consumed_at) == (Status.ACTIVE, 1, verdict.at)


@pytest.mark.covers("ENT-021")
async def test_a_second_scan_is_told_when_the_first_was(hall: Hall):
    code = await hall.code(await hall.grant())
    first = await hall.scan(code, gate="North")
    second = await hall.scan(code)
    third = await hall.scan(code)
    assert (second.allow, second.reason) == (False, Reason.ALREADY_CONSUMED)
    assert second.duplicate is not None
    assert (second.duplicate.of_consumed_at, second.duplicate.count, second.duplicate.gate) == (first.at, 1, "North")
    assert third.duplicate is not None
    assert third.duplicate.count == 2
    rows = await all_of(hall, ENTRIES)
    assert [row["reason_code"] for row in rows] == [None, "CHECKIN_DUPLICATE", "CHECKIN_DUPLICATE"]
    [sums] = await all_of(hall, TALLIES)
    assert dict(sums) == {"admitted": 1, "duplicate": 2, "denied": 0}


@pytest.mark.covers("ENT-021", "INV-I09")
async def test_two_hundred_devices_at_once_let_in_one(hall: Hall):
    code = await hall.code(await hall.grant())
    verdicts: list[Verdict] = await asyncio.gather(*(hall.scan(code, device=f"d{n}") for n in range(200)))
    assert sum(each.allow for each in verdicts) == 1


NEVER_MADE = "A1:" + "A" * 32


@pytest.mark.covers("ENT-014", "ENT-026")
async def test_what_never_was_and_what_is_a_strangers_is_told_the_same(hall: Hall, database, batcher):
    from tests.entitlements.rights import a_hall

    elsewhere = await a_hall(database, batcher)
    theirs = await elsewhere.code(await elsewhere.grant())
    for code in (NEVER_MADE, theirs, "", "https://example.org"):
        verdict = await hall.scan(code)
        assert (verdict.allow, verdict.reason, verdict.entitlement) == (False, Reason.INVALID_TOKEN, None)


@pytest.mark.covers("ENT-014", "ENT-016", "ENT-025", "ENT-018")
async def test_each_step_that_fails_has_its_own_reason(hall: Hall):
    now = datetime.now(UTC)
    early = await hall.grant(valid_from=now + timedelta(hours=1), valid_until=now + timedelta(hours=9))
    late = await hall.grant(valid_from=now - timedelta(hours=9), valid_until=now - timedelta(seconds=1))
    other = await hall.grant(event_id="evt-other")
    by_hand = await hall.grant(policy=CheckinPolicy(methods=(Method.MANUAL,)))
    day_two = await hall.grant(session_id="day-2")
    told = {
        "early": await hall.scan(await hall.code(early)),
        "late": await hall.scan(await hall.code(late)),
        "other": await hall.scan(await hall.code(other)),
        "by hand": await hall.scan(await hall.code(by_hand)),
        "day two": await hall.scan(await hall.code(day_two), session_id="day-1"),
    }
    assert {name: each.reason for name, each in told.items()} == {
        "early": Reason.NOT_YET_VALID,
        "late": Reason.NO_LONGER_VALID,
        "other": Reason.WRONG_EVENT,
        "by hand": Reason.METHOD_NOT_ALLOWED,
        "day two": Reason.WRONG_SESSION,
    }
    assert told["other"].entitlement is None


@pytest.mark.covers("ENT-009", "ENT-021")
async def test_what_is_suspended_or_revoked_stays_out_at_once(hall: Hall):
    held, gone = await hall.grant(), await hall.grant()
    codes = [await hall.code(held), await hall.code(gone)]
    await hall.submit(suspend, Suspension(hall.staff.caller, held.id, Hold.DISPUTE))
    await hall.submit(revoke, Revoking(hall.staff.caller, gone.id, Revocation.REFUND))
    for code in codes:
        assert (await hall.scan(code)).reason is Reason.ENTITLEMENT_NOT_ACTIVE


@pytest.mark.covers("ENT-009")
async def test_codes_that_were_called_back_open_nothing_and_the_next_one_does(hall: Hall):
    ticket = await hall.grant()
    lost = await hall.code(ticket)
    await hall.submit(revoke_codes, Disowning(hall.staff.caller, ticket.id, "LOST_PHONE"))
    assert (await hall.scan(lost)).reason is Reason.TOKEN_EXPIRED
    assert (await hall.scan(await hall.code(ticket))).allow


@pytest.mark.covers("ENT-023")
async def test_whoever_may_come_back_may_come_back_so_often(hall: Hall):
    ticket = await hall.grant(policy=CheckinPolicy(allow_reentry=True, max_entries=2))
    code = await hall.code(ticket)
    assert [(await hall.scan(code)).allow for _ in range(3)] == [True, True, False]
    assert (await hall.scan(code)).reason is Reason.MAX_ENTRIES_REACHED
    once = await hall.code(await hall.grant(policy=CheckinPolicy(allow_reentry=True)))
    assert [(await hall.scan(once)).allow for _ in range(2)] == [True, False]
