"""Paid orders with the recipe of events: whatever happens in between, N tickets, N sold and one letter, or the money
goes back."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from admitone.entitlements.api import Status
from admitone.finance.gateways.sandbox.objects import Intent
from admitone.finance.payments.facts import PaymentSucceeded
from admitone.finance.refunds.api import Reason, RefundId, Request, request_refunds
from admitone.finance.sources.api import PaymentId
from admitone.kernel import failpoints
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered
from admitone.kernel.scope import Caller
from admitone.selling.fulfilment import handlers
from admitone.selling.fulfilment.model import LEDGER_STEP, Operation, State
from admitone.selling.fulfilment.store import find_operations
from admitone.selling.stock import api as stock
from admitone.selling.stock.commands.settling import expire
from admitone.verticals.events.commands.planning import PolicyChange, change_policy
from admitone.verticals.events.errors import EventOvertaken, PolicyTightens
from admitone.verticals.events.model import AccessMode, Event, EventId, OrderId, OrderState, TicketStatus
from admitone.verticals.events.store import events as store
from admitone.verticals.events.store import orders
from tests.foundation.organizations.clubs import facts_of, mailed
from tests.jobs import a_worker, dead, until
from tests.people import a_person
from tests.verticals.events.office import DUTIES, UNDONE, Office
from tests.verticals.events.stage import soon

POINTS = tuple(f"fulfilment.{step}" for step in (LEDGER_STEP, "ISSUE_TICKETS", "given_back", "recorded"))
HEAR = next(each.kind for each in handlers.SUBSCRIPTIONS if each.fact is PaymentSucceeded)


class PowerCut(Exception):
    """Whatever was under way is gone; what was committed is not."""


def cut() -> None:
    raise PowerCut


async def paid(office: Office, order: dict[str, Any], **more: Any) -> PaymentId:
    """At the provider, and we know: nobody has done anything about it yet."""
    payment = await office.begin(order, **more)
    found = await office.world.payment(payment)
    if found.amount_minor:
        office.world.simulator.act("pay", found.charge_id)
        await office.world.clerk.ask(office.stage.organization, payment, office.buyer.caller)
    return payment


def told(office: Office, payment: PaymentId) -> Delivered[Any]:
    fact = PaymentSucceeded(payment, 1, "TICKET_ORDER", "src", 0, 0, "EUR")
    return Delivered(uuid7(), office.stage.organization, fact, Caller(), "key", None, 1, datetime.now(UTC))


async def hear(office: Office, *payments: PaymentId) -> None:
    """As a worker does, in one transaction."""
    deliveries = [told(office, each) for each in payments]
    await office.stage.database.run(office.stage.scope, lambda tx: HEAR.work(tx, deliveries), patient=True)


async def operation_of(office: Office, payment: PaymentId) -> Operation:
    return (await office.stage.database.read(office.stage.scope, find_operations, [payment]))[payment]


async def standing(office: Office, order: dict[str, Any], kinds: Sequence[dict[str, Any]]) -> tuple[Any, ...]:
    """All that anybody could see of an order, but for ids and instants."""
    pools = [await office.pool(each) for each in kinds]
    return (
        (await office.find(order)).state,
        [(str(each.ticket_type), each.emission_index, each.status) for each in await office.tickets(order)],
        sorted((each.line_key, each.piece, each.status) for each in await office.rights(order)),
        [(each.held, each.sold) for each in pools],
        len(await facts_of(office.stage.superuser, office.stage.organization, "order.fulfilled")),
        len(await facts_of(office.stage.superuser, office.stage.organization, "order.returned")),
    )


@pytest.mark.covers("FUL-010")
async def test_two_lines_of_three_tickets_replayed_thrice_are_six_tickets_six_sold_and_one_mail(office: Office):
    event, kinds = await office.on_sale({"name": "Standing"}, {"name": "Balcony", "priceMinor": 4000})
    order = await office.order(event, *((kind, 3) for kind in kinds))
    payment = await paid(office, order)
    for _ in range(3):
        await hear(office, payment)
    await office.work()
    for _ in range(3):
        await hear(office, payment, payment)
    await office.work()
    assert len(await office.tickets(order)) == len(await office.rights(order)) == 6
    assert sum([(await office.pool(kind)).sold for kind in kinds]) == 6
    [letter] = await mailed(office.stage.superuser, office.stage.organization)
    assert (letter.values["tickets"], letter.values["order"]) == (6, order["orderId"])
    assert (await operation_of(office, payment)).key == f"ISSUE_TICKETS:{payment}"


@pytest.mark.covers("FUL-011", "FIN-081", "FIN-085")
async def test_what_is_free_is_told_by_its_own_operation_and_counts_as_sold(office: Office):
    free = {"priceMinor": 0, "allowZeroPrice": True, "freePerPerson": 3}
    event, kinds = await office.on_sale({**free, "name": "One"}, {**free, "name": "Two"})
    order = await office.order(event, *((kind, 3) for kind in kinds))
    payment = await paid(office, order)
    for _ in range(3):
        await hear(office, payment)
    await office.work()
    found = await office.world.payment(payment)
    assert (found.amount_minor, found.fee_minor, found.provider, found.charge_id) == (0, 0, None, None)
    assert await office.world.transfers(payment) == []
    assert (await operation_of(office, payment)).key == f"ISSUE_TICKETS_FREE:{payment}"
    assert [(await office.pool(kind)).sold for kind in kinds] == [3, 3]
    assert len(await office.rights(order)) == 6
    assert {each.price_minor for each in await office.tickets(order)} == {0}
    assert len(await mailed(office.stage.superuser, office.stage.organization)) == 1
    assert office.world.simulator.list_newest(Intent) == []


@pytest.mark.covers("FUL-005", "FUL-010", "FUL-011")
@pytest.mark.parametrize("scenario", ["single", "free", "undeliverable"])
@pytest.mark.parametrize("point", [*POINTS, "commit.before"])
async def test_killed_after_any_step_an_order_ends_as_in_a_clean_run(office: Office, point: str, scenario: str):
    terms = {"priceMinor": 0, "allowZeroPrice": True, "freePerPerson": 9} if scenario == "free" else {}
    event, kinds = await office.on_sale({**terms, "name": "One"}, {**terms, "name": "Two"})
    order = await office.order(event, *((kind, 3) for kind in kinds))
    payment = await paid(office, order)
    if scenario == "undeliverable":
        await office.stage.cancelled(event)
    before = await standing(office, order, kinds)
    for _ in range(2):
        with failpoints.armed(point, cut), pytest.raises(PowerCut):
            await hear(office, payment)
        assert await standing(office, order, kinds) == before
    for _ in range(2):
        await hear(office, payment)
    await office.work()
    types = sorted(kind["ticketTypeId"] for kind in kinds)
    state, tickets, rights, pools, fulfilled, returned = await standing(office, order, kinds)
    letters = [each.template for each in await mailed(office.stage.superuser, office.stage.organization)]
    if scenario == "undeliverable":
        assert (state, tickets, rights, fulfilled, returned) == (OrderState.RETURNED, [], [], 0, 1)
        assert pools == [(3, 0)] * 2, "kept until its time is over, as for anybody"
        assert (await office.world.payment(payment)).refunded_minor == (
            await office.world.payment(payment)
        ).amount_minor
        assert letters == ["order_returned"]
    else:
        assert (state, pools, fulfilled, returned) == (OrderState.FULFILLED, [(0, 3)] * 2, 1, 0)
        assert [(kind, index) for kind, index, _ in tickets] == [(kind, n) for kind in types for n in range(3)]
        assert [(kind, piece) for kind, piece, _ in rights] == [(kind, n) for kind in types for n in range(3)]
        assert letters == ["order_receipt"]


@pytest.mark.covers("FUL-002", "FUL-005")
async def test_two_workers_at_once_issue_once(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 60}})
    buyers = [await a_person(office.stage.database) for _ in range(6)]
    placed = [await office.order(event, (kind, 3), buyer=each) for each in buyers]
    payments = [await paid(office, each, buyer=buyer) for each, buyer in zip(placed, buyers, strict=True)]
    async with a_worker(office.stage.database, DUTIES), a_worker(office.stage.database, DUTIES):
        await asyncio.gather(*(hear(office, *payments[n:], *payments[:n]) for n in range(3)))
        await until(office.stage.superuser, UNDONE, office.stage.scope)
    for each in placed:
        assert len(await office.tickets(each)) == len(await office.rights(each)) == 3
    assert ((await office.pool(kind)).held, (await office.pool(kind)).sold) == (0, 18)
    assert len(await mailed(office.stage.superuser, office.stage.organization)) == 6
    assert await dead(office.stage.superuser, office.stage.scope) == []


async def test_money_for_a_place_that_went_to_another_meanwhile_goes_back(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, 2))
    payment = await paid(office, order)
    person = (await a_person(office.stage.database)).identity
    late = (await office.find(order)).expires_at + timedelta(seconds=1)

    async def overtake(tx: Tx) -> None:
        portion = stock.Portion(stock.PoolId.parse(kind["pool"]["poolId"]), kind["ticketTypeId"], 2)
        keep = stock.Keep(None, stock.HoldId.new(), "another", person, (portion,), tx.now + timedelta(hours=9))
        [held] = await stock.keep(tx, [keep])
        assert isinstance(held, stock.Hold), held

    await office.at(late, overtake)
    await office.work()
    assert (await office.find(order)).state is OrderState.RETURNED
    assert await office.tickets(order) == await office.rights(order) == []
    found = await office.world.payment(payment)
    assert found.refunded_minor == found.amount_minor
    operation = await operation_of(office, payment)
    assert (operation.state, operation.reason) == (State.RETURNED, "SOLD_OUT")
    assert ((await office.pool(kind)).held, (await office.pool(kind)).sold) == (2, 0)
    [letter] = await mailed(office.stage.superuser, office.stage.organization)
    assert letter.template == "order_returned"


@pytest.mark.covers("FIN-082")
@pytest.mark.parametrize("reason", ["SOLD_OUT", "TYPE_MOVED"])
async def test_what_was_free_and_is_not_handed_over_may_be_had_when_there_is_some(office: Office, reason: str):
    free = {"priceMinor": 0, "allowZeroPrice": True, "supply": {"capacity": 1}}
    event, [kind] = await office.on_sale(free)
    order = await office.order(event, (kind, 1))
    payment = await office.begin(order)
    own = await office.find(order)
    late = own.expires_at + timedelta(seconds=1)
    other = stock.HoldId.new()
    if reason == "SOLD_OUT":
        person = (await a_person(office.stage.database)).identity
        portion = stock.Portion(stock.PoolId.parse(kind["pool"]["poolId"]), kind["ticketTypeId"], 1)
        keep = stock.Keep(None, other, "another", person, (portion,), late + timedelta(hours=9))
        [held] = await office.at(late, stock.keep, [keep])
        assert isinstance(held, stock.Hold), held
    else:
        await office.at(late, expire_all, office, order)
        house = {"label": "House", "capacity": 1, "idempotencyKey": "house"}
        event = office.stage.fine(await office.stage.ask("POST", f"/{event['eventId']}/pools", house), 201)
        shared = [event["sharedPools"][0]["pool"]["poolId"]]
        office.stage.fine(await office.stage.revise(event, kind, allowZeroPrice=True, sharedPools=shared))
        over = "UPDATE events.ticket_order SET expires_at = now() WHERE organization_id = $1"
        await office.stage.superuser.execute(over, office.stage.organization.uuid)
    await office.work()
    operation = await operation_of(office, payment)
    assert (operation.state, operation.reason) == (State.RETURNED, reason)
    assert await office.letters(office.buyer.email) == ["free_order_returned"]
    if reason == "SOLD_OUT":
        await office.stage.database.run(office.stage.scope, lambda tx: stock.release(tx, [stock.Release(other, other)]))
    again = await office.order(event, (kind, 1))
    await office.begin(again)
    await office.work()
    assert (await office.find(again)).state is OrderState.FULFILLED


async def test_money_that_comes_late_has_its_tickets_if_there_are_any(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, 2))
    payment = await paid(office, order)
    late = (await office.find(order)).expires_at + timedelta(minutes=5)
    await office.at(late, expire_all, office, order)
    assert (await office.pool(kind)).free == 3
    await office.work()
    assert len(await office.tickets(order)) == 2
    assert (await office.pool(kind)).sold == 2
    assert payment


async def test_money_that_comes_late_buys_no_more_than_a_person_may_have(office: Office):
    event, [kind] = await office.on_sale({"mostPerBuyer": 2})
    late = await office.order(event, (kind, 2))
    payment = await paid(office, late)
    await office.at((await office.find(late)).expires_at + timedelta(seconds=1), expire_all, office, late)
    second = await office.order(event, (kind, 2))
    await office.work()
    operation = await operation_of(office, payment)
    assert (operation.state, operation.reason) == (State.RETURNED, "BUYER_LIMIT")
    await office.pay(second)
    assert (len(await office.tickets(late)), len(await office.tickets(second))) == (0, 2)
    found = await office.world.payment(payment)
    assert found.refunded_minor == found.amount_minor


async def expire_all(tx: Tx, office: Office, order: dict[str, Any]) -> None:
    await expire(tx, [stock.HoldId((await office.find(order)).id.uuid)])


async def give_up(tx: Tx, order: dict[str, Any]) -> None:
    """As whoever did so in the instant in which somebody began to pay, and neither saw the other."""
    own = OrderId.parse(order["orderId"])
    locked = await orders.lock_orders(tx, [own], lambda each: each)
    await stock.release(tx, [stock.Release(own, stock.HoldId(own.uuid))])
    await orders.move_orders(tx, locked, [msgspec.structs.replace(locked[own], state=OrderState.CANCELLED)])


async def test_an_order_that_was_given_up_while_it_was_paid_goes_back(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await paid(office, order)
    await office.stage.database.run(office.stage.scope, lambda tx: give_up(tx, order))
    await office.work()
    assert (await office.find(order)).state is OrderState.RETURNED
    found = await office.world.payment(payment)
    assert found.refunded_minor == found.amount_minor
    assert ((await office.pool(kind)).held, (await office.pool(kind)).sold) == (0, 0)


@pytest.mark.covers("EVT-017")
@pytest.mark.parametrize("seed", range(4))
async def test_the_first_sale_and_a_harder_rule_wait_for_each_other(office: Office, seed: int):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1))
    own = EventId.parse(event["eventId"])
    policy = (await office.stage.database.read(office.stage.scope, store.find_policies, [own]))[own]
    harder = PolicyChange(Caller(), own, msgspec.structs.replace(policy, mode=AccessMode.UNLISTED))

    async def sell() -> None:
        await hear(office, await paid(office, order))

    async def tighten() -> Event | Refusal:
        await asyncio.sleep(seed * 0.008)
        [said] = await office.stage.database.run(
            office.stage.scope, lambda tx: change_policy(tx, [harder]), patient=True
        )
        return said

    _, said = await asyncio.gather(sell(), tighten())
    [right] = await office.rights(order)
    now = (await office.stage.database.read(office.stage.scope, store.find_policies, [own]))[own]
    if isinstance(said, Event):
        assert (now.version, right.policy_version) == (2, 2), "the rules came first, and the right was given under them"
    else:
        assert isinstance(said, PolicyTightens | EventOvertaken)
        assert (now.version, right.policy_version) == (1, 1)


@pytest.mark.covers("ENT-025")
async def test_a_ticket_is_good_for_its_sessions_and_no_others(office: Office):
    sessions = [{"label": f"Day {n}", "startsAt": soon(days=n), "endsAt": soon(days=n, hours=4)} for n in range(3)]
    schedule = {"startsAt": soon(), "endsAt": soon(days=3), "sessions": sessions}
    event = await office.stage.drafted(schedule=schedule)
    days = [each["sessionId"] for each in event["sessions"]]
    event = await office.stage.offered(event, name="All days")
    event = await office.stage.offered(event, name="Opening", sessions=days[:1])
    event = office.stage.fine(await office.stage.ask("POST", f"/{event['eventId']}/publish"))
    whole, opening = event["ticketTypes"]
    order = await office.order(event, (whole, 2), (opening, 1))
    await office.pay(order)
    rights = await office.rights(order)
    assert len(await office.tickets(order)) == 3
    assert sorted((each.line_key, each.piece or 0, each.session_id or "") for each in rights) == sorted(
        [(whole["ticketTypeId"], piece, day) for piece in range(2) for day in days]
        + [(opening["ticketTypeId"], 0, days[0])]
    )
    assert len({each.emission_key for each in rights}) == 7
    assert len({(each.valid_from, each.valid_until) for each in rights}) == 3


async def test_seats_are_named_on_tickets_and_free_again_when_they_come_back(office: Office):
    event, [kind] = await office.on_sale({"name": "Stalls", "supply": {"seats": ["A1", "A2", "A3", "A4"]}})
    friend = await a_person(office.stage.database)
    mine, theirs = await office.order(event, (kind, 2)), await office.order(event, (kind, 2), buyer=friend)
    payment = await office.pay(mine)
    await office.pay(theirs, buyer=friend)
    assert [each.seat for each in await office.tickets(mine)] == ["A1", "A2"]
    assert [each.seat for each in await office.tickets(theirs)] == ["A3", "A4"]
    assert {each.label for each in await office.rights(mine)} == {"Stalls · A1", "Stalls · A2"}
    assert {each.status for each in await office.rights(mine)} == {Status.ACTIVE}
    units = [each.unit_id for each in (*await office.tickets(mine), *await office.tickets(theirs))]
    assert len({*units}) == 4
    assert (await office.ask(event, (kind, 1))).json()["errorCode"] == "SOLD_OUT"
    back = Request(Caller(), payment, RefundId.new(), Reason.TECHNICAL_PROBLEM)
    await office.stage.database.run(office.stage.scope, lambda tx: request_refunds(tx, [back]))
    await office.work()
    assert {each.status for each in await office.tickets(mine)} == {TicketStatus.REFUNDED}
    again = await office.order(event, (kind, 2))
    await office.pay(again)
    assert [each.seat for each in await office.tickets(again)] == ["A1", "A2"]


@pytest.mark.parametrize("late", [0, 20])
async def test_whatever_is_in_a_batch_orders_are_locked_once_and_then_pools_once(office: Office, late: int):
    """A second time would be in another order than everybody else's, and they would wait for each other."""
    free = {"name": "Free", "priceMinor": 0, "allowZeroPrice": True}
    event, [paid_for, given] = await office.on_sale({}, free)
    off, [gone] = await office.on_sale()
    payments = [
        await paid(office, await office.order(each, (kind, 1)))
        for each, kind in ((event, paid_for), (off, gone), (event, given))
    ]
    await office.stage.cancelled(off)
    locked: list[str] = []

    async def noted(tx: Tx) -> None:
        lock = tx.lock

        async def note(statement: Any, *more: Any) -> Any:
            locked.append(statement.select.partition("FROM")[2].split()[0])
            return await lock(statement, *more)

        tx.lock = note  # type: ignore[method-assign]
        tx.now += timedelta(minutes=late)
        await HEAR.work(tx, [told(office, each) for each in payments])

    await office.stage.database.run(office.stage.scope, noted, patient=True)
    ours = [each for each in locked if each in ("events.ticket_order", "events.event", "stock.pool")]
    assert ours == ["events.ticket_order", "events.event", "stock.pool"], locked
    assert [(await operation_of(office, each)).state for each in payments] == [State.DONE, State.RETURNED, State.DONE]
