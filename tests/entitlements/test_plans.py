"""What organisers look at of one event reads that event's rows, whatever the planner believed when it made the plan."""

from uuid import UUID

import pytest

from admitone.entitlements.store import lists
from tests.conftest import Clone
from tests.plans import FIRST, LAST, PLANNED, Asked, Ground, ids, unproved

ORGANIZATION = UUID("00000000-0000-7000-8000-0000000000ac")
EVENTS, EACH = 100, 60
TABLES = ("entitlements.entitlement", "entitlements.checkin")
FILL = f"""
    INSERT INTO kernel.tenant (id, created_at) VALUES ('{ORGANIZATION}', now()) ON CONFLICT DO NOTHING;
    INSERT INTO entitlements.entitlement (organization_id, id, emission_key, source_type, source_id, line_key, piece, payment_id,
                                          event_id, label, identity_id, kind, offline_allowed, status, held_for, valid_from,
                                          valid_until, policy_version, methods, max_entries, reentry_minutes, undo_minutes,
                                          entries, entered, duplicates, epoch, version, created_at, changed_at)
    SELECT '{ORGANIZATION}', md5('right' || n)::uuid, 'key' || n, 'TICKET_ORDER', 'ord_' || n, 'type', 0, md5('payment' || n)::uuid,
           'event_' || n % {EVENTS}, 'Standing', md5('buyer' || n % 500)::uuid, 'ticket', false, 'ACTIVE', '{{}}', now(),
           now() + interval '1 day', 1, '{{QR_TICKET}}', 1, 0, 0, 0, 0, 0, 0, 1, now(), now()
      FROM generate_series(1, {EVENTS * EACH}) AS n;
    INSERT INTO entitlements.checkin (organization_id, id, entitlement_id, event_id, source_type, action, admitted, reason_code, method,
                                      gate, device, at, recorded_at, correlation_id)
    SELECT organization_id, md5('entry' || id)::uuid, id, event_id, source_type, 'ENTRY', false, 'CHECKIN_DUPLICATE', 'QR', 'North',
           'phone', now(), now(), id
      FROM entitlements.entitlement;
"""
QUIET = "UPDATE entitlements.entitlement SET status = 'EXPIRED'"
GROUND = Ground(TABLES, FILL, ORGANIZATION, quiet=QUIET)
EVENT, EVERYTHING = "'event_7'", "NULL, NULL, NULL, ''"
ASKED = {
    "a page of rights": Asked(
        lists.LIST_RIGHTS.oldest,
        f"{EVENT}, {FIRST}, {LAST}, {FIRST}, {LAST}, {EVERYTHING}, 50",
        {"entitlement_of_event"},
    ),
    "rights of a name": Asked(
        lists.LIST_RIGHTS.oldest,
        f"{EVENT}, {FIRST}, {LAST}, {FIRST}, {LAST}, NULL, NULL, NULL, 'ord_7', 50",
        {"entitlement_of_event"},
    ),
    "owners": Asked(lists.LIST_OWNERS, f"{EVENT}, {FIRST}, {LAST}, 50", {"entitlement_of_event"}),
    "rights of owners": Asked(
        lists.LIST_OF_OWNERS, f"{EVENT}, {ids('buyer', 7, 107, 207, 8)}, {FIRST}, {LAST}, 50", {"entitlement_of_event"}
    ),
    "the newest rights": Asked(
        lists.LIST_RIGHTS.newest,
        f"{EVENT}, {FIRST}, {LAST}, {FIRST}, {LAST}, {EVERYTHING}, 50",
        {"entitlement_of_event"},
    ),
    "the log": Asked(lists.LIST_LOG.newest, f"{EVENT}, {FIRST}, {LAST}, NULL, NULL, NULL, 50", {"checkin_of_event"}),
    "the log from its beginning": Asked(
        lists.LIST_LOG.oldest, f"{EVENT}, {FIRST}, {LAST}, NULL, NULL, NULL, 50", {"checkin_of_event"}
    ),
    "what people have": Asked(lists.SUM_PIECES, f"{EVENT}, 1000000", {"entitlement_of_event"}),
}


@pytest.mark.parametrize("planned", PLANNED)
async def test_what_is_looked_at_reads_the_rows_of_one_event(clone: Clone, planned: str):
    await GROUND.reads_what_it_needs(clone, ASKED, planned)


def test_of_all_that_is_listed_it_is_known_how():
    assert unproved((lists,), ASKED) == set()
