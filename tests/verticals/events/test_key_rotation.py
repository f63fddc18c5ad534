"""Keys change, and whoever an invoice was for can be read all the same (GAP-18)."""

from datetime import UTC, datetime
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.kernel.batch import Batcher
from admitone.kernel.crypto import KEYRING, KeyRing
from admitone.kernel.db import Database, Tx
from admitone.kernel.ids import PLATFORM_ORGANIZATION, uuid7
from admitone.kernel.jobs import Delivered, Desk
from admitone.kernel.jobs.schedules import Firing
from admitone.kernel.rotation import KeyGone
from admitone.kernel.scope import Caller
from admitone.verticals.events import billing
from admitone.verticals.events.model import OrderId
from admitone.verticals.events.store import rotation
from tests.toy.wiring import TOY_KEY
from tests.verticals.events.office import Office, an_office
from tests.verticals.events.stage import a_stage
from tests.verticals.events.test_reports import ME

BOTH, NEW = KeyRing({1: TOY_KEY, 2: bytes(32)}), KeyRing({2: bytes(32)})
FORGET = "UPDATE events.ticket_order SET billing = NULL WHERE billing IS NOT NULL"


@pytest.fixture(autouse=True)
async def alone(superuser: asyncpg.Connection) -> Any:
    """What other tests left stands under keys of theirs, and what this one leaves would be a riddle to them."""
    await superuser.execute(FORGET)
    yield
    await superuser.execute(FORGET)


async def night(office: Office) -> None:
    """As the worker runs it."""
    at = datetime.now(UTC)
    desk = Desk(office.stage.database, Batcher(office.stage.database))
    job = Delivered(uuid7(), PLATFORM_ORGANIZATION, Firing("events.rotate_keys", at), Caller(), "cron", None, 1, at)
    await billing.rotate_keys.work(desk, job)


async def key_of(office: Office, order: dict[str, Any]) -> int:
    sealed = (await office.find(order)).billing
    assert sealed is not None
    return sealed[0]


async def invoice(office: Office, order: dict[str, Any]) -> httpx.Response:
    path = f"/api/me/orders/{order['orderId']}/invoice-data"
    return await office.stage.site.get(path, headers=office.buyer.headers)


async def test_a_key_can_go_after_a_night_with_both(office: Office):
    event, [kind] = await office.on_sale()
    order, plain = await office.order(event, (kind, 1), billing=ME), await office.order(event, (kind, 1))
    await office.pay(order)
    before = await office.find(order)
    with KEYRING.wired(NEW):
        assert (await invoice(office, order)).status_code == 500, "which is why"
    with KEYRING.wired(BOTH):
        await night(office)
        assert await key_of(office, order) == 2
        new = await office.order(event, (kind, 1), billing=ME)
    with KEYRING.wired(NEW):
        told = office.stage.fine(await invoice(office, order))
        assert told["buyer"] == ME
        await night(office)
    after = await office.find(order)
    assert (after.version, after.state, (await office.find(plain)).billing) == (before.version, before.state, None)
    assert await key_of(office, new) == 2


async def test_every_organisation_is_walked_page_by_page_to_the_end(
    office: Office,
    site: httpx.AsyncClient,
    database: Database,
    superuser: asyncpg.Connection,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(billing, "PAGE", 2)
    async with an_office(await a_stage(site, database, superuser), Batcher(database)) as other:
        placed = []
        for each in (office, other):
            event, [kind] = await each.on_sale()
            placed += [(each, await each.order(event, (kind, 1), billing=ME)) for _ in range(3)]
        with KEYRING.wired(BOTH):
            await night(office)
        assert [await key_of(each, order) for each, order in placed] == [2] * 6


async def test_what_cannot_be_read_is_left_and_told_and_holds_nobody_up(office: Office):
    event, [kind] = await office.on_sale()
    before, lost, after = [await office.order(event, (kind, 1), billing=ME) for _ in range(3)]
    spoil = "UPDATE events.ticket_order SET billing = overlay(billing PLACING '\\x00' FROM 20 FOR 1) WHERE id = $1"
    await office.stage.superuser.execute(spoil, OrderId.parse(lost["orderId"]).uuid)
    with KEYRING.wired(BOTH):
        with pytest.raises(KeyGone, match="1 orders' invoice data"):
            await night(office)
        assert [await key_of(office, each) for each in (before, lost, after)] == [2, 1, 2]
    with KEYRING.wired(NEW), pytest.raises(KeyGone):
        await night(office)


async def test_a_second_night_and_a_process_with_the_older_key_alone_write_nothing(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1), billing=ME)
    with KEYRING.wired(BOTH):
        await night(office)
    sealed = (await office.find(order)).billing
    assert await office.stage.database.read(rotation.ROTATING, rotation.list_stale, rotation.BEFORE_ALL, 2, 10) == []
    with KEYRING.wired(BOTH):
        await night(office)
    await night(office)
    assert (await office.find(order)).billing == sealed


async def test_what_was_written_meanwhile_stays(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1), billing=ME)
    own = OrderId.parse(order["orderId"])

    async def write(tx: Tx) -> int:
        was = await rotation.find_billing(tx, [own])
        return await rotation.write_billing(tx, {own: b"something else"}, was)

    assert await office.stage.database.run(office.stage.scope, write) == 0
