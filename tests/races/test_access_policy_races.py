"""The first sale and a rule that is made harder, and one change of time after another, from several processes at once."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextvars import Context
from typing import Any

import asyncpg
import httpx
import pytest
from msgspec.structs import replace

from admitone.entitlements.store.entitlements import find_entitlements
from admitone.entrypoints.duties import duties_of
from admitone.finance.payments.api import Status
from admitone.finance.payments.store.subjects import insert_subjects
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller
from admitone.verticals.events.commands.planning import PolicyChange, change_policy
from admitone.verticals.events.errors import EventOvertaken, PolicyTightens
from admitone.verticals.events.model import AccessMode, Event, EventId
from admitone.verticals.events.module import MODULE
from admitone.verticals.events.store import events as store
from tests.jobs import DEADLINE_SECONDS, a_worker, until_idle
from tests.people import Person, a_person
from tests.verticals.events.office import Office, an_office
from tests.verticals.events.stage import OTHERS, Stage, a_stage, soon


@pytest.fixture
async def processes(database_url: str) -> AsyncIterator[list[tuple[Database, Batcher]]]:
    databases = [Database(database_url) for _ in range(3)]
    yield [(each, Batcher(each)) for each in databases]
    for each in databases:
        await each.close()


@pytest.fixture
async def office(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, batcher: Batcher
) -> AsyncIterator[Office]:
    async with an_office(await a_stage(site, database, superuser), batcher) as office:
        yield office


FREE = {"priceMinor": 0, "allowZeroPrice": True}


async def pays(office: Office, order: dict[str, Any], buyer: Person) -> PaymentId:
    """Until it has succeeded; nothing is handed over yet."""
    payment = await office.begin(order, buyer=buyer)
    if charge := (await office.world.payment(payment)).charge_id:
        office.world.simulator.act("pay", charge)
        await office.world.clerk.ask(office.stage.organization, payment, buyer.caller)
    assert (await office.world.payment(payment)).status is Status.SUCCEEDED
    return payment


async def tightens(batcher: Batcher, stage: Stage, event: EventId) -> Event | Refusal:
    found = await stage.database.read(stage.scope, store.find_policies, [event])
    if found[event].mode is AccessMode.UNLISTED:
        return EventOvertaken(version=found[event].version)  # Another has.
    return await changed(batcher, stage, PolicyChange(Caller(), event, replace(found[event], mode=AccessMode.UNLISTED)))


async def changed(batcher: Batcher, stage: Stage, change: PolicyChange) -> Event | Refusal:
    try:
        return (await batcher.submit(change_policy, stage.scope, change)).outcome
    except Refusal as refusal:
        return refusal


@pytest.mark.covers("EVT-017")
@pytest.mark.parametrize("terms", [{}, FREE], ids=["paid", "free"])
@pytest.mark.parametrize("seed", range(5))
async def test_whoever_bought_first_is_not_held_to_what_came_after(
    office: Office, processes: list[tuple[Database, Batcher]], terms: dict[str, Any], seed: int
):
    chance, stage = random.Random(seed), office.stage
    event, [kind] = await office.on_sale(terms)
    own = EventId.parse(event["eventId"])
    buyers = [await a_person(stage.database) for _ in range(3)]
    placed = [await office.order(event, (kind, 1), buyer=each) for each in buyers]
    sold: list[float] = []
    answers: list[tuple[float, Event | Refusal]] = []

    async def buys(order: dict[str, Any], buyer: Person, after: float) -> None:
        await asyncio.sleep(after)
        await pays(office, order, buyer)
        sold.append(time.monotonic())

    async def rules(batcher: Batcher, after: float) -> None:
        await asyncio.sleep(after)
        began = time.monotonic()
        answers.append((began, await tightens(batcher, stage, own)))

    work = [buys(order, buyer, chance.random() * 0.06) for order, buyer in zip(placed, buyers, strict=True)]
    work += [rules(processes[n][1], chance.random() * 0.09) for n in range(3)]
    await asyncio.gather(*work)
    await office.work()

    tightened = [began for began, said in answers if isinstance(said, Event)]
    assert all(isinstance(said, Event | PolicyTightens | EventOvertaken) for _, said in answers)
    assert all(began < min(sold) for began in tightened), "somebody had bought by then"
    # Either the rules came first, and everybody has a right under them; or a sale did, and they stayed as they were.
    now = (await stage.database.read(stage.scope, store.find_policies, [own]))[own]
    given = {right.policy_version for order in placed for right in await office.rights(order)}
    assert {now.version} == given == ({2} if tightened else {1})


@pytest.mark.covers("EVT-017")
@pytest.mark.parametrize("terms", [{}, FREE], ids=["paid", "free"])
async def test_whoever_pays_while_the_rules_are_being_changed_has_paid_after_it(office: Office, terms: dict[str, Any]):
    event, [kind] = await office.on_sale(terms)
    order, harder = await office.order(event, (kind, 1)), await harder_rules(office, event)

    async def rules(tx: Tx) -> asyncio.Task[PaymentId]:
        [said] = await change_policy(tx, [harder])
        assert isinstance(said, Event)
        # Elsewhere: nobody pays inside a transaction.
        paying = asyncio.create_task(pays(office, order, office.buyer), context=Context())
        await until_somebody_waits(office.stage.superuser)
        assert not paying.done()
        return paying

    await (await office.stage.database.run(office.stage.scope, rules, patient=True))
    await office.work()
    assert [each.policy_version for each in await office.rights(order)] == [2]


@pytest.mark.covers("EVT-017")
async def test_whoever_is_paying_when_the_rules_are_changed_has_paid_before_it(
    office: Office, processes: list[tuple[Database, Batcher]]
):
    event, [kind] = await office.on_sale()
    order, harder = await office.order(event, (kind, 1)), await harder_rules(office, event)
    payment = await office.world.payment(await office.begin(order))

    async def pay(tx: Tx) -> asyncio.Task[Any]:
        await insert_subjects(tx, [payment])
        changing = asyncio.create_task(changed(processes[0][1], office.stage, harder), context=Context())
        await until_somebody_waits(office.stage.superuser)
        assert not changing.done()
        return changing

    assert isinstance(await (await office.stage.database.run(office.stage.scope, pay, patient=True)), PolicyTightens)


async def harder_rules(office: Office, event: dict[str, Any]) -> PolicyChange:
    own = EventId.parse(event["eventId"])
    found = (await office.stage.database.read(office.stage.scope, store.find_policies, [own]))[own]
    return PolicyChange(Caller(), own, replace(found, mode=AccessMode.UNLISTED))


async def until_somebody_waits(superuser: asyncpg.Connection) -> None:
    """Before a door that another holds by name."""
    waits = """
        SELECT count(*)
          FROM pg_locks AS l
          JOIN pg_database AS d
            ON d.oid = l.database
         WHERE d.datname = current_database()
           AND l.locktype = 'advisory'
           AND NOT l.granted
    """
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not await superuser.fetchval(waits):  # noqa: ASYNC110  A lock tells nobody.
            await asyncio.sleep(0.005)


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
