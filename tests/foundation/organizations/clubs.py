"""What tests of organisations look at: what was mailed, what the trail says, and a club that can be reached."""

from dataclasses import dataclass
from typing import Any

import asyncpg
import httpx

from admitone.foundation.mail.model import LetterId
from admitone.foundation.mail.sealing import opened
from admitone.kernel.db import Database
from admitone.kernel.ids import OrganizationId
from tests.people import Person, a_person, an_organization_of

OFFICIAL = "geral@clube.example"


@dataclass(frozen=True)
class Mailed:
    to: str
    template: str
    values: dict[str, Any]

    @property
    def token(self) -> str:
        return str(self.values["link"]).partition("#")[2]


async def mailed(superuser: asyncpg.Connection, organization: OrganizationId) -> list[Mailed]:
    """The letters that wait to be sent, in the order of their posting."""
    rows = await superuser.fetch(
        "SELECT id, template, sealed FROM mail.letter WHERE organization_id = $1 ORDER BY id", organization.uuid
    )
    contents = [(row["template"], opened(row["sealed"], organization, LetterId(row["id"]))) for row in rows]
    return [Mailed(content.to, template, dict(content.values)) for template, content in contents]


async def trail_of(
    superuser: asyncpg.Connection, organization: OrganizationId, action: str = "%"
) -> list[asyncpg.Record]:
    return await superuser.fetch(
        "SELECT * FROM kernel.audit_entry WHERE organization_id = $1 AND action LIKE $2 ORDER BY id",
        organization.uuid,
        action,
    )


async def facts_of(superuser: asyncpg.Connection, organization: OrganizationId, name: str) -> list[asyncpg.Record]:
    return await superuser.fetch(
        "SELECT * FROM kernel.event_log WHERE organization_id = $1 AND type = $2 ORDER BY id", organization.uuid, name
    )


async def prove_official_email(superuser: asyncpg.Connection, organization: OrganizationId) -> None:
    """As if the link had come back."""
    await superuser.execute(
        "UPDATE organizations.organization SET official_email = $2, official_email_verified_at = now(),"
        " official_email_digest = NULL, official_email_asked_at = NULL WHERE organization_id = $1",
        organization.uuid,
        OFFICIAL,
    )


async def a_club(database: Database) -> tuple[Person, OrganizationId]:
    ana = await a_person(database)
    return ana, await an_organization_of(database, ana)


async def made(
    site: httpx.AsyncClient, place: OrganizationId, by: Person, who: Person, role: str, **grant: Any
) -> httpx.Response:
    url = f"/api/org/{place}/members/{who.identity}"
    return await site.put(url, json={"role": role, **grant}, headers=by.headers)


async def removed(site: httpx.AsyncClient, place: OrganizationId, by: Person, who: Person) -> httpx.Response:
    return await site.delete(f"/api/org/{place}/members/{who.identity}", headers=by.headers)


async def kept_out(site: httpx.AsyncClient, place: OrganizationId, by: Person, who: Person) -> httpx.Response:
    return await site.put(f"/api/org/{place}/members/{who.identity}/denial", headers=by.headers)


async def team_of(site: httpx.AsyncClient, place: OrganizationId, by: Person) -> dict[str, dict[str, Any]]:
    page = (await site.get(f"/api/org/{place}/members", headers=by.headers)).json()
    return {member["identity"]: member for member in page["items"]}
