"""Orders of which a part cost nothing: what becomes of that part when the rest goes back."""

from typing import Any

import pytest

from admitone.entitlements.commands.following import find_strayed
from admitone.finance.payments.api import Status as PaymentStatus
from admitone.verticals.events.model import EventId, Ticket, TicketStatus
from admitone.verticals.events.reconciling import find_differences
from tests.verticals.events.office import Office
from tests.verticals.events.test_calling_off import FREE, call_off
from tests.verticals.events.test_returning import A, R, give_back, standing


async def tickets_of(office: Office, order: dict[str, Any], kind: dict[str, Any]) -> list[Ticket]:
    return [each for each in await office.tickets(order) if str(each.ticket_type) == kind["ticketTypeId"]]


@pytest.mark.covers("OPS-041", "ENT-007", "EVT-009")
async def test_what_cost_nothing_stays_when_everything_else_of_its_order_was_named(office: Office):
    event, [kind, free] = await office.on_sale({}, FREE)
    order = await office.order(event, (kind, 1), (free, 1))
    payment = await office.pay(order)
    [paid] = await tickets_of(office, order, kind)
    office.stage.fine(await give_back(office, order, paid))
    await office.work()
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert sorted(await standing(office, order)) == [A, R]
    assert ((await office.pool(kind)).sold, (await office.pool(free)).sold) == (0, 1)
    read, scope = office.stage.database.read, office.stage.scope
    assert not await read(scope, find_strayed, [payment]), "every night it is so, too"
    assert not await read(scope, find_differences, EventId.parse(event["eventId"]))


@pytest.mark.covers("OPS-041", "ENT-007")
async def test_what_cost_nothing_goes_with_the_rest_of_its_order_if_none_is_named(office: Office):
    event, [kind, free] = await office.on_sale({}, FREE)
    order = await office.order(event, (kind, 2), (free, 1))
    payment = await office.pay(order)
    [paid, _] = await tickets_of(office, order, kind)
    office.stage.fine(await give_back(office, order, paid))
    await office.work()
    assert sorted(await standing(office, order)) == [A, A, R]
    path = f"/api/org/{office.stage.organization}/payments/{payment}/refund"
    body = {"reasonCode": "SERIOUS_FAILURE", "idempotencyKey": "the rest"}
    office.stage.fine(await office.stage.site.post(path, json=body, headers=office.stage.owner.headers))
    await office.work()
    assert await standing(office, order) == [R, R, R]


@pytest.mark.covers("ENT-007")
async def test_of_money_that_went_back_for_nobody_knows_what_everything_goes(office: Office):
    event, [kind, free] = await office.on_sale({}, FREE)
    order = await office.order(event, (kind, 2), (free, 1))
    payment = await office.pay(order)
    [paid, _] = await tickets_of(office, order, kind)
    office.stage.fine(await give_back(office, order, paid))
    await office.work()
    await office.settle(payment, "refund")  # At the provider's own page.
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert await standing(office, order) == [R, R, R]


@pytest.mark.covers("ENT-007", "FIN-070")
async def test_what_cost_nothing_is_gone_with_its_event_whatever_became_of_the_rest(office: Office):
    event, [kind, free] = await office.on_sale({}, FREE)
    order = await office.order(event, (kind, 1), (free, 1))
    await office.pay(order)
    [paid] = await tickets_of(office, order, kind)
    office.stage.fine(await give_back(office, order, paid))
    await call_off(office, event)  # While the money is on its way.
    await office.work()
    assert sorted(await standing(office, order)) == [TicketStatus.CANCELLED, R]
