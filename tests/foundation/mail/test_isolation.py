"""Letters are their organisation's; who posts for people only posts; who counts cannot read."""

import asyncpg
import pytest

from admitone.foundation.mail.model import LetterId
from admitone.foundation.mail.sealing import opened
from admitone.kernel.crypto import CannotOpen
from admitone.kernel.db import Database
from admitone.kernel.ids import PLATFORM_ORGANIZATION, OrganizationId, uuid7
from tests.builders import an_organization
from tests.mails import a_letter, an_address, letters_of, posted

INSERT = "INSERT INTO mail.letter (organization_id, id, template, language, sealed, created_at) VALUES ($1, $2, 't', 'en', 'x', now())"


async def as_role(superuser: asyncpg.Connection, role: str, organization: OrganizationId, sql: str, *values):
    """What the role gets; nothing of it stays."""
    transaction = superuser.transaction()
    await transaction.start()
    try:
        await superuser.execute("SELECT set_config('app.organization_id', $1, true)", str(organization.uuid))
        await superuser.execute(f"SET LOCAL ROLE {role}")
        return await superuser.fetch(sql, *values)
    finally:
        await transaction.rollback()


@pytest.mark.covers("TEN-T01")
async def test_another_organisation_sees_no_letter_and_changes_none(database: Database, superuser: asyncpg.Connection):
    scope, other = await an_organization(database), await an_organization(database)
    await posted(database, scope, a_letter(an_address()))
    [letter] = await letters_of(superuser, scope)
    for asking, rows in ((scope.organization, 1), (other.organization, 0)):
        seen = await as_role(superuser, "admitone_app", asking, "SELECT 1 FROM mail.letter WHERE id = $1", letter["id"])
        update = "UPDATE mail.letter SET sealed = NULL, sent_at = now() WHERE id = $1 RETURNING 1"
        changed = await as_role(superuser, "admitone_app", asking, update, letter["id"])
        assert (len(seen), len(changed)) == (rows, rows)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await as_role(superuser, "admitone_app", other.organization, INSERT, scope.organization.uuid, uuid7())


async def test_who_writes_to_people_posts_for_the_platform_and_reads_nothing(
    database: Database, superuser: asyncpg.Connection
):
    platform, other = PLATFORM_ORGANIZATION, (await an_organization(database)).organization
    await as_role(superuser, "admitone_identity", platform, INSERT, platform.uuid, uuid7())
    for whose in (platform, other):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await as_role(superuser, "admitone_identity", whose, INSERT, other.uuid, uuid7())
    for sql in ("SELECT id FROM mail.letter", "UPDATE mail.letter SET sent_at = now()", "DELETE FROM mail.letter"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await as_role(superuser, "admitone_identity", platform, sql)


async def test_who_counts_letters_cannot_read_them(superuser: asyncpg.Connection):
    await as_role(superuser, "admitone_relay", PLATFORM_ORGANIZATION, "SELECT created_at FROM mail.letter LIMIT 1")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await as_role(superuser, "admitone_relay", PLATFORM_ORGANIZATION, "SELECT sealed FROM mail.letter LIMIT 1")


async def test_an_envelope_opens_in_its_own_row_only(database: Database, superuser: asyncpg.Connection):
    scope, address = await an_organization(database), an_address()
    await posted(database, scope, a_letter(address))
    [letter] = await letters_of(superuser, scope)
    assert opened(letter["sealed"], scope.organization, LetterId(letter["id"])).to == address
    for place in ((OrganizationId.new(), LetterId(letter["id"])), (scope.organization, LetterId.new())):
        with pytest.raises(CannotOpen):
            opened(letter["sealed"], *place)
