"""The authority read is found by its indexes on large tables, also when it was planned on empty ones.

It is read with every call, so a scan here is an outage.
"""

import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import asyncpg

from admitone.foundation.authority.store.members import LIST_OVERRIDES
from admitone.foundation.authority.store.reading import FIND_MEMBERSHIP, FIND_SWITCHES, RESOLVE
from admitone.foundation.authority.store.sessions import FIND_SPENT, LOCK_BY_REFRESH
from admitone.kernel.driver import session_of
from admitone.kernel.scope import Role
from tests.conftest import Clone

ROWS = 50_000
FILL = f"""
    INSERT INTO authority.session (id, identity_id, access_digest, access_expires_at, refresh_digest,
                                   refresh_expires_at, lasts_until, method, authenticated_at, created_at, refreshed_at)
    SELECT md5(n::text)::uuid, md5((n / 2)::text)::uuid, sha256(('a' || n)::bytea), now() + interval '1 hour',
           sha256(('r' || n)::bytea), now() + interval '1 day', now() + interval '2 days', 'CODE', now(), now(), now()
      FROM generate_series(1, {ROWS}) AS n;
    INSERT INTO authority.spent_token (digest, session_id, spent_at)
    SELECT sha256(('s' || n)::bytea), md5(n::text)::uuid, now() FROM generate_series(1, {ROWS}) AS n;
    INSERT INTO authority.branch (organization_id, group_id, created_at)
    SELECT md5('o' || n)::uuid, md5('o' || n / 3)::uuid, now() FROM generate_series(1, {ROWS // 10}) AS n;
    INSERT INTO authority.group_member (organization_id, identity_id, role, scopes, created_at, version)
    SELECT md5('o' || n / 10)::uuid, md5(n::text)::uuid, 'STAFF', '{{}}', now(), 1
      FROM generate_series(1, {ROWS}) AS n;
    INSERT INTO authority.member_override (organization_id, identity_id, role, scopes, created_at, version)
    SELECT md5('o' || n / 10)::uuid, md5(n::text)::uuid, 'STAFF', '{{}}', now(), 1
      FROM generate_series(1, {ROWS}) AS n;
    INSERT INTO authority.module_entry (organization_id, module, enabled, changed_at)
    SELECT md5('o' || n)::uuid, module, true, now()
      FROM generate_series(1, {ROWS // 10}) AS n, unnest(ARRAY['EVENTOS', 'CRM', 'STAFF']) AS module;
    INSERT INTO authority.service_key (organization_id, id, digest, purpose, label, scopes, created_at)
    SELECT md5('o' || n / 3)::uuid, md5(n::text)::uuid, sha256(('k' || n)::bytea), 'API', 'till', '{{EVENTS_R}}', now()
      FROM generate_series(1, {ROWS}) AS n;
    INSERT INTO authority.switch (organization_id, key, reason_code, case_reference, set_by, set_at, expires_at)
    SELECT '00000000-0000-7000-8000-000000000001', 'stop:event:evt_' || md5(n::text), 'FRAUD', 'case',
           md5(n::text)::uuid, now(), now() + interval '1 day'
      FROM generate_series(1, {ROWS}) AS n;
"""
TABLES = (
    "session", "spent_token", "branch", "group_member", "member_override", "module_entry", "service_key", "switch"
)  # fmt: skip

STATEMENTS = {
    "resolve": (
        Role.AUTHORITY,
        RESOLVE,
        "ARRAY[sha256('a7'), sha256('k7')], ARRAY[md5('o1')::uuid, md5('o2')::uuid], now(), md5('o1')::uuid",
        {
            "session_by_access",
            "service_key_by_digest",
            "branch_pkey",
            "group_member_pkey",
            "member_override_pkey",
            "module_entry_pkey",
            "switch_pkey",
        },
    ),
    "find_switches": (
        Role.AUTHORITY,
        FIND_SWITCHES,
        "ARRAY[md5('o1')::uuid, '00000000-0000-7000-8000-000000000001'], ARRAY['feature:x', 'stop:event:evt_x'], now()",
        {"switch_pkey"},
    ),
    "find_membership": (
        Role.AUTHORITY,
        FIND_MEMBERSHIP,
        "md5('o1')::uuid, md5('7')::uuid",
        {"branch_pkey", "group_member_pkey", "member_override_pkey"},
    ),
    "list_overrides": (
        Role.AUTHORITY,
        LIST_OVERRIDES,
        "md5('o1')::uuid, md5('7')::uuid, md5('o0')::uuid, 500",
        {"branch_by_group", "member_override_pkey"},
    ),
    "lock_by_refresh": (Role.IDENTITY, LOCK_BY_REFRESH.skipping, "ARRAY[sha256('r7')]", {"session_by_refresh"}),
    "find_spent": (Role.IDENTITY, FIND_SPENT, "ARRAY[sha256('s7')]", {"spent_token_pkey", "session_pkey"}),
}


async def plan_of(session: asyncpg.Connection, name: str) -> dict[str, Any]:
    values = STATEMENTS[name][2]
    [row] = await session.fetch(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE {name}({values})")
    plan: dict[str, Any] = json.loads(row[0])[0]["Plan"]
    return plan


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from nodes_of(inner)


TWINS = {"group_member_by_identity": "group_member_pkey", "member_override_by_identity": "member_override_pkey"}
"""The same two columns the other way round, which is as good to find one row."""


def complaints_about(plan: dict[str, Any], indexes: set[str]) -> Iterator[str]:
    nodes = [*nodes_of(plan)]
    used = {TWINS.get(node["Index Name"], node["Index Name"]) for node in nodes if "Index Name" in node}
    if used != indexes:
        yield f"goes by {sorted(used)}"
    for node in nodes:
        if node["Node Type"] == "Seq Scan":
            yield f"reads all of {node['Relation Name']}"
        elif node["Actual Rows"] + node.get("Rows Removed by Filter", 0) > 10:
            yield f"reads too much: {node}"


async def test_what_every_call_reads_is_found_by_its_index(clone: Clone):
    """Planned while the tables were empty, and planned when they were full and analysed."""
    async with AsyncExitStack() as stack:
        owner = await asyncpg.connect(clone.superuser_url)
        stack.push_async_callback(owner.close)
        early = await prepared(stack, clone.url)
        await owner.execute(FILL)
        found = [(each, "early", await plan_of(early[STATEMENTS[each][0]], each)) for each in STATEMENTS]
        await owner.execute(f"ANALYZE {', '.join(f'authority.{table}' for table in TABLES)}")
        late = await prepared(stack, clone.url)
        found += [(each, "late", await plan_of(late[STATEMENTS[each][0]], each)) for each in STATEMENTS]
        wrong = [
            (each, when, said) for each, when, plan in found for said in complaints_about(plan, STATEMENTS[each][3])
        ]
    assert wrong == []


async def prepared(stack: AsyncExitStack, url: str) -> dict[Role, asyncpg.Connection]:
    sessions = {}
    for role in (Role.AUTHORITY, Role.IDENTITY):
        sessions[role] = await asyncpg.connect(url, server_settings=session_of(role))
        stack.push_async_callback(sessions[role].close)
    for name, (role, sql, values, _) in STATEMENTS.items():
        await sessions[role].execute(f"PREPARE {name} AS {sql}")
        await sessions[role].fetch(f"EXECUTE {name}({values})")
    return sessions
