"""A sale is what its payment and the ledger say it is, however we came to know."""

import random
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import msgspec
import pytest

from admitone.entrypoints.duties import duties_of
from admitone.entrypoints.modules import MODULES
from admitone.finance.payments import api as payments
from admitone.finance.sales import store
from admitone.finance.sales.model import Sale
from admitone.finance.sales.module import MODULE
from admitone.finance.sales.rebuilding import AT_A_TIME, LAST, SUBSCRIPTIONS, RebuildAll, rebuild, rebuild_all
from admitone.finance.sources.api import PaymentId
from admitone.foundation.authority.api import MemberRole, RolePack
from admitone.kernel.bulk import Status as BulkStatus
from admitone.kernel.bulk import start
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered
from admitone.kernel.jobs.worker import Duties
from admitone.kernel.manifest import Module
from admitone.kernel.scope import Caller
from tests.architecture.source_tree import SOURCE, imports, sources
from tests.bulk import until_over
from tests.finance.lives import FEES, PAY, a_busy_life, a_free_one, deed, hear, live
from tests.finance.world import World
from tests.jobs import a_worker, until_idle
from tests.people import a_member

ROWS = {
    "sale_summary": "SELECT s.* FROM sales.sale_summary AS s WHERE organization_id = $1 ORDER BY payment_id",
    "sale_line": "SELECT l.* FROM sales.sale_line AS l WHERE organization_id = $1 ORDER BY payment_id, line",
}
EMPTY = (
    "DELETE FROM sales.sale_line WHERE organization_id = $1",
    "DELETE FROM sales.sale_summary WHERE organization_id = $1",
)


def listening() -> Duties:
    """A worker that knows every fact, and has ears for those of sales only."""
    return duties_of(
        [
            Module("all", facts=tuple(fact for module in MODULES if module is not MODULE for fact in module.facts)),
            MODULE,
        ]
    )


async def rows_of(superuser: asyncpg.Connection, world: World) -> dict[str, list[Any]]:
    own = world.organization.uuid
    return {table: [tuple(row) for row in await superuser.fetch(sql, own)] for table, sql in ROWS.items()}


async def thrown_away(superuser: asyncpg.Connection, world: World) -> None:
    for statement in EMPTY:
        await superuser.execute(statement, world.organization.uuid)


async def rebuilt(world: World, *which: PaymentId) -> dict[PaymentId, Sale]:
    await world.database.run(world.scope, lambda tx: rebuild(tx, which, Caller()))
    found = await world.database.read(world.scope, store.list_sales, None, None, store.BEGINNING, store.END, 1000)
    return {PaymentId(sale.payment_id): sale for sale in found}


@pytest.mark.covers("FIN-044")
async def test_thrown_away_and_rebuilt_sales_are_the_same(
    world: World, superuser: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    """Heard of by facts, through relay and worker; then made anew as bulk work, in more than one step."""
    lived = await a_busy_life(world)
    async with a_worker(world.database, listening()):
        await until_idle(superuser, world.scope)
        heard = await rows_of(superuser, world)
        await thrown_away(superuser, world)
        monkeypatch.setattr("admitone.finance.sales.rebuilding.AT_A_TIME", 4)
        begun = await world.database.run(
            world.scope, lambda tx: start(tx, rebuild_all, RebuildAll(), Caller(), key="anew")
        )
        over = await until_over(world.database, world.scope, begun.id)
    assert (over.status, over.done, over.total) == (BulkStatus.DONE, len(lived), len(lived))
    assert over.steps > 3
    anew = await rows_of(superuser, world)
    assert anew == heard
    assert len(anew["sale_summary"]) == len(lived)


async def test_a_rebuild_takes_away_what_is_no_sale(world: World, superuser: asyncpg.Connection):
    paid = await live(world, (PAY,))
    sale = (await rebuilt(world, paid))[paid]
    strays = [msgspec.structs.replace(sale, payment_id=each) for each in (uuid7(), UUID(int=5))]
    await world.database.run(world.scope, lambda tx: store.put_sales(tx, strays, []))
    async with a_worker(world.database, listening()):
        begun = await world.database.run(
            world.scope, lambda tx: start(tx, rebuild_all, RebuildAll(), Caller(), key="strays")
        )
        await until_over(world.database, world.scope, begun.id)
    assert [*await rebuilt(world)] == [paid]
    assert AT_A_TIME > 1


async def test_a_rebuild_leaves_what_is_sold_while_it_looks(world: World, monkeypatch: pytest.MonkeyPatch):
    """One payment that was unpaid when the page was read, and one that was not there: both are sales by the time that
    strays are deleted."""
    unpaid, charge = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    page = await world.database.read(world.scope, payments.list_payments, LAST, None, AT_A_TIME)
    assert [each.id for each in page] == [unpaid]
    world.simulator.act("pay", charge)
    await hear(world, unpaid)
    sold = [unpaid, await live(world, (PAY,))]
    await rebuilt(world, *sold)

    async def looked_before(*asked: Any) -> Any:
        return page

    monkeypatch.setattr(payments, "list_payments", looked_before)
    async with a_worker(world.database, listening()):
        begun = await world.database.run(
            world.scope, lambda tx: start(tx, rebuild_all, RebuildAll(), Caller(), key="meanwhile")
        )
        over = await until_over(world.database, world.scope, begun.id)
    assert over.status is BulkStatus.DONE
    assert {*await rebuilt(world)} == {*sold}
    lines = await world.database.read(world.scope, store.find_lines, [each.uuid for each in sold])
    assert all(lines.values())


async def test_a_sale_that_cannot_be_read_holds_up_no_other(world: World, superuser: asyncpg.Connection):
    spoilt, good = await live(world, (PAY,)), await live(world, (PAY,))
    assert await superuser.execute(
        "UPDATE payments.payment SET snapshot_hash = reverse(snapshot_hash) WHERE id = $1", spoilt.uuid
    ) == ("UPDATE 1")
    assert [*await rebuilt(world, spoilt, good)] == [good]
    async with a_worker(world.database, listening()):
        await until_idle(superuser, world.scope)
    alerts = await superuser.fetch(
        "SELECT rule, subject FROM kernel.alert WHERE concerns = $1 AND resolved_at IS NULL", world.organization.uuid
    )
    assert [tuple(row) for row in alerts] == [("sales.unreadable", str(spoilt))]


async def test_whoever_sees_one_city_sees_the_lines_of_no_other(world: World):
    payment = await live(world, (PAY,))
    await rebuilt(world, payment)
    elsewhere = replace(world.scope, cities=("XXX",))
    for scope, seen in ((world.scope, 1), (elsewhere, 0)):
        lines = await world.database.read(scope, store.find_lines, [payment.uuid])
        assert len(lines[payment.uuid]) == seen


@pytest.mark.covers("FIN-044")
async def test_facts_in_any_order_and_number_make_the_same_sale(world: World, superuser: asyncpg.Connection):
    deeds = (PAY, FEES, deed("refund", amount=1000), deed("dispute"), deed("win"))
    lives = [await live(world, deeds) for _ in range(2)]
    await rebuilt(world, *lives)
    once = await rows_of(superuser, world)
    facts = await superuser.fetch(
        "SELECT type, payload FROM kernel.event_log WHERE organization_id = $1", world.organization.uuid
    )
    kinds = {each.fact.name: each.kind for each in SUBSCRIPTIONS}
    told = [(kinds[row["type"]], row["payload"]) for row in facts if row["type"] in kinds] * 2
    assert {kind.name for kind, _ in told} >= {"sales.payment_succeeded", "sales.payment_fees_final"}
    for seed in range(3):
        await thrown_away(superuser, world)
        random.Random(seed).shuffle(told)
        for kind, payload in told:
            delivered = Delivered(uuid7(), world.organization, kind.decode(payload), Caller(), "k", None, 1, None)  # type: ignore[arg-type]
            await world.database.run(world.scope, partial(kind.work, told=[delivered]))
        assert await rows_of(superuser, world) == once


async def test_who_read_the_payment_earlier_does_not_have_the_last_word(world: World):
    payment = await live(world, (PAY,))
    old = (await rebuilt(world, payment))[payment]
    await live(world, (PAY,))
    charge = (await world.payment(payment)).charge_id
    assert charge is not None
    world.simulator.act("refund", charge)
    await hear(world, payment)
    new = (await rebuilt(world, payment))[payment]
    await world.database.run(world.scope, lambda tx: store.put_sales(tx, [old], []))
    assert (await rebuilt(world))[payment] == new != old


@pytest.mark.covers("FIN-044", "FIN-036")
async def test_the_fee_of_the_processor_lowers_the_net_when_it_is_known(world: World):
    payment = await live(world, (PAY,))
    before = (await rebuilt(world, payment))[payment]
    assert before.stripe_fee_minor is None
    charge = (await world.payment(payment)).charge_id
    assert charge is not None
    world.simulator.act("tell_fees", charge)
    await hear(world, payment)
    after = (await rebuilt(world, payment))[payment]
    assert after.stripe_fee_minor == 100
    assert after.net_minor == before.net_minor - 100 == await world.net(payment)


async def test_every_part_of_a_refund_is_heard_of(world: World, superuser: asyncpg.Connection):
    """Also the second, after which the payment stands as it stood."""
    payment = await live(world, (PAY, deed("refund", amount=1000), deed("refund", amount=500)))
    async with a_worker(world.database, listening()):
        await until_idle(superuser, world.scope)
    sale = (await rebuilt(world))[payment]
    assert (sale.status, sale.refunded_minor, sale.net_minor) == ("PARTIAL_REFUND", 1500, await world.net(payment))
    told = await superuser.fetch(
        "SELECT payload->>'refundedMinor' AS refunded FROM kernel.event_log"
        " WHERE organization_id = $1 AND type = 'payment.partly_refunded' ORDER BY id",
        world.organization.uuid,
    )
    assert [row["refunded"] for row in told] == ["1000", "1500"]


async def test_what_the_books_say_of_a_payment_that_stays_where_it_stood_is_heard_of(
    world: World, superuser: asyncpg.Connection
):
    """A dispute of what was refunded costs a fee; and whoever sold it is told once that it was paid."""
    payment = await live(world, (PAY, FEES, deed("refund"), deed("dispute")))
    async with a_worker(world.database, listening()):
        await until_idle(superuser, world.scope)
    sale = (await rebuilt(world))[payment]
    assert (sale.status, sale.net_minor) == ("REFUNDED", await world.net(payment))
    told = await superuser.fetch(
        "SELECT type, count(*) AS times FROM kernel.event_log WHERE organization_id = $1"
        " AND type LIKE 'payment.%' GROUP BY type",
        world.organization.uuid,
    )
    assert {row["type"]: row["times"] for row in told if row["times"] > 1} == {}
    assert "payment.booked" in {row["type"] for row in told}


async def test_what_cost_nothing_is_a_sale_and_what_nobody_paid_is_none(world: World):
    free = await a_free_one(world)
    unpaid, _ = await world.opened(world.shop.sells(world.buyer.identity, 5000))
    sales = await rebuilt(world, free, unpaid)
    assert [*sales] == [free]
    sale = sales[free]
    assert (sale.total_minor, sale.net_minor, sale.stripe_fee_minor, sale.provider_intent_id) == (0, 0, 0, None)
    assert (sale.status, sale.is_test) == ("SUCCEEDED", True)


async def test_sales_are_listed_by_source_status_and_day_with_their_lines(world: World, site: httpx.AsyncClient):
    one = await live(world, (PAY, FEES), 2500, 1500)
    two = await live(world, (PAY, deed("refund")))
    await rebuilt(world, one, two)

    async def listed(**query: Any) -> list[Any]:
        path = f"/api/org/{world.organization}/finance/sales"
        items: list[Any] = []
        while True:
            answer = await site.get(path, params=query, headers=world.owner.headers)
            assert answer.status_code == 200, answer.text
            items += answer.json()["items"]
            if not (cursor := answer.json()["nextCursor"]):
                return items
            query["cursor"] = cursor

    found = {each["purchaseId"]: each for each in await listed(limit=1)}
    assert [*found] == [str(two), str(one)]
    sale, payment = found[str(one)], await world.payment(one)
    assert (sale["totalMinor"], sale["cardFeeMinor"], sale["isTest"]) == (4000, 0, True)
    assert sum(line["netMinor"] for line in sale["lines"]) == 4000 - payment.fee_minor
    assert [line["grossMinor"] for line in sale["lines"]] == [2500, 1500]
    assert [each["purchaseId"] for each in await listed(status="REFUNDED")] == [str(two)]
    of_source = {"sourceType": payment.source.type.value, "sourceId": payment.source.id}
    assert [each["purchaseId"] for each in await listed(**of_source)] == [str(one)]
    assert await listed(**of_source, status="REFUNDED") == []
    today = payment.created_at.date()
    assert len(await listed(day=today.isoformat())) == 2
    assert await listed(day=today.replace(year=today.year - 1, day=1).isoformat()) == []
    refused = await site.get(
        f"/api/org/{world.organization}/finance/sales",
        params={"sourceId": "x"},
        headers=world.owner.headers,
    )
    assert refused.status_code == 422


@pytest.mark.covers("FIN-044")
async def test_who_has_nothing_to_do_with_money_sees_no_sales(world: World, site: httpx.AsyncClient):
    desk = await a_member(world.database, world.organization, MemberRole.STAFF, RolePack.FRONT_DESK)
    answer = await site.get(f"/api/org/{world.organization}/finance/sales", headers=desk.headers)
    assert answer.status_code == 403


@pytest.mark.covers("FIN-044")
def test_nobody_decides_by_a_sale():
    """Only the proof and pages may look at sales; whoever decides asks payments and the ledger."""
    may = ("admitone.finance.sales", "admitone.finance.proof", "admitone.web", "admitone.entrypoints")
    found = [
        each.at(node)
        for each in sources(SOURCE)
        if not each.name.startswith(may) and "sales" in each.path.read_text(encoding="utf-8")
        for node, imported in imports(each)
        if imported.startswith("admitone.finance.sales")
    ]
    assert found == []
