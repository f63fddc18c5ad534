"""A bank asks for the money of tickets back: they are held until it has decided, and it is told what we know."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from admitone.entitlements.api import (
    Entitlement,
    EntitlementId,
    Place,
    Revocation,
    Scan,
    Status,
    Verdict,
    consume,
    digest_of,
)
from admitone.entitlements.codes import code_of
from admitone.entitlements.model import Reason
from admitone.entitlements.store.tokens import list_live
from admitone.finance.disputes.model import DisputeId
from admitone.finance.disputes.queries import find_said
from admitone.finance.payments.api import Status as PaymentStatus
from admitone.kernel.db import Tx
from admitone.verticals.events.model import OrderState, TicketStatus
from tests.foundation.organizations.clubs import facts_of
from tests.verticals.events.office import Office
from tests.verticals.events.test_returning import give_back, standing

A, D, R = TicketStatus.ACTIVE, TicketStatus.DISPUTED, TicketStatus.REFUNDED


def tonight() -> dict[str, Any]:
    begins = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    return {"startsAt": begins.isoformat(), "endsAt": (begins + timedelta(hours=5)).isoformat()}


async def comes(office: Office, right: Entitlement) -> Verdict:
    """Somebody shows the code of this right at the door."""

    async def code(tx: Tx) -> str:
        [*_, token] = (await list_live(tx, [right.id], tx.now))[right.id]
        return str(code_of(EntitlementId(right.id.uuid), token.epoch, token.key_version))

    shown = digest_of(await office.stage.database.read(office.stage.scope, code))
    place = Place(right.event_id or "", right.session_id, gate="North")
    verdict: Verdict = await office.world.submit(consume, Scan(office.stage.owner.caller, place, shown))
    return verdict


async def codes_of(office: Office, right: Entitlement) -> int:
    async def count(tx: Tx) -> int:
        return len((await list_live(tx, [right.id], tx.now))[right.id])

    return await office.stage.database.read(office.stage.scope, count)


@pytest.mark.covers("FIN-073", "FIN-074", "EVT-046", "EVT-047", "ENT-007")
@pytest.mark.parametrize("end", ["win", "lose"])
async def test_tickets_stand_where_the_dispute_does(office: Office, end: str):
    event, [kind] = await office.on_sale(schedule=tonight())
    order = await office.order(event, (kind, 2))
    payment = await office.pay(order)
    before = await office.rights(order)
    await office.settle(payment, "dispute")
    assert await standing(office, order) == [D, D]
    assert [each.status for each in await office.rights(order)] == [Status.SUSPENDED] * 2
    assert [await codes_of(office, each) for each in before] == [0, 0], "nobody comes in on it"
    assert (await office.pool(kind)).sold == 2, "it is not for sale while nobody knows"
    refused = await give_back(office, order, (await office.tickets(order))[0])
    assert refused.json()["errorCode"] == "TICKET_NOT_ACTIVE"
    await office.settle(payment, end)
    rights = await office.rights(order)
    if end == "win":
        assert await standing(office, order) == [A, A]
        assert (await comes(office, rights[0])).allow
    else:
        assert await standing(office, order) == [TicketStatus.CHARGEBACK_LOST] * 2
        assert {(each.status, each.revoked_for) for each in rights} == {(Status.REVOKED, Revocation.CHARGEBACK)}
    assert (await office.pool(kind)).sold == (2 if end == "win" else 0)
    await office.work()
    assert {each.owner for each in await office.tickets(order)} == {office.buyer.identity}


@pytest.mark.covers("FIN-074")
async def test_what_was_refunded_before_stays_so_when_the_rest_is_won(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await office.pay(order)
    office.stage.fine(await give_back(office, order, (await office.tickets(order))[1]))
    await office.work()
    await office.settle(payment, "dispute")
    assert await standing(office, order) == [D, R]
    await office.settle(payment, "win")
    assert await standing(office, order) == [A, R]
    assert (await office.pool(kind)).sold == 1


@pytest.mark.covers("FIN-073", "FIN-074", "FUL-010")
@pytest.mark.parametrize("end", ["win", "lose"])
async def test_what_a_bank_asks_back_before_anything_was_issued_ends_with_the_dispute(office: Office, end: str):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 2))
    payment = await office.begin(order)
    charge = (await office.world.payment(payment)).charge_id
    for deed in ("pay", "dispute"):
        office.world.simulator.act(deed, charge)
        await office.world.clerk.ask(office.stage.organization, payment, office.buyer.caller)
    await office.work()
    assert ((await office.find(order)).state, await office.rights(order)) == (OrderState.OPEN, [])
    await office.settle(payment, end)
    returned = await facts_of(office.stage.superuser, office.stage.organization, "order.returned")
    if end == "win":
        assert ((await office.find(order)).state, len(await office.rights(order))) == (OrderState.FULFILLED, 2)
        assert returned == []
    else:
        assert ((await office.find(order)).state, await office.rights(order)) == (OrderState.RETURNED, [])
        assert ((await office.pool(kind)).held, (await office.pool(kind)).sold) == (0, 0), "anybody's"
        assert [json.loads(each["payload"])["reason"] for each in returned] == ["CHARGEBACK_LOST"]
        assert await office.letters(office.buyer.email) == ["order_returned"]


@pytest.mark.covers("FIN-070", "FIN-074")
async def test_of_a_cancelled_event_a_bank_decides_about_what_it_has(office: Office):
    event, [kind] = await office.on_sale()
    order = await office.order(event, (kind, 1))
    payment = await office.pay(order)
    await office.settle(payment, "dispute")
    office.stage.fine(await office.stage.ask("POST", f"/{event['eventId']}/cancel", {"reasonCode": "WEATHER"}))
    await office.work()
    assert (await standing(office, order), (await office.world.payment(payment)).status) == (
        [D],
        PaymentStatus.DISPUTED,
    )
    await office.settle(payment, "win")
    assert (await office.world.payment(payment)).status is PaymentStatus.REFUNDED
    assert await standing(office, order) == [R]


@pytest.mark.covers("FIN-075")
async def test_a_bank_is_told_when_it_was_and_who_came_in(office: Office, superuser: asyncpg.Connection):
    schedule = tonight()
    event, [kind] = await office.on_sale(schedule=schedule | {"timeZone": "UTC"})
    order = await office.order(event, (kind, 2))
    payment = await office.pay(order)
    [came, _] = await office.rights(order)
    verdict = await comes(office, came)
    assert verdict.allow, verdict.reason
    assert (await comes(office, came)).reason is Reason.ALREADY_CONSUMED
    await office.settle(payment, "dispute")
    own = await superuser.fetchval("SELECT id FROM disputes.dispute WHERE payment_id = $1", payment.uuid)
    said = await office.stage.database.read(office.stage.scope, find_said, DisputeId(own))
    assert said is not None
    draft = dict(said.draft)
    assert draft["service_date"] == schedule["startsAt"][:10]
    assert draft["access_activity_log"] == (
        f"{verdict.at:%Y-%m-%d %H:%M} UTC: ticket 1 of 2 was scanned and admitted at North."
    )
    assert "not refunded because their holder did not attend" in draft["refund_policy"]
    assert office.buyer.email not in str(draft)
