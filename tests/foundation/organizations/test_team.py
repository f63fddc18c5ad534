"""Who is what in a team, and who may change it: at the edge, in the database, and at the same time."""

import asyncio
import csv
import json
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.foundation.authority.api import Denial, Level, MemberRole, Membership, RolePack, put_members
from admitone.foundation.organizations.commands.team import change_members
from admitone.foundation.organizations.errors import GrantNotAllowed, LastOwner
from admitone.foundation.organizations.model import Change, Changed
from admitone.kernel.batch import Batcher
from admitone.kernel.clock import Clock
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import PLATFORM_ORGANIZATION, IdentityId, OrganizationId
from admitone.kernel.scope import Scope
from tests.builders import at_the_same_time
from tests.foundation.organizations.clubs import a_club, facts_of, kept_out, made, removed, team_of, trail_of
from tests.people import Person, a_branch_of, a_member, a_person, an_organization_of, an_override

OWNER, CO_OWNER, ADMIN, STAFF, TRAINER, PROMOTER, VIEWER = MemberRole


async def owners_of(superuser: asyncpg.Connection, club: OrganizationId) -> int:
    return await superuser.fetchval(
        "SELECT count(*) FROM authority.group_member WHERE organization_id = $1 AND role = 'OWNER'", club.uuid
    )


# -- In the group


@pytest.mark.covers("ORG-010", "ORG-025")
async def test_a_member_is_made_something_else_and_the_trail_says_at_which_level(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    rui = await a_member(database, club, VIEWER)
    answer = await made(site, club, ana, rui, "STAFF", pack="FRONT_DESK", scopes=["SHOP_R"])
    assert answer.status_code == 200, answer.text
    assert answer.json()["before"]["role"] == "VIEWER"
    assert answer.json()["after"] == {"role": "STAFF", "pack": "FRONT_DESK", "scopes": ["SHOP_R"], "branches": None}
    shown = (await team_of(site, club, ana))[str(rui.identity)]
    assert (shown["isNow"]["pack"], shown["level"], shown["overridden"]) == ("FRONT_DESK", "GROUP", False)
    assert (await site.get(f"/api/org/{club}/members", headers=rui.headers)).status_code == 403

    [entry] = await trail_of(superuser, club, "organization.change_member")
    assert (entry["actor_id"], entry["subject"]) == (ana.identity.uuid, str(rui.identity))
    where = {"level": "GROUP", "entity": str(club)}
    assert json.loads(entry["before"]) == {**where, "role": "VIEWER", "pack": None, "scopes": []}
    assert json.loads(entry["after"]) == {**where, "role": "STAFF", "pack": "FRONT_DESK", "scopes": ["SHOP_R"]}
    [fact] = await facts_of(superuser, club, "organization.member_changed")
    assert json.loads(fact["payload"])["fate"] == "CHANGED"


@pytest.mark.parametrize(
    ("actor", "target", "role", "grant", "reason"),
    [
        (ADMIN, STAFF, "ADMIN", {}, "RANK_OF_ROLE"),
        (ADMIN, VIEWER, "OWNER", {}, "RANK_OF_ROLE"),
        (CO_OWNER, VIEWER, "CO_OWNER", {}, "RANK_OF_ROLE"),
        (CO_OWNER, ADMIN, "OWNER", {}, "RANK_OF_ROLE"),
        (ADMIN, CO_OWNER, "VIEWER", {}, "RANK_OF_MEMBER"),
        (ADMIN, ADMIN, "VIEWER", {}, "RANK_OF_MEMBER"),
        (ADMIN, VIEWER, "STAFF", {"scopes": ["FINANCE_RW"]}, "SCOPES"),
    ],
)
async def test_what_one_does_not_have_one_does_not_give(
    site: httpx.AsyncClient,
    database: Database,
    superuser: asyncpg.Connection,
    actor: MemberRole,
    target: MemberRole,
    role: str,
    grant: dict[str, Any],
    reason: str,
):
    _, club = await a_club(database)
    by, who = await a_member(database, club, actor), await a_member(database, club, target)
    refused = await made(site, club, by, who, role, **grant)
    assert (refused.status_code, refused.json()["errorCode"], refused.json()["reason"]) == (
        *(403, "GRANT_NOT_ALLOWED", reason),
    )
    assert (await team_of(site, club, by))[str(who.identity)]["isNow"]["role"] == target
    [entry] = await trail_of(superuser, club, "refused")
    assert (entry["reason_code"], entry["actor_id"]) == ("GRANT_NOT_ALLOWED", by.identity.uuid)


async def test_nobody_makes_a_stranger_a_member(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    stranger = await a_person(database)
    refused = await made(site, club, ana, stranger, "VIEWER")
    assert (refused.status_code, refused.json()["errorCode"]) == (404, "MEMBER_NOT_FOUND")


@pytest.mark.parametrize(
    ("grant", "code"),
    [
        ({"role": "ADMIN", "pack": "REFEREE"}, "PACK_WITHOUT_ITS_ROLE"),
        ({"role": "STAFF", "scopes": ["GALAXY_RW"]}, "UNKNOWN_SCOPE"),
        ({"role": "STAFF", "scopes": ["PLATFORM_RW"]}, "UNKNOWN_SCOPE"),
        ({"role": "EMPEROR"}, "VALIDATION_FAILED"),
        ({"role": "owner"}, "VALIDATION_FAILED"),
        ({"role": "VIEWER", "branches": ["org_" + "0" * 31 + "9"]}, "BRANCH_NOT_FOUND"),
        ({"role": "OWNER", "branches": ["org_" + "0" * 31 + "9"]}, "OWNER_OF_GROUP"),
    ],
)
async def test_what_does_not_exist_is_not_given(
    site: httpx.AsyncClient, database: Database, grant: dict[str, Any], code: str
):
    ana, club = await a_club(database)
    rui = await a_member(database, club, VIEWER)
    refused = await site.put(f"/api/org/{club}/members/{rui.identity}", json=grant, headers=ana.headers)
    assert refused.json()["errorCode"] == code


@pytest.mark.covers("TEN-T06", "TEN-T08")
async def test_an_owner_of_one_organization_changes_nothing_in_another(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    _, club = await a_club(database)
    rui = await a_member(database, club, VIEWER)
    mallory, _ = await a_club(database)
    answers = [
        await made(site, club, mallory, rui, "OWNER"),
        await removed(site, club, mallory, rui),
        await kept_out(site, club, mallory, rui),
        await site.get(f"/api/org/{club}/members", headers=mallory.headers),
        await site.post(f"/api/org/{club}/members/export", json={"reasonCode": "CURIOUS"}, headers=mallory.headers),
    ]
    assert [answer.status_code for answer in answers] == [403] * 5
    assert await trail_of(superuser, club, "refused") == [], "a stranger writes into nobody's trail"
    kept = "SELECT count(*) FROM kernel.audit_entry WHERE organization_id = $1 AND actor_id = $2 AND action = 'refused'"
    assert await superuser.fetchval(kept, PLATFORM_ORGANIZATION.uuid, mallory.identity.uuid) == 5
    assert len(await trail_of(superuser, club, "organization.%")) == 1


async def test_whoever_is_removed_is_out_at_once(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    admin = await a_member(database, club, ADMIN)
    assert (await site.get(f"/api/org/{club}/members", headers=admin.headers)).status_code == 200
    assert (await removed(site, club, ana, admin)).json()["after"] is None
    assert (await site.get(f"/api/org/{club}/members", headers=admin.headers)).status_code == 403
    assert (await removed(site, club, ana, admin)).json()["errorCode"] == "MEMBER_NOT_FOUND"


# -- The last owner


async def test_the_last_owner_stays_and_stays_an_owner(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    for refused in (await removed(site, club, ana, ana), await made(site, club, ana, ana, "VIEWER")):
        assert (refused.status_code, refused.json()["errorCode"]) == (409, "LAST_OWNER")
    rui = await a_member(database, club, OWNER)
    assert (await removed(site, club, ana, ana)).status_code == 200
    assert (await removed(site, club, rui, rui)).json()["errorCode"] == "LAST_OWNER"
    assert await owners_of(superuser, club) == 1


async def test_two_owners_who_remove_each_other_at_the_same_time_leave_one(
    database: Database, superuser: asyncpg.Connection
):
    """On connections of their own, as two processes would: neither sees what the other has not committed."""
    for _ in range(5):
        ana, club = await a_club(database)
        rui = await a_member(database, club, OWNER)
        changes = iter([Change(ana.caller, rui.identity, None), Change(rui.caller, ana.identity, None)])
        by_batch = [Batcher(database) for _ in range(2)]
        outcomes = await asyncio.gather(
            *(each.submit(change_members, Scope(club), change) for each, change in zip(by_batch, changes, strict=True)),
            return_exceptions=True,
        )
        assert sum(not isinstance(outcome, BaseException) for outcome in outcomes) == 1
        [lost] = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert lost in (GrantNotAllowed(reason="NOT_A_MEMBER"), LastOwner())
        assert await owners_of(superuser, club) == 1


async def test_many_owners_who_all_leave_at_the_same_time_leave_one(database: Database, superuser: asyncpg.Connection):
    ana, club = await a_club(database)
    everybody = [ana, *[await a_member(database, club, OWNER) for _ in range(5)]]
    batchers = [Batcher(database) for _ in everybody]
    outcomes = await asyncio.gather(
        *(
            batcher.submit(change_members, Scope(club), Change(person.caller, person.identity, None))
            for batcher, person in zip(batchers, everybody, strict=True)
        ),
        return_exceptions=True,
    )
    assert [outcome for outcome in outcomes if isinstance(outcome, BaseException)] == [LastOwner()]
    assert await owners_of(superuser, club) == 1


async def test_an_owner_whose_row_another_holds_is_not_taken_for_gone(
    database: Database, superuser: asyncpg.Connection
):
    """Two owners; one is being changed elsewhere while the other leaves: it waits, and is not told that it is the last."""
    ana, club = await a_club(database)
    rui = await a_member(database, club, OWNER)
    batcher = Batcher(database)
    async with superuser.transaction():
        await superuser.execute(
            "SELECT FROM authority.group_member WHERE organization_id = $1 AND identity_id = $2 FOR NO KEY UPDATE",
            club.uuid,
            rui.identity.uuid,
        )
        leaving = asyncio.create_task(
            batcher.submit(change_members, Scope(club), Change(ana.caller, ana.identity, None))
        )
        done, _ = await asyncio.wait({leaving}, timeout=0.3)
        assert not done
    assert isinstance((await leaving).outcome, Changed)
    assert await owners_of(superuser, club) == 1


async def test_changes_of_one_member_at_the_same_time_leave_one_row(database: Database, superuser: asyncpg.Connection):
    ana, club = await a_club(database)
    rui = await a_member(database, club, VIEWER)
    change = Change(ana.caller, rui.identity, Membership(STAFF))
    outcomes = await at_the_same_time(4, lambda tx: change_members(tx, [change]), database, Scope(club), patient=True)
    assert any(isinstance(outcome, list) and isinstance(outcome[0], Changed) for outcome in outcomes), outcomes
    assert not any(isinstance(outcome, Refusal) for outcome in outcomes)
    role = await superuser.fetchval(
        "SELECT role FROM authority.group_member WHERE organization_id = $1 AND identity_id = $2",
        club.uuid,
        rui.identity.uuid,
    )
    assert role == "STAFF"


# -- In a branch


@pytest.mark.covers("ORG-010", "ORG-011")
async def test_a_branch_makes_a_member_of_the_group_something_else_there(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    rui = await a_member(database, mother, VIEWER)
    answer = await made(site, branch, ana, rui, "ADMIN")
    assert (answer.json()["level"], answer.json()["before"]["role"], answer.json()["after"]["role"]) == (
        *("BRANCH", "VIEWER", "ADMIN"),
    )
    assert (await site.get(f"/api/org/{branch}/members", headers=rui.headers)).status_code == 200
    assert (await site.get(f"/api/org/{mother}/members", headers=rui.headers)).status_code == 403
    shown = (await team_of(site, branch, ana))[str(rui.identity)]
    assert (shown["isNow"]["role"], shown["level"], shown["inherited"]["role"], shown["overridden"]) == (
        *("ADMIN", "BRANCH", "VIEWER", True),
    )
    [entry] = await trail_of(superuser, branch, "organization.change_member")
    assert json.loads(entry["after"])["level"] == "BRANCH" and json.loads(entry["after"])["entity"] == str(branch)
    assert await trail_of(superuser, mother, "organization.change_member") == []

    back = await removed(site, branch, ana, rui)
    assert (back.json()["before"]["role"], back.json()["after"]["role"]) == ("ADMIN", "VIEWER")


@pytest.mark.covers("ORG-010")
async def test_a_branch_keeps_a_member_of_the_group_out_and_lets_them_in_again(
    site: httpx.AsyncClient, database: Database
):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    admin = await a_member(database, mother, ADMIN)
    assert (await kept_out(site, branch, ana, admin)).json()["after"] is None
    assert (await site.get(f"/api/org/{branch}/members", headers=admin.headers)).status_code == 403
    assert (await site.get(f"/api/org/{mother}/members", headers=admin.headers)).status_code == 200
    assert (await team_of(site, branch, ana))[str(admin.identity)]["isNow"] is None
    assert (await removed(site, branch, ana, admin)).json()["after"]["role"] == "ADMIN"
    assert (await site.get(f"/api/org/{branch}/members", headers=admin.headers)).status_code == 200
    assert (await kept_out(site, mother, ana, admin)).json()["errorCode"] == "NOT_IN_THE_MOTHER"


async def test_the_rank_that_counts_in_a_branch_is_the_one_that_one_has_there(
    site: httpx.AsyncClient, database: Database
):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    co_owner, local = await a_member(database, mother, CO_OWNER), await a_member(database, mother, VIEWER)
    await an_override(database, branch, local, Membership(ADMIN, level=Level.BRANCH))
    refused = await kept_out(site, branch, local, co_owner)
    assert refused.json()["reason"] == "RANK_OF_MEMBER"
    await an_override(database, branch, co_owner, Membership(STAFF, level=Level.BRANCH))
    assert (await kept_out(site, branch, local, co_owner)).status_code == 200
    for owner in (await kept_out(site, branch, local, ana), await made(site, branch, local, ana, "VIEWER")):
        assert owner.json()["errorCode"] == "OWNER_OF_GROUP"
    assert (await made(site, branch, ana, local, "OWNER")).json()["errorCode"] == "OWNER_OF_GROUP"
    limited = await made(site, branch, ana, local, "STAFF", branches=[str(branch)])
    assert limited.json()["errorCode"] == "BRANCHES_OF_BRANCH"


@pytest.mark.covers("ORG-011")
async def test_a_role_of_the_group_can_be_limited_to_some_branches(site: httpx.AsyncClient, database: Database):
    ana, mother = await a_club(database)
    one, two = await a_branch_of(database, mother), await a_branch_of(database, mother)
    rui = await a_member(database, mother, VIEWER)
    answer = await made(site, mother, ana, rui, "ADMIN", branches=[str(one)])
    assert answer.json()["after"]["branches"] == [str(one)]
    seen = [
        (await site.get(f"/api/org/{place}/members", headers=rui.headers)).status_code for place in (mother, one, two)
    ]
    assert seen == [403, 200, 403]
    assert str(rui.identity) in await team_of(site, mother, ana)
    assert str(rui.identity) in await team_of(site, one, ana)
    assert str(rui.identity) not in await team_of(site, two, ana)


# -- Lists and tables


async def test_a_team_is_listed_page_by_page_whoever_is_left_out(site: httpx.AsyncClient, database: Database):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    here = [await a_member(database, mother, VIEWER) for _ in range(3)]
    for _ in range(4):
        await a_member(database, mother, VIEWER, branches=(mother,))
    await an_override(database, branch, here[0], Denial())
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (
            await site.get(f"/api/org/{branch}/members", params={"limit": "2", **cursor}, headers=ana.headers)
        ).json()
        seen += [member["identity"] for member in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert sorted(seen) == sorted(str(person.identity) for person in (ana, *here))


async def exported(site: httpx.AsyncClient, club: OrganizationId, by: Person, **request: str) -> httpx.Response:
    return await site.post(f"/api/org/{club}/members/export", json=request, headers=by.headers)


@pytest.mark.covers("ORG-024", "ORG-025")
async def test_an_export_with_addresses_needs_a_recent_proof_and_a_reason_and_is_written_down(
    site: httpx.AsyncClient, database: Database, database_url: str, superuser: asyncpg.Connection
):
    async with Database(database_url, clock=Clock(timedelta(minutes=-11))) as earlier:
        stale = await a_person(earlier)
    club = await an_organization_of(database, stale)
    refused = await exported(site, club, stale, reasonCode="AUDIT")
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "STEP_UP_REQUIRED")
    ana = await a_member(database, club, OWNER)
    assert (await exported(site, club, ana)).json()["errorCode"] == "VALIDATION_FAILED"
    assert (await exported(site, club, ana, reasonCode="AUDIT\n")).json()["errorCode"] == "VALIDATION_FAILED"
    assert await trail_of(superuser, club, "organization.export_members") == []

    answer = await exported(site, club, ana, reasonCode="AUDIT")
    assert answer.headers["content-type"].startswith("text/csv")
    lines = {row["identity"]: row for row in csv.DictReader(answer.text.splitlines())}
    assert lines.keys() == {str(ana.identity), str(stale.identity)}
    assert (lines[str(ana.identity)]["email"], lines[str(ana.identity)]["role"]) == (ana.email, "OWNER")
    [entry] = await trail_of(superuser, club, "organization.export_members")
    assert (entry["actor_id"], entry["reason_code"]) == (ana.identity.uuid, "AUDIT")
    assert "@" not in str(dict(entry))


async def test_a_name_that_looks_like_a_formula_is_exported_as_text(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, club = await a_club(database)
    await superuser.execute(
        "UPDATE identity.profile SET display_name = $2 WHERE identity_id = $1", ana.identity.uuid, "=HYPERLINK(1)"
    )
    [line] = csv.DictReader((await exported(site, club, ana, reasonCode="AUDIT")).text.splitlines())
    assert line["name"] == "'=HYPERLINK(1)"


async def test_whoever_is_kept_out_is_exported_as_nothing(site: httpx.AsyncClient, database: Database):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    rui = await a_member(database, mother, ADMIN)
    await an_override(database, branch, rui, Denial())
    lines = csv.DictReader((await exported(site, branch, ana, reasonCode="AUDIT")).text.splitlines())
    assert {line["identity"]: (line["role"], line["level"]) for line in lines} == {
        str(ana.identity): ("OWNER", "GROUP"),
        str(rui.identity): ("-", ""),
    }


async def test_a_long_team_is_exported_whole(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    many = {IdentityId.new().uuid: Membership(VIEWER) for _ in range(230)}
    await database.run(Scope(club), lambda tx: put_members(tx, many))
    lines = list(csv.DictReader((await exported(site, club, ana, reasonCode="AUDIT")).text.splitlines()))
    assert len(lines) == 231


async def test_a_pack_is_given_with_its_role(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    rui = await a_member(database, club, VIEWER)
    for pack in RolePack:
        role = {"CLUB_MANAGER": "ADMIN", "COACH": "TRAINER"}.get(pack, "STAFF")
        assert (await made(site, club, ana, rui, role, pack=pack)).status_code == 200
