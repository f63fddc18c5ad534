"""What is kept for somebody is kept for as long as they may pay, and for no longer."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import msgspec
import pytest

from admitone.finance.gateways.api import Method
from admitone.finance.payments.api import GRACE, Checkout, Payment, Status
from admitone.finance.payments.commands.checkouts import begin
from admitone.finance.payments.orders import LASTS
from admitone.finance.sources.api import PaymentId, Source, SourceType
from admitone.kernel.db import Tx
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from admitone.kernel.words import Language
from admitone.selling.stock.api import Hold, HoldId, find_holds
from admitone.selling.stock.commands.settling import expire
from admitone.verticals.events.commands.ordering import Placing, Want, place
from admitone.verticals.events.commands.waiting import keep_no_longer
from admitone.verticals.events.model import EventId, Order, OrderId, OrderState, TicketTypeId
from admitone.verticals.events.sales import LONGEST_KEPT, SECOND_TRY
from tests.builders import rows_of, sent_in
from tests.people import a_person
from tests.verticals.events.office import Office

MINUTE = timedelta(minutes=1)
HOLD = 15 * MINUTE
"""Of an event that says nothing else."""
AGE = """
    UPDATE events.ticket_order SET created_at = created_at - $2::interval, expires_at = expires_at - $2
     WHERE organization_id = $1
"""
AGE_HOLDS = """
    UPDATE stock.portion SET kept_at = kept_at - $2::interval, expires_at = expires_at - $2,
                             keepable_until = keepable_until - $2
     WHERE organization_id = $1
"""


async def after(office: Office, minutes: float) -> None:
    """So much earlier everything was placed and kept."""
    own = office.stage.organization.uuid
    for statement in (AGE, AGE_HOLDS):
        await office.stage.superuser.execute(statement, own, minutes * MINUTE)


async def an_order(office: Office, **event: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    played, [kind] = await office.on_sale({"supply": {"capacity": 2}}, **event)
    return await office.order(played, (kind, 2)), played, kind


async def kept(office: Office, order: dict[str, Any]) -> Order:
    """It and its hold end at the same instant."""
    own = await office.find(order)
    hold = await hold_of(office, order)
    assert hold.expires_at == own.expires_at
    return own


async def hold_of(office: Office, order: dict[str, Any]) -> Hold:
    own = HoldId(OrderId.parse(order["orderId"]).uuid)
    return (await office.stage.database.read(office.stage.scope, find_holds, [own]))[own]


async def begun(office: Office, order: dict[str, Any], **more: Any) -> Payment:
    return await office.world.payment(await office.begin(order, **more))


async def given_up(office: Office, payment: PaymentId) -> None:
    """We know; nobody has done anything about it yet."""
    office.world.simulator.act("cancel", (await office.world.payment(payment)).charge_id)
    await office.world.clerk.ask(office.stage.organization, payment, office.buyer.caller)


@pytest.mark.covers("PAY-002", "PAY-051", "PAY-052")
@pytest.mark.parametrize("method", Method)
async def test_whoever_begins_to_pay_in_the_last_minute_has_as_long_as_anybody(office: Office, method: Method):
    order, event, kind = await an_order(office, currency="BRL")
    await after(office, 14)
    payment = await begun(office, order, method=method.value)
    assert payment.expires_at - payment.created_at == min(LASTS[method], HOLD)
    assert (await kept(office, order)).expires_at == payment.expires_at + GRACE
    await after(office, 15)
    holds = [HoldId(OrderId.parse(order["orderId"]).uuid)]
    assert await office.stage.database.run(office.stage.scope, lambda tx: expire(tx, holds)) == 0
    assert (await office.ask(event, (kind, 1))).json()["errorCode"] == "SOLD_OUT", "nobody else has it"
    await office.settle(payment.id)
    assert (await office.find(order)).state is OrderState.FULFILLED


@pytest.mark.covers("PAY-002")
async def test_what_is_bought_at_once_is_kept_for_as_long_as_it_can_be_paid(office: Office):
    event, [kind] = await office.on_sale(about={"holdMinutes": 20})
    bought = await office.buy(event, (kind, 2))
    order, payment = await kept(office, bought["order"]), bought["checkout"]["paymentId"]
    assert order.expires_at - order.created_at == 20 * MINUTE + GRACE
    found = await office.world.payment(PaymentId.parse(payment))
    assert found.expires_at + GRACE == order.expires_at
    again = await office.buy(event, (kind, 2), idempotencyKey="again")
    await after(office, 17)
    assert (await office.buy(event, (kind, 2), idempotencyKey="again"))["checkout"] == again["checkout"]
    assert (await kept(office, again["order"])).version == 1, "who repeats it prolongs nothing"


async def test_beginning_to_pay_is_seven_statements_more_for_however_many(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 300}})
    placings = [a_placing(event, kind, f"pay-{each}") for each in range(64)]
    placed = await office.stage.database.run(office.stage.scope, lambda tx: place(tx, placings))
    checkouts = [
        Checkout(Caller(order.buyer), Source(SourceType.TICKET_ORDER, str(order.id)), Method.CARD, "key", None)
        for order in placed
        if isinstance(order, Order)
    ]
    last = [msgspec.structs.replace(each, kept=True) for each in checkouts[-1:]]
    sent = [
        len(await sent_in(office.stage.database, office.stage.scope, lambda tx, many=many: begin(tx, many)))
        for many in (checkouts[:1], checkouts[1:-1], last)
    ]
    assert sent[0] == sent[1] == sent[2] + 7


@pytest.mark.covers("PAY-002")
async def test_what_stood_before_and_is_bought_is_kept_like_anything_that_somebody_pays(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2), idempotencyKey="cart")
    await after(office, 14)
    bought = await office.buy(event, (kind, 2), idempotencyKey="cart")
    payment = await office.world.payment(PaymentId.parse(bought["checkout"]["paymentId"]))
    assert (bought["order"]["orderId"], payment.expires_at - payment.created_at) == (order["orderId"], HOLD)
    assert (await kept(office, order)).expires_at == payment.expires_at + GRACE


@pytest.mark.covers("PAY-002")
async def test_what_stood_before_and_is_bought_while_it_is_shortened_is_kept_as_long_as_it_can_be_paid(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2), idempotencyKey="cart")
    own = OrderId.parse(order["orderId"])
    await after(office, 14)
    first = await begun(office, order)
    await given_up(office, first.id)
    is_shortened, goes_on = asyncio.Event(), asyncio.Event()

    async def shorten(tx: Tx) -> None:
        await keep_no_longer(tx, [own])
        is_shortened.set()
        await goes_on.wait()

    job = asyncio.create_task(office.stage.database.run(office.stage.scope, shorten, patient=True))
    await is_shortened.wait()
    buying = asyncio.create_task(office.buy(event, (kind, 2), idempotencyKey="cart"))
    await asyncio.wait({buying}, timeout=0.5)
    goes_on.set()
    bought, _ = await asyncio.gather(buying, job)
    second = await office.world.payment(PaymentId.parse(bought["checkout"]["paymentId"]))
    assert (await kept(office, order)).expires_at >= second.expires_at + GRACE


def a_placing(event: dict[str, Any], kind: dict[str, Any], key: str) -> Placing:
    buyer, want = IdentityId.new(), Want(TicketTypeId.parse(kind["ticketTypeId"]), 1)
    own = EventId.parse(event["eventId"])
    return Placing(Caller(buyer), own, buyer, (want,), key, False, Language.ENGLISH)


# -- Not for ever


@pytest.mark.covers("PAY-002")
async def test_who_begins_again_and_again_has_it_for_so_long_and_no_longer(office: Office):
    order, event, kind = await an_order(office)
    for passed in (14, 14, 14, 14, 14, 14, 10):
        payment = await begun(office, order)
        own = await kept(office, order)
        assert payment.expires_at + GRACE <= own.expires_at <= own.created_at + LONGEST_KEPT
        await given_up(office, payment.id)
        await after(office, passed)
    assert own.expires_at == own.created_at + LONGEST_KEPT, "with all that was left of it"
    refused = await office.checkout(order)
    assert (refused.status_code, refused.json()["errorCode"]) == (409, "OFFER_ENDED")
    await after(office, 2)
    other = await office.order(event, (kind, 2), buyer=await a_person(office.stage.database))
    assert other["state"] == "OPEN", "it is anybody's"


async def test_the_database_keeps_no_order_for_ever_either(office: Office):
    order, _, _ = await an_order(office)
    put_off = "UPDATE events.ticket_order SET expires_at = created_at + $2 WHERE id = $1"
    own = OrderId.parse(order["orderId"]).uuid
    await office.stage.superuser.execute(put_off, own, LONGEST_KEPT)
    with pytest.raises(asyncpg.CheckViolationError):
        await office.stage.superuser.execute(put_off, own, LONGEST_KEPT + timedelta(seconds=1))


# -- Not what has ended


@pytest.mark.covers("PAY-002")
async def test_what_somebody_else_took_meanwhile_is_not_begun_to_pay(office: Office):
    """The order looks as if it were kept: whoever swept had a clock that was ahead."""
    order, _, kind = await an_order(office)
    own = await office.find(order)
    await office.at(own.expires_at + MINUTE, expire, [HoldId(own.id.uuid)])
    refused = await office.checkout(order)
    assert refused.json()["errorCode"] == "OFFER_ENDED"
    assert await rows_of(office.stage.database, office.stage.scope, "payments.payment") == 0
    assert (await office.find(order), (await office.pool(kind)).free) == (own, 2)


async def test_what_costs_nothing_is_not_kept_longer_while_there_is_time(office: Office):
    free = {"name": "Guest list", "priceMinor": 0, "allowZeroPrice": True}
    event, [kind] = await office.on_sale(free)
    order = await office.order(event, (kind, 1))
    before = (await kept(office, order)).expires_at
    await office.begin(order)
    assert (await kept(office, order)).expires_at == before


@pytest.mark.covers("FIN-082", "PAY-002")
async def test_what_costs_nothing_is_not_lost_in_its_last_moment(office: Office):
    free = {"name": "Guest list", "priceMinor": 0, "allowZeroPrice": True, "supply": {"capacity": 1}}
    event, [kind] = await office.on_sale(free)
    order = await office.order(event, (kind, 1))
    await after(office, 14.99)
    await office.begin(order)
    await after(office, 1)
    other = await office.ask(event, (kind, 1), buyer=await a_person(office.stage.database))
    assert other.json()["errorCode"] == "SOLD_OUT"
    await office.work()
    assert (await office.find(order)).state is OrderState.FULFILLED


# -- When nobody pays


@pytest.mark.covers("PAY-062")
async def test_who_gives_up_paying_has_what_the_order_had_without_it(office: Office):
    order, _, _ = await an_order(office)
    before = (await kept(office, order)).expires_at
    await after(office, 5)
    payment = await begun(office, order)
    assert (await kept(office, order)).expires_at > before
    await office.settle(payment.id, "cancel")
    assert (await office.world.payment(payment.id)).status is Status.CANCELLED
    assert (await kept(office, order)).expires_at == before - 5 * MINUTE


@pytest.mark.covers("PAY-062")
@pytest.mark.parametrize("deed", ["cancel", "expire"])
async def test_what_nobody_pays_any_more_is_soon_anybodys(office: Office, deed: str):
    order, event, kind = await an_order(office, currency="BRL")
    await after(office, 14)
    payment = await begun(office, order, method="PIX")
    await after(office, 10)
    await office.settle(payment.id, deed)
    own = await kept(office, order)
    assert own.changed_at + SECOND_TRY == own.expires_at
    second = await begun(office, order, method="PIX")
    assert (await kept(office, order)).expires_at == second.expires_at + GRACE, "in time for another try"
    await office.settle(second.id, deed)
    await after(office, 3)
    other = await a_person(office.stage.database)
    taken = await office.order(event, (kind, 2), buyer=other)
    assert taken["state"] == "OPEN"


@pytest.mark.covers("PAY-040")
async def test_when_all_tries_are_spent_it_is_soon_anybodys(office: Office):
    order, _, _ = await an_order(office)
    await after(office, 14)
    payment = await begun(office, order)
    ends = (await kept(office, order)).expires_at
    await after(office, 3)
    await office.settle(payment.id, card="card_declined")
    own = await kept(office, order)
    assert own.expires_at == ends - 3 * MINUTE, "another card may be tried"
    await office.settle(payment.id, card="card_declined")
    own = await kept(office, order)
    assert own.expires_at == own.changed_at + SECOND_TRY


async def test_what_somebody_pays_is_not_shortened_by_what_came_to_nothing_before(office: Office):
    order, _, _ = await an_order(office)
    await after(office, 14)
    first = await begun(office, order)
    await given_up(office, first.id)
    second = await begun(office, order)
    await office.work()
    assert (await kept(office, order)).expires_at >= second.expires_at + GRACE
    await office.settle(second.id)
    assert (await office.find(order)).state is OrderState.FULFILLED


@pytest.mark.parametrize("seed", range(4))
async def test_who_begins_while_it_is_shortened_has_it_for_as_long_as_they_may_pay(office: Office, seed: int):
    """Whoever is first: the other sees it."""
    order, _, _ = await an_order(office)
    await after(office, 14)
    first = await begun(office, order)
    await given_up(office, first.id)
    own = OrderId.parse(order["orderId"])

    async def shorten() -> None:
        await asyncio.sleep(seed * 0.002)
        await office.stage.database.run(office.stage.scope, lambda tx: keep_no_longer(tx, [own]), patient=True)

    second, *_ = await asyncio.gather(begun(office, order), *(shorten() for _ in range(3)))
    assert (await kept(office, order)).expires_at >= second.expires_at + GRACE
