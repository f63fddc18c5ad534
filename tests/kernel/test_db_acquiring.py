"""A server that goes while a connection is being made is a server that is away, in whatever words the driver says so."""

import asyncpg
import pytest

from admitone.kernel import db
from admitone.kernel.db import Database
from tests.builders import an_increment, an_organization, value_of
from tests.toy import commands


@pytest.mark.parametrize(
    "words", [asyncpg.InternalClientError, asyncpg.InterfaceError, asyncpg.ConnectionDoesNotExistError]
)
async def test_a_connection_that_dies_while_it_is_made_is_replaced(
    database_url: str, words: type[Exception], monkeypatch: pytest.MonkeyPatch
):
    prepare = db.prepare
    deaths = ["one"]

    async def die_once(connection: asyncpg.Connection) -> None:
        if deaths:
            deaths.pop()
            raise words("cannot switch to state 12; another operation (2) is in progress")
        await prepare(connection)

    monkeypatch.setattr(db, "prepare", die_once)
    async with Database(database_url) as database:
        scope = await an_organization(database)
        await database.run(scope, lambda tx: commands.increment(tx, [an_increment()]))
        assert await value_of(database, scope) == 1
    assert not deaths
