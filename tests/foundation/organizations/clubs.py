"""What tests of organisations look at: what was mailed, what the trail says, and a club that can be reached."""

from dataclasses import dataclass
from typing import Any

import asyncpg

from admitone.foundation.mail.model import LetterId
from admitone.foundation.mail.sealing import opened
from admitone.kernel.ids import OrganizationId

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
