"""An organisation sees and settles its own receipts, makes none, and reads no payload."""

import asyncpg
import pytest

from admitone.finance.webhooks.model import PLATFORM
from admitone.kernel.db import Database
from admitone.kernel.ids import uuid7
from admitone.kernel.scope import Scope
from tests.finance.webhooks.conftest import Door
from tests.finance.webhooks.ground import a_payment, an_organization, the_work
from tests.finance.webhooks.provider import an_event

SEE = "SELECT id FROM webhooks.receipt WHERE $1::uuid IS NOT NULL AND external_id = $2"
READ = "SELECT sealed FROM webhooks.payload WHERE $1::uuid IS NOT NULL"
CHANGE = "UPDATE webhooks.receipt SET reason = 'changed' WHERE $1::uuid IS NOT NULL AND external_id = $2"
TAKE = "UPDATE webhooks.receipt SET organization_id = $1 WHERE external_id = $2"
MAKE = """
    INSERT INTO webhooks.receipt (id, organization_id, source, external_id, provider, type, provider_created_at, livemode,
                                  correlation_id, state, received_at)
    VALUES (gen_random_uuid(), $1, 'sandbox', $2, 'sandbox', 'x', now(), false, $1, 'RECEIVED', now())
"""
GIVE = "UPDATE webhooks.receipt SET organization_id = gen_random_uuid() WHERE organization_id = $1 AND external_id = $2"


async def rows(database: Database, scope: Scope, sql: str, *values: object) -> int:
    return len(await database.run(scope, lambda tx: tx.fetch(sql, *values)))


async def test_whose_a_receipt_is_decides_who_sees_and_changes_it(
    database: Database, superuser: asyncpg.Connection, door: Door
):
    owner, stranger, intent = await an_organization(database), await an_organization(database), f"pi_{uuid7().hex}"
    await a_payment(database, owner, intent)
    theirs, nobodys = an_event(object={"id": intent}), an_event()
    await door.knock(theirs)
    await the_work(database, superuser, theirs)
    await door.knock(nobodys)

    assert [await rows(database, scope, SEE, theirs["id"]) for scope in (owner, stranger, PLATFORM)] == [1, 0, 1]
    assert [await rows(database, scope, SEE, nobodys["id"]) for scope in (owner, stranger, PLATFORM)] == [0, 0, 1]
    assert [await rows(database, scope, READ) for scope in (owner, stranger)] == [0, 0]
    for sql in (CHANGE, TAKE):
        for event in (theirs, nobodys):
            assert await database.run(stranger, lambda tx, s=sql, e=event: tx.execute(s, e["id"])) == 0


@pytest.mark.parametrize("sql", [MAKE, GIVE], ids=["make one", "give one away"])
async def test_an_organisation_neither_makes_a_receipt_nor_gives_one_away(
    database: Database, superuser: asyncpg.Connection, door: Door, sql: str
):
    owner, intent = await an_organization(database), f"pi_{uuid7().hex}"
    await a_payment(database, owner, intent)
    event = an_event(object={"id": intent})
    await door.knock(event)
    await the_work(database, superuser, event)
    about = event["id"] if sql == GIVE else f"evt_{uuid7().hex}"
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(owner, lambda tx: tx.execute(sql, about))
