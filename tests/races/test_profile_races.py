"""Several people lay out one profile at once, from several processes."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from admitone.foundation.organizations.commands.profile import change_profile
from admitone.foundation.organizations.errors import ProfileOvertaken
from admitone.foundation.organizations.layout import Layout, LayoutChange, LayoutVersion
from admitone.foundation.organizations.store.layouts import find_layout
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Scope
from tests.foundation.organizations.clubs import a_club

EDITORS, ROUNDS = 12, 4


@pytest.fixture
async def processes(database_url: str) -> AsyncIterator[list[Batcher]]:
    databases = [Database(database_url) for _ in range(3)]
    yield [Batcher(each) for each in databases]
    for each in databases:
        await each.close()


@pytest.mark.covers("SRC-023")
async def test_of_all_who_saw_the_same_version_one_writes_the_next(
    database: Database, superuser: asyncpg.Connection, processes: list[Batcher]
):
    ana, club = await a_club(database)
    scope = Scope(club, "test")

    async def says(editor: int, seen: int) -> LayoutVersion | Refusal:
        wanted = LayoutChange(ana.caller, seen, Layout(about=f"Version {seen + 1}, by editor {editor}."))
        try:
            return (await processes[editor % 3].submit(change_profile, scope, wanted)).outcome
        except Refusal as refusal:
            return refusal

    for seen in range(ROUNDS):
        outcomes = await asyncio.gather(*(says(editor, seen) for editor in range(EDITORS)))
        [written] = [each for each in outcomes if isinstance(each, LayoutVersion)]
        overtaken = [each for each in outcomes if isinstance(each, ProfileOvertaken)]
        assert len(overtaken) == EDITORS - 1
        assert {each.version for each in overtaken} == {written.version} == {seen + 1}
        assert (await database.read(scope, find_layout)).layout == written.layout, (
            "what was said last is not what counts"
        )
    kept = "SELECT array_agg(version ORDER BY version) FROM organizations.profile_layout WHERE organization_id = $1"
    assert await superuser.fetchval(kept, club.uuid) == [*range(1, ROUNDS + 1)]
