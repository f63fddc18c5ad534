"""The authority read, asked as the edge asks it, about people and organisations that exist."""

import pytest

from admitone.foundation.authority.api import Denial, Level, MemberRole, Membership, RolePack, TableAuthority
from admitone.foundation.authority.errors import ModuleDisabled
from admitone.kernel.authority import Ask, Audience, Granted, PermissionDenied
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal, Unauthenticated
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller, PlatformScope, Role
from tests.people import (
    Person,
    a_branch_of,
    a_member,
    a_person,
    a_platform_admin,
    an_organization_of,
    an_override,
)

READS = PlatformScope("test", Role.AUTHORITY)


async def asked(
    database: Database, person: Person, organization: OrganizationId | None, permission: str, audience: Audience
) -> Granted | Refusal:
    ask = Ask(audience, person.access_token, organization, permission, None, Caller())
    [answer] = await database.read(READS, TableAuthority().resolve, [ask])
    return answer


async def may(database: Database, person: Person, organization: OrganizationId, permission: str) -> bool:
    return isinstance(await asked(database, person, organization, permission, Audience.ORGANIZATION), Granted)


@pytest.mark.covers("ORG-023", "TEN-T06")
async def test_an_owner_may_here_and_nothing_anywhere_else(database: Database):
    owner, other = await a_person(database), await a_person(database)
    here, elsewhere = await an_organization_of(database, owner), await an_organization_of(database, other)
    assert await may(database, owner, here, "TEAM_RW")
    refused = await asked(database, owner, elsewhere, "TEAM_R", Audience.ORGANIZATION)
    assert isinstance(refused, PermissionDenied) and refused.actor == owner.identity
    assert not await may(database, owner, OrganizationId.new(), "TEAM_R")


@pytest.mark.covers("ORG-011")
async def test_who_is_something_in_some_branches_is_nothing_in_the_others(database: Database):
    mother = await an_organization_of(database, await a_person(database))
    one, two = await a_branch_of(database, mother), await a_branch_of(database, mother)
    everywhere = await a_member(database, mother, MemberRole.ADMIN)
    limited = await a_member(database, mother, MemberRole.ADMIN, branches=(one,))
    assert [await may(database, everywhere, each, "TEAM_R") for each in (mother, one, two)] == [True, True, True]
    assert [await may(database, limited, each, "TEAM_R") for each in (mother, one, two)] == [False, True, False]


@pytest.mark.covers("ORG-010")
async def test_the_override_of_a_branch_beats_the_role_in_the_group(database: Database):
    mother = await an_organization_of(database, await a_person(database))
    branch = await a_branch_of(database, mother)
    admin, viewer = (
        await a_member(database, mother, MemberRole.ADMIN),
        await a_member(database, mother, MemberRole.VIEWER),
    )
    await an_override(database, branch, admin, Denial())
    await an_override(database, branch, viewer, Membership(MemberRole.ADMIN, level=Level.BRANCH))
    assert [await may(database, admin, each, "TEAM_R") for each in (mother, branch)] == [True, False]
    assert [await may(database, viewer, each, "TEAM_R") for each in (mother, branch)] == [False, True]


@pytest.mark.covers("ORG-012")
async def test_without_the_module_even_an_owner_is_refused(database: Database):
    owner = await a_person(database)
    club = await an_organization_of(database, owner, modules={"STAFF"})
    assert await may(database, owner, club, "TEAM_R")
    assert isinstance(await asked(database, owner, club, "SETTINGS_R", Audience.ORGANIZATION), ModuleDisabled)


async def test_a_pack_is_a_preset_and_the_role_beside_it_adds_nothing(database: Database):
    club = await an_organization_of(database, await a_person(database))
    manager = await a_member(database, club, MemberRole.ADMIN, RolePack.CLUB_MANAGER)
    assert await may(database, manager, club, "TEAM_R")
    assert not await may(database, manager, club, "TEAM_RW")


async def test_the_platform_is_for_its_own_members(database: Database):
    admin, owner = await a_platform_admin(database), await a_person(database)
    await an_organization_of(database, owner)
    assert isinstance(await asked(database, admin, None, "PLATFORM_RW", Audience.ADMIN), Granted)
    assert isinstance(await asked(database, owner, None, "PLATFORM_R", Audience.ADMIN), PermissionDenied)
    nobody = Person(owner.identity, "access_0_" + "0" * 40)
    assert isinstance(await asked(database, nobody, None, "PLATFORM_R", Audience.ADMIN), Unauthenticated)
