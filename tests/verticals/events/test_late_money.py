"""Money that comes when nobody waits for it any more: for tickets after all, or back, and never without a word."""

import json
from datetime import timedelta
from typing import Any

import pytest

from admitone.entitlements.api import Status
from admitone.finance.payments.api import Status as PaymentStatus
from admitone.finance.payments.facts import PaymentRefunded
from admitone.finance.sources.api import PaymentId
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import Delivered
from admitone.kernel.scope import Caller
from admitone.selling.stock.api import HoldId
from admitone.selling.stock.commands.settling import expire
from admitone.verticals.events.model import OrderState
from admitone.verticals.events.refunded import return_unissued
from tests.foundation.organizations.clubs import facts_of
from tests.people import a_person
from tests.verticals.events.office import Office
from tests.verticals.events.stage import soon


async def swept(office: Office, order: dict[str, Any]) -> None:
    """A minute after it was kept for somebody."""
    own = await office.find(order)
    await office.at(own.expires_at + timedelta(minutes=1), expire, [HoldId(own.id.uuid)])


@pytest.mark.covers("FUL-010", "FIN-017")
@pytest.mark.parametrize("is_swept", [True, False], ids=["swept", "not yet swept"])
async def test_what_is_still_there_is_granted_again(office: Office, is_swept: bool):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    if is_swept:
        await swept(office, order)
        assert ((await office.pool(kind)).held, (await office.pool(kind)).free) == (0, 3)
    await office.settle(payment)
    assert (await office.find(order)).state is OrderState.FULFILLED
    assert [each.status for each in await office.rights(order)] == [Status.ACTIVE] * 2
    assert ((await office.pool(kind)).held, (await office.pool(kind)).sold) == (0, 2)


@pytest.mark.covers("FUL-010", "PAY-064")
async def test_what_somebody_else_has_by_then_goes_back_as_money(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    await swept(office, order)
    other = await a_person(office.stage.database)
    taken = await office.order(event, (kind, 2), buyer=other)
    await office.pay(taken, buyer=other)
    await office.settle(payment)
    assert (await office.find(order)).state is OrderState.RETURNED
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert await office.world.net(payment) == 0
    assert (await office.rights(order), await office.tickets(order)) == ([], [])
    assert await office.letters(office.buyer.email) == ["order_returned"]
    assert ((await office.pool(kind)).sold, len(await office.rights(taken))) == (2, 2), "never oversold"


@pytest.mark.covers("EVT-009", "FUL-010")
async def test_what_is_sold_out_of_other_pools_by_then_goes_back_as_money(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    house = {"label": "House", "capacity": 2, "idempotencyKey": "house"}
    event = office.stage.fine(await office.stage.ask("POST", f"/{event['eventId']}/pools", house), 201)
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    await swept(office, order)
    shared = [event["sharedPools"][0]["pool"]["poolId"]]
    office.stage.fine(await office.stage.revise(event, kind, sharedPools=shared))
    # The provider was slow to tell: its money comes when nothing is kept any more.
    late = "UPDATE events.ticket_order SET expires_at = now() WHERE organization_id = $1"
    await office.stage.superuser.execute(late, office.stage.organization.uuid)
    await office.settle(payment)
    assert (await office.find(order)).state is OrderState.RETURNED
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert (await office.pool(kind)).sold == 0, "the house would not have known"
    returned = await facts_of(office.stage.superuser, office.stage.organization, "order.returned")
    assert [json.loads(each["payload"])["reason"] for each in returned] == ["TYPE_MOVED"]
    assert await office.letters(office.buyer.email) == ["order_returned"]


@pytest.mark.covers("FUL-010", "PAY-064")
async def test_what_is_good_for_another_session_by_then_goes_back_as_money(office: Office):
    sessions = [{"label": each, "startsAt": soon(), "endsAt": soon(hours=2)} for each in ("Friday", "Saturday")]
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}}, schedule={"sessions": sessions})
    friday, saturday = (each["sessionId"] for each in event["sessions"])
    kind = office.stage.fine(await office.stage.revise(event, kind, sessions=[friday]))["ticketTypes"][0]
    order = await office.order(event, (kind, 1))
    payment = await office.begin(order)
    await swept(office, order)
    office.stage.fine(await office.stage.revise(event, kind, sessions=[saturday]))
    late = "UPDATE events.ticket_order SET expires_at = now() WHERE organization_id = $1"
    await office.stage.superuser.execute(late, office.stage.organization.uuid)
    await office.settle(payment)
    assert (await office.find(order)).state is OrderState.RETURNED
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert await office.rights(order) == []
    assert await office.letters(office.buyer.email) == ["order_returned"]


@pytest.mark.covers("PAY-053", "FIN-017")
async def test_money_of_a_payment_that_had_ended_goes_back_and_its_buyer_is_told(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    await swept(office, order)
    await office.settle(payment, "cancel")
    assert (await office.world.payment(payment)).status is PaymentStatus.CANCELLED
    await office.settle(payment, "pay", late=True)
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert (await office.find(order)).state is OrderState.RETURNED
    assert (await office.rights(order), (await office.pool(kind)).free) == ([], 3)
    assert await office.letters(office.buyer.email) == ["order_returned"]


async def paid(office: Office, payment: PaymentId) -> None:
    """At the provider, and we have heard of it; nobody has handed anything over yet."""
    office.world.simulator.act("pay", (await office.world.payment(payment)).charge_id)
    await office.world.clerk.ask(office.stage.organization, payment, office.buyer.caller)


@pytest.mark.covers("FIN-017", "PAY-053")
async def test_money_that_goes_back_takes_nothing_from_another_payment_of_its_order(office: Office):
    event, [kind] = await office.on_sale({"supply": {"capacity": 3}})
    order = await office.order(event, (kind, 2))
    given_up = await office.begin(order)
    await office.settle(given_up, "cancel")
    payment = await office.begin(order)
    await office.settle(given_up, "pay", late=True)
    assert (await office.world.payment(given_up)).status is PaymentStatus.REFUNDED
    assert await office.letters(office.buyer.email) == [], "nothing is lost yet"
    await paid(office, payment)
    await told_again(office, given_up)
    await office.work()
    assert (await office.world.payment(payment)).status is PaymentStatus.SUCCEEDED
    assert (await office.find(order)).state is OrderState.FULFILLED
    assert len(await office.tickets(order)) == 2
    assert await office.letters(office.buyer.email) == ["order_receipt"]


async def told_again(office: Office, payment: PaymentId) -> None:
    """That it went back, by somebody who was slow."""
    own = await office.world.payment(payment)
    fact = PaymentRefunded(
        payment_id=payment,
        payment_version=own.version,
        source_type=own.source.type.value,
        source_id=own.source.id,
        amount_minor=own.amount_minor,
        refunded_minor=own.refunded_minor,
        currency=own.currency,
    )
    told = Delivered(uuid7(), office.stage.organization, fact, Caller(), "again", None, 1, own.created_at)
    await office.stage.database.run(office.stage.scope, lambda tx: return_unissued(tx, [told]))
