"""An event is cancelled: everybody has their money back, once, and is told so."""

import asyncio
import contextlib
import functools
import itertools
from typing import Any

import pytest

from admitone.entitlements.api import Revocation, Status
from admitone.finance.payments import errands
from admitone.finance.payments.api import Status as PaymentStatus
from admitone.finance.payments.facts import RefundBegun
from admitone.finance.sources.api import PaymentId
from admitone.kernel import failpoints
from admitone.kernel.db import Tx
from admitone.selling.fulfilment.commands import fulfil
from admitone.selling.fulfilment.model import Wanted
from admitone.verticals.events import calling_off
from admitone.verticals.events.model import OrderState, TicketStatus
from tests.finance.payments.test_trouble import run
from tests.finance.refunds.test_refunds import ask
from tests.jobs import dead, replay_dead, until
from tests.verticals.events.office import Office
from tests.verticals.events.test_returning import give_back

FREE = {"name": "Guest list", "priceMinor": 0, "allowZeroPrice": True}


async def call_off(office: Office, event: dict[str, Any]) -> None:
    """Its lists are brought up to it by the same worker as everything else."""
    answer = await office.stage.ask("POST", f"/{event['eventId']}/cancel", {"reasonCode": "WEATHER"})
    office.stage.fine(answer)


async def given_back(office: Office) -> list[int]:
    """What the provider says that it gave back."""
    page: Any = await office.world.gateway.list_movements(office.buyer.caller, office.stage.organization, None)
    return sorted(each.amount_minor for each in page.movements if each.kind == "REFUND")


async def status(office: Office, payment: PaymentId) -> PaymentStatus:
    return (await office.world.payment(payment)).status


async def progress(office: Office, event: dict[str, Any]) -> Any:
    return await office.stage.ask("GET", f"/{event['eventId']}/cancellation")


@pytest.mark.covers("FIN-070", "ENT-007", "EVT-046")
async def test_everybody_has_their_money_back_once_and_is_told(office: Office, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("admitone.finance.refunds.calling_off.AT_A_TIME", 2)
    monkeypatch.setattr(calling_off, "AT_A_TIME", 2)
    event, [kind, free] = await office.on_sale({}, FREE)
    other, [else_where] = await office.on_sale()
    orders = [await office.order(event, (kind, 2)) for _ in range(3)]
    payments = [await office.begin(each) for each in orders]
    for_nothing = await office.order(event, (free, 1))
    await office.begin(for_nothing)
    elsewhere = await office.order(other, (else_where, 1))
    for each in payments:
        await office.settle(each)
    kept = await office.pay(elsewhere)
    office.stage.fine(await give_back(office, orders[0], (await office.tickets(orders[0]))[0]))
    await office.work()
    unpaid = await office.order(event, (kind, 1))
    assert (await progress(office, event)).json()["errorCode"] == "EVENT_NOT_CANCELLED"
    await call_off(office, event)
    await office.work()
    assert [await status(office, each) for each in payments] == [PaymentStatus.REFUNDED] * 3
    assert await given_back(office) == [2500, 2500, 5000, 5000]
    tickets = [each.status for order in orders for each in await office.tickets(order)]
    assert tickets == [TicketStatus.REFUNDED] * 6
    [right] = await office.rights(for_nothing)
    assert (right.status, right.revoked_for) == (Status.REVOKED, Revocation.CANCELLATION)
    assert [each.status for each in await office.tickets(for_nothing)] == [TicketStatus.CANCELLED]
    letters = await office.letters(office.buyer.email)
    assert letters.count("event_cancelled") == 4
    assert (await office.find(unpaid)).state is OrderState.OPEN
    assert await status(office, kept) is PaymentStatus.SUCCEEDED
    assert [each.status for each in await office.rights(elsewhere)] == [Status.ACTIVE]
    said = office.stage.fine(await progress(office, event))
    assert (said["status"], said["done"], said["percentage"]) == ("DONE", 3, 100)
    assert said["refunds"] == {"SUCCEEDED": 3}
    await brought_forward(office)
    assert await office.letters(office.buyer.email) == letters, "who was written is not written again"


async def brought_forward(office: Office) -> None:
    """What was to be done later, now."""
    await office.work(hurry=True)


@pytest.mark.covers("FIN-070")
async def test_wherever_it_is_cut_off_everybody_is_refunded_once(office: Office, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("admitone.finance.refunds.calling_off.AT_A_TIME", 3)
    monkeypatch.setattr(calling_off, "AT_A_TIME", 3)
    event, [kind] = await office.on_sale()
    paid = [await office.buy(event, (kind, 1), guest=f"{n}.{event['eventId']}@example.org") for n in range(8)]
    for each in paid:
        payment = PaymentId.parse(each["checkout"]["paymentId"])
        office.world.simulator.act("pay", (await office.world.payment(payment)).charge_id)
        await office.world.clerk.ask(office.stage.organization, payment, office.buyer.caller)
    await office.work()
    await call_off(office, event)
    cuts = {point: itertools.count() for point in ("commit.before", "job.before_end", "payments.before_recording")}

    def every_fifth(point: str) -> None:
        if next(cuts[point]) in range(3, 60, 5):
            failpoints.cut()

    with contextlib.ExitStack() as armed:
        for point in cuts:
            armed.enter_context(failpoints.armed(point, functools.partial(every_fifth, point)))
        await office.work(hurry=True)
    await replay_dead(office.stage.database, office.stage.superuser, office.stage.scope)
    await office.work()
    assert await given_back(office) == [2500] * 8
    for each in paid:
        assert [ticket.status for ticket in await office.tickets(each["order"])] == [TicketStatus.REFUNDED]
    for number in range(8):
        written = await office.letters(f"{number}.{event['eventId']}@example.org")
        assert written == ["order_receipt", "event_cancelled"]
    assert (await office.pool(kind)).free == 100
    letters = await dead(office.stage.superuser, office.stage.scope)
    assert all(each["replayed_at"] for each in letters), (
        "what was cut off too often was replayed, and nothing else died"
    )


@pytest.mark.covers("FIN-070", "FUL-010")
async def test_who_pays_after_the_cancellation_gets_it_back(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    await call_off(office, event)
    await office.work()
    assert (await office.ask(event, (kind, 1))).json()["errorCode"] == "EVENT_NOT_ON_SALE"
    await office.settle(payment)
    assert (await office.find(order)).state is OrderState.RETURNED
    assert await status(office, payment) is PaymentStatus.REFUNDED
    assert (await office.rights(order), (await office.pool(kind)).sold) == ([], 0)
    assert await office.letters(office.buyer.email) == ["order_returned"]


@pytest.mark.covers("FIN-070")
async def test_who_pays_in_the_very_moment_is_not_forgotten(office: Office):
    """Some are paid before, some while the list of those who paid is read, and some after."""
    event, [kind] = await office.on_sale()
    orders = [await office.buy(event, (kind, 1), guest=f"{n}.{event['eventId']}@example.org") for n in range(9)]
    payments = [PaymentId.parse(each["checkout"]["paymentId"]) for each in orders]
    for each in payments:
        office.world.simulator.act("pay", (await office.world.payment(each)).charge_id)

    async def hear(each: PaymentId) -> None:
        await office.world.clerk.ask(office.stage.organization, each, office.buyer.caller)

    for each in payments[:3]:
        await hear(each)
    async with office.working():
        await call_off(office, event)
        for each in payments[3:6]:
            await hear(each)
        await until_told(office, "refunds.give_all_back")
        for each in payments[6:]:
            await hear(each)
    await brought_forward(office)
    assert {await status(office, each) for each in payments} == {PaymentStatus.REFUNDED}
    assert await given_back(office) == [2500] * 9
    for number, each in enumerate(orders):
        told = await office.letters(f"{number}.{event['eventId']}@example.org")
        state = (await office.find(each["order"])).state
        assert state in (OrderState.RETURNED, OrderState.FULFILLED)
        returned = state is OrderState.RETURNED
        assert told[-1] == ("order_returned" if returned else "event_cancelled")
        assert len(told) == (1 if returned else 2)
        assert {right.status for right in await office.rights(each["order"])} <= {Status.REVOKED}
    assert (await office.pool(kind)).sold == 0


@pytest.mark.covers("FIN-070")
@pytest.mark.parametrize("price", [0, 2500], ids=["free", "paid"])
async def test_what_is_being_issued_while_its_event_is_cancelled_is_found(office: Office, price: int):
    """Somebody looked at the event before, and has written nothing yet when all that is there is taken."""
    event, [kind] = await office.on_sale({"priceMinor": price, "allowZeroPrice": not price, "freePerPerson": 3})
    first, slow = await office.order(event, (kind, 1)), await office.order(event, (kind, 1))
    await pay(office, first)
    await office.work()
    payment = await pay(office, slow)
    looked, go_on = asyncio.Event(), asyncio.Event()

    async def issue(tx: Tx) -> None:
        await fulfil(tx, [Wanted(office.buyer.caller, payment, 1)])
        looked.set()
        await go_on.wait()

    issuing = asyncio.create_task(office.stage.database.run(office.stage.scope, issue))
    await looked.wait()
    await call_off(office, event)
    async with office.working():
        await until_told(office, "events.end_rights", "events.tell_buyers")
        go_on.set()
        await issuing
    await brought_forward(office)
    assert [each.status for each in await office.rights(slow)] == [Status.REVOKED]
    assert (await office.letters(office.buyer.email)).count("event_cancelled") == 2
    assert await given_back(office) == [price] * (2 if price else 0)


async def pay(office: Office, order: dict[str, Any]) -> PaymentId:
    """And nobody hears of it yet."""
    payment = await office.begin(order)
    if order["amountMinor"]:
        office.world.simulator.act("pay", (await office.world.payment(payment)).charge_id)
        await office.world.clerk.ask(office.stage.organization, payment, office.buyer.caller)
    return payment


async def until_told(office: Office, *kinds: str) -> None:
    """Until this bulk work is done."""
    for kind in kinds:
        left = (
            f"SELECT 1 - count(*) FROM kernel.bulk WHERE organization_id = $1 AND kind = '{kind}' AND status = 'DONE'"
        )
        await until(office.stage.superuser, left, office.stage.scope)


async def test_whose_money_went_back_before_their_turn_is_told(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await pay(office, order)
    refund = await ask(office.world, payment)
    await run(office.world, errands.refund, RefundBegun(payment_id=payment, refund_id=str(refund.id)))
    assert await status(office, payment) is PaymentStatus.REFUNDED
    await office.work()
    assert (await office.find(order)).state is OrderState.RETURNED
    assert (await office.rights(order), (await office.pool(kind)).free) == ([], 100)
    assert await office.letters(office.buyer.email) == ["order_returned"]


async def test_a_draft_that_is_cancelled_gives_nothing_back(office: Office):
    event = await office.stage.drafted()
    await call_off(office, event)
    await office.work()
    assert (await progress(office, event)).json()["refunds"] == {}
