"""Taking a username over HTTP, as people and organisations do."""

import httpx
import pytest

from admitone.foundation.authority.api import MemberRole
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from tests.people import a_member, a_person, an_organization_of


def a_name() -> str:
    return f"n{uuid7().hex[-12:]}"


@pytest.mark.covers("IDN-033", "IDN-034")
async def test_people_and_organisations_take_names_of_one_namespace(
    site: httpx.AsyncClient, database: Database
) -> None:
    owner, eva = await a_person(database), await a_person(database)
    club = await an_organization_of(database, owner)
    name = a_name()
    ours = await site.put(f"/api/org/{club}/username", json={"username": f" {name.upper()} "}, headers=owner.headers)
    assert (ours.status_code, ours.json()) == (200, {"username": name})
    whose = (await site.get(f"/api/usernames/{name}")).json()
    assert (whose["ownerType"], whose["ownerId"]) == ("ORGANIZATION", str(club))
    taken = await site.put("/api/auth/me/username", json={"username": name}, headers=eva.headers)
    assert (taken.status_code, taken.json()["errorCode"]) == (409, "USERNAME_TAKEN")
    own = a_name()
    assert (await site.put("/api/auth/me/username", json={"username": own}, headers=eva.headers)).status_code == 200
    assert (await site.get(f"/api/usernames/{own}")).json()["ownerId"] == str(eva.identity)


@pytest.mark.covers("IDN-031", "IDN-032")
async def test_what_cannot_be_a_name_and_what_comes_too_soon_is_said(
    site: httpx.AsyncClient, database: Database
) -> None:
    eva = await a_person(database)
    for text in ("ana", "admin", "аdmira", "a" * 16, "an a"):
        refused = await site.put("/api/auth/me/username", json={"username": text}, headers=eva.headers)
        assert (refused.status_code, refused.json()["errorCode"]) == (422, "USERNAME_INVALID"), text
    renamed = [
        await site.put("/api/auth/me/username", json={"username": a_name()}, headers=eva.headers) for _ in range(3)
    ]
    assert [answer.status_code for answer in renamed] == [200, 200, 409]
    assert renamed[2].json()["errorCode"] == "USERNAME_COOLDOWN"


async def test_whoever_may_not_change_the_settings_names_nothing(site: httpx.AsyncClient, database: Database) -> None:
    club = await an_organization_of(database, await a_person(database))
    staff = await a_member(database, club, MemberRole.STAFF)
    unproved = await a_person(database, confirmed=False)
    denied = await site.put(f"/api/org/{club}/username", json={"username": a_name()}, headers=staff.headers)
    assert denied.json()["errorCode"] == "PERMISSION_DENIED"
    refused = await site.put("/api/auth/me/username", json={"username": a_name()}, headers=unproved.headers)
    assert refused.json()["errorCode"] == "EMAIL_NOT_CONFIRMED"
