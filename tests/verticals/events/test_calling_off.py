"""An event is cancelled: everybody has their money back, once, and is told so."""

import asyncio
import contextlib
import functools
import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from admitone.entitlements.api import Revocation, Status
from admitone.finance.gateways.api import RefundOrder, Refused
from admitone.finance.payments import errands
from admitone.finance.payments.api import CHARGE_DISPUTED
from admitone.finance.payments.api import Status as PaymentStatus
from admitone.finance.payments.facts import RefundBegun
from admitone.finance.refunds.api import Piece
from admitone.finance.refunds.commands import Retry, anew, retry_refunds
from admitone.finance.refunds.planning import refund_of
from admitone.finance.sources.api import PaymentId
from admitone.kernel import failpoints
from admitone.kernel.db import Tx
from admitone.selling.fulfilment.commands import fulfil
from admitone.selling.fulfilment.model import Wanted
from admitone.verticals.events import calling_off
from admitone.verticals.events.model import EventId, OrderState, TicketStatus
from admitone.verticals.events.routes.returning import PLANS
from tests.finance.payments.test_trouble import run
from tests.finance.refunds.test_refunds import ask
from tests.jobs import dead, replay_dead, until
from tests.verticals.events.office import Office
from tests.verticals.events.stage import a_stage
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


@pytest.mark.covers("FIN-070", "MOR-045", "ENT-007")
@pytest.mark.parametrize("times", [1, 2])
async def test_what_failed_is_ordered_anew_whole_and_the_cancellation_says_so(office: Office, times: int):
    event, [kind, free] = await office.on_sale({}, FREE)
    order = await office.order(event, (kind, 2), (free, 1))
    payment = await office.pay(order)
    other = await office.order(event, (kind, 1))
    await office.pay(other)
    assert len(await office.rights(order)) == 3
    await call_off(office, event)
    refund = refund_of(calling_off.cancellation_of(EventId.parse(event["eventId"])), payment)
    for number in range(times):
        with refusing(office, payment):
            await office.work(hurry=True)
        assert office.stage.fine(await progress(office, event))["refunds"] == {"SUCCEEDED": 1, "FAILED": 1}
        if number == 0:  # Somebody gives a part of it back by hand: so much less is left.
            await ask(office.world, payment, Piece(kind["ticketTypeId"], 1))
            await office.work()
        await office.world.submit(retry_refunds, Retry(office.buyer.caller, refund, anew(refund)))
        assert office.stage.fine(await progress(office, event))["refunds"] == {"SUCCEEDED": 1, "PENDING": 1}
        refund = anew(refund)
    await office.work(hurry=True)
    assert await status(office, payment) is PaymentStatus.REFUNDED
    assert await given_back(office) == [2500, 2500, 2500]
    assert {each.status for each in await office.rights(order)} == {Status.REVOKED}
    assert office.stage.fine(await progress(office, event))["refunds"] == {"SUCCEEDED": 2}
    assert (await office.pool(kind)).sold == 0


@contextlib.contextmanager
def refusing(office: Office, payment: PaymentId, code: str = "insufficient_funds") -> Iterator[None]:
    """The provider says no to whatever is to go back of it."""
    refund = office.world.gateway.refund

    async def refuses(order: RefundOrder) -> Any:
        return Refused(code) if order.payment == payment else await refund(order)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(office.world.gateway, "refund", refuses)
        yield


@pytest.mark.covers("FIN-074", "PAY-064")
async def test_who_pays_after_the_cancellation_and_loses_a_dispute_gets_it_back(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    await call_off(office, event)
    await office.work()
    with refusing(office, payment, CHARGE_DISPUTED):  # The bank was faster than our refund.
        await office.settle(payment)
    assert (await office.find(order)).state is OrderState.RETURNED
    await office.settle(payment, "dispute")
    assert await status(office, payment) is PaymentStatus.DISPUTED
    await office.settle(payment, "win")
    assert await status(office, payment) is PaymentStatus.REFUNDED
    assert await given_back(office) == [5000]


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


async def test_an_organisation_looks_at_so_many_cancellations_only_and_others_go_on(office: Office):
    event = await office.stage.drafted()
    path = f"/{event['eventId']}/cancellation/plan"
    looks = [(await office.stage.ask("GET", path)).status_code for _ in range(PLANS.count + 1)]
    assert looks == [200] * PLANS.count + [429]
    elsewhere = await a_stage(office.stage.site, office.stage.database, office.stage.superuser)
    another = await elsewhere.drafted()
    assert (await elsewhere.ask("GET", f"/{another['eventId']}/cancellation/plan")).status_code == 200


async def test_it_is_shown_before_what_would_go_back(office: Office):
    event, [kind, free] = await office.on_sale({}, FREE)
    paid = [await office.begin(await office.order(event, (kind, 2))) for _ in range(2)]
    for each in paid:
        await office.settle(each)
    await office.begin(await office.order(event, (free, 1)))
    await office.work()
    await office.order(event, (kind, 3))

    async def planned() -> Any:
        return office.stage.fine(await office.stage.ask("GET", f"/{event['eventId']}/cancellation/plan"))

    plan = await planned()
    assert (plan["tickets"], plan["kept"], plan["payments"], plan["disputed"]) == (5, 3, 2, 0)
    assert [each["amountMinor"] for each in plan["amounts"]] == [10000]
    assert plan["digest"] == (await planned())["digest"]

    await office.settle(paid[0], "dispute")
    after = await planned()
    assert (after["payments"], after["disputed"]) == (1, 1)
    assert after["digest"] != plan["digest"]

    await call_off(office, event)
    await office.work(hurry=True)
    assert await given_back(office) == [each["amountMinor"] for each in after["amounts"]]
    again = await office.stage.ask("GET", f"/{event['eventId']}/cancellation/plan")
    assert again.json()["errorCode"] == "EVENT_CANCELLED"
