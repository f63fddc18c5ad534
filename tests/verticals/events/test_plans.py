"""What is looked at goes by its own index and reads one event's rows, whatever the planner believed when it made the plan."""

import re
from uuid import UUID

import asyncpg
import pytest

from admitone.entitlements.store import lists
from admitone.kernel.driver import session_of
from admitone.kernel.embedded import SUPERUSER
from admitone.kernel.scope import Role
from admitone.verticals.events.store import reports
from tests.conftest import TEMPLATE, TestCluster, run_as_superuser

ORGANIZATION = UUID("00000000-0000-7000-8000-0000000000ab")
EVENTS, EACH = 100, 100
"""So many events, and so many orders, tickets and rights of each."""
TABLES = "events.ticket_order, events.order_line, events.ticket, events.guest_link, entitlements.entitlement"
ANALYSED = "events.ticket_order, events.ticket, entitlements.entitlement"
FILL = f"""
    INSERT INTO kernel.tenant (id, created_at) VALUES ('{ORGANIZATION}', now()) ON CONFLICT DO NOTHING;
    INSERT INTO events.ticket_order (organization_id, id, event_id, identity_id, key, request_hash, state, currency, amount_minor,
                                     is_guest, language, age_confirmed, expires_at, version, created_at, changed_at)
    SELECT '{ORGANIZATION}', md5('order' || n)::uuid, md5('event' || n % {EVENTS})::uuid, md5('buyer' || n)::uuid, 'key', '\\x00',
           'OPEN', 'EUR', 2500, false, 'en', false, now(), 1, now(), now()
      FROM generate_series(1, {EVENTS * EACH}) AS n;
    INSERT INTO events.ticket (organization_id, id, order_id, event_id, ticket_type_id, emission_index, identity_id, status,
                               price_minor, version, created_at, changed_at)
    SELECT '{ORGANIZATION}', md5('ticket' || n)::uuid, md5('order' || n)::uuid, md5('event' || n % {EVENTS})::uuid,
           md5('type')::uuid, 0, md5('buyer' || n)::uuid, 'ACTIVE', 2500, 1, now(), now()
      FROM generate_series(1, {EVENTS * EACH}) AS n;
    INSERT INTO entitlements.entitlement (organization_id, id, emission_key, source_type, source_id, line_key, piece, payment_id,
                                          event_id, label, identity_id, kind, offline_allowed, status, held_for, valid_from,
                                          valid_until, policy_version, methods, max_entries, reentry_minutes, undo_minutes,
                                          entries, entered, duplicates, epoch, version, created_at, changed_at)
    SELECT '{ORGANIZATION}', md5('right' || n)::uuid, 'key' || n, 'TICKET_ORDER', 'ord_' || n, 'type', 0, md5('payment' || n)::uuid,
           'event_' || n % {EVENTS}, 'Standing', md5('buyer' || n)::uuid, 'ticket', false, 'ACTIVE', '{{}}', now(),
           now() + interval '1 day', 1, '{{QR_TICKET}}', 1, 0, 0, 0, 0, 0, 0, 1, now(), now()
      FROM generate_series(1, {EVENTS * EACH}) AS n;
"""
EVENT, FIRST, LAST = "md5('event7')::uuid", f"'{UUID(int=0)}'", f"'{UUID(int=2**128 - 1)}'"
DAY = "now() - interval '1 hour', now() + interval '1 hour'"
ASKED = {
    "a page of orders": (reports.LIST_ORDERS, f"{EVENT}, {LAST}, {FIRST}, 50", "ticket_order_of_event"),
    "a page of tickets": (reports.LIST_TICKETS, f"{EVENT}, {FIRST}, {LAST}, 50", "ticket_of_event"),
    "sales by day": (reports.SUM_SALES, f"{EVENT}, {FIRST}, {LAST}, ARRAY[{DAY}], {DAY}, 1000000", "ticket_of_event"),
    "what people have": (lists.SUM_PIECES, "'event_7', 1000000", "entitlement_of_event"),
}
MOST_READ = 2 * EACH


@pytest.fixture(scope="module")
async def name(cluster: TestCluster, worker_id: str) -> str:
    name = f"admitone_reports_{worker_id}"
    await run_as_superuser(cluster.url("postgres", SUPERUSER), f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    return name


@pytest.mark.parametrize("planned", ["empty", "analysed empty", "full", "analysed full"])
async def test_what_is_looked_at_reads_the_rows_of_one_event(cluster: TestCluster, name: str, planned: str):
    owner = await asyncpg.connect(cluster.url(name, SUPERUSER))
    app = await asyncpg.connect(cluster.url(name), server_settings=session_of(Role.APP))
    try:
        await owner.execute(f"TRUNCATE {TABLES} CASCADE")
        if planned == "analysed empty":
            await owner.execute(f"VACUUM ANALYZE {ANALYSED}")
        if "empty" in planned:
            await _prepare(app)
        await owner.execute(FILL)
        if planned == "analysed full":
            await owner.execute(f"VACUUM ANALYZE {ANALYSED}")
        if "full" in planned:
            await _prepare(app)
        for what, (_, _, index) in ASKED.items():
            plan = await _run(app, what)
            assert f"{index} on" in plan or f"on {index}" in plan, f"{what}: {plan}"
            assert 0 < max(_rows(plan)) <= MOST_READ, f"{what}: {plan}"
    finally:
        await app.close()
        await owner.close()


async def _prepare(app: asyncpg.Connection) -> None:
    await app.execute(f"SELECT set_config('app.organization_id', '{ORGANIZATION}', false)")
    for number, what in enumerate(ASKED):
        await app.execute(f"PREPARE asked_{number} AS {ASKED[what][0]}")
        await _run(app, what)


async def _run(app: asyncpg.Connection, what: str) -> str:
    number = [*ASKED].index(what)
    said = f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE asked_{number}('{ORGANIZATION}', {ASKED[what][1]})"
    return "\n".join(row[0] for row in await app.fetch(said))


def _rows(plan: str) -> list[int]:
    """What was looked at: of each step its rows and those that it threw away, in all its rounds."""
    removed = [int(found) for found in re.findall(r"Rows Removed by (?:Join )?Filter: (\d+)", plan)]
    read = [float(rows) * int(loops) for rows, loops in re.findall(r"rows=([\d.]+) loops=(\d+)", plan)]
    return [*removed, *map(int, read)]
