"""What the log of doors says of whom, and of which event."""

from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from admitone.entitlements.codes import digest_of
from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.leasing import LeaseWanted, LetIn, Sync, lease, synchronise
from admitone.entitlements.commands.undoing import Undo, undo
from admitone.entitlements.counting import count_doors
from admitone.entitlements.model import CheckinPolicy, Place, Reason
from admitone.kernel.db import Database
from admitone.kernel.scope import Caller
from tests.entitlements.rights import EVENT, Hall, all_of
from tests.people import a_person

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


@pytest.mark.covers("ENT-024")
async def test_of_two_who_take_back_one_entry_at_once_the_log_names_the_one_who_did(
    hall: Hall, database: Database, superuser: asyncpg.Connection
):
    entry = await hall.scan(await hall.code(await hall.grant()))
    other = await a_person(database)
    asked = [Undo(Caller(who.identity), entry.checkin, "WRONG_PERSON") for who in (hall.staff, other)]
    done, refused = await database.run(hall.scope, lambda tx: undo(tx, asked))
    assert done.scanner_id == hall.staff.identity.uuid
    assert refused.reason == "NOT_THE_LATEST"
    rows = await superuser.fetch(AUDITED, hall.organization.uuid, "entitlements.undo")
    assert [row["actor_id"] for row in rows] == [hall.staff.identity.uuid]


@pytest.mark.covers("ENT-026")
async def test_what_is_not_for_this_event_leaves_no_session_of_its_own_in_the_counts(hall: Hall):
    other = await hall.grant(event_id="evt-secret", session_id="secret-session")
    code = await hall.code(other)
    assert (await hall.scan(code)).reason is Reason.WRONG_EVENT
    wanted = LeaseWanted(hall.staff.caller, Place(EVENT, device="d"), 10)
    given = await hall.submit(lease, wanted)
    let_in = (LetIn("1", digest_of(code), datetime.now(UTC)),)
    await hall.submit(synchronise, Sync(hall.staff.caller, given.id, "d", let_in))
    counted = await hall.database.read(hall.scope, count_doors, EVENT)
    assert [session for session, _, _ in counted.sessions] == [""]


@pytest.mark.covers("ENT-031")
async def test_the_same_synchronisation_twice_at_once_is_one(hall: Hall):
    right = await hall.grant()
    given = await hall.submit(lease, LeaseWanted(hall.staff.caller, Place(EVENT, device="d"), 10))
    sync = Sync(hall.staff.caller, given.id, "d", (LetIn("1", digest_of(await hall.code(right)), datetime.now(UTC)),))
    first, again = await hall.database.run(hall.scope, lambda tx: synchronise(tx, [sync, sync]))
    assert [each.recorded[0].replayed for each in (first, again)] == [False, True]
    assert (await hall.find(right.id)).entries == 1


@pytest.mark.covers("ENT-023", "ENT-031")
async def test_an_entry_that_is_heard_of_late_makes_the_latest_no_earlier(hall: Hall):
    right = await hall.grant(policy=TWICE)
    code = await hall.code(right)
    given = await hall.submit(lease, LeaseWanted(hall.staff.caller, Place(EVENT, device="d"), 10))
    before = given.issued_at
    online = await hall.at(before + timedelta(minutes=10), consume, hall.a_scan(code))
    assert online.allow
    sync = Sync(hall.staff.caller, given.id, "d", (LetIn("1", digest_of(code), before + timedelta(minutes=1)),))
    await hall.at(before + timedelta(minutes=11), synchronise, sync)
    after = await hall.find(right.id)
    assert (after.consumed_at, after.last_entry_at) == (
        before + timedelta(minutes=1),
        before + timedelta(minutes=10),
    )


@pytest.mark.covers("ENT-010", "ENT-030")
async def test_what_a_device_let_in_by_itself_is_audited_as_at_any_door(hall: Hall, superuser: asyncpg.Connection):
    right = await hall.grant()
    given = await hall.submit(lease, LeaseWanted(hall.staff.caller, Place(EVENT, device="d"), 10))
    sync = Sync(hall.staff.caller, given.id, "d", (LetIn("1", digest_of(await hall.code(right)), datetime.now(UTC)),))
    await hall.submit(synchronise, sync)
    rows = await superuser.fetch(AUDITED, hall.organization.uuid, "entitlements.consume")
    assert [row["subject"] for row in rows] == [str(right.id)]
