"""What is looked at goes by its own index and reads one event's rows, whatever the planner believed when it made the plan."""

from uuid import UUID

import pytest

from admitone.entitlements.store import lists
from admitone.kernel.scope import Role
from admitone.verticals.events.store import (
    events,
    guest_links,
    listing,
    orders,
    planning,
    reports,
    rotation,
    tickets,
)
from tests.conftest import Clone
from tests.plans import FIRST, LAST, PLANNED, Asked, Ground, array, ids, unproved

ORGANIZATION = UUID("00000000-0000-7000-8000-0000000000ab")
BUYER = UUID(int=7)
EVENTS, EACH = 100, 50
"""So many events, and so many orders, tickets and rights of each."""
TABLES = (
    *("events.event", "events.session", "events.shared_pool", "events.ticket_type", "events.access_policy"),
    *(
        "events.ticket_order",
        "events.order_line",
        "events.ticket",
        "events.guest_link",
        "events.listing",
        "events.house",
    ),
    "entitlements.entitlement",
)
FILL = f"""
    INSERT INTO kernel.tenant (id, created_at) VALUES ('{ORGANIZATION}', now()) ON CONFLICT DO NOTHING;
    INSERT INTO events.event (organization_id, id, title, description, status, starts_at, ends_at, time_zone, currency, venue, address,
                              city, country, hold_minutes, allows_zero, pricing_mode, policy_version, published_at, version,
                              created_at, changed_at)
    SELECT '{ORGANIZATION}', md5('event' || n)::uuid, 'Night', '', 'PUBLISHED', now() + make_interval(days => n),
           now() + make_interval(days => n, hours => 3), 'Europe/Lisbon', 'EUR', '', '', '', '', 15, false, 'STANDARD', 1, now(), 1,
           now(), now()
      FROM generate_series(-2000, 2000) AS n;
    INSERT INTO events.session (organization_id, event_id, id, label, starts_at, ends_at)
    SELECT organization_id, id, md5('session' || n || id)::uuid, 'Day ' || n, starts_at, ends_at
      FROM events.event, generate_series(1, 2) AS n;
    INSERT INTO events.shared_pool (organization_id, event_id, id, label, created_at)
    SELECT organization_id, id, md5('pool' || id)::uuid, 'House', now() FROM events.event;
    INSERT INTO events.ticket_type (organization_id, id, event_id, name, description, price_minor, allows_zero, free_per_person,
                                    pool_id, shared_pools, seated, most_per_order, status, sessions, position, version,
                                    created_at, changed_at)
    SELECT '{ORGANIZATION}', md5('type' || n)::uuid, md5('event' || n)::uuid, 'Standing', '', 2500, false, 1, md5('own' || n)::uuid,
           '{{}}', false, 10, 'ON_SALE', '{{}}', 0, 1, now(), now()
      FROM generate_series(-2000, 2000) AS n;
    INSERT INTO events.access_policy (organization_id, event_id, version, mode, guest_checkout_allowed, login_required,
                                      invite_token_allowed, invite_identity_match, requires_entitlement, scanner_required, methods,
                                      allow_reentry, reentry_minutes, max_entries, undo_minutes, created_at)
    SELECT organization_id, id, n, 'PUBLIC', true, false, false, 'EMAIL', true, false, '{{QR_TICKET}}', false, 0, 1, 0, now()
      FROM events.event, generate_series(1, 3) AS n;
    INSERT INTO events.house SELECT md5('house' || n)::uuid, true, now() FROM generate_series(1, 3000) AS n;
    INSERT INTO events.listing (event_id, organization_id, event_version, listed, title, starts_at, ends_at, time_zone, venue, city,
                                country, changed_at)
    SELECT id, CASE WHEN n < 50 THEN organization_id ELSE md5('club' || n)::uuid END, 1, ends_at > now(), title, starts_at, ends_at,
           time_zone, '', CASE WHEN n % 100 = 0 THEN 'Porto' ELSE 'Lisboa' END, '', now()
      FROM (SELECT *, row_number() OVER (ORDER BY starts_at DESC) AS n FROM events.event) AS e;
    INSERT INTO events.ticket_order (organization_id, id, event_id, identity_id, key, request_hash, state, currency, amount_minor,
                                     is_guest, language, age_confirmed, billing, expires_at, version, created_at, changed_at)
    SELECT '{ORGANIZATION}', md5('order' || n)::uuid, md5('event' || n % {EVENTS})::uuid,
           CASE WHEN n % 100 = 0 THEN '{BUYER}' ELSE md5('buyer' || n)::uuid END, 'key' || n, '\\x00', 'OPEN', 'EUR', 2500, false,
           'en', false, CASE WHEN n % 50 = 0 THEN '\\x01'::bytea END, now(), 1, now(), now()
      FROM generate_series(1, {EVENTS * EACH}) AS n;
    INSERT INTO events.order_line (organization_id, order_id, ticket_type_id, name, quantity, unit_price_minor)
    SELECT organization_id, id, md5('type')::uuid, 'Standing', 1, 2500 FROM events.ticket_order;
    INSERT INTO events.ticket (organization_id, id, order_id, event_id, ticket_type_id, emission_index, identity_id, status,
                               price_minor, version, created_at, changed_at)
    SELECT '{ORGANIZATION}', md5('ticket' || n)::uuid, md5('order' || n)::uuid, md5('event' || n % {EVENTS})::uuid,
           md5('type')::uuid, 0, md5('buyer' || n)::uuid, 'ACTIVE', 2500, 1, now(), now()
      FROM generate_series(1, {EVENTS * EACH}) AS n;
    INSERT INTO events.guest_link (organization_id, digest, order_id, expires_at, created_at)
    SELECT organization_id, sha256(id::text::bytea), id, now() + interval '1 day', now() FROM events.ticket_order;
    INSERT INTO entitlements.entitlement (organization_id, id, emission_key, source_type, source_id, line_key, piece, payment_id,
                                          event_id, label, identity_id, kind, offline_allowed, status, held_for, valid_from,
                                          valid_until, policy_version, methods, max_entries, reentry_minutes, undo_minutes,
                                          entries, entered, duplicates, epoch, version, created_at, changed_at)
    SELECT '{ORGANIZATION}', md5('right' || n)::uuid, 'key' || n, 'TICKET_ORDER', 'ord_' || n, 'type', 0, md5('payment' || n)::uuid,
           'event_' || n % {EVENTS}, 'Standing', md5('buyer' || n)::uuid, 'ticket', false, 'ACTIVE', '{{}}', now(),
           now() + interval '1 day', 1, '{{QR_TICKET}}', 1, 0, 0, 0, 0, 0, 0, 1, now(), now()
      FROM generate_series(1, {EVENTS * EACH}) AS n;
"""
QUIET = """
    UPDATE events.ticket_order SET state = 'CANCELLED';
    UPDATE entitlements.entitlement SET status = 'EXPIRED';
"""
GROUND = Ground(TABLES, FILL, ORGANIZATION, BUYER, QUIET)
EVENT, SOME = "md5('event7')::uuid", range(1, 41)
DAY = "now() - interval '1 hour', now() + interval '1 hour'"
EVENT_IDS, ORDERS, TYPES = ids("event", *SOME), ids("order", *SOME), ids("type", *SOME)
KEYS = f"{ids('buyer', *SOME)}, {array('text', *(f'$$key{n}$$' for n in SOME))}"
KEPT = f"{ORDERS}, {array('integer', *('1' for _ in SOME))}, {array('timestamptz', *('now()' for _ in SOME))}, now()"
SOON = f"now(), {FIRST}, 'infinity', now(), 50"
OWN_UNTIL = f"'infinity', {LAST}, NULL, NULL, 50"
ASKED = {
    "the newest orders": Asked(reports.LIST_ORDERS.newest, f"{EVENT}, {LAST}, {FIRST}, 50", {"ticket_order_of_event"}),
    "the oldest orders": Asked(reports.LIST_ORDERS.oldest, f"{EVENT}, {LAST}, {FIRST}, 50", {"ticket_order_of_event"}),
    "the oldest tickets": Asked(reports.LIST_TICKETS.oldest, f"{EVENT}, {FIRST}, {LAST}, 50", {"ticket_of_event"}),
    "the newest tickets": Asked(reports.LIST_TICKETS.newest, f"{EVENT}, {FIRST}, {LAST}, 50", {"ticket_of_event"}),
    "sales by day": Asked(
        reports.SUM_SALES, f"{EVENT}, {FIRST}, {LAST}, ARRAY[{DAY}], {DAY}, 1000000", {"ticket_of_event"}
    ),
    "what people have": Asked(lists.SUM_PIECES, "'event_7', 1000000", {"entitlement_of_event"}),
    "what is not over for long": Asked(
        reports.LIST_PUBLISHED, f"now() - interval '1 day', {FIRST}, 50", {"listing_over"}, role=Role.RELAY
    ),
    "whose lines come next": Asked(listing.FIND_NEXT_HOUSE, FIRST, {"listing_of_organization"}, role=Role.RELAY),
    "where it is kept": Asked(listing.FIND_HOME, EVENT, {"listing_pkey"}),
    "what is on": Asked(listing.LIST_EVERYWHERE, SOON, {"listing_by_start", "house_pkey"}),
    "what is on in Porto": Asked(listing.LIST_IN_CITY, f"'Porto', {SOON}", {"listing_by_city", "house_pkey"}),
    "what a club has on": Asked(listing.LIST_OF_ORGANIZATION, f"'', {SOON}", {"listing_of_organization", "house_pkey"}),
    "events": Asked(events.FIND_EVENTS, EVENT_IDS, {"event_pkey"}),
    "sessions": Asked(events.FIND_SESSIONS, EVENT_IDS, {"session_pkey"}),
    "types": Asked(events.FIND_TYPES, TYPES, {"ticket_type_pkey"}),
    "types of events": Asked(events.FIND_TYPES_OF_EVENTS, EVENT_IDS, {"ticket_type_of_event"}),
    "policies in force": Asked(events.FIND_POLICIES, EVENT_IDS, {"event_pkey", "access_policy_pkey"}),
    "pools that are shared": Asked(planning.FIND_SHARED_POOLS, EVENT_IDS, {"shared_pool_pkey"}),
    "an organiser's own": Asked(planning.LIST_OWN.oldest, f"now(), {FIRST}, {OWN_UNTIL}", {"event_by_start"}),
    "an organiser's latest": Asked(planning.LIST_OWN.newest, f"'-infinity', {FIRST}, {OWN_UNTIL}", {"event_by_start"}),
    "policies that were": Asked(planning.LIST_POLICIES, f"{EVENT}, 3, 50", {"access_policy_pkey"}),
    "orders": Asked(orders.FIND_ORDERS, ORDERS, {"ticket_order_pkey"}),
    "orders that are held": Asked(orders.LOCK_ORDERS.skipping, ORDERS, {"ticket_order_pkey"}),
    "orders kept longer": Asked(orders.KEEP_ORDERS, KEPT, {"ticket_order_pkey"}, most=40 * 40),
    "orders by key": Asked(orders.FIND_BY_KEYS, KEYS, {"ticket_order_organization_id_identity_id_key_key"}),
    "their lines": Asked(orders.FIND_LINES, ORDERS, {"order_line_pkey"}),
    "orders of an event": Asked(orders.LIST_OF_EVENT, f"{EVENT}, {FIRST}, {LAST}, 50", {"ticket_order_of_event"}),
    "what stands under older keys": Asked(
        rotation.LIST_STALE, f"0, {FIRST}, 2, 50", {"ticket_order_by_key"}, role=Role.RELAY
    ),
    "what is sealed": Asked(rotation.FIND_BILLING, ids("order", *range(50, 2000, 50)), {"ticket_order_pkey"}),
    "one's own orders": Asked(orders.LIST_OWN, f"{LAST}, 50", {"ticket_order_of_buyer"}, role=Role.BUYER),
    "one's own order": Asked(orders.FIND_OWN, "md5('order100')::uuid", {"ticket_order_of_buyer"}, role=Role.BUYER),
    "tickets of orders": Asked(
        tickets.FIND_OF_ORDERS, ORDERS, {"ticket_organization_id_order_id_ticket_type_id_emission_ind_key"}
    ),
    "a guest's link": Asked(
        guest_links.FIND_LINK, "sha256(md5('order7')::uuid::text::bytea), now()", {"guest_link_pkey"}
    ),
}


@pytest.mark.parametrize("planned", PLANNED)
async def test_what_is_looked_at_reads_the_rows_of_one_event(clone: Clone, planned: str):
    await GROUND.reads_what_it_needs(clone, ASKED, planned)


def test_of_all_that_is_found_it_is_known_how():
    assert unproved((events, guest_links, listing, orders, planning, reports, rotation, tickets), ASKED) == set()
