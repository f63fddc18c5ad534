"""What a lost webhook would have told comes all the same, a little later."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import asyncpg
import pytest

from admitone.finance.webhooks import store
from admitone.finance.webhooks.arriving import LARGEST_EVENT_BYTES
from admitone.finance.webhooks.model import PLATFORM, Cursor
from admitone.finance.webhooks.polling import PAGES, poll
from admitone.kernel import failpoints
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Unavailable
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.scope import Caller
from tests.finance.webhooks.conftest import Door, kept_of
from tests.finance.webhooks.ground import a_payment, an_organization, status_of, the_work
from tests.finance.webhooks.provider import ScriptedGateway, an_event, as_sent


async def a_run(database: Database, batcher: Batcher) -> None:
    async def now(tx: Tx):
        return tx.now

    at = await database.read(PLATFORM, now)
    firing = Delivered(uuid7(), PLATFORM.organization, Firing("webhooks.poll", at), Caller(), "k", None, 1, at)
    await poll.work(Desk(database, batcher), firing)


async def the_cursor(database: Database) -> Cursor:
    return await database.read(PLATFORM, store.find_cursor, ScriptedGateway.provider)


async def test_a_lost_webhook_becomes_a_late_one(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    scope, intent = await an_organization(database), f"pi_{uuid7().hex}"
    payment = await a_payment(database, scope, intent)
    lost, came, others = an_event(object={"id": intent}), an_event(), [an_event() for _ in range(6)]
    await door.knock(came)
    door.gateway.events = [as_sent(each) for each in (came, *others, lost)]
    await a_run(database, batcher)
    [receipt] = await the_work(database, superuser, lost)
    assert (receipt["state"], await status_of(superuser, payment)) == ("PROCESSED", "SUCCEEDED")
    for each in (came, *others, lost):
        kept = await kept_of(superuser, each)
        assert [len(kept.receipts), kept.payloads, kept.facts] == [1, 1, 1]
    # And when it comes at last, it is a duplicate.
    assert (await door.knock(lost)).json()["idempotency_hit"]


async def test_the_cursor_moves_to_the_latest_that_was_heard_and_looks_back_a_little(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    first = an_event()
    door.gateway.events = [as_sent(first)]
    await a_run(database, batcher)
    cursor = await the_cursor(database)
    assert (cursor.position, cursor.since.timestamp()) == (None, first["created"])
    # One that the provider lists late is within the overlap; one from before is not asked for again.
    late = an_event(created=first["created"] - int(Cursor.OVERLAP / timedelta(seconds=2)))
    old = an_event(created=first["created"] - int(Cursor.OVERLAP / timedelta(seconds=1)) - 1)
    door.gateway.events = [as_sent(old), as_sent(late)]
    await a_run(database, batcher)
    assert [len((await kept_of(superuser, each)).receipts) for each in (old, late)] == [0, 1]
    assert (await the_cursor(database)).since.timestamp() == first["created"]


async def test_a_run_reads_so_many_pages_and_the_next_one_goes_on(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    door.gateway.page_size = 1
    events = [an_event() for _ in range(PAGES + 3)]
    door.gateway.events = [as_sent(each) for each in events]
    await a_run(database, batcher)
    assert door.gateway.pages_read == PAGES
    assert [len((await kept_of(superuser, each)).receipts) for each in events] == [1] * PAGES + [0] * 3
    await a_run(database, batcher)
    assert [len((await kept_of(superuser, each)).receipts) for each in events] == [1] * (PAGES + 3)
    assert (await the_cursor(database)).position is None


async def test_the_cursor_does_not_move_past_what_was_not_kept(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    event = an_event()
    door.gateway.events = [as_sent(event)]

    def fail() -> None:
        raise RuntimeError("killed")

    for point in ("webhooks.before_enqueue", "webhooks.before_cursor"):
        with failpoints.armed(point, fail), pytest.raises(RuntimeError):
            await a_run(database, batcher)
        assert await superuser.fetchval("SELECT count(*) FROM webhooks.cursor") == 0
    await a_run(database, batcher)
    assert len((await kept_of(superuser, event)).receipts) == 1


async def test_what_cannot_be_read_or_is_not_ours_stops_nothing(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    live, unclear, odd, last = (
        an_event(livemode=True),
        an_event("account.updated"),
        an_event("payment_intent.odd"),
        an_event(),
    )
    malformed = as_sent(an_event(id="not an id"))
    door.gateway.events = [as_sent(live), malformed, as_sent(unclear), as_sent(odd), as_sent(last)]
    await a_run(database, batcher)
    kept = [(await kept_of(superuser, each)).receipts for each in (live, unclear, odd, last)]
    assert [len(each) for each in kept] == [0, 1, 1, 1]
    assert kept[1][0]["state"] == "ORG_UNRESOLVED"


async def test_one_bad_event_keeps_nothing_else_from_being_heard(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    huge = an_event(object={"description": "x" * LARGEST_EVENT_BYTES})
    odd, last = an_event("account.updated", object={"status": "odd"}), an_event()
    door.gateway.events = [as_sent(each) for each in (huge, odd, last)]
    await a_run(database, batcher)
    assert [len((await kept_of(superuser, each)).receipts) for each in (huge, odd, last)] == [0, 1, 1]
    [receipt] = await the_work(database, superuser, odd)
    assert receipt["state"] == "DEAD" and receipt["reason"].startswith("NotUnderstood")


async def test_a_place_that_the_provider_does_not_know_any_more_is_given_up(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    door.gateway.page_size, door.gateway.forgotten = 1, {"elsewhere"}
    events = [an_event(), an_event()]
    door.gateway.events = [as_sent(each) for each in events]
    began = await the_cursor(database)
    stuck = Cursor("elsewhere", began.since)
    await database.run(PLATFORM, partial(store.put_cursor, provider=door.gateway.provider, cursor=stuck))
    await a_run(database, batcher)
    assert [len((await kept_of(superuser, each)).receipts) for each in events] == [1, 1]
    assert (await the_cursor(database)).position is None


async def test_an_event_from_the_future_hides_nothing_that_comes_before_it(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    future = an_event(created=an_event()["created"] + 86_400 * 365)
    door.gateway.events = [as_sent(future)]
    await a_run(database, batcher)
    assert (await the_cursor(database)).since <= datetime.now(UTC)
    later = an_event()
    door.gateway.events.append(as_sent(later))
    await a_run(database, batcher)
    assert [len((await kept_of(superuser, each)).receipts) for each in (future, later)] == [1, 1]


async def test_a_provider_that_is_away_is_asked_again(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    door.gateway.is_away = True
    with pytest.raises(Unavailable):
        await a_run(database, batcher)
    assert await superuser.fetchval("SELECT count(*) FROM webhooks.cursor") == 0


async def test_a_poll_and_the_webhook_at_the_same_time_are_one_event(
    database: Database, batcher: Batcher, superuser: asyncpg.Connection, door: Door
):
    events = [an_event() for _ in range(20)]
    door.gateway.page_size, door.gateway.events = 20, [as_sent(each) for each in events]
    await asyncio.gather(a_run(database, batcher), *(door.knock(each) for each in events))
    for each in events:
        kept = await kept_of(superuser, each)
        assert [len(kept.receipts), kept.payloads, len(kept.jobs), kept.facts] == [1] * 4


async def test_who_lists_nothing_is_not_asked(
    database: Database, batcher: Batcher, gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(gateway, "abilities", frozenset())
    gateway.is_away = True
    await a_run(database, batcher)
    assert gateway.pages_read == 0
