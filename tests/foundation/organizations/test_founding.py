"""Founding organisations and branches, through the real edge and the real authority."""

import asyncio

import asyncpg
import httpx
import pytest

from admitone.foundation.authority.api import MemberRole, OrganizationModule
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from tests.foundation.organizations.clubs import facts_of, trail_of
from tests.people import a_branch_of, a_member, a_person, an_organization_of

CLUB = {"displayName": "Clube do Porto", "modules": ["TORNEIOS"], "idempotencyKey": "found-1"}


@pytest.mark.covers("ORG-010", "ORG-012")
async def test_whoever_founds_an_organization_owns_it(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    ana = await a_person(database)
    answer = await site.post("/api/organizations", json=CLUB, headers=ana.headers)
    assert answer.status_code == 201
    founded = answer.json()
    assert founded["group"] == founded["id"]
    assert founded["modules"] == ["DEFINICOES", "STAFF", "TORNEIOS"]

    club = OrganizationId.parse(founded["id"])
    modules = (await site.get(f"/api/org/{club}/modules", headers=ana.headers)).json()
    on = {each["module"] for each in modules if each["enabled"]}
    assert on == {"DEFINICOES", "STAFF", "TORNEIOS"} and len(modules) == len(OrganizationModule)
    [mine] = (await site.get("/api/organizations", headers=ana.headers)).json()["items"]
    assert "EVENTS_*" in mine["scopes"]
    assert (mine["id"], mine["displayName"], mine["role"], mine["level"]) == (
        *(str(club), "Clube do Porto", "OWNER", "GROUP"),
    )
    [entry] = await trail_of(superuser, club)
    assert (entry["action"], entry["actor_id"]) == ("organization.found", ana.identity.uuid)
    assert len(await facts_of(superuser, club, "organization.created")) == 1


async def test_a_repeated_founding_finds_its_answer_and_another_one_under_its_key_is_refused(
    site: httpx.AsyncClient, database: Database
):
    ana, rui = await a_person(database), await a_person(database)
    first = await site.post("/api/organizations", json=CLUB, headers=ana.headers)
    again = await site.post("/api/organizations", json=CLUB, headers=ana.headers)
    assert again.json() == first.json() and again.headers["idempotency-replayed"] == "true"
    other = await site.post("/api/organizations", json={**CLUB, "displayName": "Outro"}, headers=ana.headers)
    assert (other.status_code, other.json()["errorCode"]) == (409, "IDEMPOTENCY_KEY_REUSED")
    of_another = await site.post("/api/organizations", json=CLUB, headers=rui.headers)
    assert of_another.json()["id"] != first.json()["id"]


async def test_a_founding_sent_many_times_at_once_founds_one(site: httpx.AsyncClient, database: Database):
    ana = await a_person(database)
    sent = (site.post("/api/organizations", json=CLUB, headers=ana.headers) for _ in range(8))
    answers = await asyncio.gather(*sent)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len((await site.get("/api/organizations", headers=ana.headers)).json()["items"]) == 1


@pytest.mark.covers("IDN-016")
async def test_only_somebody_with_a_confirmed_address_founds_one(site: httpx.AsyncClient, database: Database):
    doubtful = await a_person(database, confirmed=False)
    refused = await site.post("/api/organizations", json=CLUB, headers=doubtful.headers)
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "EMAIL_NOT_CONFIRMED")
    nobody = await site.post("/api/organizations", json=CLUB)
    assert nobody.status_code == 401


async def test_a_zone_that_is_none_is_refused(site: httpx.AsyncClient, database: Database):
    ana = await a_person(database)
    refused = await site.post("/api/organizations", json={**CLUB, "timeZone": "Mars/Base"}, headers=ana.headers)
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "UNKNOWN_TIME_ZONE")


@pytest.mark.covers("ORG-011")
async def test_a_branch_belongs_to_its_mothers_group_and_her_people_work_there(
    site: httpx.AsyncClient, database: Database
):
    ana = await a_person(database)
    mother = await an_organization_of(database, ana)
    admin = await a_member(database, mother, MemberRole.ADMIN)
    answer = await site.post(f"/api/org/{mother}/branches", json=CLUB, headers=admin.headers)
    assert answer.status_code == 201, answer.text
    branch = answer.json()
    assert branch["group"] == str(mother)
    again = await site.post(f"/api/org/{mother}/branches", json=CLUB, headers=admin.headers)
    assert again.json() == branch and again.headers["idempotency-replayed"] == "true"

    for person, role in ((ana, "OWNER"), (admin, "ADMIN")):
        places = (await site.get("/api/organizations", headers=person.headers)).json()["items"]
        assert {place["id"]: place["role"] for place in places} == {str(mother): role, branch["id"]: role}
    listed = (await site.get(f"/api/org/{mother}/branches", headers=admin.headers)).json()
    assert {each["id"] for each in listed["items"]} == {str(mother), branch["id"]}


async def test_branches_are_listed_page_by_page(site: httpx.AsyncClient, database: Database):
    ana = await a_person(database)
    mother = await an_organization_of(database, ana)
    group = {str(mother), *[str(await a_branch_of(database, mother)) for _ in range(3)]}
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (
            await site.get(f"/api/org/{mother}/branches", params={"limit": "3", **cursor}, headers=ana.headers)
        ).json()
        seen += [each["id"] for each in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(seen) == 4 and {*seen} == group


async def test_a_branch_has_no_branches(site: httpx.AsyncClient, database: Database):
    ana = await a_person(database)
    branch = await a_branch_of(database, await an_organization_of(database, ana))
    refused = await site.post(f"/api/org/{branch}/branches", json=CLUB, headers=ana.headers)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "NOT_A_MOTHER")
