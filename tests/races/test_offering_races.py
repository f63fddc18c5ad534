"""What is offered changes while somebody orders it: what is kept counts where the type counts, or nothing changes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database, Tx
from admitone.kernel.words import Language
from admitone.selling.stock import api as stock
from admitone.verticals.events.commands.offering import Sharing, share
from admitone.verticals.events.commands.ordering import Placing, Want, place
from admitone.verticals.events.model import EventId, Order, TicketTypeId
from tests.jobs import DEADLINE_SECONDS
from tests.verticals.events.office import Office, an_office
from tests.verticals.events.stage import a_stage, soon

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@pytest.fixture
async def office(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, batcher: Batcher
) -> AsyncIterator[Office]:
    async with an_office(await a_stage(site, database, superuser), batcher) as office:
        yield office


async def a_house(office: Office) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """An event of two sessions, what is sold for it, and a pool that it may share."""
    sessions = [{"label": each, "startsAt": soon(), "endsAt": soon(hours=2)} for each in ("Matinee", "Night")]
    event, [kind] = await office.on_sale({"supply": {"capacity": 5}}, schedule={"sessions": sessions})
    house = {"label": "House", "capacity": 2, "idempotencyKey": "house"}
    event = office.stage.fine(await office.stage.ask("POST", f"/{event['eventId']}/pools", house), 201)
    return event, kind, [event["sharedPools"][0]["pool"]["poolId"]]


def otherwise(event: dict[str, Any], shared: list[str]) -> list[dict[str, Any]]:
    return [{"sharedPools": shared}, {"sessions": [event["sessions"][0]["sessionId"]]}]


def overtaken_by(office: Office, monkeypatch: pytest.MonkeyPatch, event: dict[str, Any], **otherwise: Any) -> list[int]:
    """Whoever orders next has read what is offered and locked nothing yet when it is offered otherwise. How often they
    looked."""
    keep, looks = stock.keep, list[int]()

    async def keeps(tx: Tx, wanted: Any) -> Any:
        looks.append(len(wanted))
        if len(looks) == 1:
            office.stage.fine(await office.stage.revise(event, event["ticketTypes"][0], **otherwise))
        return await keep(tx, wanted)

    monkeypatch.setattr(stock, "keep", keeps)
    return looks


@pytest.mark.covers("EVT-009")
async def test_whoever_is_overtaken_by_another_offer_orders_what_is_offered_by_then(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    event, kind, shared = await a_house(office)
    looks = overtaken_by(office, monkeypatch, event, sharedPools=shared)
    order = await office.order(event, (kind, 2))
    own = (await office.find(order)).id
    hold = stock.HoldId(own.uuid)
    found = (await office.stage.database.read(office.stage.scope, stock.find_holds, [hold]))[hold]
    assert {str(each.pool) for each in found.portions} == {kind["pool"]["poolId"], *shared}
    assert len(looks) == 2
    full = await office.ask(event, (kind, 1))
    assert full.json()["errorCode"] == "SOLD_OUT", "there are five of them, and places for two"


@pytest.mark.covers("EVT-014")
async def test_whoever_is_overtaken_by_another_price_orders_at_that(office: Office, monkeypatch: pytest.MonkeyPatch):
    event, [kind] = await office.on_sale()
    overtaken_by(office, monkeypatch, event, priceMinor=5000)
    assert (await office.order(event, (kind, 1)))["amountMinor"] == 5000


@pytest.mark.covers("EVT-014")
async def test_what_is_withdrawn_while_somebody_orders_it_is_not_ordered(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    event, [kind] = await office.on_sale()
    overtaken_by(office, monkeypatch, event, status="ARCHIVED")
    assert (await office.ask(event, (kind, 1))).json()["errorCode"] == "TICKET_TYPE_NOT_FOUND"


@pytest.mark.covers("EVT-009")
@pytest.mark.parametrize("which", [0, 1], ids=["other pools", "other sessions"])
async def test_whoever_offers_otherwise_waits_for_whoever_orders(office: Office, which: int):
    event, kind, shared = await a_house(office)
    want = Want(TicketTypeId.parse(kind["ticketTypeId"]), 2)
    own, buyer = EventId.parse(event["eventId"]), office.buyer
    placing = Placing(buyer.caller, own, buyer.identity, (want,), "k1", False, Language.ENGLISH)
    tasks: list[asyncio.Task[httpx.Response]] = []

    async def orders(tx: Tx) -> None:
        [placed] = await place(tx, [placing])
        assert isinstance(placed, Order)
        revising = office.stage.revise(event, kind, **otherwise(event, shared)[which])
        tasks.append(asyncio.create_task(revising))
        await asyncio.sleep(0.3)

    await office.stage.database.run(office.stage.scope, orders)
    refused = await tasks[0]
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "FROZEN_BY_SALE")


@pytest.mark.covers("EVT-009")
async def test_whoever_resizes_two_pools_and_whoever_sells_out_of_both_do_not_wait_for_each_other(office: Office):
    event, _ = await office.on_sale()
    for label in ("Balcony", "Stalls"):
        pool = {"label": label, "capacity": 5, "idempotencyKey": label}
        event = office.stage.fine(await office.stage.ask("POST", f"/{event['eventId']}/pools", pool), 201)
    first, last = sorted(stock.PoolId.parse(each["pool"]["poolId"]) for each in event["sharedPools"])
    own, looks = EventId.parse(event["eventId"]), list[str]()
    wanted = [Sharing(office.buyer.caller, own, each, "Anew", 9, is_new=False) for each in (last, first)]

    async def resizes(tx: Tx) -> None:
        looks.append("resizes")
        assert [each.capacity for each in await share(tx, wanted) if isinstance(each, stock.Pool)] == [9, 9]

    async def sells(tx: Tx) -> asyncio.Task[None]:
        """One pool after the other, in their order, as everybody does; in between somebody resizes both."""
        looks.append("sells")
        await stock.lock_pools(tx, [stock.Need(None, first)])
        resizing = asyncio.create_task(office.stage.database.run(office.stage.scope, resizes, patient=True))
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await office.stage.superuser.fetchval(WAITING):  # noqa: ASYNC110  A lock tells nobody.
                await asyncio.sleep(0.005)
        await stock.lock_pools(tx, [stock.Need(None, last)])
        return resizing

    await (await office.stage.database.run(office.stage.scope, sells, patient=True))
    assert looks == ["sells", "resizes"], "whoever closes a circle is thrown out and begins again"
