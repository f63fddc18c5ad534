"""Somebody gets a ticket when letters wait too long, and the ticket is closed when they do not."""

import asyncpg
import pytest

from admitone.foundation.mail.handlers import NOT_SENT, SUBJECT, notice_waiting
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.jobs import Desk
from tests.alerts import alerts_about
from tests.builders import an_organization
from tests.mails import a_letter, an_address, posted

CLEARED = """UPDATE mail.letter SET sealed = NULL, refused_at = now()
 WHERE sent_at IS NULL AND refused_at IS NULL AND created_at < now() - interval '8 min'"""
AGED = "UPDATE mail.letter SET created_at = now() - $2::text::interval WHERE organization_id = $1"


@pytest.mark.covers("OPS-001")
async def test_letters_that_wait_too_long_are_a_ticket_until_they_are_sent(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection
):
    async def is_told(age: str) -> bool:
        await superuser.execute(AGED, scope.organization.uuid, age)
        await notice_waiting.work(Desk(database, batcher), None)
        alerts = await alerts_about(superuser, SUBJECT, NOT_SENT.name)
        return any(alert["resolved_at"] is None for alert in alerts)

    await superuser.execute(CLEARED)  # What was posted by the clocks of other tests.
    scope = await an_organization(database)
    await posted(database, scope, a_letter(an_address()))
    assert not await is_told("9 min")
    assert await is_told("11 min")
    [alert] = [each for each in await alerts_about(superuser, SUBJECT, NOT_SENT.name) if each["resolved_at"] is None]
    assert alert["class"] == "TICKET" and "1 letters wait" in alert["detail"]
    assert await is_told("23 h")
    assert not await is_told("25 h"), "nobody waits for it any more, and if its job died that was told"
    assert await is_told("11 min")
    await superuser.execute(
        "UPDATE mail.letter SET sealed = NULL, refused_at = now() WHERE organization_id = $1", scope.organization.uuid
    )
    assert not await is_told("12 min")
