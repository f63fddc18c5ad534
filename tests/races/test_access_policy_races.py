"""The first sale and a rule that is made harder, and one change of time after another, from several processes at once."""

import asyncio
import random
from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest
from msgspec.structs import replace

from admitone.entitlements.store.entitlements import find_entitlements
from admitone.entrypoints.duties import duties_of
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller
from admitone.verticals.events.commands.planning import PolicyChange, change_policy
from admitone.verticals.events.errors import EventOvertaken, PolicyTightens
from admitone.verticals.events.model import AccessMode, Event, EventId
from admitone.verticals.events.module import MODULE
from admitone.verticals.events.store import events as store
from tests.jobs import a_worker, until_idle
from tests.verticals.events.stage import OTHERS, Stage, a_stage, soon


@pytest.fixture
async def processes(database_url: str) -> AsyncIterator[list[tuple[Database, Batcher]]]:
    databases = [Database(database_url) for _ in range(3)]
    yield [(each, Batcher(each)) for each in databases]
    for each in databases:
        await each.close()


async def sells(database: Database, stage: Stage, event: EventId) -> AccessMode:
    """As an order does while nothing is sold yet: under the event's lock. Under which rules, is what comes back."""

    async def sell(tx: Tx) -> AccessMode:
        await store.lock_events(tx, [event], lambda each: each)
        await store.mark_first_sale(tx, [event])
        return (await store.find_policies(tx, [event]))[event].mode

    return await database.run(stage.scope, sell, patient=True)


async def tightens(batcher: Batcher, stage: Stage, event: EventId) -> Event | Refusal:
    found = await stage.database.read(stage.scope, store.find_policies, [event])
    wanted = replace(found[event], mode=AccessMode.UNLISTED)
    try:
        return (await batcher.submit(change_policy, stage.scope, PolicyChange(Caller(), event, wanted))).outcome
    except Refusal as refusal:
        return refusal


@pytest.mark.covers("EVT-017")
@pytest.mark.parametrize("seed", range(8))
async def test_whoever_bought_first_is_not_held_to_what_came_after(
    site: httpx.AsyncClient,
    database: Database,
    superuser: asyncpg.Connection,
    processes: list[tuple[Database, Batcher]],
    seed: int,
):
    chance, stage = random.Random(seed), await a_stage(site, database, superuser)
    event = EventId.parse((await stage.published())["eventId"])
    work = [sells(processes[n % 3][0], stage, event) for n in range(3)]
    work += [tightens(processes[n % 3][1], stage, event) for n in range(3)]  # type: ignore[list-item]
    chance.shuffle(work)
    said = await asyncio.gather(*work)

    bought = [each for each in said if isinstance(each, AccessMode)]
    tightened = [each for each in said if isinstance(each, Event)]
    refused = [each for each in said if isinstance(each, Refusal)]
    assert (len(bought), len(tightened) + len(refused)) == (3, 3)
    # Either the rules came first, and everybody bought under them; or a sale did, and they stayed as they were.
    assert {*bought} == ({AccessMode.UNLISTED} if tightened else {AccessMode.PUBLIC})
    assert all(isinstance(each, PolicyTightens | EventOvertaken) for each in refused)
    rows = await superuser.fetch(
        "SELECT version FROM events.access_policy WHERE event_id = $1 ORDER BY version", event.uuid
    )
    assert [row["version"] for row in rows] == ([1, 2] if tightened else [1])


@pytest.mark.covers("ENT-016")
async def test_of_two_changes_of_time_rights_follow_the_later_one(
    site: httpx.AsyncClient,
    database: Database,
    superuser: asyncpg.Connection,
    processes: list[tuple[Database, Batcher]],
):
    stage = await a_stage(site, database, superuser)
    event = await stage.published()
    rights = [await stage.granted(event) for _ in range(4)]
    duties = duties_of([OTHERS, MODULE])
    async with a_worker(processes[0][0], duties), a_worker(processes[1][0], duties), asyncio.timeout(60):
        for days in (7, 14, 3, 21):
            stage.fine(await stage.put_off(event, startsAt=soon(days=days), endsAt=soon(days=days, hours=2)))
        await until_idle(superuser, stage.scope)
    found = await stage.database.read(stage.scope, find_entitlements, [each.id for each in rights])
    windows = {(each.valid_from.isoformat(), each.valid_until.isoformat()) for each in found.values()}
    assert windows == {(soon(days=21, hours=-6), soon(days=21, hours=8))}
