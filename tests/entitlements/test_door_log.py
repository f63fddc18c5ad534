"""What the log of doors says of whom, and of which event."""

from datetime import UTC, datetime, timedelta

import pytest

from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.undoing import Undo, undo
from admitone.entitlements.model import CheckinPolicy, Reason
from tests.entitlements.rights import Hall, all_of

AUDITED = "SELECT actor_id, subject FROM kernel.audit_entry WHERE organization_id = $1 AND action = $2"
TWICE = CheckinPolicy(allow_reentry=True, max_entries=3, reentry_minutes=15)


@pytest.mark.covers("ENT-021", "ENT-024")
async def test_a_second_scan_names_the_entry_that_stands_and_not_one_that_was_taken_back(hall: Hall):
    right = await hall.grant(policy=TWICE)
    code = await hall.code(right)
    first = await hall.scan(code, gate="North")
    second = await hall.scan(code, gate="South")
    await hall.submit(undo, Undo(hall.staff.caller, second.checkin, "WRONG_PERSON"))
    late = datetime.now(UTC) + timedelta(minutes=16)
    said = await hall.at(late, consume, hall.a_scan(code))
    assert said.reason is Reason.REENTRY_WINDOW_PASSED
    assert said.duplicate.gate == "North"
    [row] = await all_of(
        hall, "SELECT refers_to FROM entitlements.checkin WHERE organization_id = $1 AND id = $2", said.checkin.uuid
    )
    assert row["refers_to"] == first.checkin.uuid
