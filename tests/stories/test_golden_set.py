"""The golden set (OPS-041, 19.6): seven tests that are never skipped, each with everything that is real.

Tickets are sold over HTTP by the vertical of events, paid at the sandbox provider and handed over by a worker.
"""

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.entitlements.api import Status
from admitone.entitlements.model import Reason as AtTheDoor
from admitone.finance.payments.api import Status as Paid
from admitone.finance.reconciliation.alerting import DIVERGENCE
from admitone.finance.refunds.api import Piece, Reason, RefundId, Request, request_refunds
from admitone.finance.sources.api import PaymentId
from admitone.kernel.alerts import AlertClass
from admitone.kernel.batch import Batcher
from admitone.kernel.db import Database
from admitone.kernel.scope import Caller
from admitone.verticals.events.model import TicketStatus
from tests.entitlements.rights import Hall
from tests.finance.reconciliation.books import AN_HOUR, Sides
from tests.finance.webhooks.test_story import deliver, until_heard
from tests.foundation.organizations.clubs import facts_of, mailed
from tests.jobs import a_worker, dead
from tests.mails import an_address
from tests.people import a_person
from tests.verticals.events.office import DUTIES, Office, an_office
from tests.verticals.events.stage import a_stage
from tests.verticals.events.test_guest_links import link_of, proves, tickets_behind

pytestmark = pytest.mark.covers("OPS-041")

TONIGHT = {
    "startsAt": (datetime.now(UTC) + timedelta(hours=1)).isoformat(),
    "endsAt": (datetime.now(UTC) + timedelta(hours=5)).isoformat(),
}
"""The doors are open."""
ROWS = """
    SELECT (SELECT count(*) FROM events.ticket_order WHERE organization_id = $1) AS orders,
           (SELECT count(*) FROM payments.payment WHERE organization_id = $1) AS payments,
           (SELECT count(*) FROM ledger.transfer WHERE organization_id = $1) AS transfers,
           (SELECT count(*) FROM events.ticket WHERE organization_id = $1) AS tickets,
           (SELECT count(*) FROM entitlements.entitlement WHERE organization_id = $1) AS rights,
           (SELECT count(*) FROM stock.portion WHERE organization_id = $1) AS portions,
           (SELECT count(*) FROM mail.letter WHERE organization_id = $1) AS letters
"""
MONEY = """
    SELECT (SELECT array_agg(amount_minor || ' ' || state ORDER BY amount_minor) FROM refunds.refund r
             WHERE r.payment_id = $1) AS refunds,
           (SELECT array_agg(d.state || ' ' || d.amount_minor) FROM disputes.dispute d WHERE d.payment_id = $1) AS disputes
"""


@pytest.fixture
async def office(
    site: httpx.AsyncClient, database: Database, superuser: asyncpg.Connection, batcher: Batcher
) -> AsyncIterator[Office]:
    async with an_office(await a_stage(site, database, superuser), batcher) as office:
        yield office


def a_door(office: Office) -> Hall:
    stage = office.stage
    return Hall(stage.database, office.world.batcher, stage.organization, stage.owner, office.buyer)


async def rows(office: Office) -> dict[str, int]:
    return dict(await office.stage.superuser.fetchrow(ROWS, office.stage.organization.uuid))


async def test_1_a_checkout_that_is_replayed_duplicates_nothing(office: Office):
    event, kinds = await office.on_sale({"name": "Standing"}, {"name": "Balcony"})
    wanted = [(kind, 3) for kind in kinds]
    first = await office.buy(event, *wanted, idempotencyKey="golden")
    payment = PaymentId.parse(first["checkout"]["paymentId"])
    for _ in range(2):
        again = await office.buy(event, *wanted, idempotencyKey="golden")
        assert (again["order"]["orderId"], again["checkout"]) == (first["order"]["orderId"], first["checkout"])
    await office.settle(payment)
    before = await rows(office)
    assert (before["orders"], before["payments"], before["tickets"], before["rights"]) == (1, 1, 6, 6)
    assert before["letters"] == 1
    await office.buy(event, *wanted, idempotencyKey="golden")
    await office.settle(payment, "tell_fees")
    assert (await rows(office)) | {"transfers": 0} == before | {"transfers": 0}
    assert [(await office.pool(kind)).sold for kind in kinds] == [3, 3]


async def told_by_webhooks(office: Office, seed: int | None) -> tuple[Any, ...]:
    """A life of money told as it came, or from the end to the beginning, twice and in disorder; what it came to."""
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    charge = (await office.world.payment(payment)).charge_id
    assert charge is not None
    told = []
    for deed, how in (("pay", {}), ("dispute", {}), ("win", {}), ("refund", {"key": f"r{seed}", "amount": 2500})):
        office.world.simulator.act(deed, charge, **how)
        fresh = office.world.simulator.due_deliveries()
        office.world.simulator.delivered(*fresh)
        told += fresh
    chance = random.Random(seed)
    if seed is not None:
        told = [*reversed(told), *told]
        chance.shuffle(told)
    async with a_worker(office.stage.database, DUTIES):
        for each in told:
            await deliver(office.stage.site, [each])
            if seed is None:
                await until_heard(office.stage.superuser)
        await until_heard(office.stage.superuser)
    await office.world.clerk.ask(office.stage.organization, payment, Caller())
    await office.work()
    found = await office.world.payment(payment)
    money = await office.stage.superuser.fetchrow(MONEY, payment.uuid)
    return (
        (found.status, found.captured_minor, found.refunded_minor, found.refund_state),
        dict(money),
        await office.world.net(payment),
        sorted(entry for entry, *_ in await office.world.transfers(payment)),
        [each.status for each in await office.tickets(order)],
    )


async def test_2_webhooks_out_of_order_corrupt_neither_payment_nor_refund_nor_dispute(office: Office):
    clean = await told_by_webhooks(office, None)
    assert clean[0][:3] == (Paid.PARTIAL_REFUND, 5000, 2500)
    for seed in range(3):
        assert await told_by_webhooks(office, seed) == clean
    assert await dead(office.stage.superuser, office.stage.scope) == []


async def test_3_a_partial_refund_revokes_only_the_right_entitlements(office: Office):
    event, [standing, balcony] = await office.on_sale({"name": "Standing"}, {"name": "Balcony", "priceMinor": 4000})
    order = await office.order(event, (standing, 3), (balcony, 2))
    payment = await office.pay(order)
    piece = Piece(standing["ticketTypeId"], 1)
    wanted = Request(Caller(), payment, RefundId.new(), Reason.TECHNICAL_PROBLEM, (piece,))
    for _ in range(2):
        await office.stage.database.run(office.stage.scope, lambda tx: request_refunds(tx, [wanted]))
        await office.work()
    rights = await office.rights(order)
    gone = [each for each in rights if each.status is Status.REVOKED]
    assert [each.line_key for each in gone] == [standing["ticketTypeId"]]
    assert [each.status for each in rights if each not in gone] == [Status.ACTIVE] * 4
    tickets = await office.tickets(order)
    assert {
        (str(each.ticket_type), each.emission_index) for each in tickets if each.status is TicketStatus.REFUNDED
    } == {(gone[0].line_key, gone[0].piece)}
    assert ((await office.pool(standing)).sold, (await office.pool(balcony)).sold) == (2, 2)
    assert (await office.world.payment(payment)).refunded_minor == 2500


async def test_4_a_dispute_suspends_blocks_entry_and_is_told_to_whoever_keeps_safety_cases(office: Office):
    event, [kind] = await office.on_sale(schedule=TONIGHT)
    order = await office.order(event, (kind, 2))
    payment = await office.pay(order)
    door = a_door(office)
    codes = [await door.code(each) for each in await office.rights(order)]
    await office.settle(payment, "dispute")
    assert (await office.world.payment(payment)).status is Paid.DISPUTED
    assert {each.status for each in await office.rights(order)} == {Status.SUSPENDED}
    assert {each.status for each in await office.tickets(order)} == {TicketStatus.DISPUTED}
    for code in codes:
        verdict = await door.scan(code, event=event["eventId"])
        assert not verdict.allow
    # SafetyCases come with safety: this is what they will hear (SAF-018).
    [told] = await facts_of(office.stage.superuser, office.stage.organization, "risk.dispute_created")
    assert '"RISK_DISPUTE_CREATED"' in told["payload"]
    await office.settle(payment, "win")
    assert {each.status for each in await office.tickets(order)} == {TicketStatus.ACTIVE}
    [right, _] = await office.rights(order)
    assert (await door.scan(await door.code(right), event=event["eventId"])).allow


async def test_5_a_claim_of_a_guests_purchase_duplicates_neither_ownership_nor_tickets(office: Office):
    user = await a_person(office.stage.database, email=an_address())
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 3), guest=user.email)
    payment = await office.pay(order, guest=True)
    link = await link_of(office, order)
    before, money = await rows(office), (await office.world.payment(payment), await office.world.transfers(payment))
    shown = await tickets_behind(office, link)
    for _ in range(2):
        await proves(office, user)
    assert await rows(office) == before
    assert (await office.world.payment(payment), await office.world.transfers(payment)) == money
    assert [each.owner for each in await office.rights(order)] == [user.identity] * 3
    assert [each.owner for each in await office.tickets(order)] == [user.identity] * 3
    assert await tickets_behind(office, link) == shown
    assert (await office.pool(kind)).sold == 3
    assert len(await mailed(office.stage.superuser, office.stage.organization)) == 1


async def test_6_a_duplicate_checkin_is_checkin_duplicate_and_stands_in_the_event_log(office: Office):
    event, [kind] = await office.on_sale(schedule=TONIGHT)
    order = await office.order(event, (kind, 1))
    await office.pay(order)
    door = a_door(office)
    [right] = await office.rights(order)
    code = await door.code(right)
    first, second = [await door.scan(code, event=event["eventId"], device=each) for each in ("north", "south")]
    assert (first.allow, second.allow, second.reason) == (True, False, AtTheDoor.ALREADY_CONSUMED)
    own = office.stage.organization
    [entry] = await facts_of(office.stage.superuser, own, "checkin.duplicate")
    assert '"CHECKIN_DUPLICATE"' in entry["payload"]
    assert str(right.id) in entry["payload"]
    assert len(await facts_of(office.stage.superuser, own, "checkin.consumed")) == 1
    [after] = await office.rights(order)
    assert (after.entries, after.status) == (1, Status.ACTIVE)


async def test_7_what_ledger_and_processor_do_not_agree_on_is_a_critical_alert(
    office: Office, database_url: str, superuser: asyncpg.Connection
):
    await superuser.execute(
        "UPDATE webhooks.receipt SET state = 'IGNORED', settled_at = now() WHERE state = 'RECEIVED'"
    )
    event, [kind] = await office.on_sale()
    await office.pay(await office.order(event, (kind, 2)))
    sides = Sides(office.world, database_url, office.stage.database, office.world.batcher)
    await sides.run(later=AN_HOUR)
    assert DIVERGENCE.name not in await sides.alerts(superuser), "they agree"
    sides.moved(777, "ch_of_nobody")
    await sides.run(later=2 * AN_HOUR)
    [issue] = await sides.issues()
    assert (issue.found.reference, issue.found.here_minor, issue.found.there_minor) == ("ch_of_nobody", 0, 777)
    assert DIVERGENCE.name in await sides.alerts(superuser)
    assert DIVERGENCE.alert_class is AlertClass.PAGER, "somebody is woken"
