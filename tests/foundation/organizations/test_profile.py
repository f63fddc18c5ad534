"""What strangers see of an organisation."""

import asyncpg
import httpx
import pytest

from admitone.foundation.usernames.api import Claim, claim_for_organization
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from admitone.kernel.scope import Caller, Scope
from tests.foundation.organizations.clubs import OFFICIAL, a_club, prove_official_email
from tests.foundation.usernames.registry import a_name
from tests.people import a_person, an_organization_of


def path(club: OrganizationId) -> str:
    return f"/api/organizations/{club}/profile"


@pytest.mark.covers("ORG-002")
async def test_a_stranger_and_the_owner_see_the_same(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    stranger, owner = await site.get(path(club)), await site.get(path(club), headers=ana.headers)
    assert stranger.json() == owner.json()
    assert stranger.json()["displayName"] == "Clube do Porto"
    assert stranger.json()["timeZone"] == "Europe/Lisbon"


async def test_nobody_is_written_to_at_an_address_that_is_not_proved(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    _, club = await a_club(database)
    await superuser.execute(
        "UPDATE organizations.organization SET official_email = $2 WHERE organization_id = $1", club.uuid, OFFICIAL
    )
    assert (await site.get(path(club))).json()["contactEmail"] is None
    await prove_official_email(superuser, club)
    assert (await site.get(path(club))).json()["contactEmail"] == OFFICIAL


@pytest.mark.covers("ORG-013")
async def test_it_tells_which_modules_are_on(site: httpx.AsyncClient, database: Database):
    club = await an_organization_of(database, await a_person(database), {"EVENTOS"})
    assert (await site.get(path(club))).json()["modules"] == ["EVENTOS"]


async def test_it_tells_the_name_that_it_goes_by(site: httpx.AsyncClient, database: Database):
    _, club = await a_club(database)
    assert (await site.get(path(club))).json()["username"] is None
    name = a_name()
    await database.run(Scope(club, "test"), lambda tx: claim_for_organization(tx, [Claim(Caller(), name)]))
    assert (await site.get(path(club))).json()["username"] == name


async def test_it_tells_its_accent(site: httpx.AsyncClient, database: Database):
    ana, club = await a_club(database)
    assert (await site.get(path(club))).json()["accentColor"] is None
    wanted = {"settings": {"displayName": "Clube do Porto", "accentColor": "#8a1c4a"}, "version": 1}
    await site.put(f"/api/org/{club}/settings", json=wanted, headers=ana.headers)
    assert (await site.get(path(club))).json()["accentColor"] == "#8a1c4a"


async def test_one_that_is_suspended_is_not_there_in_the_words_in_which_none_is(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection
):
    _, club = await a_club(database)
    await superuser.execute(
        "UPDATE organizations.organization SET status = 'SUSPENDED' WHERE organization_id = $1", club.uuid
    )
    answers = [(await site.get(path(each))) for each in (club, OrganizationId.new())]
    assert [each.status_code for each in answers] == [404, 404]
    first, second = ({**each.json(), "correlationId": "", "requestId": ""} for each in answers)
    assert first == second
