"""The operations of payments, as their table has them (25, A): who may call, what a key does, how often it is tried,
and what is said when it fails."""

from datetime import UTC, datetime
from typing import Any

import asyncpg
import httpx
import pytest

from admitone.finance.gateways.api import NotSent, Refused, Unknown
from admitone.finance.payments.errands import refund
from admitone.finance.payments.errors import NotRefundable, RefundPutOff
from admitone.finance.payments.facts import RefundBegun
from admitone.finance.payments.model import Status
from admitone.finance.refunds.facts import RefundFailed
from admitone.finance.refunds.handlers import tell_of_failure
from admitone.finance.refunds.module import MODULE as REFUNDING
from admitone.kernel.breaker import DependencyUnavailable
from admitone.kernel.ids import uuid7
from admitone.kernel.jobs import REFUNDS, Delivered, Desk, Subscription
from admitone.kernel.scope import Caller
from tests.finance.payments.saying import saying
from tests.finance.payments.telling import a_paid_sale
from tests.finance.payments.test_refunding import order
from tests.finance.world import World
from tests.people import a_person

CARD, PIX = "/api/payments/intent", "/payment/pix/create"
AWAY = NotSent(DependencyUnavailable(dependency="gateway_sandbox", retry_after_seconds=30))


def a_request(world: World, key: str, currency: str = "EUR") -> dict[str, Any]:
    source = world.shop.sells(world.buyer.identity, 5000, currency=currency)
    own = {"sourceType": source.type.value, "sourceId": source.id, "idempotencyKey": key}
    return {"organizationId": str(world.organization), **own}


async def status_of(site: httpx.AsyncClient, world: World, payment: str) -> httpx.Response:
    return await site.get("/payment/status", params={"paymentId": payment}, headers=world.buyer.headers)


@pytest.mark.covers("FUN-007", "FUN-010", "FUN-037", "PAY-070")
@pytest.mark.parametrize(
    ("said", "code"),
    [
        (Unknown("answered 500"), "OUTCOME_UNKNOWN"),
        (Refused("card_declined"), "GATEWAY_REFUSED"),
        (AWAY, "DEPENDENCY_UNAVAILABLE"),
    ],
)
@pytest.mark.parametrize(("path", "currency"), [(CARD, "EUR"), (PIX, "BRL")])
async def test_a_charge_is_asked_for_once_and_whoever_pays_is_told(
    site: httpx.AsyncClient, world: World, path: str, currency: str, said: Any, code: str
):
    request = a_request(world, f"{code}:{path}", currency)
    with saying(world, open_charge=said) as provider:
        answer = await site.post(path, json=request, headers=world.buyer.headers)
        assert provider.asked == ["open_charge"], "no retry"
    assert answer.json()["errorCode"] == code, answer.text


@pytest.mark.covers("FUN-007", "FUN-010")
@pytest.mark.parametrize(("path", "currency"), [(CARD, "EUR"), (PIX, "BRL")])
async def test_somebody_else_begins_no_payment_and_one_key_begins_one(
    site: httpx.AsyncClient, world: World, path: str, currency: str
):
    request = a_request(world, f"once:{path}", currency)
    stranger = await a_person(world.database)
    assert (await site.post(path, json=request)).status_code == 401
    assert (await site.post(path, json=request, headers=stranger.headers)).status_code in (403, 404)
    given = [await site.post(path, json=request, headers=world.buyer.headers) for _ in range(2)]
    assert [each.status_code for each in given] == [200, 200], given[0].text
    assert len({each.json()["paymentId"] for each in given}) == 1


@pytest.mark.covers("PAY-067", "FIN-074")
async def test_what_a_dispute_takes_is_no_refund_of_ours(world: World):
    """All of it and the bank's fee; the provider is asked for no refund, and nobody can order one any more (U-17)."""
    payment, charge = await a_paid_sale(world)
    for deed, status in (("dispute", Status.DISPUTED), ("lose", Status.CHARGEBACK_LOST)):
        world.simulator.act(deed, charge)
        await world.clerk.ask(world.organization, payment, Caller())
        assert (await world.payment(payment)).status is status
    booked = {entry: amount for entry, _, _, amount in await world.transfers(payment)}
    assert (booked["CHARGEBACK_GROSS"], booked["DISPUTE_FEE"]) == (5000, 1500)
    assert not {"REFUND_GROSS", "REFUND_SETTLED"} & booked.keys()
    with pytest.raises(NotRefundable):
        await order(world, payment, 5000)
    [attempt] = [each for each in world.simulator.get(charge).charges if each.status == "succeeded"]
    assert attempt.refunds == ()


@pytest.mark.covers("FUN-016", "PAY-069")
async def test_a_refund_is_tried_three_times_and_then_finance_is_told(world: World, superuser: asyncpg.Connection):
    assert refund.retry is REFUNDS
    assert REFUNDS.executions == 3
    payment, _ = await a_paid_sale(world)
    own = await order(world, payment, 5000)
    begun = RefundBegun(payment_id=payment, refund_id=str(own))
    desk = Desk(world.database, world.batcher)
    with saying(world, refund=Refused("insufficient_funds")) as provider:
        for _ in range(2):
            with pytest.raises(RefundPutOff):
                await refund.work(desk, a_delivery(world, begun))
        for _ in range(3):
            await refund.work(desk, a_delivery(world, begun))
        assert provider.asked == ["refund"] * 3, "and not a fourth time"
    assert Subscription(RefundFailed, tell_of_failure) in REFUNDING.subscriptions
    said = {
        "source_type": "TICKET_ORDER",
        "source_id": "1",
        "reason": "insufficient_funds",
        "pieces": (),
        "whole": False,
    }
    failed = RefundFailed(payment_id=payment, refund_id=str(own), amount_minor=5000, currency="EUR", **said)
    await tell_of_failure.work(desk, a_delivery(world, failed))
    rules = "SELECT rule FROM kernel.alert WHERE subject = $1 AND resolved_at IS NULL"
    assert await superuser.fetchval(rules, str(own)) == "refunds.failed"


def a_delivery(world: World, payload: Any) -> Delivered[Any]:
    return Delivered(uuid7(), world.organization, payload, Caller(), "key", None, 1, datetime.now(UTC))
