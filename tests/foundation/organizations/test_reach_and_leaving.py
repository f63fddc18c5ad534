"""Nobody gives more than they have, or further than they reach; and whoever leaves a group leaves all of it."""

import json

import asyncpg
import httpx

from admitone.foundation.authority.api import Denial, Level, MemberRole, Membership
from admitone.foundation.organizations.commands.team import shut_out
from admitone.foundation.organizations.model import Leaving
from admitone.kernel.db import Database
from admitone.kernel.scope import Scope
from tests.foundation.organizations.clubs import a_club, facts_of, kept_out, made, removed, team_of, trail_of
from tests.people import a_branch_of, a_member, a_person, an_override

OWNER, CO_OWNER, ADMIN, STAFF, TRAINER, PROMOTER, VIEWER = MemberRole
CHANGED = "organization.member_changed"


async def test_a_limited_administrator_lifts_no_limit(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    """Neither their own, nor by way of somebody else."""
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    admin, rui = await a_member(database, mother, ADMIN, branches=(mother,)), await a_member(database, mother, VIEWER)
    for who, role in ((admin, "ADMIN"), (rui, "STAFF")):
        refused = await made(site, mother, admin, who, role)
        assert (refused.status_code, refused.json()["reason"]) == (403, "BRANCHES")
    assert (await made(site, mother, admin, rui, "STAFF", branches=[str(branch)])).json()["reason"] == "BRANCHES"
    assert (await site.get(f"/api/org/{branch}", headers=admin.headers)).status_code == 403
    entries = await trail_of(superuser, mother, "refused")
    assert [entry["actor_id"] for entry in entries] == [admin.identity.uuid] * 3
    assert (await made(site, mother, admin, rui, "STAFF", branches=[str(mother)])).status_code == 200
    assert (await made(site, mother, ana, admin, "ADMIN")).status_code == 200


async def test_whoever_a_branch_keeps_out_gives_nobody_what_reaches_it(site: httpx.AsyncClient, database: Database):
    _, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    admin, rui = await a_member(database, mother, ADMIN), await a_member(database, mother, VIEWER, branches=(mother,))
    await an_override(database, branch, admin, Denial())
    assert (await made(site, mother, admin, rui, "STAFF")).json()["reason"] == "BRANCHES"
    assert (await made(site, mother, admin, rui, "STAFF", branches=[str(mother)])).status_code == 200


async def test_a_refusal_in_a_branch_stands_in_the_trail_of_the_branch_with_who_was_refused(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    _, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    admin, other = await a_member(database, mother, ADMIN), await a_member(database, mother, CO_OWNER)
    assert (await kept_out(site, branch, admin, other)).json()["reason"] == "RANK_OF_MEMBER"
    [entry] = await trail_of(superuser, branch, "refused")
    assert (entry["actor_id"], entry["reason_code"]) == (admin.identity.uuid, "GRANT_NOT_ALLOWED")
    assert await trail_of(superuser, mother, "refused") == []


async def test_whoever_leaves_the_group_leaves_its_branches_too(site: httpx.AsyncClient, database: Database):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    rui = await a_member(database, mother, STAFF)
    await an_override(database, branch, rui, Membership(ADMIN, level=Level.BRANCH))
    assert (await site.get(f"/api/org/{branch}/members", headers=rui.headers)).status_code == 200
    assert (await removed(site, mother, ana, rui)).status_code == 200
    assert (await site.get(f"/api/org/{branch}/members", headers=rui.headers)).status_code == 403
    assert str(rui.identity) not in await team_of(site, branch, ana)


async def test_whoever_is_an_equal_in_one_branch_is_not_taken_out_of_the_group_by_halves(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, mother = await a_club(database)
    one, two = sorted([await a_branch_of(database, mother), await a_branch_of(database, mother)])
    admin, rui = await a_member(database, mother, ADMIN), await a_member(database, mother, STAFF)
    await an_override(database, one, rui, Membership(VIEWER, level=Level.BRANCH))
    await an_override(database, two, rui, Membership(ADMIN, level=Level.BRANCH))
    before = [await team_of(site, place, ana) for place in (mother, one, two)]
    refused = await removed(site, mother, admin, rui)
    assert (refused.status_code, refused.json()["reason"]) == (403, "RANK_OF_MEMBER")
    assert [await team_of(site, place, ana) for place in (mother, one, two)] == before
    [entry] = await trail_of(superuser, mother, "refused")
    assert entry["actor_id"] == admin.identity.uuid

    assert (await removed(site, mother, ana, rui)).json()["before"]["role"] == "STAFF"
    teams = [await team_of(site, place, ana) for place in (mother, one, two)]
    assert not any(str(rui.identity) in team for team in teams)
    fates = [json.loads((await facts_of(superuser, place, CHANGED))[-1]["payload"])["fate"] for place in (one, two)]
    assert fates == ["REMOVED", "REMOVED"]


async def test_however_much_somebody_belongs_to_they_leave_every_branch_and_see_every_page(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    rui = await a_member(database, mother, STAFF)
    await an_override(database, branch, rui, Membership(ADMIN, level=Level.BRANCH))
    await superuser.execute(
        "WITH made AS (SELECT ('00000000-0000-7000-9000-' || lpad(to_hex($2::bigint + i), 12, '0'))::uuid AS id"
        " FROM generate_series(1, 201) AS i), places AS (INSERT INTO authority.branch SELECT id, id, now() FROM made)"
        " INSERT INTO authority.group_member SELECT id, $1, 'OWNER', NULL, '{}', NULL, now(), 1 FROM made",
        rui.identity.uuid,
        rui.identity.uuid.int % 2**40,
    )
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await site.get("/api/organizations", params={"limit": "100", **cursor}, headers=rui.headers)).json()
        seen += [place["id"] for place in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert seen == sorted([str(mother), str(branch)])
    assert (await removed(site, mother, ana, rui)).status_code == 200
    assert (await site.get(f"/api/org/{branch}/members", headers=rui.headers)).status_code == 403


async def test_a_removal_that_is_cut_short_opens_no_door(site: httpx.AsyncClient, database: Database):
    """An administrator of the group is less in one branch; while they leave they are nothing there, and never more."""
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    admin = await a_member(database, mother, ADMIN)
    await an_override(database, branch, admin, Membership(STAFF, None, ("SETTINGS_R",), Level.BRANCH))
    assert (await site.get(f"/api/org/{branch}", headers=admin.headers)).status_code == 200
    leaving = Leaving(ana.caller, admin.identity, Membership(ADMIN))
    await database.run(Scope(branch), lambda tx: shut_out(tx, [leaving]))
    assert (await site.get(f"/api/org/{branch}", headers=admin.headers)).status_code == 403
    assert str(admin.identity) in await team_of(site, mother, ana)
    assert (await removed(site, mother, ana, admin)).status_code == 200
    assert str(admin.identity) not in await team_of(site, branch, ana)


async def test_a_removal_that_was_cut_short_is_finished_by_repeating_it(site: httpx.AsyncClient, database: Database):
    ana, mother = await a_club(database)
    branch = await a_branch_of(database, mother)
    left_over = await a_person(database)
    await an_override(database, branch, left_over, Membership(ADMIN, level=Level.BRANCH))
    assert (await removed(site, mother, ana, left_over)).status_code == 200
    assert (await site.get(f"/api/org/{branch}/members", headers=left_over.headers)).status_code == 403
