"""To the second: when a right opens a door, when it opens it again, and until when an entry can be taken back."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from admitone.entitlements.commands.checking_in import consume
from admitone.entitlements.commands.undoing import Undo, undo
from admitone.entitlements.errors import UndoRefused
from admitone.entitlements.model import Checkin, CheckinPolicy, Method, Reason, Verdict
from admitone.entitlements.policy import default_of, doors_of
from admitone.entrypoints.http import Application
from admitone.finance.sources.api import SourceType
from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.kernel.clock import zone
from tests.entitlements.gates import IN, Gate, Later, told
from tests.entitlements.rights import Hall, a_hall, all_of
from tests.people import a_member

SECOND = timedelta(seconds=1)
HISTORY = """
    SELECT action, admitted, reason_code, entry, method, refers_to IS NOT NULL AS refers
      FROM entitlements.checkin WHERE organization_id = $1 ORDER BY id
"""
AUDITED = (
    "SELECT action, reason_code FROM kernel.audit_entry WHERE organization_id = $1 AND action LIKE 'entitlements.%'"
)


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


@pytest.mark.covers("ENT-016")
@pytest.mark.parametrize(
    ("starts", "ends", "opens", "closes"),
    [
        ("2026-11-21T21:00", "2026-11-22T02:00", "2026-11-21T15:00Z", "2026-11-22T08:00Z"),
        # The clocks go forward in that night, and back in the other.
        ("2027-03-28T04:00", "2027-03-28T05:00", "2027-03-27T21:00Z", "2027-03-28T10:00Z"),
        ("2026-10-24T22:00", "2026-10-25T00:30", "2026-10-24T15:00Z", "2026-10-25T05:30Z"),
    ],
)
def test_doors_open_six_hours_before_and_close_six_hours_after_whatever_the_clocks_do(
    starts: str, ends: str, opens: str, closes: str
):
    porto = zone("Europe/Lisbon")
    starts_at, ends_at = (datetime.fromisoformat(each).replace(tzinfo=porto) for each in (starts, ends))
    assert doors_of(starts_at, ends_at) == (datetime.fromisoformat(opens), datetime.fromisoformat(closes))


@pytest.mark.covers("ENT-016", "ENT-014")
async def test_a_window_opens_and_closes_to_the_second(hall: Hall):
    opens, closes = datetime.now(UTC) - minutes(90), datetime.now(UTC) + minutes(90)
    by_hand = CheckinPolicy((Method.MANUAL,))
    rights = await hall.grant_many(4, valid_from=opens, valid_until=closes, policy=by_hand)
    instants = (opens - SECOND, opens, closes, closes + SECOND)
    verdicts = [await hall.at(at, consume, hall.by_hand(right)) for right, at in zip(rights, instants, strict=True)]
    assert [each.reason for each in verdicts] == [Reason.NOT_YET_VALID, None, None, Reason.NO_LONGER_VALID]


@pytest.mark.covers("ENT-013")
@pytest.mark.parametrize(
    ("source", "controlled", "methods"),
    [
        (SourceType.TICKET_ORDER, True, (Method.QR_TICKET,)),
        (SourceType.PADEL_REGISTRATION, True, (Method.QR_REGISTRATION,)),
        (SourceType.PADEL_REGISTRATION, False, (Method.MANUAL,)),
        (SourceType.BOOKING, True, (Method.MANUAL,)),
        (SourceType.STAY_RESERVATION, True, (Method.MANUAL,)),
    ],
)
def test_how_people_are_let_in_follows_from_what_was_sold(
    source: SourceType, controlled: bool, methods: tuple[Method, ...]
):
    policy = default_of(source, controlled=controlled)
    assert policy == CheckinPolicy(methods, allow_reentry=False, reentry_minutes=15, max_entries=1, undo_minutes=10)


@pytest.mark.covers("ENT-023")
async def test_whoever_may_come_back_has_fifteen_minutes(hall: Hall):
    rights = await hall.grant_many(4, policy=CheckinPolicy(allow_reentry=True, max_entries=3))
    now = rights[0].created_at
    early, late, edge, never = [hall.a_scan(await hall.code(each)) for each in rights]
    for each in (early, late, edge, never):
        assert (await hall.at(now, consume, each)).allow
    assert (await hall.at(now + minutes(14), consume, early)).allow
    assert (await hall.at(now + minutes(15), consume, edge)).allow
    assert (await hall.at(now + minutes(15) + SECOND, consume, never)).reason is Reason.REENTRY_WINDOW_PASSED
    refused: Verdict = await hall.at(now + minutes(16), consume, late)
    assert (refused.allow, refused.reason) == (False, Reason.REENTRY_WINDOW_PASSED)
    assert refused.duplicate is not None
    assert refused.duplicate.of_consumed_at == now
    assert (await hall.at(now + minutes(28), consume, early)).allow, "from the latest entry on"
    assert (await hall.at(now + minutes(29), consume, early)).reason is Reason.MAX_ENTRIES_REACHED


@pytest.mark.covers("ENT-025")
async def test_coming_back_opens_no_other_day(hall: Hall):
    policy = CheckinPolicy(allow_reentry=True, max_entries=5)
    code = await hall.code(await hall.grant(session_id="day-1", policy=policy))
    assert (await hall.scan(code, session_id="day-1")).allow
    assert (await hall.scan(code, session_id="day-2")).reason is Reason.WRONG_SESSION
    assert (await hall.scan(code, session_id="day-1")).allow


@pytest.mark.covers("ENT-024")
async def test_an_entry_is_taken_back_within_ten_minutes(hall: Hall):
    rights = await hall.grant_many(2)
    now = rights[0].created_at
    first, second = [hall.a_scan(await hall.code(each)) for each in rights]
    entered = [await hall.at(now, consume, each) for each in (first, second)]
    in_time, too_late = [Undo(hall.staff.caller, each.checkin, "WRONG_PERSON") for each in entered]
    assert isinstance(await hall.at(now + minutes(10), undo, in_time), Checkin)
    for later in (minutes(10) + SECOND, minutes(11)):
        refused = await hall.at(now + later, undo, too_late)
        assert isinstance(refused, UndoRefused)
        assert refused.reason == "TOO_LATE"


@pytest.mark.covers("ENT-024")
async def test_after_an_undo_the_code_opens_again_and_the_log_keeps_all_three(
    application: Application, site: httpx.AsyncClient, hall: Hall
):
    gate = Gate(site, hall)
    code = await hall.code(await hall.grant())
    entered = (await gate.scan(code)).json()
    assert told(await gate.undo(entered["checkinId"], reasonCode=""))[0] == 422
    undone = await gate.undo(entered["checkinId"], idempotencyKey="oops")
    assert told(undone) == (200, None)
    again = await gate.undo(entered["checkinId"], idempotencyKey="oops")
    assert again.json()["checkinId"] == undone.json()["checkinId"]
    assert told(await gate.undo(entered["checkinId"])) == (409, "UNDO_REFUSED"), "it stands no more"
    assert told(await gate.scan(code)) == IN
    rows = [tuple(row.values()) for row in await all_of(hall, HISTORY)]
    assert rows == [
        ("ENTRY", True, None, 1, "QR", False),
        ("UNDO", False, "WRONG_PERSON", 1, "QR", True),
        ("ENTRY", True, None, 2, "QR", False),
    ]
    audited = [tuple(row.values()) for row in await all_of(hall, AUDITED)]
    assert audited.count(("entitlements.undo", "WRONG_PERSON")) == 1
    latest = (await gate.scan(await hall.code(await hall.grant()))).json()
    with Later(application, minutes=11):
        refused = await gate.undo(latest["checkinId"])
    assert (told(refused), refused.json()["reason"]) == ((409, "UNDO_REFUSED"), "TOO_LATE")


@pytest.mark.covers("ENT-024")
async def test_who_may_only_look_takes_nothing_back(site: httpx.AsyncClient, hall: Hall):
    entered = (await Gate(site, hall).scan(await hall.code(await hall.grant()))).json()
    looker = await a_member(hall.database, hall.organization, MemberRole.STAFF, RolePack.REFEREE)
    refused = await Gate(site, hall, headers=looker.headers).undo(entered["checkinId"])
    assert told(refused) == (403, "PERMISSION_DENIED")


# -- By hand


@pytest.mark.covers("ENT-017")
async def test_staff_let_in_by_hand_where_the_policy_says_so(site: httpx.AsyncClient, hall: Hall):
    gate = Gate(site, hall)
    by_code = await hall.grant()
    both = await hall.grant(policy=CheckinPolicy((Method.QR_TICKET, Method.MANUAL)))
    assert told(await gate.by_hand(by_code.id)) == (200, "METHOD_NOT_ALLOWED")
    let_in = await gate.by_hand(both.id, idempotencyKey="hand")
    assert told(let_in) == IN
    assert (await gate.by_hand(both.id, idempotencyKey="hand")).json()["checkinId"] == let_in.json()["checkinId"]
    scanned = await gate.scan(await hall.code(both))
    assert told(scanned) == (200, "ALREADY_CONSUMED")
    assert scanned.json()["duplicate"]["duplicateOfConsumedAt"] == let_in.json()["consumedAt"]
    rows = [tuple(row.values()) for row in await all_of(hall, HISTORY)]
    assert rows == [
        ("ENTRY", False, "METHOD_NOT_ALLOWED", None, "MANUAL", False),
        ("ENTRY", True, None, 1, "MANUAL", False),
        ("ENTRY", False, "CHECKIN_DUPLICATE", None, "QR", True),
    ]
    audited = [tuple(row.values()) for row in await all_of(hall, AUDITED)]
    assert len([each for each in audited if each[0] == "entitlements.consume"]) == 3


@pytest.mark.covers("ENT-017", "ENT-026")
async def test_by_hand_a_strangers_right_is_none(site: httpx.AsyncClient, hall: Hall, database, batcher):
    elsewhere = await a_hall(database, batcher)
    theirs = await elsewhere.grant(policy=CheckinPolicy((Method.MANUAL,)))
    answer = await Gate(site, hall).by_hand(theirs.id)
    assert told(answer) == (200, "INVALID_TOKEN")
    assert answer.json()["entitlementId"] is None


@pytest.mark.covers("ENT-026")
async def test_staff_of_another_organisation_see_nothing_of_a_code(
    site: httpx.AsyncClient, hall: Hall, database, batcher
):
    elsewhere = await a_hall(database, batcher)
    code = await hall.code(await hall.grant())
    answer = (await Gate(site, elsewhere).scan(code)).json()
    assert (answer["allow"], answer["reasonCode"]) == (False, "INVALID_TOKEN")
    assert [answer[each] for each in ("entitlementId", "label", "policyVersionApplied", "duplicate")] == [None] * 4
    with_their_name = Gate(
        site, elsewhere, headers={"x-orya-org-id": str(hall.organization), **elsewhere.staff.headers}
    )
    assert told(await with_their_name.scan(code)) == (403, "PERMISSION_DENIED")
