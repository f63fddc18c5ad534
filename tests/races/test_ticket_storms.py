"""A crowd at the box office: through the real edge, and from several processes at once. SEEDS=20 has more of them."""

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import asyncpg
import httpx
import msgspec
import pytest

from admitone.entrypoints.http import Application
from admitone.finance.gateways.sandbox.charges import No
from admitone.finance.payments.api import GRACE, Status
from admitone.finance.refunds.api import Piece, Reason, RefundId, Request, request_refunds
from admitone.finance.sources.api import PaymentId
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, RowBusy, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller, Scope
from admitone.kernel.words import Language
from admitone.selling.stock import api as stock
from admitone.selling.stock.commands.settling import expire
from admitone.verticals.events.commands.offering import Revising, Terms, revise
from admitone.verticals.events.commands.ordering import Cancelling, Placing, Want, cancel, place
from admitone.verticals.events.commands.planning import Cancelling as CancellingEvent
from admitone.verticals.events.commands.planning import PolicyChange, change_policy
from admitone.verticals.events.commands.planning import cancel as cancel_event
from admitone.verticals.events.model import EventId, Order, TicketStatus, TicketTypeId
from admitone.verticals.events.store import events as store
from tests.jobs import a_worker, dead, until
from tests.people import Person, a_person
from tests.verticals.events.office import DUTIES, PUT_OFF, SOONER, UNDONE, Office, an_office
from tests.verticals.events.stage import a_stage

UNITS, REQUESTS, ADDRESSES = 40, 400, 40
SEEDS: Final = int(os.environ.get("SEEDS", "2"))
OVERDUE = "UPDATE {} SET expires_at = now() - interval '1 second' WHERE organization_id = $1 AND {}"
HELD = "SELECT DISTINCT hold_id FROM stock.portion WHERE organization_id = $1 AND status = 'HELD'"
DEADLOCKS = "SELECT deadlocks FROM pg_catalog.pg_stat_database WHERE datname = current_database()"


@pytest.fixture
async def office(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, batcher: Batcher
) -> AsyncIterator[Office]:
    async with an_office(await a_stage(site, database, superuser), batcher) as office:
        yield office


@pytest.fixture
async def crowd(application: Application) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Each from an address of its own: limits count by address."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(application.edge, client=(f"10.78.0.{n + 1}", 4711)),
                    base_url="http://admitone.test",
                )
            )
            for n in range(ADDRESSES)
        ]


async def time_passes(office: Office) -> None:
    """Whatever is kept by now is overdue. What was overdue long enough is swept, what was not is still lying there."""
    own, superuser = office.stage.organization.uuid, office.stage.superuser
    await superuser.execute(OVERDUE.format("stock.portion", "status = 'HELD'"), own)
    await superuser.execute(OVERDUE.format("events.ticket_order", "state = 'OPEN'"), own)


async def swept(office: Office, database: Database, share: float = 1) -> None:
    rows = await office.stage.superuser.fetch(HELD, office.stage.organization.uuid)
    holds = [stock.HoldId(row["hold_id"]) for row in rows][: int(len(rows) * share)]
    await database.run(office.stage.scope, lambda tx: expire(tx, holds), patient=True)


@pytest.mark.covers("EVT-009")
async def test_a_crowd_for_forty_places_has_forty_and_every_refusal_is_true(
    office: Office, crowd: list[httpx.AsyncClient]
):
    event, [kind] = await office.on_sale({"supply": {"capacity": UNITS}})
    chance, paid, wave = random.Random(8), list[dict[str, Any]](), 0

    async def ask(number: int, quantity: int) -> tuple[httpx.AsyncClient, int, httpx.Response]:
        client = crowd[number % ADDRESSES]
        body = {
            "organizationId": str(office.stage.organization),
            "eventId": event["eventId"],
            "lines": [{"ticketTypeId": kind["ticketTypeId"], "quantity": quantity}],
            "idempotencyKey": f"a guest of the storm {wave}-{number}",
            "guestEmail": f"guest{wave}.{number}@example.org",
        }
        return client, quantity, await client.post("/api/orders", json=body)

    async def pay(client: httpx.AsyncClient, order: dict[str, Any]) -> None:
        office.stage.site = client
        payment = await office.begin(order, guest=True)
        office.world.simulator.act("pay", (await office.world.payment(payment)).charge_id)
        await office.world.clerk.ask(office.stage.organization, payment, Caller())
        paid.append(order)

    requests = iter([chance.choice((1, 1, 2, 3)) for _ in range(REQUESTS)])
    async with a_worker(office.stage.database, DUTIES):
        while wanted := [quantity for _, quantity in zip(range(REQUESTS // 4), requests)]:  # noqa: B905
            asked = await asyncio.gather(*(ask(number, quantity) for number, quantity in enumerate(wanted)))
            said = Counter(answer.status_code for _, _, answer in asked)
            assert {*said} <= {200, 409}, said
            pool = await office.pool(kind)
            for _, quantity, answer in asked:
                if answer.status_code == 409:
                    told = answer.json()
                    assert told["errorCode"] == "SOLD_OUT"
                    assert pool.free <= told["left"] < quantity, "nothing came back meanwhile: it was so"
            kept = [(client, answer.json()) for client, _, answer in asked if answer.status_code == 200]
            # A fifth think better of it.
            for client, order in kept:
                if chance.random() > 0.2:
                    await pay(client, order)
            await until(office.stage.superuser, UNDONE, office.stage.scope)
            await time_passes(office)
            if wave % 2:
                await swept(office, office.stage.database, 0.5)
            wave += 1
    assert await dead(office.stage.superuser, office.stage.scope) == []
    pool = await office.pool(kind)
    assert (pool.sold, pool.free) == (UNITS, 0), "all of it, and not one more"
    tickets = [each for order in paid for each in await office.tickets(order)]
    assert len(tickets) == UNITS
    assert {each.status for each in tickets} == {TicketStatus.ACTIVE}


# -- Everything at once


@pytest.fixture
async def processes(database_url: str) -> AsyncIterator[list[tuple[Database, Batcher]]]:
    databases = [Database(database_url) for _ in range(3)]
    yield [(each, Batcher(each)) for each in databases]
    for each in databases:
        await each.close()


Deed = Callable[["Storm", Batcher, int], Awaitable[None]]
ANSWERS: Final = (Refusal, RowBusy, asyncpg.LockNotAvailableError)
"""Why something is not done, or not now: both are true, and nobody waits for ever."""


@dataclass
class Storm:
    """People, providers and sweepers at one event, all at once."""

    office: Office
    event: dict[str, Any]
    people: list[Person]
    crowd: list[httpx.AsyncClient]
    databases: list[Database]
    chance: random.Random
    placed: list[tuple[Order, Person]] = field(default_factory=list)
    payments: list[PaymentId] = field(default_factory=list)
    operator: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def own(self) -> EventId:
        return EventId.parse(self.event["eventId"])

    @property
    def scope(self) -> Scope:
        return self.office.stage.scope

    async def orders(self, batcher: Batcher, number: int) -> None:
        person, kinds = self.chance.choice(self.people), self.event["ticketTypes"]
        wants = tuple(
            Want(TicketTypeId.parse(kind["ticketTypeId"]), self.chance.randint(1, 2))
            for kind in self.chance.sample(kinds, self.chance.randint(1, 3))
        )
        placing = Placing(person.caller, self.own, person.identity, wants, f"k{number}", False, Language.ENGLISH)
        with suppress(*ANSWERS):
            self.placed.append(((await batcher.submit(place, self.scope, placing)).outcome, person))

    async def pays(self, _: Batcher, __: int) -> None:
        if not self.placed:
            return
        order, person = self.chance.choice(self.placed)
        self.office.stage.site = self.chance.choice(self.crowd)
        answer = await self.office.checkout({"orderId": str(order.id)}, person)
        if answer.status_code == 200:
            self.payments.append(PaymentId.parse(answer.json()["paymentId"]))
            await self._befalls(self.payments[-1], "pay")

    async def thinks_better_of_it(self, _: Batcher, __: int) -> None:
        """Begins to pay, and then does not; or pays in another way after all."""
        if not self.placed:
            return
        order, person = self.chance.choice(self.placed)
        self.office.stage.site = self.chance.choice(self.crowd)
        for deed in ("cancel", self.chance.choice(("cancel", "pay", None))):
            answer = await self.office.checkout({"orderId": str(order.id)}, person)
            if answer.status_code == 200 and deed:
                self.payments.append(PaymentId.parse(answer.json()["paymentId"]))
                await self._befalls(self.payments[-1], deed)

    async def gives_up(self, batcher: Batcher, _: int) -> None:
        if self.placed:
            order, person = self.chance.choice(self.placed)
            with suppress(*ANSWERS):
                await batcher.submit(cancel, self.scope, Cancelling(person.caller, order.id, person.identity))

    async def sweeps(self, _: Batcher, __: int) -> None:
        """Some of it, an hour later."""
        async with self.operator:  # Who has one connection.
            rows = await self.office.stage.superuser.fetch(HELD, self.scope.organization.uuid)
        holds = [stock.HoldId(row["hold_id"]) for row in self.chance.sample(rows, len(rows) // 4)]

        async def then(tx: Tx) -> None:
            tx.now += timedelta(hours=1)
            await expire(tx, holds)

        with suppress(*ANSWERS):
            await self.chance.choice(self.databases).run(self.scope, then, patient=True)

    async def goes_back(self, _: Batcher, __: int) -> None:
        if not self.payments:
            return
        piece = Piece(self.chance.choice(self.event["ticketTypes"])["ticketTypeId"], 1)
        payment = self.chance.choice(self.payments)
        wanted = Request(Caller(), payment, RefundId.new(), Reason.TECHNICAL_PROBLEM, (piece,))
        with suppress(*ANSWERS):
            await self.chance.choice(self.databases).run(
                self.scope, lambda tx: request_refunds(tx, [wanted]), patient=True
            )

    async def is_disputed(self, _: Batcher, __: int) -> None:
        if self.payments:
            await self._befalls(self.chance.choice(self.payments), self.chance.choice(("dispute", "win", "lose")))

    async def banks_decide(self) -> None:
        for payment in {*self.payments}:
            if (await self.office.world.payment(payment)).status is Status.DISPUTED:
                await self._befalls(payment, self.chance.choice(("win", "lose")))

    async def rules(self, batcher: Batcher, _: int) -> None:
        policy = (await self.office.stage.database.read(self.scope, store.find_policies, [self.own]))[self.own]
        wider = msgspec.structs.replace(policy.checkin, undo_minutes=policy.checkin.undo_minutes + 1)
        with suppress(*ANSWERS):
            change = PolicyChange(Caller(), self.own, msgspec.structs.replace(policy, checkin=wider))
            await batcher.submit(change_policy, self.scope, change)

    async def offers_otherwise(self, batcher: Batcher, _: int) -> None:
        """Out of the house, or not any more: while nobody has any of it."""
        kinds = (await self.office.stage.database.read(self.scope, store.find_types_of_events, [self.own]))[self.own]
        near, far = (next(each for each in kinds if each.name == name) for name in ("Near", "Far"))
        terms = Terms(far.name, far.price_minor, shared_pools=() if far.shared_pools else near.shared_pools)
        with suppress(*ANSWERS):
            await batcher.submit(revise, self.scope, Revising(Caller(), self.own, far.id, far.version, terms))

    async def calls_off(self, batcher: Batcher, _: int) -> None:
        await batcher.submit(cancel_event, self.scope, CancellingEvent(Caller(), self.own, "WEATHER"))

    async def _befalls(self, payment: PaymentId, deed: str) -> None:
        if charge := (await self.office.world.payment(payment)).charge_id:
            with suppress(No):  # The provider does not let everything happen.
                self.office.world.simulator.act(deed, charge)
            await self.office.world.clerk.ask(self.scope.organization, payment, Caller())


DEEDS: Sequence[Deed] = (
    *([Storm.orders] * 6),
    *([Storm.pays] * 4),
    *([Storm.thinks_better_of_it] * 3),
    Storm.gives_up,
    Storm.sweeps,
    Storm.goes_back,
    Storm.is_disputed,
    Storm.rules,
    Storm.offers_otherwise,
)


PAID_BEFORE: Final = 3


async def an_event(office: Office) -> dict[str, Any]:
    """Of three types: two of them share a pool, and one costs nothing."""
    stage, draft = office.stage, await office.stage.drafted()
    pool = {"label": "House", "capacity": 30, "idempotencyKey": "house"}
    event = stage.fine(await stage.ask("POST", f"/{draft['eventId']}/pools", pool), 201)
    [house] = [each["pool"]["poolId"] for each in event["sharedPools"]]
    free = {"priceMinor": 0, "allowZeroPrice": True, "freePerPerson": 3}
    for name, terms in (("Near", {}), ("Far", {}), ("Free", free)):
        shared = [house] if name != "Far" else []
        event = await stage.offered(event, name=name, supply={"capacity": 16}, sharedPools=shared, **terms)
    return stage.fine(await stage.ask("POST", f"/{event['eventId']}/publish"))


@pytest.mark.covers("EVT-009", "FUL-002")
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_whoever_does_what_at_once_nobody_waits_for_each_other_for_ever(
    office: Office, crowd: list[httpx.AsyncClient], processes: list[tuple[Database, Batcher]], seed: int
):
    people = [await a_person(office.stage.database) for _ in range(12)]
    databases = [database for database, _ in processes]
    storm = Storm(office, await an_event(office), people, crowd, databases, random.Random(seed))
    before = await office.stage.superuser.fetchval(DEADLOCKS)
    async with a_worker(databases[0], DUTIES), a_worker(databases[1], DUTIES):
        for wave in range(6):
            numbers = range(wave * 100, wave * 100 + 25)
            await asyncio.gather(*(storm.chance.choice(DEEDS)(storm, processes[n % 3][1], n) for n in numbers))
        async with asyncio.timeout(60):
            await until(office.stage.superuser, UNDONE, office.stage.scope)
    assert await dead(office.stage.superuser, office.stage.scope) == []
    assert await office.stage.superuser.fetchval(DEADLOCKS) == before
    assert len(storm.payments) >= 5
    await all_adds_up(office, storm.event["ticketTypes"])


@pytest.mark.covers("EVT-009", "FIN-070", "ENT-007")
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_an_event_that_is_called_off_in_the_middle_of_it_leaves_nobody_with_anything(
    office: Office, crowd: list[httpx.AsyncClient], processes: list[tuple[Database, Batcher]], seed: int
):
    people = [await a_person(office.stage.database) for _ in range(12)]
    databases = [database for database, _ in processes]
    storm = Storm(office, await an_event(office), people, crowd, databases, random.Random(seed))
    far = storm.event["ticketTypes"][1]
    for each in people[:PAID_BEFORE]:  # Somebody has, however chance will have it.
        await office.pay(await office.order(storm.event, (far, 1), buyer=each), buyer=each)
    before = await office.stage.superuser.fetchval(DEADLOCKS)
    async with a_worker(databases[0], DUTIES), a_worker(databases[1], DUTIES):
        for wave in range(6):
            numbers = range(wave * 100, wave * 100 + 25)
            deeds = [storm.chance.choice(DEEDS)(storm, processes[n % 3][1], n) for n in numbers]
            deeds.append((storm.calls_off if wave == 3 else storm.offers_otherwise)(processes[2][1], 0))
            storm.chance.shuffle(deeds)
            await asyncio.gather(*deeds)
        await all_is_done(office)
        await storm.banks_decide()
        await all_is_done(office)
    assert await dead(office.stage.superuser, office.stage.scope) == []
    assert await office.stage.superuser.fetchval(DEADLOCKS) == before
    await all_adds_up(office, storm.event["ticketTypes"])
    await nobody_has_anything(office)


async def all_is_done(office: Office) -> None:
    """What was put off, too: who looks a second time, looks now."""
    async with asyncio.timeout(90):
        while await office.stage.superuser.fetchval(PUT_OFF, office.stage.organization.uuid):
            await office.stage.superuser.execute(SOONER, office.stage.organization.uuid)
            await asyncio.sleep(0.05)


async def nobody_has_anything(office: Office) -> None:
    superuser, own = office.stage.superuser, office.stage.organization.uuid
    rights = await superuser.fetch(
        "SELECT status FROM entitlements.entitlement WHERE organization_id = $1 AND status <> 'REVOKED'", own
    )
    assert rights == []
    assert await superuser.fetchval("SELECT sum(sold) FROM stock.pool WHERE organization_id = $1", own) == 0
    paid = await superuser.fetch(
        "SELECT status, count(*) FROM payments.payment WHERE organization_id = $1 AND captured_minor > 0 GROUP BY 1",
        own,
    )
    assert {row["status"] for row in paid} <= {"REFUNDED", "CHARGEBACK_LOST"}
    assert sum(row["count"] for row in paid) >= PAID_BEFORE


async def all_adds_up(office: Office, kinds: Sequence[dict[str, Any]]) -> None:
    """Every pool has sold what is somebody's; every ticket has its right; whoever paid has something, or it is back."""
    superuser, own = office.stage.superuser, office.stage.organization.uuid
    for kind in kinds:
        sold = await superuser.fetchval(
            "SELECT count(*) FROM events.ticket WHERE organization_id = $1 AND ticket_type_id = $2"
            " AND status IN ('ACTIVE', 'DISPUTED')",
            own,
            TicketTypeId.parse(kind["ticketTypeId"]).uuid,
        )
        assert (await office.pool(kind)).sold == sold
    # What is kept or sold counts in all the pools that its type draws from, and in no other.
    elsewhere = await superuser.fetch(
        "SELECT n.hold_id FROM (SELECT hold_id, item, array_agg(pool_id ORDER BY pool_id) AS pools FROM stock.portion"
        " WHERE organization_id = $1 AND status IN ('HELD', 'SOLD') GROUP BY hold_id, item) n"
        " JOIN events.ticket_type t ON t.organization_id = $1 AND n.item = 'tkt_' || replace(t.id::text, '-', '')"
        " WHERE n.pools <> ARRAY(SELECT unnest(t.pool_id || t.shared_pools) AS own ORDER BY own)",
        own,
    )
    assert elsewhere == []
    for total in ("sold", "held"):
        strayed = await superuser.fetch(
            f"SELECT p.id FROM stock.pool p WHERE p.organization_id = $1 AND p.{total} <> (SELECT COALESCE(sum("
            "CASE WHEN n.status = 'SOLD' THEN n.quantity - n.returned ELSE n.quantity END), 0) FROM stock.portion n"
            " WHERE n.pool_id = p.id AND n.status = $2)",
            own,
            total.upper(),
        )
        assert strayed == []
    # What is kept ends with its order, and never before whoever pays cannot any more.
    early = await superuser.fetch(
        "SELECT o.id FROM events.ticket_order o JOIN stock.portion n ON n.organization_id = $1 AND n.hold_id = o.id"
        " WHERE o.organization_id = $1 AND o.state = 'OPEN' AND n.status = 'HELD' AND (n.expires_at <> o.expires_at"
        " OR n.expires_at < ANY (SELECT p.expires_at + $2::interval FROM payments.payment p WHERE p.organization_id = $1"
        " AND p.source_id = 'ord_' || replace(o.id::text, '-', '')"
        " AND p.status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING')))",
        own,
        GRACE,
    )
    assert early == []
    lone = await superuser.fetch(
        "SELECT t.id FROM events.ticket t WHERE t.organization_id = $1 AND 1 <> (SELECT count(*) FROM"
        " entitlements.entitlement e WHERE e.organization_id = $1 AND e.line_key = 'tkt_' || replace("
        "t.ticket_type_id::text, '-', '') AND e.source_id = 'ord_' || replace(t.order_id::text, '-', '')"
        " AND e.piece = t.emission_index AND (e.status = 'ACTIVE') = (t.status = 'ACTIVE'))",
        own,
    )
    assert lone == []
    unhappy = await superuser.fetch(
        "SELECT p.id, p.status FROM payments.payment p WHERE p.organization_id = $1 AND p.applied"
        " AND p.status IN ('SUCCEEDED', 'PARTIAL_REFUND', 'CHARGEBACK_WON') AND NOT EXISTS (SELECT FROM"
        " events.ticket_order o WHERE o.organization_id = $1 AND o.payment_id = p.id AND o.state = 'FULFILLED')"
        # What cost nothing and could not be given is over, and has nothing to go back.
        " AND NOT (p.amount_minor = 0 AND EXISTS (SELECT FROM fulfilment.operation f WHERE f.organization_id = $1"
        " AND f.payment_id = p.id AND f.state = 'RETURNED'))",
        own,
    )
    assert unhappy == []
