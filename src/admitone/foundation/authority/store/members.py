"""Groups, their members and overrides, and the modules of organisations."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from admitone.foundation.authority.model import Denial, Level, Membership
from admitone.kernel.db import PlatformTx, Record, Tx
from admitone.kernel.statements import Insert, Lock

PAGE = 500

INSERT_BRANCH = Insert("authority.branch", {"group_id": "uuid", "created_at": "timestamptz"})

FIND_GROUP = "SELECT group_id FROM authority.branch WHERE organization_id = $1"


LOCK_MEMBERS = Lock(
    """
    SELECT identity_id, role, pack, scopes, branches, version
      FROM authority.group_member
     WHERE organization_id = $1
       AND identity_id = ANY($2::uuid[])
     ORDER BY identity_id
    """,
    key="identity_id",
)


LIST_OWNERS = """
    SELECT identity_id
      FROM authority.group_member
     WHERE organization_id = $1
       AND role = 'OWNER'
     ORDER BY identity_id
     LIMIT 1000
"""


PUT_MEMBERS = Insert(
    "authority.group_member",
    {
        "identity_id": "uuid",
        "role": "text",
        "pack": "text",
        "scopes": "text[]",
        "branches": "uuid[]",
        "created_at": "timestamptz",
        "version": "bigint",
    },
    on_conflict="""(organization_id, identity_id) DO UPDATE
        SET role = EXCLUDED.role, pack = EXCLUDED.pack, scopes = EXCLUDED.scopes, branches = EXCLUDED.branches,
            version = authority.group_member.version + 1""",
)


REMOVE_MEMBERS = """
    DELETE FROM authority.group_member
     WHERE organization_id = $1
       AND identity_id = ANY($2::uuid[])
"""


LOCK_OVERRIDES = Lock(
    """
    SELECT identity_id, role, pack, scopes, version
      FROM authority.member_override
     WHERE organization_id = $1
       AND identity_id = ANY($2::uuid[])
     ORDER BY identity_id
    """,
    key="identity_id",
)


PUT_OVERRIDES = Insert(
    "authority.member_override",
    {
        "identity_id": "uuid",
        "role": "text",
        "pack": "text",
        "scopes": "text[]",
        "created_at": "timestamptz",
        "version": "bigint",
    },
    on_conflict="""(organization_id, identity_id) DO UPDATE
        SET role = EXCLUDED.role, pack = EXCLUDED.pack, scopes = EXCLUDED.scopes,
            version = authority.member_override.version + 1""",
)


REMOVE_OVERRIDES = """
    DELETE FROM authority.member_override
     WHERE organization_id = $1
       AND identity_id = ANY($2::uuid[])
"""


LIST_BRANCHES = """
    SELECT organization_id
      FROM authority.branch
     WHERE group_id = $1
       AND organization_id > $2
     ORDER BY organization_id
     LIMIT $3
"""


STANDING = """m.role AS member_role, m.pack AS member_pack, m.scopes AS member_scopes, m.branches,
           o.identity_id AS overridden_id, o.role AS override_role, o.pack AS override_pack,
           o.scopes AS override_scopes"""
"""What somebody is in a group, and in one organisation of it instead: the columns of `JOIN_STANDING`."""


JOIN_STANDING = """LEFT JOIN LATERAL (SELECT role, pack, scopes, branches
                           FROM authority.group_member
                          WHERE organization_id = {group} AND identity_id = {identity}
                         OFFSET 0) AS m ON true
      LEFT JOIN LATERAL (SELECT identity_id, role, pack, scopes
                           FROM authority.member_override
                          WHERE organization_id = {organization} AND identity_id = {identity}
                         OFFSET 0) AS o ON true"""


FIND_MEMBERSHIPS = f"""
    SELECT i.identity_id, {STANDING}
      FROM unnest($3::uuid[]) AS i(identity_id)
      {JOIN_STANDING.format(group="$1", organization="$2", identity="i.identity_id")}
"""  # noqa: S608, of constants


LIST_MEMBERS = f"""
    SELECT p.identity_id, {STANDING}
      FROM (SELECT identity_id FROM authority.group_member WHERE organization_id = $1 AND identity_id > $3
             UNION
            SELECT identity_id FROM authority.member_override WHERE organization_id = $2 AND identity_id > $3) AS p
      {JOIN_STANDING.format(group="$1", organization="$2", identity="p.identity_id")}
     ORDER BY p.identity_id
     LIMIT $4
"""  # noqa: S608, of constants


LIST_ORGANIZATIONS = f"""
    SELECT p.organization_id, p.group_id, {STANDING}
      FROM (SELECT b.organization_id, b.group_id
              FROM authority.group_member AS g
             CROSS JOIN LATERAL (SELECT organization_id, group_id
                                   FROM authority.branch
                                  WHERE group_id = g.organization_id
                                 OFFSET 0) AS b
             WHERE g.identity_id = $1
             UNION
            SELECT b.organization_id, b.group_id
              FROM authority.member_override AS v
             CROSS JOIN LATERAL (SELECT organization_id, group_id
                                   FROM authority.branch
                                  WHERE organization_id = v.organization_id
                                 OFFSET 0) AS b
             WHERE v.identity_id = $1) AS p
      {JOIN_STANDING.format(group="p.group_id", organization="p.organization_id", identity="$1")}
     WHERE p.organization_id > $2
     ORDER BY p.organization_id
     LIMIT $3
"""  # noqa: S608, of constants


LIST_OVERRIDES = """
    SELECT b.organization_id, o.identity_id AS overridden_id, o.role AS override_role, o.pack AS override_pack,
           o.scopes AS override_scopes
      FROM authority.branch AS b
     CROSS JOIN LATERAL (SELECT identity_id, role, pack, scopes
                           FROM authority.member_override
                          WHERE organization_id = b.organization_id AND identity_id = $2
                         OFFSET 0) AS o
     WHERE b.group_id = $1
       AND b.organization_id > $3
     ORDER BY b.organization_id
     LIMIT $4
"""


PUT_MODULES = Insert(
    "authority.module_entry",
    {"module": "text", "enabled": "boolean", "changed_at": "timestamptz"},
    on_conflict="""(organization_id, module) DO UPDATE
        SET enabled = EXCLUDED.enabled, changed_at = EXCLUDED.changed_at""",
)


LIST_MODULES = """
    SELECT module, enabled
      FROM authority.module_entry
     WHERE organization_id = $1
     ORDER BY module
     LIMIT 50
"""


class MemberRow(msgspec.Struct, frozen=True):
    identity_id: UUID
    role: str | None
    pack: str | None
    scopes: tuple[str, ...]
    branches: tuple[UUID, ...] | None
    created_at: datetime
    version: int = 1


class ModuleRow(msgspec.Struct, frozen=True):
    module: str
    enabled: bool
    changed_at: datetime


class BranchRow(msgspec.Struct, frozen=True):
    group_id: UUID
    created_at: datetime


def member_of(row: Record) -> Membership | None:
    if row["member_role"] is None:
        return None
    branches = None if row["branches"] is None else tuple(row["branches"])
    return Membership(row["member_role"], row["member_pack"], tuple(row["member_scopes"]), Level.GROUP, branches)


def override_of(row: Record) -> Membership | Denial | None:
    if row["overridden_id"] is None:
        return None
    if row["override_role"] is None:
        return Denial()
    return Membership(row["override_role"], row["override_pack"], tuple(row["override_scopes"]), Level.BRANCH)


async def insert_branch(tx: Tx, group: UUID) -> None:
    await tx.insert_exactly(INSERT_BRANCH, [BranchRow(group, tx.now)])


async def find_group(tx: Tx) -> UUID | None:
    row = await tx.find(FIND_GROUP)
    return row["group_id"] if row else None


async def list_owners(tx: Tx) -> list[UUID]:
    return [row["identity_id"] for row in await tx.fetch(LIST_OWNERS)]


async def lock_members(tx: Tx, identities: Sequence[UUID]) -> dict[UUID, Membership]:
    """Those of them who are members, and every owner: whoever takes one away holds all of them, so that one stays."""
    rows = await tx.lock(LOCK_MEMBERS, [*{*identities, *await list_owners(tx)}], lambda identity: identity)
    return {
        identity: Membership(
            row["role"],
            row["pack"],
            tuple(row["scopes"]),
            Level.GROUP,
            None if row["branches"] is None else tuple(row["branches"]),
        )
        for identity, row in rows.items()
    }


async def put_members(tx: Tx, members: Mapping[UUID, Membership]) -> None:
    rows = [_row(tx, identity, member) for identity, member in sorted(members.items())]
    await tx.insert_exactly(PUT_MEMBERS, rows)


async def remove_members(tx: Tx, identities: Sequence[UUID]) -> None:
    await tx.execute_exactly(len(identities), REMOVE_MEMBERS, identities)


async def lock_overrides(tx: Tx, identities: Sequence[UUID]) -> dict[UUID, Membership | Denial]:
    rows = await tx.lock(LOCK_OVERRIDES, identities, lambda identity: identity)
    return {
        identity: Denial()
        if row["role"] is None
        else Membership(row["role"], row["pack"], tuple(row["scopes"]), Level.BRANCH)
        for identity, row in rows.items()
    }


async def put_overrides(tx: Tx, overrides: Mapping[UUID, Membership | Denial]) -> None:
    rows = [_row(tx, identity, override) for identity, override in sorted(overrides.items())]
    await tx.insert_exactly(PUT_OVERRIDES, rows)


async def remove_overrides(tx: Tx, identities: Sequence[UUID]) -> None:
    await tx.execute_exactly(len(identities), REMOVE_OVERRIDES, identities)


def _row(tx: Tx, identity: UUID, membership: Membership | Denial) -> MemberRow:
    if isinstance(membership, Denial):
        return MemberRow(identity, None, None, (), None, tx.now)
    return MemberRow(identity, membership.role, membership.pack, membership.scopes, membership.branches, tx.now)


async def list_members(
    tx: PlatformTx, group: UUID, organization: UUID, after: UUID, limit: int
) -> list[tuple[UUID, Membership | None, Membership | Denial | None]]:
    rows = await tx.fetch(LIST_MEMBERS, group, organization, after, limit)
    return [(row["identity_id"], member_of(row), override_of(row)) for row in rows]


async def find_memberships(
    tx: PlatformTx, group: UUID, organization: UUID, identities: Sequence[UUID]
) -> dict[UUID, tuple[Membership | None, Membership | Denial | None]]:
    """What each of them is in the group, and in this organisation of it instead."""
    rows = await tx.fetch(FIND_MEMBERSHIPS, group, organization, identities)
    return {row["identity_id"]: (member_of(row), override_of(row)) for row in rows}


async def list_branches(tx: PlatformTx, group: UUID, after: UUID, limit: int) -> list[UUID]:
    """The organisations of a group, its mother among them."""
    return [row["organization_id"] for row in await tx.fetch(LIST_BRANCHES, group, after, limit)]


async def list_organizations(
    tx: PlatformTx, identity: UUID, after: UUID, limit: int
) -> list[tuple[UUID, UUID, Membership | None, Membership | Denial | None]]:
    rows = await tx.fetch(LIST_ORGANIZATIONS, identity, after, limit)
    return [(row["organization_id"], row["group_id"], member_of(row), override_of(row)) for row in rows]


async def find_overrides(tx: PlatformTx, group: UUID, identity: UUID) -> dict[UUID, Membership | Denial]:
    """What somebody is instead, in every organisation of a group that says so, however many they are."""
    found: dict[UUID, Membership | Denial] = {}
    after = UUID(int=0)
    while rows := await tx.fetch(LIST_OVERRIDES, group, identity, after, PAGE):
        after = rows[-1]["organization_id"]
        found.update((row["organization_id"], override) for row in rows if (override := override_of(row)))
    return found


async def put_modules(tx: Tx, modules: Mapping[str, bool]) -> None:
    rows = [ModuleRow(module, enabled, tx.now) for module, enabled in sorted(modules.items())]
    await tx.insert_exactly(PUT_MODULES, rows)


async def list_modules(tx: Tx) -> dict[str, bool]:
    return {row["module"]: row["enabled"] for row in await tx.fetch(LIST_MODULES)}
