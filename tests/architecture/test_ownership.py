"""Organisations own what is sold, and members are what authority's tables say (ORG-002, ORG-010)."""

import asyncpg
import pytest

from admitone.kernel.manifest import TableClass
from tests.architecture.catalog import Catalog, read_catalog
from tests.architecture.statements import ALL_MODULES

LEGACY = {"organization_member", "organization_members", "organizationmember", "organizationmembers"}
MEMBERSHIP = {"authority.group_member", "authority.member_override"}
OWNERS = {"owner", "owner_id", "owner_user_id", "owner_identity_id", "user_id", "seller_id", "seller_identity_id"}
"""How a column would say that what is sold belongs to a person. Who acted is `created_by`, `invited_by`, `identity_id`."""


def misowned(catalog: Catalog) -> list[str]:
    sold = {f"{m.name}.{t.name}" for m in ALL_MODULES for t in m.tables if t.kind is TableClass.TENANT}
    tables = {each["table"] for each in catalog.columns}
    roles = {each["table"] for each in catalog.columns if each["name"] == "role" and "invitation" not in each["table"]}
    return [
        *(f"{table} is a second truth about members" for table in tables if table.split(".")[1] in LEGACY),
        *(f"{table} says who has which role, and is not authority's" for table in roles - MEMBERSHIP),
        *(
            f"{each['table']}.{each['name']} gives to a person what an organisation owns"
            for each in catalog.columns
            if each["table"] in sold and each["name"] in OWNERS
        ),
    ]


@pytest.mark.covers("ORG-002", "ORG-010")
async def test_organizations_own_what_is_sold_and_membership_has_one_truth(superuser: asyncpg.Connection):
    assert misowned(await read_catalog(superuser)) == []


@pytest.mark.parametrize(
    ("ddl", "complaint"),
    [
        ("CREATE TABLE organizations.organization_members (id uuid)", "second truth about members"),
        ("CREATE TABLE toy.crew (organization_id uuid, role text)", "toy.crew says who has which role"),
        ("ALTER TABLE toy.counter ADD owner_user_id uuid", "toy.counter.owner_user_id gives to a person"),
    ],
)
async def test_another_owner_or_another_truth_is_seen(superuser: asyncpg.Connection, ddl: str, complaint: str):
    planted = superuser.transaction()
    await planted.start()
    try:
        await superuser.execute(ddl)
        seen = misowned(await read_catalog(superuser))
    finally:
        await planted.rollback()
    assert any(complaint in each for each in seen), seen
